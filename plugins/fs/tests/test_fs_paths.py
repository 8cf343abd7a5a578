"""What may be read, and what is refused without saying what is there."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trimtab import ALL, Host
from trimtab.errors import CallerError, TrimtabError
from trimtab_fs import FsTools, below
from trimtab_fs.below import Entry, Folder, list_by_handles, list_by_paths, open_by_handles, open_by_paths

SECRET = "the secret of another folder"
OPENERS = [open_by_handles, open_by_paths] if below._BY_HANDLES else [open_by_paths]
LISTERS = [list_by_handles, list_by_paths] if below._BY_HANDLES else [list_by_paths]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An allowed folder among others: files, folders, links that lead out and in, a pipe, a socket."""
    allowed = tmp_path / "store"
    (allowed / "sub" / "deeper").mkdir(parents=True)
    (allowed / "a.txt").write_text("allowed\n", encoding="utf-8")
    (allowed / "sub" / "b.txt").write_text("below\n", encoding="utf-8")
    (allowed / "back\\slash").write_text("odd name\n", encoding="utf-8")
    outside = tmp_path / "store-evil"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET, encoding="utf-8")
    (allowed / "out").symlink_to(outside)
    (allowed / "out.txt").symlink_to(outside / "secret.txt")
    (allowed / "in.txt").symlink_to(allowed / "a.txt")
    (allowed / "loop").symlink_to(allowed / "loop")
    os.mkfifo(allowed / "pipe")
    return allowed


@pytest.fixture
def read(store: Path) -> Iterator[Callable[[str], Any]]:
    """`fs_read` of a path in the allowed folder."""
    with Host.load(discover=False) as host:
        tools = FsTools(host, folders=[store])
        yield lambda path: tools.run("fs_read", {"path": path}, allow=ALL)


@pytest.mark.parametrize("path", ["a.txt", "./a.txt", "{store}/a.txt", "{store}/./a.txt", "{store}//a.txt", "a.txt/"])
def test_paths_that_may_be_read(store: Path, read: Callable[[str], Any], path: str) -> None:
    """Relative to the folder, or absolute."""
    assert read(path.format(store=store))["text"] == "allowed\n"


def test_a_file_in_a_sub_folder(store: Path, read: Callable[[str], Any]) -> None:
    """Files below the folder are read, those with odd names too."""
    assert read("sub/b.txt")["text"] == "below\n"
    assert read(f"{store}/sub/b.txt")["text"] == "below\n"
    if os.sep == "/":
        assert read("back\\slash")["text"] == "odd name\n"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("../store-evil/secret.txt", "AccessDenied"),
        ("sub/../a.txt", "AccessDenied"),
        ("sub/../../store-evil/secret.txt", "AccessDenied"),
        ("{store}/../store-evil/secret.txt", "AccessDenied"),
        ("{store}-evil/secret.txt", "AccessDenied"),
        ("{store}-evil/missing.txt", "AccessDenied"),
        ("/etc/passwd", "AccessDenied"),
        ("/dev/zero", "AccessDenied"),
        ("//etc/passwd", "AccessDenied"),
        ("out/secret.txt", "AccessDenied"),
        ("out/missing.txt", "AccessDenied"),
        ("out", "AccessDenied"),
        ("out.txt", "AccessDenied"),
        ("in.txt", "AccessDenied"),
        ("loop", "AccessDenied"),
        ("loop/a.txt", "AccessDenied"),
        ("a.txt\0.md", "AccessDenied"),
        ("pipe", "NotAFile"),
        ("sub", "NotAFile"),
        (".", "NotAFile"),
        ("{store}", "NotAFile"),
        ("missing.txt", "NotFound"),
        ("a.txt/b", "NotFound"),
        ("x" * 5_000, "NotFound"),
        ("x/" * 5_000, "NotFound"),
        ("\ud800.txt", "NotFound"),
        ("~/.ssh/id_rsa", "NotFound"),
        ("file:///etc/passwd", "NotFound"),
        ("", "CallerError"),
    ],
)
def test_paths_that_are_refused(store: Path, read: Callable[[str], Any], path: str, kind: str) -> None:
    """Each with its own kind, without the text, and without any path but the one that was asked for."""
    asked = path.format(store=store)
    error = read(asked)["error"]
    assert error["kind"] == kind
    assert SECRET not in error["message"]
    assert len(error["message"]) < 300
    told = error["message"].replace(repr(asked)[:80], "")
    assert "evil" not in told
    assert str(store) not in told


def test_a_socket_is_refused(read: Callable[[str], Any], store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket is no file."""
    monkeypatch.chdir(store)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        assert read("sock")["error"]["kind"] == "NotAFile"


def test_a_device_is_refused() -> None:
    """A device below an allowed folder is not opened."""
    with Host.load(discover=False) as host:
        tools = FsTools(host, folders=["/dev"])
        for name in ("null", "zero", "tty"):
            assert tools.run("fs_read", {"path": name}, allow=ALL)["error"]["kind"] in ("NotAFile", "NotFound")


@pytest.mark.parametrize(
    ("cause", "kind", "said"),
    [
        (PermissionError(errno.EACCES, "no"), "AccessDenied", "no permission"),
        (OSError(errno.EIO, "no"), "Unreadable", os.strerror(errno.EIO)),
    ],
)
def test_a_file_that_the_system_does_not_open(
    read: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, cause: OSError, kind: str, said: str
) -> None:
    """What the system does not let us read is refused with its reason."""

    def refuse(*_: Any, **__: Any) -> int:
        raise cause

    monkeypatch.setattr(os, "open", refuse)
    error = read("a.txt")["error"]
    assert error["kind"] == kind
    assert said in error["message"]


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("path", ["out/secret.txt", "out.txt", "in.txt", "loop", "pipe", "sub"])
def test_each_way_of_opening_refuses(store: Path, opener: Callable[..., int], path: str) -> None:
    """By handles and by paths: links, pipes and folders are refused."""
    with pytest.raises((CallerError, OSError)):
        os.close(opener(Folder.at(store), tuple(path.split("/")), path))


@pytest.mark.parametrize("opener", OPENERS)
def test_each_way_of_opening_opens(store: Path, opener: Callable[..., int]) -> None:
    """By handles and by paths: the file that was asked for."""
    with os.fdopen(opener(Folder.at(store), ("sub", "b.txt"), "sub/b.txt"), "rb") as file:
        assert file.read() == b"below\n"


@pytest.mark.parametrize("lister", LISTERS)
def test_each_way_of_listing_leaves_links_out(store: Path, lister: Callable[..., list[Entry]]) -> None:
    """Files and folders, sorted; neither links nor pipes, and no folder that a link leads to."""
    names = [one.name for one in lister(Folder.at(store), (), ".")]
    assert names == ["a.txt", "back\\slash", "sub"]
    with pytest.raises(TrimtabError):
        lister(Folder.at(store), ("out",), "out")


@pytest.mark.parametrize("opener", OPENERS)
def test_a_folder_swapped_for_a_link_after_the_check(
    store: Path, opener: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever swaps a folder for a link between the check and the opening gains nothing, even swapping it back."""
    (store / "sub" / "secret.txt").write_text("harmless", encoding="utf-8")
    real_open = os.open

    def swapping(path: Any, flags: int, *more: Any, **named: Any) -> int:
        (store / "sub").rename(store / "kept")
        (store / "sub").symlink_to(store.parent / "store-evil")
        try:
            return real_open(path, flags, *more, **named)
        finally:
            (store / "sub").unlink()
            (store / "kept").rename(store / "sub")

    folder = Folder.at(store)
    monkeypatch.setattr(os, "open", swapping)
    try:
        descriptor = opener(folder, ("sub", "secret.txt"), "sub/secret.txt")
    except (CallerError, OSError):
        return
    with os.fdopen(descriptor, "rb") as file:
        assert file.read() == b"harmless"


def test_a_file_swapped_for_a_pipe_after_the_check(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is opened is looked at again, and opening a pipe does not wait for its other end."""
    real_stat = os.stat

    def swapping(path: Any, *more: Any, **named: Any) -> os.stat_result:
        status = real_stat(path, *more, **named)
        if path == "a.txt":
            (store / "a.txt").unlink()
            os.mkfifo(store / "a.txt")
        return status

    monkeypatch.setattr(os, "stat", swapping)
    with pytest.raises(CallerError, match="pipe"):
        open_by_handles(Folder.at(store), ("a.txt",), "a.txt")


def test_the_folder_may_be_named_through_a_link(store: Path) -> None:
    """An allowed folder that is itself a link is followed: the application named it. Both spellings are inside."""
    alias = store.parent / "alias"
    alias.symlink_to(store)
    with Host.load(discover=False) as host:
        tools = FsTools(host, folders=[alias])
        for path in ("a.txt", f"{alias}/a.txt", f"{store}/a.txt"):
            assert tools.run("fs_read", {"path": path}, allow=ALL)["text"] == "allowed\n"


def test_relative_paths_are_looked_for_in_each_folder(store: Path, tmp_path: Path) -> None:
    """The first folder that has the file is used; a link in an earlier one does not hide it."""
    second = tmp_path / "second"
    second.mkdir()
    (second / "a.txt").write_text("second\n", encoding="utf-8")
    (second / "out.txt").write_text("not a link\n", encoding="utf-8")
    with Host.load(discover=False) as host:
        tools = FsTools(host, folders=[store, second])
        assert tools.run("fs_read", {"path": "a.txt"}, allow=ALL)["text"] == "allowed\n"
        assert tools.run("fs_read", {"path": "out.txt"}, allow=ALL)["text"] == "not a link\n"
        assert tools.run("fs_read", {"path": "loop"}, allow=ALL)["error"]["kind"] == "AccessDenied"


def test_without_folders_no_file_is_read() -> None:
    """Only stored texts are read where no folder is allowed."""
    with Host.load(discover=False) as host:
        error = FsTools(host).run("fs_read", {"path": "/etc/passwd"}, allow=ALL)["error"]
        assert error["kind"] == "AccessDenied"


@pytest.mark.parametrize("folders", ["docs", ["missing-folder"], [__file__]])
def test_folders_must_exist(folders: Any) -> None:
    """A folder that is none is the application's mistake, and raises."""
    with Host.load(discover=False) as host, pytest.raises(CallerError, match="folder"):
        FsTools(host, folders=folders)
