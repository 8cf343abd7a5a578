"""Budgets: their bounds, water-filling, the share of a batch, tokens."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab import Budget, Call, Host, Policy
from trimtab.budget import fill, share
from trimtab.errors import BadBudget
from trimtab.testing.corpus import TEXT_KINDS, made_text
from trimtab.testing.strategies import CountsBytes, CountsWords
from trimtab.tokens import Estimate
from trimtab.types import Json

quick = settings(
    max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize(
    "sizes",
    [
        {"keep": 511},
        {"limit": 511, "keep": 511},
        {"limit": 1_000, "keep": 1_001},
        {"unit": "tokens", "limit": 127, "keep": 127},
        {"batch": 511},
        {"unit": "tokens", "limit": 200, "keep": 200, "batch": 127},
        {"cap": 255},
        {"unit": "tokens", "limit": 200, "keep": 200, "cap": 63},
        {"limit": True},
        {"limit": 20_000.0},
        {"limit": "20000"},
        {"keep": None},
        {"unit": "words"},
        {"unit": None},
        {"counter": 3},
    ],
    ids=str,
)
def test_a_budget_that_cannot_be_kept(sizes: dict[str, Any]) -> None:
    """Is refused when it is made, with a message that says what may be."""
    with pytest.raises(BadBudget, match=r"must|between|at least|counter"):
        Budget(**sizes)


def test_the_least_and_the_usual_budget() -> None:
    """512 chars or 128 tokens at least; by default 12,000 of 20,000 chars."""
    assert Budget(limit=512, keep=512).keep == 512
    assert Budget(unit="tokens", limit=128, keep=128).least == 128
    assert (Budget().limit, Budget().keep, Budget().unit, Budget().batch, Budget().cap) == (
        20_000,
        12_000,
        "chars",
        None,
        None,
    )


@quick
@given(st.integers(0, 3_000), st.lists(st.integers(0, 900), max_size=8), st.integers(0, 4_000))
def test_water_filling_is_the_largest_cap(frame: int, lengths: list[int], keep: int) -> None:
    """Tried one by one: no larger cap keeps within the budget, and None only when no cap is needed."""

    def taken(cap: int) -> int:
        return frame + sum(min(length, cap) for length in lengths)

    cap = fill(frame, lengths, keep)
    if cap is None:
        assert frame + sum(lengths) <= keep
        return
    assert frame + sum(lengths) > keep
    fitting = [one for one in range(1_000) if taken(one) <= keep]
    assert cap == max(fitting, default=0)


@quick
@given(st.lists(st.integers(0, 5_000), max_size=8), st.integers(512, 9_000))
def test_the_share_of_a_batch(sizes: list[int], batch: int) -> None:
    """The largest share within the batch, but at least 512; the order of the sizes does not matter."""
    part = share(sizes, batch, 512)
    if part is None:
        assert sum(sizes) <= batch
        return
    assert part >= 512
    assert part == 512 or sum(min(size, part) for size in sizes) <= batch
    assert sum(min(size, part + 1) for size in sizes) > batch
    assert share(sizes[::-1], batch, 512) == part


def batch_of(sizes: list[int]) -> list[Call]:
    """Plain texts of these sizes, each another one."""
    return [
        Call("page", f"{n} ".ljust(8) + made_text("lines", size - 8, n)[: size - 8]) for n, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("sizes", "batch"),
    [
        ([9_000, 700, 5_000], 6_000),
        ([3_000, 3_000, 3_000], 3_000),
        ([500, 500, 500], 1_500),
        ([20_000, 100], 2_000),
        ([2_000, 2_000, 2_000, 2_000], 1_000),
        ([600, 8_000, 600], 512),
    ],
    ids=str,
)
def test_a_batch_keeps_within_its_budget(sizes: list[int], batch: int) -> None:
    """The results together take at most `batch`, where each can have its 512; those under the share stay whole."""
    budget = Budget(limit=8_000, keep=4_000, batch=batch)
    with Host.load(discover=False) as host:
        calls = batch_of(sizes)
        alone = [host.trim(call.tool, call.output, budget=Budget(limit=8_000, keep=4_000)) for call in calls]
        results = host.trim_batch(calls, budget=budget)
        together = sum(len(one.text) for one in results)
        assert together <= max(batch, 512 * len(sizes))
        part = share([len(one.text) for one in alone], batch, 512)
        for before, after in zip(alone, results, strict=True):
            assert part is None or len(after.text) <= max(part, 512)
            if part is None or len(before.text) <= part:
                assert after.value == before.value
            assert host.inflate(after.row) == before_output(calls, after.row, results)


def before_output(calls: list[Call], row: Json, results: list[Any]) -> Json:
    """The output whose row this is."""
    return next(call.output for call, one in zip(calls, results, strict=True) if one.row is row)


def test_the_order_of_a_batch_does_not_matter() -> None:
    """Each result is the same whatever stands before it."""
    budget = Budget(limit=8_000, keep=4_000, batch=5_000)
    calls = batch_of([9_000, 700, 5_000, 1_500])
    with Host.load(discover=False) as host:
        expected = {
            call.output: one.text for call, one in zip(calls, host.trim_batch(calls, budget=budget), strict=True)
        }
        for order in permutations(calls):
            results = host.trim_batch(order, budget=budget)
            assert {call.output: one.text for call, one in zip(order, results, strict=True)} == expected


def test_read_back_tools_are_outside_a_batch() -> None:
    """A page that was read back is whole, and takes nothing from the others."""
    budget = Budget(limit=8_000, keep=4_000, batch=3_000)
    calls = batch_of([9_000, 5_000])
    page = Call("fs_read", {"text": made_text("lines", 15_000, 3)})
    with Host.load(discover=False) as host:
        without = host.trim_batch(calls, budget=budget)
        first, read, second = host.trim_batch([calls[0], page, calls[1]], budget=budget)
        assert read.value == page.output
        assert [first.value, second.value] == [one.value for one in without]


def test_media_takes_nothing_of_a_batch() -> None:
    """A picture beside texts leaves them all the room that they have without it, in a value and in JSON text."""
    budget = Budget(limit=8_000, keep=4_000, batch=3_000)
    calls = batch_of([9_000, 5_000])
    block = {"content": [{"type": "image", "data": made_text("solid", 20_000, 3), "mimeType": "image/png"}]}
    with Host.load(discover=False) as host:
        without = [one.value for one in host.trim_batch(calls, budget=Budget(limit=8_000, keep=4_000, batch=2_900))]
        for picture in (block, json.dumps(block)):
            size = len(json.dumps(block)) - 20_000
            whole, *texts = host.trim_batch([Call("camera", picture), *calls], budget=budget)
            assert whole.value is picture
            assert sum(len(one.text) for one in texts) >= 3_000 - size - 200
            assert all(len(one.text) > len(other) - 100 for one, other in zip(texts, without, strict=True))


def test_what_is_no_json_takes_nothing_of_a_batch() -> None:
    """Where the policy lets it pass whole, the others are trimmed as they would be."""
    policy = Policy(unsupported="whole", batch=3_000)
    calls = batch_of([9_000, 5_000])
    with Host.load(policy=policy, discover=False) as host:
        without = host.trim_batch(calls)
        passed, *texts = host.trim_batch([Call("raw", b"bytes"), *calls])
        assert passed.value == b"bytes"
        assert passed.error is not None
        assert [one.value for one in texts] == [one.value for one in without]


def test_a_cap_in_tokens_is_of_each_text() -> None:
    """However many tokens a char costs in it: not of the average text."""
    output = {"en": "hello world of tools and lines. " * 300, "zh": "前缀缓存是一种技术" * 900}
    budget = Budget(unit="tokens", limit=100_000, keep=100_000, cap=500)
    with Host.load(discover=False) as host:
        trimmed = host.trim("page", output, budget=budget)
        assert all(
            400 < Estimate().count(json.dumps(text, ensure_ascii=False)) <= 510 for text in trimmed.value.values()
        )
        assert host.trim("page", trimmed.value, budget=budget).value is trimmed.value


@given(
    words=st.lists(st.sampled_from(("lock", "ship", "中文字", "/", "😀")), min_size=400, max_size=800),
    spelt=st.permutations((r"\u0020", r"\u0020\u0020", " ")),
    cap=st.sampled_from((64, 80, 150)),
    keep=st.integers(min_value=128, max_value=400),
)
@settings(max_examples=60, deadline=None)
def test_a_cap_in_tokens_holds_however_a_text_is_spelt(words: list[str], spelt: list[str], cap: int, keep: int) -> None:
    """JSON text in a spelling of nobody's may count far fewer tokens than its excerpts do: each of these is counted."""
    output = "[" + ",".join(f'{{"content":"{blank.join(words)}"}}' for blank in spelt) + "]"
    budget = Budget(unit="tokens", limit=400, keep=keep, cap=cap, counter=CountsBlanks())
    with Host.load(discover=False) as host:
        trimmed = host.trim("page", output, budget=budget)
        assert host.inflate(trimmed.row) == output
        assert host.trim("page", trimmed.value, budget=budget).value == trimmed.value


class CountsBlanks:
    """A token for each word between blanks, so that a text without blanks has one."""

    name = "blanks"
    version = "1"

    def count(self, text: str) -> int:
        """Words."""
        return len(text.split(" "))


@pytest.mark.parametrize("counter", [Estimate(), CountsBytes(), CountsWords()], ids=lambda one: one.name)
@pytest.mark.parametrize("kind", sorted(TEXT_KINDS.keys() - {"json"}))
@pytest.mark.parametrize("shape", ["text", "results"])
def test_tokens_converge(counter: Any, kind: str, shape: str) -> None:
    """A rendering has at most `keep` tokens and uses most of them where it can, or it is down to bare markers."""
    text = made_text(kind, 30_000, 1)
    output = text if shape == "text" else [{"id": n, "text": made_text(kind, 4_000, n)} for n in range(6)]
    budget = Budget(unit="tokens", limit=2_500, keep=2_400, counter=counter)
    with Host.load(policy=Policy(limit=100_000), discover=False) as host:
        trimmed = host.trim("page", output, budget=budget)
        if trimmed.sizes.tokens_before <= budget.limit:
            assert not trimmed.changed
            return
        assert trimmed.sizes.tokens_after <= budget.keep
        assert trimmed.sizes.tokens_after >= budget.keep // 3
        assert not trimmed.over_budget
        again = host.trim("page", trimmed.value, budget=budget)
        assert again.value == trimmed.value
