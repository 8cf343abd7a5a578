"""Tool calls while they arrive, and what every stream reader does alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeGuard

from attrs import evolve

from trimtab._json import decode
from trimtab.types import Json
from trimtab.wire.protocol import Wire
from trimtab.wire.streams.scan import BracketScanner
from trimtab.wire.streams.source import Source
from trimtab.wire.triggers import TRIGGERS, spoken
from trimtab.wire.types import RawArgs, RawCall, named

__all__ = ["Draft", "StreamReader", "finish", "is_container", "join", "member", "number", "objects", "say", "string"]

_DIGITS = re.compile("[0-9]{1,9}")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

# A name that is shorter may well be two equal pieces of a longer one.
_NAME_SHORT = 3


def string(value: Json) -> str:
    """A string; "" for anything else."""
    return value if isinstance(value, str) else ""


def number(value: Json) -> int | None:
    """An index, whether it came as a number or as its digits; None for anything else."""
    if type(value) is int:
        return value
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value) else None
    return int(value) if isinstance(value, float) and value.is_integer() else None


def member(value: Json, *keys: str) -> Json:
    """What stands at a path of keys; None where there is nothing."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def objects(value: Json) -> list[dict[str, Json]]:
    """The objects of a list; an object alone, as some gateways send it, is a list of one."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    return [value] if isinstance(value, dict) else []


def join(pieces: Iterable[str]) -> str:
    """One text of pieces; the halves of a surrogate pair that was cut between two of them become one character."""
    text = "".join(pieces)
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return text


class Draft:
    """One call while it arrives.

    `ended`: the wire said that its arguments are whole; `cut`: that they are not. `index`: where the wire counts it.
    `native`: what stands around it on the wire.
    """

    def __init__(self, call_id: str = "", name: str = "", *, index: int | None = None) -> None:
        self.call_id = call_id
        self.name = name
        self.index = index
        self.native: dict[str, Json] = {}
        self.by_provider = False
        self.ended = False
        self.cut = False
        self._texts: list[str] = []
        self._value: RawArgs = None
        self._offered: RawArgs = ""
        self._scanner: BracketScanner | None = None
        self._scanned = 0

    @property
    def begun(self) -> bool:
        """Whether any of the arguments has come."""
        return bool(self._texts) or self._value is not None

    @property
    def open(self) -> bool:
        """Whether the arguments have begun and their object has not ended. Each char is looked at once."""
        if self._value is not None:
            return False
        scanner = self._scanner = self._scanner or BracketScanner()
        for piece in self._texts[self._scanned :]:
            at = 0
            while 0 <= at < len(piece):
                at = scanner.feed(piece, at)
        self._scanned = len(self._texts)
        return scanner.open

    def add(self, arguments: RawArgs) -> None:
        """The next piece of text; or a whole value, where a gateway sends one."""
        if isinstance(arguments, str):
            if arguments:
                self._texts.append(arguments)
        elif is_container(arguments):
            self._value = arguments

    def offer(self, arguments: RawArgs) -> None:
        """What stands where a call begins, before its pieces: a placeholder, or all there is if no piece comes."""
        if arguments and (isinstance(arguments, str) or is_container(arguments)):
            self._offered = arguments

    def replace(self, arguments: RawArgs) -> None:
        """The whole arguments once more; empty ones replace nothing."""
        if isinstance(arguments, str) and arguments:
            self._texts = [arguments]
            self._value = None
            self._scanner, self._scanned = None, 0
        elif is_container(arguments):
            self._value = arguments

    def add_name(self, piece: str, *, with_id: bool = False, with_arguments: bool = False) -> None:
        """A piece of the name; or the name once more, or as far as it has come: then it is not doubled.

        A name that is still on its way has no arguments yet; a short one may begin with two equal pieces.
        """
        settled = with_arguments or self.begun or len(self.name) >= _NAME_SHORT
        if piece.startswith(self.name) and (settled or (with_id and piece == self.name)):
            self.name = piece
        else:
            self.name += piece

    def arguments(self) -> RawArgs:
        """The text as it came. Where a value came as well: the text if it is JSON, else the value."""
        if not self.begun:
            return self._offered
        text = join(self._texts)
        if self._value is None or (text and not self._value):
            return text
        return text if text and _readable(text) else self._value


def is_container(value: RawArgs) -> TypeGuard[dict[str, Json] | list[Json]]:
    """Whether it is an object or an array."""
    return isinstance(value, dict | list)


def _readable(text: str) -> bool:
    try:
        return is_container(decode(text))
    except (ValueError, RecursionError):
        return False


def finish(drafts: Iterable[Draft], *, complete: bool) -> list[RawCall]:
    """The calls of these drafts, in order; ids that never came are still missing."""
    return [
        RawCall(
            call_id=draft.call_id,
            name=draft.name,
            raw_args=draft.arguments(),
            complete=complete and not draft.cut,
            by_provider=draft.by_provider,
        )
        for draft in drafts
    ]


def say(texts: Iterable[str], *, complete: bool, tags: Mapping[str, str] = TRIGGERS) -> list[RawCall]:
    """The calls that the model wrote into its text, which came in pieces."""
    return [evolve(call, complete=call.complete and complete) for call in spoken(join(texts), tags)]


class StreamReader:
    """What every stream reader does: events from what came, calls when it ends.

    A protocol gives `_event`, which looks at one event, `_calls` and `_natives`, which change nothing, and `_wire`.
    """

    def __init__(self) -> None:
        self._source = Source()
        self._failed = False
        self._closed: list[RawCall] | None = None

    def _whole(self) -> bool:
        """Whether nothing was lost on the way."""
        return not (self._failed or self._source.damaged)

    def feed(self, data: bytes | str | Mapping[str, Json]) -> None:
        """Take what came: bytes or text cut anywhere, or one event that is decoded already.

        Raises:
            CallerError: it is neither bytes, text nor an object.
        """
        for name, event in self._source.feed(data):
            self._any(name, event)

    def close(self) -> list[RawCall]:
        """The calls, in the order in which they began."""
        if self._closed is None:
            for name, event in self._source.close():
                self._any(name, event)
            self._end()
            self._closed = named(self._calls())
        return list(self._closed)

    def said(self) -> list[Json]:
        """The protocol's own messages for the history, of what has come so far; fit to be sent again."""
        natives = self._natives()
        history = self._wire().history
        calls = named(self._calls()) if self._closed is None else self._closed
        return natives if history is None else history.fit(natives, calls)

    def _any(self, name: str, event: Json) -> None:
        if isinstance(event, dict):
            self._event(name, event)

    def _event(self, name: str, event: dict[str, Json]) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        """No more will come."""

    def _calls(self) -> list[RawCall]:
        raise NotImplementedError

    def _natives(self) -> list[Json]:
        """The messages, with arguments as they came."""
        raise NotImplementedError

    def _wire(self) -> Wire:
        """The protocol that the messages are written in."""
        raise NotImplementedError
