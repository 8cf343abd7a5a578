"""A row's skeleton as a tree: keys and values, long strings cut to a line, our own markers in colour.

A marker is shown as one only where a ref of the row says that it stands: one that a page has forged stays text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text
from rich.tree import Tree

from trimtab._json import canonical
from trimtab.cli.screen import last_line, one_line, styled
from trimtab.cli.streams import printable
from trimtab.envelope import BlobRef
from trimtab.marker import HANDLE_DIGITS, line, parse
from trimtab.pointer import Path, to_pointer
from trimtab.types import Json

__all__ = ["drawn", "marked"]

# Children of a list or object, and pieces of a string, that are shown without `--all`.
_MOST: Final = 20
_DEEPEST: Final = 16

# Values in a list or object that may stand on one line, and the least columns for what stands on a line.
_SMALL: Final = 8
_NARROWEST: Final = 20

_KEY = "bold"
_MARKER = "yellow"
_REST = "dim"


def drawn(value: Json, refs: Sequence[BlobRef], *, width: int, everything: bool = False) -> Tree:
    """The tree of a skeleton.

    Args:
        refs: the row's; their markers are coloured.
        width: columns to draw in.
        everything: show all children of every list and object.
    """
    by_key: dict[str, list[BlobRef]] = {}
    for ref in refs:
        by_key.setdefault(ref.key, []).append(ref)
    root = Tree(_head(value), guide_style=_REST)
    _grow(root, value, (), _Look(by_key, width, None if everything else _MOST))
    return root


class _Look:
    """How to draw: which refs stand where, how wide, how many children."""

    def __init__(self, refs: Mapping[str, Sequence[BlobRef]], width: int, most: int | None) -> None:
        self.refs = refs
        self.width = width
        self.most = most


def _grow(tree: Tree, value: Json, path: Path, look: _Look) -> None:
    """Add a value's children, or the pieces of a string that has markers."""
    if isinstance(value, str):
        for piece in _pieces(value, look.refs.get(to_pointer(path), ()), look, len(path)):
            tree.add(piece)
        return
    if not isinstance(value, dict | list) or not value:
        return
    if len(path) >= _DEEPEST:
        tree.add(Text("… deeper levels are not shown", style=_REST))
        return
    children = list(value.items() if isinstance(value, dict) else enumerate(value))
    shown = children if look.most is None or len(children) <= look.most else children[: look.most]
    for step, child in shown:
        here = (*path, step)
        name = one_line(str(step), look.width // 3) if step != "" else '""'
        label = styled((name, _KEY), "  ")
        room = max(_NARROWEST, look.width - 4 * len(here) - len(label.plain))
        if isinstance(child, str) and to_pointer(here) in look.refs:
            label.append(f"text, {len(child):,} chars shown", style=_REST)
            _grow(tree.add(label), child, here, look)
        elif not isinstance(child, dict | list):
            tree.add(label.append(one_line(_spelt(child), room)))
        elif (line := _on_one_line(child, here, look, room)) is not None:
            tree.add(label.append(line))
        else:
            _grow(tree.add(label.append_text(_head(child))), child, here, look)
    if len(shown) < len(children):
        tree.add(Text(f"… {len(children) - len(shown):,} more (--all shows them)", style=_REST))


def _on_one_line(value: Json, path: Path, look: _Look, room: int) -> str | None:
    """A small list or object in one line; None for a large one, or one in which a ref stands."""
    inside = f"{to_pointer(path)}/"
    if _nodes(value) > _SMALL or any(key.startswith(inside) for key in look.refs):
        return None
    line = printable(canonical(value))
    return line if len(line) <= room else None


def _nodes(value: Json) -> int:
    """How many values are in a value, itself included; counting ends above `_SMALL`."""
    count, left = 0, [value]
    while left and count <= _SMALL:
        count += 1
        one = left.pop()
        if isinstance(one, dict | list):
            left += one.values() if isinstance(one, dict) else one
    return count


def _head(value: Json) -> Text:
    if isinstance(value, dict):
        return Text(f"object of {len(value):,}", style=_REST)
    if isinstance(value, list):
        return Text(f"list of {len(value):,}", style=_REST)
    if isinstance(value, str):
        return Text(f"text, {len(value):,} chars", style=_REST)
    return Text(_spelt(value))


def _spelt(value: Json) -> str:
    return canonical(value[:400]) if isinstance(value, str) else canonical(value)


def _pieces(text: str, refs: Sequence[BlobRef], look: _Look, depth: int) -> Iterator[Text]:
    """What a string shows, on one line each: its beginning and end around each of our markers."""
    room = max(_NARROWEST, look.width - 4 * (depth + 1))
    at = 0
    for number, (start, stop) in enumerate(marked(text, refs)):
        if look.most is not None and number == look.most:
            yield Text("… more markers (--all shows them)", style=_REST)
            return
        yield from _between(text[at:start], room, first=at == 0)
        yield Text(text[start:stop], style=_MARKER, no_wrap=True)
        at = stop
    yield from _between(text[at:], room, first=at == 0)


def _between(text: str, room: int, *, first: bool) -> Iterator[Text]:
    """The beginning of what stands before a marker, or the end of what stands after one."""
    text = text.strip("\r\n")
    if not text:
        return
    if first or len(text) <= room:
        yield Text(one_line(text, room))
    else:
        yield Text(one_line(text, room // 2) + last_line(text, room - room // 2))


def marked(text: str, refs: Sequence[BlobRef]) -> Iterator[tuple[int, int]]:
    """Where the markers stand that refs of this string put there: `start:end`, in order."""
    known = {
        (first, last, ref.total_chars, handle)
        for ref in refs
        for first, last in ref.cuts or ()
        for handle in (None, ref.blob_id[:HANDLE_DIGITS])
    }
    at = 0
    for one in parse(text):
        if (one.first, one.last, one.total, one.handle) in known:
            spelt = line(one.first, one.last, one.total, one.tool, one.handle or "")
            start = text.index(spelt, at)
            at = start + len(spelt)
            yield start, at
