"""The search tool: passages of folded messages, in any script, with refs, within its limits."""

from __future__ import annotations

import pytest

from trimtab.compress import CompressSession
from trimtab.compress.search import Hit
from trimtab.compress.search import search as find
from trimtab.testing.talks import begin, board_of, called, compress, decompress, entry, response, say, search, talk
from trimtab.types import Json

LINES = (
    "The retry bug came from a stale lock file.",
    "It was mended in worker.py, line 88: the lock is taken once.",
    "重试的错误来自旧的锁文件，已在第八十八行修复。",
    "ล็อกไฟล์ค้างอยู่ในโฟลเดอร์ชั่วคราว",
    "Der Schlüssel liegt in /srv/schlüssel/haupt.pem.",
    "ERROR E4711: connection reset by peer (10.0.0.7:5432)",
)


def folded(**config: str) -> CompressSession:
    """A session in which these lines are folded, one in each of the messages m2, m4 and so on; some more are not."""
    messages = talk(20)
    for number, line in enumerate(LINES):
        messages[2 * number + 1] = {"role": "assistant", "content": f"{'padding ' * 90}\n{line}\n{'filler ' * 40}"}
    session = begin([*messages, say("user", 20), {"role": "assistant", "content": "lock file, visible"}], **config)
    assert compress(session, entry("m1", "m6"), entry("m7", "m14")).ok
    return session


def found(session: CompressSession, query: str) -> list[Hit]:
    """The hits."""
    return find(board_of(session), query)


@pytest.mark.parametrize(
    ("query", "ref", "block", "line"),
    [
        ("lock file", "m00002", "b1", 0),
        ("WORKER.PY", "m00004", "b1", 1),
        ("锁文件", "m00006", "b1", 2),
        ("修复", "m00006", "b1", 2),
        ("โฟลเดอร์", "m00008", "b2", 3),
        ("schlüssel", "m00010", "b2", 4),
        ("E4711", "m00012", "b2", 5),
        ("what happened to 10.0.0.7?", "m00012", "b2", 5),
    ],
)
def test_the_passage_is_found(query: str, ref: str, block: str, line: int) -> None:
    """In any script and case: the best hit is the line, under the ref of its message, in its block."""
    best = found(folded(), query)[0]
    assert (best.ref, best.block, best.text) == (ref, block, LINES[line])


def test_only_what_is_folded_is_searched() -> None:
    """A visible message is not found; one whose block was opened no longer; one that was folded again is."""
    session = folded()
    assert {hit.ref for hit in found(session, "lock")} == {"m00002", "m00004"}
    decompress(session, "b1")
    assert found(session, "lock") == []
    compress(session, entry("m1", "m6"))
    assert {hit.block for hit in found(session, "lock")} == {"b3"}


def test_messages_behind_denser_blocks_are_found() -> None:
    """Under their own refs, in the block that is shown."""
    session = folded()
    assert compress(session, entry("b1", "b2")).ok
    assert (found(session, "E4711")[0].ref, found(session, "E4711")[0].block) == ("m00012", "b3")


def test_calls_and_results_are_searched_too() -> None:
    """The arguments and the name of a call, and what it returned."""
    messages: list[Json] = [
        *talk(6),
        {"role": "assistant", "content": None, "tool_calls": [called("c1", "list_files", {"path": "/srv/harbour"})]},
        {"role": "tool", "tool_call_id": "c1", "content": "anchor.txt\nbuoy.txt"},
        *talk(6),
    ]
    session = begin(messages)
    compress(session, entry("m1", "m8"))
    assert [found(session, word)[0].ref for word in ("harbour", "list_files", "buoy")] == ["m00007", "m00007", "m00008"]


def test_the_answer_has_refs_and_says_how_to_read_on() -> None:
    """A line for each hit, and the tool that opens a block by its name; nothing of it where there is none."""
    answer = search(folded(), {"query": "worker"})
    assert answer == f"m00004 in b1: {LINES[1]}\ndecompress shows the messages of a block again."
    assert search(folded(decompress="unfold"), {"query": "worker"}).endswith(
        "\nunfold shows the messages of a block again."
    )
    assert search(folded(decompress=""), {"query": "worker"}) == f"m00004 in b1: {LINES[1]}"


@pytest.mark.parametrize(
    ("limit", "count"),
    [
        (1, 1),
        (3, 3),
        (3.0, 3),
        ("3", 3),
        (None, 8),
        (0, 8),
        (-1, 8),
        (True, 8),
        ("many", 8),
        (2.5, 8),
        (10**9, 50),
        ([], 8),
    ],
)
def test_limits(limit: Json, count: int) -> None:
    """Eight hits unless another number is asked for, however it is written; fifty at most."""
    session = begin([{"role": "user", "content": "needle here\n" * 80}, *talk(19)])
    compress(session, entry("m1", "m10"))
    assert search(session, {"query": "needle", "limit": limit}).count("needle") == count


def test_a_long_line_is_found_in_pieces() -> None:
    """A hit is at most 400 chars long, also in a line without an end."""
    session = begin([{"role": "user", "content": "x" * 5_000 + " needle " + "y" * 5_000}, *talk(19)])
    compress(session, entry("m1", "m10"))
    (hit,) = found(session, "needle")
    assert "needle" in hit.text
    assert len(hit.text) <= 400


@pytest.mark.parametrize(
    "arguments",
    [{"query": "lock"}, {"q": "lock"}, {"queries": ["lock"]}, '{"query": "lock",}', "lock", {"pattern": "lock"}],
)
def test_arguments_are_read_as_models_spell_them(arguments: Json) -> None:
    """The usual names of a query, or the bare text."""
    assert search(folded(), arguments).startswith("m00002 in b1: ")


@pytest.mark.parametrize("arguments", [{}, "", None, {"query": ""}, {"query": "  \n"}, [], 7, {"query": 7}])
def test_without_a_query_the_model_is_told_what_to_say(arguments: Json) -> None:
    """One sentence with an example, that holds no ref."""
    assert search(folded(), arguments) == 'Say what to look for, as in {"query": "lock file"}.'


def test_nothing_found_is_told_from_nothing_folded() -> None:
    """Two different answers: another word may help, or no word can."""
    session = begin(talk(20))
    assert search(session, {"query": "lock"}) == "Nothing is folded: all there is can be seen in the conversation."
    assert search(folded(), {"query": "submarine"}) == "Nothing in the folded messages has one of these words."
    assert search(folded(), {"query": "?!"}) == "Nothing in the folded messages has one of these words."


def test_several_searches_in_one_message_are_all_answered() -> None:
    """Beside each other and beside another tool's call, in the order of the calls; none of them is an outcome."""
    session = folded()
    turn = session.receive(
        response(
            called("s1", "search_context", {"query": "worker"}),
            called("k1", "compress", {"content": []}),
            called("s2", "search_context", {"query": "E4711"}),
        )
    )
    assert [one["tool_call_id"] for one in session.messages[-3:]] == ["s1", "k1", "s2"]
    assert [len(turn.outcomes), len(turn.answers), len(turn.calls)] == [1, 3, 0]
    assert session.messages[-1]["content"].startswith("m00012 in b2: ERROR E4711")
