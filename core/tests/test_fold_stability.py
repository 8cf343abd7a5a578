"""Whole sessions with real trimming and both folds: each request begins with the one before, except at a fold."""

from __future__ import annotations

import pytest

from trimtab import Host, Policy
from trimtab._json import canonical
from trimtab.compaction import DurableCompactor, Event, FoldRecord, FoldSettings, LoopCompactor, Memo, Row, slide
from trimtab.replay.generated import generate
from trimtab.testing.conversations import WRITERS
from trimtab.testing.folds import RememberingSummarizer, refused
from trimtab.types import Json
from trimtab.wire.histories import is_prompt
from trimtab.wire.lookup import shape_of

NAMES = sorted(WRITERS)
TURNS = 50
SETTINGS = FoldSettings(windows=24_000)


def trimmed(name: str, seed: int) -> tuple[list[Json], list[int]]:
    """The messages of a session, its outputs trimmed; and how many of them each of its requests has."""
    session = generate(TURNS, protocol=name, seed=seed, size=0.05)
    shape = session.shape
    with Host.load(store="memory:", discover=False, policy=Policy(limit=1_000, keep=600)) as host:
        last = host.trim_request(session.requests[-1], name)
    assert any(result.changed for result in last.results)
    return list(shape.place(last.request)[1]), [len(shape.place(request)[1]) for request in session.requests]


class Agent:
    """An application: rows, a record, a memo from turn to turn, and a compactor of each kind for each turn."""

    def __init__(self, name: str, settings: FoldSettings) -> None:
        self.name = name
        self.settings = settings
        self.summarizer = RememberingSummarizer()
        self.record: FoldRecord | None = None
        self.base: list[Json] = []
        self.memo = Memo()
        self.lane = LoopCompactor(name, settings, self.summarizer)

    def turn(self, rows: list[Row]) -> bool:
        """A turn begins. Whether there was a fold."""
        served = DurableCompactor(self.name, self.settings, self.summarizer).serve(rows, self.record, self.memo)
        self.record, self.base, self.memo = served.record, served.messages, served.memo
        self.lane = LoopCompactor(self.name, self.settings, self.summarizer)
        return _is_fold(served.event)

    def step(self, since: list[Json]) -> tuple[list[Json], bool]:
        """What is sent with what came since the turn began, and whether there was a fold."""
        stepped = self.lane.step([*self.base, *since], None, self.memo)
        self.memo = stepped.memo
        return stepped.messages, _is_fold(stepped.event)


def _is_fold(event: Event | None) -> bool:
    """A fold that was tried and not made gives no leave to break a prompt."""
    return event is not None and event.kind == "done"


def prompt_places(name: str, messages: list[Json]) -> list[int]:
    """Where the user says something."""
    return [at for at, message in enumerate(shape_of(name, None).read(messages)) if is_prompt(message)]


def folds_of(name: str, seed: int) -> int:
    """Run one session: prompts break where something is folded and nowhere else, every one is legal. How many folds."""
    messages, lengths = trimmed(name, seed)
    prompts = prompt_places(name, messages)
    agent = Agent(name, SETTINGS)
    folds, before, turn = 0, "", -1
    for length in lengths:
        start = max(place for place in prompts if place < length) + 1
        folded = False
        if start != turn:
            folded = agent.turn([Row(id=f"r{at}", messages=(one,)) for at, one in enumerate(messages[:start])])
            turn = start
        sent, inside = agent.step(messages[start:length])
        now = canonical(sent)[:-1]
        assert folded or inside or now.startswith(before), (seed, length)
        assert refused(name, sent) == []
        folds += folded or inside
        before = now
    assert folds <= len(lengths) // 5, "what was folded is served again"
    return folds


@pytest.mark.parametrize("name", NAMES)
def test_each_request_begins_with_the_one_before(name: str) -> None:
    """A session of 50 turns breaks only at folds, and there are some."""
    assert folds_of(name, 0) > 0


@pytest.mark.parametrize("name", NAMES)
def test_without_a_window_nothing_breaks(name: str) -> None:
    """Without folds the share of the request before is 100 %."""
    messages, lengths = trimmed(name, 1)
    agent = Agent(name, FoldSettings(windows=10_000_000))
    before = ""
    for length in lengths:
        agent.turn([Row(id=f"r{at}", messages=(one,)) for at, one in enumerate(messages[:length])])
        now = canonical(agent.base)[:-1]
        assert now.startswith(before)
        before = now
    assert agent.summarizer.requests == []


@pytest.mark.parametrize("name", NAMES)
def test_the_window_moves_seldom(name: str) -> None:
    """A window without a summarizer breaks the prompt as seldom as folds do."""
    messages, lengths = trimmed(name, 2)
    before, moved = "", []
    for length in lengths[::3]:
        slid = slide(name, [Row(id=f"r{at}", messages=(one,)) for at, one in enumerate(messages[:length])], SETTINGS)
        now = canonical(slid.messages)[:-1]
        moved.append(not now.startswith(before))
        assert refused(name, slid.messages) == []
        before = now
    assert 1 <= sum(moved) <= len(lengths) // 5


def test_the_same_session_is_served_alike() -> None:
    """Two agents of the same session send the same bytes."""
    messages, lengths = trimmed("anthropic", 3)
    rows = [Row(id=f"r{at}", messages=(one,)) for at, one in enumerate(messages)]
    sent: tuple[list[str], list[str]] = ([], [])
    for found in sent:
        agent = Agent("anthropic", SETTINGS)
        for length in lengths[::10]:
            agent.turn(rows[: length - 1])
            found.append(canonical(agent.step(messages[length - 1 : length])[0]))
    assert sent[0] == sent[1]
