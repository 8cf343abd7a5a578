"""What a request says, in the order in which providers cache it: pieces, their sizes, and what two requests share.

A piece is the tools, the system prompt, or one message. The bytes of a request are those of its pieces as canonical
JSON: tools, system, then `[` and the messages with commas between, without the closing bracket, so that a request which
only adds messages begins with all the bytes of the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from attrs import evolve, field, frozen

from trimtab._json import canonical, utf8
from trimtab.compaction.estimate import Estimator
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
        marks: for each piece a digest of all bytes up to its end: equal marks mean equal beginnings.
        messages: how many of the pieces are messages.
        standing: how many pieces come before the conversation: tools, system, and the system's messages at the start.
    """

    pieces: tuple[Piece, ...] = field(repr=False)
    marks: tuple[bytes, ...] = field(repr=False)
    messages: int
    standing: int

    @property
    def data(self) -> bytes:
        """All bytes that count for caching."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def size(self) -> int:
        """How many bytes these are."""
        return sum(len(piece.data) for piece in self.pieces)

    @property
    def chars(self) -> int:
        """Chars of these bytes."""
        return sum(piece.chars for piece in self.pieces)

    @property
    def tokens(self) -> int:
        """Tokens of all pieces."""
        return sum(piece.tokens for piece in self.pieces)


def beside(request: Json) -> tuple[Json, Json]:
    """What a request says beside its messages: its tools and its system prompt; None where there are none."""
    return first(request, *_TOOLS)[1], first(request, *_SYSTEM)[1]


def shared_bytes(before: Prompt, after: Prompt) -> int:
    """Bytes with which both begin."""
    same = 0
    while same < min(len(before.marks), len(after.marks)) and before.marks[same] == after.marks[same]:
        same += 1
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
    """Measures the requests of one session; equal messages are counted once."""

    def __init__(self, shape: Shape, settings: FoldSettings) -> None:
        """`settings`: say how tokens are counted, so that sizes are those by which folds are decided."""
        self._shape = shape
        self._settings = settings
        self._estimator = Estimator(settings)
        self._known: dict[str, Piece] = {}

    def prompt(self, request: Json) -> Prompt:
        """A request in pieces."""
        natives = self._shape.place(request)[1]
        outside = [self._other(value) for value in beside(request) if value is not None]
        system = 0
        while system < len(natives) and self._shape.role(natives[system]) == "system":
            system += 1
        pieces = (*outside, *self._messages(natives))
        return Prompt(
            pieces=pieces,
            marks=_marks(pieces),
            messages=len(natives),
            standing=len(outside) + min(system, len(natives)),
        )

    def _other(self, value: Json) -> Piece:
        text = canonical(value)
        if text not in self._known:
            tokens = Estimator(evolve(self._settings, tools=value, system=None)).beside
            self._known[text] = Piece(data=utf8(text), chars=len(text), tokens=tokens, blocks=1)
        return self._known[text]

    def _messages(self, natives: Sequence[Json]) -> Iterable[Piece]:
        sign = "["
        for native in natives:
            text = sign + canonical(native)
            piece = self._known.get(text)
            if piece is None:
                (message,) = self._shape.read([native])
                tokens, blocks = self._estimator.message(message), max(1, len(message.parts))
                piece = self._known[text] = Piece(data=utf8(text), chars=len(text), tokens=tokens, blocks=blocks)
            yield piece
            sign = ","


def _marks(pieces: Iterable[Piece]) -> tuple[bytes, ...]:
    digest = sha256()
    found = []
    for piece in pieces:
        digest.update(piece.data)
        found.append(digest.digest())
    return tuple(found)
