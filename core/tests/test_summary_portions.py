"""What does not fit into one request to a summarizer is asked for in several, each of which fits."""

from __future__ import annotations

from trimtab.compaction import SummaryRequest
from trimtab.compaction.asking.calling import run
from trimtab.compaction.asking.portions import PROMPT_TOKENS, Room, summary_of
from trimtab.compaction.measuring.estimate import Estimator
from trimtab.compaction.settings import FoldSettings
from trimtab.testing.briefings import briefing
from trimtab.tokens import Estimate
from trimtab.wire.lookup import shape_of

COUNT = Estimate().count
GOOD = "The user asked for the invoice of order A-4711, and it was sent to billing@example.com on 3 May."


def test_a_small_window_is_filled_several_times() -> None:
    """Each request fits, takes up the summary before it, and no entry is lost; together they are hardly longer."""
    told = briefing(9, turns=12)
    estimator = Estimator(FoldSettings(windows=100_000))
    seen: list[SummaryRequest] = []

    def summarize(one: SummaryRequest) -> str:
        seen.append(one)
        return f"{GOOD} This is summary number {len(seen)}."

    room = Room(taken=3_000, given=500)
    summary = run(summary_of(told.read, "An earlier summary.", room, estimator), summarize, None)
    assert summary.endswith(f"number {len(seen)}.")
    assert seen[0].prior == "An earlier summary."
    assert all(one.prior == f"{GOOD} This is summary number {n}." for n, one in enumerate(seen[1:], 1))
    assert all(COUNT(one.history) + COUNT(one.prior or "") + PROMPT_TOKENS <= room.taken for one in seen)
    assert "\n\n".join(one.history for one in seen) == told.history


def test_an_entry_larger_than_the_window_is_cut_to_its_ends() -> None:
    """A text that does not fit into one request keeps its beginning and its end, and says how much is left out."""
    messages = [{"role": "user", "content": f"BEGIN {'many words ' * 20_000} END"}]
    estimator = Estimator(FoldSettings(windows=100_000))
    histories: list[str] = []

    def summarize(one: SummaryRequest) -> str:
        histories.append(one.history)
        return GOOD

    run(
        summary_of(shape_of("anthropic", None).read(messages), None, Room(taken=2_000, given=500), estimator),
        summarize,
        None,
    )
    (history,) = histories
    assert history.startswith("User: BEGIN")
    assert history.endswith("END")
    assert "chars left out" in history
    assert COUNT(history) < 2_000
