"""Which bytes are text, attachments by handle, and files too large to hold."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import ALL, Host, Policy
from trimtab.errors import CallerError, PolicyError
from trimtab_fs import FsTools, policy_with_fs
from trimtab_fs.errors import Binary, Unreadable
from trimtab_fs.text import CHUNK, Texts

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


@pytest.fixture
def host() -> Iterator[Host]:
    """A host whose policy knows read_file."""
    with Host.load(policy=policy_with_fs(), discover=False) as host:
        yield host


def read_file(host: Host, attachments: Mapping[str, Any], **arguments: Any) -> Any:
    """`read_file` of attachment `a`, or of the one in the arguments."""
    return FsTools(host, attachments=attachments).run("read_file", {"filename": "a", **arguments}, allow=ALL)


def text_of(data: bytes) -> str:
    """The whole text of some bytes."""
    found = Texts(1 << 30).of_bytes(data, "a")
    assert found is not None
    return found.slice(1, found.size.chars)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\r\n", "plain\r\n"),
        ("é漢😀".encode(), "é漢😀"),
        (b"\xef\xbb\xbfwith a mark", "\ufeffwith a mark"),
        (b"\xff\xfe" + "é漢😀\r\n".encode("utf-16-le"), "é漢😀\r\n"),
        (b"\xfe\xff" + "é漢😀\r\n".encode("utf-16-be"), "é漢😀\r\n"),
        (b"\xff\xfe", ""),
        (b"x" * 8_192 + b"\0y", "x" * 8_192 + "\0y"),
        (b"\xff\xfe" + ("x" * 5_000 + "\0y").encode("utf-16-le"), "x" * 5_000 + "\0y"),
    ],
)
def test_what_is_text(data: bytes, text: str) -> None:
    """UTF-8, its mark kept as the character it is; UTF-16 where its mark says so; a NUL behind the first 8 kB."""
    assert text_of(data) == text


@pytest.mark.parametrize(
    "data",
    [
        PNG,
        b"text\0",
        b"x" * 8_191 + b"\0",
        b"caf\xe9",
        b"x" * CHUNK + b"\xe9x",
        b"cut off \xe6\xbc",
        b"\xff\xfex",
        b"\xff\xfe\x00\xd8x\x00",
        b"\xff\xfe\x00\xd8",
        b"\xff\xfe" + b"x\0\0\0",
        b"\xff\xfe\0\0" + "abc".encode("utf-32-le"),
        b"\0\0\xfe\xff" + "abc".encode("utf-32-be"),
        "abc".encode("utf-16-le"),
        b"\xed\xa0\x80",
        b"\xc0\x80",
    ],
    ids=lambda data: repr(data[:12] + data[-4:]),
)
def test_what_is_binary(host: Host, data: bytes) -> None:
    """Whatever is not certainly text is refused as binary, and never decoded by guessing."""
    with pytest.raises(Binary):
        text_of(data)
    error = read_file(host, {"a": data})["error"]
    assert error["kind"] == "Binary"
    assert "'a'" in error["message"]


@settings(max_examples=40, deadline=None)
@given(
    text=st.lists(st.sampled_from(["x" * (CHUNK - 1), "é", "漢", "😀", "\r", "\n", "ab\n" * 9_000]), max_size=8).map(
        "".join
    ),
    encoding=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
)
def test_chunks_are_cut_between_characters(text: str, encoding: str) -> None:
    """Wherever the chunks of a file end, the text is the one that was written, and so are its lines."""
    mark = {"utf-8": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[encoding]
    found = Texts(1 << 30).of_bytes(mark + text.encode(encoding), "a")
    assert found is not None
    assert found.slice(1, found.size.chars) == text
    lines = text.split("\n")
    assert found.size.lines == len(lines) - (lines[-1] == "")
    for number in range(1, found.size.lines + 1, 1 + found.size.lines // 20):
        start = found.line_start(number)
        assert text[start - 1 :].startswith(lines[number - 1])
        assert found.line_at(start) == number


# Attachments


def test_attachments_are_texts_bytes_and_files(host: Host, tmp_path: Path) -> None:
    """Each kind is read by its handle; a file may lie anywhere, also behind a link."""
    (tmp_path / "real").write_bytes(b"from a file\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    attachments = {"a": "a text\n", "b": b"some bytes\n", "c d.md": tmp_path / "real", "e": tmp_path / "link"}
    read = [read_file(host, attachments, filename=name)["text"] for name in attachments]
    assert read == ["a text\n", "some bytes\n", "from a file\n", "from a file\n"]


def test_an_unknown_handle_is_answered_with_the_known_ones(host: Host, tmp_path: Path) -> None:
    """Neither an id nor a path of the application's is a handle, and none is told."""
    attachments = {"notes.md": tmp_path / "upload-17", "b.txt": "b"}
    for asked in ("upload-17", str(tmp_path / "upload-17"), "../notes.md", "trimtab:3f2a9c1b7d04e5f6", "NOTES.MD"):
        error = read_file(host, attachments, filename=asked)["error"]
        assert error["kind"] == "UnknownAttachment"
        assert error["message"].endswith("the attachments are: notes.md, b.txt")
    assert "no attachments" in read_file(host, {}, filename="x")["error"]["message"]
    many = {f"{number}.txt": "" for number in range(1_000)}
    message = read_file(host, many, filename="x")["error"]["message"]
    assert message.endswith("and 970 more")
    assert len(message) < 500


def test_errors_of_attachments_name_the_handle_only(host: Host, tmp_path: Path) -> None:
    """A file that is gone, or is none, is called by its handle."""
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "gone", "NotFound"), (tmp_path, "NotAFile"), (tmp_path / "pipe", "NotAFile")):
        error = read_file(host, {"a": path})["error"]
        assert error["kind"] == kind
        assert str(tmp_path) not in error["message"]
        assert "'a'" in error["message"]


def test_an_attachment_added_later_is_found(host: Host) -> None:
    """The mapping is looked at in each call, and texts that take one another's place are not mixed up."""
    attachments: dict[str, str] = {}
    tools = FsTools(host, attachments=attachments)
    for text in ("first\n" * 3, "second\n" * 3, "third\n" * 3):
        attachments["a"] = text
        assert tools.run("read_file", {"filename": "a"}, allow=ALL)["text"] == text


def test_read_file_is_offered_only_with_attachments(host: Host) -> None:
    """Without attachments the tool is neither offered nor answered."""
    tools = FsTools(host)
    assert [one["name"] for one in tools.definitions("anthropic")] == ["fs_read", "fs_search"]
    with pytest.raises(CallerError, match="is not one of these tools; they are fs_read, fs_search"):
        tools.run("read_file", {"filename": "a"}, allow=ALL)


def test_read_file_must_be_exempt() -> None:
    """A policy that would trim the pages is refused with what to do, and `policy_with_fs` does it."""
    with Host.load(discover=False) as plain, pytest.raises(PolicyError, match="policy_with_fs"):
        FsTools(plain, attachments={})
    named = policy_with_fs(Policy(read_tool="read_file"))
    with Host.load(policy=named, discover=False) as host, pytest.raises(PolicyError, match="another name"):
        FsTools(host, attachments={})


def test_the_policy_keeps_what_it_says_of_read_file() -> None:
    """`policy_with_fs` adds the exemption and changes nothing else."""
    policy = policy_with_fs(Policy.from_mapping({"tools": {"read_*": {"limit": 700, "keep": 600}, "x": {"cap": 900}}}))
    assert policy.budget("read_file").limit == 700
    assert policy.is_read_tool("read_file")
    assert not policy.is_read_tool("read_other")
    assert policy_with_fs(policy) == policy


# Files


def test_a_file_that_changes_between_pages(host: Host, tmp_path: Path) -> None:
    """A page shows the file as it is; one that changes in the middle of a read is refused, not shown mixed."""
    path = tmp_path / "log"
    path.write_text("one\n", encoding="utf-8")
    tools = FsTools(host, folders=[tmp_path])
    assert tools.run("fs_read", {"path": "log"}, allow=ALL)["total_lines"] == 1
    path.write_text("one\ntwo\n", encoding="utf-8")
    assert tools.run("fs_read", {"path": "log"}, allow=ALL)["total_lines"] == 2
    texts = Texts(1 << 30)
    with path.open("rb") as file:
        found = texts.of_file(file, "log")
        assert found is not None
        path.write_text("né\n", encoding="utf-8")
        with pytest.raises(Unreadable, match="changed"):
            found.slice(1, 8)


def test_a_large_file_is_read_without_holding_it(host: Host, tmp_path: Path) -> None:
    """A page from the middle of 24 MB takes a few chunks of memory, also the first time."""
    with (tmp_path / "big.log").open("wb") as file:
        for number in range(240):
            file.write(b"".join(b"%06d %092d\n" % (number * 1_000 + line, line) for line in range(1_000)))
    tools = FsTools(host, folders=[tmp_path])
    tools.run("fs_read", {"path": "big.log", "line": 10**9}, allow=ALL)
    tracemalloc.start()
    try:
        page = tools.run("fs_read", {"path": "big.log", "line": 200_001, "count": 1}, allow=ALL)
        FsTools(host, folders=[tmp_path]).run("fs_read", {"path": "big.log", "char": 12_000_000}, allow=ALL)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert page["text"].startswith("200000 0000")
    assert page["total_lines"] == 240_000
    assert peak < 3_000_000


def test_a_file_above_the_largest_is_refused(host: Host, tmp_path: Path) -> None:
    """The size is checked before anything is read."""
    (tmp_path / "a").write_bytes(b"x" * 101)
    tools = FsTools(host, folders=[tmp_path], attachments={"a": b"x" * 101}, largest=100)
    assert tools.run("fs_read", {"path": "a"}, allow=ALL)["error"]["kind"] == "TooLarge"
    assert tools.run("read_file", {"filename": "a"}, allow=ALL)["error"]["kind"] == "TooLarge"


def test_an_index_goes_on_where_its_time_was_up() -> None:
    """A file that takes longer to look through than a search may is looked through in several searches."""
    data = b"line\n" * (CHUNK // 2)
    steps = iter([False, True, False, True, False, False, False])
    texts = Texts(1 << 30)
    answers = [texts.of_bytes(data, "a", lambda: next(steps)) for _ in range(3)]
    assert answers[:2] == [None, None]
    assert answers[2] is not None
    assert answers[2].size.chars == len(data)


def test_a_short_read_is_no_end() -> None:
    """The end of a text is where nothing follows, at whatever length."""
    for length in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK):
        found = Texts(1 << 30).of_bytes(b"x" * length, "a")
        assert found is not None
        assert found.size.chars == length
        assert found.slice(1, length) == "x" * length


def test_the_async_twin_answers_alike(host: Host) -> None:
    """`arun` gives what `run` gives."""
    tools = FsTools(host, attachments={"a": "text\n" * 10_000})
    call = ("read_file", {"filename": "a", "line": 500})
    assert asyncio.run(tools.arun(*call, allow=ALL)) == tools.run(*call, allow=ALL)
