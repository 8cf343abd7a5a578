"""Providers' caches, recounted: a simulator that does the obvious finds the same, and so does a hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.replay import RULES, CacheRule
from trimtab.replay.caching import cached
from trimtab.replay.measuring import Piece, Prompt

Counted = tuple[int, int]


def prompt(pieces: Sequence[Piece], standing: int) -> Prompt:
    """A request of these."""
    return Prompt.of(pieces, messages=len(pieces) - standing, standing=standing)


def recounted(prompts: Sequence[Prompt], rule: CacheRule, pause: float) -> Iterator[Counted]:
    """What each request reads and writes: every entry is kept with its whole beginning and its time of use."""
    entries: list[tuple[list[bytes], float]] = []
    for number, one in enumerate(prompts):
        now = number * pause
        texts, sizes = [piece.data for piece in one.pieces], [piece.tokens for piece in one.pieces]
        alive = [kept for kept, used in entries if rule.ttl is None or now - used <= rule.ttl]
        if rule.kind == "prefixes":
            same = max((beginning(kept, texts) for kept in alive), default=0)
            read, end = (whole(sum(sizes[:length]), rule) for length in (same, len(sizes)))
            entries.append((texts, now))
        else:
            marks = [at for at in sorted({one.standing, len(texts)}) if at and sum(sizes[:at]) >= rule.least]
            hit = max((entry_behind(one, mark, alive, rule) for mark in marks), default=0)
            read, end = sum(sizes[:hit]), sum(sizes[: marks[-1]]) if marks else 0
            entries += [(texts[:at], now) for at in (*marks, hit)]
        yield read, max(0, end - read)


def beginning(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """With how many texts both begin."""
    return next((at for at in range(min(len(one), len(other))) if one[at] != other[at]), min(len(one), len(other)))


def whole(tokens: int, rule: CacheRule) -> int:
    """Whole steps, if there is enough."""
    return tokens - tokens % rule.step if tokens >= rule.least else 0


def entry_behind(one: Prompt, mark: int, alive: Sequence[list[bytes]], rule: CacheRule) -> int:
    """Pieces of the entry that is found from a mark backwards, block by block; 0: none."""
    blocks = [at for at in range(mark) for _ in range(one.pieces[at].blocks)]
    looked = blocks[::-1][: rule.look_back]
    ends = [at + 1 for place, at in enumerate(looked) if place == 0 or looked[place - 1] != at]
    texts = [piece.data for piece in one.pieces]
    return next((end for end in ends if texts[:end] in alive), 0)


SIZES = st.sampled_from([0, 5, 100, 128, 600, 1_024, 3_000])


@st.composite
def sessions(draw: st.DrawFn) -> list[Prompt]:
    """Requests that grow, fold, branch and start anew."""
    words = [
        Piece(data=bytes([letter]), chars=1, tokens=draw(SIZES), blocks=draw(st.integers(1, 12))) for letter in b"abcd"
    ]
    more = st.lists(st.sampled_from(words), max_size=4)
    made: list[Prompt] = []
    pieces: list[Piece] = []
    for _ in range(draw(st.integers(1, 6))):
        kept = draw(st.sampled_from([len(pieces), len(pieces), len(pieces) // 2, 1, 0]))
        pieces = pieces[:kept] + draw(more)
        made.append(prompt(pieces, draw(st.integers(0, min(2, len(pieces))))))
    return made


@settings(max_examples=300)
@given(sessions(), st.sampled_from(list(RULES)), st.sampled_from([None, 0]), st.sampled_from([0, 100, 300, 301, 3_601]))
def test_a_simulator_that_does_the_obvious_finds_the_same(
    prompts: list[Prompt], name: str, least: int | None, pause: int
) -> None:
    """By every rule, whatever the requests have in common and however long they are apart."""
    rule = RULES[name] if least is None else evolve(RULES[name], least=least)
    found = [(one.read, one.written) for one in cached(prompts, rule, pause=pause)]
    assert found == list(recounted(prompts, rule, pause))


def talk(*requests: str) -> list[Prompt]:
    """Requests of one-letter messages of 1,000 tokens each; `S` stands for tools and system prompt, of 2,000."""
    return [
        prompt(
            [
                Piece(data=letter.encode(), chars=1, tokens=2_000 if letter == "S" else 1_000, blocks=1)
                for letter in letters
            ],
            1,
        )
        for letters in requests
    ]


GROWING = talk("Sa", "Sabc", "Sabcde", "Sabcdef")
FOLDED = talk("Sabc", "Sabcde", "Sx", "Sxfg")
BRANCHED = talk("Sab", "Sq", "Sabcd", "Sqr")


@pytest.mark.parametrize(
    ("session", "name", "pause", "expected", "cost"),
    [
        (GROWING, "anthropic", 0, [(0, 3_000), (3_000, 2_000), (5_000, 2_000), (7_000, 1_000)], 8_000 * 1.25 + 1_500),
        (GROWING, "gpt-5", 0, [(0, 2_944), (2_944, 2_048), (4_992, 1_920), (6_912, 1_024)], 23_000 - 0.9 * 14_848),
        (GROWING, "gemini", 0, [(0, 0), (0, 5_000), (5_000, 2_000), (7_000, 1_000)], 23_000 - 0.9 * 12_000),
        (FOLDED, "anthropic", 0, [(0, 5_000), (5_000, 2_000), (2_000, 1_000), (3_000, 2_000)], 10_000 * 1.25 + 1_000),
        (FOLDED, "gpt-5", 0, [(0, 4_992), (4_992, 1_920), (1_920, 1_024), (2_944, 2_048)], 20_000 - 0.9 * 9_856),
        (FOLDED, "gemini", 0, [(0, 5_000), (5_000, 2_000), (0, 0), (0, 5_000)], 20_000 - 0.9 * 5_000),
        (BRANCHED, "anthropic", 0, [(0, 4_000), (2_000, 1_000), (4_000, 2_000), (3_000, 1_000)], 10_900),
        (BRANCHED, "anthropic", 200, [(0, 4_000), (2_000, 1_000), (2_000, 4_000), (2_000, 2_000)], 14_350),
        (BRANCHED, "openai", 200, [(0, 4_000), (2_000, 1_000), (4_000, 2_000), (3_000, 1_000)], 10_900),
    ],
)
def test_by_hand(session: list[Prompt], name: str, pause: int, expected: list[Counted], cost: float) -> None:
    """A session that grows, one that is folded before its third request, and two that take turns: each entry counts
    its own time from when it was last used."""
    found = list(cached(session, RULES[name], pause=pause))
    assert [(one.read, one.written) for one in found] == expected
    assert sum(one.cost for one in found) == pytest.approx(cost)
