"""What a command writes: UTF-8 whatever the locale says, never a newline translated.

What UTF-8 cannot hold (a lone surrogate) is written as its escape, so that no text can stop a command. Text that a
stranger wrote is shown on a terminal with its control characters as pictures: it must not steer the terminal.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Final

__all__ = [
    "colours",
    "drop_output",
    "emit",
    "flush",
    "is_terminal",
    "listed",
    "prepare",
    "printable",
    "say",
    "write_bytes",
]

# C0 without TAB and LF (CR only where no LF follows), DEL, C1: what a terminal may take for a command.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")
_SPACE: Final = 0x20
_DELETE: Final = 0x7F


def prepare() -> None:
    """Make standard output and error UTF-8, without newline translation."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def is_terminal(stream: object) -> bool:
    """Whether a person may be looking at this stream."""
    ask = getattr(stream, "isatty", None)
    return bool(ask and ask())


def colours(stream: object) -> bool:
    """Whether to colour what goes to this stream: a terminal that can, and no `NO_COLOR` (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal(stream) and os.environ.get("TERM") != "dumb")


def emit(text: str) -> None:
    """Write a text to standard output: exactly, or on a terminal `printable` and ended by a newline."""
    if is_terminal(sys.stdout):
        text = printable(text)
        text += "" if not text or text.endswith("\n") else "\n"
    sys.stdout.write(text)


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output, after what was written before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """Tell the person at the terminal: a line on standard error."""
    sys.stderr.write(f"{printable(text)}\n")


def printable(text: str) -> str:
    """The text with control characters as their pictures (U+2400 on) or escapes: nothing in it steers a terminal."""
    return _CONTROLS.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < _SPACE:
        return chr(0x2400 + code)
    if code == _DELETE:
        return "\u2421"
    return f"\\x{code:02x}" if code < 0x100 else "\ufffd"


def flush() -> None:
    """Write out what is still buffered, so that a closed pipe is met here and not when Python ends."""
    sys.stdout.flush()
    sys.stderr.flush()


def drop_output() -> None:
    """Standard output is closed at its other end: what is still buffered goes nowhere, silently."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # a stream of a test, without a file behind it
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def listed(value: object) -> object:
    """Tuples as lists, for JSON."""
    if isinstance(value, dict):
        return {key: listed(item) for key, item in value.items()}
    return [listed(item) for item in value] if isinstance(value, list | tuple) else value
