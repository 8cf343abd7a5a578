"""Every example runs as a newcomer would run it, and shows what it says it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "examples"

# What each example's output has to say, as regular expressions.
SHOWN = {
    "async_host.py": [r"ast\.py: [\d,]+ chars, the model sees [\d,]+", r"chars 10,000 to 10,199 of", "nothing lost"],
    "compressing_agent.py": [
        r"b1 stands for m00002 to m000",
        "stored, and opened again",
        r"\d+ of \d+ messages folded: [\d,]+ tokens",
    ],
    "custom_codec.py": [r"<omitted chars .* full text: fs_read trimtab:[0-9a-f]{16}>", "all keys there: True", "True$"],
    "folding_agent.py": [
        r"^loop: from [\d,]+ to [\d,]+ tokens$",
        r"^durable: from [\d,]+ to [\d,]+ tokens$",
        r"^400 rows\. The order on server-7 was 8861-7-1\.$",
    ],
    "embed_in_a_loop.py": [r"read_file: [\d,]+ chars, the model sees [\d,]+", "fs_read: ", "begins with '"],
}


def test_every_example_is_tested() -> None:
    """An example without a claim about its output would rot unseen."""
    assert sorted(path.name for path in FOLDER.glob("*.py")) == sorted(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_the_example_runs(name: str, tmp_path: Path) -> None:
    """It ends with exit code 0, complains about nothing, leaves nothing behind, and shows what it is for."""
    command = [sys.executable, "-W", "error", str(FOLDER / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    for claim in SHOWN[name]:
        assert re.search(claim, done.stdout, re.MULTILINE), f"{claim} is not in:\n{done.stdout}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SHOWN)
def test_the_example_is_short(name: str) -> None:
    """It can be read in one go."""
    assert (FOLDER / name).read_text(encoding="utf-8").count("\n") <= 90
