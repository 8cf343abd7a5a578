"""What folds cost beside the summarizer, against counting the tokens of the same conversation once.

Serving a long conversation, stepping through a turn, folding; and trimming a long request that was sent before.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab import Host, Policy
from trimtab.compaction import DurableCompactor, FoldRecord, FoldSettings, LoopCompactor, Row
from trimtab.replay.generated import generate
from trimtab.tokens import Estimate

WIDE = FoldSettings(windows=100_000_000)
TIGHT = FoldSettings(windows=100_000)
COUNT = Estimate().count


def conversation(turns: int) -> list[Any]:
    """The messages of a made-up agent, some 1,300 chars a message."""
    session = generate(turns, protocol="anthropic", seed=7, size=0.1)
    return list(session.shape.place(session.requests[-1])[1])


def rows_of(messages: list[Any]) -> list[Row]:
    """One message a row."""
    return [Row(id=str(at), messages=[message]) for at, message in enumerate(messages)]


@pytest.mark.parametrize("turns", [100, 400])
def test_serving_whole(compare: Any, turns: int) -> None:
    """No fold is due: reading, estimating, checking every message."""
    messages = conversation(turns)
    rows, text = rows_of(messages), json.dumps(messages)
    compactor = DurableCompactor("anthropic", WIDE)
    name = f"serving {len(rows):,} messages ({len(text) / 1e6:.1f} MB), no fold due, against counting"
    compare.ratio(name, lambda: compactor.serve(rows), lambda: COUNT(text), goal=12, rounds=8)


def test_serving_a_fold(compare: Any) -> None:
    """From a record: only what is not folded is read closely."""
    messages = conversation(400)
    rows, text = rows_of(messages), json.dumps(messages)
    compactor = DurableCompactor("anthropic", TIGHT)
    record = compactor.serve(rows).record
    assert isinstance(record, FoldRecord)
    compare.ratio(
        "the same from a record", lambda: compactor.serve(rows, record), lambda: COUNT(text), goal=4, rounds=10
    )


def test_folding(compare: Any) -> None:
    """A fold of nearly all of it by the extractive summarizer."""
    messages = conversation(100)
    rows, text = rows_of(messages), json.dumps(messages)
    compactor = DurableCompactor("anthropic", TIGHT)
    name = f"a fold of {len(text) / 1e6:.1f} MB by `extractive`, against counting"
    compare.ratio(name, lambda: compactor.serve(rows), lambda: COUNT(text), goal=80, rounds=5)


def test_a_step_of_a_long_turn(compare: Any) -> None:
    """A step that needs no fold, in a turn of which most is folded already."""
    messages = conversation(100)
    text = json.dumps(messages)
    compactor = LoopCompactor("anthropic", TIGHT)
    memo = compactor.step(messages).memo
    assert memo.summary
    name = f"a step of a turn of {len(messages):,} messages, most of it folded, against counting"
    compare.ratio(name, lambda: compactor.step(messages, None, memo), lambda: COUNT(text), goal=6, rounds=20)


def test_a_request_that_was_sent_before(compare: Any) -> None:
    """Every step trims all results anew: nothing is remembered but the share of a batch."""
    request = generate(150, protocol="anthropic", seed=7, size=0.1).requests[-1]
    with Host.load("memory:", Policy(limit=1_000, keep=600)) as host:
        results = host.trim_request(request, "anthropic", owner="c").results
        assert sum(one.changed for one in results) > len(results) // 2
        text = json.dumps(request)
        compare.ratio(
            f"a request with {len(results):,} results, more than half of them trimmed, against counting",
            lambda: host.trim_request(request, "anthropic", owner="c"),
            lambda: COUNT(text),
            goal=15,
            rounds=10,
        )
