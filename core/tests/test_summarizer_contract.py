"""The contract finds what is wrong with a summarizer, and says so in words that help."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from typing import Any

import pytest

from trimtab.compaction import SummaryRequest
from trimtab.compaction.summarizers import ExtractiveSummarizer
from trimtab.testing.summarizers import SummarizerContract

GOOD = ExtractiveSummarizer()
COUNTER = itertools.count()
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhf" * 4


def _too_long(one: SummaryRequest) -> str:
    return one.history


def _changing(one: SummaryRequest) -> str | None:
    object.__setattr__(one, "prior", None)
    return GOOD(one)


def _different(one: SummaryRequest) -> str:
    return f"{GOOD(one)}\nThis is summary number {next(COUNTER)}."


def _forgetful(one: SummaryRequest) -> str | None:
    return GOOD(SummaryRequest(history=one.history, prior=None, budget=one.budget, count=one.count))


def _deaf(one: SummaryRequest) -> str | None:
    return one.prior or GOOD(one)


def _inventive(one: SummaryRequest) -> str:
    return f"{GOOD(one)}\nThe report is https://made-up.example.com/4711, its text trimtab:00112233445566ff."


def _graphic(one: SummaryRequest) -> str:
    return f"{GOOD(one)}\n![shot](data:image/png;base64,{IMAGE})"


def _hanging(one: SummaryRequest) -> str | None:
    time.sleep(0.2)  # longer than the suite below gives it
    return GOOD(one)


async def _hanging_too(one: SummaryRequest) -> str | None:
    await asyncio.sleep(60)
    return GOOD(one)


def _obedient(one: SummaryRequest) -> str | None:
    return "<summary>PWNED</summary>" if "PWNED" in one.history else GOOD(one)


def _vague(one: SummaryRequest) -> str:
    return "The user asked for several things, the assistant used its tools, and all of it was done in the end."


def _window(one: SummaryRequest) -> str | None:
    return GOOD(one)


_window.window = "128k"  # type: ignore[attr-defined]

BAD: dict[str, tuple[Any, str, str]] = {
    "longer than it may be": (
        _too_long,
        "test_the_budget_is_kept",
        "more than twice the budget, 150",
    ),
    "changes its request": (_changing, "test_a_prior_summary_is_taken_up", "it changed its request"),
    "says something else each time": (_different, "test_the_same_request_gives_the_same", "gave 3 summaries"),
    "drops the earlier summary": (_forgetful, "test_a_prior_summary_is_taken_up", r"this is lost: EXP-20417, src/"),
    "drops what is new": (_deaf, "test_a_prior_summary_is_taken_up", r"nothing of request\.history"),
    "makes things up": (_inventive, "test_nothing_is_made_up", r"made up: https://made-up\S+, trimtab:0011"),
    "spells out media": (_graphic, "test_media_are_not_spelt_out", "there is base64 in it: iVBORw0KGgo"),
    "does what a page says": (_obedient, "test_the_history_cannot_steer", r"tool's output told it to: PWNED"),
    "says nothing": (_vague, "test_a_conversation_becomes_a_summary", "none of the ids, paths, urls"),
    "is a factory": (lambda one: GOOD, "test_the_budget_is_kept", "it gave ExtractiveSummarizer: a reply is a text"),
    "refuses": (lambda one: "I'm sorry, I can't help.", "test_the_budget_is_kept", "is no summary .nothing, a refusal"),
    "is a class": (ExtractiveSummarizer, "test_the_budget_is_kept", "is a class: give what the class makes"),
    "is none": (None, "test_the_budget_is_kept", "must be the summarizer under test"),
    "has a window of words": (_window, "test_its_window_is_a_number_of_tokens", "`window` is '128k'"),
    "loses all when nothing is new": (
        lambda one: GOOD(one) if len(one.history) > 99 else "",
        "test_a_history_that_says_nothing_is_survived",
        "the earlier summary is lost",
    ),
}


def suite(summarize: Any, **settings: Any) -> Any:
    """A suite for it, as a package would write one, but not collected."""
    return type("Suite", (SummarizerContract,), {"summarizer": staticmethod(summarize), **settings})()


def try_out(one: Any, name: str) -> None:
    """Run one of its tests for everything that it is run for."""
    test = getattr(one, name)
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    for value in marks[0].args[1] if marks else ():
        test(value)
    if not marks:
        test()


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_found(name: str) -> None:
    """Each fault fails the test that is about it, and its message names the fault."""
    summarize, test, words = BAD[name]
    with pytest.raises(AssertionError, match=words):
        try_out(suite(summarize, deterministic=True), test)


@pytest.mark.parametrize("summarize", [_hanging, _hanging_too])
def test_one_that_hangs_is_not_waited_for(summarize: Any) -> None:
    """The suite's time limit ends the test, sync or async."""
    with pytest.raises(TimeoutError, match=r"no summary within 0\.01 s"):
        suite(summarize, seconds=0.01).ask("User: go")


def test_a_good_one_passes_all() -> None:
    """The built-in summarizer passes every test of the suite, so none of them is at fault."""
    names = [name for name in vars(SummarizerContract) if name.startswith("test_")]
    random.Random(1).shuffle(names)
    for name in names:
        try_out(suite(GOOD, deterministic=True, huge=50_000), name)
    assert {test for _, test, _ in BAD.values()} == set(names) - {"test_a_huge_history_is_survived"}
