"""Histories with faults: what was lost is mended and reported, what is well is the same object."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compaction import DurableCompactor, FoldSettings, LoopCompactor, Repair, slide
from trimtab.compaction.repair import repaired
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.testing.folds import RememberingSummarizer, refused, rows_of
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

NAMES = sorted(WRITERS)
WIDE = FoldSettings(windows=1_000_000)


def told(call_id: str, output: str = "found") -> Told:
    """A call of a tool."""
    return Told(call_id=call_id, name="read", arguments={"path": call_id}, output=output)


TWO = [Turn(said="go", calls=(told("a"), told("b"))), Turn(said="and now?", calls=(told("c"),)), Turn(said="thanks")]


def natives_of(name: str, turns: list[Turn] = TWO) -> list[Json]:
    """The messages of a conversation."""
    return list(shape_of(name, None).place(WRITERS[name](turns))[1])


def mended(name: str, natives: list[Json]) -> tuple[list[Json], tuple[Repair, ...]]:
    """What is sent of them, as the provider takes it."""
    shape = shape_of(name, None)
    fixed, repairs = repaired(shape, shape.read(natives))
    return shape.joined(fixed), repairs


@pytest.mark.parametrize("name", NAMES)
def test_what_is_well(name: str) -> None:
    """The same objects, in their order, with nothing to report; from every lane."""
    natives = natives_of(name, TWO[:1] if name in ("bedrock", "gemini") else TWO)  # these refuse prompts behind results
    sent, repairs = mended(name, natives)
    assert repairs == ()
    assert all(one is other for one, other in zip(sent, natives, strict=True))
    lanes: list[Any] = [
        DurableCompactor(name, WIDE, RememberingSummarizer()).serve(rows_of(natives)),
        LoopCompactor(name, WIDE, RememberingSummarizer()).step(natives),
        slide(name, rows_of(natives), WIDE),
    ]
    for lane in lanes:
        assert all(one is other for one, other in zip(lane.messages, natives, strict=True))


def without_results(name: str) -> list[Json]:
    """The conversation up to its first calls, and its last prompt."""
    shape = shape_of(name, None)
    natives = natives_of(name)
    messages = shape.read(natives)
    kept = [one.native for one in messages if not one.of("result")]
    return kept


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ai-sdk"])
def test_calls_whose_results_never_came(name: str) -> None:
    """Each is given a result that says so, right behind it, and is reported."""
    sent, repairs = mended(name, without_results(name))
    assert refused(name, sent) == []
    assert [repair.kind for repair in repairs] == ["answered"] * 3
    assert [repair.name for repair in repairs] == ["read"] * 3
    assert str(sent).count("No result: the call was interrupted.") == 3


def test_a_call_that_waits_in_a_ui_message() -> None:
    """The AI SDK's has its result put into its own part; what waits for a person is left alone."""
    part = {"type": "tool-read", "toolCallId": "a", "input": {}, "state": "input-available"}
    natives = [
        {"id": "u", "role": "user", "parts": [{"type": "text", "text": "go"}]},
        {"id": "m", "role": "assistant", "parts": [part]},
    ]
    sent, repairs = mended("ai-sdk", natives)
    assert sent[1]["parts"][0]["state"] == "output-error"
    assert [repair.kind for repair in repairs] == ["answered"]
    asking = [natives[0], {**natives[1], "parts": [{**part, "state": "approval-requested"}]}]
    assert mended("ai-sdk", asking) == (asking, ())


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ai-sdk"])
def test_results_whose_calls_are_gone(name: str) -> None:
    """They are left out, each is reported, and nothing else is."""
    shape = shape_of(name, None)
    natives = natives_of(name)
    messages = shape.read(natives)
    orphans = [one.native for one in messages if not one.of("call")]
    sent, repairs = mended(name, orphans)
    assert refused(name, sent) == []
    assert [repair.kind for repair in repairs] == ["left-out"] * 3
    assert "found" not in str(sent)
    assert all(said in str(sent) for said in ("go", "and now?", "thanks"))


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "gemini", "openai-chat"])
def test_results_that_came_too_late(name: str) -> None:
    """Where a provider wants them right behind their call they are put there, with what they say."""
    natives = natives_of(name, [Turn(said="go", calls=(told("a", "late but true"),)), Turn(said="hurry")])
    displaced = [natives[0], natives[1], natives[3], natives[2]]
    sent, repairs = mended(name, displaced)
    assert refused(name, sent) == []
    assert [repair.kind for repair in repairs] == ["moved"]
    assert "late but true" in str(sent)
    assert str(sent).index("late but true") < str(sent).index("hurry")


@pytest.mark.parametrize("name", NAMES)
def test_one_of_two_results_is_missing(name: str) -> None:
    """The other stays as it was; both stand behind their message."""
    if name == "ai-sdk":
        return
    shape = shape_of(name, None)
    natives = natives_of(name, [Turn(said="go", calls=(told("a", "first"), told("b", "second"))), Turn(said="well?")])
    kept: list[Json] = []
    for message in shape.read(natives):
        lost = [part.path for part in message.of("result") if "second" in str(part.value)]
        native = shape.without(message, lost) if lost else message.native
        kept += [] if native is None else [native]
    sent, repairs = mended(name, kept)
    assert refused(name, sent) == []
    assert [(repair.kind, repair.name) for repair in repairs] == [("answered", "read")]
    assert "first" in str(sent)
    assert "second" not in str(sent)


@pytest.mark.parametrize("name", NAMES)
def test_a_beginning_that_is_not_the_users(name: str) -> None:
    """Where the user has to speak first a line of theirs is put before; else the history is sent as it is."""
    natives = natives_of(name, TWO)[1:]
    sent, repairs = mended(name, natives)
    wanted = name in ("anthropic", "bedrock", "gemini", "vllm")
    assert [repair.kind for repair in repairs] == (["opened"] if wanted else [])
    assert ("The beginning of the conversation is not shown." in str(sent[0])) is wanted
    assert refused(name, sent) == []


@pytest.mark.parametrize("name", NAMES)
def test_nothing_at_all(name: str) -> None:
    """An empty history is sent as such."""
    assert mended(name, []) == ([], ())


def test_signed_thinking_goes_whole_or_stays_whole() -> None:
    """What is left out of a message leaves its thinking as it was, byte for byte, newlines at its end too."""
    thinking = {"type": "thinking", "thinking": "step 1\n\n", "signature": "c2lnMg=="}
    use = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    natives = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [thinking, use]}]
    sent, repairs = mended("anthropic", natives)
    assert sent[1]["content"][0] is thinking
    assert [repair.kind for repair in repairs] == ["answered"]


def test_settings_of_a_result_stay() -> None:
    """Results that are merged with a made one keep their cache points and their order."""
    uses: list[Json] = [{"type": "tool_use", "id": one, "name": "read", "input": {}} for one in ("a", "b")]
    result = {"type": "tool_result", "tool_use_id": "b", "content": "x", "cache_control": {"type": "ephemeral"}}
    text = {"type": "text", "text": "and hurry"}
    natives = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [result, text]},
    ]
    sent, _ = mended("anthropic", natives)
    assert [block.get("tool_use_id", "text") for block in sent[2]["content"]] == ["b", "a", "text"]
    assert sent[2]["content"][0] is result
    assert sent[2]["content"][2] is text
