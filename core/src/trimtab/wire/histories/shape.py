"""`Shape`: how one protocol's list of messages is read, changed and continued; most of it is the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import field, frozen

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.types import Message, Part, Role
from trimtab.wire.nodes import blocks, changed, has, is_object, items, member, text
from trimtab.wire.sites import CallSite, Site, pair

__all__ = ["Answer", "Shape", "Tie"]

_THINKING: Final = ("thinking", "redacted_thinking", "reasoning", "redacted-reasoning")
_ASIDES: Final = ("step-start",)
_CONTENT: Final = ("content", "parts")
_QUIET: Final = ("thinking", "aside")


@frozen(kw_only=True)
class Answer:
    """What a tool returned to a call of the conversation's last assistant message, ready to be said in any protocol."""

    call_id: str
    name: str
    value: Json = field(repr=False)
    is_error: bool = False


@frozen(kw_only=True)
class Tie:
    """A call and its result: in which messages (from 0) they are, `Part.at` of the call, and what was returned."""

    call_row: int
    call_at: Path
    result_row: int
    value: Json = field(repr=False)
    is_error: bool


@frozen(kw_only=True)
class Shape:
    """How a protocol writes a conversation.

    Attributes:
        place: where a request has its list of messages, and the list; a bare list is a request too.
        sites: the protocol's calls and results in a request, in document order.
        role: whose a native message is.
        user_text: a native message of the user with this text.
        results: the native messages that bring what tools returned, after the message with their calls.
        said: the native messages that a whole response adds to the history.
        alternates: whether the provider refuses two messages of one role in a row.
        joins: the member whose lists are put together when two such messages are made one.
    """

    place: Callable[[Json], tuple[Path, Sequence[Json]]] = field(repr=False)
    sites: Callable[[Json], Iterator[Site]] = field(repr=False)
    role: Callable[[Json], Role] = field(repr=False)
    user_text: Callable[[str], Json] = field(repr=False)
    results: Callable[[Sequence[Answer]], list[Json]] = field(repr=False)
    said: Callable[[Json], list[Json]] = field(repr=False)
    alternates: bool = False
    joins: str = "content"

    def read(self, request: Json, known: Sequence[Message] = ()) -> tuple[Message, ...]:
        """The messages of a request, in order.

        `known`: the messages of an earlier reading; one whose native object is still at its place is not read again.
        """
        natives = self.place(request)[1]
        found = []
        for index, native in enumerate(natives):
            if index < len(known) and known[index].native is native:
                found.append(known[index])
            else:
                found.append(Message(role=self.role(native), native=native, parts=tuple(self._parts(native))))
        return tuple(found)

    def write(self, request: Json, natives: Sequence[Json]) -> Json:
        """The request with these messages; the same object where they are the ones that it has."""
        path, there = self.place(request)
        if len(there) == len(natives) and all(a is b for a, b in zip(there, natives, strict=True)):
            return request
        return changed(request, {path: list(natives)}) if path else list(natives)

    def ties(self, natives: Sequence[Json]) -> list[Tie]:
        """Every result of these messages whose call is there too, with that call; in the order of the results."""
        found, _ = pair(self.sites(list(natives)))
        return [
            Tie(
                call_row=int(one.call.path[0]),
                call_at=one.call.path[1:],
                result_row=int(one.result.path[0]),
                value=one.result.value,
                is_error=one.result.is_error,
            )
            for one in found
            if one.call is not None
        ]

    def _parts(self, native: Json) -> list[Part]:
        """What stands in a message: calls and results where the protocol finds them, and all else by its kind."""
        if isinstance(native, str):
            return [Part(kind="text", path=(), at=(), text=native)]
        found = [_part(site, native) for site in self.sites([native]) if not site.hidden]
        taken = {part.path for part in found}
        if () not in taken:
            found += (part for part in _rest(native) if part.path not in taken)
            if not found:
                kind = member(native, "type")
                found = [Part(kind="thinking" if kind in _THINKING else "other", path=(), value=native)]
        return sorted(found, key=_order)

    def without(self, message: Message, paths: Iterable[Path]) -> Json:
        """The native message without these blocks (`Part.path`); None: nothing that can stand alone is left.

        Thinking whose call is gone goes with it, whole: a provider takes it back unchanged or not at all.
        """
        gone = set(paths)
        left = [part for part in message.parts if part.path not in gone]
        if () in gone or not any(_speaks(part) for part in left):
            return None
        native = message.native
        lists: dict[Path, set[int]] = {}
        for path in gone:
            if isinstance(path[-1], int):
                lists.setdefault(path[:-1], set()).add(path[-1])
            else:
                native = _less(native, str(path[-1]))
        for where, places in lists.items():
            kept = [one for place, one in enumerate(items(_at(native, where))) if place not in places]
            native = changed(native, {where: kept}) if kept else _less(native, str(where[-1]))
        return native

    def with_line(self, message: Message, native: Json, line: str, *, results: bool) -> Json:
        """The native message with a line below its last text, or with `results` below that of its last result.

        The same object where there is no such text. `native` has the parts of `message`.
        """
        where = next((part.at for part in reversed(message.parts) if part.kind == "text" and part.text), None)
        if where is None and results:
            where = _end_of_result(message)
        if where is None:
            return native
        below = _at(native, where)
        return changed(native, {where: f"{below}\n{line}"}) if where else f"{below}\n{line}"

    def joined(self, natives: Sequence[Json]) -> list[Json]:
        """The messages with those of one role in a row made one, where the provider wants them so."""
        if not self.alternates:
            return list(natives)
        found: list[Json] = []
        for native in natives:
            if found and self.role(found[-1]) == self.role(native):
                both = [*items(member(found[-1], self.joins)), *items(member(native, self.joins))]
                found[-1] = changed(found[-1], {(self.joins,): both})
            else:
                found.append(native)
        return found


def _part(site: Site, native: Json) -> Part:
    """A call or result of the protocol's, as a part. The path of a site begins with the message's place, here 0."""
    at = site.path[1:]
    if isinstance(site, CallSite):
        return Part(
            kind="call",
            path=_block_of(at, whole=1 if has(native, "role") else len(at)),
            at=at,
            value=site.raw,
            call_id=site.call_id,
            name=site.name,
            complete=site.complete,
            answered=site.answered,
        )
    return Part(
        kind="result",
        path=_block_of(at, whole=len(at)),
        at=at,
        value=site.value,
        call_id=site.call_id,
        name=site.name,
        is_error=site.is_error,
    )


def _block_of(at: Path, *, whole: int) -> Path:
    """The block that a path leads into: up to the first index; of at most `whole` names it is the message itself."""
    for length, step in enumerate(at):
        if isinstance(step, int):
            return at[: length + 1] if length == 1 else ()
    return () if len(at) <= whole else at[:1]


def _rest(native: Json) -> Iterator[Part]:
    """Texts, thinking and other blocks of a message's content."""
    for name in _CONTENT:
        content = member(native, name)
        if isinstance(content, str):
            yield Part(kind="text", path=(name,), at=(name,), text=content)
        for place, block in blocks(native, name):
            yield _block(block, (name, place))


def _block(block: Json, path: Path) -> Part:
    if isinstance(block, str):
        return Part(kind="text", path=path, at=path, text=block)
    kind = text(block, "type")
    if kind in _THINKING or member(block, "thought") is True or has(block, "reasoningContent"):
        return Part(kind="thinking", path=path, value=block)
    if kind in _ASIDES or has(block, "cachePoint"):
        return Part(kind="aside", path=path, value=block)
    said = member(block, "text")
    if isinstance(said, str):
        return Part(kind="text", path=path, at=(*path, "text"), text=said)
    return Part(kind="other", path=path, value=block)


def _order(part: Part) -> tuple[int, int]:
    """Content in its order, then calls that stand beside it."""
    if len(part.path) == 2 and isinstance(part.path[1], int):
        return (0 if part.path[0] in _CONTENT else 1, part.path[1])
    return (0 if part.kind == "text" or not part.path else 1, 0)


def _speaks(part: Part) -> bool:
    return part.kind not in _QUIET and (part.kind != "text" or bool(part.text.strip(" \t\r\n")))


def _at(node: Json, path: Path) -> Json:
    for step in path:
        node = node[step] if isinstance(step, int) else member(node, step)
    return node


def _less(native: Json, name: str) -> Json:
    """A message without one member; of an SDK's object, with None there."""
    if isinstance(native, Mapping):
        return {key: value for key, value in native.items() if key != name}
    return changed(native, {(name,): None})


def _end_of_result(message: Message) -> Path | None:
    """Where the text of a message's last result ends: the result itself, or the last text among its blocks."""
    part = next((one for one in reversed(message.parts) if one.kind == "result"), None)
    if part is None:
        return None
    value = _at(message.native, part.at)
    if isinstance(value, str):
        return part.at if value else None
    for place in range(len(items(value)) - 1, -1, -1):
        block = value[place]
        if is_object(block) and isinstance(member(block, "text"), str):
            return (*part.at, place, "text")
    return None
