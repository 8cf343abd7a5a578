"""`DurableCompactor`: folds between turns; the fold is stored, and served from there ever after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from trimtab.compaction.calling import Fold, arun, run
from trimtab.compaction.estimate import Estimator
from trimtab.compaction.manifests import blobs_of, files_of
from trimtab.compaction.record import FoldRecord, summary_text
from trimtab.compaction.repair import Repair, repaired
from trimtab.compaction.settings import Budgets, FoldSettings
from trimtab.compaction.summing import room_of, summary_of
from trimtab.compaction.types import Event, Row, Summarize
from trimtab.errors import SummaryFailed
from trimtab.telemetry import log
from trimtab.types import Json
from trimtab.wire.histories import Message, Shape, is_prompt

__all__ = ["DurableCompactor", "Served"]


@frozen(kw_only=True)
class Served:
    """What is sent, and what is to be stored.

    Attributes:
        messages: for the request, in the protocol's own shape.
        record: to be stored in place of the one given; the same object where nothing was folded.
        event: `done` or `skipped` where a fold was due; None where none was.
        repairs: calls and results that had lost each other.
    """

    messages: list[Json] = field(repr=False)
    record: FoldRecord | None
    event: Event | None
    repairs: tuple[Repair, ...] = ()


@frozen(kw_only=True)
class _Prompt:
    """The conversation as a record leaves it: what is served before the rows, and the rows."""

    record: FoldRecord | None
    opening: list[Message]
    rows: list[tuple[Row, tuple[Message, ...]]]

    @property
    def messages(self) -> list[Message]:
        """All messages."""
        return [*self.opening, *(message for _, messages in self.rows for message in messages)]


class DurableCompactor:
    """Folds the older rows of a conversation into a summary when the prompt gets too large, at most once a turn."""

    def __init__(
        self,
        shape: Shape,
        settings: FoldSettings,
        summarize: Summarize,
        *,
        timeout: float | None = None,
        on_event: Callable[[Event], None] | None = None,
        read_tool: str = "fs_read",
        file_tool: str = "read_file",
    ) -> None:
        """Set one up.

        Args:
            shape: of the protocol (`protocol.history`).
            settings: of the turn.
            summarize: the summarizer.
            timeout: seconds for each attempt; None: none.
            on_event: is told of every event, as it happens.
            read_tool, file_tool: the names of the tools that read omitted texts and attached files; "": not offered.
        """
        self._shape = shape
        self._settings = settings
        self._summarize = summarize
        self._timeout = timeout
        self._on_event = on_event or (lambda event: None)
        self._names = {"read_tool": read_tool, "file_tool": file_tool}

    def serve(self, rows: Sequence[Row], record: FoldRecord | None = None) -> Served:
        """What to send of these rows. A failing summarizer changes nothing: the history is served as it was."""
        return run(self._serve(rows, record), self._summarize, self._timeout)

    async def aserve(self, rows: Sequence[Row], record: FoldRecord | None = None) -> Served:
        """As `serve`, also with an async summarizer."""
        return await arun(self._serve(rows, record), self._summarize, self._timeout)

    def _serve(self, rows: Sequence[Row], record: FoldRecord | None) -> Fold[Served]:
        prompt = self._prompt(rows, record)
        budgets = self._settings.budgets()
        if budgets is None:
            log.warning("no fold: no window is known that could be kept (windows=%r)", self._settings.windows)
            return self._served(prompt, None)
        estimator = Estimator(self._settings)
        before = _tokens(prompt, estimator)
        if before <= budgets.trigger:
            return self._served(prompt, None)
        begin = _boundary(prompt, budgets, estimator)
        if begin == 0:
            return self._served(
                prompt, self._tell(Event(kind="skipped", lane="durable", reason="nothing to fold", before=before))
            )
        folded = [message for _, messages in prompt.rows[:begin] for message in messages]
        self._tell(Event(kind="compacting", lane="durable", before=before, folded=len(folded)))
        try:
            summary = yield from self._summary(folded, prompt.record, budgets, estimator)
        except SummaryFailed as error:
            log.warning("no fold: %s", error)
            return self._served(
                prompt, self._tell(Event(kind="skipped", lane="durable", reason=str(error), before=before))
            )
        new = self._prompt(rows, self._record(rows, prompt, begin, summary))
        after = estimator.messages(new.messages) + estimator.beside
        if after >= estimator.messages(prompt.messages) + estimator.beside:
            reason = "the summary is no shorter than what it replaces"
            return self._served(prompt, self._tell(Event(kind="skipped", lane="durable", reason=reason, before=before)))
        done = Event(kind="done", lane="durable", before=before, after=after, folded=len(folded))
        return self._served(new, self._tell(done))

    def _summary(
        self, folded: Sequence[Message], record: FoldRecord | None, budgets: Budgets, estimator: Estimator
    ) -> Fold[str]:
        room = room_of(self._summarize, int(min(one for one in self._settings.windows if one)))
        prior = None if record is None else record.summary
        return (yield from summary_of(folded, prior, budgets.summary, room, estimator))

    def _prompt(self, rows: Sequence[Row], record: FoldRecord | None) -> _Prompt:
        """The conversation from its last cleared row on, with what the record folds in one message."""
        cleared = max((at + 1 for at, row in enumerate(rows) if row.clears), default=0)
        live = rows[cleared:]
        places = [at for at, row in enumerate(live) if record is not None and row.id == record.boundary]
        read = self._shape.read
        if record is None or not places:  # the boundary is on another branch, or was cleared
            return _Prompt(record=None, opening=[], rows=[(row, read(list(row.messages))) for row in live])
        opening = self._shape.user_text(summary_text(record, **self._names))
        return _Prompt(
            record=record,
            opening=list(read([opening])),
            rows=[(row, read(list(row.messages))) for row in live[places[-1] + 1 :]],
        )

    def _record(self, rows: Sequence[Row], prompt: _Prompt, begin: int, summary: str) -> FoldRecord:
        folded = [row for row, _ in prompt.rows[:begin]]
        before = prompt.record
        files = (*(before.files if before else ()), *files_of(folded))
        blobs = (*(before.blobs if before else ()), *blobs_of(folded))
        return FoldRecord(
            boundary=folded[-1].id,
            made_at=rows[-1].id,
            summary=summary,
            files=tuple(dict.fromkeys(files)),
            blobs=tuple(dict.fromkeys(blobs)),
        )

    def _served(self, prompt: _Prompt, event: Event | None) -> Served:
        natives, repairs = repaired(self._shape, prompt.messages)
        return Served(messages=self._shape.joined(natives), record=prompt.record, event=event, repairs=repairs)

    def _tell(self, event: Event) -> Event:
        self._on_event(event)
        return event


def _tokens(prompt: _Prompt, estimator: Estimator) -> int:
    """Tokens of the next request: from the provider's last count on, where there is one that still holds."""
    valid = prompt.record is None
    anchor, since = None, 0
    for at, (row, _) in enumerate(prompt.rows):
        if valid and row.tokens is not None:
            anchor, since = row.tokens, at + 1
        valid = valid or (prompt.record is not None and row.id == prompt.record.made_at)
    rest = sum(estimator.messages(messages) for _, messages in prompt.rows[since:])
    if anchor is not None:
        return anchor + rest
    return estimator.beside + estimator.messages(prompt.opening) + rest


def _boundary(prompt: _Prompt, budgets: Budgets, estimator: Estimator) -> int:
    """The first row that is kept: the earliest with a prompt from which on all fits; else the last one with a prompt."""
    size, found, last = 0, None, None
    for at in range(len(prompt.rows) - 1, -1, -1):
        messages = prompt.rows[at][1]
        size += estimator.messages(messages)
        if messages and is_prompt(messages[0]):
            last = at if last is None else last
            if size <= budgets.keep:
                found = at
        if size > budgets.keep and last is not None:
            break
    return (found if found is not None else last) or 0
