"""Lenient JSON: what holds for every text."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.compress.arguments.names import KNOWN
from trimtab.lenient import END, Event, Tokenizer, loads
from trimtab.lenient.tree import read, read_slowly

FRAGMENTS = (
    *'{}[]"\'",:\\\n a1-()=`#“”，：｛',
    *('{"a":', '{"a":"x","b":1}', '"startRef":"m1"', '"summary":"', '"}', "//", "/*", "*/", "```json\n", '"""', "True"),
    *("\\u", "\\ud83d", "\ud83d", "\x00", '", "b" and', '"x" y', "undefined", '","summary":"', "=>", "{{", "[["),
    *('" + "', "' '", '("', '")', "(", ")", "...", "1 2", "+1", "0x1F", "1e999", "1,000", " + name", "true "),
)
SOUP = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "b", "summary"]), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip
EDITS = (
    "",
    '"a"',
    '","',
    '"}',
    ' "b" ',
    "\\*",
    "// c\n",
    "/* x */",
    "True",
    ",,",
    '"x": 1,',
    "'",
    "{",
    "}",
    "]",
    "\n",
    '" + "',
    '" "',
    "...",
    "1 ",
    "+",
)

FOUND_BY_FUZZING = (
    '{"a":"tail \\ud83d\\',
    '{"content": [{"a": "x", "b\ny": ""}]}',
    "{{]{]",
    '{‘a’:[{‘b"""":</x>e"""fc</x>d 4’,',
    '{"a\x01[\x1bm", x```json\n=>：,  text" t}',
    '{=>a\':[\'b\'{"c":[{"d":"m1","',
    '`{"a":[{"st\x00rt":"m4","b":"m0"}]}\x00","c":"x"}]}`',
    '{"a": [{"b": "m4",] "c": "m{"d":[e": ["a", "b"]}]}',
    '[{"a": 007}]',
    '{"a": "x' + '"' * 9,
    "，\ufeff",
    '[{"a": ",}",}, {"a": "x",}]',
    '[{"a":"x.",},]{0',
    '[{"a": "b"c", "' + "k" * 70 + '": "x y",}]',
    '{"a":[{"b":"m4","endRe\x7f"',
    '{"a":[{b: "m4", c-d: 9"l e:[{f"}]}',
)


def edited(text: str, seed: random.Random) -> str:
    """A text with up to three random edits."""
    for _ in range(seed.randint(0, 3)):
        at = seed.randrange(len(text) + 1)
        text = text[:at] + seed.choice(EDITS) + text[at + seed.choice([0, 0, 1]) :]
    return text[: seed.randint(1, len(text) or 1)] if seed.random() < 0.3 else text


DAMAGED = st.builds(
    edited,
    st.builds(json.dumps, JSON, indent=st.sampled_from([None, 1]), ensure_ascii=st.booleans()),
    st.randoms(use_true_random=False),
)


def events(text: str, cuts: list[int]) -> tuple[list[Event], tuple[str, ...]]:
    """All events of a text that is fed in pieces, and the repairs."""
    tokenizer = Tokenizer()
    told: list[Event] = []
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        tokenizer.feed(text[begin:end])
        while isinstance(event := tokenizer.next_event(), Event):
            told.append(event)
    tokenizer.close()
    while isinstance(event := tokenizer.next_event(), Event):
        told.append(event)
    assert event is END
    return told, tuple(tokenizer.repairs)


def same_both_ways(text: str, start: int) -> None:
    """The quick lane, where it answers, answers as the scanner does."""
    for known in (frozenset[str](), KNOWN):
        quick, slow = read(text, start, known=known), read_slowly(text, start, known=known)
        assert repr(quick.value) == repr(slow.value)
        assert (quick.end, quick.finished, quick.cut) == (slow.end, slow.finished, slow.cut)
        assert len(quick.open) == len(slow.open)


@settings(max_examples=200, deadline=None)
@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_json_is_read_as_json(value: Any, indent: int | None, ascii_only: bool) -> None:
    """Valid JSON gives its value with no repairs; and the scanner, which sees damage, sees none in it."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert loads(text) == (value, ())
    if isinstance(value, dict | list):
        document = read_slowly(text)
        assert (document.value, document.finished, document.repairs, document.end) == (value, True, (), len(text))


@settings(max_examples=200, deadline=None)
@given(SOUP | DAMAGED | st.text(max_size=40))
def test_any_text(text: str) -> None:
    """No text raises, and the value can be written as UTF-8 JSON."""
    value, repairs = loads(text)
    assert len(set(repairs)) == len(repairs)
    json.dumps(value, ensure_ascii=False).encode()


@settings(max_examples=200, deadline=None)
@given(SOUP | DAMAGED, st.data())
def test_events_do_not_depend_on_the_cuts(text: str, data: st.DataObject) -> None:
    """However a text is cut, its events, their places and the repairs are the same."""
    whole = events(text, [])
    assert events(text, list(range(1, len(text)))) == whole
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    assert events(text, cuts) == whole


@settings(max_examples=300, deadline=None)
@given(SOUP | DAMAGED)
def test_both_ways_of_reading_agree(text: str) -> None:
    """The quick lane and the scanner give the same document."""
    for bracket in "{[":
        if bracket in text:
            same_both_ways(text, text.index(bracket))


@pytest.mark.parametrize("text", FOUND_BY_FUZZING)
def test_found_by_fuzzing(text: str) -> None:
    """Texts that once broke one of the laws."""
    loads(text)
    assert events(text, list(range(1, len(text)))) == events(text, [])
    for bracket in "{[":
        if bracket in text:
            same_both_ways(text, text.index(bracket))


def test_long_texts_in_small_pieces() -> None:
    """A long string is not kept whole while it comes in, and comes out whole."""
    body = "word 'x' “y” \\n " * 3_000
    tokenizer = Tokenizer()
    for begin in range(0, len(body), 7):
        tokenizer.feed(('{"a": "' if not begin else "") + body[begin : begin + 7])
        while isinstance(tokenizer.next_event(), Event):
            pass
    assert len(tokenizer.text) < 5_000
    tokenizer.feed('"}')
    tokenizer.close()
    last = [tokenizer.next_event() for _ in range(2)]
    assert isinstance(last[0], Event)
    assert last[0].value == body.replace("\\n", "\n")


@pytest.mark.parametrize("between", ['" + "', '" "', '" + name, "b": "', '"), "b": ("', '" /* + */ + /* x */ "'])
def test_long_parts_in_small_pieces(between: str) -> None:
    """Strings in parts longer than what is looked at ahead are read alike however they come in."""
    text = f'{{"a": ("{"x " * 1_500}{between}{"y, " * 900}"), "c": [1 2 3{" 4" * 900}]}}'
    whole = events(text, [])
    for step in (1_000, 37):
        assert events(text, list(range(step, len(text), step))) == whole


@pytest.mark.parametrize(("begin", "unit"), [("[", '"x" + '), ("[", "'x' "), ("[", "1 "), ('{"a": ', "'x' ")])
def test_more_damage_than_anyone_makes(begin: str, unit: str) -> None:
    """A text of joints and missing commas alone is given up at some point, and that is told."""
    _, repairs = loads(begin + unit * 60_000)
    assert "given-up" in repairs


@pytest.mark.parametrize(
    "unit", ["[", "{", '"', "'", "\n", "\\", "{'", '{"', '"}', '",', "“", "/*", '[{"', '{"a":', ":"]
)
def test_depth_and_repetition(unit: str) -> None:
    """Nothing recurses on depth, and a repeated mark is read to its end."""
    value, _ = loads(unit * 20_000)
    del value  # thousands of levels deep: compared and printed by nothing
