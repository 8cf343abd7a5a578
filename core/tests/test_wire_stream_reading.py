"""From bytes to events: server-sent events, JSON in pieces, AWS frames."""

from __future__ import annotations

import json
import struct
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.testing.streams import cuts
from trimtab.wire.streams.eventstream import FrameReader
from trimtab.wire.streams.jsonarray import ObjectReader
from trimtab.wire.streams.source import Event, Source
from trimtab.wire.streams.sse import SseReader

SSE = {
    "one event": ("data: a\n\n", [("", "a")]),
    "only one space after the colon is no data": ("data:  a\n\ndata:b\n\n", [("", " a"), ("", "b")]),
    "data lines are joined": ("data: a\ndata: b\ndata:\n\n", [("", "a\nb\n")]),
    "a field without a colon has no value": ("data\ndata\n\n", [("", "\n")]),
    "a name lasts for one event": ("event: x\ndata: a\n\ndata: b\n\n", [("x", "a"), ("", "b")]),
    "the name may follow the data": ("data: a\nevent: x\n\n", [("x", "a")]),
    "an event without data is none": ("event: x\n\ndata: b\n\n", [("", "b")]),
    "comments, ids and times are not data": (": hi\nid: 7\nretry: 9\ndata: a\n\n", [("", "a")]),
    "unknown fields are not data": ("datas: x\nfoo: y\ndata: a\n\n", [("", "a")]),
    "the last event needs no end": ("data: a\n\ndata: b", [("", "a"), ("", "b")]),
    "a bare line of JSON is an event": ('{"a":1}\n\n{"b":2}\n', [("", '{"a":1}'), ("", '{"b":2}')]),
    "a code before the colon is a name": ('9:{"a":1}\n0:"x"\n', [("9", '{"a":1}'), ("0", '"x"')]),
}


@pytest.mark.parametrize("name", SSE)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_server_sent_events(name: str, line_end: str) -> None:
    """The rules of the HTML standard hold wherever the text is cut and however its lines end."""
    text, expected = SSE[name]
    text = text.replace("\n", line_end)
    for size in (1, 2, 3, len(text)):
        reader = SseReader()
        found = [event for at in range(0, len(text), size) for event in reader.feed(text[at : at + size])]
        assert found + reader.close() == expected


def events(source: Source, pieces: list[bytes]) -> list[Event]:
    """What a source gives for these pieces."""
    return [event for piece in pieces for event in source.feed(piece)] + source.close()


SOURCES: dict[str, tuple[bytes, list[Event], bool, bool]] = {
    "a byte order mark": (b'\xef\xbb\xbfdata: {"a":1}\n\n', [("", {"a": 1})], False, False),
    "blank lines before": (b'\n\r\n data: {"a":1}\n\n', [("", {"a": 1})], False, False),
    "the end mark": (b'data: {"a":1}\n\ndata: [DONE]\n\n', [("", {"a": 1})], True, False),
    "words of a gateway": (b'data: ping\n\ndata: {"a":1}\n\n', [("", {"a": 1})], False, False),
    "damaged data": (b'data: {"a":\n\ndata: {"a":1}\n\n', [("", {"a": 1})], False, True),
    "data cut off": (b'data: {"a":1}\n\ndata: {"a"', [("", {"a": 1})], False, False),
    "events without an empty line between": (
        b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n',
        [("", {"a": 1}), ("", {"b": 2})],
        True,
        False,
    ),
    "events without a line between": (
        b'data: {"a":1}{"b":2},{"c":3}\n\n',
        [("", {"a": 1}), ("", {"b": 2}), ("", {"c": 3})],
        False,
        False,
    ),
    "a damaged one of several": (
        b'data: {"a":\ndata: {"b":2}\ndata: ping\n\n',
        [("", {"b": 2})],
        False,
        True,
    ),
    "a text": (b'data: "a"\n\ndata: "b\n\n', [("", "a")], False, True),
    "one event over several lines": (b'data: {"a":\ndata: 1}\n\n', [("", {"a": 1})], False, False),
    "lines of JSON": (b'{"a":1}\n{"b":[{}]}\n', [("", {"a": 1}), ("", {"b": [{}]})], False, False),
    "a line of JSON that is cut off": (b'{"a":"x\n{"b":2}\n', [("", {"b": 2})], False, True),
    "an array": (b'[{"a":"]}"}\n,\n{"b":"\\""}]', [("", {"a": "]}"}), ("", {"b": '"'})], True, False),
    "an array without its end": (b'[{"a":1},{"b"', [("", {"a": 1})], False, False),
    "an array in one event": (b'data: [{"a":1},2,{"b":2}]\n\n', [("", {"a": 1}), ("", {"b": 2})], False, False),
    "one object over lines": (b'{\n  "a": 1\n}\n', [("", {"a": 1})], False, False),
    "characters of several bytes": ('data: {"a":"é€😀"}\n\n'.encode(), [("", {"a": "é€😀"})], False, False),
    "bytes that are no UTF-8": (b'data: {"a":"\xff"}\n\n', [("", {"a": "\ufffd"})], False, True),
    "deeper than can be decoded": (b"data: " + b"[" * 200_000 + b"\n\ndata: {}\n\n", [("", {})], False, True),
    "a number is no event": (b'data: 1\n\ndata: {"a":1}\n\n', [("", {"a": 1})], False, False),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name: str) -> None:
    """Events, the end mark and damage are the same wherever the bytes are cut."""
    data, expected, done, damaged = SOURCES[name]
    ways = cuts(data) if len(data) < 1000 else iter([[data], [data[:50_000], data[50_000:]]])
    for pieces in ways:
        source = Source()
        found = events(source, pieces)
        assert found == expected
        assert (source.done, source.damaged) == (done, damaged)


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.integers() | st.none(), max_size=3)),
    st.data(),
)
@settings(max_examples=60)
def test_an_array_in_pieces_gives_its_elements(values: list[dict[str, object]], data: st.DataObject) -> None:
    """Every object comes out as it was written, however the text is spaced and cut."""
    indent = data.draw(st.sampled_from([None, 1]))
    text = json.dumps(values, ensure_ascii=data.draw(st.booleans()), indent=indent)
    size = data.draw(st.integers(1, len(text)))
    reader = ObjectReader()
    for at in range(0, len(text), size):
        reader.feed(text[at : at + size])
    assert reader.close() == values
    assert reader.ended
    assert not reader.damaged
    lines = ObjectReader()
    lines.feed("".join(f"{json.dumps(one, indent=indent)}\n" for one in values))
    assert lines.close() == values
    assert not lines.damaged


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    """An AWS event-stream frame."""
    spelt = b"".join(
        bytes([len(name.encode())]) + name.encode() + b"\x07" + struct.pack(">H", len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(spelt) + len(payload), len(spelt))
    body = prelude + struct.pack(">I", crc32(prelude)) + spelt + payload
    return body + struct.pack(">I", crc32(body))


NAMES = st.text("abc:-é", min_size=1, max_size=9)


@given(st.lists(st.tuples(st.dictionaries(NAMES, st.text(max_size=20)), st.binary(max_size=60)), max_size=5), st.data())
@settings(max_examples=60)
def test_frames_as_the_vendor_reads_them(messages: list[tuple[dict[str, str], bytes]], data: st.DataObject) -> None:
    """Headers and payloads are those that botocore's parser finds, wherever the bytes are cut."""
    vendor = pytest.importorskip("botocore.eventstream")
    stream = b"".join(frame(*message) for message in messages)
    theirs = vendor.EventStreamBuffer()
    theirs.add_data(stream)
    expected = [(message.headers, message.payload) for message in theirs]
    size = data.draw(st.integers(1, max(1, len(stream))))
    reader = FrameReader()
    found = [one for at in range(0, len(stream), size) for one in reader.feed(stream[at : at + size])]
    assert [(dict(one.headers), one.payload) for one in found] == expected == messages
    assert not reader.damaged
    assert not reader.waiting


def test_headers_of_every_type() -> None:
    """Headers that are no strings are passed over by their size, and the vendor's parser agrees."""
    vendor = pytest.importorskip("botocore.eventstream")
    spelt = b"".join(
        b"\x01" + letter + kind + value
        for letter, kind, value in [
            (b"a", b"\x00", b""),
            (b"b", b"\x01", b""),
            (b"c", b"\x02", b"\x01"),
            (b"d", b"\x03", b"\x00\x01"),
            (b"e", b"\x04", b"\x00\x00\x00\x01"),
            (b"f", b"\x05", b"\x00" * 8),
            (b"g", b"\x06", b"\x00\x02xy"),
            (b"h", b"\x07", b"\x00\x02xy"),
            (b"i", b"\x08", b"\x00" * 8),
            (b"j", b"\x09", b"\x00" * 16),
        ]
    )
    prelude = struct.pack(">II", 16 + len(spelt), len(spelt))
    body = prelude + struct.pack(">I", crc32(prelude)) + spelt
    data = body + struct.pack(">I", crc32(body))
    theirs = vendor.EventStreamBuffer()
    theirs.add_data(data)
    assert next(iter(theirs)).headers["h"] == "xy"
    reader = FrameReader()
    (found,) = reader.feed(data)
    assert dict(found.headers) == {"h": "xy"}
    assert not reader.damaged


@pytest.mark.parametrize("place", [0, 5, 9, 13, 30, -1])
def test_a_damaged_frame_is_left_out(place: int) -> None:
    """A wrong byte anywhere costs its frame only: those around it are read, and the damage is told."""
    good = frame({":event-type": "x"}, b'{"a":1}')
    bad = bytearray(good)
    bad[place] ^= 0x55
    for pieces in cuts(good + bytes(bad) + good):
        reader = FrameReader()
        found = [one for piece in pieces for one in reader.feed(piece)]
        assert [one.payload for one in found] == [b'{"a":1}'] * 2
        assert reader.damaged


@pytest.mark.parametrize("headers", [b"\x05ab", b"\x01a\x07\x00\x09x", b"\x01a\x0b", b"\x01a\x07", b"\x00"])
def test_headers_that_cannot_be_read_are_damage(headers: bytes) -> None:
    """A frame whose checksums are right and whose headers are not is left out."""
    prelude = struct.pack(">II", 16 + len(headers), len(headers))
    body = prelude + struct.pack(">I", crc32(prelude)) + headers
    reader = FrameReader()
    assert reader.feed(body + struct.pack(">I", crc32(body))) == []
    assert reader.damaged
