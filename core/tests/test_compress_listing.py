"""What is listed as compressible passes the gates; settings that cannot be are refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.compress import CompressConfig, CompressSession
from trimtab.compress.listing import compressible
from trimtab.errors import CallerError
from trimtab.testing.talks import (
    begin,
    board_of,
    compress,
    entry,
    read,
    say,
    talk,
)


def test_short_stretches_are_listed_together() -> None:
    """Stretches between messages that stay are named as one range if each is too small alone."""
    messages = [*talk(3), *read("p1", 50, "plan"), *talk(3), *read("p2", 50, "plan"), *talk(9)]
    session = begin(messages, protected_tools=["plan"])
    listed = compressible(board_of(session), len(session.state.seen))
    assert [(one.start_ref, one.end_ref, one.chars) for one in listed] == [
        ("m00001", "m00008", 6_000),
        ("m00011", "m00015", 5_000),
    ]
    outcome = compress(session, entry("m1", "m8"))
    assert outcome.ok
    assert outcome.folds[0].kept == ("m00004", "m00005")


def test_blocks_are_listed_with_what_stands_between() -> None:
    """As one range, whose size is what really would be folded."""
    session = begin(talk(40), min_chars=1_000)
    compress(session, entry("m1", "m10", "s" * 900), entry("m13", "m20", "s" * 900))
    listed = compressible(board_of(session), len(session.state.seen))
    blocks = sum(len(text) for text in map(str, (one["content"] for one in session.request())) if "<folded" in text)
    assert [(one.start_ref, one.end_ref, one.by_block) for one in listed] == [
        ("m00011", "m00012", False),
        ("m00021", "m00038", False),
        ("b1", "b2", True),
    ]
    assert listed[-1].chars == 2_000 + blocks
    assert compress(session, entry("b1", "b2")).ok


kinds = st.sampled_from(["user", "assistant", "read", "plan", "small", "chinese"])


@settings(max_examples=60, deadline=None)
@given(
    made=st.lists(kinds, min_size=1, max_size=40),
    recent=st.integers(0, 5),
    least=st.sampled_from([0, 500, 5_000]),
    folds=st.lists(st.integers(0, 9), max_size=3),
)
def test_all_that_is_listed_passes(made: list[str], recent: int, least: int, folds: list[int]) -> None:
    """Each listed range is taken when it is called alone at once, with a summary of 200 chars."""
    config = {"keep_recent": recent, "min_chars": least, "protected_tools": ["plan"]}
    session = begin(list(messages_of(made)), **config)
    for pick in folds:
        listed = compressible(board_of(session), len(session.state.seen))
        if not listed:
            break
        one = listed[pick % len(listed)]
        outcome = compress(session, entry(one.start_ref, one.end_ref))
        assert outcome.ok, outcome.text
        assert not outcome.refusals
    for one in compressible(board_of(session), len(session.state.seen)):
        again = CompressSession("openai-chat", config=session.config, messages=session.messages, state=session.state)
        outcome = compress(again, entry(one.start_ref, one.end_ref))
        assert outcome.ok, outcome.text


def messages_of(made: list[str]) -> Any:
    """Messages of these kinds."""
    for number, kind in enumerate(made):
        if kind in ("read", "plan"):
            yield from read(f"c{number}", 900, kind)
        elif kind == "small":
            yield say("user", number, 20)
        elif kind == "chinese":
            yield {"role": "assistant", "content": "今天下雨了" * 150}
        else:
            yield say(kind, number)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"min_chars": -1}, "min_chars"),
        ({"min_chars": True}, "min_chars"),
        ({"min_chars": 1.5}, "min_chars"),
        ({"min_summary": 0}, "min_summary"),
        ({"max_summary": 49}, "max_summary"),
        ({"keep_recent": -1}, "keep_recent"),
        ({"growth": 0}, "growth"),
        ({"stop_after": 0}, "stop_after"),
        ({"window": 0}, "window"),
        ({"window": "200k"}, "window"),
        ({"tags": "some"}, "tags"),
        ({"pressure": 0}, "pressure"),
        ({"pressure": True}, "pressure"),
        ({"pressure": 0.9, "emergency": 0.8}, "pressure"),
        ({"emergency": float("nan")}, "pressure"),
        ({"protected_tools": "plan"}, "protected_tools"),
        ({"protected_tools": [1]}, "protected_tools"),
        ({"compress": "fold", "search": "fold"}, "different names"),
        ({"compress": None}, "compress"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any], said: str) -> None:
    """When they are made, by name."""
    with pytest.raises(CallerError, match=said):
        CompressConfig(**wrong)


def test_settings_at_their_ends_are_taken() -> None:
    """The least values, and tools that are not offered."""
    config = CompressConfig(min_chars=0, min_summary=1, max_summary=1, keep_recent=0, decompress="", search="")
    assert config.protected_tools == frozenset()
