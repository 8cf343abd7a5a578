"""The tokenizer: text in, events out, at any pace."""

from __future__ import annotations

from collections import deque
from typing import Final, Literal, TypeAlias

from attrs import frozen

from trimtab.lenient.scanner import Scanner
from trimtab.types import Json

__all__ = ["END", "NEED_DATA", "Event", "EventKind", "Tokenizer"]

EventKind: TypeAlias = Literal["begin-object", "end-object", "begin-array", "end-array", "key", "value"]


class _Sign:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


NEED_DATA: Final = _Sign("NEED_DATA")
"""What `next_event` gives when it cannot go on before more text is fed, or the tokenizer is closed."""

END: Final = _Sign("END")
"""What `next_event` gives when the document has ended."""


@frozen(kw_only=True)
class Event:
    """One thing that was read.

    `value`: the name of a key, the value of a `value` event (a string, number, bool or None), else None. `start`,
    `end`: where it stands in all the text that was fed, 0-based, half open, in code points. `closed`: its end stands
    in the text; False: the text ended inside it.
    """

    kind: EventKind
    value: Json
    start: int
    end: int
    closed: bool


class Tokenizer(Scanner):
    """Reads one document of damaged JSON as its text comes in; does no I/O and never raises on any text.

    `feed(text)` takes more text, `close()` says that there is no more, `next_event()` gives the next `Event`,
    `NEED_DATA` or `END`. An event is given as soon as no later text could change it: at most about 2,000 chars behind
    its own. The events do not depend on how the text was cut. `repairs` names what was mended so far.
    """

    def __init__(self, *, known: frozenset[str] = frozenset()) -> None:
        super().__init__(known=known)
        self._events: deque[Event] = deque()
        self._kinds: list[bool] = []

    def feed(self, text: str) -> None:
        """Take more text.

        Raises:
            ValueError: after `close`; make a new tokenizer.
        """
        if self.closed:
            raise ValueError("this tokenizer is closed: feed a new one")
        gone = self.pos
        self.text = self.text[gone:] + text
        self.base += gone
        self.pos = 0
        self._scan -= gone
        self._start -= gone
        self._skipped -= gone

    def close(self) -> None:
        """Say that the text has ended."""
        self.closed = True

    def next_event(self) -> Event | _Sign:
        """The next event; `NEED_DATA`; or `END`, from then on always."""
        while not self._events:
            if not self.step():
                return END if self._state == self.DONE or self.closed else NEED_DATA
        return self._events.popleft()

    @property
    def end(self) -> int:
        """How many code points of the text were read: behind the document, where it has ended."""
        return self.base + self.pos

    def _tell(self, kind: EventKind, value: Json, start: int, end: int, closed: bool) -> None:
        base = self.base
        self._events.append(Event(kind=kind, value=value, start=base + start, end=base + end, closed=closed))

    def on_open(self, is_object: bool, start: int) -> None:
        self._kinds.append(is_object)
        self._tell("begin-object" if is_object else "begin-array", None, start, start + 1, True)

    def on_close(self, end: int, by_text: bool) -> None:
        kind: EventKind = "end-object" if self._kinds.pop() else "end-array"
        self._tell(kind, None, end - by_text, end, by_text)

    def on_key(self, name: str, start: int, end: int) -> None:
        self._tell("key", name, start, end, True)

    def on_value(self, value: Json, start: int, end: int, by_text: bool) -> None:
        self._tell("value", value, start, end, by_text)
