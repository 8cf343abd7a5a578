"""`DurableCompactor`: folds between turns; the fold is stored, and served from there ever after."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, TypeVar

from attrs import evolve, field, frozen

from trimtab._json import blob_id
from trimtab.compaction.archive import Archive, archive_of
from trimtab.compaction.calling import Fold, arun, limit_of, run
from trimtab.compaction.chosen import Protocol, shape_named, summarizer_of
from trimtab.compaction.cuts import turns
from trimtab.compaction.estimate import Estimator
from trimtab.compaction.events import Due, due, metered
from trimtab.compaction.manifests import Retained, blobs_of, files_of, index_of, retained
from trimtab.compaction.prompt import Measured, Prompt, checked_rows, measured, prompt_of
from trimtab.compaction.record import NEWEST, Archived, FoldRecord, summary_text
from trimtab.compaction.repair import Repair, repaired
from trimtab.compaction.settings import Budgets, FoldSettings
from trimtab.compaction.summing import room_of, summary_of
from trimtab.compaction.types import Event, OnEvent, Row, Summarize
from trimtab.errors import CallerError, EnvelopeError, SummaryFailed
from trimtab.telemetry import log
from trimtab.types import BlobStore, Json

__all__ = ["DurableCompactor", "Served"]

T = TypeVar("T")

NO_WINDOW: Final = "no window is known that holds a prompt"


@frozen(kw_only=True)
class Served:
    """What is sent, and what is to be stored.

    Attributes:
        messages: for the request, in the protocol's own shape.
        record: to be stored in place of the one given; the same object where nothing was folded.
        event: `done` or `skipped` where a fold was due or no window is known; None where none was due.
        repairs: what was amiss in the history, and mended.
        retained: what the model may open: the rows that are served and those behind the fold.
    """

    messages: list[Json] = field(repr=False)
    record: FoldRecord | None
    event: Event | None
    repairs: tuple[Repair, ...] = ()
    retained: Retained = field(factory=Retained, repr=False)


@frozen(kw_only=True)
class _Plan:
    """A fold that is due: the prompt as it is now, its size, and what is to become of it."""

    rows: Sequence[Row] = field(repr=False)
    prompt: Prompt
    size: Measured
    budgets: Budgets
    estimator: Estimator


@frozen(kw_only=True)
class _Folded:
    """A fold that was made, and is not stored yet. `texts`: for the store, by blob id."""

    record: FoldRecord
    prompt: Prompt
    after: int
    messages: int
    texts: dict[str, str] = field(repr=False)


class DurableCompactor:
    """Folds the older rows of a conversation into a summary when the prompt gets too large, at most once a turn.

    It holds nothing of a conversation: what is served is a function of the rows, the record and the settings.
    """

    def __init__(
        self,
        protocol: Protocol,
        settings: FoldSettings,
        summarizer: str | Summarize | None = None,
        *,
        timeout: float | None = None,
        on_event: OnEvent | None = None,
        read_tool: str = "fs_read",
        file_tool: str = "read_file",
        store: BlobStore | None = None,
        owner: str | None = None,
    ) -> None:
        """Set one up.

        Args:
            protocol: its name, itself, or its shape.
            settings: of the turn.
            summarizer: the name of a built-in one, or any function of a `SummaryRequest`; None: the extractive one.
            timeout: seconds for each attempt of the summarizer's; None: none.
            on_event: is told of every event, as it happens.
            read_tool, file_tool: the names of the tools that read omitted texts and attached files; "": not offered.
            store: where folded rows are archived, word for word; None: they are not. Needs the read tool.
            owner: who holds the archive, as in `host.trim`.

        Raises:
            CallerError: an unknown protocol or summarizer; a time limit that is none; a store without an owner or
                without a read tool.
        """
        if store is not None and (not isinstance(owner, str) or not read_tool):
            raise CallerError("an archive needs an owner (owner=) and a tool that reads it (read_tool=)")
        self._shape = shape_named(protocol)
        self._settings = settings
        self._summarize = summarizer_of(summarizer)
        self._timeout = limit_of(timeout)
        self._on_event = on_event
        self._names = {"read_tool": read_tool, "file_tool": file_tool}
        self._store = store
        self._owner = owner or ""

    def serve(self, rows: Sequence[Row], record: FoldRecord | Sequence[FoldRecord] | None = None) -> Served:
        """What to send of these rows. A failing summarizer, or store, changes nothing: history is served as it was.

        Args:
            rows: the way from the conversation's beginning to its newest row, all of it, whatever was folded.
            record: what was stored of it; several where branches have one each: that which folds most of this way is
                used. One whose boundary is not among the rows folds nothing of them.

        Raises:
            CallerError: the summarizer is async; something in `rows` is no row, or two have one id; a record is none.
        """
        plan = self._plan(rows, record)
        if isinstance(plan, Served):
            return plan
        with due("durable", plan.size.tokens, self._on_event) as now:
            folded = run(metered(self._fold(plan, now), now), self._summarize, self._timeout)
            if folded is not None:
                self._settle(folded, now, self._put(folded))
        return self._answer(plan, now, folded, record)

    async def aserve(self, rows: Sequence[Row], record: FoldRecord | Sequence[FoldRecord] | None = None) -> Served:
        """As `serve`, also with an async summarizer. The store is written in a worker thread."""
        plan = self._plan(rows, record)
        if isinstance(plan, Served):
            return plan
        with due("durable", plan.size.tokens, self._on_event) as now:
            folded = await arun(metered(self._fold(plan, now), now), self._summarize, self._timeout)
            if folded is not None:
                self._settle(folded, now, await asyncio.to_thread(self._put, folded))
        return self._answer(plan, now, folded, record)

    def _plan(self, rows: Sequence[Row], record: FoldRecord | Sequence[FoldRecord] | None) -> _Plan | Served:
        """The fold that is due; what is served, where none is."""
        rows = checked_rows(rows)
        prompt = self._prompt(rows, record)
        budgets = self._settings.budgets()
        if budgets is None:
            log.warning("no durable fold: %s (windows=%r)", NO_WINDOW, self._settings.windows)
            return self._served(prompt, record, Event(kind="skipped", lane="durable", reason=NO_WINDOW))
        estimator = Estimator(self._settings)
        size = measured(prompt, estimator)
        if size.tokens <= budgets.trigger:
            return self._served(prompt, record, None)
        return _Plan(rows=rows, prompt=prompt, size=size, budgets=budgets, estimator=estimator)

    def _fold(self, plan: _Plan, now: Due) -> Fold[_Folded | None]:
        """The fold; None: it is skipped, and `now` knows why."""
        begin = self._boundary(plan)
        messages = [message for _, found in plan.prompt.rows[:begin] for message in found]
        if plan.size.of(plan.estimator.messages(messages)) <= plan.budgets.summary:
            now.skipped("nothing to fold: what is old enough takes no more room than a summary")
            return None
        before = plan.prompt.record
        try:
            blobs = blobs_of([row for row, _ in plan.prompt.rows[:begin]])
            summary = yield from summary_of(
                messages,
                None if before is None else before.summary,
                plan.budgets.summary,
                room_of(self._summarize, plan.budgets.window, plan.budgets.summary),
                plan.estimator,
            )
        except (EnvelopeError, SummaryFailed) as error:
            now.skipped(str(error), error)
            return None
        archive = None if self._store is None else archive_of(messages)
        folded = [row for row, _ in plan.prompt.rows[:begin]]
        record = FoldRecord(
            boundary=folded[-1].id,
            made_at=plan.rows[-1].id,
            summary=summary,
            files=_each([*(before.files if before else ()), *files_of(folded)]),
            blobs=_each([*(before.blobs if before else ()), *blobs]),
            archive=_each([*(before.archive if before else ()), *(archive.entries if archive else ())]),
        )
        texts: dict[str, str] = {}
        if archive is not None:
            record, texts = self._indexed(plan, record, archive)
        prompt = self._prompt(plan.rows, record)
        after = plan.size.of(plan.estimator.beside + plan.estimator.messages(prompt.messages))
        if after >= plan.size.tokens:
            now.skipped("the summary takes no less room than what it stands for")
            return None
        return _Folded(record=record, prompt=prompt, after=after, messages=len(messages), texts=texts)

    def _indexed(self, plan: _Plan, record: FoldRecord, archive: Archive) -> tuple[FoldRecord, dict[str, str]]:
        """The record, with an index where it names too many texts; and what is to be stored."""
        if len(record.blobs) <= NEWEST and len(record.archive) <= NEWEST:
            return record, dict(archive.blobs)
        ids = [row.id for row in plan.prompt.live]
        text = index_of(plan.prompt.live[: ids.index(record.boundary) + 1], record.archive)
        index = Archived(id=blob_id(text), chars=len(text), kind="index")
        return evolve(record, index=index), {**archive.blobs, index.id: text}

    def _boundary(self, plan: _Plan) -> int:
        """The first row that is kept: the earliest that begins a turn and from which on all fits; else the last one."""
        rows = [messages for _, messages in plan.prompt.rows]
        sizes = [plan.estimator.messages(messages) for messages in rows]
        rest = [0, *accumulate(reversed(sizes))][::-1]  # from each row on
        begins: list[int] = []
        for inside in (False, True):
            begins = turns(self._shape, rows, inside=inside)
            fitting = next((at for at in begins if plan.size.of(rest[at]) <= plan.budgets.keep), None)
            if fitting is not None:
                return fitting
        return begins[-1] if begins else 0

    def _put(self, folded: _Folded) -> Exception | None:
        """The archive goes into the store; what kept it from that, whatever a store of others raises."""
        if folded.texts and self._store is not None:
            try:
                self._store.put(folded.texts, owner=self._owner)
            except Exception as error:
                return error
        return None

    def _settle(self, folded: _Folded, now: Due, error: Exception | None) -> None:
        if error is not None:
            now.skipped(f"the archive could not be written: {type(error).__name__}: {error!s:.200}", error)
        else:
            now.done(after=folded.after, folded=folded.messages)

    def _prompt(self, rows: Sequence[Row], record: FoldRecord | Sequence[FoldRecord] | None) -> Prompt:
        known = [] if record is None else [record] if isinstance(record, FoldRecord) else record
        return prompt_of(self._shape, rows, known, lambda one: summary_text(one, **self._names))

    def _answer(
        self, plan: _Plan, now: Due, folded: _Folded | None, record: FoldRecord | Sequence[FoldRecord] | None
    ) -> Served:
        if folded is None or now.verdict is None or now.verdict.kind != "done":
            return self._served(plan.prompt, record, now.verdict)
        return self._served(folded.prompt, folded.record, now.verdict)

    def _served(self, prompt: Prompt, record: FoldRecord | Sequence[FoldRecord] | None, event: Event | None) -> Served:
        natives, repairs = repaired(self._shape, prompt.messages)
        used = prompt.record
        return Served(
            messages=self._shape.joined(natives),
            record=used if used is not None else record if isinstance(record, FoldRecord) else None,
            event=event,
            repairs=repairs,
            retained=retained(prompt.live, used),
        )


def _each(some: Iterable[T]) -> tuple[T, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(some))
