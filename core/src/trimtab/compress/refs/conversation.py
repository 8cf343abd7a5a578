"""A request's messages as compression sees them: those that have refs, what each is known by, what belongs together."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from attrs import field, frozen

from trimtab.compress.refs.identity import key_of
from trimtab.types import Json
from trimtab.wire.histories import Message, Shape, Tie

__all__ = ["Conversation"]


@frozen(kw_only=True)
class Conversation:
    """The messages of one request.

    Attributes:
        shape: how the protocol writes them.
        messages: all of them, in order.
        rows: those that have refs: all but the system's.
        keys: what each row is known by.
    """

    shape: Shape = field(repr=False)
    messages: tuple[Message, ...] = field(repr=False)
    rows: tuple[Message, ...] = field(repr=False)
    keys: tuple[str, ...] = field(repr=False)

    @classmethod
    def read(cls, shape: Shape, request: Json, before: Conversation | None = None) -> Conversation:
        """Read a request, or a bare list of messages.

        `before`: an earlier reading of the same conversation: what has not changed since is not read again, and where
        nothing has, it is given back itself.
        """
        known = before.messages if before is not None else ()
        messages = shape.read(request, known)
        if before is not None and len(messages) == len(known) and all(map(is_, messages, known)):
            return before
        rows = tuple([message for message in messages if message.role != "system"])
        return cls(shape=shape, messages=messages, rows=rows, keys=_keys(shape, rows, before))

    def ties(self) -> list[Tie]:
        """Calls with their results, by row."""
        return self.shape.ties([row.native for row in self.rows])


def _keys(shape: Shape, rows: Sequence[Message], before: Conversation | None) -> tuple[str, ...]:
    old, keys = (before.rows, before.keys) if before is not None else ((), ())
    by_id = shape.grows
    return tuple([keys[at] if at < len(old) and old[at] is row else key_of(row, by_id) for at, row in enumerate(rows)])
