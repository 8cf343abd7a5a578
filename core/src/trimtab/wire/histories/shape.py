"""`Shape`: how one protocol's list of messages is read, changed and continued; most of it is the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import field, frozen

from trimtab.errors import CallerError, TrimtabError
from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.arguments import SURROGATE
from trimtab.wire.histories.fitting import fitted
from trimtab.wire.histories.joining import joined
from trimtab.wire.histories.parts import CACHE_POINT, parts_of
from trimtab.wire.histories.types import Answer, Message, Part, Role
from trimtab.wire.nodes import changed, has, is_object, items, member
from trimtab.wire.sites import CallSite, Site, pair
from trimtab.wire.triggers import TRIGGERS
from trimtab.wire.types import RawCall, named

__all__ = ["Shape", "Tie"]

_QUIET = ("thinking", "aside")


def _same(natives: Sequence[Json]) -> list[Json]:
    return list(natives)


def _as_left(before: Json, left: Json) -> Json:
    return left


@frozen(kw_only=True)
class Tie:
    """A call and its result: in which messages (from 0) they are, `Part.at` of both, and what was returned."""

    call_row: int
    call_at: Path
    result_row: int
    result_at: Path
    value: Json = field(repr=False)
    is_error: bool


@frozen(kw_only=True)
class Shape:
    """How a protocol writes a conversation.

    Attributes:
        place: where a request has its list of messages, and the list; a bare list is a request too.
        sites: the protocol's calls and results in a request, in document order.
        calls: the calls of a whole response, in order; ids may be "".
        role: whose a native message is.
        user_text: a native message of the user with this text.
        bring: native messages with these results, given the native messages with their calls.
        reply: the native messages that a whole response adds, before they are made fit to be sent again.
        id_at: where the id of a call belongs, by the path of its arguments; None: the wire does without.
        fill: the native messages with results put where their calls are; None: this wire brings them in new messages.
        tags: between which tags the texts of the model hold calls, and the tool that each stands for (`triggers`).
        grows: whether a message of the assistant's goes on after it was first said: results, further steps.
        settle: what a list of messages loses so that the provider takes it.
        mend: a native message that lost blocks (before, after), as the provider takes it.
        alternates: roles of which the provider takes only one message in a row.
        adjacent: whether results must follow right after the message with their calls.
        opens_with_user: whether the first message, the system's aside, must be the user's.
        joins: the member that is put together when two such messages are made one.
    """

    place: Callable[[Json], tuple[Path, Sequence[Json]]] = field(repr=False)
    sites: Callable[[Json], Iterator[Site]] = field(repr=False)
    calls: Callable[[Json], Iterable[RawCall]] = field(repr=False)
    role: Callable[[Json], Role] = field(repr=False)
    user_text: Callable[[str], Json] = field(repr=False)
    bring: Callable[[Sequence[Answer], Sequence[Json]], list[Json]] = field(repr=False)
    reply: Callable[[Json], list[Json]] = field(repr=False)
    id_at: Callable[[Path], Path | None] = field(repr=False)
    fill: Callable[[Sequence[Json], Sequence[Answer]], list[Json] | None] = field(default=lambda *_: None, repr=False)
    tags: Mapping[str, str] = field(default=TRIGGERS, repr=False)
    grows: bool = False
    settle: Callable[[Sequence[Json]], list[Json]] = field(default=_same, repr=False)
    mend: Callable[[Json, Json], Json] = field(default=_as_left, repr=False)
    alternates: tuple[Role, ...] = ()
    adjacent: bool = False
    opens_with_user: bool = False
    joins: str = "content"

    def read(self, request: Json, known: Sequence[Message] = ()) -> tuple[Message, ...]:
        """The messages of a request, in order.

        `known`: the messages of an earlier reading; one whose native object is still at its place is not read again.

        Raises:
            CallerError: an object in it cannot be asked for its members.
        """
        natives = self.place(request)[1]
        found = []
        for index, native in enumerate(natives):
            if index < len(known) and known[index].native is native:
                found.append(known[index])
            else:
                found.append(self._message(native, index))
        return tuple(found)

    def _message(self, native: Json, index: int) -> Message:
        try:
            return Message(role=self.role(native), native=native, parts=parts_of(native, self.sites([native])))
        except TrimtabError:
            raise
        except Exception as error:  # an application's own object may do anything when it is asked for a member
            kind = f"{type(native).__name__} raised {type(error).__name__}"
            raise CallerError(
                f"message {index} of the request cannot be read ({kind}); pass plain dicts and lists"
            ) from error

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
                result_at=one.result.path[1:],
                value=one.result.value,
                is_error=one.result.is_error,
            )
            for one in found
            if one.call is not None
        ]

    def said(self, response: Json) -> list[Json]:
        """The native messages that a whole response adds to the history, fit to be sent again.

        Blocks and items stay as they came, SDK objects too; what the provider refuses to take back is left out, a call
        whose arguments it refuses carries an object, and one without an id has the one that `tool_calls` gives it.
        """
        return self.fit(self.reply(response), named(self.calls(response)))

    def fit(self, natives: Sequence[Json], calls: Iterable[RawCall]) -> list[Json]:
        """New messages of the assistant, fit to be sent again. `calls`: theirs, each with an id."""
        return [self._encodable(native) for native in fitted(natives, calls, self.sites, self.id_at)]

    def _encodable(self, native: Json) -> Json:
        """A message whose texts are Unicode: an answer that is cut off may end with half a character."""
        texts = [part for part in self._message(native, 0).parts if part.kind == "text" and not part.text.isascii()]
        broken = [part for part in texts if SURROGATE.search(part.text)]
        if not broken:
            return native
        from trimtab.lenient.strings import mend_surrogates  # not when the protocols are imported

        return changed(native, {part.at: mend_surrogates(part.text) for part in broken})

    def results(self, answers: Sequence[Answer], said: Sequence[Json] = ()) -> list[Json]:
        """The native messages that bring what tools returned, to follow those with their calls.

        With `said` (the messages with the calls) results are in the order of the calls, and each is of the kind that
        its call asks for; without it they are as for plain function tools, in the order in which they are given.
        """
        if not answers:
            return []
        if said:
            order = {site.call_id: at for at, site in enumerate(self.sites(list(said))) if isinstance(site, CallSite)}
            answers = sorted(answers, key=lambda one: order.get(one.call_id, len(order)))
        return self.bring(answers, said)

    def answered(self, said: Sequence[Json], answers: Sequence[Answer]) -> list[Json]:
        """Messages with calls, and what their tools returned: put into them or after them, as the protocol has it."""
        filled = self.fill(said, answers)
        return [*said, *self.results(answers, said)] if filled is None else filled

    def without(self, message: Message, paths: Iterable[Path]) -> Json:
        """The native message without these blocks (`Part.path`); None: nothing that can stand alone is left.

        Thinking whose call is gone goes with it, whole: a provider takes it back unchanged or not at all. A call of a
        tool that the provider runs goes with its result, and the reverse.
        """
        gone = _with_partners(message, set(paths))
        if not gone:
            return message.native
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
            kept = _kept(items(_at(native, where)), places)
            native = changed(native, {where: kept}) if kept else _less(native, str(where[-1]))
        return self.mend(message.native, native)

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
        """The messages as the provider takes them in a row.

        Those of one role are made one where it refuses several, with results of tools first; reasoning that nothing
        follows is left out where it refuses that.
        """
        return joined(self.settle(natives), self.alternates, self.joins, self.role, self.user_text)


def _with_partners(message: Message, gone: set[Path]) -> set[Path]:
    """Also the blocks that belong to these: what the provider's own tool was asked, and what it answered."""
    others = {part.call_id for part in message.parts if part.kind == "other" and part.call_id}
    if not others:
        return gone
    tied = {part.call_id for part in message.parts if part.path in gone and part.call_id in others}
    return gone | {part.path for part in message.parts if part.call_id in tied}


def _kept(there: Sequence[Json], places: set[int]) -> list[Json]:
    """The blocks that stay. A cache point that would then be the first marks nothing, and is refused there."""
    kept = [one for place, one in enumerate(there) if place not in places]
    while 0 in places and kept and has(kept[0], CACHE_POINT):
        kept.pop(0)
    return kept


def _speaks(part: Part) -> bool:
    return part.kind not in _QUIET and (part.kind != "text" or bool(part.text.strip(" \t\r\n")))


def _at(node: Json, path: Path) -> Json:
    for step in path:
        node = node[step] if isinstance(step, int) else member(node, step)
    return node


def _less(native: Json, name: str) -> Json:
    """A message without one member. Of an SDK's object, and where calls stand beside the content, with None there."""
    if isinstance(native, Mapping) and name != "content":
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
