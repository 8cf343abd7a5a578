"""What stays readable behind a fold: attached files, and the texts that rows name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from attrs import field, frozen

from trimtab.compaction.stored.archive import archive_row, archived
from trimtab.compaction.stored.record import Blob, FoldRecord
from trimtab.compaction.types import Attachment, Row
from trimtab.envelope import BlobRef, Envelope, read
from trimtab.marker import HANDLE_DIGITS
from trimtab.pointer import locate
from trimtab.types import Json

__all__ = ["Retained", "blobs_of", "files_of", "retained"]


@frozen(kw_only=True)
class Retained:
    """What the model may open, by the rows as they are stored, folded ones too.

    All of it is named to the model, directly or in an index; without a store, where names have a bound, the newest.

    Attributes:
        files: attachments. The file tool opens these, and nothing else.
        outputs: what is stored of tool outputs, and a row of the archive's: for `host.allow_list`.
    """

    files: tuple[Attachment, ...] = ()
    outputs: tuple[Json, ...] = field(default=(), repr=False)


def retained(rows: Sequence[Row], record: FoldRecord | None) -> Retained:
    """What these rows retain. `rows`: those that are served or folded, not what was cleared or slid out."""
    archive = [archive_row(archived(record))] if record is not None and record.archive else []
    outputs = [output for row in rows for output in row.outputs]
    return Retained(files=tuple(files_of(rows)), outputs=(*outputs, *archive))


def files_of(rows: Iterable[Row]) -> list[Attachment]:
    """The attachments of these rows, in order, each once."""
    return list(dict.fromkeys(file for row in rows for file in row.attachments))


def blobs_of(rows: Iterable[Row]) -> list[Blob]:
    """The texts that were omitted in these rows' outputs, in order, each once. Raises EnvelopeError: a damaged row."""
    return [Blob.of(envelope.tool, uri, _shown(envelope, ref)) for uri, envelope, ref in _named(rows)]


def _named(rows: Iterable[Row]) -> list[tuple[str, Envelope, BlobRef]]:
    """The texts that rows name, in order, each once: the uri, and where it is named."""
    found: dict[str, tuple[Envelope, BlobRef]] = {}
    for row in rows:
        for output in row.outputs:
            if (envelope := read(output)) is not None:
                for ref in envelope.refs:
                    found.setdefault(ref.blob_id, (envelope, ref))
    sharing: defaultdict[str, int] = defaultdict(int)
    for blob_id in found:
        sharing[blob_id[:HANDLE_DIGITS]] += 1
    return [(f"trimtab:{_handle(blob_id, sharing)}", *where) for blob_id, where in found.items()]


def _shown(envelope: Envelope, ref: BlobRef) -> str:
    _, shown = locate(envelope.skeleton, ref.key)
    return shown if isinstance(shown, str) else ""


def _handle(blob_id: str, sharing: dict[str, int]) -> str:
    """Its first digits, or all where two texts have these."""
    short = blob_id[:HANDLE_DIGITS]
    return short if sharing[short] == 1 else blob_id
