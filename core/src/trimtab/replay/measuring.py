"""What a request says, in the order in which providers cache it: pieces, their sizes, and what two requests share.

A piece is the tools, the system prompt, or one message. The bytes of a request are those of its pieces as canonical
JSON: tools, system, then `[` and the messages with commas between, without the closing bracket, so that a request which
only adds messages begins with all the bytes of the one before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from hashlib import sha256

from attrs import field, frozen

from trimtab._json import canonical, utf8
from trimtab.compaction.measuring.estimate import Estimator
from trimtab.compaction.settings import FoldSettings
from trimtab.types import Json
from trimtab.wire.histories import Shape
from trimtab.wire.nodes import first

__all__ = ["Meter", "Piece", "Prompt", "beside", "shared_bytes"]

_TOOLS = ("tools", "toolConfig", "functions")
_SYSTEM = ("system", "systemInstruction", "system_instruction", "instructions")


@frozen(kw_only=True)
class Piece:
    """The tools, the system prompt or one message: its bytes as they stand in the request, and its size.

    Attributes:
        data: canonical JSON in UTF-8, with the bracket or comma before it.
        tokens: as counted; a medium counts a fixed number.
        blocks: parts of which it is made, at least 1.
    """

    data: bytes = field(repr=False)
    chars: int
    tokens: int
    blocks: int


@frozen(kw_only=True)
class Prompt:
    """A request in pieces.

    Attributes:
        pieces: in the order in which providers cache them.
        marks: for each piece a digest of all pieces up to it: equal marks mean equal beginnings.
        ends: for each piece the tokens of all pieces up to it.
        messages: how many of the pieces are messages.
        standing: how many pieces come before the conversation: tools, system, and the system's messages at the start.
    """

    pieces: tuple[Piece, ...] = field(repr=False)
    marks: tuple[bytes, ...] = field(repr=False)
    ends: tuple[int, ...] = field(repr=False)
    messages: int
    standing: int

    @classmethod
    def of(cls, pieces: Sequence[Piece], *, messages: int, standing: int, before: Prompt | None = None) -> Prompt:
        """The request of these pieces. `before`: one that may begin with the same objects, which saves time."""
        same = 0
        if before is not None:
            most = min(len(pieces), len(before.pieces))
            same = next((at for at in range(most) if pieces[at] is not before.pieces[at]), most)
        marks = [] if before is None else list(before.marks[:same])
        ends = [] if before is None else list(before.ends[:same])
        for piece in pieces[same:]:
            marks.append(sha256((marks[-1] if marks else b"") + piece.data).digest())
            ends.append((ends[-1] if ends else 0) + piece.tokens)
        return cls(pieces=tuple(pieces), marks=tuple(marks), ends=tuple(ends), messages=messages, standing=standing)

    @property
    def size(self) -> int:
        """How many bytes count for caching."""
        return sum(len(piece.data) for piece in self.pieces)

    @property
    def chars(self) -> int:
        """Chars of these bytes."""
        return sum(piece.chars for piece in self.pieces)

    @property
    def tokens(self) -> int:
        """Tokens of all pieces."""
        return self.ends[-1] if self.ends else 0


def beside(request: Json) -> tuple[Json, Json]:
    """What a request says beside its messages: its tools and its system prompt; None where there are none."""
    return first(request, *_TOOLS)[1], first(request, *_SYSTEM)[1]


def shared_bytes(before: Prompt, after: Prompt) -> int:
    """Bytes with which both begin."""
    most = min(len(before.marks), len(after.marks))
    same = bisect_left(range(most), True, key=lambda at: before.marks[at] != after.marks[at])
    whole = sum(len(piece.data) for piece in before.pieces[:same])
    rest = [b"".join(piece.data for piece in prompt.pieces[same : same + 1]) for prompt in (before, after)]
    return whole + _alike(*rest)


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(other[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


class Meter:
    """Measures the requests of one session, in order.

    Equal messages are counted once; one that is the object that stood there in the request before is not looked at
    again.
    """

    def __init__(self, shape: Shape, settings: FoldSettings) -> None:
        """`settings`: say how tokens are counted, so that sizes are those by which folds are decided."""
        self._shape = shape
        self._estimator = Estimator(settings)
        self._known: dict[bytes, Piece] = {}
        self._natives: Sequence[Json] = ()
        self._said: list[Piece] = []
        self._last: Prompt | None = None

    def prompt(self, request: Json) -> Prompt:
        """A request in pieces."""
        natives = self._shape.place(request)[1]
        outside = [self._other(value) for value in beside(request) if value is not None]
        system = 0
        while system < len(natives) and self._shape.role(natives[system]) == "system":
            system += 1
        self._said = [self._message(at, native) for at, native in enumerate(natives)]
        self._natives = natives
        self._last = Prompt.of(
            [*outside, *self._said], messages=len(natives), standing=len(outside) + system, before=self._last
        )
        return self._last

    def _other(self, value: Json) -> Piece:
        data = utf8(canonical(value))
        key = sha256(data).digest()
        if key not in self._known:
            self._known[key] = _piece(data, self._estimator.value(value), 1)
        return self._known[key]

    def _message(self, at: int, native: Json) -> Piece:
        if at < len(self._natives) and self._natives[at] is native:
            return self._said[at]
        data = utf8(("," if at else "[") + canonical(native))
        key = sha256(data).digest()
        if key not in self._known:
            (message,) = self._shape.read([native])
            self._known[key] = _piece(data, self._estimator.message(message), max(1, len(message.parts)))
        return self._known[key]


def _piece(data: bytes, tokens: int, blocks: int) -> Piece:
    return Piece(data=data, chars=len(data.decode("utf-8", "surrogatepass")), tokens=tokens, blocks=blocks)
