"""Calls that a host has decoded already, one or more in each event."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from trimtab.types import Json
from trimtab.wire.histories import parsed as history
from trimtab.wire.protocol import Wire
from trimtab.wire.streams.drafts import StreamReader
from trimtab.wire.types import RawCall

__all__ = ["ParsedStream"]


class ParsedStream(StreamReader):
    """Reads calls one after another. `read` finds those in one event: the protocol's own reading of a response."""

    def __init__(self, read: Callable[[Json], Iterable[RawCall]]) -> None:
        super().__init__()
        self._read = read
        self._found: list[RawCall] = []
        self._messages: list[Json] = []

    def _event(self, name: str, event: dict[str, Json]) -> None:
        self._found += self._read(event)
        self._messages += history.reply(event)

    def _calls(self) -> list[RawCall]:
        return self._found

    def _wire(self) -> Wire:
        from trimtab.wire.parsed import PARSED  # which imports this module for its reader

        return PARSED

    def _natives(self) -> list[Json]:
        return self._messages
