"""What holds for every file of the repository: nothing of one machine in it, versions pinned, parts in step."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECTS = [ROOT / "pyproject.toml", ROOT / "core" / "pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml"))]
PUBLISHED = PROJECTS[1:]
HASH = r"\n    --hash=sha256:[0-9a-f]{64}"
PIN = re.compile(rf"([A-Za-z0-9._-]+)==([^ ;]+)(?: ; [^\\]+)? \\(?:{HASH} \\)*{HASH}\n")

# Spelt so that this file does not hold what it looks for.
FORBIDDEN = {
    "the host of a package registry": re.compile(
        r"(?:py" r"pi|python" r"hosted|npm" r"js|yarn" r"pkg|crates|deb" r"ian)\.(?:org|com|io)\b"
    ),
    "a path of a machine": re.compile(
        r"(?<![\w./:-])/(?:wo" r"rk/|ro" r"ot/|opt/wh|tmp/v/)|[.][.]/sha" r"red|" + re.escape(str(ROOT)) + r"\b"
    ),
    "an open end": re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"),
}


def git(*arguments: str) -> str:
    """What git prints; the test is skipped where this is not a git checkout."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if done.returncode:
        pytest.skip(f"not a git checkout: {done.stderr[:200]}")
    return done.stdout


def project(path: Path) -> dict[str, Any]:
    """The `[project]` table of a pyproject file."""
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return table


def distribution(requirement: str) -> str:
    """The normalised name that a requirement begins with."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    """No tracked text names a registry's host or a path of one machine, or leaves something to be done."""
    found = []
    for name in git("ls-files", "-z").rstrip("\0").split("\0"):
        path = ROOT / name
        data = path.read_bytes() if path.is_file() else b""
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
            if match := FORBIDDEN[what].search(line):
                found.append(f"{name}:{number}: {match[0]}")
    assert found == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("the host of a package registry", "see py" + "pi.org/simple"),
        ("a path of a machine", "in '/wo" + "rk/main'"),
        ("a path of a machine", f"open({str(ROOT)!r})"),
        ("an open end", "# TO" + "DO: later"),
    ],
)
def test_what_is_forbidden_is_seen(what: str, text: str) -> None:
    """The patterns find what they are for."""
    assert FORBIDDEN[what].search(text)


def test_requirements_are_pinned_and_hashed() -> None:
    """requirements.txt is exact versions with hashes, and nothing else: no index, no url, no path."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    body = re.sub(r"\A(?:#.*\n)+", "", text)
    assert PIN.sub("", body) == ""
    assert len(PIN.findall(body)) > 10


def test_requirements_cover_every_dependency() -> None:
    """Whatever a pyproject file of the workspace asks for is pinned in requirements.txt, or is ours."""
    pinned = {distribution(name) for name, _ in PIN.findall((ROOT / "requirements.txt").read_text(encoding="utf-8"))}
    ours = {project(path)["name"] for path in PROJECTS}
    for path in PROJECTS:
        tables = [project(path).get("dependencies", []), *project(path).get("optional-dependencies", {}).values()]
        asked = {distribution(requirement) for table in tables for requirement in table}
        assert asked - ours - pinned == set(), f"{path.relative_to(ROOT)}: run `python3 dev.py lock`"


def test_the_lock_of_uv_is_not_tracked() -> None:
    """uv.lock names hosts, so it stays out of the repository."""
    assert git("ls-files", "uv.lock", "**/uv.lock") == ""


def test_all_distributions_have_one_version() -> None:
    """Core, plugins and workspace are released together, and each plugin asks for this series of core."""
    versions = {project(path)["version"] for path in PROJECTS}
    (version,) = versions
    major, minor, _ = version.split(".")
    series = f"trimtab>={major}.{minor},<{major}.{int(minor) + 1}"
    for path in PUBLISHED[1:]:
        assert series in project(path)["dependencies"], path.parent.name


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.parent.name)
def test_each_distribution_carries_the_licence(path: Path) -> None:
    """Every wheel holds the licence text of the repository."""
    assert project(path)["license"] == "MIT"
    assert (path.parent / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("path", PUBLISHED[1:], ids=lambda path: path.parent.name)
def test_each_plugin_is_found_under_its_own_name(path: Path) -> None:
    """A plugin's entry point has its folder's name and leads to its module `plugin`."""
    name = path.parent.name
    assert project(path)["entry-points"] == {"trimtab": {name: f"trimtab_{name}.plugin"}}
