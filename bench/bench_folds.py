"""What folds cost beside the summarizer: serving a long conversation, stepping through a turn, folding."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compaction import DurableCompactor, FoldRecord, FoldSettings, LoopCompactor, Row
from trimtab.replay.generated import generate

WIDE = FoldSettings(windows=100_000_000)
TIGHT = FoldSettings(windows=100_000)


def conversation(turns: int) -> list[Any]:
    """The messages of a made-up agent, some 1,000 tokens a message."""
    session = generate(turns, protocol="anthropic", seed=7, size=0.1)
    return list(session.shape.place(session.requests[-1])[1])


def rows_of(messages: list[Any]) -> list[Row]:
    """One message a row."""
    return [Row(id=str(at), messages=[message]) for at, message in enumerate(messages)]


@pytest.mark.parametrize("turns", [100, 400])
def test_serving_whole(benchmark: Any, turns: int) -> None:
    """No fold is due: reading, estimating, checking every message."""
    rows = rows_of(conversation(turns))
    compactor = DurableCompactor("anthropic", WIDE)
    served = benchmark(compactor.serve, rows)
    assert len(served.messages) == len(rows)


def test_serving_a_fold(benchmark: Any) -> None:
    """From a record: only what is not folded is read closely."""
    rows = rows_of(conversation(400))
    compactor = DurableCompactor("anthropic", TIGHT)
    record = compactor.serve(rows).record
    assert isinstance(record, FoldRecord)
    served = benchmark(compactor.serve, rows, record)
    assert served.event is None


def test_folding(benchmark: Any) -> None:
    """A fold of nearly all of it by the extractive summarizer."""
    rows = rows_of(conversation(100))
    compactor = DurableCompactor("anthropic", TIGHT)
    served = benchmark.pedantic(compactor.serve, (rows,), rounds=3)
    assert served.record is not None


def test_a_step_of_a_long_turn(benchmark: Any) -> None:
    """A step that needs no fold, in a turn of which most is folded already."""
    messages = conversation(100)
    compactor = LoopCompactor("anthropic", TIGHT)
    memo = compactor.step(messages).memo
    assert memo.summary
    stepped = benchmark(compactor.step, messages, None, memo)
    assert stepped.event is None
