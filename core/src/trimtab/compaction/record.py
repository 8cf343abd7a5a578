"""What the application stores of a durable fold, in one column; and the message that is served in its place."""

from __future__ import annotations

from typing import Any, Final

from attrs import asdict, field, frozen

from trimtab.compaction.types import Attachment
from trimtab.convert import ShapeError, structure
from trimtab.errors import CallerError
from trimtab.types import Json

__all__ = ["FoldRecord", "dump_record", "load_record", "summary_text"]

_VERSION: Final = 1


@frozen(kw_only=True)
class FoldRecord:
    """A durable fold.

    Attributes:
        boundary: id of the last row that is folded.
        made_at: id of the last row that there was when it was made: what the provider counted before is out of date.
        summary: what is served in place of the rows up to the boundary.
        files: attachments of these rows, readable through the file tool.
        blobs: uris of texts that were omitted in these rows, readable through the read tool.
    """

    boundary: str
    made_at: str
    summary: str = field(repr=False)
    files: tuple[Attachment, ...] = field(default=(), converter=tuple)
    blobs: tuple[str, ...] = field(default=(), converter=tuple)


def dump_record(record: FoldRecord) -> dict[str, Json]:
    """The record as JSON."""
    files = [asdict(one) for one in record.files]
    return {"v": _VERSION, **asdict(record, recurse=False), "files": files, "blobs": list(record.blobs)}


@frozen(kw_only=True)
class _Stored:
    v: int
    boundary: str
    made_at: str
    summary: str
    files: list[Attachment]
    blobs: list[str]


def load_record(value: Json) -> FoldRecord:
    """The record that `dump_record` gave. Raises CallerError: it is damaged, or of a later version."""
    version = value.get("v") if isinstance(value, dict) else None
    if version != _VERSION or isinstance(version, bool):
        raise CallerError(f"a stored fold of version {version!r:.40} cannot be read here; this is version {_VERSION}")
    try:
        stored: _Stored = structure(value, _Stored)
    except ShapeError as error:
        raise CallerError(f"the stored fold is damaged: {error}; without it the history is served whole") from None
    fields: dict[str, Any] = asdict(stored, recurse=False)
    del fields["v"]
    return FoldRecord(**fields)


def summary_text(record: FoldRecord, *, read_tool: str, file_tool: str) -> str:
    """The message in place of the folded rows: a frozen format, and a function of the record and the tools' names."""
    parts = [
        "<conversation-summary>\n"
        "This is a record of the conversation up to here, not a new request.\n"
        f"{record.summary}\n"
        "</conversation-summary>"
    ]
    if record.files and file_tool:
        names = ", ".join(one.name for one in record.files)
        parts.append(f"[Files of this conversation, to be read in full with {file_tool}: {names}]")
    if record.blobs and read_tool:
        parts.append(
            f"[Tool outputs of this conversation, to be read in full with {read_tool}: {', '.join(record.blobs)}]"
        )
    return "\n\n".join(parts)
