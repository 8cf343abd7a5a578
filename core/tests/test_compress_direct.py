"""The short way for plain calls gives what the long one gives."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab._json import decode_or_none
from trimtab.compress.arguments.direct import parsed_directly
from trimtab.compress.arguments.documents import read_one
from trimtab.compress.arguments.parse import parse_compress_args
from trimtab.compress.arguments.reading import Reading
from trimtab.lenient.repeated import with_repeats

ENTRY = {"startId": "m1", "endId": "m2", "summary": 'First, "quoted"\n(done).'}
CALL = json.dumps({"content": [ENTRY, {"startRef": "m3", "endRef": "b4", "summary": "Second.", "topic": "t"}]})
PLAIN = [
    CALL,
    CALL[:-2] + ",]}",
    CALL.replace("\\n", "\n") + "\n",
    CALL.replace("}, {", ", {"),
    " " + CALL[:-2] + "  \n",
    CALL[:-2] + ', ], "topic": "x", "summaryMaxChars": 90}',
    CALL.replace('"startId"', "startId"),
    *(CALL[:end] for end in range(16, len(CALL), 7) if CALL[end - 1] != " "),
]
OTHERS = [
    CALL + " and more",
    "\ufeff" + CALL,
    CALL.replace('"content"', '"ranges"'),
    CALL.replace("Second.", " "),
    CALL.replace('"topic"', '"type"'),
    CALL[:-1] + ', "topic": "x"}',
    '{"content": []}',
    '{"content": [[]]}',
    '{"content": [{"startId": "m1"}]}',
    '{"content": [{"startId": "m1", "endId": "m2", "summary": "a", "startId": "m3", "endId": "m4", "summary": "b"}]}',
    '{"content": ["m1-m2 x',
]


def same_at_length(text: str) -> None:
    """The answer to a text is that of the long way."""
    reading, value = Reading("c"), decode_or_none(text)
    if value is None:
        reading.damaged(text)
    else:
        reading.root(with_repeats(text, value))
    got = parse_compress_args(text, call_id="c")
    found = got.diagnostics
    assert got.ranges == tuple(reading.ranges)
    assert (found.ok, found.kind, found.keys) == (bool(reading.ranges), reading.kind(), reading.keys)
    assert (found.invalid_items, found.invalid_reasons) == (reading.invalid, tuple(reading.reasons))
    assert found.repairs == tuple(reading.repairs)
    assert (found.raw_prefix, found.length) == (text[:800], len(text))


@pytest.mark.parametrize("text", [*PLAIN, *OTHERS])
def test_both_ways_agree(text: str) -> None:
    """Whichever way was taken, the answer is the same."""
    same_at_length(text)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_calls_are_read_directly(text: str) -> None:
    """Damage that is mended, and a cut, take no call off the short way."""
    document = read_one(text, 0)
    assert parsed_directly(text, document.value, document, None) is not None


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(PLAIN),
    st.integers(0, 200),
    st.sampled_from(["", '"', "}", "]", ",", "{", ":", "\n", "'", "\\", "x"]),
)
def test_both_ways_agree_on_any_damage(text: str, at: int, put: str) -> None:
    """So it is for a call in which a character was lost or put in."""
    damaged = text[:at] + put + text[at + (not put) :]
    same_at_length(damaged)
