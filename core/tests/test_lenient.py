"""Lenient JSON: what is mended, by which name, and the tokenizer's events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.lenient import END, NEED_DATA, Event, Tokenizer, loads

REPAIRS: list[tuple[str, Any, str]] = [
    ('{"a": 1,}', {"a": 1}, "surplus-comma"),
    ('[1,, 2,]', [1, 2], "surplus-comma"),
    ('[,1]', [1], "surplus-comma"),
    ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, "missing-comma"),
    ('[{"a": 1}\n{"a": 2}]', [{"a": 1}, {"a": 2}], "missing-comma"),
    ('{"a" 1}', {"a": 1}, "missing-colon"),
    ('{"a":, "b": 2}', {"a": None, "b": 2}, "missing-value"),
    ('{: 1}', {"": 1}, "missing-key"),
    ('{"a": "x\ny"}', {"a": "x\ny"}, "control-character"),
    ('{"a": "x\x1b[1m\x00"}', {"a": "x\x1b[1m\x00"}, "control-character"),
    (r'{"a": "C:\Work \x41 \u12"}', {"a": r"C:\Work \x41 \u12"}, "bad-escape"),
    (r'{"a": "x \ud83d y"}', {"a": "x \ufffd y"}, "lone-surrogate"),
    ('{"a": "x \ud83d y"}', {"a": "x \ufffd y"}, "lone-surrogate"),
    ("{'a': 'it\\'s'}", {"a": "it's"}, "foreign-quotes"),
    ("{'a': 'say \"hi\", ok'}", {"a": 'say "hi", ok'}, "foreign-quotes"),
    ("{“a”: “the “x” flag”}", {"a": "the “x” flag"}, "foreign-quotes"),
    ("{„a“: ‘x’}", {"a": "x"}, "foreign-quotes"),
    ('{"a": """two "x"\nlines"""}', {"a": 'two "x"\nlines'}, "foreign-quotes"),
    ('{"a": `tick "x"`}', {"a": 'tick "x"'}, "foreign-quotes"),
    ('{"a": "say "hi" twice"}', {"a": 'say "hi" twice'}, "inner-quote"),
    ('{"a": "", "b": ""x" first"}', {"a": "", "b": '"x" first'}, "inner-quote"),
    ('{"a": "keys "x", "y" and "z""}', {"a": 'keys "x", "y" and "z"'}, "inner-quote"),
    ('{"a": "log {"ok": [1, "b"]} end", "b": 1}', {"a": 'log {"ok": [1, "b"]} end', "b": 1}, "inner-quote"),
    ('{"a": True, "b": undefined, "d": NaN}', {"a": True, "b": None, "d": None}, "foreign-literal"),
    ("[(1, 2)]", [[1, 2]], "foreign-literal"),
    ("{a: 1, b_c: 2}", {"a": 1, "b_c": 2}, "unquoted-key"),
    ('{"a": m00004}', {"a": "m00004"}, "unquoted-value"),
    ('{"a": two words, "b": 1}', {"a": "two words", "b": 1}, "unquoted-value"),
    ('{"a"="x", "b"=>"y"}', {"a": "x", "b": "y"}, "equals-for-colon"),
    ('{"a": 1 /* x } */, // y ]\n "b": 2 # z\n}', {"a": 1, "b": 2}, "comment"),
    ("[1<!-- x -->]", [1], "comment"),
    ('[{"a": 1, {"a": 2}]', [{"a": 1}, {"a": 2}], "missing-bracket"),
    ('{"a": [1, 2}', {"a": [1, 2]}, "missing-bracket"),
    ('[{"a": "x"]', [{"a": "x"}], "missing-bracket"),
    ('{"a": {"x": 1}, {"x": 2}}', {"a": [{"x": 1}, {"x": 2}]}, "missing-bracket"),
    ('{"a": [1]]}', {"a": [1]}, "surplus-bracket"),
    ('{{"a": 1}}', {"a": 1}, "surplus-bracket"),
    ('[{"a": 1}}, {"a": 2}]', [{"a": 1}, {"a": 2}], "surplus-bracket"),
    ('｛"a"：［1，2］｝', {"a": [1, 2]}, "full-width-punctuation"),
    ("\ufeff[1]\x00\x00", [1], "padding"),
    ('{\xa0"a":\u200b1}', {"a": 1}, "odd-space"),
    ('```json\n[1]\n```', [1], "fence"),
    ('{"a": ```\n[1]\n```}', {"a": [1]}, "fence"),
    ('{\\"a\\": \\"b\\"}', {"a": "b"}, "stringified"),
    ('Sure: {"a": 1} as asked', {"a": 1}, "trailing-text"),
    ('{"a": "cut he', {"a": "cut he"}, "unfinished"),
    ('[{"a": 1', [{}], "unfinished"),
    ('{"a": @ 1}', {"a": "@ 1"}, "unquoted-value"),
    ('{"a": 1, } ]', {"a": 1}, "trailing-text"),
    ('{"a": [,{"b": 1,,},,]}', {"a": [{"b": 1}]}, "surplus-comma"),
    ('{"a": [/* x */{"b": "c"}/* y */] /* z */}', {"a": [{"b": "c"}]}, "comment"),
    ('{"a": [{"b": "c"}]} // done', {"a": [{"b": "c"}]}, "trailing-text"),
    ('{"a" [{"b": "c"}]}', {"a": [{"b": "c"}]}, "missing-colon"),
    ('{"a": [{"b": "c"}]]}', {"a": [{"b": "c"}]}, "surplus-bracket"),
    ("{'a': [{'b': 'it\\'s',},]}", {"a": [{"b": "it's"}]}, "foreign-quotes"),
    ('{"a": "<a href="x">y</a>"}', {"a": '<a href="x">y</a>'}, "inner-quote"),
    ('{"a": "it said "Done""}', {"a": 'it said "Done"'}, "inner-quote"),
    ('{"a": "x" + "y" + \'z\', "b": "p" +\n"q"}', {"a": "xyz", "b": "pq"}, "concatenated"),
    ("{'a': 'x' 'y'\n'z', 'b': 1}", {"a": "xyz", "b": 1}, "concatenated"),
    ("{'a': ('x, '\n 'y'), 'b': (\"p\")}", {"a": "x, y", "b": "p"}, "concatenated"),
    ("{'a': ('x'), 'b': ('y',), 'c': ('p', 'q')}", {"a": "x", "b": ["y"], "c": ["p", "q"]}, "surplus-bracket"),
    ('{"a": ("""x""" ), "b": 1}', {"a": "x", "b": 1}, "surplus-bracket"),
    ('["a" + "b" "c"]', ["ab", "c"], "concatenated"),
    ('["a" "b"\n"c"]', ["a", "b", "c"], "missing-comma"),
    ('{"a": "1" + "2', {"a": "12"}, "unfinished"),
    ('{"a": "x" + name + f(1), "b": "y"}', {"a": None, "b": "y"}, "missing-value"),
    ('{"a": "x" + 1}', {"a": None}, "missing-value"),
    ('{"a": "x" +, "b": 1}', {"a": None, "b": 1}, "missing-value"),
    ('{"s": "ran "a" + "b" ok", "x": 1}', {"s": 'ran "a" + "b" ok', "x": 1}, "inner-quote"),
    ('{"s": "ran "a" "b"", "x": 1}', {"s": 'ran "a" "b"', "x": 1}, "inner-quote"),
    ('{"s": "C" + more "text"", "x": 1}', {"s": 'C" + more "text"', "x": 1}, "inner-quote"),
    ("[1 2 3, -4.5 true]", [1, 2, 3, -4.5, True], "missing-comma"),
    ("[true false\nnull]", [True, False, None], "missing-comma"),
    ('["a" 1 "b" true]', ["a", 1, "b", True], "missing-comma"),
    ("[3 apples, 1]", ["3 apples", 1], "unquoted-value"),
    ("1e999", "1e999", "out-of-range"),
    ('{"a": -1e999, "b": [1E+400]}', {"a": "-1e999", "b": ["1E+400"]}, "out-of-range"),
    (f"[{'9' * 5_000}]", ["9" * 5_000], "out-of-range"),
    ("[+1, .5, -.5, 1., 1.e2, +0, 1n]", [1, 0.5, -0.5, 1.0, 100.0, 0, 1], "foreign-literal"),
    ("[0x1F, -0xff, 0b101, 0o17]", [31, -255, 5, 15], "foreign-literal"),
    ('{"a": 1_000, "b": 12,345,678}', {"a": 1000, "b": 12345678}, "foreign-literal"),
    ("[NaN, Infinity, +Infinity, -inf]", [None] * 4, "foreign-literal"),
    ("[007, 1__0, 1_, 0x, 1.2.3, --1, +]", ["007", "1__0", "1_", "0x", "1.2.3", "--1"], "unquoted-value"),
    ("[1, 2, ...]", [1, 2], "ellipsis"),
    ('{"a": 1, ...}', {"a": 1}, "ellipsis"),
    ('{...rest, "a": …}', {"a": None}, "ellipsis"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "repair"), REPAIRS, ids=[repr(case[0]) for case in REPAIRS])
def test_a_repair(text: str, value: Any, repair: str) -> None:
    """The value that was meant comes out, and the repair is named."""
    got, repairs = loads(text)
    assert got == value
    assert repair in repairs


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, -2.5e3, "x\\n\\u00e9 \\ud83d\\ude00", true, null], "": {}}',
        "null",
        '"x"',
        "  [ ]\r\n",
        "1E400",
        "0",
        "[-0]",
    ],
)
def test_json_is_read_as_json(text: str) -> None:
    """Strict JSON gives what `json.loads` gives, and nothing is repaired."""
    if text == "1E400":
        assert loads(text)[0] is None or isinstance(loads(text)[0], float | str)
    else:
        assert loads(text) == (json.loads(text), ())


def test_text_that_is_data() -> None:
    """Fences, comments, brackets, quotes and literals inside of strings are text."""
    text = "```sh\nmake // not /* a */ comment # x\n``` {“a”: ‘b’, True} ] } ，"
    damaged = f'{{"a": {json.dumps(text, ensure_ascii=False)},}}'
    assert loads(damaged) == ({"a": text}, ("surplus-comma",))


@pytest.mark.parametrize("text", ["", " ", "\ufeff", "hello there", "}", "{", "[[[", '"', "'", "\\", "：", "<think>"])
def test_no_text_raises(text: str) -> None:
    """Where there is no JSON there is still an answer, and what is missing is named."""
    value, repairs = loads(text)
    assert value in ({}, [[[]]], None, "", "hello there", "\\", "<think>") or isinstance(value, str)
    assert isinstance(repairs, tuple)


def events(text: str, step: int) -> tuple[list[Event], tuple[str, ...]]:
    """All events of a text that is fed so many chars at a time, and the repairs."""
    tokenizer = Tokenizer()
    told: list[Event] = []
    for begin in range(0, len(text), step):
        tokenizer.feed(text[begin : begin + step])
        while isinstance(event := tokenizer.next_event(), Event):
            told.append(event)
        assert event is NEED_DATA or event is END
    tokenizer.close()
    while isinstance(event := tokenizer.next_event(), Event):
        told.append(event)
    assert event is END
    assert tokenizer.next_event() is END
    return told, tuple(tokenizer.repairs)


def test_events() -> None:
    """Each event has its kind, its value, its place in all the text, and whether the text closed it."""
    told, repairs = events('{"a": [1, "x"], b: "cut', 4)
    assert [(one.kind, one.value, one.start, one.end, one.closed) for one in told] == [
        ("begin-object", None, 0, 1, True),
        ("key", "a", 1, 4, True),
        ("begin-array", None, 6, 7, True),
        ("value", 1, 7, 8, True),
        ("value", "x", 10, 13, True),
        ("end-array", None, 13, 14, True),
        ("key", "b", 16, 17, True),
        ("value", "cut", 19, 23, False),
        ("end-object", None, 23, 23, False),
    ]
    assert repairs == ("unquoted-key", "unfinished")


def test_events_come_as_soon_as_they_can() -> None:
    """What no later text can change is told at once; a quote waits for what follows it."""
    tokenizer = Tokenizer()
    tokenizer.feed('{"a": [')
    assert [getattr(tokenizer.next_event(), "kind", None) for _ in range(4)] == [
        "begin-object",
        "key",
        "begin-array",
        None,
    ]
    assert tokenizer.next_event() is NEED_DATA
    tokenizer.feed('"x"')
    assert tokenizer.next_event() is NEED_DATA
    tokenizer.feed(' said "y"]}' + " " * 2048)
    event = tokenizer.next_event()
    assert isinstance(event, Event)
    assert event.value == 'x" said "y'


def test_end_of_the_document() -> None:
    """After the document comes `END`, and `end` is where it ended; what follows is not read."""
    tokenizer = Tokenizer()
    tokenizer.feed(' {"a": {}} and more {')
    while isinstance(tokenizer.next_event(), Event):
        pass
    assert (tokenizer.next_event(), tokenizer.end) == (END, 10)


def test_a_closed_tokenizer_takes_no_text() -> None:
    """Feeding after `close` is the caller's fault."""
    tokenizer = Tokenizer()
    tokenizer.close()
    with pytest.raises(ValueError, match="closed"):
        tokenizer.feed("x")
