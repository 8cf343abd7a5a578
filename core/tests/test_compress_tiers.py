"""Blocks are folded into denser ones, and opened again by tier or whole."""

from __future__ import annotations

import pytest

from trimtab.compress import CompressSession
from trimtab.testing.talks import (
    SUMMARY,
    active,
    begin,
    board_of,
    call,
    compress,
    decompress,
    entry,
    shown_texts,
    talk,
)
from trimtab.types import Json


def numbers(first: int, last: int) -> list[int]:
    """Numbers of messages, both inclusive."""
    return list(range(first, last + 1))


def tiers() -> CompressSession:
    """Three tiers: b3 of b1 and b2 and what stood between, b5 of b3 and b4."""
    session = begin(talk(60))
    compress(session, entry("m1", "m10"), entry("m13", "m20"))
    compress(session, entry("b1", "b2"))
    compress(session, entry("m21", "m30"))
    compress(session, entry("b3", "b4"))
    return session


def test_blocks_are_folded_into_denser_ones() -> None:
    """A range over blocks gives one of a higher tier, which stands for all of their messages, without a least size."""
    session = tiers()
    assert active(session) == {"b5": numbers(1, 30)}
    assert [(block.tier, block.blocks) for block in session.state.blocks] == [
        (1, ()),
        (1, ()),
        (2, (1, 2)),
        (1, ()),
        (3, (3, 4)),
    ]
    text = shown_texts(session)[0]
    assert text.startswith("<folded b5: messages m00001 to m00030>")
    assert text.count(SUMMARY) == 1


def test_a_block_is_opened_by_one_tier() -> None:
    """What was folded into it is shown again, blocks as blocks."""
    session = tiers()
    outcome = decompress(session, "b5")
    assert outcome.ok
    assert outcome.opened is not None
    assert outcome.opened.ref == "b5"
    assert active(session) == {"b3": numbers(1, 20), "b4": numbers(21, 30)}
    assert outcome.text == "Opened: in the place of b5 the conversation has b3, b4 again."
    assert decompress(session, "b3").text == (
        "Opened: in the place of b3 the conversation has b1, b2, m00011 to m00012 again."
    )
    assert active(session) == {"b1": numbers(1, 10), "b2": numbers(13, 20), "b4": numbers(21, 30)}


@pytest.mark.parametrize("all_of_it", [True, "true"])
def test_a_block_is_opened_whole(all_of_it: Json) -> None:
    """With `all` its messages are shown again, all of them."""
    session = tiers()
    before = session.messages
    outcome = decompress(session, "b5", all=all_of_it)
    assert active(session) == {}
    assert outcome.text == "Opened: in the place of b5 the conversation has m00001 to m00030 again."
    assert [text.split("\n")[0] for text in shown_texts(session)[:30]] == [one["content"] for one in before[:30]]


def test_what_was_opened_can_be_folded_again() -> None:
    """By its messages, into a new block: a number is not given twice."""
    session = tiers()
    decompress(session, "b5", all=True)
    assert compress(session, entry("m1", "m30")).ok
    assert active(session) == {"b6": numbers(1, 30)}


@pytest.mark.parametrize(
    ("arguments", "opened"),
    [
        ({"ref": "b1"}, True),
        ({"ref": "B1"}, True),
        ({"ref": 1}, True),
        ({"blockId": "b1"}, True),
        ('"b1"', True),
        ("b1", True),
        (["b1"], True),
        ({"ref": "[b1]"}, True),
        ({}, False),
        ({"ref": None}, False),
        ({"ref": True}, False),
        ({"ref": "b2"}, False),
        ({"ref": "m00001"}, False),
        ("", False),
        ([], False),
    ],
)
def test_arguments_of_decompress_are_read_as_models_spell_them(arguments: Json, opened: bool) -> None:
    """In an object or alone; what names no block that is shown opens none."""
    session = begin(talk(20))
    compress(session, entry("m1", "m10"))
    assert call(session, "decompress", arguments).ok is opened
    assert (active(session) == {}) is opened


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("b3", "b3 is folded into b5: name b5"),
        ("b9", "there is no b9 and never was: what is folded is b5"),
        ("m00007", "m00007 is folded in b5: open that"),
        ("m00033", "m00033 is not folded: what is folded is b5"),
        ("block five", "'block five' is no ref: what is folded is b5"),
        (None, "no ref was given: what is folded is b5"),
    ],
)
def test_what_cannot_be_opened_is_told_why(ref: Json, why: str) -> None:
    """The true cause, and a ref that can be opened in the example."""
    session = tiers()
    text = decompress(session, ref).text
    assert text == f'Nothing was changed.\n- {why}\nA block is opened with its ref, as in {{"ref": "b5"}}.'


def test_with_nothing_folded_there_is_nothing_to_open() -> None:
    """No example names a block that is not there; the model is sent on."""
    session = begin(talk(20))
    assert decompress(session, "b1").text == (
        "Nothing was changed.\n- there is no b1 and never was: nothing is folded now\nGo on with the task."
    )
    compress(session, entry("m1", "m10"))
    decompress(session, "b1")
    assert "b1 was opened again, and its messages m00001 to m00010 are shown" in decompress(session, "b1").text


def test_chained_folds_do_not_grow() -> None:
    """Each fold over the one before stands for more and is not longer: summaries are not carried along."""
    session = begin(talk(60))
    lengths = []
    compress(session, entry("m1", "m5", "s" * 200))
    lengths.append(sum(map(len, shown_texts(session)[:1])))
    for start, end in (("b1", "m9"), ("b2", "m14")):
        compress(session, entry(start, end, "s" * 200))
        lengths.append(len(shown_texts(session)[0]))
    assert max(lengths) - min(lengths) <= 2
    assert board_of(session).shown == {3}
