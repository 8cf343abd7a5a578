"""What stays readable behind a fold: attached files, and the texts that rows name."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab.compaction.types import Attachment, Row
from trimtab.envelope import read
from trimtab.marker import HANDLE_DIGITS

__all__ = ["blobs_of", "files_of"]


def files_of(rows: Iterable[Row]) -> list[Attachment]:
    """The attachments of these rows, in order, each once."""
    return list(dict.fromkeys(file for row in rows for file in row.attachments))


def blobs_of(rows: Iterable[Row]) -> list[str]:
    """The uris of texts that were omitted in these rows' outputs, in order, each once."""
    envelopes = (envelope for row in rows for output in row.outputs if (envelope := read(output)) is not None)
    handles = (ref.blob_id[:HANDLE_DIGITS] for envelope in envelopes for ref in envelope.refs)
    return [f"trimtab:{handle}" for handle in dict.fromkeys(handles)]
