"""`LoopCompactor`: folds inside a turn, before each step; what it has folded is a memo, not stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from attrs import field, frozen

from trimtab._json import utf8
from trimtab.compaction.calling import Fold, arun, run
from trimtab.compaction.estimate import Estimator
from trimtab.compaction.record import FoldRecord, summary_text
from trimtab.compaction.repair import Repair, repaired
from trimtab.compaction.settings import Budgets, FoldSettings
from trimtab.compaction.summing import room_of, summary_of
from trimtab.compaction.types import Event, Summarize
from trimtab.compress.identity import key_of
from trimtab.errors import SummaryFailed
from trimtab.telemetry import log
from trimtab.types import Json
from trimtab.wire.histories import Message, Shape, units

__all__ = ["LoopCompactor", "Memo", "Stepped"]

_FRUITLESS = 2


@frozen(kw_only=True)
class Memo:
    """What one turn has folded so far.

    Attributes:
        consumed: how many messages of the turn's own list the summary stands for, the system's among them.
        digest: of these messages; a list that begins otherwise is another history, and the memo is dropped.
        summary: what stands in their place; "" while nothing is folded.
        fruitless: attempts in a row that could not bring the prompt below the trigger.
    """

    consumed: int = 0
    digest: str = ""
    summary: str = field(default="", repr=False)
    fruitless: int = 0


@frozen(kw_only=True)
class Stepped:
    """What is sent at this step.

    Attributes:
        messages: in the protocol's own shape; the list that was given, where nothing is folded and nothing was amiss.
        memo: for the next step of the turn.
        event: `done` or `skipped` where a fold was due; None where none was.
        repairs: calls and results that had lost each other.
    """

    messages: list[Json] = field(repr=False)
    memo: Memo
    event: Event | None
    repairs: tuple[Repair, ...] = ()


class LoopCompactor:
    """Folds the older steps of a running turn when the prompt gets too large; each fold takes in only what is new."""

    def __init__(
        self,
        shape: Shape,
        settings: FoldSettings,
        summarize: Summarize,
        *,
        timeout: float | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        """Set one up for a turn; the arguments are those of `DurableCompactor`."""
        self._shape = shape
        self._settings = settings
        self._summarize = summarize
        self._timeout = timeout
        self._on_event = on_event or (lambda event: None)
        self._memo = Memo()

    def step(self, messages: Sequence[Json], usage: int | None = None, memo: Memo | None = None) -> Stepped:
        """What to send of these messages.

        Args:
            messages: the whole list of the turn, as if nothing was ever folded.
            usage: tokens that the last step took, its answer included, as the provider counted; None: they are
                estimated.
            memo: `Stepped.memo` of the step before; None: the compactor's own.
        """
        return run(self._remembered(messages, usage, memo), self._summarize, self._timeout)

    async def astep(self, messages: Sequence[Json], usage: int | None = None, memo: Memo | None = None) -> Stepped:
        """As `step`, also with an async summarizer."""
        return await arun(self._remembered(messages, usage, memo), self._summarize, self._timeout)

    def _remembered(self, messages: Sequence[Json], usage: int | None, memo: Memo | None) -> Fold[Stepped]:
        stepped = yield from self._step(list(messages), usage, self._memo if memo is None else memo)
        self._memo = stepped.memo
        return stepped

    def _step(self, natives: list[Json], usage: int | None, memo: Memo) -> Fold[Stepped]:
        messages = self._shape.read(natives)
        memo = memo if memo.consumed <= len(messages) and _digest(messages[: memo.consumed]) == memo.digest else Memo()
        budgets = self._settings.budgets()
        if budgets is None:
            log.warning("no fold: no window is known that could be kept (windows=%r)", self._settings.windows)
            return self._stepped(natives, messages, memo, None)
        estimator = Estimator(self._settings)
        candidate = self._candidate(messages, memo)
        before = _tokens(candidate, messages, memo, usage, estimator)
        if before <= budgets.trigger or memo.fruitless >= _FRUITLESS:
            return self._stepped(natives, messages, memo, None)
        consumed = self._boundary(messages, memo, budgets, estimator)
        if consumed <= memo.consumed:
            event = Event(kind="skipped", lane="loop", reason="nothing to fold", before=before)
            return self._stepped(natives, messages, _tired(memo), self._tell(event))
        more = [message for message in messages[memo.consumed : consumed] if message.role != "system"]
        self._tell(Event(kind="compacting", lane="loop", before=before, folded=len(more)))
        try:
            room = room_of(self._summarize, int(min(one for one in self._settings.windows if one)))
            summary = yield from summary_of(more, memo.summary or None, budgets.summary, room, estimator)
        except SummaryFailed as error:
            log.warning("no fold: %s", error)
            event = Event(kind="skipped", lane="loop", reason=str(error), before=before)
            return self._stepped(natives, messages, memo, self._tell(event))
        new = Memo(consumed=consumed, digest=_digest(messages[:consumed]), summary=summary)
        after = estimator.messages(self._candidate(messages, new)) + estimator.beside
        if after > budgets.trigger:
            new = Memo(consumed=new.consumed, digest=new.digest, summary=summary, fruitless=memo.fruitless + 1)
        event = Event(kind="done", lane="loop", before=before, after=after, folded=len(more))
        return self._stepped(natives, messages, new, self._tell(event))

    def _candidate(self, messages: Sequence[Message], memo: Memo) -> list[Message]:
        """The messages as a memo leaves them: the system's, the summary, and what is not consumed."""
        if not memo.summary:
            return list(messages)
        system = [message for message in messages[: memo.consumed] if message.role == "system"]
        text = summary_text(FoldRecord(boundary="", made_at="", summary=memo.summary), read_tool="", file_tool="")
        return [*system, *self._shape.read([self._shape.user_text(text)]), *messages[memo.consumed :]]

    def _boundary(self, messages: Sequence[Message], memo: Memo, budgets: Budgets, estimator: Estimator) -> int:
        """How many messages a fold consumes: all but whole units at the end that fit what is kept, at least one."""
        ties = self._shape.ties([message.native for message in messages])
        unit = units(messages, [(tie.call_row, tie.result_row) for tie in ties])
        starts = [at for at in range(len(messages)) if unit[at] == at and all(one >= at for one in unit[at:])]
        size, cut = 0, len(messages)
        for at in reversed(starts):
            size += estimator.messages(messages[at:cut])
            if cut < len(messages) and size > budgets.keep:
                break
            cut = at
        return cut if cut > memo.consumed else memo.consumed

    def _stepped(self, natives: list[Json], messages: Sequence[Message], memo: Memo, event: Event | None) -> Stepped:
        fixed, repairs = repaired(self._shape, self._candidate(messages, memo))
        if not memo.summary and not repairs:
            return Stepped(messages=natives, memo=memo, event=event)
        return Stepped(messages=self._shape.joined(fixed), memo=memo, event=event, repairs=repairs)

    def _tell(self, event: Event) -> Event:
        self._on_event(event)
        return event


def _tired(memo: Memo) -> Memo:
    return Memo(consumed=memo.consumed, digest=memo.digest, summary=memo.summary, fruitless=memo.fruitless + 1)


def _digest(messages: Sequence[Message]) -> str:
    """What the consumed messages say; "" of none."""
    return sha256(utf8("".join(map(key_of, messages)))).hexdigest() if messages else ""


def _tokens(
    candidate: Sequence[Message], messages: Sequence[Message], memo: Memo, usage: int | None, estimator: Estimator
) -> int:
    """Tokens of the next request: what the last step took and what came after its answer; else all, estimated."""
    if usage is None:
        return estimator.beside + estimator.messages(candidate)
    last = max((at + 1 for at, message in enumerate(messages) if message.role == "assistant"), default=0)
    return usage + estimator.messages(messages[max(last, memo.consumed) :])
