"""AWS event-stream frames: bytes in pieces to messages.

The format: https://smithy.io/2.0/aws/amazon-eventstream.html. A frame is a prelude (length of all, length of the
headers, CRC-32 of these eight bytes), headers, payload, and the CRC-32 of everything before it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from zlib import crc32

from attrs import field, frozen

__all__ = ["Frame", "FrameReader"]

_PRELUDE = struct.Struct(">III")
_LEAST = _PRELUDE.size + 4
# Payloads go up to 24 megabytes, headers to 128 kilobytes: a length above is no length.
_MOST = 24 * 2**20 + 128 * 2**10 + _LEAST

# Sizes of the header values that have a fixed one, by type: true, false, byte, short, integer, long, timestamp, uuid.
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES, _STRING = 6, 7


@frozen(kw_only=True)
class Frame:
    """One message. `headers`: those whose value is a string, such as `:event-type`; the others are not needed."""

    headers: Mapping[str, str]
    payload: bytes = field(repr=False)


class FrameReader:
    """Reads bytes cut anywhere.

    `damaged`: a checksum was wrong or headers could not be read. A frame whose body is damaged is left out; after a
    damaged prelude, reading goes on at the next one that is right. `waiting`: a frame has begun and not ended.
    """

    def __init__(self) -> None:
        self.damaged = False
        self._buffer = bytearray()
        self._needed = _PRELUDE.size  # bytes that must be there before looking again is of use

    @property
    def waiting(self) -> bool:
        """Whether bytes of a frame that has not ended are held."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that end in this piece."""
        self._buffer += data
        if len(self._buffer) < self._needed:
            return []
        data = bytes(self._buffer)
        frames: list[Frame] = []
        at, end, self._needed = 0, len(data), _PRELUDE.size
        while end - at >= _PRELUDE.size:
            total, headers, crc = _PRELUDE.unpack_from(data, at)
            if not _LEAST <= total <= _MOST or headers > total - _LEAST or crc32(data[at : at + 8]) != crc:
                self.damaged = True
                at += 1
                continue
            if end - at < total:
                self._needed = total
                break
            frame = _frame(data[at : at + total], headers)
            if frame is None:
                self.damaged = True
            else:
                frames.append(frame)
            at += total
        self._buffer = bytearray(data[at:])
        return frames


def _frame(data: bytes, length: int) -> Frame | None:
    """The message in these bytes; None: its checksum is wrong, or its headers cannot be read."""
    if crc32(data[:-4]) != int.from_bytes(data[-4:], "big"):
        return None
    body = _PRELUDE.size + length
    headers = _headers(data[_PRELUDE.size : body])
    return None if headers is None else Frame(headers=headers, payload=data[body:-4])


@lru_cache(maxsize=64)  # a stream has a handful of kinds of frames, each with the same headers
def _headers(data: bytes) -> Mapping[str, str] | None:
    """The string headers, for reading only; None: they cannot be read."""
    headers: dict[str, str] = {}
    at = 0
    while at < len(data):
        begin = at + 1
        at = begin + data[at]
        if at >= len(data):
            return None
        name = data[begin:at].decode("utf-8", "replace")
        kind = data[at]
        at += 1
        if kind in (_BYTES, _STRING):
            size = int.from_bytes(data[at : at + 2], "big")
            at += 2
            if kind == _STRING:
                headers[name] = data[at : at + size].decode("utf-8", "replace")
        elif kind in _FIXED:
            size = _FIXED[kind]
        else:
            return None
        at += size
    return headers if at == len(data) else None
