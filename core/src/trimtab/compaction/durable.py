"""`DurableCompactor`: folds between turns; the fold is stored, and served from there ever after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TypeAlias, TypeVar

from attrs import evolve, field, frozen

from trimtab.compaction.asking.calling import Asking
from trimtab.compaction.asking.portions import room_of, summary_of
from trimtab.compaction.chosen import Protocol, shape_named
from trimtab.compaction.cuts import turns
from trimtab.compaction.events import Due, without_window
from trimtab.compaction.folding import Folding, Made
from trimtab.compaction.measuring.estimate import Estimator, Measured
from trimtab.compaction.prompt import Prompt, checked_rows, measured, prompt_of
from trimtab.compaction.repair import Repair, repaired
from trimtab.compaction.settings import Budgets, FoldSettings, checked_settings
from trimtab.compaction.stored.archive import Archiver
from trimtab.compaction.stored.manifests import Retained, blobs_of, files_of, retained
from trimtab.compaction.stored.memo import Memo, checked_memo, is_summary, with_memo
from trimtab.compaction.stored.record import FoldRecord, summary_text
from trimtab.compaction.types import Event, OnEvent, Row, Summarize
from trimtab.errors import EnvelopeError, SummaryFailed
from trimtab.types import BlobStore, Json
from trimtab.wire.histories import Message

__all__ = ["DurableCompactor", "Served"]

T = TypeVar("T")

Records: TypeAlias = FoldRecord | Sequence[FoldRecord | None] | None


@frozen(kw_only=True)
class Served:
    """What is sent, and what is to be stored.

    Attributes:
        messages: for the request, in the protocol's own shape; where `memo` holds a fold, for `LoopCompactor.step`,
            which sends them as the memo leaves them.
        record: to be stored in place of the one given; the same object where nothing was folded. Of several given, the
            one that is used; None: none of them folds anything of these rows.
        event: `done` or `skipped` where a fold was due or no window is known; None where none was due.
        memo: what is left of the folds inside earlier turns; for the first step of this one.
        repairs: what was amiss in the history, and mended.
        retained: what the model may open: the rows that are served and those behind the fold.
    """

    messages: list[Json] = field(repr=False)
    record: FoldRecord | None
    event: Event | None
    memo: Memo = field(factory=Memo, repr=False)
    repairs: tuple[Repair, ...] = ()
    retained: Retained = field(factory=Retained, repr=False)


@frozen(kw_only=True)
class _Plan:
    """A fold that is due: the prompt as it is now, its size, and what is to become of it. `served`: if it is not."""

    rows: Sequence[Row] = field(repr=False)
    prompt: Prompt
    served: Served
    messages: Sequence[Message] = field(repr=False)
    size: Measured
    budgets: Budgets
    estimator: Estimator


@frozen(kw_only=True)
class _Folded(Made):
    """A fold, and the prompt with it."""

    record: FoldRecord
    prompt: Prompt


class DurableCompactor:
    """Folds the older rows of a conversation into a summary when the prompt gets too large, at most once a turn.

    It holds nothing of a conversation: what is served is a function of rows, record, memo, settings and tool names.
    """

    def __init__(
        self,
        protocol: Protocol,
        settings: FoldSettings,
        summarizer: Summarize | None = None,
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
            summarizer: any function of a `SummaryRequest`, or `host.summarizer()`; None: the extractive one.
            timeout: seconds for each attempt of the summarizer's; None: none.
            on_event: is told of every fold that is due, as it happens: a plain function.
            read_tool, file_tool: the names of the tools that read omitted texts and attached files; "": not offered.
            store: where folded rows are archived, word for word; None: they are not. Needs the read tool.
            owner: who holds the archive, as in `host.trim`.

        Raises:
            CallerError: an unknown protocol; a summarizer or a time limit that is none; a store without an owner or
                without a read tool.
        """
        self._shape = shape_named(protocol)
        self._settings = checked_settings(settings)
        self._names = {"read_tool": read_tool, "file_tool": file_tool}
        self._archiver = Archiver(store, owner, read_tool)
        self._folding = Folding("durable", summarizer, timeout=timeout, on_event=on_event, archiver=self._archiver)

    def serve(self, rows: Iterable[Row], record: Records = None, memo: Memo | None = None) -> Served:
        """What to send of these rows. A failing summarizer, or store, changes nothing: history is served as it was.

        Args:
            rows: the way from the conversation's beginning to its newest row, all of it, whatever was folded.
            record: what was stored of it; several where branches have one each: that which folds most of this way is
                used. One whose boundary is not among the rows folds nothing of them.
            memo: of the last step of the turn before: what was folded then stays folded, until a fold here takes it up.
                One that is of other messages is dropped.

        Raises:
            CallerError: the summarizer is async; something in `rows` is no row, or two have one id; a record is none.
        """
        plan = self._plan(rows, record, memo)
        if isinstance(plan, Served):
            return plan
        return self._answer(plan, *self._folding.run(plan.size.tokens, lambda now: self._fold(plan, now)))

    async def aserve(self, rows: Iterable[Row], record: Records = None, memo: Memo | None = None) -> Served:
        """As `serve`, also with an async summarizer. The store is written in a worker thread."""
        plan = self._plan(rows, record, memo)
        if isinstance(plan, Served):
            return plan
        return self._answer(plan, *await self._folding.arun(plan.size.tokens, lambda now: self._fold(plan, now)))

    def _plan(self, rows: Iterable[Row], record: Records, memo: Memo | None) -> _Plan | Served:
        """The fold that is due; what is served, where none is."""
        rows = checked_rows(rows)
        prompt = self._prompt(rows, record)
        served = self._served(prompt, None)
        if prompt.record is None and isinstance(record, FoldRecord):
            served = evolve(served, record=record)
        budgets = self._settings.budgets()
        messages = self._shape.read(served.messages)
        if memo is not None and checked_memo(memo).fold is not None and memo.fits(messages):
            served = _with_memo(served, memo)
        if budgets is None:
            return evolve(served, event=without_window("durable", self._settings))
        estimator = Estimator(self._settings)
        size = measured(prompt, estimator)
        if served.memo.fold is not None:  # what a provider has counted since was not of these rows
            sent = with_memo(self._shape, messages, served.memo, self._names)
            size = Measured(tokens=estimator.beside + estimator.messages(sent))
        if size.tokens <= budgets.trigger:
            return served
        return _Plan(
            rows=rows,
            prompt=prompt,
            served=served,
            messages=messages,
            size=size,
            budgets=budgets,
            estimator=estimator,
        )

    def _fold(self, plan: _Plan, now: Due) -> Asking[_Folded | None]:
        """The fold; None: it is skipped, and `now` knows why."""
        begin = self._boundary(plan)
        told, prior = self._told(plan, begin)
        room = plan.estimator.messages(told) + plan.estimator.text(plan.served.memo.summary)
        if not begin or plan.size.of(room) <= plan.budgets.summary:
            now.skipped("nothing to fold: what is old enough takes no more room than a summary")
            return None
        folded = [row for row, _ in plan.prompt.rows[:begin]]
        try:
            blobs = blobs_of(folded)
            taken = room_of(self._folding.summarize, plan.budgets.window, plan.budgets.summary)
            summary = yield from summary_of(told, prior, taken, plan.estimator)
        except (EnvelopeError, SummaryFailed) as error:
            now.skipped(str(error), error)
            return None
        before = plan.prompt.record or FoldRecord(boundary="", made_at="", summary="")
        messages = [message for _, found in plan.prompt.rows[:begin] for message in found]
        record = evolve(
            before,
            boundary=folded[-1].id,
            made_at=plan.rows[-1].id,
            summary=summary,
            files=_each([*before.files, *files_of(folded)]),
            blobs=_each([*before.blobs, *blobs]),
        )
        record, texts = self._archiver.archived(record, messages, plan.budgets, plan.estimator)
        return self._measured(plan, record, len(messages), texts, now)

    def _measured(
        self, plan: _Plan, record: FoldRecord, messages: int, texts: dict[str, str], now: Due
    ) -> _Folded | None:
        """A fold with what it leaves; None: it leaves no less than there was."""
        prompt = self._prompt(plan.rows, record)
        after = plan.size.of(plan.estimator.beside + plan.estimator.messages(prompt.messages))
        if after >= plan.size.tokens:
            now.skipped("the summary takes no less room than what it stands for")
            return None
        most = plan.budgets.trigger
        reason = f"the prompt cannot be brought below {most:,} tokens by folding" if after > most else ""
        return _Folded(record=record, prompt=prompt, after=after, folded=messages, reason=reason, texts=texts)

    def _told(self, plan: _Plan, begin: int) -> tuple[Sequence[Message], str | None]:
        """What a summarizer is told of the first rows, and the summary of what came before. What was folded inside a
        turn it is not told again.
        """
        prior = None if plan.prompt.record is None else plan.prompt.record.summary
        memo = plan.served.memo
        rest = [message.native for _, found in plan.prompt.rows[begin:] for message in found]
        end = len(plan.messages) - len(rest)
        same = zip(plan.messages[end:], rest, strict=True)
        if memo.fold is not None and end >= memo.consumed and all(one.native is native for one, native in same):
            # With no record it is no fold's, whatever it looks like: the turn sent it, and told nobody.
            sent = [plan.messages[at] for at in memo.kept if prior is None and is_summary(plan.messages[at])]
            return [*sent, *plan.messages[memo.consumed : end]], "\n\n".join(filter(None, (prior, memo.summary)))
        return [message for _, found in plan.prompt.rows[:begin] for message in found], prior

    def _boundary(self, plan: _Plan) -> int:
        """The first row that is kept: the earliest that begins a turn and from which on all fits; else the last one."""
        rows = [messages for _, messages in plan.prompt.rows]
        sizes = [plan.estimator.messages(messages) for messages in rows]
        rest = [0, *accumulate(reversed(sizes))][::-1]  # from each row on
        system = (one for one in plan.prompt.messages if one.role == "system")
        fixed = plan.estimator.beside + plan.estimator.messages(system)
        keep = plan.budgets.kept(plan.size.of(fixed))
        begins: list[int] = []
        for inside in (False, True):
            begins = turns(self._shape, rows, inside=inside)
            fitting = next((at for at in begins if plan.size.of(rest[at]) <= keep), None)
            if fitting is not None:
                return fitting
        return begins[-1] if begins else 0

    def _prompt(self, rows: Sequence[Row], record: Records) -> Prompt:
        known = [] if record is None else [record] if isinstance(record, FoldRecord) else record
        return prompt_of(self._shape, rows, known, lambda one: summary_text(one, **self._names))

    def _answer(self, plan: _Plan, folded: _Folded | None, now: Due) -> Served:
        """What is served now."""
        if folded is None:
            return evolve(plan.served, event=now.verdict)
        return self._served(folded.prompt, now.verdict)

    def _served(self, prompt: Prompt, event: Event | None) -> Served:
        natives, repairs = repaired(self._shape, prompt.messages)
        return Served(
            messages=self._shape.joined(natives),
            record=prompt.record,
            event=event,
            repairs=repairs,
            retained=retained(prompt.live, prompt.record),
        )


def _with_memo(served: Served, memo: Memo) -> Served:
    """The same, as a memo of the turn before leaves it. What could not be folded in that turn is tried again."""
    kept = served.retained
    outputs = (*kept.outputs, *retained((), memo.fold).outputs)
    return evolve(served, memo=evolve(memo, fruitless=0), retained=evolve(kept, outputs=outputs))


def _each(some: Iterable[T]) -> tuple[T, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(some))
