"""Values and protocols that every floor shares: outputs, owners, pages, stores, counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen

__all__ = [
    "ALL",
    "AllowList",
    "BlobFault",
    "BlobSize",
    "BlobStore",
    "Call",
    "Citation",
    "Codec",
    "Collected",
    "Everything",
    "GrepResult",
    "Json",
    "Match",
    "Owner",
    "Page",
    "StoreStats",
    "TextSource",
    "TokenCounter",
]

# A JSON value: None, bool, int, float, str, list, dict with str keys. What comes in from outside is
# checked once, at the door (`_json.check`), and never again: hence no recursive union here.
Json: TypeAlias = Any

Codec: TypeAlias = Callable[[Json], Iterable[str] | None]
"""`codec(output)` gives the JSON Pointers of its bulk strings, or None: not this codec's shape."""


class Everything:
    """The type of `ALL`: every owner, every blob. For operators, never for a model's call."""

    _instance: Everything | None = None

    def __new__(cls) -> Everything:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "ALL"

    def __reduce__(self) -> str:
        return "ALL"


ALL: Final = Everything()

Owner: TypeAlias = str | Everything
"""Who holds blobs: a conversation or message id of the application's, or `ALL` (operators, reading only)."""


def _ids(values: Iterable[str]) -> frozenset[str]:
    return frozenset(values)


@frozen(kw_only=True)
class AllowList:
    """Blob ids (32 hex digits) that a conversation's rows name.

    `held`: the store holds them for this owner, so they can be read. `lost`: named, but not held.
    """

    held: frozenset[str] = field(converter=_ids, default=())
    lost: frozenset[str] = field(converter=_ids, default=())


@frozen
class Call:
    """One tool call and its output, for `trim_batch`."""

    tool: str
    output: Json = field(repr=False)
    arguments: Json = field(default=None, kw_only=True)
    focus: str | None = field(default=None, kw_only=True)


@frozen(kw_only=True)
class Citation:
    """One source that a tool output offers. `snippet`: its visible beginning, up to 1,000 chars."""

    id: str
    url: str
    title: str
    snippet: str


@frozen(kw_only=True)
class Page:
    """A slice of a stored text, exactly as stored.

    Lines and chars are 1-based and inclusive; chars are code points. An empty page has
    `end_char == start_char - 1`. `next_line` is where the next page begins when this one ends at a
    line's end; `next_char` when there is more. A page that had to stop inside a line has `next_char`
    and no `next_line`. `truncated`: there is text after this page.
    """

    text: str
    start_line: int
    end_line: int
    start_char: int
    end_char: int
    total_lines: int
    total_chars: int
    next_line: int | None
    next_char: int | None
    truncated: bool


@frozen(kw_only=True)
class Match:
    """One matching line: its 1-based number, its text without the line end, the char where it begins."""

    line: int
    char: int
    text: str


@frozen(kw_only=True)
class GrepResult:
    """Matching lines in order; iterating over it gives each `Match`.

    `stopped`: why the search ended before the text did ("time", "matches"), else None; then `next_line` is where to
    search on, and None at the text's end. It is always behind the line where the search began: one that alone takes all
    the time is passed over, and is `unsearched`, since what is left of it was not looked at; else None.
    """

    matches: tuple[Match, ...]
    total_lines: int
    stopped: Literal["time", "matches"] | None = None
    next_line: int | None = None
    unsearched: int | None = None

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)


@frozen(kw_only=True)
class BlobSize:
    """Of one blob: code points, lines (ended by a newline only), bytes of its UTF-8."""

    chars: int
    lines: int
    bytes: int


class TextSource(Protocol):
    """A text that is read page by page: a blob, a file. Lines and chars are 1-based; only a newline ends a line."""

    @property
    def size(self) -> BlobSize:
        """Of the whole text."""
        ...

    def slice(self, first: int, last: int) -> str:
        """Chars `first` to `last` (inclusive, clipped to the text), reading only what they touch."""
        ...

    def line_start(self, line: int) -> int:
        """The char at which `line` begins; for a line past the last, `chars + 1`."""
        ...

    def line_at(self, char: int) -> int:
        """The line that holds `char` (a line's end belongs to it); past the end, the last line."""
        ...


@frozen(kw_only=True)
class BlobFault:
    """What `verify` found wrong with one blob or hold."""

    place: str
    what: str


@frozen(kw_only=True)
class Collected:
    """What `collect` deleted: number of blobs, and the bytes they took in the store."""

    blobs: int
    bytes: int


@frozen(kw_only=True)
class StoreStats:
    """Totals of a store: blobs, their chars and UTF-8 bytes, bytes taken in the store, owners, holds."""

    blobs: int
    chars: int
    bytes: int
    stored_bytes: int
    owners: int
    holds: int
    unheld: int


@runtime_checkable
class BlobStore(Protocol):
    """Where full texts live. Contract: `trimtab.testing.StoreContract`.

    A blob id is the first 32 hex digits of the SHA-256 of the text's UTF-8 (`surrogatepass`).
    Text in = text out: CRLF, NUL, U+2028 and lone surrogates included. Methods are safe to call from
    several threads and processes at once.
    """

    def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
        """Store texts by id and hold them for `owner`, all or nothing; a text already there is kept.

        Raises:
            CallerError: not a blob id, not a text, not an owner; nothing was stored. A text whose id is another's is
                refused here or is `DamagedBlob` when it is read: it is never served.
            StoreUnavailable: nothing was stored and nothing is held that was not before.
        """
        ...

    def get(self, blob_id: str) -> str:
        """The whole text.

        Raises:
            LostBlob: not in this store.
            DamagedBlob: stored bytes do not match the id.
        """
        ...

    def has(self, blob_id: str) -> bool:
        """Whether the text is in this store, whoever holds it."""
        ...

    def size(self, blob_id: str) -> BlobSize:
        """Its size, without reading it all. Raises LostBlob, DamagedBlob."""
        ...

    def slice(self, blob_id: str, first: int, last: int) -> str:
        """Chars `first` to `last` (1-based, inclusive, clipped to the text), reading only what they touch."""
        ...

    def lines(self, blob_id: str, first: int, last: int) -> str:
        """Lines `first` to `last` (1-based, inclusive, clipped), line ends included."""
        ...

    def line_start(self, blob_id: str, line: int) -> int:
        """The 1-based char at which 1-based `line` begins; for `line` past the last, `chars + 1`."""
        ...

    def line_at(self, blob_id: str, char: int) -> int:
        """The 1-based line that holds 1-based `char` (a line's end belongs to it); past the end, the last line."""
        ...

    def hold(self, owner: str, ids: Iterable[str]) -> None:
        """Hold blobs that are stored already. Raises LostBlob for one that is not; then none is held."""
        ...

    def release(self, owner: str) -> None:
        """Let go of everything `owner` holds. Deletes nothing; an unknown owner is no error."""
        ...

    def held(self, owner: Owner, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that are stored and held for `owner` (`ALL`: stored at all)."""
        ...

    def find(self, owner: Owner, handles: Iterable[str]) -> dict[str, list[str]]:
        """For each handle (16 to 32 hex digits): ids that begin with it and are held for `owner`, ascending."""
        ...

    def collect(self, grace: float) -> Collected:
        """Delete blobs that no owner holds and that were last put or held `grace` seconds ago or earlier.

        Raises:
            StoreUnavailable: what is held is not known; nothing was deleted.
        """
        ...

    def stats(self) -> StoreStats:
        """Totals."""
        ...

    def verify(self) -> Iterable[BlobFault]:
        """Read everything; yield what is damaged. Raises nothing for a damaged blob."""
        ...

    def ids(self) -> Iterable[str]:
        """Every blob id, ascending."""
        ...

    def close(self) -> None:
        """Release connections and files. Calling it twice is no error."""
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens. `name` and `version` are part of a budget: the same pair must always count the same."""

    @property
    def name(self) -> str:
        """As the policy names it, e.g. `estimate`, `o200k`."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever any count could."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text`; 0 for the empty text."""
        ...
