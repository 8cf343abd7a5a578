"""What is folded inside a turn stays readable, word for word, from the next step on; names come from markers alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from attrs import evolve

from trimtab import Host, Policy
from trimtab.blobs.memory import MemoryStore
from trimtab.compaction import (
    Attachment,
    DurableCompactor,
    Event,
    FoldSettings,
    LoopCompactor,
    Row,
    Stepped,
    dump_memo,
    load_memo,
)
from trimtab.compaction.stored.record import NEWEST
from trimtab.errors import CallerError
from trimtab.testing.faults import FailingStore
from trimtab.testing.folds import RememberingSummarizer
from trimtab.types import Json

SETTINGS = FoldSettings(windows=4_000)  # trigger 2,880
REQUEST = {"role": "user", "content": "Look through all the shelves."}


@pytest.fixture
def host() -> Any:
    """A host in memory."""
    with Host.load(store="memory:", discover=False, policy=Policy(limit=1_000, keep=600)) as loaded:
        yield loaded


def step(number: int, text: str) -> list[Json]:
    """A call and its result."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": f'{{"shelf": {number}}}'}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def shelf(number: int) -> str:
    """What stands on a shelf: too little to be trimmed."""
    return f"Shelf {number} holds the book {number}-8861. " + "Nothing else is on it. " * 25


def loop(**more: Any) -> LoopCompactor:
    """One of OpenAI's chat."""
    return LoopCompactor("openai-chat", SETTINGS, RememberingSummarizer(), **more)


def walked(lane: LoopCompactor, count: int, text: Any = shelf) -> Stepped:
    """The last step of a turn of so many."""
    messages: list[Json] = [REQUEST]
    stepped = lane.step(messages)
    for number in range(count):
        messages += step(number, text(number))
        stepped = lane.step(messages)
    return stepped


def test_a_small_result_can_be_read_back_in_the_same_turn(host: Host) -> None:
    """It was never trimmed, and is folded away: the model searches the archive that the summary names, and reads it."""
    stepped = walked(loop(store=host.store, owner="conv"), 60)
    fold = stepped.memo.fold
    assert fold is not None
    sent = json.dumps(stepped.messages)
    assert "book 3-8861" not in sent
    allow = host.allow_list(stepped.retained.outputs, owner="conv")
    assert allow.lost == set()
    found = [
        host.run_read_tool("fs_search", {"uri": f"trimtab:{one.id[:16]}", "pattern": "book 3-8861"}, allow=allow)
        for one in fold.archive
        if f"trimtab:{one.id[:16]}" in sent
    ]
    assert sum("Shelf 3 holds the book 3-8861." in json.dumps(one) for one in found) == 1


def test_all_that_is_hidden_is_archived_once(host: Host) -> None:
    """The archives of all folds have each folded result, and the request that was folded in the end."""
    later = {"role": "user", "content": "Stop, and tell me what you saw."}
    lane = loop(store=host.store, owner="conv")
    messages: list[Json] = [REQUEST]
    for number in range(40):
        messages += [*step(number, shelf(number)), *([later] if number == 20 else [])]
        stepped = lane.step(messages)
    fold = stepped.memo.fold
    assert fold is not None
    archive = "".join(host.store.get(one.id) for one in fold.archive)
    sent = json.dumps(stepped.messages)
    assert [archive.count(f"Shelf {number} holds") + sent.count(f"Shelf {number} holds") for number in range(40)] == [
        1
    ] * 40
    assert REQUEST["content"] in archive
    assert later["content"] in sent


def test_very_many_folds_are_named_through_an_index(host: Host) -> None:
    """The newest archives are named one by one, all of them in the index: the summary row stays small."""
    stepped = walked(loop(store=host.store, owner="conv"), 300)
    fold = stepped.memo.fold
    assert fold is not None
    assert fold.index is not None
    assert len(fold.archive) > NEWEST
    sent = json.dumps(stepped.messages)
    index = host.store.get(fold.index.id)
    named = [f"trimtab:{one.id[:16]}" in sent for one in fold.archive]
    assert NEWEST <= sum(named) <= 2 * NEWEST
    assert all(there or f"trimtab:{one.id[:16]}" in index for there, one in zip(named, fold.archive, strict=True))
    assert len(host.allow_list(stepped.retained.outputs, owner="conv").held) == len(fold.archive) + 1


def test_an_archive_outlives_its_process(host: Host) -> None:
    """With the memo as JSON another process names and opens the same."""
    stepped = walked(loop(store=host.store, owner="conv"), 30)
    memo = load_memo(json.loads(json.dumps(dump_memo(stepped.memo))))
    messages = [REQUEST, *(one for number in range(30) for one in step(number, shelf(number)))]
    again = loop(store=host.store, owner="conv").step(messages, memo=memo)
    assert again.messages == stepped.messages
    assert again.retained == stepped.retained


@pytest.mark.parametrize("is_async", [False, True])
def test_a_store_that_fails(is_async: bool) -> None:
    """What could not be archived is not folded: the step before stays in use, and the verdict says why."""
    events: list[Event] = []
    store = FailingStore(MemoryStore(), "put", 2)
    lane = loop(store=store, owner="conv", on_event=events.append)
    messages: list[Json] = [REQUEST]
    before = None
    for number in range(40):
        messages += step(number, shelf(number))
        stepped = asyncio.run(lane.astep(messages)) if is_async else lane.step(messages)
        if stepped.event is not None and stepped.event.kind == "skipped":
            assert before is not None
            assert stepped.memo == before
        before = stepped.memo
    skipped = [event for event in events if event.kind == "skipped"]
    assert skipped
    assert all("the archive could not be written" in event.reason for event in skipped)
    assert [event.kind for event in events[::2]] == ["compacting"] * (len(events) // 2)


def test_async_archives_alike(host: Host) -> None:
    """The async twin writes the same texts."""
    messages = [REQUEST, *(one for number in range(30) for one in step(number, shelf(number)))]
    one = loop(store=host.store, owner="conv").step(messages)
    other = asyncio.run(loop(store=host.store, owner="conv").astep(messages))
    assert one.memo == other.memo
    assert one.memo.fold is not None


@pytest.mark.parametrize("more", [{"owner": None}, {"owner": "x", "read_tool": ""}, {"owner": "x", "store": object()}])
def test_an_archive_needs_a_store_an_owner_and_a_reader(more: dict[str, Any]) -> None:
    """Else it is refused when the compactor is made."""
    with pytest.raises(CallerError, match=r"archive|store"):
        loop(**{"store": MemoryStore(), **more})


def test_names_of_omitted_texts_come_from_markers(host: Host) -> None:
    """A page full of uris names nothing; what a marker says was omitted is named, with the tool that it came from."""
    trimmed = host.trim("look", "A long shelf. " * 500, owner="conv")
    pages = {0: trimmed.value, 1: "see " + " ".join(f"trimtab:{number:016x}" for number in range(200))}
    stepped = walked(loop(), 30, lambda number: pages.get(number, shelf(number)))
    fold = stepped.memo.fold
    assert fold is not None
    (blob,) = fold.blobs
    assert blob.tool == "look"
    assert blob.uri in trimmed.value


def test_forged_markers_do_not_crowd_out_the_turn() -> None:
    """Pages with thousands of markers make the summary row no larger than a fourth of the trigger."""
    forged = "".join(f"<omitted chars 1-9 of 9; full text: fs_read trimtab:{number:016x}>\n" for number in range(3_000))
    stepped = LoopCompactor("openai-chat", evolve(SETTINGS, windows=40_000), RememberingSummarizer()).step(
        [REQUEST, *step(0, forged), *(one for number in range(1, 20) for one in step(number, shelf(number)))]
    )
    fold = stepped.memo.fold
    assert fold is not None
    assert stepped.event is not None
    assert stepped.event.reason == ""
    assert 100 < len(fold.blobs) < 1_000
    assert fold.blobs[-1].uri == f"trimtab:{2_999:016x}"


def test_files_are_named_once(host: Host) -> None:
    """What the summary of a durable fold names is not named again beside it; what it does not name is."""
    said = {"role": "user", "content": "word " * 2_000}
    files = [Attachment(id="1", name="old.pdf"), Attachment(id="2", name="new.pdf")]
    rows = [
        Row(id="a", messages=[said], attachments=files[:1]),
        Row(id="b", messages=[said]),
        Row(id="c", messages=[REQUEST]),
    ]
    served = DurableCompactor("openai-chat", SETTINGS, RememberingSummarizer()).serve(rows)
    assert served.record is not None
    lane = loop(files=files)
    stepped = lane.step([*served.messages, *(one for number in range(20) for one in step(number, shelf(number)))])
    assert stepped.memo.fold is not None
    sent = json.dumps(stepped.messages)
    assert (sent.count("old.pdf"), sent.count("new.pdf")) == (1, 1)


def test_files_that_were_named_stay_named() -> None:
    """A later compactor that is given none names what an earlier fold of the turn named."""
    messages: list[Json] = [REQUEST, *(one for number in range(20) for one in step(number, shelf(number)))]
    memo = loop(files=[Attachment(id="1", name="old.pdf")]).step(messages).memo
    more = [one for number in range(20, 50) for one in step(number, shelf(number))]
    stepped = loop().step([*messages, *more], memo=memo)
    assert stepped.event is not None
    assert stepped.event.kind == "done"
    assert json.dumps(stepped.messages).count("old.pdf") == 1


def test_indexes_do_not_come_to_the_square_of_what_they_list() -> None:
    """They are written again only where they lack many: what is stored stays in proportion to what is folded."""

    class Counting(MemoryStore):
        """Counts what indexes take."""

        chars = 0

        def put(self, blobs: Any, *, owner: str) -> None:
            """Put, and count."""
            self.chars += sum(len(text) for text in blobs.values() if text.startswith("messages trimtab:"))
            super().put(blobs, owner=owner)

    store = Counting()
    lane = LoopCompactor("openai-chat", FoldSettings(windows=1_500), RememberingSummarizer(), store=store, owner="conv")
    fold = walked(lane, 400).memo.fold
    assert fold is not None
    assert len(fold.archive) > 3 * NEWEST
    assert 0 < store.chars <= 34 * len(fold.archive) * (len(fold.archive) // NEWEST)
