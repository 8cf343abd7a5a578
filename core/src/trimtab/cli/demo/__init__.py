"""`trimtab demo`: an agent with real tools over real input, whose every output goes the whole way of trimtab's.

`agent` is the loop that an application would write, `tools`, `pages` and `knowledge` are what it works with, `model`
is the script that takes a language model's place, `laws` checks everything that happened.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trimtab import Host

__all__ = ["run"]


def run(*, keep_dir: Path | None = None, json: bool = False, load: Callable[..., Host] = Host.load) -> int:
    """Run the demo and print what happened. The exit code: 0, 1 when a law is broken, 2 when a plugin is missing.

    Args:
        keep_dir: where the database and the blobs stay; None: nowhere. Created when it is not there.
        json: print one JSON object instead of tables.
        load: makes the hosts, from `store=` and `policy=`.

    Raises:
        CallerError: `keep_dir` holds a database already.
        TrimtabError: the store or the policy failed.
    """
    from trimtab.cli.demo.stage import perform

    return perform(keep_dir, json, load)
