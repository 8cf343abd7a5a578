"""Read pages in prompts and in rows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from trimtab import Call, Host, Policy
from trimtab.testing import PluginContract
from trimtab_fs import FsTools, plugin, policy_with_fs

PROSE = "".join(f'{number}: a line of the file, with words, "quotes" and 漢字\r\n' for number in range(1, 20_001))
JSON_FILE = json.dumps([{"name": f"package-{number}", "version": "1.0"} for number in range(4_000)], indent=1)


class TestPlugin(PluginContract):
    """The plugin keeps the contract of plugins, its codecs the laws."""

    plugin = plugin
    samples: ClassVar = {
        "fs_read": [{"text": "line\n" * 3, "start_line": 1, "end_line": 3, "total_lines": 3}],
        "read_file": [{"text": "", "start_char": 1, "end_char": 4, "total_chars": 9, "next_char": 5}],
        "fs_search": [
            {"matches": [{"path": "a.py", "line": 1, "char": 7, "text": "import os"}], "files": 1},
            {"matches": [{"line": 1, "char": 1, "text": "x"}, {"line": 2, "char": 3, "text": "y"}], "total_lines": 2},
        ],
    }


def host_of(store: str = "memory:", **table: Any) -> Host:
    """A host with this plugin and a policy of these values."""
    return Host.load(store=store, policy=policy_with_fs(Policy(**table)), plugins=[plugin], discover=False)


def tools_of(host: Host, **attachments: str | bytes) -> FsTools:
    """The tools with these attachments."""
    return FsTools(host, attachments=attachments)


def twenty_pages(tools: FsTools, host: Host) -> list[Any]:
    """The first twenty pages of an attachment, each as a model gets it."""
    pages = []
    arguments: dict[str, Any] = {"filename": "a"}
    while len(pages) < 20:
        pages.append(tools.run("read_file", arguments, allow=host.allow_list([])))
        arguments = {"filename": "a", "line": pages[-1]["next_line"]}
    return pages


@pytest.mark.parametrize("content", [PROSE, JSON_FILE], ids=["prose", "json"])
def test_r3_twenty_read_pages_are_slim_in_rows(content: str) -> None:
    """A turn of twenty pages at a lowered limit: whole in the prompt, under 15 % of their text in the rows."""
    with host_of(limit=4_000, keep=2_000, batch=8_000) as host:
        pages = twenty_pages(tools_of(host, a=content), host)
        trimmed = host.trim_batch([Call("read_file", page) for page in pages], owner="turn")
        assert [one.value for one in trimmed] == pages
        assert sum(len(one.row_text) for one in trimmed) < 0.15 * sum(len(page["text"]) for page in pages)
        for one, page in zip(trimmed, pages, strict=True):
            skeleton = one.row["$persistedToolOutput"]["skeleton"]
            assert {**skeleton, "text": page["text"]} == page
            assert [ref["key"] for ref in one.row["$persistedToolOutput"]["blobRefs"]] == ["/text"]
            assert host.inflate(one.row, owner="turn") == page


def test_r3_the_same_page_twice_is_one_blob() -> None:
    """Reading a page again stores nothing."""
    with host_of(limit=4_000, keep=2_000) as host:
        page, *_ = twenty_pages(tools_of(host, a=PROSE), host)
        first = host.trim("read_file", page, owner="turn")
        stored = host.store.stats()
        again = host.trim("read_file", page, owner="turn")
        assert again.row_text == first.row_text
        assert host.store.stats() == stored
        assert stored.blobs == 1


CHILD = """
import sys
from trimtab import Host
from trimtab.policy import Policy
from trimtab_fs import policy_with_fs
import json
with Host.load(store=sys.argv[1], policy=policy_with_fs(Policy(limit=int(sys.argv[2]), keep=512))) as host:
    for line in sys.stdin:
        value = host.render(json.loads(line), owner="turn")
        sys.stdout.buffer.write((json.dumps(value, ensure_ascii=True) + "\\n").encode())
"""


def test_r3_the_bytes_of_a_prompt_never_change(tmp_path: Path) -> None:
    """Rendered from its row, a page is what was sent: by this host and, with other limits, by other processes."""
    url = f"sqlite:///{tmp_path}/rows.db"
    with host_of(url, limit=4_000, keep=2_000) as host:
        pages = twenty_pages(tools_of(host, a=PROSE), host)
        trimmed = [host.trim("read_file", page, owner="turn") for page in pages]
        sent = [one.text for one in trimmed]
        assert [json.dumps(page, ensure_ascii=False, separators=(",", ":")) for page in pages] == sent
        rows = [one.row_text for one in trimmed]
        assert [host.render(json.loads(row), owner="turn") for row in rows] == pages
    for seed, limit in (("0", "512"), ("4242", "100000")):
        done = subprocess.run(
            [sys.executable, "-c", CHILD, url, limit],
            input="".join(f"{row}\n" for row in rows).encode(),
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"},
            capture_output=True,
            check=True,
        )
        assert [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]] == pages


def test_r3_a_page_at_the_cap_is_untouched() -> None:
    """At the default limit a page that fills it goes out as it is, and its row gives it back."""
    with host_of() as host:
        page = tools_of(host, a="x" * 100_000).run("read_file", {"filename": "a"}, allow=host.allow_list([]))
        full = {**page, "text": "x" * (20_000 - len(json.dumps({**page, "text": ""}, separators=(",", ":"))))}
        for output in (page, full, {**full, "text": full["text"] + "x"}):
            trimmed = host.trim("fs_read", output)
            assert trimmed.value is output
            assert not trimmed.changed
            assert host.render(trimmed.row) == output
        assert len(host.trim("fs_read", full).text) == 20_000
        assert host.trim("elsewhere", {**full, "text": full["text"] + "x"}).changed


@pytest.mark.parametrize("unit", ["line", "char"])
def test_r3_a_marker_is_followed_until_its_text_ends(unit: str) -> None:
    """In-flight never trims fs_read: a loop that reads a marker's handle page by page gets the whole text."""
    with host_of(limit=3_000, keep=1_000, batch=3_000) as host:
        tools = FsTools(host)
        trimmed = host.trim("shell", PROSE[:60_000], owner="turn")
        rows = [trimmed.row]
        marker = re.search("full text: fs_read (trimtab:[0-9a-f]{16})", trimmed.text)
        assert marker is not None
        arguments: dict[str, Any] = {"path": marker[1], unit: 1}
        read = ""
        for _ in range(60):
            answer = tools.run("fs_read", arguments, allow=host.allow_list(rows, owner="turn"))
            sent = host.trim("fs_read", answer, arguments=arguments, owner="turn")
            assert sent.value == answer
            rows.append(sent.row)
            read += sent.value["text"]
            if not {"next_line", "next_char"} & set(answer):
                break
            key = "next_line" if "next_line" in answer else "next_char"
            arguments = {"path": marker[1], key.removeprefix("next_"): answer[key]}
        assert read == PROSE[:60_000]


def test_search_output_is_slim_in_rows() -> None:
    """Long lines that a search found leave the row; paths and numbers stay."""
    with host_of() as host:
        text = "".join(f"needle {'word ' * 70}{number}\n" for number in range(40))
        output = tools_of(host, a=text).run(
            "fs_search", {"pattern": "needle", "filename": "a"}, allow=host.allow_list([])
        )
        trimmed = host.trim("fs_search", output)
        assert trimmed.value == output
        assert "word" not in trimmed.row_text
        skeleton = trimmed.row["$persistedToolOutput"]["skeleton"]
        assert [one["line"] for one in skeleton["matches"]] == list(range(1, 41))
        assert host.render(trimmed.row) == output


@pytest.mark.parametrize(
    "protocol", ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock", "mcp", "ai-sdk"]
)
def test_definitions_are_the_same_each_time(protocol: str) -> None:
    """Tool definitions lead the prompt, so they are a function of the policy alone, and are JSON."""
    with Host.load(policy=policy_with_fs(), discover=False) as host:
        tools = FsTools(host, attachments={"a": "text"})
        texts = json.dumps(tools.definitions(protocol))
        assert texts == json.dumps(FsTools(host, folders=["."], attachments={}).definitions(protocol))
        for name in ("fs_read", "read_file", "fs_search"):
            assert f'"name": "{name}"' in texts


def test_definitions_follow_the_policy() -> None:
    """The tools are called what the policy calls them, and the descriptions say so."""
    with Host.load(policy=Policy(read_tool="context_read", search_tool=""), discover=False) as host:
        (tool,) = FsTools(host).definitions("mcp")
        assert tool["name"] == "context_read"
        assert "full text: context_read trimtab:" in tool["description"]
        assert tool["inputSchema"]["required"] == ["path"]
    for policy in (Policy(read_tool="", search_tool=""), Policy(read_tool="")):  # nothing that `run` would refuse
        with Host.load(policy=policy, discover=False) as host:
            assert FsTools(host).definitions("mcp") == []


def test_an_alias_reads_and_searches(tmp_path: Path) -> None:
    """A name of `read_aliases` reads, and with a pattern searches."""
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    with Host.load(policy=Policy(read_aliases=("mcp__trimtab__fs_read",)), discover=False) as host:
        tools = FsTools(host, folders=[tmp_path])
        allow = host.allow_list([])
        assert tools.run("mcp__trimtab__fs_read", {"path": "a.txt"}, allow=allow)["text"] == "one\ntwo\n"
        found = tools.run("mcp__trimtab__fs_read", {"path": "a.txt", "pattern": "two"}, allow=allow)
        assert [one["line"] for one in found["matches"]] == [2]
