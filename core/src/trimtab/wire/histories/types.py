"""What a history is made of: messages and their parts."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import field, frozen

from trimtab.pointer import Path
from trimtab.types import Json

__all__ = ["Answer", "Message", "Part", "PartKind", "Role", "brings_results", "is_prompt"]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

PartKind: TypeAlias = Literal["text", "call", "result", "thinking", "aside", "other"]


@frozen(kw_only=True)
class Part:
    """One part of a message.

    Attributes:
        kind: `aside` is what means nothing alone (a cache point, the start of a step), `other` media, what the provider
            does with tools of its own, and the rest.
        path: leads from the message to the block that the part is; `()`: the whole message is this part.
        at: leads from the message to the text, the arguments or the value.
        text: of a text part.
        value: the arguments of a call as the wire has them, the value of a result, the block of any other part; of
            thinking that stands beside the content what that member holds.
        call_id, name: of a call or result; "" where the wire says nothing. Two `other` parts of one message with one id
            are what a tool of the provider's own was asked and answered.
        is_error: of a result.
        complete: of a call: False: it was cut off.
        answered: of a call: it needs no result of its own.
        by_provider: of a call: the provider runs the tool itself.
    """

    kind: PartKind
    path: Path
    at: Path = ()
    text: str = field(default="", repr=False)
    value: Json = field(default=None, repr=False)
    call_id: str = ""
    name: str = ""
    is_error: bool = False
    complete: bool = True
    answered: bool = False
    by_provider: bool = False


@frozen(kw_only=True)
class Answer:
    """What a tool returned to a call of the conversation's last assistant message, ready to be said in any protocol."""

    call_id: str
    name: str
    value: Json = field(repr=False)
    is_error: bool = False


@frozen(kw_only=True)
class Message:
    """One element of a request's list of messages (items, contents), with what stands in it, in order.

    `native` is the element as the application has it, of a protocol's own shape; it is never changed.
    """

    role: Role
    native: Json = field(repr=False)
    parts: tuple[Part, ...]

    def of(self, kind: PartKind) -> tuple[Part, ...]:
        """The parts of one kind, in order."""
        return tuple([part for part in self.parts if part.kind == kind])


def is_prompt(message: Message) -> bool:
    """Whether a person says something in it: of role `user`, and not only results of tools."""
    return message.role == "user" and any(part.kind in ("text", "other") for part in message.parts)


def brings_results(message: Message) -> bool:
    """Whether it says nothing but what tools returned."""
    return message.role != "assistant" and bool(message.parts) and all(part.kind == "result" for part in message.parts)
