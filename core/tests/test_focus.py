"""Passages that answer a question: which are found, in which order, and what no question can break."""

from __future__ import annotations

import itertools
import re
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.focus import Passage, query_of, rank
from trimtab.tables import fold, is_joined, unspaced_class, word_class

NOTES = """# Notes on the harbour
The ferry leaves at nine.
In winter the harbour freezes, and the ferry stays.
Nothing of note.
FERRY tickets: see the office, near the harbour office.
Prefix caching is explained elsewhere.
"""


def shown(text: str, query: str, **options: int) -> list[str]:
    """The passages' own text, best first."""
    return [text[one.start : one.end] for one in rank(text, query, **options)]


# An independent reading of the same rules, slow and plain.


def units(text: str) -> list[tuple[int, int, str]]:
    """Words of a text, and each pair (or lone character) of a script without blanks: start, end, folded."""
    found = []
    for run in re.finditer(f"([{word_class()}]+)|([{unspaced_class()}]+)", text):
        if run[1]:
            found.append((run.start(), run.end(), fold(run[1])))
        else:
            for at in range(run.start(), run.end()):
                found += [(at, at + 1, text[at]), (at, at + 2, text[at : min(at + 2, run.end())])]
    return found


def terms_of(query: str) -> set[str]:
    """What a short query looks for."""
    terms = set()
    for run in re.finditer(f"([{word_class()}]+)|([{unspaced_class()}]+)", query):
        if run[1] or len(run[0]) == 1:
            terms.add(fold(run[0]))
        else:
            terms |= {run[0][at : at + 2] for at in range(len(run[0]) - 1)}
    return terms


def lines_of(text: str) -> list[tuple[int, int]]:
    """Start and end of each line, its newline included."""
    starts = [0, *(at + 1 for at, ch in enumerate(text) if ch == "\n")]
    return [pair for pair in zip(starts, [*starts[1:], len(text)], strict=True) if pair[0] < pair[1]]


CHARS = (
    "aabbAk\u212a\u017fs \n\n.,_-1\u00e9\u00c9e\u0301\u00df\u1e9e\u03c3\u03c2\u0436\u0416"
    "\u4e2d\u6587\u5b57\u3042\u0e01\ud55c\u200d\ud800\U00010400\U00010428\U0001f600"
)
SHORT = st.text(st.sampled_from(CHARS), max_size=60)
ANY = st.text(st.one_of(st.sampled_from(CHARS), st.characters()), max_size=40)


@settings(max_examples=400, deadline=None)
@given(SHORT, st.text(st.sampled_from(CHARS), max_size=12))
def test_finds_the_lines_with_a_term_and_no_others(text: str, query: str) -> None:
    """In short lines, exactly those are passages in which a word, or pair of characters, of the query stands."""
    terms = terms_of(query)
    wanted = {
        (start, end)
        for start, end in lines_of(text)
        if any(start <= at and stop <= end and unit in terms for at, stop, unit in units(text))
    }
    assert {(one.start, one.end) for one in rank(text, query, most=1000)} == wanted


@settings(deadline=None)
@given(st.lists(ANY, max_size=8), ANY, st.integers(1, 5))
def test_passages_are_apart_and_best_first(parts: list[str], query: str, most: int) -> None:
    """Passages do not overlap, come best first and equal ones in order, and fewer of them are the best of all."""
    text = (" ".join(parts) + "\n") * 3 + " ".join(parts) * 12
    every = rank(text, query, most=10_000)
    assert all(0 <= one.start < one.end <= len(text) for one in every)
    assert every == sorted(every, key=lambda one: (-one.score, one.start))
    in_order = sorted(every, key=lambda one: one.start)
    assert all(one.end <= other.start for one, other in itertools.pairwise(in_order))
    assert rank(text, query, most=most) == every[:most]


@settings(deadline=None)
@given(st.text(st.sampled_from("ab .!?;\u3002\u4e2d\u0301\t,"), min_size=380, max_size=2500), st.booleans())
def test_long_lines_are_divided(line: str, ended: bool) -> None:
    """Of a line above 400 chars each passage has at most 400 chars and splits no character as people see it."""
    text = "short a\n" + line + ("\n" if ended else "")
    for one in rank(text, "a b \u4e2d", most=1000):
        assert one.end - one.start <= 400
        assert not is_joined(text, one.start)
        assert not is_joined(text, one.end)


def test_a_long_line_is_divided_at_sentences() -> None:
    """A sentence's end is preferred to a blank, a blank to a cut inside a word."""
    sentence = "All the boats lie in the harbour and wait for the thaw this year. "
    assert all(one.endswith(". ") for one in shown(sentence * 40, "harbour"))
    assert all(one.endswith(" ") for one in shown("harbour ice " * 200, "harbour"))
    assert {len(one) for one in shown("ice" * 500 + " harbour", "harbour")} <= set(range(1, 401))
    assert all(one.endswith("\u3002") for one in shown("\u6e2f\u53e3\u7ed3\u51b0\u4e86\u3002" * 200, "\u6e2f\u53e3"))


def test_a_line_keeps_its_own_end() -> None:
    """Only a newline ends a line: CR stays in it, and U+2028, NEL and form feed are text."""
    text = "one ferry\r\ntwo\u2028ferry\x85\x0c\nthree"
    assert shown(text, "ferry") == ["one ferry\r\n", "two\u2028ferry\x85\x0c\n"]


def test_more_and_rarer_terms_come_first() -> None:
    """A line with both words beats one with one, and a rare word beats a common one."""
    assert shown(NOTES, "ferry tickets")[0].startswith("FERRY tickets")
    assert shown(NOTES, "the caching")[0].startswith("Prefix caching")
    assert shown(NOTES, "nothing") == ["Nothing of note.\n"]


def test_words_stand_alone() -> None:
    """A term is a whole word: `note` is not in `Notes`, `caf` not in `caf\u00e9`, `foo` is in `foo_bar`."""
    assert shown("Notes\nnote\nkeynote\n", "NOTE") == ["note\n"]
    assert shown("caf\u00e9\ncafe\u0301\ncaf\n\u00e9caf\n", "caf") == ["caf\n"]
    assert shown("foo_bar\nfoobar\n", "foo") == ["foo_bar\n"]
    assert shown("\u7528Python\u5199\nPythons\n", "python") == ["\u7528Python\u5199\n"]
    assert shown("\u0438\u043c\u044f\n\u0438\n", "\u0418") == ["\u0438\n"]


def test_case_goes_by_the_frozen_tables() -> None:
    """Greek sigmas, the Kelvin sign and the long s are the letters they look like."""
    assert shown("\u039f\u0394\u039f\u03a3\n", "\u03bf\u03b4\u03bf\u03c2") == ["\u039f\u0394\u039f\u03a3\n"]
    assert shown("5 \u212a\n", "k") == ["5 \u212a\n"]
    assert shown("STRA\u1e9eE\n", "stra\u00dfe") == ["STRA\u1e9eE\n"]


def test_scripts_without_blanks_go_by_pairs() -> None:
    """A Chinese query finds its pairs wherever they stand, a single character itself."""
    text = "\u4ed6\u5728\u4e1c\u4eac\u5927\u5b66\u8bfb\u4e66\n\u5927\u962a\n\u5927\u5b66\u751f\n"
    assert [one[:2] for one in shown(text, "\u4e1c\u4eac\u5927\u5b66")] == ["\u4ed6\u5728", "\u5927\u5b66"]
    assert len(shown(text, "\u5927")) == 3


@pytest.mark.parametrize("query", ["", " \n\t", "?!... ---", "\u3002\u3001", "\ud800", "\U0001f600", "x" * 200])
def test_nothing_to_look_for(query: str) -> None:
    """A query without a word, or with an endless one alone, finds nothing."""
    assert rank(NOTES * 10 + "x" * 300, query) == []


@pytest.mark.parametrize("text", ["", "\n", "no answer here"])
def test_nothing_to_find(text: str) -> None:
    """A text without the words has no passage."""
    assert rank(text, "ferry") == []
    assert rank("ferry", "ferry", most=0) == []


@pytest.mark.parametrize(
    "query", ["(ferry", "[a-z]+ ferry \\d", "ferry|*", ".*ferry(?P<x>", "^ferry$", "ferry\\", "ferry\0"]
)
def test_a_query_is_no_pattern(query: str) -> None:
    """What means something in a regular expression means nothing in a query."""
    assert shown("The ferry (9)\nxyz 123\n", query)[0] == "The ferry (9)\n"


@pytest.mark.parametrize(
    "query",
    [
        "word " * 200_000,
        " ".join(f"w{n}" for n in range(10_000)),
        "x" * 1_000_000,
        "\u4e2d" * 1_000_000,
        "?" * 1_000_000,
    ],
    ids=["one word", "many words", "endless word", "endless Han", "points"],
)
def test_an_endless_query_is_answered(query: str) -> None:
    """Of a query as long as a book only the beginning is read, and only so many terms are looked for."""
    assert len(rank("w1 w31 word \u4e2d\u4e2d\nw32 w9999\n", query)) <= 1


def test_scores_are_the_same_everywhere() -> None:
    """Scores are these numbers, bit for bit, on every platform and Python."""
    assert rank(NOTES, "The ferry, HARBOUR office?") == [
        Passage(start=118, end=174, score=5.444581),
        Passage(start=49, end=101, score=2.934448),
        Passage(start=0, end=23, score=2.420533),
        Passage(start=23, end=49, score=2.307877),
    ]


def test_memory_does_not_grow_with_the_text() -> None:
    """However many lines answer, only the best are held."""
    text = "the ferry and the harbour\n" * 40_000
    rank(text[:1000], "ferry harbour")
    tracemalloc.start()
    try:
        assert len(rank(text, "ferry harbour", most=10)) == 10
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


def test_passages_are_values() -> None:
    """A passage cannot be changed."""
    one = Passage(start=0, end=3, score=1.0)
    with pytest.raises(AttributeError):
        one.start = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"query": "prefix caching", "count": 3}, "prefix caching"),
        ({"q": "b", "query": "a"}, "a"),
        ({"query": "", "q": "b"}, "b"),
        ({"query": 7, "question": "why?"}, "why?"),
        ({"queries": ["one", "two", 3, None, ""]}, "one two"),
        ({"queries": [], "pattern": "x+"}, "x+"),
        ({"keywords": ["ice", "boat"]}, "ice boat"),
        ({"search": "a"}, "a"),
        ({"search_query": "a"}, "a"),
        ({"keyword": "a"}, "a"),
        ({"topic": "t", "prompt": "p"}, "p"),
        ({"topic": "t"}, "t"),
        ({"url": "https://example.org"}, None),
        ({"query": {"text": "a"}}, None),
        ({}, None),
        ([{"query": "a"}], None),
        ("query", None),
        (None, None),
        (True, None),
    ],
)
def test_query_of_a_call(arguments: Any, query: str | None) -> None:
    """The first usual key that holds a text says what a call asks for; nothing else does."""
    assert query_of(arguments) == query
