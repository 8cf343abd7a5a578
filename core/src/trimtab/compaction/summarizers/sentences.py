"""A text in sentences: each on one line, whole, without the marks of lists and of emphasis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trimtab.tables import is_joined

__all__ = ["EDGES", "flat", "left", "right", "sentences"]

EDGES: Final = " \t\r\n*|"

_LINE: Final = re.compile("\n+")
_STOP: Final = re.compile("(?<=[.!?])[ \t]+(?=[^a-z \t])|(?<=[。！？；])")
_MARK: Final = re.compile("[ \t>]*(?:(?:[-*+•#=|]+|[0-9]{1,3}[.)])[ \t]+)*")
_SPACE: Final = re.compile("[ \t\r\n\f\v]+")
_RULE: Final = re.compile("[-=*_#~`|:+ ]*\\Z")
_FENCE: Final = re.compile("[ \t>]*(?:`{3}|~{3})")
_BOLD: Final = re.compile(r"(?<![A-Za-z0-9_)*])\*\*(?=[^ *])([^*\n]{1,200}?)(?<! )\*\*(?![A-Za-z0-9_*])")
# A full stop behind these does not end a sentence, nor one behind a few letters with a number to follow: "Tel. 030".
_SHORT: Final = re.compile(
    "(?:\\A|[ (])(?:(Dr|Mr|Mrs|Ms|Prof|St|vs|e\\.g|i\\.e|z\\.B|d\\.h|u\\.a|ca|bzw|[Vv]gl|approx)|"
    "[A-Za-zÀ-ÿа-яА-Я]{1,4})\\.\\Z"
)
_SHORT_REACH: Final = 8
_LONGEST: Final = 400
_WINDOW: Final = 160  # of its end, where a long one is cut at a blank
_WHOLE_WORD: Final = 2_000  # a longer one is cut inside
_BREAK: Final = re.compile("[ \t，、,;]")
_BACK: Final = 16


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each once; of code its lines as they are; very long ones in pieces."""
    in_code = False
    seen: set[str] = set()
    for line in _LINE.split(text):
        if _FENCE.match(line):
            in_code = not in_code
            continue
        for raw in (line,) if in_code else _stopped(line):
            if raw in seen:
                continue
            seen.add(raw)
            said = flat(raw if in_code else _BOLD.sub("\\1", raw[_MARK.match(raw).end() :]))  # type: ignore[union-attr]
            said = said.strip(" " if in_code else EDGES)
            if said and not _RULE.match(said):
                yield from _portions(said)


def flat(text: str) -> str:
    """The text on one line."""
    return _SPACE.sub(" ", text)


def _stopped(line: str) -> Iterator[str]:
    """A line at its full stops."""
    begin = 0
    for found in _STOP.finditer(line):
        at, behind = found.span()
        if line[at - 1] == "." and _is_short(line[max(begin, at - _SHORT_REACH) : at], line[behind : behind + 2]):
            continue
        yield line[begin:at]
        begin = behind
    yield line[begin:]


def _is_short(near: str, ahead: str) -> bool:
    """Whether a full stop at the end of `near` is that of an abbreviation."""
    found = _SHORT.search(near)
    return found is not None and (found[1] is not None or "0" <= ahead.lstrip("+(")[:1] <= "9")


def _portions(said: str) -> Iterator[str]:
    """A sentence in pieces that are not too long, and cut no word."""
    begin = 0
    while len(said) - begin > _LONGEST:
        end = _seam(said, begin)
        yield said[begin:end].strip(" ")
        begin = end
    if rest := said[begin:].strip(" "):
        yield rest


def _seam(said: str, begin: int) -> int:
    """Where a piece that begins here ends: behind the last blank or comma that it has room for."""
    end = begin + _LONGEST
    blanks = list(_BREAK.finditer(said, end - _WINDOW, end))
    if blanks:
        return blanks[-1].end()
    behind = _BREAK.search(said, end, end + _WHOLE_WORD)
    if behind is not None:
        return behind.end()
    return len(said) if len(said) - begin <= _WHOLE_WORD else _whole(said, end)


def left(text: str, at: int) -> int:
    """A place at or behind this one where a word begins."""
    if at == 0:
        return 0
    blank = text.find(" ", at, at + _BACK)
    return blank + 1 if blank >= 0 else _whole(text, at)


def right(text: str, at: int) -> int:
    """A place at or before this one where a word ends."""
    if at == len(text):
        return at
    blank = text.rfind(" ", at - _BACK, at + 1)
    return blank if blank > 0 else _whole(text, at)


def _whole(text: str, at: int) -> int:
    return next((at - back for back in range(_BACK) if not is_joined(text, at - back)), at)
