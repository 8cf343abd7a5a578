"""Where a request's history has calls and results, and which answers which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from attrs import define, field, frozen

from trimtab.pointer import Path, to_pointer
from trimtab.types import Json
from trimtab.wire.arguments import as_text, stands, stands_as_object
from trimtab.wire.types import Fault, RawCall

__all__ = ["CallSite", "Paired", "ResultSite", "Site", "faults", "pair", "same"]


def same(value: Json) -> Json:
    """The value itself."""
    return value


def _always(_: Json) -> bool:
    return True


@frozen(kw_only=True)
class CallSite:
    """A call in the history. `path` leads to its arguments, `message` to the assistant message that holds it.

    `spell` writes an object of arguments as the wire has it there; `stands` says whether what is there may be sent
    again; `nothing` makes what stands for arguments that are not there. `answered`: its result needs no block of its
    own, because the call's block has it or it never comes. `hidden`: it counts for the pairing only.
    """

    path: Path
    message: Path
    call_id: str
    name: str
    raw: Json = field(repr=False)
    spell: Callable[[Json], Json] = as_text
    stands: Callable[[Json], bool] = stands
    nothing: Callable[[], Json] = str
    answered: bool = False
    by_provider: bool = False
    complete: bool = True
    hidden: bool = False

    @classmethod
    def of_object(cls, **more: Any) -> CallSite:
        """A call of a wire that has objects for arguments."""
        return cls(**{"spell": same, "stands": stands_as_object, "nothing": dict, **more})

    @classmethod
    def of_anything(cls, **more: Any) -> CallSite:
        """A call whose arguments are whatever the wire has there (free text, say): none is malformed."""
        return cls(**{"stands": _always, **more})

    @property
    def raw_call(self) -> RawCall:
        """The call as protocols give it."""
        return RawCall(
            call_id=self.call_id,
            name=self.name,
            raw_args=self.nothing() if self.raw is None else self.raw,
            complete=self.complete,
            by_provider=self.by_provider,
        )


@frozen(kw_only=True)
class ResultSite:
    """A result in the history. `path` leads to its value; `wrap` makes of a new value what is put there.

    `place`: where its key points, when `path` depends on the value: a new one may stand elsewhere in the same member.
    `call`: the path of the arguments of the call that it answers, where the wire has both in one block. `hidden`: it
    counts for the pairing only.
    """

    path: Path
    call_id: str
    name: str
    value: Json = field(repr=False)
    is_error: bool = False
    wrap: Callable[[Json], Json] = same
    call: Path | None = None
    hidden: bool = False
    place: Path | None = None

    @property
    def key(self) -> str:
        """Its key for callers, which a new value does not change."""
        return to_pointer(self.path if self.place is None else self.place)


Site: TypeAlias = CallSite | ResultSite


@define
class Paired:
    """A result with the call that it answers (None: that is not there), and the last assistant message before it."""

    result: ResultSite
    call: CallSite | None
    message: Path | None


@define
class _Open:
    """A call that waits for its result. `turn` counts the assistant messages that have calls."""

    call: CallSite
    turn: int
    done: bool = False


def pair(sites: Iterable[Site], *, adjacent: bool = False) -> tuple[list[Paired], list[CallSite]]:
    """Each result with its call, and the calls without a result; all in order.

    A result belongs to the first unanswered call with its id in the latest message that has one. A result without an
    id, as Gemini's, belongs to the first unanswered call with its name in the latest message that has one; without a
    name, to the first unanswered call there. With `adjacent`, the calls of a message are closed by the next message
    that has calls, as with the providers that refuse anything else.
    """
    waiting = _Waiting(adjacent)
    results: list[Paired] = []
    for site in sites:
        if isinstance(site, CallSite):
            waiting.add(site)
        else:
            results.append(Paired(site, waiting.take(site), waiting.message))
    return results, waiting.left()


class _Waiting:
    """Unanswered calls, found by id and by name in constant time."""

    def __init__(self, adjacent: bool) -> None:
        self.message: Path | None = None
        self._adjacent = adjacent
        self._turn = 0
        self._all: list[_Open] = []
        self._by_path: dict[Path, _Open] = {}
        self._by_id: dict[str, list[list[_Open]]] = {}
        self._by_name: dict[str, list[list[_Open]]] = {}

    def add(self, call: CallSite) -> None:
        if call.message != self.message:
            self._turn += 1
            self.message = call.message
            if self._adjacent:
                self._by_id.clear()
                self._by_name.clear()
        one = _Open(call, self._turn)
        self._all.append(one)
        self._by_path[call.path] = one
        if call.answered:
            return
        for table, word in ((self._by_id, call.call_id), (self._by_name, call.name), (self._by_name, "")):
            if word or table is self._by_name:
                turns = table.setdefault(word, [])
                if turns and turns[-1][0].turn == self._turn:
                    turns[-1].append(one)
                else:
                    turns.append([one])

    def take(self, result: ResultSite) -> CallSite | None:
        """The call that a result answers, which is then answered."""
        if result.call is not None:
            found = self._by_path.get(result.call)
        elif result.call_id:
            found = _next(self._by_id.get(result.call_id)) or _nameless(_next(self._by_name.get(result.name)), result)
        else:
            found = _next(self._by_name.get(result.name))
        if found is None:
            return None
        found.done = True
        return found.call

    def left(self) -> list[CallSite]:
        return [one.call for one in self._all if not one.done and not one.call.answered]


def _next(turns: list[list[_Open]] | None) -> _Open | None:
    """The first unanswered call of the latest turn that has one; what is answered is dropped on the way."""
    while turns:
        calls = turns[-1]
        while calls and calls[0].done:
            calls.pop(0)
        if calls:
            return calls[0]
        turns.pop()
    return None


def _nameless(found: _Open | None, result: ResultSite) -> _Open | None:
    """A call without an id, for a result that has one: some clients make ids up for results only."""
    return found if found is not None and not found.call.call_id and result.name else None


def faults(results: Sequence[Paired], left: Iterable[CallSite]) -> list[Fault]:
    """A fault for each result without its call and each call without its result."""
    found = [
        Fault(
            key=one.result.key,
            kind="result-without-call",
            call_id=one.result.call_id,
            name=one.result.name,
            what=f"a result of {_named(one.result)} answers no call that stands where providers look for it",
        )
        for one in results
        if one.call is None
    ]
    return found + [
        Fault(
            key=to_pointer(call.path),
            kind="call-without-result",
            call_id=call.call_id,
            name=call.name,
            what=f"a call of {_named(call)} has no result where providers look for it",
        )
        for call in left
    ]


def _named(site: Site) -> str:
    name = f"{site.name!r:.80}" if site.name else "an unnamed tool"
    return f"{name}, id {site.call_id!r:.80}" if site.call_id else f"{name} without an id"
