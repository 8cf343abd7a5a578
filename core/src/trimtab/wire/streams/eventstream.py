"""AWS event-stream frames: bytes in pieces to messages.

The format: https://smithy.io/2.0/aws/amazon-eventstream.html. A frame is a prelude (length of all, length of the
headers, CRC-32 of these eight bytes), headers, payload, and the CRC-32 of everything before it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from zlib import crc32

from attrs import field, frozen

__all__ = ["Frame", "FrameReader"]

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_LEAST = _PRELUDE.size + _CRC.size
# "The maximum size of the payload is 24 megabytes", "of the headers 128 kilobytes": a length above is no length.
_MOST = 24 * 2**20 + 128 * 2**10 + _LEAST
_HEADERS_MOST = 128 * 2**10

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

    @property
    def waiting(self) -> bool:
        """Whether bytes of a frame that has not ended are held."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that end in this piece."""
        buffer = self._buffer
        buffer += data
        frames: list[Frame] = []
        at = 0
        while len(buffer) - at >= _PRELUDE.size:
            total, headers, crc = _PRELUDE.unpack_from(buffer, at)
            if not (_LEAST <= total <= _MOST and headers <= min(total - _LEAST, _HEADERS_MOST)) or (
                crc32(buffer[at : at + 8]) != crc
            ):
                self.damaged = True
                at += 1
                continue
            if len(buffer) - at < total:
                break
            frame = self._frame(bytes(buffer[at : at + total]), headers)
            if frame is None:
                self.damaged = True
            else:
                frames.append(frame)
            at += total
        del buffer[:at]
        return frames

    def _frame(self, data: bytes, length: int) -> Frame | None:
        end = len(data) - _CRC.size
        if crc32(data[:end]) != _CRC.unpack_from(data, end)[0]:
            return None
        body = _PRELUDE.size + length
        headers = _headers(data[_PRELUDE.size : body])
        return None if headers is None else Frame(headers=headers, payload=data[body:end])


def _headers(data: bytes) -> dict[str, str] | None:
    """The string headers; None: they cannot be read."""
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
