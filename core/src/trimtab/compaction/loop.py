"""`LoopCompactor`: folds inside a turn, before each step; what it has folded is a memo, not stored."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from attrs import evolve, field, frozen

from trimtab._json import utf8
from trimtab.compaction.calling import TOO_LONG, Fold, arun, limit_of, run
from trimtab.compaction.chosen import Protocol, shape_named, summarizer_of
from trimtab.compaction.cuts import clean_cuts
from trimtab.compaction.durable import NO_WINDOW
from trimtab.compaction.estimate import Estimator
from trimtab.compaction.events import Due, due, metered
from trimtab.compaction.prompt import Measured
from trimtab.compaction.record import SUMMARY_OPENING, Blob, FoldRecord, summary_text
from trimtab.compaction.repair import Repair, repaired
from trimtab.compaction.settings import Budgets, FoldSettings
from trimtab.compaction.summing import room_of, summary_of
from trimtab.compaction.types import Attachment, Event, OnEvent, Summarize
from trimtab.compaction.usage import tokens_of
from trimtab.compress.refs.identity import key_of, texts_of
from trimtab.errors import CallerError, SummaryFailed
from trimtab.telemetry import log
from trimtab.types import Json
from trimtab.wire.histories import Message, is_prompt

__all__ = ["LoopCompactor", "Memo", "Stepped"]

_FRUITLESS: Final = 2  # attempts in a turn that cannot bring the prompt below the trigger
_URI: Final = re.compile("trimtab:[0-9a-f]{16,32}")


@frozen(kw_only=True)
class Memo:
    """What one turn has folded so far.

    Attributes:
        consumed: how many messages of the turn's own list the summary stands for, what is kept of them among them.
        digest: of these messages; a list that begins otherwise is another history, and the memo is dropped.
        summary: what stands in their place; "" while nothing is folded.
        kept: the places of those that are sent all the same, in order: what the system says, the summary of a durable
            fold, the request that the turn works on.
        uris: that the others name: of texts which can be read back. To name one opens nothing.
        fruitless: attempts that could not bring the prompt below the trigger.
    """

    consumed: int = 0
    digest: str = ""
    summary: str = field(default="", repr=False)
    kept: tuple[int, ...] = ()
    uris: tuple[str, ...] = field(default=(), repr=False)
    fruitless: int = 0

    def counted(self, usage: Json) -> int | None:
        """What to store of the turn's last step as `Row.tokens` (`tokens_of`); None where the turn was folded on its
        way: what the provider counted then is not of these rows.
        """
        return None if self.summary else tokens_of(usage)


@frozen(kw_only=True)
class Stepped:
    """What is sent at this step.

    Attributes:
        messages: in the protocol's own shape; the list that was given, itself, where nothing is folded or amiss.
        memo: for the next step of the turn.
        event: `done` or `skipped` where a fold was due or no window is known; None where none was due.
        repairs: what was amiss in the messages, and mended.
    """

    messages: list[Json] = field(repr=False)
    memo: Memo
    event: Event | None
    repairs: tuple[Repair, ...] = ()


@frozen(kw_only=True)
class _Plan:
    """A fold that is due: the history, what is folded of it already, and how large the next prompt is."""

    messages: Sequence[Message] = field(repr=False)
    memo: Memo
    size: Measured
    budgets: Budgets


class LoopCompactor:
    """Folds the older steps of a running turn when the prompt gets too large; each fold takes in only what is new."""

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
        files: Iterable[Attachment] = (),
    ) -> None:
        """Set one up for a turn.

        Args:
            protocol, settings, summarizer, timeout, on_event, read_tool, file_tool: as of `DurableCompactor`.
            files: attachments (`Served.retained.files`), to be named where the messages that brought them are folded.

        Raises:
            CallerError: an unknown protocol or summarizer; a time limit that is none.
        """
        self._shape = shape_named(protocol)
        self._settings = settings
        self._summarize = summarizer_of(summarizer)
        self._timeout = limit_of(timeout)
        self._on_event = on_event
        self._names = {"read_tool": read_tool, "file_tool": file_tool}
        self._files = tuple(files)
        self._memo = Memo()
        self._estimator = Estimator(settings)

    def step(self, messages: Sequence[Json], usage: Json = None, memo: Memo | None = None) -> Stepped:
        """What to send of these messages. A failing summarizer changes nothing: what was folded before stays so.

        Args:
            messages: the whole list of the turn, as if nothing was ever folded in it.
            usage: what the last step took, its answer included, as the provider counted (`tokens_of`); None: it is
                estimated.
            memo: `Stepped.memo` of the step before; None: the compactor's own.

        Raises:
            CallerError: the summarizer is async; no list of messages.
        """
        plan = self._plan(_listed(messages), usage, self._memo if memo is None else memo)
        if isinstance(plan, Stepped):
            return self._remembered(plan)
        with due("loop", plan.size.tokens, self._on_event) as now:
            new = run(metered(self._fold(plan, now), now), self._summarize, self._timeout)
        return self._remembered(self._stepped(_listed(messages), plan.messages, new, now.verdict))

    async def astep(self, messages: Sequence[Json], usage: Json = None, memo: Memo | None = None) -> Stepped:
        """As `step`, also with an async summarizer."""
        plan = self._plan(_listed(messages), usage, self._memo if memo is None else memo)
        if isinstance(plan, Stepped):
            return self._remembered(plan)
        with due("loop", plan.size.tokens, self._on_event) as now:
            new = await arun(metered(self._fold(plan, now), now), self._summarize, self._timeout)
        return self._remembered(self._stepped(_listed(messages), plan.messages, new, now.verdict))

    def _remembered(self, stepped: Stepped) -> Stepped:
        self._memo = stepped.memo
        return stepped

    def _plan(self, natives: list[Json], usage: Json, memo: Memo) -> _Plan | Stepped:
        """The fold that is due; what is sent, where none is."""
        messages = self._shape.read(natives)
        if memo.consumed > len(messages) or _digest(messages[: memo.consumed]) != memo.digest:
            memo, usage = Memo(), None  # another history: what was counted was not this one
        budgets = self._settings.budgets()
        if budgets is None:
            log.warning("no loop fold: %s (windows=%r)", NO_WINDOW, self._settings.windows)
            event = Event(kind="skipped", lane="loop", reason=NO_WINDOW)
            return self._stepped(natives, messages, memo, event)
        size = self._measured(messages, memo, tokens_of(usage))
        if size.tokens <= budgets.trigger:
            return self._stepped(natives, messages, memo, None)
        plan = _Plan(messages=messages, memo=memo, size=size, budgets=budgets)
        if memo.fruitless >= _FRUITLESS and not self._can_help(plan):
            return self._stepped(natives, messages, memo, None)  # it was said already
        return plan

    def _fold(self, plan: _Plan, now: Due) -> Fold[Memo]:
        """The memo after a fold, and the verdict on it. Twice at most: the second one keeps as little as it can."""
        memo = plan.memo
        after, folded = 0, 0
        for keep in (plan.budgets.keep, 0):
            consumed = self._boundary(plan, keep, memo)
            kept = self._kept(plan, consumed)
            more = [one for at in range(memo.consumed, consumed) if _is_new(one := plan.messages[at], at in kept)]
            if plan.size.of(self._estimator.messages(more)) <= plan.budgets.summary:
                continue
            room = room_of(self._summarize, plan.budgets.window, plan.budgets.summary)
            try:
                summary = yield from summary_of(more, memo.summary or None, plan.budgets.summary, room, self._estimator)
            except SummaryFailed as error:
                if memo is plan.memo:
                    now.skipped(str(error), error)
                    return memo
                break
            folded += len(more)
            memo = Memo(
                consumed=consumed,
                digest=_digest(plan.messages[:consumed]),
                summary=summary,
                kept=kept,
                uris=_uris(plan.messages[:consumed], kept),
                fruitless=memo.fruitless,
            )
            after = plan.size.of(self._tokens(self._candidate(plan.messages, memo)))
            if after <= plan.budgets.trigger:
                now.done(after=after, folded=folded)
                return memo
            memo = evolve(memo, fruitless=memo.fruitless + 1)
        return self._given_up(plan, now, memo, after, folded)

    def _given_up(self, plan: _Plan, now: Due, memo: Memo, after: int, folded: int) -> Memo:
        """The prompt stays above the trigger: it is said, and not tried again and again."""
        reason = f"the prompt cannot be brought below {plan.budgets.trigger:,} tokens by folding"
        if memo is plan.memo or after >= plan.size.tokens:
            now.skipped(f"nothing to fold: {reason}")
            return evolve(plan.memo, fruitless=max(_FRUITLESS, memo.fruitless))
        now.done(after=after, folded=folded, reason=reason)
        return memo

    def _can_help(self, plan: _Plan) -> bool:
        """Whether a fold that keeps as little as it can would bring the prompt below the trigger."""
        consumed = self._boundary(plan, 0, plan.memo)
        if consumed <= plan.memo.consumed:
            return False
        kept = [plan.messages[at] for at in self._kept(plan, consumed)]
        left = self._tokens([*kept, *plan.messages[consumed:]])
        return plan.size.of(left + TOO_LONG * plan.budgets.summary) <= plan.budgets.trigger

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
        pinned = {at: plan.budgets.trigger // 2 for at in said[:1] if _is_summary(messages[at])}
        if not any(map(is_prompt, plan.messages[consumed:])):
            last = [at for at in said if is_prompt(messages[at])][-1:]
            pinned = dict.fromkeys(last, TOO_LONG * plan.budgets.summary) | pinned
        kept |= {at for at, most in pinned.items() if plan.size.of(self._estimator.message(messages[at])) <= most}
        return tuple(sorted(kept))

    def _candidate(self, messages: Sequence[Message], memo: Memo) -> list[Message]:
        """The messages as a memo leaves them: what is kept, the summary before the turn's request, the rest."""
        if not memo.summary:
            return list(messages)
        blobs = tuple([Blob(tool="", uri=uri) for uri in memo.uris])
        record = FoldRecord(boundary="", made_at="", summary=memo.summary, files=self._files, blobs=blobs)
        summary = self._shape.read([self._shape.user_text(summary_text(record, **self._names))])
        kept = [messages[at] for at in memo.kept]
        requests = [at for at, message in enumerate(kept) if is_prompt(message) and not _is_summary(message)]
        place = requests[-1] if requests else len(kept)
        return [*kept[:place], *summary, *kept[place:], *messages[memo.consumed :]]

    def _measured(self, messages: Sequence[Message], memo: Memo, usage: int | None) -> Measured:
        """Tokens of the next prompt: what the last step took and what came after its answer; else all, estimated."""
        candidate = self._candidate(messages, memo)
        last = max((at + 1 for at, message in enumerate(messages) if message.role == "assistant"), default=0)
        since = self._estimator.messages(messages[max(last, memo.consumed) :])
        all_of_it = self._tokens(candidate)
        if usage is None or not last:
            return Measured(tokens=all_of_it)
        return Measured.from_count(usage, all_of_it - since, since)

    def _tokens(self, messages: Iterable[Message]) -> int:
        """Tokens of a request with these messages, estimated."""
        return self._estimator.beside + self._estimator.messages(messages)

    def _stepped(self, natives: list[Json], messages: Sequence[Message], memo: Memo, event: Event | None) -> Stepped:
        fixed, repairs = repaired(self._shape, self._candidate(messages, memo))
        sent = self._shape.joined(fixed)
        same = len(sent) == len(natives) and all(one is other for one, other in zip(sent, natives, strict=True))
        return Stepped(messages=natives if same else sent, memo=memo, event=event, repairs=repairs)


def _listed(messages: Sequence[Json]) -> list[Json]:
    if isinstance(messages, str | Mapping):
        raise CallerError(f"pass the list of messages, not a {type(messages).__name__} (of a request: its messages)")
    return messages if isinstance(messages, list) else list(messages)


def _is_summary(message: Message) -> bool:
    """Whether it is what a durable fold serves."""
    return message.role == "user" and any(
        part.kind == "text" and part.text.startswith(SUMMARY_OPENING) for part in message.parts
    )


def _is_new(message: Message, kept: bool) -> bool:
    """Whether a summary has to tell it: not what the system says, nor an older summary that is sent on."""
    return message.role != "system" and not (kept and _is_summary(message))


def _digest(messages: Sequence[Message]) -> str:
    """What the consumed messages say; "" of none."""
    return sha256(utf8("".join(map(key_of, messages)))).hexdigest() if messages else ""


def _uris(messages: Sequence[Message], kept: Container[int]) -> tuple[str, ...]:
    """The uris that these messages name, those aside that are kept."""
    gone = [message for at, message in enumerate(messages) if at not in kept]
    texts = (text for message in gone for text in texts_of(message) if "trimtab:" in text)
    return tuple(dict.fromkeys(uri for text in texts for uri in _URI.findall(text)))
