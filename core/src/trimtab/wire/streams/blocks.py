"""What Anthropic's and Bedrock's streams have in common: a message of content blocks, each with an index."""

from __future__ import annotations

from trimtab.types import Json
from trimtab.wire.streams.drafts import Draft, StreamReader, finish, number, say
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.types import RawArgs, RawCall

__all__ = ["BlockReader"]


class BlockReader(StreamReader):
    """Keeps the calls of one message by the index of their block, which other blocks may shift.

    A piece for a block that was never opened, or that has ended, is dropped. Without an index it goes to the block
    that was opened last.
    """

    def __init__(self) -> None:
        super().__init__()
        self._reason: Json = None
        self._over = False
        self._texts: list[str] = []
        self._drafts: list[Draft] = []
        self._by_index: dict[int, Draft | None] = {}
        self._last: Draft | None = None

    def _open(self, index: Json, call_id: str, name: str) -> Draft:
        """A call's block begins. The same start sent again opens nothing."""
        at = number(index)
        held = self._last if at is None else self._by_index.get(at)
        if held is None or held.ended or not call_id or held.call_id != call_id:
            held = Draft(call_id, name)
            self._drafts.append(held)
        self._last = held
        if at is not None:
            self._by_index[at] = held
        return held

    def _open_other(self, index: Json) -> None:
        """A block begins that is no call."""
        self._last = None
        if (at := number(index)) is not None:
            self._by_index[at] = None

    def _held(self, index: Json) -> Draft | None:
        at = index if type(index) is int else number(index)
        draft = self._last if at is None else self._by_index.get(at)
        return None if draft is None or draft.ended else draft

    def _add(self, index: Json, arguments: RawArgs) -> None:
        if (draft := self._held(index)) is not None:
            draft.add(arguments)

    def _stop_block(self, index: Json) -> None:
        if (draft := self._held(index)) is not None:
            draft.ended = True

    def _calls(self) -> list[RawCall]:
        over = bool(self._over or self._reason or self._source.done)
        complete = over and self._whole() and not is_cut(self._reason)
        return finish(self._drafts, complete=complete) + say(self._texts, complete=complete)
