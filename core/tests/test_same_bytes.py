"""Law 3 across processes: the same bytes whatever the hash seed, locale, Python, store, extras and order of calls.

Each run renders the corpus of `render_corpus.py` in a process of its own; what it prints must be the golden file, which
therefore also says that no later version renders these outputs in another way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRIPT = HERE / "render_corpus.py"
GOLDEN = json.loads((HERE / "golden" / "same_bytes.json").read_text(encoding="utf-8"))
NO_OTHER = pytest.param(Path(), id="none", marks=pytest.mark.skip(reason="no other Python: run `python3 dev.py envs`"))
OTHERS = [pytest.param(path, id=path.parts[-3]) for path in sorted(ROOT.glob(".venvs/[0-9]*/bin/python"))] or [NO_OTHER]
EXTRAS = "opentelemetry,splintr,regex,rich,cyclopts"


def rendered(python: str | Path, *arguments: str, **environment: str) -> dict[str, str]:
    """What another process renders."""
    changed = {**os.environ, "PYTHONHASHSEED": "random", "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [str(python), str(SCRIPT), *arguments], capture_output=True, env=changed, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2_000:]
    found: dict[str, str] = json.loads(done.stdout)
    return found


def differing(found: dict[str, str]) -> list[str]:
    """Names of outputs whose bytes are not the golden ones."""
    return [name for name in GOLDEN.keys() | found.keys() if GOLDEN.get(name) != found.get(name)]


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "1", "PYTHONOPTIMIZE": "2", "TZ": "Asia/Kathmandu"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONUTF8": "1"},
        {"LC_ALL": "de_DE.ISO-8859-1", "PYTHONUTF8": "0", "PYTHONINTMAXSTRDIGITS": "640"},
    ],
    ids=lambda environment: "-".join(environment.values()),
)
def test_the_same_in_every_environment(environment: dict[str, str]) -> None:
    """Hash seed, locale, text encoding and optimisation change no byte."""
    assert differing(rendered(sys.executable, **environment)) == []


@pytest.mark.parametrize("store", ["sqlite:///{}/texts.db", "file://{}/texts"])
def test_the_same_in_every_store(tmp_path: Path, store: str) -> None:
    """The store, the folder and the order of the calls change no byte."""
    assert differing(rendered(sys.executable, "--backwards", "--store", store.format(tmp_path))) == []


def test_the_same_without_the_extras() -> None:
    """What is installed beside trimtab changes no byte."""
    assert differing(rendered(sys.executable, "--block", EXTRAS)) == []


@pytest.mark.parametrize("python", OTHERS)
def test_the_same_under_every_python(python: Path) -> None:
    """Every CPython that `dev.py envs` found gives these bytes."""
    assert differing(rendered(python)) == []


def test_the_comparison_can_fail() -> None:
    """A byte that differs is seen; so is an output more or less."""
    name = next(iter(GOLDEN))
    assert differing(dict(GOLDEN)) == []
    assert differing({**GOLDEN, name: "0" * 16}) == [name]
    assert differing({key: value for key, value in GOLDEN.items() if key != name}) == [name]
