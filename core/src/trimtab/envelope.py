"""The envelope: what is stored in place of an output. Version 3 and its reader; see `older` for what came before.

A row is a dict with exactly the key `$persistedToolOutput`. Only a row's top level is looked at; nothing inside a
skeleton or a text is ever taken for an envelope. Rows live in users' databases: what this module reads, it reads
for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from attrs import field, frozen

from trimtab.errors import EnvelopeError, PointerError
from trimtab.pointer import locate
from trimtab.telemetry import log
from trimtab.types import Json

__all__ = [
    "ROW_KEY",
    "VERSION",
    "BlobRef",
    "Envelope",
    "inside",
    "is_row_shaped",
    "read",
    "refs_by_key",
    "warn_of_texts",
]

ROW_KEY: Final = "$persistedToolOutput"
VERSION: Final = 3

_ROW_TEXT: Final = f'{{"{ROW_KEY}"'
_ID = re.compile("[0-9a-f]{32}")
_ENVELOPE_FIELDS = frozenset({"v", "tool", "skeleton", "blobRefs"})
_REF_FIELDS = frozenset(
    {"key", "blobId", "totalChars", "cuts", "span", "esc", "sourceId", "json", "totalItems", "whole"}
)


@frozen(kw_only=True)
class BlobRef:
    """One moved text.

    `key`: pointer of the skeleton's string it stands in. `total_chars` and `cuts` (omitted ranges, 1-based, inclusive)
    mean the decoded text. `span` (0-based, half open, code points of the skeleton's string) and `esc`: it stands inside
    JSON text. `source_id`: the blob of its source, where `esc` is `raw`. `json`: the text is the canonical JSON (with
    `span`: the source) of an array or object of `total_items`, and `cuts` count elements. `whole`: the prompt shows
    the text itself, the skeleton only its marker.
    """

    key: str
    blob_id: str
    total_chars: int
    cuts: tuple[tuple[int, int], ...] | None = None
    span: tuple[int, int] | None = None
    esc: str | None = None
    source_id: str | None = None
    json: bool = False
    total_items: int | None = None
    whole: bool = False

    def to_json(self) -> dict[str, Json]:
        """The ref as it is stored; absent fields are left out."""
        stored: dict[str, Json] = {"key": self.key, "blobId": self.blob_id, "totalChars": self.total_chars}
        if self.cuts is not None:
            stored["cuts"] = [list(pair) for pair in self.cuts]
        if self.span is not None:
            stored["span"] = list(self.span)
        if self.esc is not None:
            stored["esc"] = self.esc
        if self.source_id is not None:
            stored["sourceId"] = self.source_id
        if self.json:
            stored["json"] = True
        if self.total_items is not None:
            stored["totalItems"] = self.total_items
        if self.whole:
            stored["whole"] = True
        return stored

    @property
    def ids(self) -> tuple[str, ...]:
        """The blobs that must be held for this ref."""
        return (self.blob_id,) if self.source_id is None else (self.blob_id, self.source_id)


@frozen(kw_only=True)
class Envelope:
    """A row of version 3: the tool, the skeleton (which is the rendering, `whole` refs excepted), the refs."""

    tool: str
    skeleton: Json = field(repr=False)
    refs: tuple[BlobRef, ...] = ()

    def to_row(self) -> dict[str, Json]:
        """The row as it is stored. Shares the skeleton object."""
        refs = [ref.to_json() for ref in self.refs]
        return {ROW_KEY: {"v": VERSION, "tool": self.tool, "skeleton": self.skeleton, "blobRefs": refs}}

    @property
    def ids(self) -> frozenset[str]:
        """Every blob that must be held for this row."""
        return frozenset(blob_id for ref in self.refs for blob_id in ref.ids)


def is_row_shaped(value: Json) -> bool:
    """Whether a value is a dict with exactly the row's key: then it is read as a row, whoever wrote it."""
    return isinstance(value, dict) and len(value) == 1 and ROW_KEY in value


def warn_of_texts(rows: Iterable[Json]) -> None:
    """Say so once where some of these are rows as text. Such a text is not parsed: a tool may have returned it."""
    count = sum(isinstance(row, str) and row.startswith(_ROW_TEXT) for row in rows)
    if count:
        log.warning(
            "%d of these rows are text that looks like a stored row: they are left as they are, and name nothing that "
            "can be read back; if you stored Trimmed.row_text, give json.loads of it",
            count,
        )


def read(row: Json) -> Envelope | None:
    """The envelope of a version 3 row; None for anything else: other values, older rows, rows of a later version.

    A ref with an unknown field, an unknown field of the envelope or an unknown `v` leaves the row alone, with a
    warning: a later release wrote it, and guessing would lose text.

    Raises:
        EnvelopeError: version 3, but damaged.
    """
    if not is_row_shaped(row) or not isinstance(body := row[ROW_KEY], dict) or "v" not in body:
        return None
    if body["v"] != VERSION or isinstance(body["v"], bool):
        _later(f"version {body['v']!r:.40}")
        return None
    if unknown := set(body) - _ENVELOPE_FIELDS:
        _later(f"field {sorted(unknown)[0]!r:.80}")
        return None
    if not isinstance(body.get("tool"), str):
        raise EnvelopeError("'tool' must be a string", place=f"/{ROW_KEY}/tool")
    if "skeleton" not in body:
        raise EnvelopeError("'skeleton' is missing", place=f"/{ROW_KEY}")
    if not isinstance(stored := body.get("blobRefs"), list):
        raise EnvelopeError("'blobRefs' must be a list", place=f"/{ROW_KEY}/blobRefs")
    for ref in stored:
        if isinstance(ref, dict) and (unknown := set(ref) - _REF_FIELDS):
            _later(f"ref field {sorted(unknown)[0]!r:.80}")
            return None
        if isinstance(ref, dict) and ref.get("esc", "utf8") not in ("utf8", "ascii", "raw"):
            _later(f"spelling {ref['esc']!r:.40}")
            return None
    refs = tuple(_ref(ref, f"/{ROW_KEY}/blobRefs/{index}") for index, ref in enumerate(stored))
    envelope = Envelope(tool=body["tool"], skeleton=body["skeleton"], refs=refs)
    _check_places(envelope)
    return envelope


def _later(what: str) -> None:
    log.warning(
        "a stored row has an unknown %s: a later trimtab wrote it; it is left as it is (upgrade to read it)", what
    )


def _ref(stored: Json, place: str) -> BlobRef:
    def wrong(name: str, must: str) -> EnvelopeError:
        return EnvelopeError(f"{name!r} must be {must}", place=f"{place}/{name}")

    if not isinstance(stored, dict):
        raise EnvelopeError("a ref must be an object", place=place)
    if not isinstance(stored.get("key"), str):
        raise wrong("key", "a JSON Pointer")
    if not _is_id(stored.get("blobId")):
        raise wrong("blobId", "32 hex digits")
    if not _is_count(stored.get("totalChars")):
        raise wrong("totalChars", "a whole number")
    items = stored.get("totalItems")
    if "totalItems" in stored and not _is_count(items):
        raise wrong("totalItems", "a whole number")
    for flag in ("json", "whole"):
        if not isinstance(stored.get(flag, False), bool):
            raise wrong(flag, "true or false")
    raw = stored.get("esc") == "raw"
    if raw != ("sourceId" in stored) or (raw and not _is_id(stored["sourceId"])):
        raise wrong("sourceId", "32 hex digits where esc is 'raw', and absent elsewhere")
    is_json = bool(stored.get("json", False))
    if ("span" in stored) != ("esc" in stored) and not (is_json and "esc" not in stored):
        raise wrong("esc", "there exactly where 'span' is")
    return BlobRef(
        key=stored["key"],
        blob_id=stored["blobId"],
        total_chars=stored["totalChars"],
        cuts=_cuts(stored, items if is_json else stored["totalChars"], wrong),
        span=_span(stored, wrong),
        esc=stored.get("esc"),
        source_id=stored.get("sourceId"),
        json=is_json,
        total_items=items,
        whole=bool(stored.get("whole", False)),
    )


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_count, value))


def _cuts(stored: dict[str, Json], total: int | None, wrong: Any) -> tuple[tuple[int, int], ...] | None:
    if "cuts" not in stored:
        return None
    cuts = stored["cuts"]
    if not isinstance(cuts, list) or not all(map(_pair, cuts)):
        raise wrong("cuts", "pairs of whole numbers")
    at = 0
    for first, last in cuts:
        if not at < first <= last or (total is not None and last > total):
            raise wrong("cuts", "ascending ranges within the text, 1-based and inclusive")
        at = last
    return tuple((first, last) for first, last in cuts)


def _span(stored: dict[str, Json], wrong: Any) -> tuple[int, int] | None:
    if "span" not in stored:
        return None
    if not _pair(stored["span"]) or stored["span"][0] > stored["span"][1]:
        raise wrong("span", "a start and an end")
    return (stored["span"][0], stored["span"][1])


def _check_places(envelope: Envelope) -> None:
    """Every ref leads to a place that exists, and no two claim the same one."""
    for key, refs in refs_by_key(envelope).items():
        place = f"/{ROW_KEY}/skeleton{key}"
        try:
            _, there = locate(envelope.skeleton, key)
        except PointerError:
            raise EnvelopeError(f"ref key {key!r:.200} leads nowhere in the skeleton", place=place) from None
        spans = [ref.span for ref in refs if ref.span is not None]
        if not isinstance(there, str) and (spans or not all(ref.json for ref in refs)):
            raise EnvelopeError("a ref leads to something that is not a string", place=place)
        plain = [ref for ref in refs if ref.span is None]
        if len(plain) > 1 or (plain and spans):
            raise EnvelopeError("two refs claim the same place", place=place)
        outer = [ref.span for ref in inside(refs) if ref.span is not None]
        at = 0
        for start, end in sorted(outer):
            if start < at or end > len(there):
                raise EnvelopeError("spans overlap or run past the string", place=place)
            at = end


def refs_by_key(envelope: Envelope) -> dict[str, list[BlobRef]]:
    """Refs by the string they stand in, those under a `json` ref's key left out (they are for reading only)."""
    lists = [f"{ref.key}/" for ref in envelope.refs if ref.json and ref.span is None]
    table: dict[str, list[BlobRef]] = {}
    for ref in envelope.refs:
        if not any(ref.key.startswith(prefix) for prefix in lists):
            table.setdefault(ref.key, []).append(ref)
    return table


def inside(refs: list[BlobRef]) -> list[BlobRef]:
    """Refs of one string that `inflate` uses: those whose span lies inside a `json` ref's are for reading only."""
    lists = [ref.span for ref in refs if ref.json and ref.span is not None]
    return [
        ref
        for ref in refs
        if ref.span is None or not any(outer != ref.span and _within(ref.span, outer) for outer in lists)
    ]


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
