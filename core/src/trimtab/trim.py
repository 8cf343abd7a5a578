"""The one primitive that shortens an output. No I/O: it gives the skeleton, the refs, and the texts to store.

The way: measure every bulk text as it will stand in the prompt, find the cap by water-filling, cut what is above it.
Nothing else in trimtab cuts text, in any lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from attrs import define, evolve, field, frozen

from trimtab._json import Escape, blob_id, canonical, escape, escaped_length, refuse_split_pair
from trimtab.budget import Budget, fill
from trimtab.codecs.find import BulkText, Found, splice
from trimtab.envelope import BlobRef
from trimtab.excerpt.build import Excerpt, bare, cut
from trimtab.focus import rank
from trimtab.marker import MARKER_MAX, MIN_MOVED
from trimtab.measure import Spelling
from trimtab.pointer import Path, resolve, to_pointer
from trimtab.types import Json, TokenCounter

__all__ = ["Kept", "Trimming", "prompt_text", "trim", "whole"]

# Scaling a cap by what a token count was over converges in two or three rounds; this bounds the odd counter.
_TOKEN_ROUNDS = 8

_INNER: tuple[Escape | None, ...] = (None, "utf8", "ascii")
_SPELLINGS = {(inner, outer): Spelling(inner, outer) for inner in _INNER for outer in (False, True)}


@frozen(kw_only=True)
class Kept:
    """What became of one bulk text, for `explain`: `why` is `fits`, `short`, `excerpt`, `marker` or `whole`."""

    key: str
    span: tuple[int, int] | None
    total_chars: int
    why: Literal["fits", "short", "excerpt", "marker", "whole"]
    cuts: tuple[tuple[int, int], ...] = ()
    passages: tuple[tuple[int, int], ...] = ()


@frozen(kw_only=True)
class Trimming:
    """What `trim` gives: the skeleton (the output itself when nothing moved), the texts by blob id, the refs."""

    skeleton: Json = field(repr=False)
    blobs: Mapping[str, str] = field(factory=dict, repr=False)
    over_budget: bool = False
    cap: int | None = None
    _refs: Callable[[], tuple[BlobRef, ...]] = field(default=tuple, repr=False, eq=False)
    _kept: Callable[[], tuple[Kept, ...]] = field(default=tuple, repr=False, eq=False)

    @property
    def moved(self) -> bool:
        """Whether anything was moved."""
        return bool(self.blobs)

    @cached_property
    def refs(self) -> tuple[BlobRef, ...]:
        """The refs of the moved texts in document order; worked out when asked."""
        return self._refs()

    @cached_property
    def kept(self) -> tuple[Kept, ...]:
        """What became of each bulk text; worked out when asked."""
        return self._kept()


def prompt_text(value: Json, *, plain: bool = False) -> str:
    """The value as it goes into a prompt: the string itself, or its canonical JSON."""
    return value if isinstance(value, str) else canonical(value, plain=plain)


@define
class _Part:
    """One bulk text with what it takes in the prompt; hash and passages are worked out once, when needed."""

    bulk: BulkText
    spelling: Spelling
    length: int
    """Code points in `t.text` while left alone; where it is above any possible cap, a lower bound."""

    hard: int | None = None
    """What it may take at most, in code points, however much room there is: the budget's `cap`."""

    _id: str | None = None
    _passages: list[tuple[int, int]] | None = None

    @property
    def id(self) -> str:
        if self._id is None:
            self._id = blob_id(self.bulk.text)
        return self._id

    def passages(self, focus: str) -> list[tuple[int, int]]:
        if self._passages is None:
            self._passages = [(one.start, one.end) for one in rank(self.bulk.text, focus)]
        return self._passages


@frozen
class _Composed:
    """A skeleton, the excerpts in it by index of their part, and the changes that made it."""

    skeleton: Json
    excerpts: Mapping[int, Excerpt]
    changes: Sequence[tuple[BulkText, str]]


@frozen
class _TokenCap:
    """What any one text may take in tokens, however much room there is: the budget's `cap`."""

    most: int
    counter: TokenCounter

    def count(self, part: _Part, spelt: str) -> int:
        """Tokens of what stands in a part's place."""
        return self.counter.count(escape(spelt, "utf8") if part.spelling.outer else spelt)

    def hard(self, part: _Part) -> int | None:
        """Code points to begin with for the part's excerpt; None: the text may stay."""
        if part.length < MIN_MOVED:
            return None
        source = part.bulk.source
        counted = self.count(part, part.spelling.spell(part.bulk.text) if source is None else source)
        return None if counted <= self.most else min(part.length - 1, part.length * self.most // counted)


@frozen
class _Job:
    """One output with its parts, ready to be composed at any cap."""

    output: Json
    parts: Sequence[_Part]
    media: Sequence[BulkText]
    reader: str | None
    focus: str | None
    plain: bool = False
    tokens: _TokenCap | None = None

    def frame(self) -> int:
        """Code points of the output with every movable text and media payload empty."""
        empty = self._without_media([(part.bulk, "") for part in self.parts if part.length >= MIN_MOVED])
        return len(prompt_text(empty, plain=self.plain))

    def lengths(self) -> list[int]:
        """What each movable text takes while left alone."""
        return [part.length for part in self.parts if part.length >= MIN_MOVED]

    def counted(self, composed: _Composed) -> str:
        """What is counted of a composed skeleton: its prompt text, media payloads empty."""
        counted = self._without_media(composed.changes) if self.media else composed.skeleton
        return prompt_text(counted, plain=self.plain)

    def _without_media(self, changes: Sequence[tuple[BulkText, str]]) -> Json:
        return splice(self.output, [*changes, *((one, "") for one in self.media)])

    def compose(self, cap: int | None) -> _Composed:
        """The skeleton in which each movable text longer than the cap is an excerpt of at most the cap."""
        bare_only = cap is not None and cap < MARKER_MAX
        excerpts: dict[int, Excerpt] = {}
        for index, part in enumerate(self.parts):
            most = 0 if bare_only else _least(cap, part.hard)
            if most is not None and part.length >= MIN_MOVED and part.length > most:
                excerpts[index] = self.capped(part, most)
        return self.with_excerpts(excerpts)

    def capped(self, part: _Part, most: int) -> Excerpt:
        """The excerpt of one text that takes at most `most` code points, and no more tokens than one text may.

        Fewer code points can be more tokens, and an excerpt may be spelt otherwise than its text: each is counted.
        """
        for _ in range(_TOKEN_ROUNDS):
            excerpt = self.excerpt(part, most)
            if self.tokens is None or most < MARKER_MAX:
                return excerpt
            counted = self.tokens.count(part, part.spelling.spell(excerpt.text))
            if counted <= self.tokens.most:
                return excerpt
            most = min(most - 1, most * self.tokens.most // counted)
        return self.excerpt(part, 0)

    def with_excerpts(self, excerpts: Mapping[int, Excerpt]) -> _Composed:
        """The skeleton with these excerpts in the place of their texts."""
        changes = [(self.parts[i].bulk, self.parts[i].spelling.spell(one.text)) for i, one in excerpts.items()]
        return _Composed(splice(self.output, changes), excerpts, changes)

    def excerpt(self, part: _Part, cap: int) -> Excerpt:
        """The excerpt of one text that takes at most `cap` code points."""
        passages = (lambda: part.passages(self.focus or "")) if self.focus else None
        return cut(part.bulk.text, cap, part.spelling, self.reader, part.id, passages)


def trim(
    output: Json,
    found: Found,
    *,
    budget: Budget,
    counter: TokenCounter,
    reader: str | None,
    focus: str | None = None,
    plain: bool = False,
    tokens: int | None = None,
) -> Trimming:
    """Shorten an output to its budget.

    Args:
        output: a JSON value or a string, checked already.
        found: its bulk texts and media payloads.
        reader: name of the read-back tool for the markers; None: markers without a handle.
        focus: what the excerpts should answer, or None.
        plain: what `check` said of the output.
        tokens: of the output, where they were counted already.

    Raises:
        UnsupportedOutput: what would stay in the skeleton cannot be written as JSON.
    """
    # A text longer than any cap needs no exact length, as long as the sum is above the limit without it.
    widest = max(budget.keep, budget.cap or 0) if budget.unit == "chars" else None
    job = _Job(output, [_measure(output, bulk, widest) for bulk in found.texts], found.media, reader, focus, plain)
    frame = job.frame()
    if widest is not None and frame + sum(job.lengths()) <= budget.limit:
        job = _Job(output, [_measure(output, bulk, None) for bulk in found.texts], found.media, reader, focus, plain)
    lengths = job.lengths()
    total = frame + sum(lengths)
    if budget.unit == "tokens":
        return _by_tokens(job, budget, counter, frame, lengths, None if found.media else tokens)
    cap = fill(frame, lengths, budget.keep) if total > budget.limit else None
    for part in job.parts:
        part.hard = budget.cap
    composed = job.compose(cap)
    over = total > budget.limit and len(job.counted(composed)) > budget.keep
    return _finish(job, composed, _least(cap, budget.cap), over)


def _by_tokens(
    job: _Job, budget: Budget, counter: TokenCounter, frame: int, lengths: Sequence[int], counted: int | None
) -> Trimming:
    """Fill in chars by the output's own ratio, count, scale the cap by what it was over."""
    text = job.counted(job.compose(None))
    tokens = counter.count(text) if counted is None else counted
    chars = max(len(text), 1)
    if budget.cap is not None:
        tokens_cap = _TokenCap(budget.cap, counter)
        job = evolve(job, tokens=tokens_cap)
        for part in job.parts:
            part.hard = tokens_cap.hard(part)
    if tokens <= budget.limit:
        return _finish(job, job.compose(None), None, over_budget=False)
    filled = fill(frame, lengths, budget.keep * chars // tokens)
    cap = max(lengths, default=0) if filled is None else filled
    for _ in range(_TOKEN_ROUNDS):
        composed = job.compose(cap)
        count = counter.count(job.counted(composed))
        if count <= budget.keep:
            return _finish(job, composed, cap, over_budget=False)
        if cap < MARKER_MAX:
            break
        cap = cap * budget.keep // count  # less than it was, since count is above keep
    composed = job.compose(0)
    return _finish(job, composed, 0, over_budget=counter.count(job.counted(composed)) > budget.keep)


def _least(cap: int | None, hard: int | None) -> int | None:
    return hard if cap is None else cap if hard is None else min(cap, hard)


def _finish(job: _Job, composed: _Composed, cap: int | None, over_budget: bool, *, is_whole: bool = False) -> Trimming:
    """What was composed, with its refs and texts, and what became of each text."""
    if isinstance(composed.skeleton, str):
        refuse_split_pair(composed.skeleton)
    blobs: dict[str, str] = {}
    for index in composed.excerpts:
        part = job.parts[index]
        blobs[part.id] = part.bulk.text
        if part.bulk.source is not None:
            blobs[blob_id(part.bulk.source)] = part.bulk.source
    return Trimming(
        skeleton=composed.skeleton,
        refs=lambda: _refs(job, composed, is_whole),
        blobs=blobs,
        over_budget=over_budget,
        cap=cap,
        kept=lambda: tuple(
            _kept(job, index, composed.excerpts.get(index), is_whole) for index in range(len(job.parts))
        ),
    )


def whole(output: Json, found: Found, reader: str | None) -> Trimming:
    """For a read-back tool's output: every text from 256 chars moved, to be put back by `render`.

    The skeleton is for the row; the prompt shows the output itself.

    Raises:
        UnsupportedOutput: one of the two cannot be written as JSON.
    """
    if not isinstance(output, str):
        canonical(output)
    parts = [_Part(bulk, _spelling(output, bulk), len(bulk.text)) for bulk in found.texts]
    excerpts = {
        index: bare(len(part.bulk.text), reader, part.id)
        for index, part in enumerate(parts)
        if len(part.bulk.text) >= MIN_MOVED
    }
    job = _Job(output, parts, (), reader, None)
    return _finish(job, job.with_excerpts(excerpts), None, over_budget=False, is_whole=True)


def _spelling(output: Json, bulk: BulkText) -> Spelling:
    inner: Escape | None = None
    if bulk.span is not None:
        inner = "ascii" if bulk.esc == "ascii" else "utf8"
    return _SPELLINGS[inner, not isinstance(output, str)]


def _measure(output: Json, bulk: BulkText, widest: int | None) -> _Part:
    """The part with its length in the prompt; a text above `widest` needs no exact one, since no cap reaches it."""
    spelling = _spelling(output, bulk)
    if bulk.span is None:
        raw = len(bulk.text)
        exact = raw if not spelling.outer or (widest is not None and raw > widest) else escaped_length(bulk.text)
        return _Part(bulk, spelling, exact)
    start, end = bulk.span
    if not spelling.outer or (widest is not None and end - start > widest):
        return _Part(bulk, spelling, end - start)
    return _Part(bulk, spelling, escaped_length(resolve(output, bulk.path)[start:end]))


def _final_spans(job: _Job, composed: _Composed) -> dict[int, tuple[int, int]]:
    """Where each excerpt inside JSON text stands in the skeleton's string, by index of its part."""
    spans: dict[int, tuple[int, int]] = {}
    shift: dict[Path, int] = {}
    for index in sorted(composed.excerpts, key=lambda one: job.parts[one].bulk.span or (0, 0)):
        part = job.parts[index]
        if part.bulk.span is None:
            continue
        start, end = part.bulk.span
        moved = shift.get(part.bulk.path, 0)
        length = len(part.spelling.spell(composed.excerpts[index].text))
        spans[index] = (start + moved, start + moved + length)
        shift[part.bulk.path] = moved + length - (end - start)
    return spans


def _refs(job: _Job, composed: _Composed, is_whole: bool) -> tuple[BlobRef, ...]:
    spans = _final_spans(job, composed)
    return tuple(
        BlobRef(
            key=to_pointer(part.bulk.path),
            blob_id=part.id,
            total_chars=len(part.bulk.text),
            cuts=excerpt.cuts,
            span=spans.get(index),
            esc=part.bulk.esc,
            source_id=None if part.bulk.source is None else blob_id(part.bulk.source),
            whole=is_whole,
        )
        for index, part, excerpt in ((index, job.parts[index], one) for index, one in composed.excerpts.items())
    )


def _kept(job: _Job, index: int, excerpt: Excerpt | None, is_whole: bool) -> Kept:
    part = job.parts[index]
    why: Literal["fits", "short", "excerpt", "marker", "whole"]
    if excerpt is None:
        why = "fits" if part.length >= MIN_MOVED else "short"
    elif is_whole:
        why = "whole"
    else:
        why = "marker" if excerpt.cuts == ((1, len(part.bulk.text)),) else "excerpt"
    return Kept(
        key=to_pointer(part.bulk.path),
        span=part.bulk.span,
        total_chars=len(part.bulk.text),
        why=why,
        cuts=() if excerpt is None else excerpt.cuts,
        passages=tuple(part.passages(job.focus)) if why == "excerpt" and job.focus else (),
    )
