"""What was folded inside a turn stays folded in the next: no cache is lost by it, and nothing is told twice."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from attrs import define, evolve, field

from trimtab._json import canonical
from trimtab.compaction import (
    DurableCompactor,
    Event,
    FoldRecord,
    FoldSettings,
    LoopCompactor,
    Memo,
    Row,
    dump_memo,
    load_memo,
)
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, refused
from trimtab.tokens import Estimate
from trimtab.types import Json

COUNT = Estimate().count
SETTINGS = FoldSettings(windows=6_000)  # trigger 4,320
PROTOCOLS = ("openai-chat", "anthropic")


def steps(protocol: str, turn: int, count: int) -> list[Json]:
    """The steps of a turn: a call and a result of some 400 tokens each."""
    found: list[Json] = []
    for number in range(count):
        name, text = f"c{turn}-{number}", f"Page {turn}-{number}. " + "Something that was read there. " * 55
        if protocol == "anthropic":
            use = {"type": "tool_use", "id": name, "name": "read", "input": {"page": number}}
            result = {"type": "tool_result", "tool_use_id": name, "content": text}
            found += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        else:
            call = {"id": name, "type": "function", "function": {"name": "read", "arguments": f'{{"page": {number}}}'}}
            found += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": name, "content": text},
            ]
    return found


@define(kw_only=True)
class Application:
    """Sends a conversation, turn by turn; keeps the prompts and the events."""

    protocol: str
    handing: bool = True
    restarting: bool = False
    summarizer: RememberingSummarizer = field(factory=RememberingSummarizer)
    events: list[Event] = field(factory=list)
    rows: list[Row] = field(factory=list)
    record: FoldRecord | None = None
    memo: Memo = field(factory=Memo)
    breaks: int = 0
    before: str = ""

    def turn(self, number: int, count: int) -> None:
        """What the user says, so many steps, the answer."""
        pasted = "These are my notes on it, as they are. " * (120 if number % 4 == 3 else 1)
        said = {"role": "user", "content": f"Read the pages of chapter {number}, all {count} of them. {pasted}"}
        self.rows.append(Row(id=f"u{number}", messages=[said]))
        if self.restarting:
            self.memo = load_memo(json.loads(json.dumps(dump_memo(self.memo))))
        served = self._durable().serve(self.rows, self.record, self.memo if self.handing else None)
        self.record, memo = served.record, served.memo
        loop = LoopCompactor(self.protocol, SETTINGS, self.summarizer, on_event=self.events.append)
        new: list[Json] = []
        for message in [None, *steps(self.protocol, number, count)]:
            new += [] if message is None else [message]
            if len(new) % 2 == 0:
                told = len(self.events) if message is None and served.event is None else len(self.events) - 1
                stepped = loop.step([*served.messages, *new], memo=memo)
                memo = stepped.memo
                self._sent(stepped.messages, any(event.kind == "done" for event in self.events[max(0, told) :]))
        self.memo = memo
        self.rows.append(Row(id=f"a{number}", messages=[*new, {"role": "assistant", "content": "Read."}]))

    def _durable(self) -> DurableCompactor:
        return DurableCompactor(self.protocol, SETTINGS, self.summarizer, on_event=self.events.append)

    def _sent(self, messages: list[Json], folded: bool) -> None:
        assert refused(self.protocol, messages) == []
        now = canonical(messages)[:-1]
        if not now.startswith(self.before):
            self.breaks += 1
            assert folded
        self.before = now


def talked(protocol: str, **more: Any) -> Application:
    """An application after twelve turns, some of which are folded on their way."""
    found = Application(protocol=protocol, **more)
    for number in range(12):
        found.turn(number, 14 if number % 3 == 0 else 2)
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_prompts_break_at_folds_and_nowhere_else(protocol: str) -> None:
    """Every request begins with the one before, from turn to turn as well, but where something is folded."""
    application = talked(protocol)
    done = [event for event in application.events if event.kind == "done"]
    assert {event.lane for event in done} == {"durable", "loop"}
    assert application.breaks <= len(done)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_told_twice(protocol: str) -> None:
    """Over all turns summarizers take in at most 1.2 times what was said; without the memo it is more."""
    said = sum(COUNT(canonical(message)) for row in talked(protocol).rows for message in row.messages)
    taken = {}
    for handing in (True, False):
        asked = talked(protocol, handing=handing).summarizer.requests
        taken[handing] = sum(COUNT(request.history) for request in asked)
    assert taken[True] <= 1.2 * said
    assert taken[True] < taken[False]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_fold_between_turns_takes_up_both_summaries(protocol: str) -> None:
    """What was folded inside turns reaches the next durable summary as what came before it, not as messages."""
    application = talked(protocol)
    durable = [
        request for request in application.summarizer.requests if request.prior and request.prior.count("Summary ") == 2
    ]
    assert durable


def test_another_process_goes_on_alike() -> None:
    """With the memo stored as JSON between turns the same bytes are sent."""
    kept, stored = talked("anthropic"), talked("anthropic", restarting=True)
    assert stored.before == kept.before
    assert stored.breaks == kept.breaks


def test_a_memo_of_another_history_is_dropped() -> None:
    """Where the user went back to an earlier turn the memo stands for nothing that is served."""
    application = talked("openai-chat")
    edited = [evolve(application.rows[0], messages=[{"role": "user", "content": "Something else."}])]
    served = DurableCompactor("openai-chat", SETTINGS).serve(edited, application.record, application.memo)
    assert served.memo == Memo()
    assert served.messages == list(edited[0].messages)


def test_async_serves_alike() -> None:
    """The async twin takes a memo as well."""
    application = talked("openai-chat")
    compactor = DurableCompactor("openai-chat", SETTINGS, RememberingSummarizer())
    one = compactor.serve(application.rows, application.record, application.memo)
    other = asyncio.run(compactor.aserve(application.rows, application.record, application.memo))
    assert (one.messages, one.memo, one.record) == (other.messages, other.memo, other.record)


def test_a_memo_as_json() -> None:
    """The memo comes back as it was; of nothing stored, an empty one."""
    memo = talked("anthropic").memo
    assert memo.fold is not None
    assert load_memo(json.loads(json.dumps(dump_memo(memo)))) == memo
    assert load_memo(dump_memo(Memo())) == load_memo(None) == Memo()


DAMAGED: dict[str, tuple[Any, str]] = {
    "text": ("{}", "json.loads it first"),
    "later": ({"v": 2}, "version 2"),
    "no digest": ({"digest": None}, "digest"),
    "places out of order": ({"kept": [1, 0]}, "damaged"),
    "a place beyond": ({"kept": [10_000]}, "damaged"),
    "less than nothing": ({"consumed": -1}, "damaged"),
    "made before anything": ({"made_at": -1}, "made_at -1"),
    "fewer attempts than none": ({"fruitless": -1}, "damaged"),
    "nothing for what is folded": ({"fold": None}, "damaged"),
    "a fold of nothing": ({"consumed": 0, "kept": []}, "damaged"),
    "a fold of a later version": ({"fold": {"v": 9}}, "version 9"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_memo_says_so(name: str) -> None:
    """What cannot be read is an error of the caller's, which says that one can go on without it."""
    damage, words = DAMAGED[name]
    stored = {**dump_memo(talked("anthropic").memo), **damage} if isinstance(damage, dict) else damage
    with pytest.raises(CallerError, match=words):
        load_memo(stored)
