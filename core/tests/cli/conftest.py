"""What the tests of the command line share: running it in this process, in a folder of its own."""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

pytest.importorskip("cyclopts", reason="the command line needs trimtab[cli]")

from trimtab.cli.start import main


@frozen
class Ran:
    """How a command ended: exit code, bytes of standard output, text of standard error."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode("utf-8")

    @property
    def json(self) -> Any:
        """Standard output as the JSON value it is."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def trimtab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Ran]:
    """`trimtab("trim", "-", stdin=b"...")` runs a command line in an empty folder, which is the test's `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    for name in ("TRIMTAB_STORE", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str | Path, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsysbinary.readouterr()
        code = main(list(map(str, words)))
        captured = capsysbinary.readouterr()
        return Ran(code, captured.out, captured.err.decode("utf-8"))

    return run


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`installed("jira", source)` puts a distribution into the way of imports: a module and its entry point."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def install(name: str, source: str, *, version: str = "1.0") -> None:
        module = f"a_plugin_of_a_test_{name}"
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
        info = folder / f"trimtab_{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: trimtab-{name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[trimtab]\n{name} = {module}\n")
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


@pytest.fixture
def page() -> str:
    """A text of some 60,000 characters in 1,000 lines, no two alike."""
    return "".join(
        f"line {number}: what the page says about topic {number * 7919 % 1000}\n" for number in range(1, 1001)
    )
