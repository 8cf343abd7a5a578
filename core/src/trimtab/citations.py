"""The sources that tool outputs offer: ids, urls, titles and a visible beginning. Ids, urls, titles and their order are
the same for an output and for its row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trimtab._json import decode_string, escape
from trimtab.codecs.jsontext import scan
from trimtab.envelope import BlobRef, Envelope, read
from trimtab.errors import PointerError
from trimtab.older import visible_value
from trimtab.pointer import Path, follow, replace, replace_spans, resolve
from trimtab.types import Citation, Json

__all__ = ["SNIPPET_MAX", "citations"]

SNIPPET_MAX = 1_000

# In the order of preference. A chunk is cited before the document that it is of.
_ID_KEYS = ("chunk_id", "chunkId", "id", "id_", "_id", "document_id", "documentId", "doc_id", "file_id")
_URL_KEYS = (
    *("url", "link", "href", "uri", "sourceURL"),
    *("path", "document_path", "documentPath", "file_path", "filename"),
)
_TITLE_KEYS = ("title", "name", "heading", "document_title", "documentTitle")
_TEXT_KEYS = (
    *("content", "text", "snippet", "body", "passage", "summary", "description", "markdown"),
    *("page_content", "pageContent", "raw_content", "rawContent"),
)
# Objects inside a result that say more about the same source; the first that has a field counts.
_ABOUT_KEYS = ("chunk", "node", "payload", "metadata", "document")
# What an object holds that is not a source but a list of them.
_LIST_KEYS = ("results", "data", "items", "hits", "matches", "documents", "organic", "chunks", "passages")
# Parts of one document: what they leave out, its path and title, they have from the object around them.
_PART_KEYS = ("chunks", "passages")
# Objects with a url that are no sources: pictures, and who a source is from.
_NO_SOURCES = ("images", "image", "thumbnail", "thumbnails", "icon", "favicon", "logo", "profile", "author", "authors")
_DEPTH = 8
_ABOUT_MAX = 8


def citations(rows: Iterable[Json]) -> list[Citation]:
    """Every source that the rows (or outputs) offer, in order; nothing is merged.

    A source is an object with a url or path, or with an id and a title or text; `id`, `url` and `title` are "" where it
    has none. What stands under `metadata`, `document`, `chunk` and the like counts as the object's own. JSON text, and
    the JSON in text blocks, is read too. An error object offers none, nor does a value of any other shape.

    Raises:
        EnvelopeError: a damaged row.
    """
    return [one for row in rows for one in _walk(_visible(row), None, 0)]


def _visible(row: Json) -> Json:
    """The output of a row with each moved text cut down to its visible beginning, so that no marker is in it."""
    envelope = read(row)
    if envelope is None:
        return visible_value(row)
    changes: dict[Path, str] = {}
    spans: dict[Path, list[tuple[tuple[int, int], str]]] = {}
    for ref in envelope.refs:
        path = _place(envelope, ref)
        if path is None:
            continue
        text = resolve(envelope.skeleton, path)
        if ref.span is None:
            changes[path] = _beginning(text, ref)
        else:
            excerpt = decode_string(f'"{text[slice(*ref.span)]}"')
            spans.setdefault(path, []).append((ref.span, escape(_beginning(excerpt, ref), "utf8")))
    for path, parts in spans.items():
        changes[path] = replace_spans(resolve(envelope.skeleton, path), parts)
    return replace(envelope.skeleton, changes)


def _place(envelope: Envelope, ref: BlobRef) -> Path | None:
    """Where the text of a ref stands in the skeleton; None for a list, and for what went with a list around it."""
    if ref.json:
        return None
    try:
        return follow(envelope.skeleton, ref.key)
    except PointerError:
        return None


def _beginning(excerpt: str, ref: BlobRef) -> str:
    """What an excerpt shows of its text's beginning; nothing where it is not made of slices."""
    return excerpt[: min(ref.cuts[0][0] - 1, SNIPPET_MAX)] if ref.cuts else ""


def _walk(value: Json, around: Citation | None, depth: int) -> Iterator[Citation]:
    """Sources in document order. `around`: the document that this is a part of."""
    if depth > _DEPTH:
        return
    if isinstance(value, str):
        if (source := scan(value)) is not None:
            yield from _walk(source.value, None, depth + 1)
    elif isinstance(value, list):
        for child in value:
            if isinstance(child, dict | list):
                yield from _walk(child, around, depth + 1)
    elif isinstance(value, dict) and not _failed(value):
        if value.get("type") == "text" and isinstance(value.get("text"), str):
            yield from _walk(value["text"], None, depth + 1)
            return
        one = _citation(value, around)
        if listed := _listed(value, one, depth):
            yield from listed
        elif one is not None:
            yield one
        else:
            yield from _inside(value, depth)


def _failed(item: Mapping[str, Json]) -> bool:
    """Whether an object says that a tool failed: nothing in it is a source."""
    flagged = item.get("isError") is True or item.get("is_error") is True
    return flagged or any(item.get(key) == "error" for key in ("kind", "type", "status"))


def _listed(item: Mapping[str, Json], one: Citation | None, depth: int) -> list[Citation]:
    """Sources of the lists in a response (or of the parts in a document), which then is not a source itself."""
    is_result = one is not None and one.url and (one.title or one.snippet)
    found: list[Citation] = []
    for key, child in item.items():
        if isinstance(child, dict | list) and key in (_PART_KEYS if is_result else _LIST_KEYS):
            found += _walk(child, one if key in _PART_KEYS else None, depth + 1)
    return found


def _inside(item: Mapping[str, Json], depth: int) -> Iterator[Citation]:
    """Sources anywhere in an object that is none."""
    # An MCP result says the same twice: in its text, and as structured content.
    twice = "structuredContent" in item
    found = False
    for key, child in item.items():
        if isinstance(child, dict | list) and key not in _NO_SOURCES and not (twice and key == "structuredContent"):
            for one in _walk(child, None, depth + 1):
                found = True
                yield one
    if twice and not found:
        yield from _walk(item["structuredContent"], None, depth + 1)


def _citation(item: Mapping[str, Json], around: Citation | None) -> Citation | None:
    said = _about(item)
    identity = _first(said, _ID_KEYS) or (around.id if around else "")
    url = _first(said, _URL_KEYS) or _named_source(said) or (around.url if around else "")
    title = _first(said, _TITLE_KEYS) or (around.title if around else "")
    text = _first(said, _TEXT_KEYS)
    if not url and not (identity and (title or text)):
        return None
    if item.get("error") and not (title or text):
        return None
    return Citation(id=identity, url=url, title=title, snippet=text[:SNIPPET_MAX])


def _about(item: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """The object, then the objects in it that say more about the same source."""
    said = [item]
    for one in said:  # which grows
        if len(said) < _ABOUT_MAX:
            said += [inner for key in _ABOUT_KEYS if isinstance(inner := one.get(key), dict)]
    return said


def _named_source(said: Iterable[Mapping[str, Json]]) -> str:
    """`source` names a document in some outputs, and in others only who found it, in a word."""
    value = _first(said, ("source",))
    return value if any(sign in value for sign in "/.:") else ""


def _first(said: Iterable[Mapping[str, Json]], keys: Iterable[str]) -> str:
    """The first of these fields that is a non-empty string, or, of ids, a whole number, as a string; "" for none."""
    for fields in said:
        for key in keys:
            value = fields.get(key)
            if isinstance(value, str) and value:
                return value
            if keys is _ID_KEYS and isinstance(value, int) and not isinstance(value, bool):
                return str(value)
    return ""
