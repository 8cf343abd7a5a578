"""The sources that tool outputs offer: ids, urls, titles and a visible beginning. Ids, urls, titles and their order are
the same for an output and for its row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trimtab.codecs.jsontext import Source, scan
from trimtab.envelope import BlobRef, Envelope, read
from trimtab.older import visible_value
from trimtab.pointer import Path, to_pointer
from trimtab.types import Citation, Json

__all__ = ["SNIPPET_MAX", "citations"]

SNIPPET_MAX = 1_000

_ID_KEYS = ("id", "chunk_id", "chunkId", "document_id", "documentId", "doc_id")
_URL_KEYS = ("url", "link", "href", "uri", "path", "document_path", "documentPath", "file_path", "source")
_TITLE_KEYS = ("title", "name", "heading", "document_title", "documentTitle")
_TEXT_KEYS = ("content", "text", "snippet", "body", "passage", "summary", "description")
_DEPTH = 6


def citations(rows: Iterable[Json]) -> list[Citation]:
    """Every source that the rows (or outputs) offer, in order.

    A source is an object with a url or path, or with an id and a title. JSON text, and the JSON in text blocks, is read
    too. A value of any other shape offers none.
    """
    return [one for row in rows for one in _of_row(row)]


def _of_row(row: Json) -> Iterator[Citation]:
    envelope = read(row)
    value = envelope.skeleton if envelope is not None else visible_value(row)
    yield from _of_value(value, (), _Shown(envelope))


class _Shown:
    """How much of a text is visible in its row: everything, where no ref claims it."""

    def __init__(self, envelope: Envelope | None) -> None:
        refs = () if envelope is None else envelope.refs
        self.refs: Mapping[tuple[str, int | None], BlobRef] = {
            (ref.key, None if ref.span is None else ref.span[0]): ref for ref in refs
        }

    def beginning(self, text: str, path: Path, start: int | None) -> str:
        ref = self.refs.get((to_pointer(path), start))
        if ref is None:
            return text[:SNIPPET_MAX]
        if not ref.cuts:
            return ""
        return text[: min(ref.cuts[0][0] - 1, SNIPPET_MAX)]


def _of_value(value: Json, path: Path, shown: _Shown) -> Iterator[Citation]:
    if isinstance(value, str):
        source = scan(value)
        if source is not None:
            yield from _walk(source.value, path, shown, source, ())
        return
    yield from _walk(value, path, shown, None, ())


def _walk(value: Json, path: Path, shown: _Shown, source: Source | None, inner: Path) -> Iterator[Citation]:
    """Sources in document order. `path` leads to the string or value in the row, `inner` on inside JSON text."""
    if len(path) + len(inner) > _DEPTH:
        return
    if isinstance(value, dict):
        if (one := _citation(value, path, shown, source, inner)) is not None:
            yield one
            return
        if source is None and isinstance(value.get("text"), str) and value.get("type") == "text":
            yield from _of_value(value["text"], (*path, "text"), shown)
            return
    if isinstance(value, dict | list):
        for step, child in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(child, dict | list):
                here = ((*path, step), inner) if source is None else (path, (*inner, step))
                yield from _walk(child, here[0], shown, source, here[1])


def _citation(item: Json, path: Path, shown: _Shown, source: Source | None, inner: Path) -> Citation | None:
    identity = _first(item, _ID_KEYS)
    url = _first(item, _URL_KEYS)
    title = _first(item, _TITLE_KEYS)
    if not url and not (identity and title):
        return None
    return Citation(id=identity, url=url, title=title, snippet=_snippet(item, path, shown, source, inner))


def _first(item: Mapping[str, Json], keys: Iterable[str]) -> str:
    """The first of these fields that is a non-empty string, or a whole number, as a string; "" for none."""
    for key in keys:
        value = item.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def _snippet(item: Mapping[str, Json], path: Path, shown: _Shown, source: Source | None, inner: Path) -> str:
    for key in _TEXT_KEYS:
        text = item.get(key)
        if not isinstance(text, str) or not text:
            continue
        if source is None:
            return shown.beginning(text, (*path, key), None)
        located = source.at((*inner, key))
        return shown.beginning(text, path, None if located is None else located.start)
    return ""
