"""Searching a text line by line: what a line is, where a match stands, where a search goes on."""

from __future__ import annotations

from itertools import count

import pytest

from trimtab.blobs.paging import PagedText, mark, paged
from trimtab.errors import BadPattern
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


@pytest.mark.parametrize("after", ["", "\n", "\nneedle\n", "\n\n\nneedle"])
@pytest.mark.parametrize("long", [5_000_000, 9_000_000, 300])
def test_a_search_always_moves_forward(after: str, long: int) -> None:
    """A line that alone takes all the time is passed over, and named: going on from there ends, and finds the rest."""
    text = "first needle\n" + "x" * long + after
    found: list[int] = []
    unsearched: list[int | None] = []
    line: int | None = 1
    begun = []
    while line is not None:
        begun.append(line)
        assert len(begun) < 10
        result = grep(source(text), slow, line=line, seconds=1)
        found += [one.line for one in result.matches]
        unsearched.append(result.unsearched)
        assert result.next_line is None or result.next_line > line
        line = result.next_line
    assert found == [1, *([text.count("\n", 0, text.rfind("needle")) + 1] if "needle" in after else [])]
    assert [one for one in unsearched if one] == [2]


def slow(text: str, seconds: float) -> tuple[int, int] | None:
    """Looks for a needle, and in a long text finds no end."""
    if text.startswith("xxx"):
        raise TimeoutError
    at = text.find("needle")
    return None if at < 0 else (at, at + 6)


def test_a_line_that_got_no_fair_time_is_not_passed_over() -> None:
    """Without time, or where something else had most of it, the search goes on where it stopped."""
    for options in ({"seconds": 0.0}, {"may_pass": False, "seconds": 1.0}):
        result = grep(source("xxx\nneedle"), slow, **options)  # type: ignore[arg-type]
        assert (result.stopped, result.next_line, result.unsearched) == ("time", 1, None)


def test_slow_reading_is_no_reason_to_pass_over_a_line() -> None:
    """When reading takes all the time, the first line is searched all the same."""
    ticks = count(step=10)
    result = grep(source("needle\nneedle\n"), finder("needle"), seconds=1, clock=lambda: float(next(ticks)))
    assert [one.line for one in result.matches] == [1]
    assert (result.stopped, result.next_line, result.unsearched) == ("time", 2, None)


def test_a_match_in_a_long_line_is_shown_with_what_is_around_it() -> None:
    """Of a long line 400 chars around the match are given, and the char says where in the text it stands."""
    text = "x" * 50_000 + "needle" + "y" * 50_000
    (match,) = grep(source(text), finder("needle")).matches
    assert match.char == 50_001
    assert "needle" in match.text
    assert len(match.text) == 400


@pytest.mark.parametrize(
    "pattern",
    [
        "((((a{100}){100}){100}){100}){100}",
        "a{1000000000}",
        "(?:a{1000,}){1000,}",
        "(?:a{1000,2000}b){1000,2000}",
        "(?x)(a{1 0 0 0}) {1000}",
        "(?x)(a{1#,}\n000}){1000}",
        "(a{1000})(?i){1000}",
        "()" * 100_000,
        "|".join(f"w{n}" for n in range(100_000)),
    ],
    ids=lambda pattern: pattern[:32],
)
def test_a_pattern_that_would_take_all_memory_is_refused(pattern: str) -> None:
    """Compiling a regular expression has no time limit, so what would take long to compile never gets there."""
    with pytest.raises(BadPattern):
        finder(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "0b3c7e5a-12ab-4cde-9f01-23456789abcd"),
        ("a.{0,200}b.{0,200}c.{0,1000}d", "a b c d"),
        (r"(\d{1,3}\.){3}\d{1,3}", "at 127.0.0.1"),
        (r"(?x) ( \d{4} ) - ( \d{2} )", "on 2026-11"),
        (r"\p{Lu}{2}\x41", "xABA"),
    ],
)
def test_counts_that_people_write_are_searched(pattern: str, text: str) -> None:
    """Ids, addresses, dates, and words near one another."""
    assert len(grep(source(text), finder(pattern)).matches) == 1
