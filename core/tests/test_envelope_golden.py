"""Every format that is stored or sent, as bytes: what went in gives what came out, in this release and all later."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from trimtab import Host
from trimtab._json import blob_id, canonical

FOLDER = Path(__file__).parent / "golden"
MAKE = runpy.run_path(str(FOLDER / "make_golden.py"))

CHANGED = "a stored or sent format has changed: see core/tests/golden/README.md"


def folders(kind: str) -> list[str]:
    """Names of the golden files of one kind."""
    return sorted(path.name for path in (FOLDER / kind).iterdir())


def load(*steps: str) -> Any:
    """The JSON value of a golden file."""
    return json.loads(FOLDER.joinpath(*steps).read_bytes())


def assert_same(folder: Path, made: dict[str, bytes]) -> None:
    """What was made is what the files say, to the byte, and there is no other file but the input."""
    assert {name: (folder / name).read_bytes() for name in made} == made, CHANGED
    inputs = {"call.json"} if "row.json" in made else {"row.json", "texts.json", "files.json"}
    assert {path.name for path in folder.iterdir()} <= {*made, *inputs}


@pytest.mark.parametrize("name", folders("calls"))
def test_a_call_gives_these_bytes(name: str) -> None:
    """An output trimmed today is stored and sent as the same bytes as it was when the file was written."""
    assert_same(FOLDER / "calls" / name, MAKE["of_call"](load("calls", name, "call.json")))


@pytest.mark.parametrize("name", folders("calls"))
def test_the_row_of_a_call_opens(name: str) -> None:
    """A stored row shows what was sent, and opens to the output, with no more than its texts in the store."""
    row, texts = load("calls", name, "row.json"), load("calls", name, "texts.json")
    opened = MAKE["of_row"](row, texts)
    assert opened["prompt.txt"] == (FOLDER / "calls" / name / "prompt.txt").read_bytes()
    assert canonical(json.loads(opened["output.json"])) == canonical(load("calls", name, "call.json")["output"])


@pytest.mark.parametrize("name", folders("rows"))
def test_a_row_of_any_writer_opens(name: str) -> None:
    """Rows of version 3 that this release does not write itself, lists among them, are shown and opened."""
    row, texts = load("rows", name, "row.json"), load("rows", name, "texts.json")
    assert_same(FOLDER / "rows" / name, MAKE["of_row"](row, texts))


@pytest.mark.parametrize("name", folders("rows"))
def test_each_named_text_can_be_read(name: str) -> None:
    """Whatever a ref names, a text inside a list's too, is allowed and read; the source of a spelling is not named."""
    row, texts = load("rows", name, "row.json"), load("rows", name, "texts.json")
    sources = {ref.get("sourceId") for ref in row.get("$persistedToolOutput", {}).get("blobRefs", ())}
    with Host.load(discover=False) as host:
        host.store.put({blob_id(text): text for text in texts}, owner="default")
        allow = host.allow_list([row])
        assert allow.held == {blob_id(text) for text in texts} - sources
        assert not allow.lost
        assert all(host.read(f"trimtab:{one[:16]}", allow=allow).text for one in allow.held)


@pytest.mark.parametrize("name", folders("older"))
def test_an_older_row_opens(name: str) -> None:
    """A row of an earlier generation is shown as it was and opens with the files of whoever wrote it."""
    row, files = load("older", name, "row.json"), load("older", name, "files.json")
    assert_same(FOLDER / "older" / name, MAKE["of_older"](row, files))


@pytest.mark.parametrize("path", sorted((FOLDER / "tools").iterdir()), ids=lambda path: path.stem)
def test_the_tools_are_defined_in_these_bytes(path: Path) -> None:
    """The read tools' definitions stand in every request: they are the same bytes, key order included."""
    assert path.read_bytes() == MAKE["of_tools"](path.stem), CHANGED


def test_every_protocol_has_its_definitions() -> None:
    """There is a file for each protocol."""
    assert {path.stem for path in (FOLDER / "tools").iterdir()} == set(MAKE["PROTOCOLS"])


def test_reads_are_answered_in_these_bytes() -> None:
    """Pages, matches and errors of the read tools are the same bytes."""
    assert (FOLDER / "answers.json").read_bytes() == MAKE["of_answers"](), CHANGED


def test_markers_are_these_bytes() -> None:
    """The marker line is the same, with any number and any tool name; it is under 160 chars and needs no escape."""
    data = MAKE["of_markers"]()
    assert (FOLDER / "markers.json").read_bytes() == data, CHANGED
    lines = [one[-1] for one in json.loads(data)]
    assert max(map(len, lines)) < 160
    assert all(json.dumps(one) == f'"{one}"' and "\\" not in one for one in lines)
    assert not any("'" in one or "/" in one for one in lines)


def test_the_script_writes_what_is_compared() -> None:
    """Writing the golden files again would change none of them, and there is a definition for each call."""
    assert [str(path) for path, data in MAKE["files"]() if path.read_bytes() != data] == []
    assert set(folders("calls")) == set(MAKE["CALLS"])
