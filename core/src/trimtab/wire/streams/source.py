"""What came over the wire, cut anywhere, to the events that it holds, decoded."""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from trimtab._json import decode
from trimtab.types import Json
from trimtab.wire.streams.jsonarray import ObjectReader
from trimtab.wire.streams.sse import SseReader

__all__ = ["Event", "Source"]

Event = tuple[str, Json]
"""The name that the wire gives an event (`""`: none) and its value: an object, or a string of an older AI SDK."""

_BLANKS = " \t\r\n\ufeff"


class Source:
    """Reads bytes, text or decoded events, in any mixture.

    Text that begins with a bracket is read as JSON (an array in pieces, lines, or one object), any other as
    server-sent events.

    `done`: the wire said that all was sent (`[DONE]`, or the end of the array). `damaged`: something could not be
    read, and something followed it.
    """

    def __init__(self) -> None:
        self.done = False
        self.damaged = False
        self._utf8 = codecs.getincrementaldecoder("utf-8")("strict")
        self._text: SseReader | ObjectReader | None = None

    def feed(self, data: bytes | str | Mapping[str, Json]) -> list[Event]:
        """The events that end in this piece."""
        if isinstance(data, str):
            return self._read(data)
        if isinstance(data, bytes | bytearray | memoryview):
            return self._read(self._decoded(bytes(data)))
        return [("", dict(data))] if isinstance(data, Mapping) else []

    def close(self) -> list[Event]:
        """The event that the text ended in. One that is cut off is no damage: that the stream is cut, its end says."""
        damaged = self.damaged
        text = self._decoded(b"", final=True)
        events = self._read(text) if text else []
        if isinstance(self._text, SseReader):
            events += self._values(self._text.close())
        self.damaged = damaged
        return events

    def _decoded(self, data: bytes, *, final: bool = False) -> str:
        try:
            return self._utf8.decode(data, final)
        except UnicodeDecodeError:
            self.damaged = True
            self._utf8.errors = "replace"
            return self._utf8.decode(data, final)

    def _read(self, text: str) -> list[Event]:
        if self._text is None:
            text = text.lstrip(_BLANKS)
            if not text:
                return []
            self._text = ObjectReader() if text[0] in "{[" else SseReader()
        if isinstance(self._text, SseReader):
            return self._values(self._text.feed(text))
        events = self._values([("", found) for found in self._text.feed(text)])
        self.damaged = self.damaged or self._text.damaged
        self.done = self._text.ended
        return events

    def _values(self, texts: list[tuple[str, str]]) -> list[Event]:
        events: list[Event] = []
        for name, text in texts:
            try:
                value = decode(text)
            except (ValueError, RecursionError):
                self._not_json(name, text, events)
                continue
            if isinstance(value, dict | str):
                events.append((name, value))
            elif isinstance(value, list):
                events += [(name, item) for item in value if isinstance(item, dict)]
        return events

    def _not_json(self, name: str, text: str, events: list[Event]) -> None:
        """Data that is no JSON: the end mark, words of a gateway, several events in one, or damage."""
        text = text.strip(_BLANKS)
        if text == "[DONE]":
            self.done = True
        elif "\n" in text:
            # Lines that should have been events of their own: their sender forgot the empty line between them.
            events += self._values([(name, line) for line in text.split("\n")])
        elif text[:1] in ("{", "[", '"'):
            self.damaged = True
