"""The calls of one response, from their coming to the answers that join the history."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from itertools import islice
from typing import Final

from attrs import evolve, field, frozen

from trimtab.compress.board import Board
from trimtab.compress.config import CompressConfig
from trimtab.compress.folded import nudge_text
from trimtab.compress.outcome import Outcome, answer_compress, answer_decompress
from trimtab.compress.own import Own, own_calls
from trimtab.compress.receipts import repeated
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.search import answer_search
from trimtab.compress.state import CompressState
from trimtab.errors import CallerError
from trimtab.wire import RawCall
from trimtab.wire.histories import Answer
from trimtab.wire.histories.spelling import as_text

__all__ = ["OpenTurn", "Turn", "ids_of"]

_IDS: Final = 8  # named in an error


@frozen(kw_only=True)
class Turn:
    """What a response brought.

    Attributes:
        calls: those that the application has to answer (`session.answer`), in order.
        outcomes: what became of the compress and decompress calls.
        answers: the session's own answers, those of searches among them; they join the history by themselves.
        texts: its answers to calls that the model wrote into its text; each joins the history as the user's message.
        waits: whether the conversation is to go on: there were calls.
        should_stop: whether the loop ought to end, since the model repeats a failing call.
    """

    calls: tuple[RawCall, ...]
    outcomes: tuple[Outcome, ...] = field(repr=False)
    answers: tuple[Answer, ...] = field(repr=False)
    texts: tuple[str, ...] = field(default=(), repr=False)

    @property
    def waits(self) -> bool:
        """Whether there were calls, so that the model waits for what they give."""
        return bool(self.calls or self.answers or self.texts)

    @property
    def should_stop(self) -> bool:
        """Whether one of the outcomes says so, with no success after it."""
        for one in reversed(self.outcomes):
            if one.ok or one.should_stop:
                return one.should_stop
        return False


class OpenTurn:
    """Calls and their answers by the place of the call; those in the text of a message have no result of their own.

    Attributes:
        rows: of the conversation: the messages with the calls.
    """

    def __init__(self, calls: Iterable[RawCall], now: Conversation, rows: range) -> None:
        self.rows = rows
        self._calls = [call for call in calls if not call.by_provider]
        self._answers: dict[int, Answer] = {}
        self._spoken = self._without_part(now, rows)

    def _without_part(self, now: Conversation, rows: Sequence[int]) -> set[int]:
        """Places of calls that are no part of a message: the model wrote them into its text."""
        parts = [part for row in rows for part in now.rows[row].of("call")]
        spoken = set()
        for place, call in enumerate(self._calls):
            fits = (one for one in parts if one.name == call.name and one.call_id in ("", call.call_id))
            part = next(fits, None)
            if part is None:
                spoken.add(place)
            else:
                parts.remove(part)
        return spoken

    def answer_own(
        self, state: CompressState, now: Conversation, config: CompressConfig, rows: Sequence[int]
    ) -> tuple[CompressState, Turn]:
        """Answer the calls of our tools in these rows; the rest is the application's.

        One that the state has a mark of was answered before the conversation was stored: its answer is told once more.
        """
        board: Board | None = None
        marks, outcomes = list(state.marks), list[Outcome]()
        known = {(mark.message, mark.place): mark for mark in marks}
        done = {(rows[tie.call_row], tie.call_at) for tie in now.shape.ties([now.rows[row].native for row in rows])}
        for own in own_calls(state, now, config, rows):
            place = None if (own.asked.row, own.at) in done and not own.spoken else self._place_of(own)
            if place is None:
                continue
            if (mark := known.get((own.asked.message, own.asked.place))) is not None:
                self._keep(place, own, repeated(mark), failed=not mark.ok)
                continue
            board = board or Board(state, now, config)
            call = self._calls[place]
            # What the wire carried: the message has an object in the place of malformed text.
            asked = evolve(own.asked, raw_args=call.raw_args, complete=call.complete)
            if own.tool == config.search:
                text, failed = answer_search(board, asked.raw_args), False
            else:
                outcome = (answer_compress if own.tool == config.compress else answer_decompress)(board, marks, asked)
                marks.append(outcome.mark)
                outcomes.append(outcome)
                text, failed = outcome.text, not outcome.ok
            self._keep(place, own, text, failed=failed)
        if board is not None:
            state = evolve(state, blocks=board.blocks_now(), marks=tuple(marks))
        turn = Turn(
            calls=tuple(self.waiting().values()),
            outcomes=tuple(outcomes),
            answers=tuple(self.results()),
            texts=tuple(self.texts()),
        )
        return state, turn

    def _keep(self, place: int, own: Own, text: str, *, failed: bool) -> None:
        self._answers[place] = Answer(call_id=own.asked.call_id or "", name=own.tool, value=text, is_error=failed)

    def _place_of(self, own: Own) -> int | None:
        """Where an own call is among all. One in a text that the protocol looks for no calls in is put behind them."""
        asked = own.asked
        for place, call in enumerate(self._calls):
            if place in self._answers or (place in self._spoken) != own.spoken:
                continue
            if own.spoken and call.raw_args == asked.raw_args:
                return place
            if not own.spoken and call.name == own.tool and asked.call_id in (None, call.call_id):
                return place
        if not own.spoken:
            return None
        self._calls.append(RawCall(call_id="", name=own.tool, raw_args=asked.raw_args, complete=asked.complete))
        self._spoken.add(len(self._calls) - 1)
        return len(self._calls) - 1

    def waiting(self) -> dict[int, RawCall]:
        """Calls without an answer, by their place."""
        return {place: call for place, call in enumerate(self._calls) if place not in self._answers}

    def taking(self, answers: Iterable[Answer]) -> OpenTurn:
        """This turn with the application's answers. Raises CallerError: one to no such call, or none to one of them."""
        taken = copy(self)
        taken._answers = dict(self._answers)
        waiting = self.waiting()
        given = list(answers) if isinstance(answers, Iterable) else [answers]
        if not all(isinstance(one, Answer) and isinstance(one.call_id, str) for one in given):
            raise CallerError("answers are `Answer` objects, each with the call_id of its call")
        if Counter(one.call_id for one in given) != Counter(call.call_id for call in waiting.values()):
            got = ids_of(given) or "none"
            raise CallerError(f"answers to {ids_of(waiting.values()) or 'no calls'} are wanted, not to {got}")
        by_id: defaultdict[str, deque[Answer]] = defaultdict(deque)
        for one in given:
            by_id[one.call_id].append(one)
        taken._answers.update((place, by_id[call.call_id].popleft()) for place, call in waiting.items())
        return taken

    def results(self) -> list[Answer]:
        """Answers to calls that are parts of a message, in the order of the calls."""
        return [answer for place, answer in sorted(self._answers.items()) if place not in self._spoken]

    def texts(self) -> list[str]:
        """Answers to calls that the model wrote into its text: there is only a message of the user for these."""
        return [
            nudge_text(as_text(answer.value))
            for place, answer in sorted(self._answers.items())
            if place in self._spoken
        ]


def ids_of(these: Collection[RawCall | Answer]) -> str:
    """The first few ids, for an error."""
    more = f" and {len(these) - _IDS} more" if len(these) > _IDS else ""
    return ", ".join(repr(one.call_id)[:80] for one in islice(these, _IDS)) + more
