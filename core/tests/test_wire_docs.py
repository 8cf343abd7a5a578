"""The examples of docs/wire.md run, one after another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trimtab.wire import protocols

PAGE = Path(__file__).resolve().parents[2] / "docs" / "wire.md"


def test_the_examples_run() -> None:
    """Every Python block of the page runs and its assertions hold."""
    if not PAGE.is_file():
        pytest.skip("not in a checkout")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 5
    names: dict[str, object] = {"my_protocol": protocols["parsed"]}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)


def test_the_page_lists_every_protocol() -> None:
    """The table has each built-in protocol by its name."""
    if not PAGE.is_file():
        pytest.skip("not in a checkout")
    listed = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(protocols)
