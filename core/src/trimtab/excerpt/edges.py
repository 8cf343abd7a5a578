"""Where a text may be cut.

An edge is snapped inwards (the shown piece gets shorter) to a newline within the outer half of the piece, else to a
blank there, else it is cut where it is, backed off from the inside of a CRLF, an ANSI sequence or a character
cluster by at most 32 code points. The character snapped to belongs to the piece on its left.
"""

from __future__ import annotations

import re

from trimtab.tables import is_joined

__all__ = ["head_stop", "tail_start"]

_BACK_OFF = 32

# ECMA-48 escape sequences: CSI, then OSC and its like up to BEL or ST, then two-character ones. Bounded, so that
# looking back over a window of the same size finds every one that could reach a cut.
_ANSI_WINDOW = 256
_ANSI = re.compile(
    "\x1b(?:"
    r"\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    "|[\\]PX^_][^\x07\x1b]{0,250}(?:\x07|\x1b\\\\)"
    "|[ -/]{0,8}[0-Z\\\\^-~]"
    ")"
)


def _splits(text: str, at: int) -> bool:
    """Whether a cut between `text[at - 1]` and `text[at]` would split what belongs together."""
    if at <= 0 or at >= len(text):
        return False
    if text[at] == "\n" and text[at - 1] == "\r":
        return True
    return is_joined(text, at) or _inside_ansi(text, at)


def _inside_ansi(text: str, at: int) -> bool:
    escape_at = text.rfind("\x1b", max(0, at - _ANSI_WINDOW), at)
    if escape_at < 0:
        return False
    # The terminator of an OSC sequence is itself an escape: look from the one before it too.
    for begin in (text.rfind("\x1b", max(0, escape_at - _ANSI_WINDOW), escape_at), escape_at):
        if begin >= 0 and (found := _ANSI.match(text, begin)) and begin < at < found.end():
            return True
    return False


def head_stop(text: str, start: int, stop: int) -> int:
    """Where the shown piece `text[start:stop]` ends, when text after it is omitted; in `start..stop`."""
    if start >= stop:
        return start
    outer = start + (stop - start + 1) // 2
    for mark in "\n ":
        found = text.rfind(mark, outer, stop)
        if found >= 0 and not _splits(text, found + 1):
            return found + 1
    for at in range(stop, max(start, stop - _BACK_OFF) - 1, -1):
        if not _splits(text, at):
            return at
    return stop


def tail_start(text: str, start: int, stop: int) -> int:
    """Where the shown piece `text[start:stop]` begins, when text before it is omitted; in `start..stop`."""
    if start >= stop:
        return stop
    outer = stop - (stop - start + 1) // 2
    for mark in "\n ":
        found = text.find(mark, start, outer)
        if found >= 0 and not _splits(text, found + 1):
            return found + 1
    for at in range(start, min(stop, start + _BACK_OFF) + 1):
        if not _splits(text, at):
            return at
    return start
