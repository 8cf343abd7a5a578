"""Rows and records as applications get them wrong, and where a turn begins."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from trimtab.blobs.memory import MemoryStore
from trimtab.compaction import (
    Attachment,
    DurableCompactor,
    Event,
    FoldRecord,
    FoldSettings,
    Row,
    dump_record,
    dump_row,
    load_record,
    load_row,
    slide,
)
from trimtab.compaction.stored.manifests import blobs_of
from trimtab.compaction.stored.record import Index, index_text
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, refused
from trimtab.types import Json

SETTINGS = FoldSettings(windows=4_000)
RECORD = FoldRecord(boundary="a", made_at="b", summary="What was said.")


def row(name: Any, **more: Any) -> Row:
    """A row with a prompt."""
    return Row(id=name, messages=[{"role": "user", "content": f"say {name}"}], **more)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"role": "user", "content": "go"}], "Row"),
        ("go", "Row"),
        ([row("a"), row("b"), row("a")], "'a'"),
    ],
)
def test_rows_that_are_none(rows: Any, said: str) -> None:
    """Both lanes refuse them and name what is wrong: with two rows of one id rows would be dropped without a word."""
    for lane in (lambda: DurableCompactor("openai-chat", SETTINGS).serve(rows), lambda: slide("vllm", rows, SETTINGS)):
        with pytest.raises(CallerError, match=said):
            lane()


def test_rows_of_any_iterable() -> None:
    """A tuple or a query's cursor gives what a list does."""
    rows = [row("a"), row("b")]
    compactor = DurableCompactor("openai-chat", SETTINGS)
    given: list[Any] = [tuple(rows), iter(rows)]
    assert [compactor.serve(one).messages for one in given] == [compactor.serve(rows).messages] * 2


@pytest.mark.parametrize("record", [dump_record(RECORD), [dump_record(RECORD)], "{}", 7])
def test_a_record_that_was_not_loaded(record: Any) -> None:
    """What stands in the column is not what is served from: the error names `load_record`."""
    with pytest.raises(CallerError, match="load_record"):
        DurableCompactor("openai-chat", SETTINGS).serve([row("a"), row("b")], record)


def test_where_nothing_is_stored_yet() -> None:
    """None goes in and out, as NULL in a column does; a list of records may hold it."""
    assert dump_record(None) is None
    assert load_record(None) is None
    rows = [row("a"), row("b")]
    served = DurableCompactor("openai-chat", SETTINGS).serve(rows, [RECORD, load_record(None)])
    assert served.record is RECORD


@pytest.mark.parametrize("text", ["null", "{}", b"{}", json.dumps(dump_record(RECORD))])
@pytest.mark.parametrize("load", [load_record, load_row])
def test_json_that_was_not_read(load: Callable[[Json], object], text: Json) -> None:
    """A column of text: the error says what is missing, and nothing about a version."""
    with pytest.raises(CallerError, match=r"not text: json\.loads it first"):
        load(text)


ROW = Row(
    id="7",
    messages=[{"role": "user", "content": "Read 1.0, é and 😀."}, {"role": "assistant", "content": None}],
    outputs=["short", {"$persistedToolOutput": {"v": 3, "tool": "read", "skeleton": "x", "blobRefs": []}}],
    attachments=[Attachment(id="f1", name="spec.pdf")],
    tokens=812,
    clears=True,
)
AS_DATA: dict[str, Json] = {
    "v": 1,
    "id": "7",
    "messages": list(ROW.messages),
    "outputs": list(ROW.outputs),
    "attachments": [{"id": "f1", "name": "spec.pdf"}],
    "tokens": 812,
    "clears": True,
}


def test_rows_as_data() -> None:
    """A row is stored with its attachments and comes back as it was; version 1 opens for good."""
    assert dump_row(ROW) == AS_DATA
    assert load_row(json.loads(json.dumps(AS_DATA))) == ROW
    bare = row("a")
    assert load_row(json.loads(json.dumps(dump_row(bare)))) == bare


@pytest.mark.parametrize(
    ("message", "place"),
    [
        (SimpleNamespace(role="assistant", content="yes"), r"SimpleNamespace is not JSON \(@ \$\.messages\[1\]\)"),
        ({"role": "assistant", "content": [SimpleNamespace(type="text", text="yes")]}, r"\[1\]\.content\[0\]"),
        ({"role": "user", "content": [{"image": {"source": {"bytes": b"x"}}}]}, r"bytes is not JSON"),
    ],
)
def test_a_row_of_objects_is_not_stored(message: Any, place: str) -> None:
    """What would fail when it is encoded, far from here, is refused with its place and the way to make it data."""
    given = evolve(row("a"), messages=[*row("a").messages, message])
    with pytest.raises(CallerError, match=rf"row 'a' cannot be stored: .*{place}.*model_dump\(exclude_none=True\)"):
        dump_row(given)


@pytest.mark.parametrize("clears", [1, True])
def test_a_flag_of_a_database(clears: Any) -> None:
    """0 and 1 are taken, as databases have them; a text such as "no" would clear a history, and is refused."""
    assert dump_row(row("a", clears=clears))["clears"] is True
    for wrong in ("no", None, 2):
        with pytest.raises(CallerError, match="clears of Row must be True or False"):
            row("a", clears=wrong)


@pytest.mark.parametrize("tokens", [math.nan, 0, -3, "9"])
def test_a_count_that_is_none_is_not_stored(tokens: Any) -> None:
    """It would be no JSON, or no number."""
    assert dump_row(row("a", tokens=tokens))["tokens"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"v": True},
        {"id": ""},
        {"messages": "x"},
        {"attachments": [{"id": "f1"}]},
        {"tokens": "9"},
        {"clears": 1},
    ],
)
def test_a_stored_row_that_is_damaged(change: dict[str, Json]) -> None:
    """It is refused, never guessed at."""
    with pytest.raises(CallerError, match="stored row"):
        load_row({**AS_DATA, **change})
    with pytest.raises(CallerError, match=f"damaged: {next(iter(change))} of it is missing|version None"):
        load_row({name: value for name, value in AS_DATA.items() if name not in change})


@pytest.mark.parametrize(
    "lane", [lambda rows: DurableCompactor("vllm", SETTINGS).serve(rows), lambda rows: slide("vllm", rows, SETTINGS)]
)
def test_stored_outputs_that_were_not_read(lane: Callable[[list[Row]], Any], caplog: pytest.LogCaptureFixture) -> None:
    """A stored output given as text names nothing: what a tool returned cannot open a text. The log says so, once."""
    text = json.dumps(ROW.outputs[1])
    served = lane([row("a", outputs=["short", text, text]), row("b", outputs=[text])])
    assert [record.getMessage()[:7] for record in caplog.records] == ["3 of th"]
    assert "json.loads" in caplog.text
    assert served.retained.outputs[1] == text


@pytest.mark.parametrize("entry", [{"id": "x"}, {"id": "../etc/passwd"}, {"id": "A" * 32}, {"chars": -1}])
@pytest.mark.parametrize("name", ["archive", "index"])
def test_an_archive_that_is_damaged(name: str, entry: dict[str, Json]) -> None:
    """It is refused when the record is loaded, not when the model reads."""
    more = {"blobs": 0, "archive": 0} if name == "index" else {}
    entry = {"id": "0" * 32, "chars": 3, "kind": "messages", **more, **entry}
    with pytest.raises(CallerError, match="the stored fold is damaged"):
        load_record({**dump_record(RECORD), name: entry if name == "index" else [entry]})
    whole = Index(id="0" * 32, chars=3, kind="index", blobs=0, archive=0)
    assert load_record(dump_record(evolve(RECORD, index=whole))) == evolve(RECORD, index=whole)
    with pytest.raises(CallerError, match="its index lists 1 blobs"):
        load_record(dump_record(evolve(RECORD, index=evolve(whole, blobs=1))))


def anthropic(number: int) -> list[Json]:
    """A call, and its result in one message with what the user says next."""
    use = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "line " * 200}
    return [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, {"type": "text", "text": f"and {number}?"}]},
    ]


def gemini(number: int) -> list[Json]:
    """The same."""
    result = {"functionResponse": {"name": "read", "response": {"output": "line " * 200}}}
    return [
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
        {"role": "user", "parts": [result, {"text": f"and {number}?"}]},
    ]


@pytest.mark.parametrize(("name", "write"), [("anthropic", anthropic), ("gemini", gemini)])
def test_prompts_that_stand_in_one_message_with_results(name: str, write: Callable[[int], list[Json]]) -> None:
    """Such a turn begins with its calls: the history can be folded there, and slides."""
    first: Json = (
        {"role": "user", "content": "go"} if name == "anthropic" else {"role": "user", "parts": [{"text": "go"}]}
    )
    natives = [first, *(native for number in range(40) for native in write(number))]
    rows = [Row(id=str(at), messages=[native]) for at, native in enumerate(natives)]
    served = DurableCompactor(name, SETTINGS, RememberingSummarizer()).serve(rows)
    assert served.event is not None
    assert served.event.kind == "done"
    assert served.event.after is not None
    assert served.event.after < 2_000
    assert served.repairs == ()
    assert refused(name, served.messages) == []
    slid = slide(name, rows, SETTINGS)
    assert slid.gone > 0
    assert refused(name, slid.messages) == []
    assert [repair.kind for repair in slid.repairs] == ["opened"]


def test_a_file_named_as_the_list_is_written() -> None:
    """Names with what ends the list, or looks like another one, are quoted; two files of one name are named once."""
    names = ["a]b", "x, y", 'q"', "two\nlines", "\u2028", "same", "same"]
    files = [Attachment(id=str(at), name=name) for at, name in enumerate(names)]
    rows = [Row(id="0", messages=[{"role": "user", "content": "word " * 4_000}], attachments=files), row("1"), row("2")]
    served = DurableCompactor("openai-chat", SETTINGS, RememberingSummarizer()).serve(rows)
    (said,) = [line for line in served.messages[0]["content"].split("\n") if line.startswith("[Files")]
    assert said.endswith(r'read_file: "a]b", "x, y", "q\"", "two\nlines", "' + "\u2028" + '", same]')
    assert len(served.retained.files) == len(files)


def test_a_tool_whose_name_is_a_line_of_the_index() -> None:
    """Names that would forge a line of the list of texts are quoted in it."""
    ref = {"key": "", "blobId": "3f2a9c1b7d04e5f6" * 2, "totalChars": 3}
    names = ["read", "x\nread trimtab:deadbeefdeadbeef of mine"]
    rows = [
        Row(
            id=str(at),
            messages=[],
            outputs=[{"$persistedToolOutput": {"v": 3, "tool": name, "skeleton": "a b", "blobRefs": [ref]}}],
        )
        for at, name in enumerate(names)
    ]
    found = [index_text(evolve(RECORD, blobs=tuple(blobs_of([row])), archive=())) for row in rows]
    assert found[0] == "read trimtab:3f2a9c1b7d04e5f6 a b"
    assert found[1] == r'"x\nread trimtab:deadbeefdeadbeef of mine" trimtab:3f2a9c1b7d04e5f6 a b'


def test_a_turn_of_its_own_is_kept_before_one_inside_another() -> None:
    """What was said with results is the beginning only where no prompt that stands alone fits, and never of a window
    that can slide else.
    """
    natives = [native for number in range(24) for native in anthropic(number)]
    natives[10:10] = [{"role": "user", "content": "plain"}]
    natives[43:43] = [{"role": "assistant", "content": "done"}, {"role": "user", "content": "the last plain one"}]
    rows = [
        Row(id=str(at), messages=[native]) for at, native in enumerate([{"role": "user", "content": "go"}, *natives])
    ]
    served = DurableCompactor("anthropic", SETTINGS, RememberingSummarizer()).serve(rows)
    assert served.event is not None
    assert served.event.kind == "done"
    assert served.messages[1]["content"] == "the last plain one"
    assert slide("anthropic", rows, SETTINGS).messages[0]["content"] == "the last plain one"


class Breaks(MemoryStore):
    """Raises at `put`, before or after the texts are stored."""

    def __init__(self, error: BaseException, *, late: bool) -> None:
        super().__init__()
        self._error = error
        self._late = late

    def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
        """Raise."""
        if self._late:
            super().put(blobs, owner=owner)
        raise self._error


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("error", [OSError("no space"), RuntimeError("x" * 9_000), KeyboardInterrupt()])
def test_a_store_that_breaks_its_contract(error: BaseException, late: bool) -> None:
    """Killed, or failed by whatever error, between the summary and what is saved: the old state is served, and from it
    the new one can be made.
    """
    rows = [row("0"), Row(id="1", messages=[{"role": "user", "content": "word " * 4_000}]), row("2"), row("3")]
    events: list[Event] = []

    def compactor(store: MemoryStore) -> DurableCompactor:
        return DurableCompactor(
            "openai-chat", SETTINGS, RememberingSummarizer(), on_event=events.append, store=store, owner="o"
        )

    if isinstance(error, Exception):
        served = compactor(Breaks(error, late=late)).serve(rows)
        assert served.record is None
        assert served.messages == [message for one in rows for message in one.messages]
        assert type(error).__name__ in events[-1].reason
        assert len(events[-1].reason) < 400
    else:
        with pytest.raises(KeyboardInterrupt):
            compactor(Breaks(error, late=late)).serve(rows)
    assert [event.kind for event in events] == ["compacting", "skipped"]
    assert compactor(MemoryStore()).serve(rows).record is not None


@pytest.mark.parametrize("known", ["none", "the first"])
def test_counts_of_a_fold_that_is_not_served(known: str) -> None:
    """Where a record is lost the counts that were made under it are no counts of all rows: it is folded again."""
    compactor = DurableCompactor("openai-chat", SETTINGS, RememberingSummarizer())
    rows: list[Row] = []
    records: list[FoldRecord] = []
    for number in range(40):
        rows.append(Row(id=f"u{number}", messages=[{"role": "user", "content": "word " * 150}]))
        served = compactor.serve(rows, records)
        if served.event is not None and served.record is not None:
            records.append(served.record)
        tokens = sum(len(str(message["content"])) // 4 for message in served.messages)
        rows.append(
            Row(id=f"a{number}", messages=[{"role": "assistant", "content": "word " * 150}], tokens=tokens + 200)
        )
    assert len(records) > 2
    rows.append(Row(id="last", messages=[{"role": "user", "content": "And now?"}]))
    served = compactor.serve(rows, None if known == "none" else records[0])
    assert served.event is not None
    assert served.event.kind == "done"


def test_a_store_that_raises_what_no_future_takes() -> None:
    """The async twin ends as the sync one does: skipped, with the reason."""
    rows = [Row(id=str(at), messages=[{"role": "user", "content": "word " * 900}]) for at in range(6)]
    for raising in (StopIteration(), OSError("full")):
        compactor = DurableCompactor(
            "openai-chat", SETTINGS, RememberingSummarizer(), store=Breaks(raising, late=False), owner="conv"
        )
        event = asyncio.run(asyncio.wait_for(compactor.aserve(rows), 20)).event
        assert event is not None
        assert event == compactor.serve(rows).event
        assert "the archive could not be written" in event.reason
