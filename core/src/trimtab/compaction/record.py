"""What the application stores of a durable fold, in one column; and the message that is served in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from attrs import asdict, field, frozen

from trimtab._json import canonical
from trimtab.compaction.types import Attachment
from trimtab.convert import ShapeError, structure
from trimtab.errors import CallerError
from trimtab.types import Json

__all__ = [
    "NEWEST",
    "SUMMARY_OPENING",
    "Archived",
    "Blob",
    "FoldRecord",
    "dump_record",
    "listed_name",
    "load_record",
    "summary_text",
]

SUMMARY_OPENING: Final = "<conversation-summary>"

NEWEST: Final = 24
"""So many blobs, and so many texts of the archive, are named one by one beside an index."""

_VERSION: Final = 1
_WHAT_IT_IS: Final = "This is a record of the conversation up to here, not a new request."
_CLOSING: Final = "</conversation-summary>"
_BLOB_ID: Final = re.compile("[0-9a-f]{32}")
# A name that stands in a list as it is; others are quoted as JSON.
_PLAIN_NAME: Final = re.compile('[^\\x00-\\x1f",\\[\\]\\x7f-\\x9f\\u2028\\u2029]+')


@frozen(kw_only=True)
class Blob:
    """A text that was omitted from a tool's output: the tool's name ("": not known), the uri by which it is read."""

    tool: str
    uri: str


@frozen(kw_only=True)
class Archived:
    """A text that the archive has of folded messages: its blob id, its chars, and what it is.

    `kind` is `messages`, `index`, or the MIME type of a medium.
    """

    id: str
    chars: int
    kind: str


@frozen(kw_only=True)
class FoldRecord:
    """A durable fold.

    Attributes:
        boundary: id of the last row that is folded.
        made_at: id of the last row that there was when it was made: what the provider counted before is out of date.
        summary: what is served in place of the rows up to the boundary.
        files: attachments of these rows, readable through the file tool.
        blobs: texts that were omitted in these rows, readable through the read tool.
        archive: these rows word for word, where they were archived; readable through the read tool.
        index: a text that lists the blobs and the archive, where these are too many to be named one by one.
    """

    boundary: str
    made_at: str
    summary: str = field(repr=False)
    files: tuple[Attachment, ...] = ()
    blobs: tuple[Blob, ...] = ()
    archive: tuple[Archived, ...] = ()
    index: Archived | None = None


def dump_record(record: FoldRecord) -> dict[str, Json]:
    """The record as JSON."""
    parts = {name: [asdict(one) for one in getattr(record, name)] for name in ("files", "blobs", "archive")}
    index = None if record.index is None else asdict(record.index)
    said = {"boundary": record.boundary, "made_at": record.made_at, "summary": record.summary}
    return {"v": _VERSION, **said, **parts, "index": index}


@frozen(kw_only=True)
class _Stored:
    v: int
    boundary: str
    made_at: str
    summary: str
    files: list[Attachment]
    blobs: list[Blob]
    archive: list[Archived]
    index: Archived | None


def load_record(value: Json) -> FoldRecord:
    """The record that `dump_record` gave.

    Raises:
        CallerError: it is damaged, or of a later version. Serve the rows without it: then nothing of them is folded.
    """
    version = value.get("v") if isinstance(value, dict) else None
    if version != _VERSION or isinstance(version, bool):
        raise CallerError(f"a stored fold of version {version!r:.40} cannot be read here; this is version {_VERSION}")
    try:
        stored: _Stored = structure(value, _Stored)
    except ShapeError as error:
        raise CallerError(f"the stored fold is damaged: {error}; without it the history is served whole") from None
    for one in [*stored.archive, *([stored.index] if stored.index else [])]:
        if not _BLOB_ID.fullmatch(one.id) or one.chars < 0:
            raise CallerError(f"the stored fold is damaged: a text of id {one.id!r:.80} and {one.chars} chars is none")
    return FoldRecord(
        boundary=stored.boundary,
        made_at=stored.made_at,
        summary=stored.summary,
        files=tuple(stored.files),
        blobs=tuple(stored.blobs),
        archive=tuple(stored.archive),
        index=stored.index,
    )


def summary_text(record: FoldRecord, *, read_tool: str, file_tool: str) -> str:
    """The message in place of the folded rows: a frozen format, and a function of the record and the tools' names."""
    said = record.summary.replace(_CLOSING, "< /conversation-summary>")
    parts = [f"{SUMMARY_OPENING}\n{_WHAT_IT_IS}\n{said}\n{_CLOSING}"]
    if record.files and file_tool:
        names = ", ".join(map(listed_name, dict.fromkeys(one.name for one in record.files)))
        parts.append(f"[Files of this conversation, to be read in full with {file_tool}: {names}]")
    blobs, archive = record.blobs, record.archive
    if record.index is not None:
        blobs, archive = blobs[-NEWEST:], archive[-NEWEST:]
    if blobs and read_tool:
        parts.append(f"[Tool outputs of this conversation, to be read in full with {read_tool}: {_listed(blobs)}]")
    if archive and read_tool:
        uris = ", ".join(map(_archived, archive))
        parts.append(f"[What this record stands for, word for word, to be read with {read_tool}: {uris}]")
    if record.index is not None and read_tool:
        older = len(record.blobs) + len(record.archive) - len(blobs) - len(archive)
        parts.append(f"[{older} older ones are listed in {_archived(record.index)}, to be read with {read_tool}]")
    return "\n\n".join(parts)


def listed_name(name: str) -> str:
    """A name as it stands in a list: as it is, or quoted as JSON where it would end the list or begin a line."""
    return name if _PLAIN_NAME.fullmatch(name) else canonical(name)


def _listed(blobs: Sequence[Blob]) -> str:
    """The uris behind the names of their tools: `read trimtab:…, trimtab:…; grep trimtab:…`."""
    by_tool: dict[str, list[str]] = {}
    for one in blobs:
        by_tool.setdefault(one.tool, []).append(one.uri)
    return "; ".join(f"{listed_name(tool)} " * bool(tool) + ", ".join(uris) for tool, uris in by_tool.items())


def _archived(one: Archived) -> str:
    uri = f"trimtab:{one.id[:16]}"
    return uri if one.kind in ("messages", "index") else f"{listed_name(one.kind)} {uri}"
