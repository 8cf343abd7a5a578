"""What summarizers are asked: no request is larger than their window, and none is cut inside a uri or a word."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.compaction import FoldSettings, LoopCompactor, SummaryRequest
from trimtab.compaction.asking.calling import TOO_LONG, Asking, run
from trimtab.compaction.asking.portions import PROMPT_TOKENS, Room, room_of, summary_of
from trimtab.compaction.measuring.estimate import Estimator
from trimtab.compaction.settings import tokens_in
from trimtab.compaction.summarizers import CallableSummarizer, ChainSummarizer
from trimtab.compaction.types import Summarize
from trimtab.errors import SummaryFailed
from trimtab.tokens import Estimate
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

NO_WINDOWS = (None, 0, -5, 0.5, True, False, "8000", float("nan"), float("inf"), [8_000], b"8000")
WORDS = ("parser ", "日本語の文章です。", "/srv/app/main.py:42 ", "https://example.org/a?b=c ", "\n", "3f2a9c1b ", "😀")


class Small:
    """A summarizer with a window, which says so much in words; keeps what it was asked."""

    def __init__(self, window: Any, share: float = 0.9) -> None:
        self.window = window
        self.share = share
        self.asked: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> str:
        """A summary of a share of what is the most that is taken for one."""
        self.asked.append(request)
        said = "It said so: " + "that and this, " * 20_000
        return said[: max(60, int(TOO_LONG * request.budget * self.share) * 3)]


def turn(texts: list[str]) -> list[Json]:
    """A turn in which the assistant says one of these after the other, and the user goes on."""
    said: list[Json] = [{"role": "user", "content": "Port the parser."}]
    for text in texts:
        said += [{"role": "assistant", "content": text}, {"role": "user", "content": "Go on."}]
    return said


def why_not(fold: Asking[str], summarizer: Summarize) -> str:
    """Why it gives no summary; "": it gives one."""
    try:
        run(fold, summarizer, None)
    except SummaryFailed as error:
        return str(error)
    return ""


def size(request: SummaryRequest) -> int:
    """Tokens that a request takes with its task and the longest reply."""
    count = Estimate().count
    return count(request.history) + count(request.prior or "") + PROMPT_TOKENS + TOO_LONG * request.budget


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([500, 900, 1_200, 1_500, 2_000, 3_000, 4_000, 8_000, 16_000, 50_000, 128_000, 200_000]),
    st.sampled_from([2_000, 8_000, 40_000, 200_000, 1_000_000]),
    st.lists(st.tuples(st.sampled_from(WORDS), st.integers(1, 6_000)), min_size=1, max_size=8),
    st.sampled_from([0.1, 0.5, 0.9]),
)
def test_no_request_is_larger_than_the_window(
    own: int, window: int, texts: list[tuple[str, int]], share: float
) -> None:
    """History, prior summary, task and the longest reply fit the window; if they cannot, it fails and says so."""
    messages = shape_of("openai-chat", None).read(turn([word * count for word, count in texts]))
    summarizer = Small(own, share)
    estimator = Estimator(FoldSettings(windows=window))
    budget = window // 14
    fold = summary_of(messages, "A summary of before. " * 3, room_of(summarizer, window, budget), estimator)
    why = why_not(fold, summarizer)
    assert not why or own < 1_500
    assert not why or "window is too small" in why
    assert all(size(request) <= own for request in summarizer.asked)
    assert all(request.budget <= budget for request in summarizer.asked)


@pytest.mark.parametrize("window", [1_500, 4_000, 8_000])
def test_small_windows_leave_room_for_what_is_new(window: int) -> None:
    """A fifth of what is beside the task at least, whatever the summary is that the conversation could have."""
    room = room_of(Small(window), 200_000, 14_400)
    assert room.taken - PROMPT_TOKENS - TOO_LONG * room.given >= (window - PROMPT_TOKENS) // 5
    assert room.taken + TOO_LONG * room.given <= window


def test_a_large_window_gives_what_is_asked_for() -> None:
    """The budget is that of the conversation, up to 16,384 tokens; 85 % of the rest is taken in."""
    assert room_of(Small(90_000), 90_000, 6_480) == Room(taken=int(77_040 * 0.85), given=6_480)
    assert room_of(Small(10_000_000), 90_000, 72_000).given == 16_384


@pytest.mark.parametrize("own", NO_WINDOWS)
def test_a_window_that_is_none(own: Any) -> None:
    """It is as if the summarizer had the conversation's; so it is with no attribute at all."""
    assert tokens_in(own) is None
    assert room_of(Small(own), 20_000, 1_440) == room_of(lambda one: "", 20_000, 1_440)


@pytest.mark.parametrize("own", [8_000, 8_000.0, 8_000.9])
def test_a_window_may_be_any_number(own: Any) -> None:
    """A float is rounded down; what others wrap or hold is asked for its own."""
    wanted = room_of(Small(8_000), 90_000, 6_480)
    assert room_of(Small(own), 90_000, 6_480) == wanted
    assert room_of(CallableSummarizer(function=Small(1), window=own), 90_000, 6_480) == wanted


def test_the_smallest_window_of_a_chain_holds() -> None:
    """Each link is asked for no more than it takes in."""
    links = [Small(9_000), Small(3_000)]
    chain = ChainSummarizer(links=links)
    lane = LoopCompactor("openai-chat", FoldSettings(windows=60_000), chain)
    stepped = lane.step(turn(["/srv/app/main.py and more. " * 400] * 40))
    assert stepped.event is not None
    assert stepped.event.kind == "done"
    assert links[0].asked
    assert all(size(request) <= 3_000 for one in links for request in one.asked)


def test_a_prior_summary_that_leaves_no_room() -> None:
    """One of another summarizer's, say: it is said, and nobody is asked."""
    messages = shape_of("openai-chat", None).read(turn(["word " * 5_000]))
    summarizer = Small(2_000)
    estimator = Estimator(FoldSettings(windows=100_000))
    fold = summary_of(messages, "An old one. " * 2_000, room_of(summarizer, 100_000, 500), estimator)
    with pytest.raises(SummaryFailed, match="the summary before"):
        run(fold, summarizer, None)
    assert summarizer.asked == []


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["https://example.org/a/b?c=d", "/srv/app/main.py", "1234567890", "word"]), min_size=900),
    st.sampled_from([" ", "\n"]),
    st.integers(900, 2_500),
)
def test_an_entry_is_cut_between_words(words: list[str], between: str, taken: int) -> None:
    """What is left of an entry that is too long has no half of a uri, path or number."""
    text = between.join(words * 5)
    seen: list[str] = []

    def summarize(request: SummaryRequest) -> str:
        seen.append(request.history)
        return "A summary that has more than fifty characters in it."

    messages = shape_of("openai-chat", None).read([{"role": "assistant", "content": text}])
    estimator = Estimator(FoldSettings(windows=100_000))
    run(summary_of(messages, None, Room(taken=taken, given=100), estimator), summarize, None)
    (history,) = seen
    head, _, tail = history.partition("\n(… ")
    left = re.split("[ \n]+", f"{head} {tail.partition(' …)')[2]}".strip(" \n"))
    assert set(left) <= {"Assistant:", *words}
    assert Estimate().count(history) <= taken - PROMPT_TOKENS
