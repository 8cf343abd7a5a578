"""The page about compaction: its code runs, and it names what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

from attrs import fields_dict

from trimtab.compaction import Archived, Attachment, Blob, Budgets, FoldRecord, FoldSettings, Row, Served
from trimtab.compaction.record import NEWEST, summary_text
from trimtab.compaction.repair import RepairKind
from trimtab.testing.conversations import WRITERS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "compaction.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs() -> None:
    """In order, in one module; the fold is made, and served again alike."""
    names: dict[str, Any] = {}
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
        exec(compile(code, f"compaction.md, block {number + 1}", "exec"), names)
    assert names["served"].record is not None
    assert "spec.pdf" in names["served"].messages[0]["content"]
    assert [event.kind for event in names["events"]] == ["compacting", "done"]
    assert names["folded"].record.boundary == names["served"].record.boundary
    assert names["slid"].gone == 2
    assert names["stepped"].messages == names["served"].messages
    assert names["host"].allow_list(names["served"].retained.outputs, owner="conversation-1").held
    names["host"].close()


def test_what_is_served_is_told_as_it_is() -> None:
    """The lines of the summary row on the page are those of the code."""
    shown = re.findall(r"```\n(<conversation-summary>.*?)```", PAGE, re.DOTALL)[0]
    record = FoldRecord(
        boundary="1",
        made_at="2",
        summary="…",
        files=(Attachment(id="1", name="spec.pdf"),),
        blobs=(Blob(tool="read", uri="trimtab:3f2a9c1b7d04e5f6"),),
        archive=(Archived(id="0123456789abcdef" * 2, chars=9, kind="messages"),),
    )
    assert shown == summary_text(record, read_tool="fs_read", file_tool="read_file") + "\n"


def test_the_names_and_numbers_of_the_page() -> None:
    """Kinds of repairs, protocols, what rows and answers have, shares."""
    table = PAGE[PAGE.index("## Repairs") :]
    assert sorted(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == sorted(get_args(RepairKind))
    assert all(f"`{name}`" in PAGE for name in WRITERS)
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE))
    assert listed >= {*fields_dict(Row)} | {*fields_dict(Served)} - {"memo"}
    budgets = FoldSettings(windows=8_000, reserve=800).budgets()
    assert budgets is not None
    assert "8,000 with 800" in PAGE
    assert f"gives {budgets.trigger:,}." in PAGE
    assert FoldSettings(windows=10_000).budgets() == Budgets(window=10_000, trigger=7_200, summary=720)
    assert f"more than {NEWEST} texts" in PAGE
