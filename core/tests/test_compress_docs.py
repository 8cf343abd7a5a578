"""The page about compress arguments names every repair that can be reported, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from trimtab.compress.arguments import repairs as of_calls
from trimtab.lenient import repairs as of_texts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compress-args.md"
TABLE = re.compile(r"^\| repair \|[^\n]*\n\|---[^\n]*\n((?:\|[^\n]*\n)+)", re.MULTILINE)
FIRST_CELL = re.compile(r"^\|([^|]*)\|", re.MULTILINE)


def test_every_repair_is_in_the_docs() -> None:
    """The tables of repairs and the names in the code are the same."""
    tables = TABLE.findall(PAGE.read_text(encoding="utf-8"))
    told = [name for table in tables for cell in FIRST_CELL.findall(table) for name in re.findall("`([^`]+)`", cell)]
    known = [getattr(module, name) for module in (of_texts, of_calls) for name in module.__all__]
    assert len(tables) == 2
    assert sorted(told) == sorted(known)
