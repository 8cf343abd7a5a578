"""The page about trimtab in an application: its code is one program, its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from trimtab import Budget, Host, Policy
from trimtab.compaction import FoldSettings
from trimtab.replay import ServeSettings, replay
from trimtab.replay.generated import generate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "embedding.md"


@pytest.fixture
def page() -> str:
    """The page's text."""
    if not PAGE.is_file():
        pytest.skip("not in a checkout")
    return PAGE.read_text(encoding="utf-8")


def test_the_page_runs_from_top_to_bottom(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks, in order, in one module: what it asserts holds, and results were really trimmed."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)):
        exec(compile(code, f"embedding.md, block {number + 1}", "exec"), names)
    assert "full text: fs_read trimtab:" in names["messages"][2]["content"]
    assert "full text: fs_read trimtab:" in names["request"]["messages"][2]["content"]
    assert all(one.changed for one in names["trimmed"])


def test_the_numbers_for_windows_are_budgets(page: str) -> None:
    """Each column is a budget that can be made; the last one is the usual one, as it says."""
    table = re.findall(r"^\| `(batch|limit|keep)` \| W / (\d) characters \| (.+) \|$", page, re.MULTILINE)
    columns = list(zip(*([(name, cell) for cell in cells.split(" | ")] for name, _, cells in table), strict=True))
    usual = Budget()
    for window, column in zip((8_000, 32_000, 100_000), columns, strict=True):
        sizes = {name: int(cell.split(", ")[0].replace(",", "")) for name, cell in column}
        for name, part, _ in table:
            usually = name != "batch" and getattr(usual, name) == sizes[name]
            assert usually or sizes[name] == window // int(part)
        Budget(limit=sizes["limit"], keep=sizes["keep"], batch=sizes["batch"])
    assert {name for name, cell in columns[-1] if cell.endswith("the default")} == {"limit", "keep"}


def test_what_is_said_of_a_small_window_holds() -> None:
    """With the numbers for 8,000 tokens every request of a made-up session fits; with the usual ones one is far off."""
    settings = ServeSettings(folds=FoldSettings(windows=8_000))
    largest = []
    for policy in (Policy(limit=1_600, keep=1_000, batch=4_000), Policy()):
        with Host.load("memory:", policy, discover=False) as host:
            largest.append(replay(generate(15), host, settings).served.largest)
    assert largest[0] < 8_000
    assert largest[1] > 2 * 8_000
