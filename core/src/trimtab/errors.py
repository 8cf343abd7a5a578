"""Every error trimtab raises, split by whose fault it is.

::

    TrimtabError
    ├── CallerError            the application passed something that cannot be used
    │   ├── UnsupportedOutput  a tool output that is not JSON (has `.path`)
    │   ├── BadBudget          a budget that cannot be kept
    │   ├── PolicyError        an unreadable policy, an unknown key
    │   ├── PointerError       a JSON Pointer or pattern that cannot be followed
    │   ├── NotOurs            a uri that is not `trimtab:`
    │   ├── UnknownBlob        no row of this conversation names it
    │   ├── AmbiguousHandle    two allowed blobs begin with this handle (has `.ids`)
    │   ├── OutOfRange         a line, character or row past the end (has `.total`)
    │   ├── BadPattern         a search pattern that does not compile
    │   └── MissingExtra       an optional dependency is not installed (has `.extra`)
    ├── CompressFailed         a model's call of the compress or decompress tool changed nothing
    ├── SummaryFailed          no summary could be had; the history is served as it was
    ├── LeftWhole              an output stays whole, since it went out whole before
    ├── PluginError            a codec or plugin broke its contract
    │   ├── CodecError         (has `.tool`, `.pointer`)
    │   └── BrokenPlugin       it does not keep the rules of the hooks
    ├── EnvelopeError          a stored row that is damaged (has `.place`)
    └── StoreError             the blob store
        ├── LostBlob           named, but this store has not got it (has `.blob_id`)
        ├── DamagedBlob        stored bytes do not match their id (has `.blob_id`)
        └── StoreUnavailable   locked, full, unreadable: nothing was written

This module imports nothing of trimtab. Messages say what to do next and never
quote a whole document.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "AmbiguousHandle",
    "BadBudget",
    "BadPattern",
    "BrokenPlugin",
    "CallerError",
    "CodecError",
    "CompressFailed",
    "DamagedBlob",
    "EnvelopeError",
    "LeftWhole",
    "LostBlob",
    "MissingExtra",
    "NotOurs",
    "OutOfRange",
    "PluginError",
    "PointerError",
    "PolicyError",
    "StoreError",
    "StoreUnavailable",
    "SummaryFailed",
    "TrimtabError",
    "UnknownBlob",
    "UnsupportedOutput",
]


class TrimtabError(Exception):
    """Root of every error raised by trimtab."""


class CallerError(TrimtabError):
    """The application passed something that cannot be used; the message says how to mend it."""


class UnsupportedOutput(CallerError):
    """A tool output that is not a JSON value.

    `path` is the place in the output, as in `$[3].content`.
    """

    def __init__(self, what: str, *, path: str, fix: str) -> None:
        super().__init__(f"{what} (@ {path}); {fix}")
        self.path = path
        self.fix = fix


class BadBudget(CallerError, ValueError):
    """A budget whose numbers contradict one another or lie outside their bounds."""


class PolicyError(CallerError, ValueError):
    """A policy that cannot be read: unreadable file, unknown key, wrong type."""


class PointerError(CallerError, ValueError):
    """A JSON Pointer or pattern that is malformed or leads nowhere."""


class NotOurs(CallerError):
    """The uri does not begin with `trimtab:` or holds no handle of 16 to 32 hex digits."""


class UnknownBlob(CallerError):
    """No row of this conversation names the blob.

    Never says whether the blob exists for another owner.
    """


class AmbiguousHandle(CallerError):
    """Two allowed blobs begin with the handle; `ids` are their full ids, each readable as `trimtab:<id>`."""

    def __init__(self, handle: str, ids: Sequence[str]) -> None:
        full = " or ".join(f"trimtab:{blob_id}" for blob_id in ids)
        super().__init__(f"handle {handle} stands for more than one text; read {full}")
        self.ids = tuple(ids)


class OutOfRange(CallerError, ValueError):
    """A line, character or row beyond the text; `total` is how many there are."""

    def __init__(self, unit: str, asked: int, total: int) -> None:
        there = f"the text has {total} {unit}s; ask for 1 to {max(total, 1)}"
        if unit == "row" and not total:
            there = "the text is no list; read it by line or by char"
        if unit == "count":
            there = "it must be a whole number from 1"
        super().__init__(f"{unit} {asked} is out of range: {there}")
        self.unit = unit
        self.asked = asked
        self.total = total


class BadPattern(CallerError, ValueError):
    """A search pattern that does not compile."""


class MissingExtra(CallerError, ImportError):
    """An optional dependency is needed; `extra` is what to install."""

    def __init__(self, purpose: str, *, extra: str) -> None:
        super().__init__(f"{purpose} needs an optional dependency: pip install '{extra}'")
        self.extra = extra


class CompressFailed(TrimtabError):
    """A model's call of the compress or decompress tool changed nothing; the message is the text for the model."""


class SummaryFailed(TrimtabError):
    """No summary could be had: the summarizer raised, or replied with none. The history is served as it was."""


class LeftWhole(TrimtabError):
    """An output that went out whole before, because something failed, stays whole; the message says what failed."""


class PluginError(TrimtabError):
    """A codec or plugin broke its contract."""


class CodecError(PluginError):
    """A codec raised, or pointed at something that is not a string."""

    def __init__(self, what: str, *, tool: str, pointer: str | None = None) -> None:
        where = "" if pointer is None else f" (@ pointer {pointer!r})"
        super().__init__(f"codec for {tool!r}: {what}{where}")
        self.tool = tool
        self.pointer = pointer


class BrokenPlugin(PluginError):
    """A plugin that does not keep the rules of the hooks (a misspelt one, a taken name); a `cause` in `host.broken`."""


class EnvelopeError(TrimtabError):
    """A stored row that is damaged; `place` is the JSON Pointer of the fault inside the row."""

    def __init__(self, what: str, *, place: str) -> None:
        super().__init__(f"damaged row: {what} (@ {place:.200}); the row is left as it is, restore it from a backup")
        self.place = place


class StoreError(TrimtabError):
    """The blob store could not do what was asked."""


class LostBlob(StoreError):
    """A blob that a row names and this store does not hold, or not for this owner. (It never says which.)"""

    def __init__(self, blob_id: str) -> None:
        super().__init__(
            f"text trimtab:{blob_id} is not held here: pass the owner and open the store it was trimmed with; "
            "if it was collected, run the tool again"
        )
        self.blob_id = blob_id


class DamagedBlob(StoreError):
    """Stored bytes that do not match their id or checksum; never served."""

    def __init__(self, blob_id: str, what: str) -> None:
        super().__init__(
            f"stored text trimtab:{blob_id} is damaged: {what}; run `trimtab store verify`, restore a backup"
        )
        self.blob_id = blob_id


class StoreUnavailable(StoreError):
    """The store cannot be reached or written (locked, full, no permission); nothing was written."""
