"""Searching text line by line, within a time limit. Owns regex.

A pattern without special characters is looked for as it is. A regular expression needs the `regex` package, whose
matching can be stopped: a pattern comes from a model, and Python's own `re` cannot be interrupted.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from trimtab.errors import BadPattern, MissingExtra
from trimtab.types import GrepResult, Match, TextSource

__all__ = ["MOST_MATCHES", "SECONDS", "Finder", "finder", "grep"]

SECONDS = 2.0
MOST_MATCHES = 100
_WINDOW = 400  # chars of a long line that are given around a match
_READ = 1 << 18  # chars read at a time
_LONGEST_LINE = 1 << 22  # chars of one line that are searched; the rest of it is searched as the next piece
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")

# `regex` compiles what is repeated at least n times n times over, and compiling knows no time limit: a dozen chars of
# a pattern could take all memory. A count behind a group (or behind white space, in verbose mode) multiplies.
_LONGEST_PATTERN = 2_000
_MOST_PARTS = 20_000
_COUNT = re.compile(r"(^|[^{])\{[ \t\n\r\f\v]*([0-9][0-9 \t\n\r\f\v]*)")
_BEHIND_GROUP = frozenset(")} \t\n\r\f\v")
_NO_BLANKS = dict.fromkeys(map(ord, " \t\n\r\f\v"))
_VERBOSE = re.compile(r"\(\?[A-Za-z0-9-]*x")

Finder: TypeAlias = Callable[[str, float], tuple[int, int] | None]
"""`find(text, seconds)`: where the pattern first matches, 0-based and half open. Raises TimeoutError."""


def grep(
    source: TextSource,
    find: Finder,
    *,
    line: int = 1,
    most: int = MOST_MATCHES,
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
    may_pass: bool = True,
) -> GrepResult:
    """Lines that match, from 1-based `line` on.

    Stops at `most` matches or after `seconds`; then `stopped` says why and `next_line` where to go on.

    Args:
        may_pass: whether the first line may be passed over when it takes all the time; not where `seconds` is what
            something else has left of it, and the next search begins with this line and all of the time.
    """
    end = clock() + seconds
    total = source.size.lines
    matches: list[Match] = []
    stopped: Literal["time", "matches"] | None = None
    next_line: int | None = None
    begun = False
    for number, char, text in _pieces(source, line):
        left = end - clock()
        if not begun and may_pass:
            left = max(left, seconds)  # reading may have taken long: the first piece is searched all the same
        begun = True
        try:
            found = find(text, left) if left > 0 else None
        except TimeoutError:
            left = 0.0
            found = None
        if left <= 0:
            stopped, next_line = "time", number
            break
        if found is None:
            continue
        if len(matches) == most:
            stopped, next_line = "matches", number
            break
        matches.append(_match(number, char, text, found))
    unsearched = None
    if may_pass and seconds > 0 and next_line is not None and next_line <= max(line, 1):
        unsearched, next_line = next_line, next_line + 1 if next_line < total else None
    return GrepResult(
        matches=tuple(matches), total_lines=total, stopped=stopped, next_line=next_line, unsearched=unsearched
    )


def _match(number: int, char: int, text: str, found: tuple[int, int]) -> Match:
    start = max(0, min(found[0] - _WINDOW // 4, len(text) - _WINDOW))
    return Match(line=number, char=char + found[0], text=text[start : start + _WINDOW])


def finder(pattern: str) -> Finder:
    """What looks for a pattern in one line.

    Raises:
        BadPattern: the pattern is empty or does not compile.
        MissingExtra: a regular expression, and `regex` is not installed.
    """
    if not isinstance(pattern, str) or not pattern:
        raise BadPattern("the pattern is empty; give a word or a regular expression to look for")
    if _SPECIAL.search(pattern) is None:
        return lambda text, _: (at, at + len(pattern)) if (at := text.find(pattern)) >= 0 else None
    try:
        import regex
    except ImportError:
        raise MissingExtra("searching with a regular expression", extra="trimtab[grep]") from None
    if len(pattern) > _LONGEST_PATTERN:
        raise BadPattern(f"the pattern has {len(pattern)} chars; a regular expression has at most {_LONGEST_PATTERN}")
    if _parts(pattern) > _MOST_PARTS:
        raise BadPattern(f"{pattern!r:.80} repeats too much; use smaller counts, or * and +")
    try:
        compiled: Any = regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"{pattern!r:.80} is not a regular expression: {error}; escape special characters") from error

    def find(text: str, seconds: float) -> tuple[int, int] | None:
        found = compiled.search(text, timeout=seconds)
        return None if found is None else (found.start(), found.end())

    return find


def _parts(pattern: str) -> int:
    """How many parts the compiled pattern has, at most."""
    single, multiple = len(pattern), 1
    if _VERBOSE.search(pattern) and "{" in pattern and "#" in pattern:
        return _MOST_PARTS + 1  # a comment may stand anywhere, also within a count
    for before, count in _COUNT.findall(pattern):
        least = int(count.translate(_NO_BLANKS))
        if before in _BEHIND_GROUP:
            multiple *= max(least, 1)
        else:
            single += least
    return single * multiple


def _pieces(source: TextSource, line: int) -> Iterator[tuple[int, int, str]]:
    """Each line from `line` on: its number, the char it begins at, its text without the line end.

    A line longer than `_LONGEST_LINE` comes in pieces of that length.
    """
    char = source.line_start(max(line, 1))
    total = source.size.chars
    number = max(line, 1)
    rest = ""
    at = char
    while at <= total:
        block = source.slice(at, at + _READ - 1)
        at += len(block)
        lines = (rest + block).split("\n")
        rest = lines.pop()
        for one in lines:
            yield number, char, one[:-1] if one.endswith("\r") else one
            char += len(one) + 1
            number += 1
        if len(rest) > _LONGEST_LINE:
            yield number, char, rest
            char += len(rest)
            rest = ""
    if rest:
        yield number, char, rest
