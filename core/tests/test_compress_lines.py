"""Compress arguments in line form: refs and a topic on the first line, the summary below."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compress import parse_compress_args

ONE = ("m00101", "m00120", "Found it.\nFixed.", "pool leak")


def found(given: Any) -> list[tuple[str, str, str, str | None]]:
    """Every range of a call."""
    return [(one.start_ref, one.end_ref, one.summary, one.topic) for one in parse_compress_args(given).ranges]


@pytest.mark.parametrize("between", ["-", "–", "—", " – ", "..", "...", "…", "~", " to ", "->", " → "])
def test_what_stands_between_refs(between: str) -> None:
    """Two refs may be joined in many ways; message refs get five digits."""
    assert found({"content": [f"m101{between}m00120 pool leak\nFound it.\nFixed."]}) == [ONE]


def test_one_ref_and_block_refs() -> None:
    """One ref is start and end; refs of blocks keep their digits."""
    assert found({"content": ["m7 pool\nFound it."]}) == [("m00007", "m00007", "Found it.", "pool")]
    assert found({"content": ["b2-b15: pool\nFound it."]}) == [("b2", "b15", "Found it.", "pool")]


def test_a_topic_is_derived() -> None:
    """Without a topic on the first line: the first heading, else the first line, at most 60 chars."""
    assert found({"content": ["m1-m2\n\nplain\n\n## Big news\nmore"]})[0][3] == "Big news"
    assert found({"content": ["m1-m2\n" + "long " * 40]})[0][3] == ("long " * 40)[:60].rstrip()


@pytest.mark.parametrize(
    "given",
    [
        "m00101-m00120 pool leak\nFound it.\nFixed.",
        {"content": "m00101-m00120 pool leak\nFound it.\nFixed."},
        {"content": ["m00101-m00120 pool leak\r\nFound it.\nFixed.\n"]},
        {"content": ["m00101-m00120 pool leak", "Found it.", "Fixed."]},
    ],
)
def test_where_it_stands(given: Any) -> None:
    """As all of the input, as the content, as an element, and as a header whose text follows in other elements."""
    assert found(given) == [ONE]


def test_several_in_one_text() -> None:
    """Each line that begins with a pair of refs begins an entry; a lone line in a slot is refs and summary."""
    given = {"content": "m1-m2 pool\nsee m9 and\nm9 again\n\nm3-m4 cache\nRewrote."}
    assert [one[2] for one in found(given)] == ["see m9 and\nm9 again", "Rewrote."]
    assert found({"content": "m1-m2 did this"}) == [("m00001", "m00002", "did this", "did this")]


def test_what_is_no_entry() -> None:
    """No refs at the beginning, or no summary: counted, with a reason."""
    for text in ("Summary of m1-m2\nbody", "m1-m2 topic", "m12345678-m2 x\ny", "mm1-m2 x\ny", "[m1-m2] x\ny"):
        found = parse_compress_args({"content": [text]}).diagnostics
        assert (found.ok, found.invalid_items, found.kind) == (False, 1, "no-valid-ranges")


def test_a_header_alone_is_all_of_the_input() -> None:
    """Refs without a summary are an entry that cannot be used, not damaged JSON."""
    found = parse_compress_args("m1-m2\n").diagnostics
    assert (found.kind, found.invalid_items) == ("no-valid-ranges", 1)


def test_an_object_ends_a_header() -> None:
    """A header without text does not take texts from behind an object."""
    entry = {"startRef": "m3", "endRef": "m4", "summary": "x"}
    parsed = parse_compress_args({"content": ["m1-m2 topic", entry, "stray"]})
    assert [one.start_ref for one in parsed.ranges] == ["m3"]
    assert parsed.diagnostics.invalid_items == 2


def test_a_cut_text_loses_its_last_entry() -> None:
    """The entry that the text ends inside is dropped, in a slot and in an array."""
    slot = '{"content":"m1-m2 pool\\nFound\\nm3-m4 cache\\nRew'
    array = '{"content":["m1-m2 pool\\nFound","m3-m4 cache\\nRew'
    for text in (slot, array):
        parsed = parse_compress_args(text)
        assert [one.start_ref for one in parsed.ranges] == ["m00001"]
        assert parsed.diagnostics.kind == "truncated"


@pytest.mark.parametrize(
    ("text", "summaries"),
    [
        ('{"content": ["m00001–m00002 topic", "part one", "part tw', []),
        ('{"content": ["m00001–m00002 topic", "half of a summ', []),
        ('{"content": ["m00001–m00002 topic", "part one", {"startRef": "m00003"', ["part one"]),
        ('{"content": ["m00001–m00002 topic", "part one", "m00003–m0', ["part one"]),
        ('{"content": ["m00001–m00002 topic", "part one", "part two"]}', ["part one\npart two"]),
    ],
)
def test_a_summary_whose_last_part_is_cut_is_no_summary(text: str, summaries: list[str]) -> None:
    """What follows a header belongs to its summary: when the text ends inside a part, the entry is half-written."""
    assert [one.summary for one in parse_compress_args(text).ranges] == summaries


def test_the_names_of_a_short_entry_are_read_leniently_too() -> None:
    """A single ref, a summary and one more field: its name may be spelt as in longer entries."""
    (one,) = parse_compress_args({"messageId": "m1", "summary": "x", "summary_max_chars": 900}).ranges
    assert one.summary_max_chars == 900
