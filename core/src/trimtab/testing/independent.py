"""A second opinion on rows and markers, written from their formats alone.

The laws are checked against what this module reads and builds, not against what the product says of itself: it shares
no code with the modules that trim, render and inflate.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy

from trimtab.types import Codec, Json

__all__ = [
    "at",
    "blob_id_of",
    "bulk_left",
    "bulk_strings",
    "counted_text",
    "decoded",
    "difference",
    "excerpt_of",
    "media_of",
    "parts",
    "pointed",
    "prompt_text_of",
    "put_at",
    "rebuilt",
    "refs_of",
    "spelt",
]

# DESIGN's media blocks: by `type`, by a field that names a MIME type, or by the field they stand under.
_MEDIA_TYPES = ("image", "audio", "video", "file", "document", "blob", "image_url", "input_image", "input_audio")
_MEDIA_FIELDS = ("mimeType", "mime_type", "media_type")
_MEDIA_UNDER = ("image_url", "input_audio", "inlineData", "bytes")
_BASE64 = re.compile(r"[A-Za-z0-9+/_=\r\n-]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

_ROW = "$persistedToolOutput"
_LONE = re.compile("[\ud800-\udfff]")
_UNSHOWN = re.compile("[\x00\ud800-\udfff]")

Get = Callable[[str], str]


def blob_id_of(text: str) -> str:
    """First 32 hex digits of the SHA-256 of the text's UTF-8 (`surrogatepass`)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def prompt_text_of(value: Json) -> str:
    """A value as it goes into a prompt: the string itself, or compact JSON in insertion order."""
    if isinstance(value, str):
        return value
    return _LONE.sub(_escape, json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def spelt(text: str, esc: str | None) -> str:
    """The text between the quotes of a JSON string, as `esc` spells it; the text itself for None."""
    if esc is None:
        return text
    if esc == "ascii":
        return json.dumps(text)[1:-1]
    return _LONE.sub(_escape, json.dumps(text, ensure_ascii=False)[1:-1])


def excerpt_of(text: str, cuts: Json, reader: str | None) -> str:
    """What must stand in the place of a text with these ranges (1-based, inclusive) omitted."""
    how = f"; full text: {reader} trimtab:{blob_id_of(text)[:16]}" if reader else ""
    pieces: list[str] = []
    last = 0
    for first, end in [*cuts, (len(text) + 1, len(text))]:
        piece = _UNSHOWN.sub("\ufffd", text[last : first - 1])
        if last:
            pieces.append("" if not piece or piece.startswith("\n") else "\n")
        pieces.append(piece)
        if first <= len(text):
            pieces.append("" if not piece or piece.endswith("\n") else "\n")
            pieces.append(f"<omitted chars {first}-{end} of {len(text)}{how}>")
        last = end
    return "".join(pieces)


def refs_of(row: Json) -> list[Json]:
    """The stored refs of a row; none of a value that is no row of version 3."""
    if isinstance(row, dict) and list(row) == [_ROW] and isinstance(row[_ROW], dict):
        return list(row[_ROW].get("blobRefs", ()))
    return []


def rebuilt(row: Json, get: Get) -> Json:
    """The output that a row stands for, every text put back at its place; `get` gives a text by its blob id."""
    if not (isinstance(row, dict) and list(row) == [_ROW]):
        return row
    output = deepcopy(row[_ROW]["skeleton"])
    refs = refs_of(row)
    lists = [f"{ref['key']}/" for ref in refs if ref.get("json") and "span" not in ref]
    for ref in sorted(refs, key=lambda one: one.get("span", [0, 0]), reverse=True):
        if any(ref["key"].startswith(outer) for outer in lists) or _inside_another(ref, refs):
            continue
        text = get(ref.get("sourceId", ref["blobId"]))
        if "span" in ref:
            start, end = ref["span"]
            esc = None if ref.get("json") or "sourceId" in ref else ref["esc"]
            there = at(output, ref["key"])
            output = put_at(output, ref["key"], f"{there[:start]}{spelt(text, esc)}{there[end:]}")
        else:
            output = put_at(output, ref["key"], json.loads(text) if ref.get("json") else text)
    return output


def _inside_another(ref: Json, refs: list[Json]) -> bool:
    if "span" not in ref:
        return False
    start, end = ref["span"]
    return any(
        one is not ref
        and one.get("json")
        and one["key"] == ref["key"]
        and one["span"][0] <= start <= end <= one["span"][1]
        for one in refs
        if "span" in one
    )


def parts(pointer: str) -> list[str]:
    """The segments of a JSON Pointer, decoded."""
    return [one.replace("~1", "/").replace("~0", "~") for one in pointer.split("/")[1:]]


def at(value: Json, pointer: str) -> Json:
    """What a JSON Pointer leads to. Raises KeyError, IndexError, TypeError or ValueError where it leads nowhere."""
    for part in parts(pointer):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def put_at(value: Json, pointer: str, new: Json) -> Json:
    """The value with something else at a pointer; the value itself is changed unless the pointer is empty."""
    if pointer == "":
        return new
    *way, last = parts(pointer)
    node = value
    for part in way:
        node = node[int(part)] if isinstance(node, list) else node[part]
    node[int(last) if isinstance(node, list) else last] = new
    return value


def difference(one: Json, other: Json) -> str | None:
    """The first place where two JSON values differ, in type, spelling of a number, order of keys or anything else.

    None: they are the same, character by character.
    """
    left: list[tuple[str, Json, Json]] = [("$", one, other)]
    while left:
        place, a, b = left.pop()
        if type(a) is not type(b):
            return f"{place}: {type(a).__name__} is not {type(b).__name__}"
        if isinstance(a, dict):
            if list(a) != list(b):
                return f"{place}: keys {list(a)!r:.200} are not {list(b)!r:.200}"
            left += [(f"{place}.{key}", a[key], b[key]) for key in reversed(a)]
        elif isinstance(a, list):
            if len(a) != len(b):
                return f"{place}: {len(a)} elements are not {len(b)}"
            left += [(f"{place}[{n}]", a[n], b[n]) for n in reversed(range(len(a)))]
        elif isinstance(a, str):
            if a != b:
                n = next(
                    (n for n, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b))
                )
                return f"{place}: from char {n + 1} on, {a[n : n + 60]!r} is not {b[n : n + 60]!r}"
        elif repr(a) != repr(b):
            return f"{place}: {a!r:.80} is not {b!r:.80}"
    return None


def bulk_strings(value: Json) -> Iterator[tuple[str, str]]:
    """Every string of a JSON value that JSON leaves may shorten, with its place. Members of repeated keys included."""
    left: list[tuple[str, Json]] = [("$", value)]
    while left:
        place, node = left.pop()
        if isinstance(node, str):
            solid = all("!" <= ch <= "~" for ch in node)
            if len(node) >= (2048 if solid else 256):
                yield place, node
        elif isinstance(node, dict):
            left += [(f"{place}.{key}", child) for key, child in reversed(node.items())]
        elif isinstance(node, list | tuple):
            left += [(f"{place}[{n}]", child) for n, child in reversed(list(enumerate(node)))]


def media_of(value: Json) -> Iterator[tuple[str, str]]:
    """Every payload of a media block (base64, or a `data:` url, of 256 chars or more) with its JSON Pointer."""
    left: list[tuple[str, Json, bool]] = [("", value, False)]
    while left:
        place, node, in_media = left.pop()
        if isinstance(node, str):
            if in_media and len(node) >= 256 and (node.startswith("data:") or _BASE64.fullmatch(node)):
                yield place, node
        elif isinstance(node, dict):
            block = node.get("type") in _MEDIA_TYPES or any(one in node for one in _MEDIA_FIELDS)
            block = block or {"blob", "uri"} <= set(node)  # MCP's resource: its MIME type may be missing
            for key, child in node.items():
                name = key.replace("~", "~0").replace("/", "~1")
                inside = block or key in _MEDIA_UNDER or (in_media and isinstance(child, str))
                left.append((f"{place}/{name}", child, inside))
        elif isinstance(node, list):
            left += [(f"{place}/{n}", child, False) for n, child in enumerate(node)]


def counted_text(codec: Codec | None, value: Json) -> str:
    """What a budget counts of a prompt value: its text, media payloads emptied.

    Those of a value, of the JSON text that it is or holds in its only text block, and of JSON inside its bulk strings.
    """
    if isinstance(value, str):
        return _without_payloads(value)
    inside = {text for text, in_json in _bulk_of(codec, value) if not in_json and decoded(text) is not text}
    block = _only_text_block(value)
    emptied = deepcopy(value)
    for place, text in list(_strings(emptied)):
        if text in inside or text == block:
            put_at(emptied, place, _without_payloads(text))
    for place, _ in media_of(value):
        put_at(emptied, place, "")
    return prompt_text_of(emptied)


def _strings(value: Json) -> Iterator[tuple[str, str]]:
    """Every string of a container with its JSON Pointer."""
    left: list[tuple[str, Json]] = [("", value)]
    while left:
        place, node = left.pop()
        if isinstance(node, str):
            yield place, node
        elif isinstance(node, dict):
            left += [(f"{place}/{key.replace('~', '~0').replace('/', '~1')}", child) for key, child in node.items()]
        elif isinstance(node, list):
            left += [(f"{place}/{n}", child) for n, child in enumerate(node)]


def _without_payloads(text: str) -> str:
    """A JSON text with its media payloads emptied where they stand; any other text as it is."""
    payloads = set() if decoded(text) is text else {payload for _, payload in media_of(decoded(text))}
    if not payloads:
        return text
    return _STRING.sub(lambda found: '""' if json.loads(found[0]) in payloads else found[0], text)


def decoded(text: Json) -> Json:
    """The array or object that a JSON text holds (a BOM allowed); anything else as it is."""
    if isinstance(text, str) and text.removeprefix("\ufeff").lstrip(" \t\r\n")[:1] in ("{", "["):
        try:
            return json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            return text
    return text


def pointed(codec: Codec, output: Json) -> list[str] | None:
    """The pointers that a codec gives for an output, as a list; JSON text is decoded for it. It is shown a copy."""
    given = codec(deepcopy(decoded(output)))
    return None if given is None else list(given)


def bulk_left(codec: Codec | None, value: Json) -> Iterator[str]:
    """The bulk strings of a prompt value, each as it is spelt in the prompt (more precisely: at most so long).

    Those that the codec points at, in the value or in the JSON text that it is or holds in its only text block; without
    a codec that knows the shape, JSON leaves; of plain text, itself. One level of JSON inside a string is looked into.
    """
    payloads = {text for _, text in media_of(decoded(value))}
    payloads |= {text for _, text in media_of(decoded(_only_text_block(value)))}
    for text, in_json in _bulk_of(codec, value):
        inner = text if in_json else decoded(text)
        payloads |= {payload for _, payload in media_of(inner) if inner is not text}
        leaves = [text] if inner is text else [leaf for _, leaf in bulk_strings(inner)]
        plain = text is value
        yield from (leaf if plain else prompt_text_of([leaf])[2:-2] for leaf in leaves if leaf not in payloads)


def _bulk_of(codec: Codec | None, value: Json) -> Iterator[tuple[str, bool]]:
    """Bulk strings, and whether they stand inside JSON text."""
    block = _only_text_block(value)
    documents = (
        [decoded(value)] if isinstance(value, str) else [value, *([decoded(block)] if block is not None else ())]
    )
    for document in documents:
        given = None if codec is None else pointed(codec, document)
        if given is None:
            continue
        yield from ((at(document, pointer), document is not value) for pointer in given)
        if document is not documents[0]:
            yield from ((text, False) for _, text in bulk_strings(value) if text != block)
        return
    if isinstance(value, str) and documents[0] is value:
        yield value, False
    else:
        yield from ((text, isinstance(value, str)) for _, text in bulk_strings(documents[0]))


def _only_text_block(value: Json) -> str | None:
    """The text of the only text block of a content list, where that is JSON."""
    blocks = value.get("content") if isinstance(value, dict) else value
    found = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict) and isinstance(block.get("text"), str) and block.get("type", "text") == "text"
    ]
    return found[0] if len(found) == 1 and decoded(found[0]) is not found[0] else None
