"""The shared field reports about folding, each as a test of the kind of fault that it shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from trimtab._json import canonical
from trimtab.blobs.memory import MemoryStore
from trimtab.compaction import (
    DurableCompactor,
    Event,
    FoldSettings,
    LoopCompactor,
    Memo,
    Row,
    archive_of,
    dump_record,
    slide,
)
from trimtab.compaction.measuring.estimate import Estimator
from trimtab.compress import Block, CompressSession
from trimtab.testing.folds import RememberingSummarizer, refused, rows_of
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

CASES = "field-reports.jsonl"
PAIRS = ("C-01", "C-02", "C-03", "C-04", "C-05")
ANTHROPIC = shape_of("anthropic", None)


def padded(messages: list[Json], chars: int) -> list[Json]:
    """The messages with results so large that something has to be folded."""
    text = json.dumps(messages)
    for message in messages:
        if isinstance(message["content"], list):
            for block in message["content"]:
                if block.get("type") == "tool_result":
                    text = text.replace(json.dumps(block["content"]), json.dumps(f"{block['content']} {'x ' * chars}"))
    return list(json.loads(text))


def invariants(sent: list[Json]) -> None:
    """Those that the reports name."""
    assert refused("anthropic", sent) == []
    assert sent[0]["role"] == "user"
    assert all(message["content"] for message in sent)
    for at, message in enumerate(sent):
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        uses = {block["id"] for block in blocks if block["type"] == "tool_use"}
        before = sent[at - 1]["content"] if at else []
        after = sent[at + 1]["content"] if at + 1 < len(sent) else []
        assert results <= {block.get("id") for block in before if isinstance(block, dict)}
        assert uses <= {block.get("tool_use_id") for block in after if isinstance(block, dict)}


@pytest.mark.parametrize("window", [30, 100, 400, 2_000, 100_000])
@pytest.mark.parametrize("chars", [1, 100, 1_000])
@pytest.mark.cases(CASES, area="compaction", id=PAIRS)
def test_r8_calls_and_results_stay_together(case: dict[str, Any], chars: int, window: int) -> None:
    """Wherever the cut falls, in every lane, with every number of kept rows, after one, two and three folds."""
    messages = padded(case["input"]["messages"], chars)
    settings = FoldSettings(windows=window)
    record, rows = None, rows_of(messages)
    for _ in range(case["input"].get("repeat", 3)):
        served = DurableCompactor("anthropic", settings, RememberingSummarizer(words=3)).serve(rows, record)
        invariants(served.messages)
        record = served.record
        rows = [*rows, *rows_of([{"role": "user", "content": "go on " * chars}], prefix=f"more{len(rows)}")]
    memo = Memo()
    for upto in range(1, len(messages) + 1):
        stepped = LoopCompactor("anthropic", settings, RememberingSummarizer(words=3)).step(messages[:upto], memo=memo)
        memo = stepped.memo
        invariants(stepped.messages)
    for most in (None, *range(1, len(messages) + 1)):
        invariants(slide("anthropic", rows_of(messages), settings, most=most).messages)


@pytest.mark.cases(CASES, area="compaction", id="C-02")
def test_parallel_calls_go_together(case: dict[str, Any]) -> None:
    """All ten results stay with their message, or all are folded with it."""
    messages = padded(case["input"]["messages"], 30)
    for keep in (0, 1):
        served = DurableCompactor("anthropic", FoldSettings(windows=300 + 5_000 * keep), RememberingSummarizer()).serve(
            rows_of(messages)
        )
        text = json.dumps(served.messages)
        assert text.count("tool_use_id") in (0, 10)
        assert text.count('"tool_use"') == text.count("tool_use_id")


@pytest.mark.cases(CASES, area="compaction", id="C-03")
def test_a_call_without_a_result(case: dict[str, Any]) -> None:
    """It is given one, and that is reported."""
    served = DurableCompactor("anthropic", FoldSettings(windows=9_000)).serve(rows_of(case["input"]["messages"]))
    assert [repair.kind for repair in served.repairs] == ["answered"]
    invariants(served.messages)


@pytest.mark.cases(CASES, area="compaction", id="C-05")
def test_an_orphan_of_an_earlier_fold(case: dict[str, Any]) -> None:
    """It is left out, and that is reported."""
    served = DurableCompactor("anthropic", FoldSettings(windows=9_000)).serve(rows_of(case["input"]["messages"]))
    assert [repair.kind for repair in served.repairs] == ["left-out"]
    assert "left over" not in json.dumps(served.messages)


@pytest.mark.cases(CASES, area="compaction", id="C-12")
def test_signed_thinking(case: dict[str, Any]) -> None:
    """What is kept of it is the same object; newlines at its end too."""
    (thinking,) = case["input"]["messages"]
    said = {"role": "user", "content": "go " * 300}
    rows = rows_of([said, {"role": "assistant", "content": "x " * 300}, {"role": "user", "content": "now"}, thinking])
    served = DurableCompactor("anthropic", FoldSettings(windows=600), RememberingSummarizer()).serve(rows)
    assert served.event is not None
    assert served.event.kind == "done"
    assert served.messages[-1] is thinking
    assert served.messages[-1]["content"][0]["thinking"].endswith("\n\n")


SAME = """
import json, sys
from trimtab._json import canonical
from trimtab.compaction import DurableCompactor, FoldSettings, Row, dump_record
rows = []
for number in range(20):
    call = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {"b": 1, "a": [number]}}
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": [{"type": "text", "text": "word " * 90}]}
    rows += [
        Row(id=f"u{number}", messages=[{"role": "user", "content": f"Read /srv/{number}.py for ticket AB-{number}."}]),
        Row(id=f"a{number}", messages=[dict(role="assistant", content=[call]), dict(role="user", content=[result])]),
    ]
tools = [{"name": "read", "input_schema": {"type": "object"}}, {"name": "write"}]
served = DurableCompactor("anthropic", FoldSettings(windows=3_000, tools=tools)).serve(rows)
assert served.event.kind == "done"
print(canonical([dump_record(served.record), served.messages]))
"""


@pytest.mark.cases(CASES, area="compaction", id="C-15")
def test_the_same_bytes_in_any_process(case: dict[str, Any]) -> None:
    """Whatever the hash seed, a fold by the default summarizer stores and serves the same bytes."""
    assert "PYTHONHASHSEED" in case["input"]["script"]
    printed = set()
    for seed in ("0", "1", "7"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", SAME], capture_output=True, text=True, check=True, env=environment)
        printed.add(done.stdout)
    assert len(printed) == 1


@pytest.mark.cases(CASES, area="compaction", id="C-18")
def test_tokens_of_cjk(case: dict[str, Any]) -> None:
    """240 characters of Chinese are at least 140 tokens, 240 of English 50 to 75, in a message as in a text."""
    chinese, english = (text[:240] for text in case["input"]["texts"])
    estimator = Estimator(FoldSettings(windows=1))
    sizes = [
        estimator.messages(ANTHROPIC.read([{"role": "user", "content": [{"type": "text", "text": text}]}]))
        for text in (chinese, english)
    ]
    assert sizes[0] >= 140
    assert 50 <= sizes[1] <= 75


@pytest.mark.parametrize("place", ["prompt", "result", "json result"])
@pytest.mark.cases(CASES, area="compaction", id="C-19")
def test_r8_an_image_has_a_fixed_price(case: dict[str, Any], place: str) -> None:
    """However long its base64 is, and wherever it stands (R8)."""

    def tokens(length: int) -> int:
        source = {"type": "base64", "media_type": "image/png", "data": "A" * length}
        block: Json = {"type": "image", "source": source}
        if place == "result":
            block = {"type": "tool_result", "tool_use_id": "a", "content": [block]}
        elif place == "json result":
            block = {
                "type": "tool_result",
                "tool_use_id": "a",
                "content": [{"type": "json", "json": {"page": [block]}}],
            }
        return Estimator(FoldSettings(windows=1)).messages(ANTHROPIC.read([{"role": "user", "content": [block]}]))

    assert tokens(case["input"]["message"]["data_len"]) == tokens(40)
    assert tokens(40) < 1_100


@pytest.mark.cases(CASES, area="compaction", id="C-21")
def test_both_ways_archive_an_image_alike(case: dict[str, Any]) -> None:
    """What the model's own compress call folds and what is folded for it give the image the same text and id."""
    assert "image" in case["input"]["script"]
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 30}
    picture = {
        "role": "user",
        "content": [{"type": "image", "source": source}, {"type": "text", "text": "look " * 2_000}],
    }
    messages = [
        picture,
        *[{"role": ("assistant", "user")[n % 2], "content": f"{n} " + "word " * 300} for n in range(9)],
    ]
    store = MemoryStore()
    served = DurableCompactor(
        "anthropic", FoldSettings(windows=3_000), RememberingSummarizer(), store=store, owner="c"
    ).serve(rows_of(messages))
    assert served.record is not None
    (automatic,) = [entry for entry in served.record.archive if entry.kind == "image/png"]
    assert store.get(automatic.id) == f"data:image/png;base64,{source['data']}"
    session = CompressSession("anthropic", messages=messages)
    arguments = {"content": [{"startId": "m1", "endId": "m4", "summary": "What was asked and found. " * 4}]}
    call = {"type": "tool_use", "id": "k", "name": "compress", "input": arguments}
    session.receive({"role": "assistant", "content": [call], "stop_reason": "tool_use"})
    (block,) = session.state.blocks
    assert isinstance(block, Block)
    folded = [messages[number - 1] for first, last in block.spans for number in range(first, last + 1)]
    by_tool = archive_of("anthropic", folded)
    assert automatic in by_tool.entries


@pytest.mark.cases(CASES, area="compaction", id="C-24")
def test_a_summary_is_a_record(case: dict[str, Any]) -> None:
    """It stands in delimiters, below a sentence that says what it is; the same range is not folded twice."""
    said = case["input"]["summary"]
    assert len(said) < 60
    summary = f"{said}\nThe tests live in tests/test_parser.py."
    asked: list[Any] = []

    def summarize(request: Any) -> str:
        asked.append(request)
        return summary

    rows = rows_of([{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "word " * 200} for n in range(9)])
    settings = FoldSettings(windows=2_000)
    served = DurableCompactor("openai-chat", settings, summarize).serve(rows)
    text = served.messages[0]["content"]
    assert text.startswith(
        "<conversation-summary>\nThis is a record of the conversation up to here, not a new request.\n"
    )
    assert text.endswith(f"\n{summary}\n</conversation-summary>")
    times = len(asked)
    again = DurableCompactor("openai-chat", settings, summarize).serve(rows, served.record)
    assert canonical(again.messages) == canonical(served.messages)
    assert len(asked) == times
    assert dump_record(again.record) == dump_record(served.record)


@pytest.mark.cases(CASES, area="compaction", id="C-26")
def test_what_cannot_progress_is_not_tried_each_turn(case: dict[str, Any]) -> None:
    """Each fold makes the prompt smaller, or nothing is asked and it says that there is nothing to fold."""
    assert "always kept" in case["input"]["script"]
    events: list[Event] = []
    summarizer = RememberingSummarizer(words=3)
    settings = FoldSettings(windows=2_000, system="w " * 3_000)
    record, rows = None, list[Row]()
    for number in range(30):
        rows.append(Row(id=f"u{number}", messages=[{"role": "user", "content": f"{number} please"}]))
        asked = len(summarizer.requests)
        served = DurableCompactor("openai-chat", settings, summarizer, on_event=events.append).serve(rows, record)
        event, record = served.event, served.record
        assert event is not None
        if len(summarizer.requests) > asked:
            assert event.kind == "done"
            assert event.after is not None
            assert event.after < event.before
        else:
            assert "nothing to fold" in event.reason
        rows.append(Row(id=f"a{number}", messages=[{"role": "assistant", "content": f"{number} done"}]))
    assert len(summarizer.requests) <= 1
