"""A text in sentences: each on one line, whole, without the marks of lists and of emphasis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from trimtab.tables import is_joined

__all__ = ["EDGES", "flat", "is_code", "left", "right", "sentences"]

EDGES: Final = " \t\r\n*|"
_SPACES: Final = " \t\r"

_LINE: Final = re.compile("\n+")
_STOP: Final = re.compile("(?<=[.!?])[ \t]+(?=[^a-z \t])|(?<=[。！？；])")
_MARK: Final = re.compile("[ \t>]*(?:(?:[-*+•#=|]+|[0-9]{1,3}[.)])[ \t]+)*")
_SPACE: Final = re.compile("[ \t\r\n\f\v]+")
_RULE: Final = re.compile("[-=*_#~`|:+ ]*\\Z")
_UNDER_HEADS: Final = re.compile("[ \t>]*\\|?[ \t]*:?-{2,}:?[ \t]*(?:\\|[ \t]*:?-+:?[ \t]*)*\\|?[ \t]*\\Z")
_FENCE: Final = re.compile("[ \t>]*(?:`{3}|~{3})")
_BOLD: Final = re.compile(r"(?<![A-Za-z0-9_)*])\*\*(?=[^ *])([^*\n]{1,200}?)(?<! )\*\*(?![A-Za-z0-9_*])")
# A full stop behind these does not end a sentence, nor one behind a few letters with a number to follow: "Tel. 030".
_SHORT: Final = re.compile(
    "(?:\\A|[ (])(?:(Dr|Mr|Mrs|Ms|Prof|St|vs|e\\.g|i\\.e|z\\.B|d\\.h|u\\.a|ca|bzw|[Vv]gl|approx)|"
    "[A-Za-zÀ-ÿа-яА-Я]{1,4})\\.\\Z"
)
_CODE: Final = "`"
_SHORT_REACH: Final = 8  # chars before a full stop in which an abbreviation stands
_LONGEST: Final = 400  # chars of a sentence, and of code that is taken whole: four lines or so
_WINDOW: Final = 160  # of its end, where a long one is cut at a blank
_WHOLE_WORD: Final = 2_000  # a longer one is cut inside
_BREAK: Final = re.compile("[ \t，、,;]")
_BACK: Final = 16  # chars in which a blank is sought, to cut no word; less than is shown beside a fact


def sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text, each once, and whether it can stand alone; a line out of long code cannot.

    Short code is one sentence. A row of a table says with each of its cells what the head of the column says.
    """
    seen: set[str] = set()
    for said, alone in _said(text):
        if said and said not in seen and not _RULE.match(said):
            seen.add(said)
            for portion in _portions(said):
                yield portion, alone


def _said(text: str) -> Iterator[tuple[str, bool]]:
    """What stands between full stops, in code or in a row."""
    lines = _LINE.split(text)
    heads: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if _FENCE.match(line):
            end = next((n for n in range(at, len(lines)) if _FENCE.match(lines[n])), len(lines))
            yield from _code(lines[at:end])
            at = end + 1
        elif at < len(lines) and "|" in line and _UNDER_HEADS.match(lines[at]):
            heads = _cells(line)
            at += 1
        elif heads and "|" in line:
            yield _row(heads, _cells(line)), True
        else:
            heads = []
            for raw in _stopped(line):
                yield flat(_BOLD.sub("\\1", raw[_MARK.match(raw).end() :])).strip(EDGES), True  # type: ignore[union-attr]


def _code(lines: list[str]) -> Iterator[tuple[str, bool]]:
    whole = flat(" ".join(lines)).strip(" ") if sum(map(len, lines)) <= 2 * _LONGEST else ""
    if 0 < len(whole) <= _LONGEST - 2:
        yield f"{_CODE}{whole}{_CODE}", True
    else:
        yield from ((flat(line).strip(" "), False) for line in lines)


def _cells(line: str) -> list[str]:
    return [
        flat(_BOLD.sub("\\1", cell)).strip(EDGES)
        for cell in line.strip(_SPACES).removeprefix("|").removesuffix("|").split("|")
    ]


def _row(heads: list[str], cells: list[str]) -> str:
    named = zip_longest(heads[: len(cells)], cells, fillvalue="")
    return "; ".join(f"{head}: {cell}" if head else cell for head, cell in named if cell)


def is_code(sentence: str) -> bool:
    """Whether a sentence is code that stood between fences."""
    return sentence.startswith(_CODE) and sentence.find(_CODE, 1) == len(sentence) - 1


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
