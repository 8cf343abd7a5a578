"""Searching folders, files, attachments and stored texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trimtab import ALL, Host, Policy
from trimtab.grep import finder
from trimtab_fs import FsTools, policy_with_fs
from trimtab_fs.below import Folder
from trimtab_fs.globs import fits
from trimtab_fs.search import search_folders
from trimtab_fs.text import Texts


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder of files: text in three folders, a binary one, hidden ones, a link."""
    root = tmp_path / "tree"
    for name, content in {
        "a.py": "import os\nneedle = 1\n",
        "b.md": "# needle\r\ntext\r\n",
        "lib/c.py": "x = 'needle'\n" * 3,
        "lib/deep/d.py": "needle\n",
        "lib-2/e.py": "needle\n",
        "z.txt": "nothing\n",
        ".hidden/f.py": "needle\n",
        ".env": "needle\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode())
    (root / "image.png").write_bytes(b"\x89PNG\0needle")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "g.py").write_text("needle\n", encoding="utf-8")
    (root / "link").symlink_to(tmp_path / "outside")
    return root


@pytest.fixture
def host() -> Iterator[Host]:
    """A host whose policy knows read_file."""
    with Host.load(policy=policy_with_fs(), discover=False) as host:
        yield host


def places(output: Any) -> list[tuple[str, int]]:
    """File and line of each match."""
    return [(one["path"], one["line"]) for one in output["matches"]]


def search(host: Host, folders: list[Path], **arguments: Any) -> Any:
    """`fs_search` in these folders."""
    return FsTools(host, folders=folders).run("fs_search", arguments, allow=ALL)


ALL_PLACES = [
    ("a.py", 2),
    ("b.md", 1),
    *(("lib/c.py", line) for line in (1, 2, 3)),
    ("lib/deep/d.py", 1),
    ("lib-2/e.py", 1),
]


def test_a_tree_is_searched_in_the_order_of_its_paths(host: Host, tree: Path) -> None:
    """Every text file, sorted by its path's parts; binary ones are counted; links and hidden ones left out."""
    output = search(host, [tree], pattern="needle")
    assert places(output) == sorted(ALL_PLACES, key=lambda one: (one[0].split("/"), one[1]))
    assert (output["files"], output["skipped"]) == (6, 1)
    assert output["matches"][0] == {"path": "a.py", "line": 2, "char": 11, "text": "needle = 1"}
    assert "next_file" not in output


@pytest.mark.parametrize("path", [".", "", None, "./", "{tree}"])
def test_the_whole_folder_by_many_names(host: Host, tree: Path, path: str | None) -> None:
    """No path, `.` and the folder itself mean the same."""
    named = {} if path is None else {"path": path.format(tree=tree)}
    assert places(search(host, [tree], pattern="needle", **named)) == places(search(host, [tree], pattern="needle"))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"path": "lib"}, [("lib/c.py", 1), ("lib/c.py", 2), ("lib/c.py", 3), ("lib/deep/d.py", 1)]),
        ({"glob": "*.md"}, [("b.md", 1)]),
        ({"glob": "d.py"}, [("lib/deep/d.py", 1)]),
        ({"glob": "lib/*.py"}, [("lib/c.py", 1), ("lib/c.py", 2), ("lib/c.py", 3)]),
        ({"glob": "**/deep/*"}, [("lib/deep/d.py", 1)]),
        ({"glob": ".*/**/*.py"}, [(".hidden/f.py", 1)]),
        ({"glob": ".env"}, [(".env", 1)]),
        ({"glob": "*.nothing"}, []),
        ({"path": "lib", "glob": "lib/deep/*"}, [("lib/deep/d.py", 1)]),
    ],
)
def test_where_to_search(host: Host, tree: Path, arguments: dict[str, str], found: list[tuple[str, int]]) -> None:
    """A folder and a glob say which files; a glob with a dot asks for hidden ones."""
    assert places(search(host, [tree], pattern="needle", **arguments)) == found


def test_one_file(host: Host, tree: Path) -> None:
    """A file alone is searched as a stored text is: lines and their numbers."""
    output = search(host, [tree], pattern="needle", path="b.md")
    assert output == {"matches": [{"line": 1, "char": 3, "text": "# needle"}], "total_lines": 2}
    assert search(host, [tree], pattern="needle", path="image.png")["error"]["kind"] == "Binary"
    assert search(host, [tree], pattern="needle", path="link/g.py")["error"]["kind"] == "AccessDenied"
    assert search(host, [tree], pattern="needle", path="missing")["error"]["kind"] == "NotFound"
    assert search(host, [tree], pattern="needle", path="../outside")["error"]["kind"] == "AccessDenied"


def test_an_attachment_and_a_stored_text(host: Host) -> None:
    """The same tool searches an attachment by its handle and a stored text by its uri."""
    text = "".join(f"line {number}\n" for number in range(1, 5_001))
    tools = FsTools(host, attachments={"a": text})
    wanted = {"matches": [{"line": 4321, "char": text.index("4321") + 1, "text": "line 4321"}], "total_lines": 5_000}
    assert tools.run("fs_search", {"pattern": "4321", "filename": "a"}, allow=ALL) == wanted
    trimmed = host.trim("shell", text)
    uri = "trimtab:" + trimmed.row["$persistedToolOutput"]["blobRefs"][0]["blobId"]
    allow = host.allow_list([trimmed.row])
    assert tools.run("fs_search", {"pattern": "4321", "path": uri}, allow=allow) == wanted
    assert tools.run("fs_search", {"pattern": "x", "filename": "b"}, allow=ALL)["error"]["kind"] == "UnknownAttachment"


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({}, "CallerError"),
        ({"pattern": ""}, "CallerError"),
        ({"pattern": "("}, "BadPattern"),
        ({"pattern": "x", "line": "many"}, "CallerError"),
        ({"pattern": "needle", "path": "lib", "file": "a.py"}, "CallerError"),
        ("needle", "CallerError"),
    ],
)
def test_what_cannot_be_searched_is_answered(host: Host, tree: Path, arguments: Any, kind: str) -> None:
    """A model's mistakes come back as errors that it can act on."""
    assert FsTools(host, folders=[tree]).run("fs_search", arguments, allow=ALL)["error"]["kind"] == kind


@pytest.mark.parametrize("limit", [512, 700, 5_000])
def test_a_search_goes_on_where_the_answer_ended(tmp_path: Path, limit: int) -> None:
    """Answers fit the limit, each says where to go on, and together they are every match once."""
    expected = []
    for number in range(12):
        name = f"{number:02}.txt"
        lines = [f"needle {'x' * (37 * number % 450)} {line}" for line in range(30)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        expected += [(name, line) for line in range(1, 31)]
    with Host.load(policy=Policy(limit=limit, keep=512), discover=False) as host:
        found: list[tuple[str, int]] = []
        arguments: dict[str, Any] = {}
        while True:
            output = search(host, [tmp_path], pattern="needle", **arguments)
            assert len(json.dumps(output, ensure_ascii=False, separators=(",", ":"))) <= limit
            assert output["matches"]
            found += places(output)
            if "next_file" not in output:
                break
            arguments = {"file": output["next_file"], "line": output["next_line"]}
    assert found == expected


def test_a_search_is_bounded_in_matches_and_time(tree: Path) -> None:
    """It stops at so many matches, or when its time is up, and says where it would go on."""
    folder = Folder.at(tree)
    options: dict[str, Any] = {"glob": "", "begin": None, "line": 1}
    found = search_folders([(folder, ())], finder("needle"), Texts(1 << 30), seconds=9, most=4, **options)
    assert (len(found.matches), found.stopped) == (4, "matches")
    assert (found.next_file, found.next_line) == ((folder, ("lib", "c.py")), 3)
    ticks = iter(range(100))
    late = search_folders(
        [(folder, ())], finder("needle"), Texts(1 << 30), seconds=8, clock=lambda: float(next(ticks)), **options
    )
    assert late.stopped == "time"
    assert late.next_file is not None


def test_no_time_at_all_is_said(host: Host, tree: Path) -> None:
    """A search whose time is up says so, in a folder, a file and an attachment."""
    tools = FsTools(host, folders=[tree], attachments={"a": b"needle\n"}, seconds=0)
    for arguments in ({}, {"path": "a.py"}, {"filename": "a"}):
        output = tools.run("fs_search", {"pattern": "needle", **arguments}, allow=ALL)
        assert output["matches"] == []
        assert "time limit" in output["stopped"]
        assert output["next_line"] == 1


def test_a_pattern_that_takes_for_ever_is_stopped(host: Host, tmp_path: Path) -> None:
    """A regular expression that backtracks without end costs its time limit and no more."""
    (tmp_path / "a.txt").write_text("a" * 60 + "\n", encoding="utf-8")
    tools = FsTools(host, folders=[tmp_path], seconds=0.05)
    output = tools.run("fs_search", {"pattern": "(a|aa)+\\Z!"}, allow=ALL)
    assert (output["next_file"], output["next_line"], output["unsearched_line"]) == ("a.txt", 2, 1)
    assert "time limit" in output["stopped"]


def test_matches_of_several_folders_can_be_read(host: Host, tree: Path, tmp_path: Path) -> None:
    """Whatever path a match has, `fs_read` gives that file: an absolute one where a relative would lead elsewhere."""
    second = tmp_path / "second"
    second.mkdir()
    (second / "a.py").write_text("needle in the second\n", encoding="utf-8")
    (second / "only.py").write_text("needle only here\n", encoding="utf-8")
    tools = FsTools(host, folders=[tree, second])
    output = tools.run("fs_search", {"pattern": "needle", "glob": "*.py"}, allow=ALL)
    assert places(output)[-2:] == [(f"{second}/a.py", 1), ("only.py", 1)]
    for match in output["matches"]:
        page = tools.run("fs_read", {"path": match["path"], "line": match["line"], "count": 1}, allow=ALL)
        assert page["text"].rstrip("\n") == match["text"]
    again = {"pattern": "needle", "file": f"{second}/a.py"}
    assert places(tools.run("fs_search", again, allow=ALL)) == [(f"{second}/a.py", 1), ("only.py", 1)]


@pytest.mark.parametrize(
    ("glob", "path", "fitting"),
    [
        ("*.py", "a.py", True),
        ("*.py", "lib/a.py", True),
        ("*.py", "a.pyc", False),
        ("lib/*.py", "lib/a.py", True),
        ("lib/*.py", "lib/x/a.py", False),
        ("lib/*.py", "x/lib/a.py", False),
        ("lib/**", "lib/x/y.py", True),
        ("lib/**/y.py", "lib/y.py", True),
        ("**/x/**/y.py", "a/x/b/c/y.py", True),
        ("**/x/**/y.py", "a/b/c/y.py", False),
        ("/a.py", "lib/a.py", False),
        ("/a.py", "a.py", True),
        ("./*.py", "a.py", True),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("A.py", "a.py", False),
        ("[", "[", True),
        ("**", "a/b", True),
        ("*a" * 60, "a" * 59, False),
        ("**/" * 60 + "b", "a/" * 60 + "a", False),
    ],
)
def test_globs(glob: str, path: str, fitting: bool) -> None:
    """A glob without a slash fits names in any folder, one with a slash the whole path; none takes long."""
    assert fits(glob, path.split("/")) is fitting
