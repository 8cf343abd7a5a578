"""The sliding window: whole turns, the newest always, and what the user has drawn."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from trimtab.compaction import Attachment, FoldSettings, Row, slide
from trimtab.errors import CallerError
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.testing.folds import Words, refused, worded_row, worded_turns
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

WINDOW = FoldSettings(windows=4_000, counter=Words())  # trigger 2,880, keep 1,080


def turns(count: int) -> list[Row]:
    """So many whole turns, each row of 100 tokens, and a prompt."""
    return [*worded_turns(count), worded_row(f"u{count}")]


def ids(rows: tuple[Row, ...]) -> tuple[str, int]:
    """The first row that is sent, and how many are."""
    return rows[0].id, len(rows)


def test_what_fits_is_sent_whole() -> None:
    """Up to the trigger nothing slides, and nothing is told."""
    rows = turns(13)
    slid = slide("openai-chat", rows, WINDOW)
    assert (slid.gone, slid.before, slid.after) == (0, 2_700, 2_700)
    assert slid.rows == tuple(rows)
    assert slid.messages == [row.messages[0] for row in rows]


def test_whole_turns_slide_out() -> None:
    """Above it the prompt becomes as small as after a fold, opens with a prompt, and says what went."""
    slid = slide("openai-chat", turns(14), WINDOW)
    assert ids(slid.rows) == ("u10", 9)
    assert (slid.gone, slid.before, slid.after) == (20, 2_900, 900)


def test_the_window_rests_between_slides() -> None:
    """From turn to turn it stays where it is, until the prompt is too large again."""
    firsts = [slide("openai-chat", turns(count), WINDOW).rows[0].id for count in range(1, 60)]
    moves = [at for at in range(1, len(firsts)) if firsts[at] != firsts[at - 1]]
    assert moves[0] == 13
    assert len(moves) <= 1 + (59 - 14) // 8


def test_the_newest_turn_is_sent_however_large() -> None:
    """One prompt above the window is sent alone."""
    rows = [*turns(5), Row(id="big", messages=[{"role": "user", "content": "word " * 9_000}])]
    assert ids(slide("openai-chat", rows, WINDOW).rows) == ("big", 1)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_no_call_is_cut_from_its_result(name: str) -> None:
    """With tools, in every protocol, for any number of rows."""
    told = [
        Turn(
            said=f"do {n}",
            calls=tuple(
                Told(call_id=f"c{n}{k}", name="read", arguments={}, output="a line of output\n" * 20) for k in range(2)
            ),
        )
        for n in range(6)
    ]
    natives: list[Json] = list(shape_of(name, None).place(WRITERS[name](told))[1])
    rows = [Row(id=str(at), messages=[native]) for at, native in enumerate(natives)]
    for most in range(1, len(rows) + 1):
        slid = slide(name, rows, FoldSettings(windows=None), most=most)
        assert refused(name, slid.messages) == []
        assert slid.repairs == ()
        assert len(slid.rows) >= most


def test_a_window_of_the_users() -> None:
    """At most so many rows, then back to the beginning of their turn; with no window known it counts all the same."""
    rows = turns(5)
    wide = FoldSettings(windows=None)
    assert ids(slide("openai-chat", rows, wide, most=1).rows) == ("u5", 1)
    assert ids(slide("openai-chat", rows, wide, most=2).rows) == ("u4", 3)
    assert ids(slide("openai-chat", rows, wide, most=3).rows) == ("u4", 3)
    assert ids(slide("openai-chat", rows, wide, most=99).rows) == ("u0", 11)


def test_both_windows() -> None:
    """The smaller counts."""
    assert ids(slide("openai-chat", turns(20), WINDOW, most=41).rows)[1] < 30
    assert ids(slide("openai-chat", turns(20), WINDOW, most=3).rows) == ("u19", 3)


def test_what_the_system_says_and_what_was_cleared() -> None:
    """The one stays, the other goes."""
    rows = [
        Row(id="s", messages=[{"role": "system", "content": "Be brief."}]),
        *[evolve(row, id=f"old {row.id}") for row in turns(3)[:-1]],
        Row(id="x", messages=[], clears=True),
        *turns(20),
    ]
    slid = slide("openai-chat", rows, WINDOW)
    assert slid.messages[0] == {"role": "system", "content": "Be brief."}
    assert slid.messages[1]["role"] == "user"
    assert all(row.id != "s" for row in slid.rows)


def test_what_slid_out_is_not_retained() -> None:
    """Files and outputs of rows that are not sent are not to be opened."""
    rows = turns(14)
    rows[0] = Row(id="u0", messages=rows[0].messages, attachments=[Attachment(id="1", name="old.txt")], outputs=["x"])
    rows[-1] = Row(id="u14", messages=rows[-1].messages, attachments=[Attachment(id="2", name="new.txt")])
    slid = slide("openai-chat", rows, WINDOW)
    assert [file.name for file in slid.retained.files] == ["new.txt"]
    assert slid.retained.outputs == ()


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "3"])
def test_a_number_of_rows_that_is_none(most: Any) -> None:
    """It is refused, with what is right."""
    with pytest.raises(CallerError, match="most must be a whole number of rows"):
        slide("openai-chat", turns(2), WINDOW, most=most)


def test_no_rows() -> None:
    """Nothing is sent."""
    assert slide("openai-chat", [], WINDOW).messages == []
