"""Rows as a database may give them back: damaged, of a later version, of somebody else."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from trimtab import Host
from trimtab._json import blob_id
from trimtab.envelope import read
from trimtab.errors import CallerError, EnvelopeError

KEY = "$persistedToolOutput"
TEXT = "level of the basin at noon\n" * 30
LISTED = json.dumps(list(range(300)), separators=(",", ":"))
ID, LIST_ID = blob_id(TEXT), blob_id(LISTED)
SCHEMA = False  # in the table below: this damage is one of meaning, which no schema sees


@pytest.fixture
def host() -> Iterator[Host]:
    """A host whose store holds the texts of `sound`."""
    with Host.load(discover=False) as loaded:
        loaded.store.put({ID: TEXT, LIST_ID: LISTED}, owner="default")
        yield loaded


def sound() -> Any:
    """A row with a plain ref, two in JSON text, and one of a list."""
    skeleton = {"a": "<omitted>", "b": '["<omitted>", "<omitted>"]', "c": ["<omitted items>"], "d": 1}
    refs = [
        {"key": "/a", "blobId": ID, "totalChars": len(TEXT), "cuts": [[1, 3], [9, len(TEXT)]]},
        {"key": "/b", "blobId": ID, "totalChars": len(TEXT), "cuts": [[1, len(TEXT)]], "span": [2, 11], "esc": "utf8"},
        {
            "key": "/b",
            "blobId": ID,
            "totalChars": len(TEXT),
            "span": [15, 24],
            "esc": "raw",
            "sourceId": ID,
        },
        {
            "key": "/c",
            "blobId": LIST_ID,
            "totalChars": len(LISTED),
            "cuts": [[1, 300]],
            "json": True,
            "totalItems": 300,
        },
    ]
    return {KEY: {"v": 3, "tool": "t", "skeleton": skeleton, "blobRefs": refs}}


MISSING = object()


def changed(place: str, value: Any) -> Any:
    """The sound row with one place of its body (`tool`, `0/key` for a ref's) set to a value, or taken out."""
    row = sound()
    body = row[KEY]
    first, _, name = place.partition("/")
    target, last = body, first if not first.isdigit() else int(first)
    if isinstance(last, int):
        target, last = (body["blobRefs"][last], name) if name else (body["blobRefs"], last)
    if value is MISSING:
        del target[last]
    else:
        target[last] = value
    return row


# Place in the body, what stands there instead, and the place that the error names; SCHEMA: no schema sees it.
DAMAGES: dict[str, tuple[Any, ...]] = {
    "no tool": ("tool", MISSING, "/tool"),
    "tool is no string": ("tool", None, "/tool"),
    "no skeleton": ("skeleton", MISSING, ""),
    "no refs": ("blobRefs", MISSING, "/blobRefs"),
    "refs are no list": ("blobRefs", {}, "/blobRefs"),
    "ref is no object": ("0", "x", "/blobRefs/0"),
    "ref is null": ("1", None, "/blobRefs/1"),
    "no key": ("0/key", MISSING, "/blobRefs/0/key"),
    "key is a number": ("0/key", 0, "/blobRefs/0/key"),
    "key without a slash": ("0/key", "a", "/skeletona"),
    "key with a bad escape": ("0/key", "/a~2", "/skeleton/a~2"),
    "key to nothing": ("0/key", "/gone", "/skeleton/gone", SCHEMA),
    "key below a string": ("0/key", "/a/0", "/skeleton/a/0", SCHEMA),
    "key to a number": ("0/key", "/d", "/skeleton/d", SCHEMA),
    "key to a list": ("0/key", "/c", "/skeleton/c", SCHEMA),
    "no id": ("0/blobId", MISSING, "/blobRefs/0/blobId"),
    "id is short": ("0/blobId", ID[:16], "/blobRefs/0/blobId"),
    "id is a path": ("0/blobId", "../../etc/passwd", "/blobRefs/0/blobId"),
    "id in capitals": ("0/blobId", "A" * 32, "/blobRefs/0/blobId"),
    "id of other digits": ("0/blobId", "٠" * 32, "/blobRefs/0/blobId"),
    "id is no string": ("0/blobId", [ID], "/blobRefs/0/blobId"),
    "no total": ("0/totalChars", MISSING, "/blobRefs/0/totalChars"),
    "total is negative": ("0/totalChars", -1, "/blobRefs/0/totalChars"),
    "total is true": ("0/totalChars", True, "/blobRefs/0/totalChars"),
    "total is text": ("0/totalChars", "810", "/blobRefs/0/totalChars"),
    "total has a fraction": ("0/totalChars", 1.5, "/blobRefs/0/totalChars"),
    "cuts are no list": ("0/cuts", {"1": 3}, "/blobRefs/0/cuts"),
    "cut of three": ("0/cuts", [[1, 2, 3]], "/blobRefs/0/cuts"),
    "cut of text": ("0/cuts", [["1", "3"]], "/blobRefs/0/cuts"),
    "cut from 0": ("0/cuts", [[0, 3]], "/blobRefs/0/cuts"),
    "cut that ends early": ("0/cuts", [[5, 4]], "/blobRefs/0/cuts", SCHEMA),
    "cuts that overlap": ("0/cuts", [[1, 9], [9, 12]], "/blobRefs/0/cuts", SCHEMA),
    "cuts out of order": ("0/cuts", [[9, 12], [1, 3]], "/blobRefs/0/cuts", SCHEMA),
    "cut past the end": ("0/cuts", [[1, len(TEXT) + 1]], "/blobRefs/0/cuts", SCHEMA),
    "cut past the items": ("3/cuts", [[1, 301]], "/blobRefs/3/cuts", SCHEMA),
    "span of one": ("1/span", [2], "/blobRefs/1/span"),
    "span is negative": ("1/span", [-1, 4], "/blobRefs/1/span"),
    "span ends early": ("1/span", [9, 4], "/blobRefs/1/span", SCHEMA),
    "span past the end": ("1/span", [2, 900], "/skeleton/b", SCHEMA),
    "spans overlap": ("1/span", [2, 16], "/skeleton/b", SCHEMA),
    "span without a spelling": ("1/esc", MISSING, "/blobRefs/1/esc"),
    "spelling without a span": ("1/span", MISSING, "/blobRefs/1/esc"),
    "raw without a source": ("2/sourceId", MISSING, "/blobRefs/2/sourceId"),
    "raw with a bad source": ("2/sourceId", "x", "/blobRefs/2/sourceId"),
    "source without raw": ("1/sourceId", ID, "/blobRefs/1/sourceId"),
    "json is 1": ("3/json", 1, "/blobRefs/3/json"),
    "whole is text": ("0/whole", "true", "/blobRefs/0/whole"),
    "items are text": ("3/totalItems", "300", "/blobRefs/3/totalItems"),
    "two refs at one place": ("1", {"key": "/a", "blobId": ID, "totalChars": len(TEXT)}, "/skeleton/a", SCHEMA),
}


def damaged(name: str) -> tuple[Any, str]:
    """The damaged row of a name, and the place that its error names."""
    place, value, at, *_ = DAMAGES[name]
    return changed(place, value), f"/{KEY}{at}"


WAYS: dict[str, Callable[[Host, Any], object]] = {
    "render": lambda host, row: host.render(row),
    "inflate": lambda host, row: host.inflate(row),
    "allow_list": lambda host, row: host.allow_list([row]),
    "citations": lambda host, row: host.citations([row]),
}


def test_the_sound_row_opens(host: Host) -> None:
    """Without any damage the row of these tests opens."""
    assert host.inflate(sound())["a"] == TEXT


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_row_says_where(host: Host, name: str, way: str) -> None:
    """Damage is an error that names its place and what to do; the row and the store stay as they are."""
    row, place = damaged(name)
    before = copy.deepcopy(row)
    with pytest.raises(EnvelopeError, match="restore it from a backup") as caught:
        WAYS[way](host, row)
    assert caught.value.place == place
    assert len(str(caught.value)) < 600
    assert row == before
    assert host.store.get(ID) == TEXT


def test_a_text_of_another_length_is_damage(host: Host) -> None:
    """A blob that has not got the length that the row says is never put in its place."""
    row = changed("0/totalChars", len(TEXT) + 5)
    with pytest.raises(EnvelopeError, match=f"says {len(TEXT) + 5} chars, its text has {len(TEXT)}"):
        host.inflate(row)


@pytest.mark.parametrize("index", ["9" * 5_000, "00", "-1", "-", "٣", "1e0", "2"])
def test_an_index_that_is_none_leads_nowhere(host: Host, index: str) -> None:
    """A key into a list must be a usual index of it, however many digits it has; the error stays short."""
    ref = {"key": f"/{index}", "blobId": ID, "totalChars": len(TEXT)}
    with pytest.raises(EnvelopeError, match="leads nowhere") as caught:
        host.render({KEY: {"v": 3, "tool": "t", "skeleton": ["a", "b"], "blobRefs": [ref]}})
    assert len(str(caught.value)) < 600


def test_a_list_that_is_no_json_is_damage(host: Host) -> None:
    """A list's blob that holds something else than JSON is never put in its place."""
    row = sound()
    row[KEY]["blobRefs"][3] |= {"blobId": ID, "totalChars": len(TEXT)}
    with pytest.raises(EnvelopeError, match="not JSON"):
        host.inflate(row)


LATER: dict[str, tuple[str, Any]] = {
    "version 4": ("v", 4),
    "version 2": ("v", 2),
    "version '3'": ("v", "3"),
    "version true": ("v", True),
    "version null": ("v", None),
    "a new field": ("compressed", True),
    "a new field of a ref": ("0/lang", "fi"),
    "a new field beside damage": ("0/totalItemsApprox", [1]),
    "a new spelling": ("1/esc", "percent"),
    "a spelling of another type": ("1/esc", ["utf8"]),
}


@pytest.mark.parametrize("name", LATER)
def test_a_later_row_is_left_as_it_is(host: Host, name: str, caplog: pytest.LogCaptureFixture) -> None:
    """A row with a version, field or spelling that is not known comes back as the same object, with a warning."""
    row = changed(*LATER[name])
    before = copy.deepcopy(row)
    with caplog.at_level(logging.WARNING, logger="trimtab"):
        assert host.render(row) is row
        assert host.inflate(row) is row
        assert host.allow_list([row]).held == frozenset()
    assert "upgrade to read it" in caplog.text
    assert row == before


@pytest.mark.parametrize(
    "value",
    [
        None,
        0,
        "",
        "text",
        [],
        {},
        [sound()],
        {"row": sound()},
        {**sound(), "id": 1},
        {KEY: None},
        {KEY: []},
        {KEY: "x"},
        {KEY: {}},
        {KEY: {"shape": "text"}},
        {KEY.upper(): sound()[KEY]},
        json.dumps(sound()),
        {"$deferredToolResult": {"topicId": "a", "messageId": "b", "toolCallId": "c"}},
    ],
    ids=repr,
)
def test_what_is_no_row_is_the_same_object(host: Host, value: Any) -> None:
    """Only a dict with exactly the row's key is read as one, and only at the top."""
    assert read(value) is None
    assert host.render(value) is value
    assert host.inflate(value) is value
    assert host.allow_list([value]).held == frozenset()


def test_a_ref_is_only_read_below_a_list_of_its_own() -> None:
    """Refs inside a list's are for reading: they neither have to lead anywhere nor clash with it."""
    row = sound()
    inner = {"key": "/c/7/text", "blobId": ID, "totalChars": len(TEXT)}
    row[KEY]["blobRefs"].append(inner)
    envelope = read(row)
    assert envelope is not None
    assert len(envelope.refs) == 5


def test_rows_that_were_not_read(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    """A row as text names nothing, since a tool can return such a text; the log says once what to do."""
    trimmed = host.trim("read", "a line of a page\n" * 4_000)
    assert host.allow_list([trimmed.row]).held
    assert not caplog.records
    rows = iter([trimmed.row_text, trimmed.row_text, "short", {"a": trimmed.row_text}])
    assert host.allow_list(rows).held == frozenset()
    (record,) = caplog.records
    assert record.getMessage().startswith("2 of these rows are text")
    assert "json.loads" in record.getMessage()


@pytest.mark.parametrize("opening", ["render", "render_text", "inflate"])
def test_a_row_that_is_opened_as_text(host: Host, opening: str, caplog: pytest.LogCaptureFixture) -> None:
    """It comes back as it is, since a tool can return such a text; the log says what to do. Other texts: no word."""
    text = host.trim("read", "a line of a page\n" * 4_000).row_text
    opened = getattr(host, opening)
    assert opened("short") == "short"
    assert not caplog.records
    assert opened(text) is text
    (record,) = caplog.records
    assert "json.loads" in record.getMessage()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (lambda trimmed: trimmed.row, "not one dict"),
        (lambda trimmed: trimmed.row_text, "not one str"),
        (lambda trimmed: trimmed.row_text.encode(), "not one bytes"),
        (lambda trimmed: trimmed, "not one Trimmed"),
        (lambda trimmed: [trimmed.row, trimmed], "not of Trimmed"),
        (lambda trimmed: None, "not one NoneType"),
    ],
)
def test_what_is_no_list_of_rows(host: Host, rows: Callable[[Any], Any], said: str) -> None:
    """What names nothing, though it was meant to, is refused: the model would be told that its texts are unknown."""
    trimmed = host.trim("read", "a line of a page\n" * 4_000)
    with pytest.raises(CallerError, match=rf"list of rows \(t\.row, .*\), {said}"):
        host.allow_list(rows(trimmed))
    with pytest.raises(CallerError, match=said):
        asyncio.run(host.aallow_list(rows(trimmed)))
