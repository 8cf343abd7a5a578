"""The lenient parser reads the same under every Python: its patterns use nothing that one of them matches wrongly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = sorted((ROOT / ".venvs").glob("[0-9]*/bin/python"))


@pytest.mark.skipif(not PYTHONS, reason="no other Python; `dev.py envs` makes an environment for each that is found")
def test_every_python_reads_the_same() -> None:
    """Every CPython that `dev.py envs` found reads thousands of damaged calls as this one does."""
    script = Path(__file__).with_name("parse_corpus.py")

    def read(python: str | Path) -> str:
        command = [str(python), str(script)]
        return subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout

    here = read(sys.executable)
    assert {str(python): read(python) for python in PYTHONS} == {str(python): here for python in PYTHONS}
