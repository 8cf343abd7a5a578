"""The reference of the command line, from the commands' own help: `python -m trimtab.cli.manual > docs/cli.md`."""

from __future__ import annotations

import sys

from trimtab.cli import streams
from trimtab.cli.app import build

__all__ = ["manual"]

_HEAD = """<!-- Written by `python -m trimtab.cli.manual` from the commands' own help; change that instead. -->

"""


def manual() -> str:
    """Markdown of all commands, without those of plugins."""
    return f"{_HEAD}{build().generate_docs('markdown').rstrip()}\n"


if __name__ == "__main__":
    streams.prepare()
    sys.stdout.write(manual())
