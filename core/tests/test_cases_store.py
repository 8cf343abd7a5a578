"""The `store` cases of public bug reports: texts that are kept apart, read back, and shown the same elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trimtab import ALL, Budget, Call, Host, Policy
from trimtab._json import blob_id, canonical
from trimtab.errors import LostBlob, NotOurs, StoreError, UnknownBlob

HANDLE = re.compile("trimtab:([0-9a-f]{16})")
SMALL = Budget(limit=600, keep=512)

Open = Callable[[str], Host]


@pytest.fixture(params=["memory", "sqlite", "file"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens a host with an empty store of each kind, under a name of its own."""
    hosts: list[Host] = []

    def open_one(name: str) -> Host:
        place = tmp_path / "stores" / name
        place.parent.mkdir(exist_ok=True)
        urls = {"memory": "memory:", "sqlite": f"sqlite:///{place}.db", "file": place.as_uri()}
        hosts.append(Host.load(store=urls[request.param], discover=False))
        return hosts[-1]

    yield open_one
    for host in hosts:
        host.close()


def handles(text: str) -> list[str]:
    """Every handle that a prompt names."""
    return HANDLE.findall(text)


def read_all(host: Host, handle: str, row: Any, owner: str) -> str:
    """The text behind a handle, page by page, as a model of this conversation reads it."""
    allow = host.allow_list([row], owner=owner)
    arguments: dict[str, Any] = {"uri": f"trimtab:{handle}"}
    text = ""
    while arguments:
        page = host.run_read_tool("fs_read", arguments, allow=allow)
        text += page["text"]
        name = next((name for name in ("line", "char") if f"next_{name}" in page), None)
        arguments = {"uri": f"trimtab:{handle}", name: page[f"next_{name}"]} if name else {}
    return text


@pytest.mark.cases("field-reports.jsonl", id="D-17")
def test_lines_are_counted_as_reported(opened: Open, case: dict[str, Any]) -> None:
    """The number of lines of each text is the reported one."""
    host = opened("one")
    for text, lines in case["input"]["blobs"].items():
        host.store.put({blob_id(text): text}, owner="a")
        assert host.read(f"trimtab:{blob_id(text)}", allow=ALL).total_lines == lines


@pytest.mark.cases("field-reports.jsonl", id=("D-18", "D-21"))
def test_a_page_is_as_reported(opened: Open, case: dict[str, Any]) -> None:
    """Pages of the reported size join to the text, and one with text after it says so."""
    text, asked = case["input"]["blob"], case["input"]["read"]
    policy = Policy(limit=512, keep=512)
    host = Host(opened("one").store, policy, opened("two").registry)
    host.store.put({blob_id(text): text}, owner="a")
    page = host.read(f"trimtab:{blob_id(text)}", allow=ALL, line=asked["offset"], count=asked["limit"])
    read = page.text
    while page.next_char is not None:
        assert page.truncated
        page = host.read(f"trimtab:{blob_id(text)}", allow=ALL, char=page.next_char)
        read += page.text
    assert not page.truncated
    assert read == text


@pytest.mark.cases("field-reports.jsonl", id="D-11")
def test_a_reported_text_can_be_put(opened: Open, case: dict[str, Any]) -> None:
    """Half a surrogate pair is stored under one id and comes back; the read tool shows it as U+FFFD."""
    text = case["input"]["put"]
    host = opened("one")
    host.store.put({blob_id(text): text}, owner="a")
    host.store.put({blob_id(text): text}, owner="a")
    assert host.read(f"trimtab:{blob_id(text)}", allow=ALL).text == text
    assert host.run_read_tool("fs_read", {"uri": f"trimtab:{blob_id(text)}"}, allow=ALL)["text"].encode()


@pytest.mark.parametrize("name", ["fs_read", "fs_search", "mcp__desk__fs_read", "reader.v2"])
@pytest.mark.parametrize("inside", [False, True], ids=["called", "through a meta-tool"])
def test_what_a_read_tool_shows_is_not_stored_again(name: str, inside: bool) -> None:
    """A read tool's page passes as the same object however the tool is named here; only its row is slim."""
    text = "".join(f"measured {n} at noon\n" for n in range(2_500))
    policy = Policy(
        read_aliases=("mcp__desk__fs_read", "reader.v2"), meta={"invoke": {"name": "/name", "arguments": "/params"}}
    )
    with Host.load(policy=policy, discover=False) as host:
        first = host.trim("run", text)
        uri = f"trimtab:{handles(first.text)[0]}"
        arguments = {"uri": uri, "pattern": "noon"} if name == "fs_search" else {"uri": uri}
        page = host.run_read_tool(name, arguments, allow=ALL)
        call = {"name": name, "params": arguments}
        for budget in (None, SMALL):
            again = host.trim(
                "invoke" if inside else name, page, arguments=call if inside else arguments, budget=budget
            )
            assert again.value is page
            assert not again.changed
            assert host.render(json.loads(again.row_text)) == page
        if name != "fs_search":
            assert len(again.row_text) < 600 < len(again.text)


def test_a_tool_of_a_like_name_is_trimmed() -> None:
    """Only exact names are exempt: a tool of somebody else's that ends or begins like a read tool is trimmed."""
    page = {"text": "somebody else's page\n" * 2_000}
    with Host.load(discover=False) as host:
        for name in ("my_fs_read", "fs_read2", "mcp__evil__fs_read", "FS_READ", "fs_read ", "fs"):
            assert host.trim(name, page).changed


def test_outputs_without_a_name_are_kept_apart(opened: Open) -> None:
    """Calls whose name or id is empty get a text each: texts are named by what they say, not by the call."""
    host = opened("one")
    texts = [f"{word} " * 3_000 for word in ("herring", "salmon", "perch")]
    trimmed = host.trim_batch([Call("", text) for text in texts], budget=SMALL, owner="chat")
    found = [handles(one.text)[0] for one in trimmed]
    assert len(set(found)) == 3
    for text, handle, one in zip(texts, found, trimmed, strict=True):
        assert read_all(host, handle, json.loads(one.row_text), "chat") == text


def test_conversations_do_not_read_each_others_texts(opened: Open) -> None:
    """The same call in two conversations: each reads its own text, and the other's uri is unknown to it."""
    host = opened("one")
    mine = host.trim("report", "salaries of March " * 500, budget=SMALL, owner="anna")
    theirs = host.trim("report", "menu of the canteen " * 500, budget=SMALL, owner="ben")
    (own,), (other,) = handles(mine.text), handles(theirs.text)
    assert own != other
    assert read_all(host, own, mine.row, "anna") == "salaries of March " * 500
    assert read_all(host, other, theirs.row, "ben") == "menu of the canteen " * 500
    allow = host.allow_list([theirs.row], owner="ben")
    with pytest.raises(UnknownBlob, match=own):
        host.read(f"trimtab:{own}", allow=allow)
    with pytest.raises(LostBlob):
        host.inflate(mine.row, owner="ben")
    assert host.allow_list([mine.row], owner="ben").held == frozenset()


def test_the_same_text_in_two_conversations_is_stored_once(opened: Open) -> None:
    """Equal texts are one blob; it stays until the last conversation lets go of it."""
    host = opened("one")
    text = "the same page " * 500
    row = host.trim("fetch", text, budget=SMALL, owner="anna").row
    assert host.trim("fetch", text, budget=SMALL, owner="ben").row == row
    assert host.store.stats().blobs == 1
    host.release("anna")
    host.collect(0)
    assert host.inflate(row, owner="ben") == text
    with pytest.raises(LostBlob):
        host.inflate(row, owner="anna")
    host.release("ben")
    host.collect(0)
    assert host.store.stats().blobs == 0


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "..\\..\\y\0z", "/abs/olute", "C:\\tools\\x", "a" * 5_000, "~"])
def test_names_never_become_paths(opened: Open, tmp_path: Path, name: str) -> None:
    """Tool names and owners from outside create nothing beside the store and lose nothing."""
    host = opened("one")
    text = "plain text of a tool " * 200
    trimmed = host.trim(name, text, budget=SMALL, owner=name)
    assert host.inflate(json.loads(trimmed.row_text), owner=name) == text
    assert [path.name for path in tmp_path.iterdir()] == ["stores"]
    assert {path.name.split(".")[0] for path in (tmp_path / "stores").iterdir()} <= {"one"}


@pytest.mark.parametrize(
    "uri",
    [
        "../stores-evil/x",
        "/etc/passwd",
        "file:///etc/passwd",
        "trimtab:../../etc/passwd",
        "trimtab:" + "0" * 15,
        "trimtab:" + "0" * 33,
        "trimtab:" + "G" * 16,
        "TRIMTAB:" + "0" * 16,
        "trimtab:" + "0" * 16 + "\n",
        "x trimtab:" + "0" * 16,
        "context://vfs/vfs_" + "0" * 16 + ".txt",
        "",
    ],
)
def test_a_foreign_uri_opens_nothing(opened: Open, tmp_path: Path, uri: str) -> None:
    """Whatever is not a handle of ours is refused, also a path beside the store's folder."""
    (tmp_path / "stores-evil").mkdir()
    (tmp_path / "stores-evil" / "x").write_text("secret")
    host = opened("one")
    with pytest.raises(NotOurs, match="is no uri of a marker"):
        host.read(uri, allow=ALL)


def test_another_machine_answers_once_and_clearly(opened: Open, caplog: pytest.LogCaptureFixture) -> None:
    """The same history over an empty store: the prompt has the same bytes; a read is one answer that says why."""
    here, there = opened("here"), opened("there")
    rows = [
        here.trim("fetch", {"url": "https://a.example", "page": "line of a page\n" * 1_900}, owner="c"),
        here.trim("fs_read", {"text": "line that was read\n" * 100, "next_line": 101}, owner="c"),
    ]
    stored = [json.loads(one.row_text) for one in rows]
    assert canonical(there.render(stored[0], owner="c")) == rows[0].text
    assert "<omitted chars" in there.render(stored[1], owner="c")["text"]
    assert "run the tool again" in caplog.text
    allow = there.allow_list(stored, owner="c")
    assert (len(allow.held), len(allow.lost)) == (0, 2)
    handle = handles(rows[0].text)[0]
    answer = there.run_read_tool("fs_read", {"uri": f"trimtab:{handle}"}, allow=allow)
    assert answer["error"]["kind"] == "LostBlob"
    assert "run the tool again" in answer["error"]["message"]
    for row in stored:
        with pytest.raises(StoreError, match="is not held here"):
            there.inflate(row, owner="c")


RENDER = """
import json, sys
from trimtab import Host
with Host.load(store=sys.argv[1], discover=False) as host:
    for line in sys.stdin:
        value = host.render(json.loads(line), owner="chat")
        print(json.dumps(value), flush=True)
"""


def test_a_resumed_session_sends_the_same_bytes(tmp_path: Path) -> None:
    """Rows saved by one process and rendered by the next give the prompt that was sent, read-back pages included."""
    store = f"sqlite:///{tmp_path / 'texts.db'}"
    with Host.load(store=store, discover=False) as host:
        before = [
            host.trim("search", [{"id": n, "text": f"answer {n} ✓\r\n" * 900} for n in range(9)], owner="chat"),
            host.trim("run", "half \ud800 a pair and a NUL \x00\n" * 900, owner="chat"),
            host.trim("get", json.dumps({"n": 1.10, "body": "ä" * 30_000}), owner="chat"),
            host.trim("fs_read", {"text": "a page that was read\n" * 500, "start_line": 1}, owner="chat"),
        ]
    lines = "".join(f"{one.row_text}\n" for one in before)
    command = [sys.executable, "-c", RENDER, store]
    done = subprocess.run(command, input=lines.encode(), capture_output=True, check=True)
    after = [json.loads(line) for line in done.stdout.splitlines()]
    assert [canonical(value) for value in after] == [canonical(one.value) for one in before]
