"""What a model is told about a compress call that could not be used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.compress import explain, parse_compress_args
from trimtab.compress.arguments.explain import EXAMPLE

GOOD = {"startRef": "m1", "endRef": "m2", "summary": "x"}


def told(given: Any) -> str:
    """The text for an input."""
    return explain(parse_compress_args(given).diagnostics)


def test_the_example_is_valid() -> None:
    """What the model is shown can be called as it stands."""
    parsed = parse_compress_args(json.loads(EXAMPLE))
    assert (len(parsed.ranges), parsed.diagnostics.kind) == (1, "ok")


@pytest.mark.parametrize(
    ("given", "says", "does_not_say"),
    [
        (None, "without arguments", "too early"),
        ("[1]", "not an object", "too early"),
        ({}, "The object is empty", "too early"),
        ({"contents": 1, "note": 2}, "The object has only: contents, note.", "empty"),
        ({"content": 7}, "`content` is a number, not an array", "is a text"),
        ({"content": True}, "`content` is a boolean", "is a text"),
        ({"content": None}, "`content` is null", "is a text"),
        ({"content": {}}, "`content` is an object", "is a text"),
        ({"content": "We did it."}, "`content` is a text", "too early"),
        ({"content": []}, "holds no entry", "not an array"),
        ('{"content": [', "end too early", "could not be read as JSON"),
        ("<p>502</p>", "could not be read as JSON", "too early"),
        ({"content": [{"startRef": "m1", "summary": "x"}]}, "entry 0: endId is missing", "startId is"),
        ({"content": [{**GOOD, "summary": ["x"]}]}, "entry 0: summary is an array, not a text", "missing"),
        ({"content": [{**GOOD, "startRef": 4}]}, "entry 0: startId is a number, not a text", "missing"),
        ({"content": [GOOD, "x", GOOD]}, "entry 1:", "entry 0:"),
        ('{"content": [{"startId": "m1"}, {"startId": "m2"', "No entry before that could be used", "was complete"),
        ('{"content": [' + json.dumps(GOOD) + ", {}, {", "The usable entries before that were taken", "complete"),
        ({"name": "read", "arguments": {"path": "x"}}, "What was sent is a call of another tool", "no `content`"),
        ({"type": "tool_result", "content": [GOOD]}, "What was sent is the answer to a call", "no `content`"),
        ({"name": "compress", "arguments": {"path": "x"}}, "The object has only: path.", "arguments."),
    ],
)
def test_the_true_cause(given: Any, says: str, does_not_say: str) -> None:
    """The cause that was found is named, and no other; the expected shape is shown."""
    text = told(given)
    assert says in text
    assert does_not_say not in text
    assert EXAMPLE in text


def test_nothing_was_wrong() -> None:
    """A call without faults is told so, in one line."""
    assert told({"content": [GOOD]}) == "compress took all entries."


def test_what_to_do_next() -> None:
    """A retry is asked for where it helps, and only for what is missing."""
    assert "fewer entries or shorter" in told('{"content": [{"startRef": "m1", "summ')
    assert "only if entries are missing" in told(json.dumps({"content": [GOOD, GOOD]})[:-20])
    mixed = json.dumps({"content": [GOOD, {"startId": "m1"}, GOOD]})[:-20]
    assert "once they are mended, and those that are missing" in told(mixed)
    assert "only with the entries that could not be used" in told({"content": [GOOD, {}]})
    for nothing in ({"content": []}, {}, "", None):
        assert "only if there is something" in told(nothing)
    assert "in the expected shape" in told({"entries": [GOOD], "note": 1})
    assert "the same arguments would fail again" in told({"content": [{"startRef": "m1"}]})


def test_what_was_not_read_to_the_end() -> None:
    """A text that is given up is neither said to be cut off nor to be all taken."""
    text = '{"content": [' + json.dumps(GOOD) + ", " + "[" * 30_000
    found = parse_compress_args(text).diagnostics
    assert "given-up" in found.repairs
    assert "not read to the end" in explain(found)
    assert "too early" not in explain(found)
    assert "took all" not in explain(found)


def test_it_is_short() -> None:
    """At most eight reasons of 200 chars, each on one line; the rest is counted."""
    text = told({"content": [{}] * 3 + ["long\n" * 200] * 20})
    lines = [line for line in text.split("\n") if line.startswith("- ")]
    assert len(lines) == 9
    assert lines[-1] == "- and 15 more"
    assert all(len(line) <= 202 for line in lines)
    many = told({f"{'key' * 40}{i}": 1 for i in range(90)})
    assert "and 82 more" in many
    assert len(many) < 2_500
