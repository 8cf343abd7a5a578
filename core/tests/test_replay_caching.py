"""Providers' caches: what is simulated is what their rules say, by formulas and by recounting."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.errors import CallerError
from trimtab.replay import RULES, CacheRule, rule_for, rule_named
from trimtab.replay.caching import Cached, cached
from trimtab.replay.measuring import Piece, Prompt, shared_bytes
from trimtab.wire import protocols

NAMES = list(RULES)


def prompt(*pieces: tuple[str, int], standing: int = 0, blocks: int = 1) -> Prompt:
    """A request of pieces, each a text and its tokens."""
    made = [Piece(data=text.encode(), chars=len(text), tokens=tokens, blocks=blocks) for text, tokens in pieces]
    return Prompt.of(made, messages=len(made) - standing, standing=standing)


def grown(step: int, count: int) -> list[Prompt]:
    """Requests of which each has one message more, of `step` tokens."""
    return [prompt(*[(f"<{at}>", step) for at in range(length)]) for length in range(1, count + 1)]


def costs(prompts: Sequence[Prompt], rule: CacheRule, pause: float = 0.0) -> float:
    """What all of them cost."""
    return sum(one.cost for one in cached(prompts, rule, pause=pause))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokens", [1, 100, 1_023, 1_024, 1_100, 4_095, 4_096, 5_000, 100_000])
@pytest.mark.parametrize("times", [1, 2, 50])
def test_a_constant_conversation_costs_what_the_formula_says(name: str, tokens: int, times: int) -> None:
    """The same request again and again: written once, read ever after, in whole steps, if it is large enough."""
    rule = RULES[name]
    kept = tokens // rule.step * rule.step if tokens >= rule.least else 0
    once = kept * rule.write + (tokens - kept)
    again = kept * rule.read + (tokens - kept)
    found = costs([prompt(("system", tokens))] * times, rule)
    assert found == pytest.approx(once + (times - 1) * again)


@pytest.mark.parametrize("name", [name for name in NAMES if RULES[name].step == 1])
def test_a_growing_conversation_costs_what_the_formula_says(name: str) -> None:
    """Each request 5,000 tokens longer: these are written, all before them is read."""
    rule, step, count = RULES[name], 5_000, 40
    expected = sum(step * rule.write + (at - 1) * step * rule.read for at in range(1, count + 1))
    assert costs(grown(step, count), rule) == pytest.approx(expected)


def test_a_small_prompt_is_not_cached() -> None:
    """Below the least size nothing is written or read; the first request above it writes all."""
    found = list(cached(grown(600, 3), RULES["anthropic"]))
    assert [(one.read, one.written) for one in found] == [(0, 0), (0, 1_200), (1_200, 600)]


def test_steps_are_whole() -> None:
    """OpenAI's older models cache in steps of 128 tokens; what is over is paid."""
    found = list(cached(grown(1_100, 2), RULES["gpt-5"]))
    assert [(one.read, one.written) for one in found] == [(0, 1_024), (1_024, 1_152)]
    assert found[1].cost == pytest.approx(1_024 * 0.1 + 1_176)


def test_what_stands_before_the_conversation_outlives_a_fold() -> None:
    """Tools and system prompt have a breakpoint of their own, so after a fold they are still read."""
    first = prompt(("tools", 2_000), ("system", 500), ("[one", 9_000), standing=2)
    folded = prompt(("tools", 2_000), ("system", 500), ("[summary", 700), standing=2)
    other = prompt(("other", 2_000), ("system", 500), ("[summary", 700), standing=2)
    found = list(cached([first, folded, other], RULES["anthropic"]))
    assert [(one.read, one.written) for one in found] == [(0, 11_500), (2_500, 700), (0, 3_200)]


def test_a_breakpoint_looks_back_so_far() -> None:
    """An entry further back than the rule looks is not found; a rule without a limit finds it."""
    short = [("[a", 3_000)]
    for blocks, read in ((19, 3_000), (20, 0)):
        prompts = [prompt(*short), prompt(*short, *[(f",{at}", 10) for at in range(blocks)])]
        assert list(cached(prompts, RULES["anthropic"]))[1].read == read
        assert list(cached(prompts, RULES["openai"]))[1].read == 3_000


def test_a_cache_forgets() -> None:
    """Requests further apart than entries last read nothing; a rule that publishes no time forgets nothing."""
    prompts = grown(5_000, 3)
    assert [one.read for one in cached(prompts, RULES["anthropic"], pause=300)] == [0, 5_000, 10_000]
    assert [one.read for one in cached(prompts, RULES["anthropic"], pause=301)] == [0, 0, 0]
    assert [one.read for one in cached(prompts, RULES["anthropic-1h"], pause=301)] == [0, 5_000, 10_000]
    assert [one.read for one in cached(prompts, RULES["gemini"], pause=1e9)] == [0, 5_000, 10_000]


def test_an_older_branch_is_found_again() -> None:
    """Not only the request just before is remembered: a helper's requests in between do no harm."""
    main, helper = grown(5_000, 2), [prompt(("helper", 3_000))]
    for name in ("anthropic", "gpt-5", "vllm"):
        found = list(cached([main[0], *helper, main[1]], RULES[name]))
        assert found[2].read >= 4_992, name


@st.composite
def sessions(draw: st.DrawFn) -> list[Prompt]:
    """Requests that begin more or less as others did."""
    sizes = st.integers(0, 3_000)
    pieces = draw(st.lists(st.tuples(st.sampled_from("abc"), sizes), min_size=1, max_size=5))
    tokens = dict(pieces)
    texts = st.lists(st.sampled_from(sorted(tokens)), min_size=1, max_size=6)
    standing = draw(st.integers(0, 1))
    return [
        prompt(*[(text, tokens[text]) for text in draw(texts)], standing=standing)
        for _ in range(draw(st.integers(1, 6)))
    ]


@settings(max_examples=60)
@given(sessions(), st.sampled_from(NAMES))
def test_tokens_are_read_written_or_neither(prompts: list[Prompt], name: str) -> None:
    """Each token once; nothing is read that no earlier request began with; the cost is that of the three kinds."""
    rule = RULES[name]
    before: list[Prompt] = []
    for one, found in zip(prompts, cached(prompts, rule), strict=True):
        rest = one.tokens - found.read - found.written
        assert min(found.read, found.written, rest) >= 0
        assert found.cost == pytest.approx(found.read * rule.read + found.written * rule.write + rest)
        assert found.read <= max((same_tokens(one, other) for other in before), default=0)
        assert found.read == 0 or found.read >= rule.least
        before.append(one)


def same_tokens(one: Prompt, other: Prompt) -> int:
    """Tokens of the pieces with which both begin."""
    same = 0
    for left, right in zip(one.pieces, other.pieces, strict=False):
        if left.data != right.data:
            break
        same += left.tokens
    return same


@settings(max_examples=60)
@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_shared_bytes_are_counted_one_by_one(same: bytes, one: bytes, other: bytes) -> None:
    """As many as a loop over both finds, wherever pieces end."""
    left, right = (
        Prompt.of([Piece(data=data, chars=0, tokens=0, blocks=1) for data in pieces], messages=0, standing=0)
        for pieces in ((same, one), (same, other))
    )
    a, b = same + one, same + other
    expected = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    assert shared_bytes(left, right) == expected


def test_every_protocol_has_a_rule() -> None:
    """One of the table's, and an unknown name is answered with the names there are."""
    assert {rule_for(name).name for name in (*protocols, "somebody's")} <= set(RULES)
    assert rule_named("gpt-5") is RULES["gpt-5"]
    with pytest.raises(CallerError, match=r"no cache rule 'gpt-9'; there are anthropic, .*vllm"):
        rule_named("gpt-9")


def test_rules_are_plausible() -> None:
    """Reading is never dearer than sending, writing never cheaper; a rule is a value."""
    for rule in RULES.values():
        assert 0 <= rule.read < 1 <= rule.write <= 2
        assert rule.least >= 0
        assert rule.step >= 1
        assert evolve(rule) == rule


def test_nothing_sent_costs_nothing() -> None:
    """No requests, and a request without tokens."""
    assert list(cached([], RULES["anthropic"])) == []
    assert list(cached([prompt()], RULES["anthropic"])) == [Cached(read=0, written=0, cost=0.0)]
