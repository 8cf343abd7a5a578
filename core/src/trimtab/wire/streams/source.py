"""What came over the wire, cut anywhere, to the events that it holds, decoded."""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from trimtab._json import decode
from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire.streams.jsonarray import ObjectReader
from trimtab.wire.streams.sse import SseReader

__all__ = ["Event", "Source"]

Event = tuple[str, Json]
"""The name that the wire gives an event (`""`: none) and its value: an object, or a string of an older AI SDK."""

_BLANKS = " \t\r\n\ufeff"
_JSON_BEGINS = ("{", "[", '"')


class Source:
    """Reads bytes, text or decoded events.

    Text that begins with a bracket is JSON (an array in pieces, lines, or one object) and read when it has ended; any
    other is server-sent events.

    `done`: the wire said that all was sent (`[DONE]`, or the end of the array). `damaged`: something could not be
    read, and something followed it.
    """

    def __init__(self) -> None:
        self.done = False
        self.damaged = False
        self._utf8 = codecs.getincrementaldecoder("utf-8")("strict")
        self._text: SseReader | ObjectReader | None = None

    def feed(self, data: bytes | str | Mapping[str, Json]) -> list[Event]:
        """The events that end in this piece. Raises CallerError for what is neither bytes, text nor an object."""
        if isinstance(data, bytes):
            return self._read(self._decoded(data))
        if isinstance(data, str):
            return self._read(data)
        if isinstance(data, Mapping):
            return [("", dict(data))]
        if isinstance(data, bytearray | memoryview):
            return self._read(self._decoded(bytes(data)))
        raise CallerError(f"a stream is fed bytes, text or one decoded event as a dict, not {type(data).__name__}")

    def close(self) -> list[Event]:
        """The event that the text ended in. One that is cut off is no damage: that the stream is cut, its end says."""
        damaged = self.damaged
        text = self._decoded(b"", final=True)
        events = self._read(text) if text else []
        if isinstance(self._text, SseReader):
            events += self._values(self._text.close())
        elif self._text is not None:
            events += [("", value) for value in self._text.close()]
            self.done = self._text.ended
            damaged = damaged or self._text.damaged
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
        self._text.feed(text)
        return []

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
        """Data that is no one JSON value: the end mark, words of a gateway, several values, or damage.

        Several stand in one event where a sender forgot the empty line between them, or even the line end.
        """
        for line in text.split("\n"):
            line = line.strip(_BLANKS)
            if line == "[DONE]":
                self.done = True
            elif line.startswith(_JSON_BEGINS):
                reader = ObjectReader()
                if "}" in line:
                    reader.feed(line)
                found = reader.close()
                events += [(name, value) for value in found]
                self.damaged = self.damaged or reader.damaged or reader.cut or not found
