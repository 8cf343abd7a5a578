"""What a tool returned, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trimtab.types import Json
from trimtab.wire.arguments import as_text as canonical_of
from trimtab.wire.nodes import has, items, text

__all__ = ["as_text", "text_or_blocks"]


def as_text(value: Json) -> str:
    """A string as it is, anything else as canonical JSON. Raises UnsupportedOutput."""
    return value if isinstance(value, str) else canonical_of(value)


def text_or_blocks(value: Json, kinds: Mapping[str, Sequence[str]]) -> Json:
    """The list itself where each element is a content block; of anything else its text. Raises UnsupportedOutput.

    `kinds`: the types of blocks, each with members that it must have: rows of a tool's own may well have a type too.
    """
    blocks = items(value)
    if blocks and all(_is_block(one, kinds) for one in blocks):
        return value
    return as_text(value)


def _is_block(node: Json, kinds: Mapping[str, Sequence[str]]) -> bool:
    needed = kinds.get(text(node, "type"))
    return needed is not None and all(has(node, name) for name in needed)
