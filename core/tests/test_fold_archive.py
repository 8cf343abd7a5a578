"""What stays readable behind a fold: attachments, omitted texts, the archive. Nothing else, and all of it is named."""

from __future__ import annotations

import asyncio
import base64
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
    archive_of,
    archive_row,
    dump_record,
    load_record,
    slide,
)
from trimtab.errors import CallerError, UnknownBlob
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.testing.faults import FailingStore
from trimtab.testing.folds import RememberingSummarizer
from trimtab.types import AllowList, Json
from trimtab.wire.histories import Answer
from trimtab.wire.lookup import shape_of

SETTINGS = FoldSettings(windows=4_000)
PNG = base64.b64encode(b"\x89PNG" + b"picture" * 100).decode()
PAGE = "a line of a page that was read\n" * 400


@pytest.fixture
def host() -> Any:
    """A host that trims from 1,000 chars on."""
    with Host.load(store="memory:", discover=False, policy=Policy(limit=1_000, keep=600)) as loaded:
        yield loaded


def talk(host: Host, turns: int, page: str = PAGE) -> list[Row]:
    """Turns in each of which a page is read; what the model is shown of it is trimmed."""
    rows = []
    for number in range(turns):
        call = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {}}
        trimmed = host.trim("read", f"page {number}\n{page}", owner="conv")
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": trimmed.value}
        rows += [
            Row(id=f"u{number}", messages=[{"role": "user", "content": f"Read page {number}, please."}]),
            Row(
                id=f"a{number}",
                messages=[{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}],
                outputs=[trimmed.row],
            ),
        ]
    return rows


def prompt(name: str, said: str = "And now?") -> Row:
    """The newest row."""
    return Row(id=name, messages=[{"role": "user", "content": said}])


def durable(**more: Any) -> DurableCompactor:
    """One of Anthropic's."""
    return DurableCompactor("anthropic", SETTINGS, RememberingSummarizer(), **more)


def summary_of(messages: list[Json]) -> str:
    """The text of the summary row."""
    return str(messages[0]["content"][0]["text"])


# R2


def test_r2a_attachments_stay_registered_allowed_and_named(host: Host) -> None:
    """A fold hides the only message with an attachment: the file tool is offered still, may open it, and the summary
    row names it.
    """
    rows = talk(host, 30)
    file = Attachment(id="f1", name="report.pdf")
    rows[0] = evolve(rows[0], attachments=[file])
    served = durable().serve([*rows, prompt("q")])
    assert served.event is not None
    assert served.event.kind == "done"
    assert served.retained.files == (file,)
    assert "[Files of this conversation, to be read in full with read_file: report.pdf]" in summary_of(served.messages)


def test_r2a_a_file_that_comes_later_changes_nothing(host: Host) -> None:
    """Attaching a file after the fold does not change the summary row's bytes; it is allowed all the same."""
    rows = talk(host, 30)
    rows[0] = evolve(rows[0], attachments=[Attachment(id="f1", name="report.pdf")])
    first = durable().serve([*rows, prompt("q")])
    later = evolve(prompt("q2"), attachments=[Attachment(id="f2", name="later.csv")])
    second = durable().serve([*rows, prompt("q"), later], first.record)
    assert second.messages[0] == first.messages[0]
    assert [file.name for file in second.retained.files] == ["report.pdf", "later.csv"]


def test_r2b_omitted_texts_stay_allowed_and_named(host: Host) -> None:
    """Each uri that the conversation may read after a fold stands in what is served, and each can be read."""
    rows = [*talk(host, 30), prompt("q")]
    served = durable().serve(rows)
    assert served.record is not None
    allow = host.allow_list(served.retained.outputs, owner="conv")
    assert len(allow.held) == 30
    text = json.dumps(served.messages)
    for blob_id in allow.held:
        assert f"trimtab:{blob_id[:16]}" in text
        assert host.read(f"trimtab:{blob_id[:16]}", allow=allow).text.startswith("page ")
    assert "read trimtab:" in summary_of(served.messages)
    again = durable().serve([*rows, *talk(host, 31)[-2:], prompt("q2")], load_record(dump_record(served.record)))
    assert set(host.allow_list(again.retained.outputs, owner="conv").held) >= allow.held


def test_r2b_a_window_that_the_user_has_drawn_revokes(host: Host) -> None:
    """What slid out of it is neither allowed nor read."""
    rows = [*talk(host, 5), prompt("q")]
    slid = slide("anthropic", rows, SETTINGS, most=3)
    allow = host.allow_list(slid.retained.outputs, owner="conv")
    assert len(allow.held) == 1
    gone = host.allow_list(rows[1].outputs, owner="conv").held - allow.held
    with pytest.raises(UnknownBlob):
        host.read(f"trimtab:{next(iter(gone))[:16]}", allow=allow)


def test_what_was_cleared_is_revoked(host: Host) -> None:
    """Files and texts of before the marker are retained no more: nothing that is served names them."""
    rows = talk(host, 3)
    rows[0] = evolve(rows[0], attachments=[Attachment(id="f1", name="report.pdf")])
    served = durable().serve([*rows, Row(id="x", messages=[], clears=True), prompt("q")])
    assert served.retained.files == ()
    assert served.retained.outputs == ()


def test_two_texts_with_one_handle_are_named_in_full() -> None:
    """Where the first digits of two ids are the same, the summary row has all of both."""
    head = "3f2a9c1b7d04e5f6"
    refs = [{"key": f"/{at}", "blobId": head + str(at) * 16, "totalChars": 3} for at in range(2)]
    row = {"$persistedToolOutput": {"v": 3, "tool": "read", "skeleton": ["a", "b"], "blobRefs": refs}}
    said = [{"role": "user", "content": "word " * 900}]
    rows = [Row(id="a", messages=said, outputs=[row]), *[Row(id=f"{n}", messages=said) for n in range(5)]]
    served = durable().serve([*rows, prompt("q")])
    for ref in refs:
        assert f"trimtab:{ref['blobId']}" in summary_of(served.messages)


def test_a_damaged_row_is_no_fold() -> None:
    """What it names cannot be told, so it is not folded away: skipped, with the reason."""
    row = {"$persistedToolOutput": {"v": 3, "tool": 7, "skeleton": "a", "blobRefs": []}}
    said = [{"role": "user", "content": "word " * 900}]
    rows = [Row(id="a", messages=said, outputs=[row]), *[Row(id=f"{n}", messages=said) for n in range(5)]]
    served = durable().serve(rows)
    assert served.event is not None
    assert served.event.kind == "skipped"
    assert "damaged row" in served.event.reason


# The archive


def test_folded_rows_can_be_searched_and_read_back(host: Host) -> None:
    """With a store the folded messages are archived word for word; the read and the search tool open them."""
    rows = talk(host, 30)
    rows[4] = prompt("u2", "The customer number is 8861-22, remember it.")
    lane = durable(store=host.store, owner="conv")
    served = lane.serve([*rows, prompt("q")])
    assert served.record is not None
    (entry,) = served.record.archive
    uri = f"trimtab:{entry.id[:16]}"
    assert f"[What this record stands for, word for word, to be read with fs_read: {uri}]" in summary_of(
        served.messages
    )
    allow = host.allow_list(served.retained.outputs, owner="conv")
    found = host.run_read_tool("fs_search", {"uri": uri, "pattern": "8861-22"}, allow=allow)
    assert "The customer number is 8861-22" in json.dumps(found)
    assert "Read page 0, please." in host.read(uri, allow=allow).text
    assert host.read(uri, allow=allow).total_chars == entry.chars
    with pytest.raises(UnknownBlob):
        host.read(uri, allow=AllowList(held=set(), lost=set()))


def test_folds_of_folds_keep_every_archive(host: Host) -> None:
    """Each fold archives what is new in it; all of it is named and readable at the end."""
    lane = durable(store=host.store, owner="conv")
    record = None
    for count in range(1, 40):
        served = lane.serve([*talk(host, count, page="some " * 150), prompt("q", "word " * 700)], record)
        record = served.record
    assert record is not None
    assert len(record.archive) > 1
    allow = host.allow_list(served.retained.outputs, owner="conv")
    text = "".join(host.store.get(entry.id) for entry in record.archive if entry.id in allow.held)
    folded = int(record.boundary[1:]) + 1
    assert [f"Read page {number}, please." in text for number in range(folded)] == [True] * folded
    for entry in record.archive:
        assert f"trimtab:{entry.id[:16]}" in summary_of(served.messages)


def test_many_texts_are_named_through_an_index(host: Host) -> None:
    """Where a fold stands for very many texts the newest are named, and an index of all of them: each is one step away,
    with the first words of it; and the summary row stays small.
    """
    lane = durable(store=host.store, owner="conv")
    record = None
    for count in range(20, 200, 6):
        served = lane.serve([*talk(host, count), prompt("q")], record)
        record = served.record
    assert record is not None
    assert record.index is not None
    allow = host.allow_list(served.retained.outputs, owner="conv")
    assert allow.lost == set()
    assert len(allow.held) > 150
    assert len(summary_of(served.messages)) < 3_000
    assert f"trimtab:{record.index.id[:16]}" in summary_of(served.messages)
    index = host.store.get(record.index.id)
    reachable = json.dumps(served.messages) + index
    assert all(f"trimtab:{blob_id[:16]}" in reachable for blob_id in allow.held)
    found: Any = host.run_read_tool(
        "fs_search", {"uri": f"trimtab:{record.index.id}", "pattern": "page 17$"}, allow=allow
    )
    (match,) = found["matches"]
    uri = match["text"].split(" ")[1]
    assert host.read(uri, allow=allow).text.startswith("page 17\n")


def test_a_store_that_fails() -> None:
    """What could not be archived is not folded: the history is served as it was, and it is said why."""
    events: list[Event] = []
    store = FailingStore(MemoryStore(), "put", 1)
    with Host.load(store="memory:", discover=False, policy=Policy(limit=1_000, keep=600)) as host:
        rows = [*talk(host, 30), prompt("q")]
    lane = durable(store=store, owner="conv", on_event=events.append)
    served = lane.serve(rows)
    assert served.record is None
    assert [event.kind for event in events] == ["compacting", "skipped"]
    assert "the archive could not be written" in events[-1].reason
    assert served.messages == [message for row in rows for message in row.messages]
    assert asyncio.run(lane.aserve(rows)).event == served.event
    assert asyncio.run(durable(store=MemoryStore(), owner="conv").aserve(rows)).record is not None


def test_an_archive_needs_an_owner_and_a_reader() -> None:
    """Else it is refused when the compactor is made."""
    for more in ({"owner": None}, {"owner": "x", "read_tool": ""}):
        with pytest.raises(CallerError, match="archive"):
            durable(store=MemoryStore(), **more)


PICTURES: dict[str, tuple[Json, str]] = {
    "anthropic": (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        "image/png",
    ),
    "openai-chat": (
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        "image/png",
    ),
    "openai-chat audio": ({"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}}, "audio/wav"),
    "openai-responses": ({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}, "image/png"),
    "gemini": ({"inlineData": {"mimeType": "image/png", "data": PNG}}, "image/png"),
    "bedrock": ({"image": {"format": "png", "source": {"bytes": PNG}}}, "image/png"),
    "bedrock document": ({"document": {"format": "pdf", "name": "x", "source": {"bytes": PNG}}}, "application/pdf"),
    "ai-sdk": ({"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PNG}"}, "image/png"),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_media_are_archived_with_their_type(kind: str) -> None:
    """An image, a sound, a document: its base64 text with the type, addressable alone, and not in the text."""
    name = kind.split(" ", maxsplit=1)[0]
    block, mime = PICTURES[kind]
    shape = shape_of(name, None)
    native = {"role": "user", shape.joins if name != "ai-sdk" else "parts": [block]}
    archive = archive_of(shape, [native, shape.user_text("what is this?")])
    words, medium = archive.entries
    assert (words.kind, medium.kind) == ("messages", mime)
    assert archive.blobs[medium.id] == f"data:{mime};base64,{PNG}"
    assert PNG not in archive.blobs[words.id]
    assert f"trimtab:{medium.id[:16]}" in archive.blobs[words.id]
    assert "what is this?" in archive.blobs[words.id]


@pytest.mark.parametrize("name", sorted({*WRITERS} - {"openai-chat", "vllm"}))  # their results are text
def test_a_result_with_a_picture(name: str) -> None:
    """Media in results are archived, by their own id, as those of prompts."""
    blocks = [PICTURES[name if name in ("bedrock", "openai-responses") else "anthropic"][0]]
    shape = shape_of(name, None)
    natives = shape.results([Answer(call_id="c", name="shot", value=blocks)])
    archive = archive_of(shape, natives)
    assert [entry.kind for entry in archive.entries] == ["messages", "image/png"]
    assert archive.entries[1].chars == len(f"data:image/png;base64,{PNG}")


def test_the_archive_is_a_function_of_the_messages(host: Host) -> None:
    """The same messages give the same ids, by whatever way they are folded (C-21)."""
    block, _ = PICTURES["anthropic"]
    native = {"role": "user", "content": [block, {"type": "text", "text": "look " * 900}]}
    rows = [Row(id="p", messages=[native]), *talk(host, 20), prompt("q")]
    served = durable(store=host.store, owner="conv").serve(rows)
    assert served.record is not None
    by_fold = {entry.id for entry in served.record.archive if entry.kind == "image/png"}
    by_hand = archive_of("anthropic", [native])
    assert by_fold == {entry.id for entry in by_hand.entries if entry.kind == "image/png"}
    allow = host.allow_list([archive_row(by_hand.entries)], owner="conv")
    (medium,) = by_fold
    pages, at = "", 1
    while at:
        page = host.read(f"trimtab:{medium[:16]}", allow=allow, char=at)
        pages, at = pages + page.text, page.next_char or 0
    assert pages == f"data:image/png;base64,{PNG}"


def test_the_loop_names_what_it_hides(host: Host) -> None:
    """Inside a turn too: the markers that were folded away are named in the summary."""
    rows = talk(host, 30)
    natives = [{"role": "user", "content": "go"}, *[message for row in rows[1::2] for message in row.messages]]
    stepped = LoopCompactor("anthropic", SETTINGS, RememberingSummarizer()).step(natives)
    assert stepped.event is not None
    text = json.dumps(stepped.messages)
    allow = host.allow_list([output for row in rows for output in row.outputs], owner="conv")
    assert all(f"trimtab:{blob_id[:16]}" in text for blob_id in allow.held)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_a_text_that_a_tool_returned_stands_line_by_line(name: str) -> None:
    """In every protocol: a search finds the line, not the whole result."""
    told = Told(call_id="c", name="read", arguments={}, output="line one\nthe line that is looked for\nline three")
    natives = shape_of(name, None).place(WRITERS[name]([Turn(said="go", calls=(told,))]))[1]
    text = "\n".join(archive_of(name, natives).blobs.values())
    assert "the line that is looked for" in [line.strip("[]") for line in text.split("\n")]


def test_what_is_no_list_of_messages_is_refused() -> None:
    """One message is not archived as a list of its fields."""
    with pytest.raises(CallerError, match="list of messages"):
        archive_of("openai-chat", {"role": "user", "content": "x"})
