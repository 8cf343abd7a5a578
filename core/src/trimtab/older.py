"""Rows of the two generations before version 3, as found in the wild: read for ever, never written.

The first holds one text (`shape` `text` or `mcp-content`), the second several (`shape` `entities`, a skeleton with
keys that are `/field` or `/index/field`, without `~` escapes). Their texts live in files of the application that wrote
them, so they render to head, a marker without a handle, and tail; counts are theirs (UTF-16 units, as stored).
`$deferredToolResult` values are references of a transport: they pass through.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from attrs import field, frozen

from trimtab.envelope import ROW_KEY, is_row_shaped
from trimtab.errors import LostBlob
from trimtab.marker import line
from trimtab.pointer import Path, replace
from trimtab.types import Json

__all__ = ["OldBlob", "OldRow", "inflate_old", "read_old", "render_old", "visible_value"]

_DEFERRED_KEY: Final = "$deferredToolResult"

# What `old_blob` is asked for must be safe as a file name.
_OLD_ID = re.compile("[A-Za-z0-9_-]{1,64}")
_INDEX = re.compile("[0-9]{1,18}")
_SHAPES = ("text", "mcp-content")


@frozen(kw_only=True)
class OldBlob:
    """One text of an older row: its id in the application's files, what was shown, how long it was (UTF-16 units)."""

    key: str
    id: str
    head: str
    tail: str
    total: int

    def excerpt(self) -> str:
        """Head, the marker, tail."""
        first, last = _utf16(self.head) + 1, self.total - _utf16(self.tail)
        if first > last:
            return self.head + self.tail
        before = "\n" if self.head and not self.head.endswith("\n") else ""
        after = "\n" if self.tail and not self.tail.startswith("\n") else ""
        return f"{self.head}{before}{line(first, last, self.total)}{after}{self.tail}"


@frozen(kw_only=True)
class OldRow:
    """An older row. `skeleton` is None for the first generation, whose shape says what the text was taken from."""

    shape: str
    blobs: tuple[OldBlob, ...]
    skeleton: Json = field(default=None, repr=False)
    metadata: Json = None
    has_metadata: bool = False


def read_old(row: Json) -> OldRow | None:
    """The older row, or None: anything else, also one with a field of the wrong type (an ordinary value then)."""
    if not is_row_shaped(row) or not isinstance(body := row[ROW_KEY], dict) or "v" in body:
        return None
    if body.get("shape") == "entities":
        stored = body.get("blobRefs")
        if "skeleton" not in body or not isinstance(stored, list) or not stored:
            return None
        blobs = [_blob(one, one.get("key")) if isinstance(one, dict) else None for one in stored]
        if any(one is None for one in blobs):
            return None
        kept = tuple(one for one in blobs if one is not None)
        return OldRow(shape="entities", blobs=kept, skeleton=body["skeleton"])
    single = _blob(body, "")
    if single is None or body.get("shape") not in _SHAPES:
        return None
    return OldRow(shape=body["shape"], blobs=(single,), metadata=body.get("metadata"), has_metadata="metadata" in body)


def render_old(row: OldRow) -> Json:
    """The prompt value: every text as head, a marker without a handle, tail."""
    return _with_texts(row, {blob.key: blob.excerpt() for blob in row.blobs})


def inflate_old(row: OldRow, old_blob: Callable[[str], str]) -> Json:
    """The output, its texts from `old_blob(id)`. Texts of several MCP blocks come back as one, as they were stored.

    Raises:
        LostBlob: an id that is not a safe name; it is never passed on. Or `old_blob` gave something else than a text.
    """
    texts: dict[str, str] = {}
    for blob in row.blobs:
        if _OLD_ID.fullmatch(blob.id) is None:
            raise LostBlob(f"{blob.id!r:.80}")
        text = old_blob(blob.id)
        if not isinstance(text, str):
            raise LostBlob(blob.id)
        texts[blob.key] = text
    return _with_texts(row, texts)


def visible_value(row: Json) -> Json:
    """What an older or deferred row shows of its structure, for citations; the row itself when nothing."""
    if (old := read_old(row)) is not None:
        return old.skeleton if old.shape == "entities" else None
    if isinstance(row, dict) and len(row) == 1 and isinstance(deferred := row.get(_DEFERRED_KEY), dict):
        return deferred.get("skeleton")
    return row


def _with_texts(row: OldRow, texts: dict[str, str]) -> Json:
    if row.shape == "text":
        return texts[""]
    if row.shape == "mcp-content":
        value: dict[str, Json] = {"content": [{"type": "text", "text": texts[""]}]}
        return {**value, "metadata": row.metadata} if row.has_metadata else value
    placed = {path: text for key, text in texts.items() if (path := _place(row.skeleton, key)) is not None}
    # Of a place inside another only the outer one is written: there is no inside left.
    return replace(row.skeleton, {path: text for path, text in placed.items() if path[:-1] not in placed})


def _place(skeleton: Json, key: str) -> Path | None:
    """Where an older key leads; None (the text is skipped, as its writer did) where it leads nowhere."""
    steps = key.split("/")[1:]
    if not key.startswith("/") or not 1 <= len(steps) <= 2:
        return None
    path: list[str | int] = []
    for step in steps:
        if isinstance(skeleton, list) and _INDEX.fullmatch(step) and int(step) < len(skeleton):
            path.append(int(step))
        elif isinstance(skeleton, dict) and step in skeleton:
            path.append(step)
        else:
            return None
        skeleton = skeleton[path[-1]]
    return tuple(path)


def _blob(stored: dict[str, Json], key: Json) -> OldBlob | None:
    texts = [stored.get(name) for name in ("fileEntryId", "vfsFilename", "head", "tail")]
    counts = [stored.get(name) for name in ("totalChars", "totalLines")]
    if not isinstance(key, str) or not all(isinstance(text, str) for text in texts) or not (texts[0] and texts[1]):
        return None
    if not all(map(_is_count, counts)):
        return None
    return OldBlob(key=key, id=str(texts[0]), head=str(texts[2]), tail=str(texts[3]), total=int(counts[0] or 0))


def _is_count(value: Json) -> bool:
    """A number that JavaScript counts exactly: no NaN, no infinity."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53


def _utf16(text: str) -> int:
    """Length in UTF-16 code units, as the writers of these rows counted."""
    return len(text) + sum(character > "\uffff" for character in text)
