"""What Anthropic's and Bedrock's streams have in common: a message of content blocks, each with an index."""

from __future__ import annotations

from collections.abc import Mapping

from trimtab.types import Json
from trimtab.wire.streams.drafts import Draft, StreamReader, finish, number, say
from trimtab.wire.streams.growing import Growing
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.types import RawArgs, RawCall

__all__ = ["BlockReader"]


class BlockReader(StreamReader):
    """Keeps the blocks of one message by their index, the calls apart from all others.

    A piece for a call that was never opened, or that has ended, is dropped. Without an index it goes to the block that
    was opened last.
    """

    def __init__(self) -> None:
        super().__init__()
        self._reason: Json = None
        self._over = False
        self._texts: list[str] = []
        self._drafts: list[Draft] = []
        self._by_index: dict[int, Draft | None] = {}
        self._last: Draft | None = None
        self._content: list[Draft | Growing] = []
        self._others: dict[int, Growing] = {}
        self._last_other: Growing | None = None

    def _open(self, index: Json, call_id: str, name: str) -> Draft:
        """A call's block begins. The same start sent again opens nothing."""
        at = number(index)
        held = self._last if at is None else self._by_index.get(at)
        if held is None or held.ended or not call_id or held.call_id != call_id:
            held = Draft(call_id, name)
            self._drafts.append(held)
            self._content.append(held)
        self._last, self._last_other = held, None
        if at is not None:
            self._by_index[at] = held
            self._others.pop(at, None)
        return held

    def _open_other(self, index: Json, native: Mapping[str, Json], *, ended: bool = False) -> Growing:
        """A block begins that is no call. The same start sent again opens nothing."""
        at = number(index)
        held = None if at is None else self._others.get(at)
        if held is None or not (held.empty and held.native == native) or held.ended:
            held = Growing(native, ended=ended)
            self._content.append(held)
        self._last, self._last_other = None, held
        if at is not None:
            self._by_index[at] = None
            self._others[at] = held
        return held

    def _held(self, index: Json) -> Draft | None:
        at = index if type(index) is int else number(index)
        draft = self._last if at is None else self._by_index.get(at)
        return None if draft is None or draft.ended else draft

    def _other(self, index: Json) -> Growing | None:
        """The block that is no call and has not ended under this index."""
        at = index if type(index) is int else number(index)
        found = self._last_other if at is None else self._others.get(at)
        return None if found is None or found.ended else found

    def _add(self, index: Json, arguments: RawArgs) -> None:
        if (draft := self._held(index)) is not None:
            draft.add(arguments)

    def _stop_block(self, index: Json) -> None:
        if (draft := self._held(index)) is not None:
            draft.ended = True
        elif (other := self._other(index)) is not None:
            other.ended = True

    def _ended(self) -> bool:
        """Whether the message is whole."""
        return bool(self._over or self._reason or self._source.done) and self._whole()

    def _calls(self) -> list[RawCall]:
        complete = self._ended() and not is_cut(self._reason)
        return finish(self._drafts, complete=complete) + say(self._texts, complete=complete)
