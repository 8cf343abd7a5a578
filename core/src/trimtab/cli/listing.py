"""`trimtab plugins` as a command with a help; what it prints is `trimtab.cli.plugins`, which is quicker without."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

__all__ = ["plugins"]


def plugins(
    *, json: bool = False, policy: Annotated[str | None, Parameter(metavar="FILE")] = None, debug: bool = False
) -> int:
    """Show what loaded, from which distribution and version, and what broke and why.

    What needs an extra that is not installed is marked with it. Exits with 1 if something broke, or if the policy names
    a summarizer that no plugin has. A plugin that the policy blocks is not loaded, and not shown.

    Args:
        json: As JSON, for programs.
        policy: Policy file. Default: trimtab.toml in this folder, else [tool.trimtab] in pyproject.toml.
        debug: Show what a broken plugin raised, with its traceback.
    """
    from trimtab.cli.plugins import tell

    return tell(json=json, policy=policy, debug=debug)
