"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from attrs import frozen
from cyclopts import Parameter

__all__ = ["Count", "File", "Flat", "Folder", "Name", "Places"]

File: TypeAlias = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""A file's name, or `-`."""

Count: TypeAlias = Annotated[int | None, Parameter(metavar="N")]
Folder: TypeAlias = Annotated[Path | None, Parameter(metavar="FOLDER")]
Name: TypeAlias = Annotated[str | None, Parameter(metavar="NAME")]


@frozen(kw_only=True)
class Places:
    """Options of every command that needs a policy or a store.

    Args:
        store: Store URL, as in sqlite:///trimtab.db or file:///folder. Default: TRIMTAB_STORE, else the policy's, else
            trimtab.db in this folder.
        policy: Policy file. Default: trimtab.toml in this folder, else [tool.trimtab] in pyproject.toml.
        debug: Show where an error was raised.
    """

    store: Annotated[str | None, Parameter(metavar="URL")] = None
    policy: Annotated[str | None, Parameter(metavar="FILE")] = None
    debug: bool = False


Flat: TypeAlias = Annotated[Places | None, Parameter(name="*")]
"""The options of `Places` as options of the command itself."""
