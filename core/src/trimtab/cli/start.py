"""The door of the command line: what must be quick is answered here, the rest is handed to `trimtab.cli.app`.

Whatever goes wrong ends as one line on standard error and an exit code: 2 when the caller can mend it (usage, input,
policy), 1 when something else failed (a store, a damaged row, a broken plugin) or a check found faults, 130 after
Ctrl-C, 141 when the reader of a pipe has gone. `--debug` shows the traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from trimtab.cli import streams
from trimtab.version import __version__

__all__ = ["main"]

# What `plugins` takes without its help being asked for.
_QUICK = {"--json", "--debug"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (`sys.argv` without its first word, by default) and give its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words[: words.index("--") if "--" in words else None]
    streams.prepare()
    try:
        code = _run(words)
        streams.flush()
        return code
    except BrokenPipeError:
        streams.drop_output()
        return 141
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _report(error, debug)


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        print(f"trimtab {__version__}")
        return 0
    if words[:1] == ["plugins"] and _QUICK.issuperset(words[1:]):
        from trimtab.cli.plugins import tell

        return tell(json="--json" in words, debug="--debug" in words)
    try:
        import cyclopts  # noqa: F401 (only to say early what is missing)
    except ModuleNotFoundError as error:
        from trimtab.errors import MissingExtra

        raise MissingExtra("the command line", extra="trimtab[cli]") from error
    from trimtab.cli.app import run

    return run(words)


def _report(error: Exception, debug: bool) -> int:
    """One line about an error, or with `debug` its traceback, and the exit code."""
    from trimtab.errors import CallerError, TrimtabError

    if debug:
        import traceback

        streams.say("".join(traceback.format_exception(error)).rstrip("\n"))
    elif isinstance(error, TrimtabError | OSError):
        streams.say(f"trimtab: {error}")
    else:
        kind = type(error).__name__
        streams.say(f"trimtab: {kind}: {error!s:.400}: this is a fault of trimtab's; run it again with --debug")
    return 2 if isinstance(error, CallerError) else 1
