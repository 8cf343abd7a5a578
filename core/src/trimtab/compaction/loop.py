"""`LoopCompactor`: folds inside a turn, before each step; what it has folded is a memo for the steps to come."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Final

from attrs import evolve, field, frozen

from trimtab.compaction.asking.calling import TOO_LONG, Asking
from trimtab.compaction.asking.portions import room_of, summary_of
from trimtab.compaction.chosen import Protocol, shape_named
from trimtab.compaction.cuts import clean_cuts
from trimtab.compaction.events import Due, without_window
from trimtab.compaction.folding import Folding, Made
from trimtab.compaction.measuring.estimate import Estimator, Measured
from trimtab.compaction.measuring.usage import tokens_of
from trimtab.compaction.repair import Repair, repaired
from trimtab.compaction.settings import Budgets, FoldSettings, checked_settings
from trimtab.compaction.stored.archive import Archiver
from trimtab.compaction.stored.manifests import Retained, retained
from trimtab.compaction.stored.memo import (
    Memo,
    beside_summary,
    blobs_named,
    checked_memo,
    digest_of,
    is_summary,
    with_memo,
)
from trimtab.compaction.stored.record import FoldRecord, is_listed
from trimtab.compaction.types import Attachment, Event, OnEvent, Summarize, listed_files, listed_messages
from trimtab.compress.refs.identity import texts_of
from trimtab.errors import SummaryFailed
from trimtab.types import BlobStore, Json
from trimtab.wire.histories import Message, is_prompt

__all__ = ["LoopCompactor", "Stepped"]

_FRUITLESS: Final = 2  # attempts in a turn that cannot bring the prompt below the trigger


@frozen(kw_only=True)
class Stepped:
    """What is sent at this step.

    Attributes:
        messages: in the protocol's own shape; the list that was given, itself, where nothing is folded or amiss.
        memo: for the next step of the turn.
        event: `done` or `skipped` where a fold was due or no window is known; None where none was due.
        repairs: what was amiss in the messages, and mended.
        retained: what the model may open beside what the turn's own outputs name: the archive of what was folded.
    """

    messages: list[Json] = field(repr=False)
    memo: Memo
    event: Event | None
    repairs: tuple[Repair, ...] = ()
    retained: Retained = field(factory=Retained, repr=False)


@frozen(kw_only=True)
class _Plan:
    """A fold that is due: the history, what is folded of it already, and how large the next prompt is."""

    natives: list[Json] = field(repr=False)
    messages: Sequence[Message] = field(repr=False)
    memo: Memo
    size: Measured
    budgets: Budgets


@frozen(kw_only=True)
class _Folded(Made):
    """A fold, and the memo with it."""

    memo: Memo


class LoopCompactor:
    """Folds the older steps of a running turn when the prompt gets too large; each fold takes in only what is new."""

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
        files: Iterable[Attachment] = (),
        store: BlobStore | None = None,
        owner: str | None = None,
    ) -> None:
        """Set one up for a turn.

        Args:
            protocol, settings, summarizer, timeout, on_event, read_tool, file_tool, store, owner: as of
                `DurableCompactor`.
            files: attachments (`Served.retained.files`), to be named where the messages that brought them are folded.

        Raises:
            CallerError: an unknown protocol; a summarizer or a time limit that is none; a store without an owner or
                without a read tool.
        """
        self._shape = shape_named(protocol)
        self._settings = checked_settings(settings)
        self._names = {"read_tool": read_tool, "file_tool": file_tool}
        self._files = listed_files(files)
        self._archiver = Archiver(store, owner, read_tool)
        self._folding = Folding("loop", summarizer, timeout=timeout, on_event=on_event, archiver=self._archiver)
        self._memo = Memo()
        self._estimator = Estimator(settings)

    def step(self, messages: Sequence[Json], usage: Json = None, memo: Memo | None = None) -> Stepped:
        """What to send of these messages. A failing summarizer, or store, changes nothing: what was folded stays so.

        Args:
            messages: the whole list of the turn, as if nothing was ever folded in it.
            usage: what the last step took, its answer included, as the provider counted (`tokens_of`), with the memo
                of that step; None: it is estimated, as after a restart without the memo.
            memo: `Stepped.memo` of the step before, `Served.memo` for the first; None: the compactor's own.

        Raises:
            CallerError: the summarizer is async; no list of messages.
        """
        plan = self._plan(listed_messages(messages), usage, self._memo if memo is None else checked_memo(memo))
        if isinstance(plan, Stepped):
            return plan
        return self._settled(plan, *self._folding.run(plan.size.tokens, lambda now: self._fold(plan, now)))

    async def astep(self, messages: Sequence[Json], usage: Json = None, memo: Memo | None = None) -> Stepped:
        """As `step`, also with an async summarizer. The store is written in a worker thread."""
        plan = self._plan(listed_messages(messages), usage, self._memo if memo is None else checked_memo(memo))
        if isinstance(plan, Stepped):
            return plan
        return self._settled(plan, *await self._folding.arun(plan.size.tokens, lambda now: self._fold(plan, now)))

    def _plan(self, natives: list[Json], usage: Json, memo: Memo) -> _Plan | Stepped:
        """The fold that is due; what is sent, where none is."""
        messages = self._shape.read(natives)
        if not memo.fits(messages):
            memo, usage = Memo(), None  # another history: what was counted was not this one
        budgets = self._settings.budgets()
        if budgets is None:
            return self._stepped(natives, messages, memo, without_window("loop", self._settings))
        size = self._measured(messages, memo, tokens_of(usage))
        if size.tokens <= budgets.trigger:
            return self._stepped(natives, messages, memo, None)
        plan = _Plan(natives=natives, messages=messages, memo=memo, size=size, budgets=budgets)
        if memo.fruitless >= _FRUITLESS and not self._can_help(plan):
            # It was said already.
            return self._stepped(natives, messages, memo, None)
        return plan

    def _fold(self, plan: _Plan, now: Due) -> Asking[_Folded | None]:
        """The fold; None: there is none, and `now` knows why. Twice at most: the second keeps as little as it can."""
        made: _Folded | None = None
        for keep in (plan.budgets.kept(self._fixed(plan)), 0):
            try:
                made = (yield from self._folded(plan, keep, made)) or made
            except SummaryFailed as error:
                if made is None:
                    now.skipped(str(error), error)
                    return None
                break
            if made is not None and made.after <= plan.budgets.trigger:
                return made
        reason = f"the prompt cannot be brought below {plan.budgets.trigger:,} tokens by folding"
        if made is None or made.after >= plan.size.tokens:
            now.skipped(f"nothing to fold: {reason}")
            return None
        return evolve(made, reason=reason)

    def _folded(self, plan: _Plan, keep: int, before: _Folded | None) -> Asking[_Folded | None]:
        """One fold more, which keeps so many tokens; None: it would take away no more than a summary brings."""
        memo = plan.memo if before is None else before.memo
        consumed = self._boundary(plan, keep, memo)
        kept = self._kept(plan, consumed)
        more = _untold(plan.messages, memo, consumed, kept)
        if plan.size.of(self._estimator.messages(more)) <= plan.budgets.summary:
            return None
        room = room_of(self._folding.summarize, plan.budgets.window, plan.budgets.summary)
        summary = yield from summary_of(more, memo.summary or None, room, self._estimator)
        record, texts = self._recorded(plan, memo, consumed, kept, summary)
        made = Memo(
            consumed=consumed,
            digest=digest_of(plan.messages[:consumed]),
            kept=kept,
            fold=record,
            made_at=len(plan.messages),
        )
        after = plan.size.of(self._tokens(self._candidate(plan.messages, made)))
        return _Folded(
            memo=evolve(made, fruitless=memo.fruitless + (after > plan.budgets.trigger)),
            after=after,
            folded=len(more) + (before.folded if before else 0),
            texts={**(before.texts if before else {}), **texts},
        )

    def _recorded(
        self, plan: _Plan, memo: Memo, consumed: int, kept: tuple[int, ...], summary: str
    ) -> tuple[FoldRecord, dict[str, str]]:
        """What stands in the place of what is gone, and the archive of that."""
        said = [at for at in (*memo.kept, *range(memo.consumed, consumed)) if plan.messages[at].role != "system"]
        gone = [at for at in said if at not in kept]
        before = memo.fold or FoldRecord(boundary="", made_at="", summary="")
        record = evolve(
            before,
            summary=summary,
            files=tuple(dict.fromkeys([*before.files, *self._unnamed(plan.messages[at] for at in kept)])),
            blobs=tuple(dict.fromkeys([*before.blobs, *blobs_named(plan.messages, gone)])),
        )
        return self._archiver.archived(record, [plan.messages[at] for at in gone], plan.budgets, self._estimator)

    def _unnamed(self, kept: Iterable[Message]) -> tuple[Attachment, ...]:
        """The files that no summary names which is sent on."""
        texts = "\n".join(text for message in kept if is_summary(message) for text in texts_of(message))
        return tuple(file for file in self._files if not is_listed(file.name, texts))

    def _settled(self, plan: _Plan, made: _Folded | None, now: Due) -> Stepped:
        """What is sent now. Where nothing could be folded it is not tried again at each step."""
        memo = plan.memo if made is None else made.memo
        if made is None and now.error is None:
            memo = evolve(memo, fruitless=max(_FRUITLESS, memo.fruitless))
        return self._stepped(plan.natives, plan.messages, memo, now.verdict)

    def _fixed(self, plan: _Plan) -> int:
        """Tokens of what no fold takes away: tools, system prompt, what is sent whatever is folded."""
        everything = self._kept(plan, len(plan.messages))
        return plan.size.of(self._tokens(plan.messages[at] for at in everything))

    def _can_help(self, plan: _Plan) -> bool:
        """Whether one more attempt is worth it: it brings the prompt below the trigger, or one that the window does not
        hold any more back into it.
        """
        consumed = self._boundary(plan, 0, plan.memo)
        more = _untold(plan.messages, plan.memo, consumed, self._kept(plan, consumed))
        gain = plan.size.of(self._estimator.messages(more)) - TOO_LONG * plan.budgets.summary
        room = plan.budgets.window - self._settings.reserve
        most = room if plan.size.tokens > room else plan.budgets.trigger
        return plan.size.tokens - gain <= most

    def _boundary(self, plan: _Plan, keep: int, memo: Memo) -> int:
        """How many messages a fold consumes: all but whole steps at the end that fit what is kept, at least one."""
        size, cut = 0, len(plan.messages)
        for at in reversed(clean_cuts(self._shape, plan.messages)):
            size += self._estimator.messages(plan.messages[at:cut])
            if cut < len(plan.messages) and plan.size.of(size) > keep:
                break
            cut = at
        return max(cut, memo.consumed)

    def _kept(self, plan: _Plan, consumed: int) -> tuple[int, ...]:
        """Of the consumed messages those that are sent all the same."""
        messages = plan.messages[:consumed]
        said = [at for at, message in enumerate(messages) if message.role != "system"]
        kept = {at for at, message in enumerate(messages) if message.role == "system"}
        # A durable fold's summary names what can be read: it is folded only where it leaves no room for anything else.
        pinned = {at: plan.budgets.trigger // 2 for at in said[:1] if is_summary(messages[at])}
        if not any(map(is_prompt, plan.messages[consumed:])):
            last = [at for at in said if is_prompt(messages[at])][-1:]
            pinned = dict.fromkeys(last, TOO_LONG * plan.budgets.summary) | pinned
        kept |= {at for at, most in pinned.items() if plan.size.of(self._estimator.message(messages[at])) <= most}
        return tuple(sorted(at for at in kept if at >= plan.memo.consumed or at in plan.memo.kept))

    def _candidate(self, messages: Sequence[Message], memo: Memo) -> list[Message]:
        return with_memo(self._shape, messages, memo, self._names)

    def _measured(self, messages: Sequence[Message], memo: Memo, usage: int | None) -> Measured:
        """Tokens of the next prompt: what the last step took and what came after its answer; else all, estimated."""
        candidate = self._candidate(messages, memo)
        last = max((at + 1 for at, message in enumerate(messages) if message.role == "assistant"), default=0)
        since = self._estimator.messages(messages[max(last, memo.consumed) :])
        all_of_it = self._tokens(candidate)
        if usage is None or last <= memo.made_at:  # none, or counted before the fold
            return Measured(tokens=all_of_it)
        return Measured.from_count(usage, all_of_it - since, since)

    def _tokens(self, messages: Iterable[Message]) -> int:
        """Tokens of a request with these messages, estimated."""
        return self._estimator.beside + self._estimator.messages(messages)

    def _stepped(self, natives: list[Json], messages: Sequence[Message], memo: Memo, event: Event | None) -> Stepped:
        fixed, repairs = repaired(self._shape, self._candidate(messages, memo))
        sent = self._shape.joined(fixed)
        same = len(sent) == len(natives) and all(one is other for one, other in zip(sent, natives, strict=True))
        self._memo = memo
        return Stepped(
            messages=natives if same else sent,
            memo=memo,
            event=event,
            repairs=repairs,
            retained=Retained(files=self._files, outputs=retained((), memo.fold).outputs),
        )


def _untold(messages: Sequence[Message], memo: Memo, consumed: int, kept: Container[int]) -> list[Message]:
    """What a summary has to tell: what no fold has consumed before.

    The summary of a durable fold comes first. It is told when it is sent no more, and until then what stands beside it.
    """
    first = next((at for at, message in enumerate(messages) if message.role != "system"), 0)
    durable = first if messages and is_summary(messages[first]) else None
    found = [messages[at] for at in range(memo.consumed, consumed) if at != durable and messages[at].role != "system"]
    if durable is not None and durable < consumed and (durable in memo.kept or durable >= memo.consumed):
        if durable not in kept:
            found.insert(0, messages[durable])
        elif durable >= memo.consumed:
            found.insert(0, beside_summary(messages[durable]))
    return [message for message in found if message.parts]
