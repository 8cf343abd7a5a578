"""Searching a text line by line: what a line is, where a match stands, where a search goes on."""

from __future__ import annotations

from itertools import count

import pytest

from trimtab.blobs.paging import PagedText, mark, paged
from trimtab.grep import finder, grep
from trimtab.types import Match


def source(text: str) -> PagedText:
    """A text in memory."""
    return paged(text, mark(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one\r\ntwo one\r\n", [(1, 1, "one"), (2, 10, "two one")]),
        ("one\n\none", [(1, 1, "one"), (3, 6, "one")]),
        ("x\rone\u2028one\x0bone\n", [(1, 3, "x\rone\u2028one\x0bone")]),
        ("", []),
    ],
)
def test_lines_end_at_newlines_only(text: str, found: list[tuple[int, int, str]]) -> None:
    """A match has the 1-based number of its line, the char where it begins, and the line without its end."""
    result = grep(source(text), finder("one"))
    assert [(one.line, one.char, one.text) for one in result.matches] == found
    assert all(text[char - 1 :].startswith("one") for _, char, _ in found)
    assert (result.stopped, result.next_line) == (None, None)


def test_searches_that_go_on_find_what_one_search_finds() -> None:
    """A search that stops at its most matches goes on at `next_line`; together they find each line once."""
    text = "".join(f"{'hit' if n % 3 else 'no'} {n}\n" for n in range(200))
    every = grep(source(text), finder("hit"), most=1_000).matches
    found: list[Match] = []
    line = 1
    while True:
        result = grep(source(text), finder("hit"), line=line, most=7)
        found += result.matches
        if result.next_line is None:
            break
        assert result.stopped == "matches"
        line = result.next_line
    assert tuple(found) == every
    assert len(every) == 133


def test_a_search_stops_when_its_time_is_up() -> None:
    """Then `next_line` is the first line that was not searched, and what was found before stays."""
    ticks = count()
    result = grep(source("a\n" * 100), finder("a"), seconds=10, clock=lambda: float(next(ticks)))
    assert result.stopped == "time"
    assert result.next_line == len(result.matches) + 1
    assert 5 <= len(result) <= 10


def test_a_match_in_a_long_line_is_shown_with_what_is_around_it() -> None:
    """Of a long line 400 chars around the match are given, and the char says where in the text it stands."""
    text = "x" * 50_000 + "needle" + "y" * 50_000
    (match,) = grep(source(text), finder("needle")).matches
    assert match.char == 50_001
    assert "needle" in match.text
    assert len(match.text) == 400
