"""The output items of a response, put together from its events: for a stream that does not end with all of them."""

from __future__ import annotations

from collections.abc import Mapping

from trimtab.types import Json
from trimtab.wire.streams.drafts import Draft, member, number, string
from trimtab.wire.streams.growing import Growing

__all__ = ["Items"]

# Events with a piece of a message: the kind of part that it belongs to, and the member there.
_PIECES = {
    "response.output_text.delta": ("output_text", "text"),
    "response.refusal.delta": ("refusal", "refusal"),
}
# Those that repeat it whole.
_WHOLES = {
    "response.output_text.done": ("output_text", "text"),
    "response.refusal.done": ("refusal", "refusal"),
}


class _Item:
    """An item that is no call. `whole`: it has ended, and came once more; else only a message is of use."""

    def __init__(self) -> None:
        self.native: dict[str, Json] = {}
        self.whole = False
        self.parts: dict[int | None, Growing] = {}


class Items:
    """Collects items in the order in which they begin. `stored`: whether the provider keeps them; None: unknown."""

    def __init__(self) -> None:
        self.stored: Json = None
        self._order: list[Draft | _Item] = []
        self._by_place: dict[Json, _Item] = {}

    def call(self, draft: Draft) -> None:
        """A call has begun, which is read elsewhere."""
        self._order.append(draft)

    def event(self, kind: str, event: dict[str, Json]) -> None:
        """Look at one event; those of calls are left alone."""
        if kind in _PIECES or kind in _WHOLES:
            self._piece(kind, event)
        elif (stored := member(event, "response", "store")) is not None:
            self.stored = stored

    def item(self, native: dict[str, Json], output_index: Json, *, ended: bool) -> None:
        """An item begins or ends that is no call for a host to answer."""
        item = self._at(native.get("id"), output_index, opens=not ended)
        item.native, item.whole = native, ended

    def _piece(self, kind: str, event: dict[str, Json]) -> None:
        item = self._at(event.get("item_id"), event.get("output_index"), opens=False)
        part_kind, name = _PIECES.get(kind) or _WHOLES[kind]
        index = number(event.get("content_index"))
        part = item.parts.get(index)
        if part is None or part.native["type"] != part_kind:
            part = item.parts[index] = Growing({"type": part_kind})
        if kind in _PIECES:
            part.add(name, string(event.get("delta")))
        elif text := string(event.get(name)):
            part.put(name, text)

    def _at(self, item_id: Json, output_index: Json, *, opens: bool) -> _Item:
        """The item under an id, or else an index. `opens`: it begins here, so that one that has ended is another."""
        places = [place for place in (string(item_id), number(output_index)) if place not in ("", None)]
        held = next((self._by_place[place] for place in places if place in self._by_place), None)
        if held is None and not places and self._order and isinstance(self._order[-1], _Item):
            held = self._order[-1]
        if held is None or (opens and held.whole):
            held = _Item()
            self._order.append(held)
        for place in places:
            self._by_place[place] = held
        return held

    def found(self, calls: Mapping[str, str]) -> list[Json]:
        """The items so far. `calls`: the kinds of items that are calls, and the member with their arguments."""
        found = (_call(one, calls) if isinstance(one, Draft) else _other(one) for one in self._order)
        return [native for native in found if native is not None]


def _call(draft: Draft, calls: Mapping[str, str]) -> Json:
    """The item of a call, as far as it came; None: it is the provider's, or of a shape that cannot be cut off."""
    kind = string(draft.native.get("type")) or "function_call"
    if draft.by_provider or kind not in ("custom_tool_call", "function_call"):
        return draft.native if draft.ended else None
    if not draft.name and not draft.call_id:
        return None
    found = {**draft.native, "type": kind, "call_id": draft.call_id, "name": draft.name, calls[kind]: draft.arguments()}
    if found.get("status") not in ("completed", "incomplete") and ("status" in found or not draft.ended):
        found["status"] = "completed" if draft.ended else "incomplete"
    return found


def _other(item: _Item) -> Json:
    """An item that came whole; of others, a message with the text so far."""
    if item.whole:
        return item.native
    parts = (part.whole() for _, part in sorted(item.parts.items(), key=lambda one: one[0] or 0))
    content = [_part(part) for part in parts if part.get("text") or part.get("refusal")]
    if not content:
        return None
    return {**item.native, "type": "message", "role": "assistant", "status": "incomplete", "content": content}


def _part(part: dict[str, Json]) -> dict[str, Json]:
    return {"annotations": [], **part} if part["type"] == "output_text" else part
