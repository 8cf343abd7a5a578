"""What the application stores: a durable fold, in one column, and rows; and the message that is served for a fold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeVar

from attrs import Attribute, AttrsInstance, asdict, field, fields_dict, frozen

from trimtab._json import canonical, check
from trimtab.compaction.measuring.usage import tokens_of
from trimtab.compaction.types import Attachment, Row
from trimtab.convert import ShapeError, structure
from trimtab.errors import CallerError, UnsupportedOutput
from trimtab.marker import uri
from trimtab.types import Json

__all__ = [
    "NEWEST",
    "SUMMARY_OPENING",
    "Archived",
    "Blob",
    "FoldRecord",
    "Index",
    "behind_summary",
    "dump_record",
    "dump_row",
    "index_text",
    "is_listed",
    "listed_name",
    "load_record",
    "load_row",
    "opened",
    "summary_text",
]

T = TypeVar("T", bound=AttrsInstance)

SUMMARY_OPENING: Final = "<conversation-summary>"

NEWEST: Final = 24
"""So many blobs, and so many texts of the archive, are named one by one beside an index, and those that it lacks."""

_FIRST: Final = 80  # chars of what is shown of a text, in an index
_BLANK: Final = " \t\r\n"
_VERSION: Final = 1
_WHAT_IT_IS: Final = "This is a record of the conversation up to here, not a new request."
_CLOSING: Final = "</conversation-summary>"
_LISTS: Final = re.compile(
    "(?:\n\n\\[(?:Files of this|Tool outputs of this|What this record|[0-9]+ older ones are)[^\n]*\\])*(?:\n\n)?"
)
_BLOB_ID: Final = re.compile("[0-9a-f]{32}")
# A name that stands in a list as it is; others are quoted as JSON.
_PLAIN_NAME: Final = re.compile('[^\\x00-\\x1f",\\[\\]\\x7f-\\x9f\\u2028\\u2029]+')


@frozen(kw_only=True)
class Blob:
    """A text that was omitted from a tool's output.

    Attributes:
        tool: the tool's name; "": not known.
        uri: by which it is read.
        about: the first words that were shown of it, for an index.
    """

    tool: str
    uri: str
    about: str = field(default="", eq=False, repr=False)

    @classmethod
    def of(cls, tool: str, uri: str, shown: str) -> Blob:
        """With the first words of what is shown of it."""
        visible = shown[:_FIRST].lstrip(_BLANK).split("\n", 1)[0]
        return cls(tool=tool, uri=uri, about=visible.split("<omitted ", 1)[0].rstrip(_BLANK))


@frozen(kw_only=True)
class Archived:
    """A text that the archive has of folded messages: its blob id, its chars, and what it is.

    `kind` is `messages`, `index`, or the MIME type of a medium.
    """

    id: str
    chars: int
    kind: str


@frozen(kw_only=True)
class Index(Archived):
    """A text that lists the first so many blobs of a record, and the first so many texts of its archive."""

    blobs: int
    archive: int


@frozen(kw_only=True)
class FoldRecord:
    """A fold as it is stored: one between turns, or in a memo one inside a turn, which has no rows.

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
    index: Index | None = None


def dump_record(record: FoldRecord | None) -> Json:
    """The record as JSON data, a dict; None for None. In a column of text: `json.dumps` of it."""
    return None if record is None else {"v": _VERSION, **asdict(record, value_serializer=_lists)}


def _lists(_holder: type, _attribute: Attribute[Json], value: Json) -> Json:
    """A tuple as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


def load_record(value: Json) -> FoldRecord | None:
    """The record that `dump_record` gave; None for None, where nothing is stored yet.

    Raises:
        CallerError: it is text, damaged, or of a later version. Serve the rows without a damaged one: then nothing of
            them is folded.
    """
    if value is None:
        return None
    record = opened(value, FoldRecord, "fold")
    index = record.index
    if index is not None and not (0 <= index.blobs <= len(record.blobs) and 0 <= index.archive <= len(record.archive)):
        raise CallerError(
            f"the stored fold is damaged: its index lists {index.blobs} blobs, {index.archive} of the archive"
        )
    for one in [*record.archive, *([index] if index else [])]:
        if not _BLOB_ID.fullmatch(one.id) or one.chars < 0:
            raise CallerError(f"the stored fold is damaged: a text of id {one.id!r:.80} and {one.chars} chars is none")
    return record


def dump_row(row: Row) -> dict[str, Json]:
    """The row as JSON data. Messages and outputs are the same objects.

    Raises:
        CallerError: messages or outputs are not JSON data: an SDK's own objects, bytes, NaN. Make them data before
            they are sent for the first time, so that the same bytes are sent each time.
    """
    try:
        check({"messages": list(row.messages), "outputs": list(row.outputs)})
    except UnsupportedOutput as error:
        raise CallerError(
            f"row {row.id!r:.80} cannot be stored: {error}; "
            f"of an SDK's object (pydantic's) that is message.model_dump(exclude_none=True)"
        ) from None
    return {
        "v": _VERSION,
        "id": row.id,
        "messages": list(row.messages),
        "outputs": list(row.outputs),
        "attachments": [asdict(one) for one in row.attachments],
        "tokens": tokens_of(row.tokens),
        "clears": bool(row.clears),
    }


def load_row(value: Json) -> Row:
    """The row that `dump_row` gave.

    Raises:
        CallerError: it is text, damaged, or of a later version.
    """
    return opened(value, Row, "row")


def opened(value: Json, kind: type[T], what: str) -> T:
    """What was stored, of this kind. Raises CallerError: text, another version, damaged; `what` names it."""
    if isinstance(value, str | bytes | bytearray):
        raise CallerError(f"a stored {what} is JSON data, not text: json.loads it first")
    version = value.get("v") if isinstance(value, dict) else None
    if version != _VERSION or isinstance(version, bool):
        raise CallerError(f"a stored {what} of version {version!r:.40} cannot be read here; this is version {_VERSION}")
    if lost := [name for name in fields_dict(kind) if name not in value]:
        raise CallerError(f"the stored {what} is damaged: {', '.join(lost)} of it is missing")
    try:
        opened: T = structure(value, kind)
    except ShapeError as error:
        raise CallerError(f"the stored {what} is damaged: {error}") from None
    return opened


def summary_text(record: FoldRecord, *, read_tool: str, file_tool: str) -> str:
    """The message in place of the folded rows: a frozen format, and a function of the record and the tools' names."""
    said = record.summary.replace(_CLOSING, "< /conversation-summary>")
    parts = [f"{SUMMARY_OPENING}\n{_WHAT_IT_IS}\n{said}\n{_CLOSING}"]
    if record.files and file_tool:
        names = ", ".join(map(listed_name, dict.fromkeys(one.name for one in record.files)))
        parts.append(f"[Files of this conversation, to be read in full with {file_tool}: {names}]")
    blobs, archive, older = record.blobs, record.archive, 0
    if record.index is not None:
        blobs = blobs[max(0, min(record.index.blobs, len(blobs) - NEWEST)) :]
        archive = archive[max(0, min(record.index.archive, len(archive) - NEWEST)) :]
        older = len(record.blobs) + len(record.archive) - len(blobs) - len(archive)
    if blobs and read_tool:
        parts.append(f"[Tool outputs of this conversation, to be read in full with {read_tool}: {_listed(blobs)}]")
    if archive and read_tool:
        uris = ", ".join(map(_archived, archive))
        parts.append(f"[What this record stands for, word for word, to be read with {read_tool}: {uris}]")
    if record.index is not None and read_tool:
        parts.append(f"[{older} older ones are listed in {_archived(record.index)}, to be read with {read_tool}]")
    return "\n\n".join(parts)


def behind_summary(text: str) -> str:
    """What a text that begins with such a message says behind it."""
    end = text.find(_CLOSING)
    lists = _LISTS.match(text, end + len(_CLOSING)) if end >= 0 else None
    return text if lists is None else text[lists.end() :]


def index_text(record: FoldRecord) -> str:
    """A line for each text that a record names: tool, uri and first words; of the archive's what it is, and the uri."""
    blobs = (f"{listed_name(one.tool) if one.tool else ''} {one.uri} {one.about}".strip(" ") for one in record.blobs)
    return "\n".join([*blobs, *(f"{one.kind} {uri(one.id)}" for one in record.archive)])


def listed_name(name: str) -> str:
    """A name as it stands in a list: as it is, or quoted as JSON where it would end the list or begin a line."""
    return name if _PLAIN_NAME.fullmatch(name) else canonical(name)


def is_listed(name: str, text: str) -> bool:
    """Whether a list in this text has the name: not as a part of another one."""
    shown = listed_name(name)
    return any(f"{before} {shown}{behind}" in text for before in ":," for behind in ",]")


def _listed(blobs: Sequence[Blob]) -> str:
    """The uris behind the names of their tools: `read trimtab:…, trimtab:…; grep trimtab:…`."""
    by_tool: dict[str, list[str]] = {}
    for one in blobs:
        by_tool.setdefault(one.tool, []).append(one.uri)
    return "; ".join(f"{listed_name(tool)} " * bool(tool) + ", ".join(uris) for tool, uris in by_tool.items())


def _archived(one: Archived) -> str:
    kind = "" if one.kind in ("messages", "index") else f"{listed_name(one.kind)} "
    return f"{kind}{uri(one.id)}"
