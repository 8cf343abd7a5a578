"""JSON leaves: the bulk strings of an output that no codec knows. And media, which is never text.

A leaf is a string of 256 chars or more. One of printable ASCII without white space (a url, a key, a hash, a token) is
identity, unless it has 2,048 or more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trimtab.marker import MIN_MOVED
from trimtab.pointer import Path
from trimtab.types import Json

__all__ = [
    "MEDIA_KEYS",
    "MEDIA_TYPES",
    "MIME_KEYS",
    "any_string_holds",
    "is_identity",
    "is_leaf",
    "payloads_of",
    "strings",
]

_IDENTITY_MAX = 2_048
_SOLID = re.compile("[!-~]+")

MEDIA_TYPES = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "input_video", "file", "input_file"}
    | {"document", "blob", "media", "image-data", "file-data"}
)
"""What media blocks of any protocol say that they are, as their `type`."""

MEDIA_KEYS = frozenset(
    {"image_url", "input_audio", "inlineData", "inline_data", "fileData", "file_data"}
    | {"image", "audio", "video", "document"}
)
"""Members whose object is a medium."""

MIME_KEYS = ("mimeType", "mime_type", "media_type", "mediaType")
"""Members that name a medium's MIME type."""

_PAYLOAD_KEYS = frozenset(
    {"data", "blob", "bytes", "base64", "b64_json", "url", "uri", "src", "source", "file_data", "image_url", "audio"}
    | {"video"}
)
# An object with none of these keys, under none of them, is no media block: most outputs are looked at no closer.
_MEDIA_HINTS = frozenset({*MEDIA_KEYS, *MIME_KEYS, "bytes", "blob", "type"})
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n"


def is_leaf(text: str, least: int = MIN_MOVED) -> bool:
    """Whether JSON leaves take this string for bulk text."""
    return len(text) >= least and not is_identity(text)


def is_identity(text: str) -> bool:
    """Whether a string looks like a name for something: printable ASCII without white space, and not too long."""
    return len(text) < _IDENTITY_MAX and _SOLID.fullmatch(text) is not None


def any_string_holds(value: Json, sign: str, part: str) -> bool:
    """Whether any string value, at any depth, holds the one-char sign and the part. Does not recurse.

    Looking for one char is many times as fast as for several, and most texts are done with that.
    """
    least = len(part)
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            if len(item) >= least and sign in item and part in item:
                return True
        elif isinstance(item, dict):
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)
    return False


def payloads_of(value: Json, least: int = MIN_MOVED) -> Iterator[tuple[Path, str]]:
    """The media payloads among `strings`, in document order."""
    if not isinstance(value, str) and _hints_at_media(value):
        yield from ((path, text) for path, text, is_payload in strings(value, least) if is_payload)


def _hints_at_media(value: Json) -> bool:
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            if not _MEDIA_HINTS.isdisjoint(item):
                return True
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)
    return False


def strings(value: Json, least: int = MIN_MOVED) -> Iterator[tuple[Path, str, bool]]:
    """Strings of `least` chars or more in document order, each with its path and whether it is a media payload.

    A payload is base64 or a `data:` url in a media block: an object with a `type` of image, audio, video, file,
    document or blob, one that names a MIME type, MCP's resource with a `blob`, or what stands under `image_url`,
    `input_audio`, `inlineData` or a Bedrock `bytes`. Does not recurse.
    """
    if isinstance(value, str):
        if len(value) >= least:
            yield (), value, False
        return
    if not isinstance(value, dict | list):
        return
    stack: list[tuple[Json, Iterator[tuple[str | int, Json]]]] = [(value, _children(value))]
    path: list[str | int] = []
    while stack:
        container, children = stack[-1]
        for step, child in children:
            if isinstance(child, str):
                if len(child) >= least:
                    yield (*path, step), child, _is_payload(child, step, container, path[-1] if path else None)
            elif isinstance(child, dict | list):
                path.append(step)
                stack.append((child, _children(child)))
                break
        else:
            stack.pop()
            if path:
                path.pop()


def _children(container: Json) -> Iterator[tuple[str | int, Json]]:
    return iter(container.items()) if isinstance(container, dict) else enumerate(container)


def _is_media(container: Json, step: str | int | None) -> bool:
    if not isinstance(container, dict):
        return False
    if step in MEDIA_KEYS:
        return True
    if "blob" in container and "uri" in container:  # MCP: its MIME type may be missing
        return True
    kind = container.get("type")
    return (isinstance(kind, str) and kind in MEDIA_TYPES) or any(key in container for key in MIME_KEYS)


def _is_payload(text: str, step: str | int, container: Json, container_step: str | int | None) -> bool:
    if step == "bytes" or (step in _PAYLOAD_KEYS and _is_media(container, container_step)):
        return _is_base64(text) or (text.startswith("data:") and _SOLID.fullmatch(text) is not None)
    return False


def _is_base64(text: str) -> bool:
    return text.isascii() and not text.encode("ascii").translate(None, _BASE64)
