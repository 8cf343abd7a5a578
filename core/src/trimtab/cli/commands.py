"""The names of the commands, and what runs them. Imports nothing: `plugins` looks names up here too."""

from __future__ import annotations

from typing import Final

__all__ = ["COMMANDS", "HELP", "RESERVED"]

COMMANDS: Final[dict[str, str | dict[str, str]]] = {
    "demo": "trimtab.cli.demonstration:demo",
    "trim": "trimtab.cli.trimming:trim",
    "calls": "trimtab.cli.calls:calls",
    "parse-args": "trimtab.cli.arguments:parse_args",
    "status": "trimtab.cli.conversations:status",
    "rebuild": "trimtab.cli.conversations:rebuild",
    "replay": "trimtab.cli.replaying:replay",
    "show": "trimtab.cli.rows:show",
    "render": "trimtab.cli.rows:render",
    "inflate": "trimtab.cli.rows:inflate",
    "read": "trimtab.cli.reading:read",
    "grep": "trimtab.cli.reading:grep",
    "plugins": "trimtab.cli.listing:plugins",
    "check-codec": "trimtab.cli.checking:check",
    "store": {
        "stats": "trimtab.cli.stores:stats",
        "release": "trimtab.cli.stores:release",
        "collect": "trimtab.cli.stores:collect",
        "verify": "trimtab.cli.stores:verify",
    },
}
"""Command to the function that runs it, in the order of the help; a table is a command with commands of its own."""

HELP: Final = "help"
"""`trimtab help trim` is `trimtab trim --help`."""

RESERVED: Final = frozenset({*COMMANDS, HELP})
"""What no command of a plugin is called."""
