"""OpenAI Chat Completions, streamed; also vLLM, SGLang and gateways that bend the shape.

`choices[].delta.tool_calls[]` carries pieces of calls. By the documentation a piece belongs to the call with its
`index`; what is really sent leaves the index out, uses one for all calls or lets it jump, and sends the id late, again
or never. `_Choice.draft` says to which call a piece goes.
"""

from __future__ import annotations

from collections.abc import Mapping

from trimtab.types import Json
from trimtab.wire.histories import chat as history
from trimtab.wire.protocol import Wire
from trimtab.wire.streams.drafts import Draft, StreamReader, finish, join, number, objects, say, string
from trimtab.wire.streams.growing import Growing
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.triggers import TRIGGERS
from trimtab.wire.types import RawArgs, RawCall

__all__ = ["ChatStream"]

# Members of a message, and of a call in it, that are looked after by themselves.
_OWN = {"content", "function_call", "role", "tool_calls"}
_OF_CALL = ("arguments", "custom", "function", "id", "index", "input", "name")


class _Choice:
    """One answer of several that a request may ask for."""

    def __init__(self) -> None:
        self.reason: Json = None
        self.drafts: list[Draft] = []
        self.texts: list[str] = []
        self.blocks: list[Json] = []
        self.more = Growing()  # members beside these, such as reasoning
        self._by_index: dict[int, Draft] = {}
        self._by_id: dict[str, Draft] = {}
        self._row: list[Draft] = []  # the calls of the last chunk that had several
        self._function: Draft | None = None

    def text(self, content: Json) -> None:
        """A piece of the content: of its text, or of the list of blocks that some servers have there."""
        if text := string(content):
            self.texts.append(text)
        self.blocks += objects(content)

    def message(self) -> Json:
        """The message so far."""
        drafts = [one for one in self.drafts if one.name or one.call_id]
        calls = [_call(one) for one in drafts if one is not self._function]
        found = {**self.more.whole(), "role": "assistant", "content": self._content(), "tool_calls": calls}
        if self._function in drafts:
            found["function_call"] = {"name": self._function.name, "arguments": self._function.arguments()}
        return history.fit_message(found)

    def _content(self) -> Json:
        text = join(self.texts)
        if not self.blocks:
            return text or None
        return [*self.blocks, *([{"type": "text", "text": text}] if text else ())]

    def tool_calls(self, entries: list[dict[str, Json]]) -> None:
        """The pieces in one chunk."""
        named = False
        row: list[Draft] = []
        for place, entry in enumerate(entries):
            # `custom` tools have free text; a looser server has name and arguments beside the id.
            inner = entry.get("function") or entry.get("custom")
            inner = inner if isinstance(inner, dict) else entry
            name = string(inner.get("name"))
            arguments = inner.get("arguments")
            if arguments is None:
                arguments = inner.get("input")
            index, call_id = number(entry.get("index")), string(entry.get("id"))
            if index is None and not call_id and not name and len(entries) > 1 and len(self._row) == len(entries):
                draft: Draft | None = self._row[place]
            elif index is None and not call_id and name and named:
                draft = self._new()  # two names in one chunk are two calls
            else:
                draft = self.draft(index, call_id, name, arguments)
            if draft is None:
                continue
            self._fill(draft, index, call_id)
            draft.native.update((key, one) for key, one in entry.items() if key not in _OF_CALL and one is not None)
            if "custom" in entry:
                draft.native["type"] = "custom"
            if name:
                draft.add_name(name, with_id=bool(call_id), with_arguments=bool(arguments))
            draft.add(arguments)
            named = named or bool(name)
            row.append(draft)
        if len(entries) > 1:
            self._row = row

    def function_call(self, entry: dict[str, Json]) -> None:
        """The one call without id or index that came before tool calls."""
        if self._function is None:
            self._function = self._new()
        name, arguments = string(entry.get("name")), entry.get("arguments")
        if name:
            self._function.add_name(name, with_arguments=bool(arguments))
        self._function.add(arguments)

    def draft(self, index: int | None, call_id: str, name: str, arguments: RawArgs) -> Draft | None:
        """The call that a piece belongs to: one that has begun, or a new one; None: the piece belongs to none."""
        last = self.drafts[-1] if self.drafts else None
        held = last if index is None else self._by_index.get(index)
        known = self._by_id.get(call_id) if call_id else None
        if known is not None:
            return self._known(known, held, index, name, arguments)
        if held is None:
            # Arguments alone under an index that was never opened continue a call that is not whole, or are stray.
            if last is None or name or call_id:
                return self._new()
            return last if last.open else None
        if call_id and held.call_id:
            return held if _continues(held, name, arguments) else self._new()
        return self._new() if _begins(held, call_id, name, arguments) else held

    def _known(self, known: Draft, held: Draft | None, index: int | None, name: str, arguments: RawArgs) -> Draft:
        """The id has come before: it is the same call, unless its index or another name says that ids repeat."""
        if index is None:
            return self._new() if name != known.name and _begins(known, "", name, arguments) else known
        if held is known:
            return known
        if held is not None:
            return held if held.call_id == known.call_id else known
        return self._new() if name and (name != known.name or not known.open) else known

    def _new(self) -> Draft:
        self.drafts.append(Draft())
        return self.drafts[-1]

    def _fill(self, draft: Draft, index: int | None, call_id: str) -> None:
        if index is not None:
            self._by_index[index] = draft
        if call_id:
            draft.call_id = draft.call_id or call_id
            self._by_id[call_id] = draft


def _continues(held: Draft, name: str, arguments: RawArgs) -> bool:
    """Whether a piece with a new id goes on with this call all the same: some servers make an id for each chunk.

    A new id on a used index opens a new call otherwise: gateways give every parallel call index 0.
    """
    if not isinstance(arguments, str) or not arguments or not held.open:
        return False
    return not name or (name == held.name and not _opens(arguments))


def _begins(held: Draft, call_id: str, name: str, arguments: RawArgs) -> bool:
    """Whether a piece is a new call though nothing but its place says so: the call on its index is whole.

    Another name begins one; so does a name or an id with arguments that open anew. Arguments alone do not: some servers
    send all of them once more at the end.
    """
    if not (name or call_id) or not held.begun or held.open:
        return False
    return bool(name and name != held.name) or _opens(arguments)


def _opens(arguments: RawArgs) -> bool:
    """Whether arguments begin here."""
    return isinstance(arguments, dict) or string(arguments).lstrip(" \t\r\n").startswith(("{", "["))


class ChatStream(StreamReader):
    """Reads one streamed chat completion. `tags`: those between which a call stands in the model's text."""

    def __init__(self, tags: Mapping[str, str] = TRIGGERS) -> None:
        super().__init__()
        self._tags = tags
        self._choices: dict[int, _Choice] = {}

    def _event(self, name: str, event: dict[str, Json]) -> None:
        if event.get("error") or name == "error":
            self._failed = True
        # The chunk with the usage has no choices.
        for place, found in enumerate(objects(event.get("choices"))):
            index = number(found.get("index"))
            index = place if index is None else index
            choice = self._choices.get(index)
            if choice is None:
                choice = self._choices[index] = _Choice()
            delta = found.get("delta")
            if not isinstance(delta, dict):
                # A server that does not stream sends the whole message; one that does may send it again at the end.
                delta = None if choice.drafts else found.get("message")
            if isinstance(delta, dict):
                self._delta(choice, delta)
            choice.reason = found.get("finish_reason") or choice.reason

    def _delta(self, choice: _Choice, delta: dict[str, Json]) -> None:
        if entries := delta.get("tool_calls"):
            choice.tool_calls(objects(entries))
        if isinstance(function := delta.get("function_call"), dict):
            choice.function_call(function)
        choice.text(delta.get("content"))
        if not delta.keys() <= _OWN:
            choice.more.take({name: one for name, one in delta.items() if name not in _OWN})

    def _calls(self) -> list[RawCall]:
        calls: list[RawCall] = []
        for _, choice in sorted(self._choices.items()):
            complete = self._whole() and not is_cut(choice.reason) and bool(choice.reason or self._source.done)
            found = finish((one for one in choice.drafts if one.name or one.call_id), complete=complete)
            if not found or self._tags is TRIGGERS:
                found += say(choice.texts, complete=complete, tags=self._tags)
            calls += found
        return calls

    def _wire(self) -> Wire:
        from trimtab.wire.chat import OPENAI_CHAT, VLLM  # which imports this module for its readers

        return OPENAI_CHAT if self._tags is TRIGGERS else VLLM

    def _natives(self) -> list[Json]:
        message = self._choices[min(self._choices)].message() if self._choices else None
        return [message] if history.says(message) else []


def _call(draft: Draft) -> Json:
    """A call as a message has it: a function with arguments, or a tool that takes free text."""
    call: dict[str, Json] = {"type": "function", **draft.native, "id": draft.call_id}
    if call["type"] == "custom":
        return {**call, "custom": {"name": draft.name, "input": draft.arguments()}}
    return {**call, "function": {"name": draft.name, "arguments": draft.arguments()}}
