"""Rows as steps: render them, put outputs together again, and say which blobs they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from trimtab.envelope import BlobRef, read, warn_of_texts
from trimtab.errors import CallerError, LostBlob
from trimtab.host.engine import DEFAULT_OWNER
from trimtab.host.steps import Steps
from trimtab.older import inflate_old, read_old, render_old
from trimtab.render import inflated, inflating_ids, rendered, rendering_ids
from trimtab.telemetry import log, span
from trimtab.trimmed import Trimmed
from trimtab.types import AllowList, BlobStore, Json, Owner

__all__ = ["allow_list_steps", "inflate_steps", "render_steps"]

_ROWS: Final = "rows (t.row, or json.loads(t.row_text))"


def render_steps(row: Json, owner: Owner | None) -> Steps[Json]:
    """The prompt value of a row; anything that is not an envelope comes back as the same object."""
    envelope = read(row)
    if envelope is None:
        warn_of_texts([row])
        old = read_old(row)
        return row if old is None else render_old(old)
    wanted = rendering_ids(envelope)
    if not wanted:
        return envelope.skeleton
    with span("trimtab.render", {"gen_ai.tool.name": envelope.tool}) as recording:
        try:
            texts = yield _fetch(wanted, owner)
        except Exception as error:  # whatever a store of others raises: the skeleton can always be shown
            log.warning("%s: a row is shown with markers for its texts: %s", envelope.tool, error)
            recording.fail(error)
            return envelope.skeleton
        return rendered(envelope, texts)


def inflate_steps(row: Json, owner: Owner | None, old_blob: Callable[[str], str] | None) -> Steps[Json]:
    """The output of a row; anything that is not an envelope comes back as the same object.

    Raises:
        LostBlob: a text is not held for this owner.
        CallerError: a row of an older generation, and no `old_blob`.
    """
    envelope = read(row)
    if envelope is not None:
        wanted = inflating_ids(envelope)
        texts = (yield _fetch(wanted, owner)) if wanted else {}
        return inflated(envelope, texts)
    warn_of_texts([row])
    old = read_old(row)
    if old is None:
        return row
    if old_blob is None:
        raise CallerError("this row is of an older generation: pass old_blob=, a function of its file id to its text")
    return inflate_old(old, old_blob)


def allow_list_steps(rows: Iterable[Json], owner: Owner | None) -> Steps[AllowList]:
    """The blobs that rows name: held for this owner, or not. Never from the text of a marker.

    Raises:
        CallerError: `rows` is one row, or text, instead of a list of rows; or one of them is a `Trimmed`.
    """
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        raise CallerError(f"rows must be a list of {_ROWS}, not one {type(rows).__name__}")
    rows = list(rows)
    if any(isinstance(row, Trimmed) for row in rows):
        raise CallerError(f"rows must be a list of {_ROWS}, not of Trimmed")
    warn_of_texts(rows)
    named = {ref.blob_id for row in rows for ref in _refs(row)}
    held: set[str] = (yield lambda store: store.held(_owner(owner), named)) if named else set()
    return AllowList(held=held, lost=named - held)


def _refs(row: Json) -> Iterable[BlobRef]:
    envelope = read(row)
    return () if envelope is None else envelope.refs


def _owner(owner: Owner | None) -> Owner:
    return DEFAULT_OWNER if owner is None else owner


def _fetch(ids: Iterable[str], owner: Owner | None) -> Callable[[BlobStore], dict[str, str]]:
    def fetch(store: BlobStore) -> dict[str, str]:
        wanted = sorted(ids)
        held = store.held(_owner(owner), wanted)
        for one in wanted:
            if one not in held:
                raise LostBlob(one)
        return {one: store.get(one) for one in wanted}

    return fetch
