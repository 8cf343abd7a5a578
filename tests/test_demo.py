"""The demo: it does what it shows, and each law that breaks stops it with the law's name and the output's.

The laws are broken by hosts that are handed to `run`: each is a `Host` with one fault.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import attrs
import pytest

from trimtab import ALL, Budget, Host, Trimmed, hookimpl
from trimtab.cli.demo import run
from trimtab.cli.demo.knowledge import chunks, documents
from trimtab.cli.demo.model import FIRST_QUESTION, reply
from trimtab.cli.demo.pages import fetch, serve
from trimtab.cli.demo.ranking import ranked
from trimtab.errors import CallerError
from trimtab.types import Call, Codec, Json

pytestmark = pytest.mark.skipif(
    not {"fs", "kb", "web"} <= {point.name for point in entry_points(group="trimtab")},
    reason="trimtab-fs, trimtab-kb and trimtab-web are not installed",
)

TOOLS = {"web_search", "web_fetch", "kb_search", "python_help", "fs_search", "fs_read", "read_file"}


def demo(*options: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run the demo as a process of its own, warnings as errors, with its temporary files in a folder."""
    command = [sys.executable, "-W", "error", "-m", "trimtab.cli.demo", *options]
    environment = {**os.environ, "TMPDIR": str(folder), **environ}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=120)


def shown(capsys: pytest.CaptureFixture[str], **options: Any) -> tuple[int, dict[str, Any]]:
    """Run the demo in this process; its exit code and what it printed as JSON."""
    code = run(json=True, **options)
    return code, json.loads(capsys.readouterr().out)


def test_it_runs_and_holds(tmp_path: Path) -> None:
    """Every tool is used, every law holds, sources keep their ids, prompts grow at their end only, nothing is left."""
    done = demo("--json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    said = json.loads(done.stdout)
    assert said["ok"]
    assert said["faults"] == []
    assert {one["tool"] for one in said["outputs"]} == TOOLS
    assert [one["law"] for one in said["laws"]] == list(range(1, 9))
    for one in said["outputs"]:
        assert one["ids_before"] == one["ids_after"]
        assert one["chars_after"] <= said["budget"]["limit"]
    assert max(one["chars_before"] for one in said["outputs"]) > 150_000
    for before, now in zip(said["requests"], said["requests"][1:], strict=False):
        assert now["shared"] >= before["bytes"] - len("]}")
    assert said["totals"]["bytes"] * 4 < said["totals"]["untrimmed"]
    assert [len(one["cited"]) for one in said["answers"]] == [1, 1]
    assert list(tmp_path.iterdir()) == []


def test_it_can_be_read_in_the_c_locale(tmp_path: Path) -> None:
    """Without a terminal and without UTF-8 it prints plain lines of at most 80 columns, the verdict last."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "NO_COLOR": "1", "COLUMNS": "80"}
    done = demo(folder=tmp_path, **plain)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode("utf-8").rstrip("\n").split("\n")
    assert [line for line in lines if len(line) > 80] == []
    assert lines[-1].startswith("All laws hold.")
    assert not any("\x1b" in line for line in lines)


def test_colours_change_nothing_else(tmp_path: Path) -> None:
    """With rich on a terminal the same is said."""
    pytest.importorskip("rich")
    done = demo(folder=tmp_path, FORCE_COLOR="1", COLUMNS="120", TERM="xterm-256color")
    assert done.returncode == 0
    text = done.stdout.decode("utf-8")
    assert "\x1b[" in text
    for word in ("content cannot steer", "web_fetch", "All laws hold."):
        assert word in text


def test_what_it_keeps_can_be_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a folder, database and blobs stay there; a second run does not write over them."""
    folder = tmp_path / "kept"
    code, said = shown(capsys, keep_dir=folder)
    assert (code, said["kept"]) == (0, str(folder))
    assert {"app.db", "blobs.db"} <= {path.name for path in folder.iterdir()}
    with Host.load(store=f"sqlite:///{folder / 'blobs.db'}", discover=False) as host:
        assert host.store.stats().blobs >= 8
    with pytest.raises(CallerError, match=r"app\.db"):
        run(keep_dir=folder)


def test_missing_plugins_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Without its plugins it says in one line what to install, and ends with 2."""
    assert run(load=lambda **how: Host.load(**how, discover=False)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "pip install trimtab-fs trimtab-kb trimtab-web" in printed.err
    assert printed.err.count("\n") == 1


def changed(trimmed: Trimmed, change: Callable[[Json], Json]) -> Trimmed:
    """The same with another prompt value."""
    return attrs.evolve(trimmed, value=change(trimmed.value))


def in_web_results(change: Callable[[dict[str, Json]], None]) -> Callable[[Json], Json]:
    """A change of every result of a fetched page."""

    def changing(value: Json) -> Json:
        copy = json.loads(json.dumps(value))
        for item in copy if isinstance(copy, list) else ():
            change(item)
        return copy

    return changing


class LosesTitles(Host):
    """Fault of law 1: the prompt shows sources without their titles."""

    def trim_batch(self, calls: Sequence[Call], **how: Any) -> list[Trimmed]:
        drop = in_web_results(lambda item: item.update(title=""))
        return [changed(one, drop) if one.tool == "web_fetch" else one for one in super().trim_batch(calls, **how)]


class RendersOtherwise(Host):
    """Fault of law 2: a row renders to something else than was sent when the tool had just run."""

    def render(self, row: Json, owner: Any = None) -> Json:
        value = super().render(row, owner)
        return in_web_results(lambda item: item.update(content=f"{item['content']} "))(value)


class GoesByTheProcess(Host):
    """Fault of law 3: this process trims to something else than the policy says."""

    def trim_batch(self, calls: Sequence[Call], **how: Any) -> list[Trimmed]:
        return super().trim_batch(calls, budget=Budget(limit=9_000, keep=9_000), owner=how["owner"])


class RewritesHistory(Host):
    """Fault of law 3: what was sent once is rendered in another way later."""

    renderings = 0

    def render(self, row: Json, owner: Any = None) -> Json:
        self.renderings += 1
        value = super().render(row, owner)
        return f"{value} {self.renderings}" if isinstance(value, str) and value.startswith("Python") else value


class ReadsOtherText(Host):
    """Fault of law 4: a page that is read back is not what was left out."""

    def run_read_tool(self, name: str, arguments: Json, *, allow: Any) -> Json:
        page = super().run_read_tool(name, arguments, allow=allow)
        return {**page, "text": page["text"].replace("e", "3")} if "text" in page and "char" in arguments else page


class TrimsWithoutStore(Host):
    """Fault of law 5: when the store fails, the output is cut all the same."""

    def trim(self, tool: str, output: Json, **how: Any) -> Trimmed:
        trimmed = super().trim(tool, output, **how)
        return trimmed if trimmed.error is None else changed(trimmed, lambda value: value[:1_000])


class KeepsTooMuch(Host):
    """Fault of law 6: a budget of its own, above the policy's."""

    def trim_batch(self, calls: Sequence[Call], **how: Any) -> list[Trimmed]:
        return super().trim_batch(calls, budget=Budget(limit=30_000, keep=30_000), owner=how["owner"])


class NeverSettles(Host):
    """Fault of law 7: a rendering that comes in again grows."""

    def trim(self, tool: str, output: Json, **how: Any) -> Trimmed:
        trimmed = super().trim(tool, output, **how)
        if isinstance(output, str) and "<omitted chars" in output:
            return changed(trimmed, lambda value: f"{value}\n")
        return trimmed


class OpensEverything(Host):
    """Fault of law 8: a handle opens whatever it names, whoever holds it."""

    def run_read_tool(self, name: str, arguments: Json, *, allow: Any) -> Json:
        return super().run_read_tool(name, arguments, allow=ALL)


@pytest.mark.parametrize(
    ("host", "law", "output"),
    [
        (LosesTitles, "law 1, frame exact", "web_fetch (call-3)"),
        (RendersOtherwise, "law 2, one primitive", "web_fetch (call-3)"),
        (GoesByTheProcess, "law 3, same bytes", "python_help (call-2)"),
        (RewritesHistory, "law 3, same bytes", "request 3 does not begin with request 2"),
        (ReadsOtherText, "law 4, readable back", "web_search (call-1)"),
        (TrimsWithoutStore, "law 5, whole on failure", "python_help (call-2)"),
        (KeepsTooMuch, "law 6, bounded", "web_search (call-1), python_help (call-2): together"),
        (NeverSettles, "law 7, settled", "python_help (call-2)"),
        (OpensEverything, "law 8, content cannot steer", "fs_search (call-6)"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_broken_law_is_named(host: type[Host], law: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It ends with 1, and says which law is broken on which output."""
    code, said = shown(capsys, load=host.load)
    assert (code, said["ok"]) == (1, False)
    assert any(fault.startswith(law) and output in fault for fault in said["faults"]), said["faults"]


class BrokenCodecs:
    """A plugin whose codec for web_fetch raises."""

    @hookimpl
    def trimtab_codecs(self) -> Iterable[tuple[str, Codec]]:
        def raises(output: Json) -> list[str]:
            raise RuntimeError("cannot read this")

        return [("web_fetch", raises)]


def test_a_broken_codec_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A codec that raises leaves its outputs whole, which is above the budget: the fault names it with its cause."""
    assert run(load=lambda **how: Host.load(**how, plugins=[BrokenCodecs()])) == 1
    text = capsys.readouterr().out
    assert "BROKEN" in text
    assert "All laws hold" not in text
    fault = next(" ".join(part.split()) for part in text.split("BROKEN  ") if part.startswith(" law 6"))
    assert "web_fetch (call-3)" in fault
    assert "cannot read this" in fault


def test_the_model_sees_the_request_only() -> None:
    """The script is a function of the request's bytes: the same request, the same answer; without results, a search."""
    body = {"tools": [{"name": "web_search"}], "messages": [{"role": "user", "content": FIRST_QUESTION}]}
    request = json.dumps(body).encode()
    first, again = reply(request), reply(request)
    assert first == again
    assert [block["name"] for block in first if block["type"] == "tool_use"] == ["web_search"]


def test_the_knowledge_base_is_the_projects_documents() -> None:
    """README and changelog are in it, in sections that joined give each document back."""
    found = documents()
    assert {"README.md", "CHANGELOG.md"} <= set(found)
    for path, text in found.items():
        sections = [chunk.text for chunk in chunks() if chunk.path == path]
        assert "\n".join(sections).replace("\n", "") == text.replace("\n", "")


def test_the_search_prefers_what_answers() -> None:
    """Rare words weigh more than common ones; a document without any word is left out."""
    texts = ["the cat and the dog", "the dog", "a heap queue keeps the smallest first", "of of of"]
    assert ranked("the heap", texts, 3) == [2, 0, 1]
    assert ranked("nothing", texts, 3) == []


def test_pages_are_fetched_over_http() -> None:
    """A page is served as it is and read as text: blocks become lines, hard blanks become blanks, scripts vanish."""
    html = "<html><head><title>T &amp; t</title><style>x</style></head><body><p>a&nbsp;b<br>c\nd</p></body></html>"
    with serve({"/page": html}) as address:
        page = fetch(f"{address}/page")
        with pytest.raises(OSError, match="404"):
            fetch(f"{address}/other")
    assert (page.title, page.text) == ("T & t", "a b\nc d")
