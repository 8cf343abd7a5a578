"""How much of what must not be forgotten an extractive summary keeps at a tenth of the size, and how fast it is made.

What counts are the ids, paths, urls and numbers that were seeded in the user's requests and in the assistant's
conclusions; the size is that of the transcript, whose tool results are shortened already.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from trimtab.compaction import SummaryRequest
from trimtab.compaction.summarizers import ExtractiveSummarizer
from trimtab.testing.briefings import Briefing, briefing, kept
from trimtab.testing.sessions_told import KINDS, session_told
from trimtab.tokens import Estimate

SEEDS = range(20)
TURNS = (6, 20, 60)
COUNT = Estimate().count
SUMMARIZE = ExtractiveSummarizer()


def at_a_share(told: Briefing, share: int) -> str:
    """The summary at one part in so many of the transcript's size."""
    budget = COUNT(told.history) // share
    return SUMMARIZE(SummaryRequest(history=told.history, prior=None, budget=budget, count=COUNT))


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_facts_at_a_tenth(compare: Any, language: Any) -> None:
    """Facts kept at a tenth of the size, of all that were seeded; and the worst single conversation."""
    found = seeded = 0
    worst = 100.0
    for turns in TURNS:
        for seed in SEEDS:
            told = briefing(1_000 + seed, turns=turns, language=language)
            here = len(kept(told.facts, at_a_share(told, 10)))
            found, seeded = found + here, seeded + len(told.facts)
            worst = min(worst, 100 * here / len(told.facts))
    compare.done()
    detail = f"{found} of {seeded}; the worst of {len(TURNS) * len(SEEDS)} conversations {worst:.1f} %"
    compare.keep(f"facts at a tenth of the size ({language})", 100 * found / seeded, 90, "%", detail, at_least=True)


def test_sessions_of_all_kinds(compare: Any) -> None:
    """The same at a tenth, of sessions with logs, tables and code in ten kinds and languages: the worst of all."""
    shares = []
    for kind in KINDS:
        for turns in TURNS:
            for seed in range(3):
                told = session_told(kind, seed, turns=turns)
                shares.append(100 * len(kept(told.facts, at_a_share(told, 10))) / len(told.facts))
    compare.done()
    detail = f"the worst of {len(shares)} sessions; the median is {median(shares):.1f} %"
    compare.keep("facts at a tenth of the size (all kinds)", min(shares), 90, "%", detail, at_least=True)


def test_facts_at_a_twentieth(compare: Any) -> None:
    """The same at a twentieth, where not all of them fit."""
    tolds = [briefing(2_000 + seed, turns=20) for seed in SEEDS]
    found = sum(len(kept(told.facts, at_a_share(told, 20))) for told in tolds)
    seeded = sum(len(told.facts) for told in tolds)
    compare.done()
    compare.keep("facts at a twentieth (en)", 100 * found / seeded, 50, "%", f"{found} of {seeded}", at_least=True)


def test_speed(compare: Any) -> None:
    """A summary against counting the tokens of the same transcript once."""
    told = briefing(1, turns=100)
    compare.ratio(
        "extractive summary, against counting", lambda: at_a_share(told, 10), lambda: COUNT(told.history), goal=20
    )
