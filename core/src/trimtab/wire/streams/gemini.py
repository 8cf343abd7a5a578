"""Gemini's streamGenerateContent: server-sent events, or one JSON array in pieces.

A part with a `functionCall` is a whole call with decoded arguments, and calls to one tool are told apart by nothing
but their place. Vertex may send a call in pieces (`partialArgs`, `willContinue`); then an id, or the call still being
open, says that a part goes on with it.
"""

from __future__ import annotations

from trimtab.types import Json
from trimtab.wire.histories import gemini as history
from trimtab.wire.protocol import Wire
from trimtab.wire.streams.drafts import Draft, StreamReader, finish, join, member, number, objects, say, string
from trimtab.wire.streams.partial import PartialArguments
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.types import RawCall

__all__ = ["GeminiStream"]

_CALLS = ("functionCall", "function_call")
# Members of a call that only streams have.
_OF_PIECES = ("partialArgs", "partial_args", "willContinue", "will_continue")


_PLAIN = {"text", "thought"}


class _Text:
    """A text that comes in pieces."""

    def __init__(self, thought: bool) -> None:
        self.thought = thought
        self.pieces: list[str] = []

    def part(self) -> Json:
        found = {"text": join(self.pieces)}
        return {**found, "thought": True} if self.thought else found


class _Candidate:
    """One answer of several that a request may ask for."""

    def __init__(self) -> None:
        self.ended = False
        self.cut = False
        self.texts: list[str] = []
        self.drafts: list[Draft] = []
        self.parts: list[Draft | dict[str, Json] | _Text] = []
        self._by_id: dict[str, Draft] = {}
        self._partial: PartialArguments | None = None

    def text(self, part: dict[str, Json]) -> None:
        """A part that is no call. Texts go on with the one before them, unless one of the two is signed."""
        if not part.keys() <= _PLAIN or not isinstance(part.get("text"), str):
            self.parts.append(part)
            return
        thought = bool(part.get("thought"))
        last = self.parts[-1] if self.parts else None
        if not isinstance(last, _Text) or last.thought is not thought:
            last = _Text(thought)
            self.parts.append(last)
        last.pieces.append(part["text"])

    def call(self, found: dict[str, Json], part: dict[str, Json]) -> None:
        """A part with a call, or with a piece of one."""
        call_id, name = string(found.get("id")), string(found.get("name"))
        pieces = objects(found.get("partialArgs") or found.get("partial_args"))
        arguments = found.get("args")
        goes_on = bool(found.get("willContinue") or found.get("will_continue"))
        draft = self._draft(call_id, name)
        draft.name = draft.name or name
        if not draft.native:
            self.parts.append(draft)
        draft.native.update(part)
        if arguments is not None:
            draft.add(arguments)
        if pieces or goes_on or self._partial is not None:
            self._pieces(draft, pieces, goes_on=goes_on)

    def end(self) -> None:
        """The call in pieces, if there is one, gets no more of them."""
        if self._partial is not None:
            self._partial.end()
            self._partial = None

    def _pieces(self, draft: Draft, pieces: list[dict[str, Json]], *, goes_on: bool) -> None:
        if self._partial is None:
            self._partial = PartialArguments()
            if not draft.begun:
                draft.add(self._partial.value)
        for piece in pieces:
            self._partial.add(piece)
        draft.cut = goes_on or self._partial.damaged
        if not goes_on:
            self.end()

    def _draft(self, call_id: str, name: str) -> Draft:
        """A call with an id that has come goes on; so does one in pieces, unless another begins."""
        last = self.drafts[-1] if self.drafts else None
        known = self._by_id.get(call_id)
        if known is not None and name in ("", known.name):
            if known is not last:
                self.end()
            return known
        if last is not None and self._partial is not None and not call_id and name in ("", last.name):
            return last
        self.end()
        draft = Draft(call_id, name)
        self.drafts.append(draft)
        if call_id:
            self._by_id[call_id] = draft
        return draft


class GeminiStream(StreamReader):
    """Reads one streamed answer."""

    def __init__(self) -> None:
        super().__init__()
        self._candidates: dict[int, _Candidate] = {}

    def _event(self, name: str, event: dict[str, Json]) -> None:
        if event.get("error") or name == "error":
            self._failed = True
        if "candidates" not in event and isinstance(inner := event.get("response"), dict):
            event = inner  # Code Assist wraps each chunk
        for place, found in enumerate(objects(event.get("candidates"))):
            index = number(found.get("index"))
            self._candidate(place if index is None else index, found)

    def _candidate(self, index: int, found: dict[str, Json]) -> None:
        candidate = self._candidates.get(index)
        if candidate is None:
            candidate = self._candidates[index] = _Candidate()
        for part in objects(member(found, "content", "parts")):
            # Names as on the wire, or as Python's SDK spells them.
            call = part.get("functionCall", part.get("function_call"))
            if isinstance(call, dict):
                candidate.call(call, part)
                continue
            candidate.text(part)
            if not part.get("thought") and (text := string(part.get("text"))):
                candidate.texts.append(text)
        if reason := found.get("finishReason") or found.get("finish_reason"):
            candidate.ended = True
            candidate.cut = candidate.cut or is_cut(reason)

    def _end(self) -> None:
        for candidate in self._candidates.values():
            candidate.end()

    def _calls(self) -> list[RawCall]:
        calls: list[RawCall] = []
        for _, candidate in sorted(self._candidates.items()):
            over = candidate.ended or self._source.done
            complete = over and self._whole() and not candidate.cut
            drafts = (one for one in candidate.drafts if one.name or one.call_id)
            calls += finish(drafts, complete=complete) + say(candidate.texts, complete=complete)
        return calls

    def _wire(self) -> Wire:
        from trimtab.wire.gemini import GEMINI  # which imports this module for its reader

        return GEMINI

    def _natives(self) -> list[Json]:
        parts = self._candidates[min(self._candidates)].parts if self._candidates else []
        return history.content({"role": "model", "parts": [_part(one) for one in parts]})


def _part(one: Draft | dict[str, Json] | _Text) -> Json:
    if isinstance(one, _Text):
        return one.part()
    if isinstance(one, dict):
        return one
    key = _CALLS[0] if _CALLS[0] in one.native else _CALLS[1]
    call = {name: value for name, value in one.native[key].items() if name not in _OF_PIECES}
    call |= {"id": one.call_id} if one.call_id else {}
    call |= {"args": one.arguments()} if one.begun else {}
    return {**one.native, key: {**call, "name": one.name}}
