"""From an output to its bulk texts: which codec fits, and where each text stands.

Look-up: the codecs given (policy, then plugins: exact name, then glob), then JSON leaves, then plain text. It falls
through on None only, and JSON text never falls to plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from attrs import define, field, frozen

from trimtab.codecs.jsontext import Located, Source, scan
from trimtab.codecs.leaves import is_leaf, payloads_of, strings
from trimtab.errors import CodecError, PointerError
from trimtab.marker import MIN_MOVED
from trimtab.pointer import Path, locate, replace, replace_spans, resolve
from trimtab.types import Codec, Json

__all__ = ["BulkText", "Found", "find", "splice"]

_MAY_BEGIN_JSON = frozenset("{[ \t\r\n\ufeff")


@define  # not frozen: one is made for each text, and freezing takes three times as long
class BulkText:
    """One bulk text. `path` leads to the string that holds it; without `span` it is that string.

    `span` is where it stands in that string, `esc` how it is spelt there (`raw`: in no way of ours), `source` what
    stands there when it is spelt `raw`.
    """

    path: Path
    text: str = field(repr=False)
    span: tuple[int, int] | None = None
    esc: str | None = None
    source: str | None = field(default=None, repr=False)

    @property
    def end(self) -> int:
        return self.span[1] if self.span else 0


@frozen
class Found:
    """The bulk texts of an output in document order, its media payloads (never moved), and which codec found them."""

    texts: tuple[BulkText, ...]
    media: tuple[BulkText, ...]
    codec: str


@frozen
class _Look:
    """How far `find` looks: into JSON inside strings (`deep`), and at strings of how many chars (`least`).

    `payloads`: the media met so far; those of JSON inside strings are added where they are met.
    """

    deep: bool
    least: int
    payloads: list[BulkText]


def find(
    tool: str, output: Json, codecs: Sequence[tuple[str, Codec]], *, deep: bool = True, least: int = MIN_MOVED
) -> Found:
    """The bulk texts of a tool output; `codecs` are tried in order, each with a name for reports.

    Without `deep`, a bulk string that holds JSON is one text, as any other, instead of the leaves of that JSON: what a
    read-back tool shows of a file is a page, whatever the file holds. With a smaller `least`, shorter strings count as
    bulk text too: an excerpt may be shorter than any text that is moved.

    Raises:
        CodecError: a codec raised, or pointed at something that is not a string.
    """
    block, source = _json_inside(output, least)
    payloads = [BulkText(path, text) for path, text in payloads_of(output, least)]
    if source is not None:
        payloads += [_located(block, source, one) for one in _payloads(source)]
    look = _Look(deep, least, payloads)
    for name, codec in codecs:
        for document in _documents(output, block, source):
            pointed = _ask(tool, codec, document)
            if pointed is not None:
                inside = source if source is not None and document is source.value else None
                texts = _from_pointers(tool, document, pointed, block, inside, look)
                if inside is not None:
                    texts += [one for one in _from_leaves(output, look) if one.path != block]
                return _found(output, texts, payloads, name)
    if isinstance(output, str):
        texts = [BulkText((), output)] if source is None else _from_source((), source, look)
        return Found(tuple(texts), tuple(payloads), "text" if source is None else "json leaves")
    texts = list(_from_leaves(output, look))
    return Found(tuple(texts), tuple(payloads), "json leaves")


def splice(output: Json, changes: Iterable[tuple[BulkText, str]]) -> Json:
    """The output with each bulk text replaced by a string that is spelt already. Everything else stays as it is."""
    whole: dict[Path, str] = {}
    parts: dict[Path, list[tuple[tuple[int, int], str]]] = {}
    for bulk, new in changes:
        if bulk.span is None:
            whole[bulk.path] = new
        else:
            parts.setdefault(bulk.path, []).append((bulk.span, new))
    for path, spans in parts.items():
        whole[path] = replace_spans(resolve(output, path), spans)
    return replace(output, whole)


def _json_inside(output: Json, least: int) -> tuple[Path, Source | None]:
    """The JSON text that a codec may see decoded: a string output, or the only text block of a content list."""
    if isinstance(output, str):
        return (), scan(output, least)
    blocks, prefix = (output.get("content"), ("content",)) if isinstance(output, dict) else (output, ())
    if not isinstance(blocks, list):
        return (), None
    paths: list[Path] = [
        (*prefix, index, "text")
        for index, block in enumerate(blocks)
        if isinstance(block, dict) and isinstance(block.get("text"), str) and block.get("type", "text") == "text"
    ]
    return (paths[0], scan(resolve(output, paths[0]), least)) if len(paths) == 1 else ((), None)


def _documents(output: Json, block: Path, source: Source | None) -> list[Json]:
    """What a codec is asked about, in order: the output itself, then the JSON inside it."""
    if source is None:
        return [output]
    return [output, source.value] if block else [source.value]


def _ask(tool: str, codec: Codec, document: Json) -> list[str] | None:
    try:
        pointed = codec(_copy(document))
        if isinstance(pointed, str):
            raise TypeError(f"it must give a list of pointers, not {pointed!r:.80}")
        return None if pointed is None else list(dict.fromkeys(pointed))
    except (Exception, SystemExit) as error:
        raise CodecError(f"raised {type(error).__name__}: {error!s:.200}", tool=tool) from error


def _copy(document: Json) -> Json:
    """Its own containers around the same strings: what a codec changes in them, it does not change in the output."""
    if not isinstance(document, dict | list):
        return document
    copied: Json = document.copy()
    left = [copied]
    while left:
        node = left.pop()
        for step, child in node.items() if isinstance(node, dict) else enumerate(node):
            kind = type(child)
            if kind is not str and isinstance(child, dict | list):
                node[step] = inner = child.copy()
                left.append(inner)
    return copied


def _from_pointers(
    tool: str, document: Json, pointed: Sequence[str], block: Path, source: Source | None, look: _Look
) -> list[BulkText]:
    followed = _followed(tool, document, pointed)
    if source is None:
        return [one for path, text in followed for one in _inside(path, text, look)]
    located = [one for path, _ in followed if (one := source.at(path)) is not None]
    located += [one for one in source.shadowed() if is_leaf(one.text, look.least)]
    return [_located(block, source, one) for one in located]


def _followed(tool: str, document: Json, pointed: Sequence[str]) -> Iterator[tuple[Path, str]]:
    for pointer in pointed:
        try:
            path, text = locate(document, pointer)
        except PointerError as error:
            raise CodecError(str(error), tool=tool, pointer=str(pointer)[:200]) from error
        if not isinstance(text, str):
            raise CodecError("points at something that is not a string", tool=tool, pointer=pointer)
        yield path, text


def _in_order(output: Json, texts: list[BulkText]) -> list[BulkText]:
    """The bulk texts as a reader of the output meets them. (Of a list of entities, a codec gives them so already.)"""
    first = [one.path[0] if one.path else 0 for one in texts]
    if isinstance(output, list) and all(int(left) < int(right) for left, right in pairwise(first)):
        return texts
    return sorted(texts, key=_document_order(output))


def _document_order(output: Json) -> Callable[[BulkText], tuple[list[int], int]]:
    """A sort key: the order in which a reader of the output meets a bulk text."""
    ranks: dict[Path, dict[str, int]] = {}

    def key(bulk: BulkText) -> tuple[list[int], int]:
        order: list[int] = []
        node = output
        for depth, step in enumerate(bulk.path):
            if isinstance(node, dict):
                table = ranks.setdefault(bulk.path[:depth], {})
                if not table:
                    table.update({name: rank for rank, name in enumerate(node)})
                order.append(table[str(step)])
            else:
                order.append(int(step))
            node = node[step]
        return order, bulk.end

    return key


def _from_leaves(output: Json, look: _Look) -> Iterator[BulkText]:
    """The leaves of a value; a string output has none: it is read as JSON text or it is text."""
    for path, text, is_payload in () if isinstance(output, str) else strings(output, look.least):
        if not is_payload and is_leaf(text, look.least):
            yield from _inside(path, text, look)


def _inside(path: Path, text: str, look: _Look) -> list[BulkText]:
    """A bulk string: with `deep` the leaves of the JSON that it holds, else itself."""
    source = scan(text, look.least) if look.deep and text[:1] in _MAY_BEGIN_JSON else None
    if source is None:
        return [BulkText(path, text)]
    met = [_located(path, source, one) for one in _payloads(source)]
    known = {(one.path, one.span) for one in look.payloads} if met else set()
    look.payloads.extend(one for one in met if (one.path, one.span) not in known)
    return _from_source(path, source, look)


def _from_source(path: Path, source: Source, look: _Look) -> list[BulkText]:
    """The leaves of a JSON text, also those that a repeated key hides from a decoder (they still reach the prompt)."""
    payloads = {id(one) for one in _payloads(source)}
    leaves = (one for one in source.strings if is_leaf(one.text, look.least) and id(one) not in payloads)
    return [_located(path, source, one) for one in leaves]


def _payloads(source: Source) -> list[Located]:
    found = [source.at(path) for path, _ in payloads_of(source.value)]
    return [one for one in found if one is not None]


def _located(path: Path, source: Source, one: Located) -> BulkText:
    """A bulk text inside JSON text, with its source where no spelling of ours gives that back."""
    span = (one.start, one.end)
    return BulkText(path, one.text, span, one.esc, source.text[one.start : one.end] if one.esc == "raw" else None)


def _found(output: Json, texts: list[BulkText], payloads: list[BulkText], codec: str) -> Found:
    kept = {(one.path, one.span) for one in payloads}
    moved = [one for one in texts if (one.path, one.span) not in kept] if kept else texts
    return Found(tuple(_in_order(output, moved)), tuple(payloads), codec)
