"""What reading one document gives."""

from __future__ import annotations

from attrs import frozen

from trimtab.types import Json

__all__ = ["Cut", "Document", "put_cut"]


@frozen(kw_only=True, slots=False)  # made once a call: without slots it takes a quarter less time
class Document:
    """One document of a text.

    `start`, `end`: its place in the text, 0-based, half open. `finished`: the text did not end inside it; where it did,
    `open` are the containers, from the outermost, that were open then, and the values in them are those before the
    end: of a string that the text ended inside `cut` is what stands there, and it is part of no container;
    `last_key` is the key before it, where the innermost container is an object.
    """

    value: Json
    start: int
    end: int
    finished: bool
    open: tuple[Json, ...]
    cut: str | None
    last_key: str
    repairs: tuple[str, ...]


class Cut(str):
    """A string that the text ended inside."""

    __slots__ = ()


def put_cut(document: Document, text: str) -> None:
    """Put the string that the text ended inside where it stood in the document's value."""
    container = document.open[-1]
    if isinstance(container, list):
        container.append(text)
    else:
        container[document.last_key] = text
