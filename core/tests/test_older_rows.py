"""Rows of the generations before version 3: recognised as their writers did, shown, opened, never guessed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from trimtab import Host
from trimtab.errors import CallerError, LostBlob
from trimtab.older import read_old

KEY = "$persistedToolOutput"
FULL = "".join(f"{n}: the ferry left on time\n" for n in range(200))


@pytest.fixture
def host() -> Iterator[Host]:
    """A host with an empty store: the texts of older rows are not in it."""
    with Host.load(discover=False) as loaded:
        yield loaded


def single(**more: Any) -> Any:
    """A row of the first generation; `more` replaces fields, `...` takes one out."""
    body = {
        "fileEntryId": "0190-entry_A",
        "vfsFilename": "vfs_0123456789abcdef.txt",
        "head": FULL[:40],
        "tail": FULL[-40:],
        "totalChars": len(FULL),
        "totalLines": 201,
        "shape": "text",
        **more,
    }
    return {KEY: {name: value for name, value in body.items() if value is not ...}}


def blob(key: Any, number: int = 0, **more: Any) -> Any:
    """One text of a row of the second generation."""
    body = single(fileEntryId=f"e{number}", shape=..., **more)[KEY]
    return {"key": key, **body}


def several(skeleton: Any, *blobs: Any) -> Any:
    """A row of the second generation."""
    return {KEY: {"shape": "entities", "skeleton": skeleton, "blobRefs": list(blobs)}}


ENTITIES = several([{"id": 1, "content": "short"}, {"id": 2, "content": "cut"}], blob("/1/content"))


@pytest.mark.parametrize(
    "row",
    [
        single(),
        single(head="", tail=""),
        single(totalChars=0, totalLines=1),
        single(totalChars=5_300.0),
        single(extra={"any": "thing"}),
        single(shape="mcp-content"),
        single(shape="mcp-content", metadata=None),
        ENTITIES,
        several(None, blob("")),
        several("text", blob("/a")),
        several([], blob("/0/content"), blob("/9/x/y/z", 1)),
    ],
    ids=str,
)
def test_it_is_an_older_row(host: Host, row: Any) -> None:
    """Both generations are recognised, with fields that nobody knows and keys that lead nowhere; none is changed."""
    before = copy.deepcopy(row)
    assert read_old(row) is not None
    assert host.render(row) is not row
    host.inflate(row, old_blob=lambda _: FULL)
    assert row == before
    assert host.allow_list([row]).held == host.allow_list([row]).lost == frozenset()


@pytest.mark.parametrize(
    "row",
    [
        single(fileEntryId=""),
        single(fileEntryId=7),
        single(vfsFilename=...),
        single(vfsFilename=""),
        single(head=None),
        single(tail=["x"]),
        single(totalChars="12"),
        single(totalChars=True),
        single(totalChars=float("nan")),
        single(totalChars=float("inf")),
        single(totalChars=10**400),
        single(totalLines=...),
        single(shape=...),
        single(shape="json-text-field"),
        single(shape=["text"]),
        several([1]),
        several([1], "x"),
        several([1], {**blob("/0"), "key": 0}),
        several([1], blob("/0"), blob("/0", head=None)),
        {KEY: {"shape": "entities", "blobRefs": [blob("/0")]}},
        {KEY: {"shape": "entities", "skeleton": [], "blobRefs": {"0": blob("/0")}}},
        {**single(), "id": 1},
        single()[KEY],
    ],
    ids=str,
)
def test_it_is_an_ordinary_value(host: Host, row: Any) -> None:
    """One wrong field, and it is a value like any other: the same object, shown and opened as it is."""
    assert read_old(row) is None
    assert host.render(row) is row
    assert host.inflate(row) is row


def test_it_shows_head_marker_and_tail(host: Host) -> None:
    """The marker has no handle, since the text is in no store of ours; its numbers are the stored ones."""
    shown = host.render(single(head="one\n", tail="two\n", totalChars=900))
    assert shown == "one\n<omitted chars 5-896 of 900>\ntwo\n"
    assert host.render(single(head="😀", tail="", totalChars=900)) == "😀\n<omitted chars 3-900 of 900>"
    assert host.render(single(head="abc", tail="def", totalChars=6)) == "abcdef"
    assert host.render(single(head="abc", tail="def", totalChars=-1)) == "abcdef"
    assert "trimtab:" not in shown


def test_mcp_content_keeps_its_metadata(host: Host) -> None:
    """The content is one text block; metadata is there exactly where it was stored, null included."""
    block = {"content": [{"type": "text", "text": FULL}]}
    assert host.inflate(single(shape="mcp-content"), old_blob=lambda _: FULL) == block
    for metadata in (None, {"took": 1.5}, [1]):
        opened = host.inflate(single(shape="mcp-content", metadata=metadata), old_blob=lambda _: FULL)
        assert opened == {**block, "metadata": metadata}


def test_only_what_was_moved_changes(host: Host) -> None:
    """Of a skeleton only the texts change; other items are the same objects, key order stays."""
    opened = host.inflate(ENTITIES, old_blob={"e0": FULL}.__getitem__)
    skeleton = ENTITIES[KEY]["skeleton"]
    assert opened == [skeleton[0], {"id": 2, "content": FULL}]
    assert opened[0] is skeleton[0]
    assert [list(one) for one in opened] == [["id", "content"], ["id", "content"]]


@pytest.mark.parametrize(
    "key", ["", "/", "/2/content", "/-1/content", "/0", "/a/b/c", "content", "/0/content/x", "/x~1y", f"/{'9' * 5_000}"]
)
def test_a_key_that_leads_nowhere_is_skipped(host: Host, key: str) -> None:
    """Keys are `/field` or `/index/field` without escapes; any other leaves the skeleton as it is."""
    skeleton: Any = {"items": 1, "x/y": "kept"} if len(key) < 20 else [1]
    assert host.inflate(several(skeleton, blob(key)), old_blob=lambda _: FULL) is skeleton


def test_a_place_inside_another_is_not_written(host: Host) -> None:
    """Of two keys, one inside the other, the outer one is written."""
    row = several([{"content": "x"}], blob("/0", 1), blob("/0/content", 2))
    assert host.inflate(row, old_blob={"e1": "outer", "e2": "inner"}.__getitem__) == ["outer"]


def test_opening_needs_the_files(host: Host) -> None:
    """Without `old_blob` the error says what to pass; what it raises is not changed; what is no text is lost."""
    with pytest.raises(CallerError, match="pass old_blob="):
        host.inflate(single())
    with pytest.raises(ZeroDivisionError):
        host.inflate(single(), old_blob=lambda _: str(1 // 0))
    for found in (None, b"bytes", 7):
        with pytest.raises(LostBlob, match="0190-entry_A"):
            host.inflate(single(), old_blob=lambda _, found=found: found)  # type: ignore[misc]


@pytest.mark.parametrize(
    "file_id", ["../../etc/passwd", "a/b", "a.txt", "C:\\x", "a b", "x" * 65, "é", "a\n", "٣", "-\0"]
)
def test_an_unsafe_file_id_is_never_asked_for(host: Host, file_id: str) -> None:
    """An id that could be a path is refused before anybody opens a file by it; the row is still shown."""
    asked: list[str] = []
    row = single(fileEntryId=file_id)
    with pytest.raises(LostBlob):
        host.inflate(row, old_blob=lambda one: asked.append(one) or FULL)  # type: ignore[func-returns-value]
    assert asked == []
    assert host.render(row) == host.render(single())


def test_citations_read_what_still_has_structure(host: Host) -> None:
    """Skeletons and deferred results with one give their sources; a text that was moved whole gives none."""
    source = {"id": "a-1", "url": "https://canal.example/1", "title": "Basin", "content": "cut"}
    deferred = {"$deferredToolResult": {"topicId": "t", "messageId": "m", "toolCallId": "c", "skeleton": [source]}}
    for row in (several([source], blob("/0/content")), deferred):
        (found,) = host.citations([row])
        assert (found.id, found.url, found.title) == ("a-1", "https://canal.example/1", "Basin")
    assert host.citations([single(), single(shape="mcp-content")]) == []
