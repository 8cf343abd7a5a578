"""One streamed response in every way in which it may come over the wire."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from trimtab.types import Json
from trimtab.wire.types import RawCall, Stream

__all__ = ["cuts", "read_every_way", "read_pieces", "server_sent"]

_LINE_ENDS = ("\n", "\r\n", "\r")


def server_sent(payloads: Iterable[str], line_end: str = "\n") -> bytes:
    """The payloads as server-sent events with these line ends."""
    return "".join(f"data: {payload}{line_end}{line_end}" for payload in payloads).encode("utf-8", "surrogatepass")


def cuts(data: bytes) -> Iterator[list[bytes]]:
    """The data whole, byte by byte, and in random pieces, the same ones each time."""
    yield [data]
    yield [data[at : at + 1] for at in range(len(data))]
    chance = random.Random(len(data))
    for count in (1, 8, 40):
        places = sorted(chance.randrange(len(data) + 1) for _ in range(count))
        yield [data[begin:end] for begin, end in zip([0, *places], [*places, len(data)], strict=True)]


def read_pieces(stream: Stream, pieces: Iterable[bytes | str]) -> list[RawCall]:
    """What a reader gives for these pieces."""
    for piece in pieces:
        stream.feed(piece)
    return stream.close()


def read_every_way(make: Callable[[], Stream], payloads: Sequence[str]) -> list[RawCall]:
    """The calls in server-sent events with these payloads.

    Raises AssertionError where they depend on line ends, on where the bytes are cut, on whether text or bytes come,
    or, for a stream without an end mark, on whether events come decoded.
    """
    expected = read_pieces(make(), [server_sent(payloads)])
    for line_end in _LINE_ENDS:
        data = server_sent(payloads, line_end)
        for pieces in cuts(data):
            assert read_pieces(make(), pieces) == expected, f"{line_end!r}, cut into {len(pieces)} pieces"
        text = data.decode("utf-8", "replace")
        assert read_pieces(make(), text) == expected, f"{line_end!r}, text char by char"
    if (events := _decoded(payloads)) is not None:
        stream = make()
        for event in events:
            stream.feed(event)
        assert stream.close() == expected, "events that are decoded already"
    return expected


def _decoded(payloads: Iterable[str]) -> list[dict[str, Json]] | None:
    """The payloads as events; None: one is no object, such as the end mark."""
    try:
        events = [json.loads(payload) for payload in payloads]
    except ValueError:
        return None
    return events if all(isinstance(event, dict) for event in events) else None
