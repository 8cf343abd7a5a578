"""States as JSON: what was written opens for good, damage is named, nothing is guessed."""

from __future__ import annotations

import copy
import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trimtab._json import canonical
from trimtab.compress import CompressSession, CompressState, dump_state, load_state
from trimtab.compress.state import numbers_of
from trimtab.errors import CallerError
from trimtab.testing.talks import begin, compress, decompress, entry, talk
from trimtab.types import Json

GOLDEN = Path(__file__).parent / "golden"
MAKE = runpy.run_path(str(GOLDEN / "make_golden.py"))
CHANGED = "a stored or sent format has changed: see core/tests/golden/README.md"


def session() -> CompressSession:
    """A session with blocks of two tiers, one of them opened, failures and reminders."""
    made = begin(talk(40), window=100_000, growth=1_000)
    made.request(tokens=50_000)
    compress(made, entry("m1", "m8", topic="first"), entry("m11", "m18"))
    compress(made, entry("b1", "b2"))
    compress(made, entry("m900", "m9"))
    compress(made, entry("m21", "m28"))
    decompress(made, "b4")
    decompress(made, "b9")
    return made


def test_a_state_comes_back_as_it_was() -> None:
    """Through JSON text, the types of all its fields too."""
    state = session().state
    again = load_state(json.loads(json.dumps(dump_state(state))))
    assert again == state
    assert again.failures == state.failures == 1
    assert [block.ref for block in again.active] == ["b3"]
    assert repr(again) == repr(state)


def test_an_empty_state_comes_back() -> None:
    """Before anything was said."""
    assert load_state(dump_state(CompressState())) == CompressState()


def test_what_is_stored_is_plain_json() -> None:
    """Lists, dicts, texts, numbers, booleans and null, of which `json` makes the same text each time."""
    stored = dump_state(session().state)
    assert json.loads(json.dumps(stored)) == stored
    assert list(stored) == ["v", "issued", "seen", "blocks", "marks", "nudges"]
    assert json.dumps(dump_state(session().state)) == json.dumps(stored)


def test_the_state_says_nothing_of_what_was_said() -> None:
    """But for summaries and topics: messages are known by their hash, so the state is small."""
    text = json.dumps(dump_state(session().state))
    assert "wwww" not in text


def test_a_session_goes_on_from_a_stored_state() -> None:
    """It sends the same bytes, and gives the next numbers."""
    one = session()
    state = load_state(json.loads(json.dumps(dump_state(one.state))))
    other = CompressSession("openai-chat", config=one.config, messages=one.messages, state=state)
    assert other.request() == one.request()
    for each in (one, other):
        assert compress(each, entry("m29", "m38")).ok
    assert other.state == one.state
    assert other.request() == one.request()


@pytest.mark.parametrize("name", ["answers.json", "state.json", "request.json"])
def test_formats_are_these_bytes(name: str) -> None:
    """Answers, stored states, refs, blocks and reminders: what went out once goes out alike in every later release."""
    assert (GOLDEN / "compress" / name).read_bytes() == MAKE["of_compress"]()[name], CHANGED


def test_a_state_of_version_1_opens() -> None:
    """The stored file is a state, and is written again as it is."""
    stored = json.loads((GOLDEN / "compress" / "state.json").read_bytes())
    assert dump_state(load_state(stored)) == stored


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("issued",), "many", "issued"),
        (("issued",), None, "issued"),
        (("seen", 0), [1, 2], r"seen\[0\]"),
        (("seen", 3, 0), "3", r"seen\[3\]\[0\]"),
        (("seen", 3, 1), 3, r"seen\[3\]\[1\]"),
        (("blocks",), {}, "blocks"),
        (("blocks", 1, "spans"), [[1, 2, 3]], r"blocks\[1\]"),
        (("blocks", 1, "spans"), 7, r"blocks\[1\]"),
        (("blocks", 0, "summary"), None, r"blocks\[0\]\.summary"),
        (("marks", 0, "tool"), "search", r"marks\[0\]\.tool"),
        (("marks", 0, "ok"), 1, r"marks\[0\]\.ok"),
        (("nudges", 0, "band"), "late", r"nudges\[0\]\.band"),
        (("nudges",), "none", "nudges"),
        (("seen", 1, 0), 1, "two messages have one number"),
        (("issued",), 3, "a number that was not given yet"),
        (("blocks", 1, "number"), 1, "two blocks have one number"),
        (("blocks", 2, "blocks"), [1, 9], "b3 is made of a block"),
        (("blocks", 2, "blocks"), [1, 3], "b3 is made of a block"),
        (("blocks", 0, "blocks"), [3], "b1 is made of a block"),
        (("blocks", 2, "blocks"), [1, 1], "b3 is made of blocks with the same message"),
        (("blocks", 2, "blocks"), [1, 2, 2], "b3 is made of blocks with the same message"),
        (("blocks", 2, "spans"), [[1, 8]], "or with one that it has not got"),
        (("blocks", 2, "spans"), [[1, 8], [8, 18]], "b3 is made of blocks with the same message"),
        (("blocks", 0, "spans"), [[8, 1]], "b1 stands for nothing"),
        (("blocks", 0, "spans"), [[0, 8]], "b1 stands for nothing"),
        (("blocks", 0, "spans"), [[1, 10**12]], "b1 stands for nothing"),
        (("blocks", 0, "active"), True, "in two blocks that are shown"),
        (("blocks", 0, "tier"), 0, "b1 has a tier"),
        (("blocks", 0, "made_by"), 10**15, "b1 has a tier"),
        (("blocks", 0, "tokens"), -1, "b1 has a tier"),
        (("blocks", 0, "number"), 0, "is not there"),
        (("seen", 0, 0), 0, "a number that was not given yet"),
        (("seen", 0, 2), "", "a form or a size"),
        (("seen", 0, 2), "a1", "a form or a size"),
        (("seen", 0, 3), -1, "a form or a size"),
        (("marks", 0, "message"), 10**15, "that there never was"),
        (("marks", 0, "place"), -1, "that there never was"),
        (("marks", 0, "left"), [-1], "that there never was"),
        (("nudges", 0, "after"), 0, "that there never was"),
        (("marks", 0, "blocks"), [9], "named is not there"),
        (("blocks", 0, "spans"), [], "b1 stands for nothing"),
    ],
)
def test_damage_is_named_by_its_place(path: tuple[Any, ...], value: Json, place: str) -> None:
    """A wrong value anywhere is the caller's error, with the place and what to do."""
    stored: Any = copy.deepcopy(dump_state(session().state))
    node = stored
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    with pytest.raises(CallerError, match=f"{place}.*rebuild it from the conversation"):
        load_state(stored)


WRONG: list[Json] = [
    None,
    True,
    -1,
    0,
    3,
    10**18,
    1.5,
    "",
    "b1",
    [],
    [1],
    [[1, 2]],
    [[2, 1]],
    [[1, 10**15]],
    {},
    "\ud800",
]


def places(node: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values, of long lists the first two and the last."""
    yield path
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, (*path, key))
    elif isinstance(node, list):
        for at in sorted({0, 1, len(node) - 1} & set(range(len(node)))):
            yield from places(node[at], (*path, at))


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_whatever_stands_anywhere(wrong: Json) -> None:
    """A state with any value at any place is refused, or no message is lost with it, whatever the model then calls."""
    made = session()
    stored = dump_state(made.state)
    for path in list(places(stored))[1:]:
        changed: Any = copy.deepcopy(stored)
        node = changed
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = wrong
        try:
            state = load_state(changed)
        except CallerError:
            continue
        other = CompressSession("openai-chat", config=made.config, messages=made.messages, state=state)
        compress(other, entry("b1", "b3"))
        decompress(other, "b3")
        sent = canonical(other.request())
        folded = [number for block in other.state.active for number in numbers_of(block.spans)]
        assert len(folded) == len(set(folded)), path
        there = {one.number for one in other.state.seen}
        for block in other.state.active:
            assert f"<folded {block.ref}: " in sent or there.isdisjoint(numbers_of(block.spans)), path
        assert load_state(dump_state(other.state)) == other.state, path


@pytest.mark.parametrize("name", ["issued", "seen", "blocks", "marks", "nudges"])
def test_what_is_missing_is_named(name: str) -> None:
    """A state without one of its members is damaged, not empty."""
    stored = dump_state(session().state)
    del stored[name]
    with pytest.raises(CallerError, match=name):
        load_state(stored)


@pytest.mark.parametrize("value", [{"v": 0}, {"v": 2}, {"v": "1"}, {"v": True}])
def test_other_versions_are_refused(value: Json) -> None:
    """A later version's state, with the version that can be read."""
    with pytest.raises(CallerError, match="this is version 1"):
        load_state(value)


@pytest.mark.parametrize("value", [None, 7, '{"v": 1}', [], {}, {"messages": []}])
def test_what_is_no_state_is_refused(value: Json) -> None:
    """Text that was not decoded, or another object: with what a state is."""
    with pytest.raises(CallerError, match=r"stored state.*`dump_state`"):
        load_state(value)
