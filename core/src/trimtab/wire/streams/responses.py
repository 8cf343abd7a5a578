"""OpenAI Responses, streamed: output items by id and index, their arguments in pieces and then once more, whole."""

from __future__ import annotations

from trimtab.types import Json
from trimtab.wire.histories import responses as history
from trimtab.wire.protocol import Wire
from trimtab.wire.responses import HOSTED, SEARCH
from trimtab.wire.streams.drafts import Draft, StreamReader, finish, member, number, objects, say, string
from trimtab.wire.streams.items import Items
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.types import RawArgs, RawCall

__all__ = ["ResponsesStream"]

# Type of an item that is a call, and where its arguments are. The provider runs MCP calls itself.
_NAMED = {"custom_tool_call": "input", "function_call": "arguments", "mcp_call": "arguments"}
_CALLS = {**_NAMED, **{kind: key for kind, key in HOSTED.items() if kind != SEARCH}}

# Events with pieces of arguments, and those that repeat them whole (and under which name).
_PIECES = (
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.mcp_call_arguments.delta",
)
_WHOLES = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
    "response.mcp_call_arguments.done": "arguments",
}


class ResponsesStream(StreamReader):
    """Reads one streamed response.

    An item is known by its id; by its output index where a proxy has dropped or changed the id; by being the last one
    that is open where the index is gone as well. `call_id` is what a result answers to.
    """

    def __init__(self) -> None:
        super().__init__()
        self._drafts: list[Draft] = []
        self._by_id: dict[str, Draft] = {}
        self._by_index: dict[int, Draft] = {}
        self._texts: dict[tuple[Json, ...], list[str]] = {}
        self._over = False
        self._reason: Json = None
        self._items = Items()
        self._answer: Json = None  # the whole response, where it comes at the end

    def _event(self, name: str, event: dict[str, Json]) -> None:
        kind = string(event.get("type")) or name
        self._items.event(kind, event)
        if kind in _PIECES:
            draft = self._named(event)
            if not draft.ended:
                draft.add(event.get("delta"))
        elif kind in _WHOLES:
            draft = self._named(event)
            draft.replace(event.get(_WHOLES[kind]))
            draft.name = draft.name or string(event.get("name"))
            draft.ended = True
        elif kind == "response.output_item.added":
            self._item(event.get("item"), event.get("output_index"), ended=False)
        elif kind == "response.output_item.done":
            self._item(event.get("item"), event.get("output_index"), ended=True)
        elif kind == "response.output_text.delta":
            self._texts.setdefault(_place(event), []).append(string(event.get("delta")))
        elif kind == "response.output_text.done":
            self._texts[_place(event)] = [string(event.get("text"))]
        elif kind in (
            "response.completed",
            "response.incomplete",
            "response.failed",
            "response.cancelled",
            "response.done",
        ):
            self._response(event.get("response"), kind)
        elif kind == "error":
            self._failed = True
        elif event.get("object") == "response":  # a server that does not stream
            self._response(event, "")

    def _named(self, event: dict[str, Json]) -> Draft:
        """The draft that an event is about; a new one where its start was lost."""
        item_id, index = string(event.get("item_id")), number(event.get("output_index"))
        draft = self._by_id.get(item_id)
        if draft is None and index is not None:
            draft = self._by_index.get(index)
        if draft is None and index is None:
            draft = self._last_open()
        return draft if draft is not None else self._new(item_id, "", index)

    def _last_open(self) -> Draft | None:
        last = self._drafts[-1] if self._drafts else None
        return None if last is None or last.ended else last

    def _new(self, item_id: str, call_id: str, index: int | None) -> Draft:
        draft = Draft(index=index)
        self._drafts.append(draft)
        self._items.call(draft)
        self._know(draft, item_id, call_id, index)
        return draft

    def _know(self, draft: Draft, item_id: str, call_id: str, index: int | None) -> None:
        for known in (item_id, call_id):
            if known:
                self._by_id[known] = draft
        if index is not None:
            self._by_index[index] = draft

    def _item(self, item: Json, output_index: Json, *, ended: bool, again: bool = False) -> None:
        """An item begins or ends; `again`: it stands in the whole response, where places may have shifted."""
        if not isinstance(item, dict):
            return
        kind, call_id = string(item.get("type")), string(item.get("call_id"))
        if kind not in _CALLS or (kind not in _NAMED and not call_id):
            if not again:
                self._items.item(item, output_index, ended=ended)
            return  # nothing for a host to answer
        index, item_id = number(output_index), string(item.get("id"))
        draft = self._by_id.get(item_id)
        if draft is None and (same := self._by_id.get(call_id)) is not None:
            # Some servers give every call the same id; then the place tells them apart.
            draft = same if again or None in (index, same.index) or index == same.index else None
        if draft is None and index is not None:
            draft = self._by_index.get(index)
            if draft is not None and _is_other(draft, call_id, ended=ended):
                draft = None  # a proxy gives all items the same index
        if draft is None and ended and index is None and not again:
            last = self._last_open()
            draft = last if last is not None and not (last.call_id and call_id) else None
        if draft is None:
            draft = self._new(item_id, call_id, index)
        draft.native = item if ended or not draft.native else draft.native
        self._know(draft, item_id, call_id, None if again else index)
        self._fill(draft, item, kind, ended=ended)

    def _fill(self, draft: Draft, item: dict[str, Json], kind: str, *, ended: bool) -> None:
        draft.by_provider = kind == "mcp_call"
        call_id = string(item.get("call_id")) or (string(item.get("id")) if draft.by_provider else "")
        draft.call_id = call_id or draft.call_id
        draft.name = string(item.get("name")) or draft.name if kind in _NAMED else kind.removesuffix("_call")
        draft.cut = item.get("status") == "incomplete"
        arguments: RawArgs = item.get(_CALLS[kind])
        if ended:
            draft.replace(arguments)
        else:
            draft.offer(arguments)
        draft.ended = draft.ended or ended

    def _response(self, response: Json, kind: str) -> None:
        self._answer = response
        self._over = self._over or kind != "response.failed"
        self._failed = self._failed or kind == "response.failed" or bool(member(response, "error"))
        self._reason = (
            member(response, "incomplete_details", "reason")
            or (kind == "response.incomplete" and "incomplete")
            or member(response, "status")
        )
        if kind == "response.cancelled":
            self._reason = "cancelled"
        texts: dict[tuple[Json, ...], list[str]] = {}
        for index, item in enumerate(objects(member(response, "output"))):
            self._item(item, index, ended=True, again=True)
            if item.get("type") == "message":
                for place, part in enumerate(objects(item.get("content"))):
                    texts[index, place] = [string(part.get("text"))]
        self._texts = self._texts or texts

    def _calls(self) -> list[RawCall]:
        over = self._over or self._source.done
        complete = over and self._whole() and not is_cut(self._reason)
        said = [text for texts in self._texts.values() for text in (*texts, "\n")]
        drafts = (one for one in self._drafts if one.name or one.call_id)
        return finish(drafts, complete=complete) + say(said, complete=complete)

    def _wire(self) -> Wire:
        from trimtab.wire.responses import OPENAI_RESPONSES  # which imports this module for its reader

        return OPENAI_RESPONSES

    def _natives(self) -> list[Json]:
        """The output that came whole at the end; where it did not, or empty, the items as far as they have come."""
        if objects(member(self._answer, "output")):
            return history.reply(self._answer)
        return history.taken_back(self._items.found(_CALLS), stored=self._items.stored)


def _is_other(draft: Draft, call_id: str, *, ended: bool) -> bool:
    """Whether an item under a draft's index is another one: it has another id, or begins when that one has begun."""
    if draft.call_id and call_id:
        return draft.call_id != call_id
    return not ended and bool(draft.name) and (draft.begun or draft.ended)


def _place(event: dict[str, Json]) -> tuple[Json, ...]:
    """Which text of the answer an event is about."""
    return (number(event.get("output_index")), number(event.get("content_index")))
