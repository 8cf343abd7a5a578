"""The page about compaction: its code runs, and it names what there is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from attrs import AttrsInstance, fields_dict

from trimtab.compaction import (
    Archived,
    Attachment,
    Blob,
    Budgets,
    Event,
    FoldRecord,
    FoldSettings,
    LoopCompactor,
    Row,
    Served,
    Stepped,
    load_memo,
    tokens_of,
)
from trimtab.compaction.repair import RepairKind
from trimtab.compaction.stored.record import NEWEST, summary_text
from trimtab.testing.conversations import WRITERS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "compaction.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    """What the page's code leaves behind, run in order, in one module; and `steps`, what `step` was asked with."""
    left: dict[str, Any] = {"steps": []}
    step = LoopCompactor.step

    def seen(self: LoopCompactor, messages: Any, **more: Any) -> Stepped:
        left["steps"].append((more, stepped := step(self, messages, **more)))
        return stepped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LoopCompactor, "step", seen)
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
            exec(compile(code, f"compaction.md, block {number + 1}", "exec"), left)
    yield left
    left["host"].close()


def test_the_code_of_the_page_folds(names: dict[str, Any]) -> None:
    """The fold is made, and served again alike; its archive can be read."""
    assert names["served"].record is not None
    assert "spec.pdf" in names["served"].messages[0]["content"]
    assert [event.kind for event in names["events"]] == ["compacting", "done"]
    assert names["folded"].record.boundary == names["served"].record.boundary
    assert names["slid"].gone == 2
    host = names["host"]
    assert host.allow_list(names["served"].retained.outputs, owner="conversation-1").held
    assert host.allow_list([names["archived"]], owner="conversation-1").lost == frozenset()


def test_the_loop_of_the_page_is_one(names: dict[str, Any]) -> None:
    """Each step gets memo and response of the one before; what was omitted a step ago is read back; the next turn
    begins with the bytes of this one's last prompt.
    """
    (first, one), (second, two), (third, three) = names["steps"]
    assert first == {"usage": None, "memo": names["served"].memo}
    assert second["memo"] is one.memo
    assert third["memo"] is two.memo
    assert three.memo is names["memo"]
    assert None not in (tokens_of(second["usage"]), tokens_of(third["usage"]))
    called, omitted, _, read, answer = names["turn"]
    assert called["tool_calls"][0]["function"]["name"] == "run_tests"
    assert "<omitted chars" in omitted["content"]
    assert "test 999 of the parser: ok" in read["content"]
    assert answer["content"] == "They pass."
    assert names["rows"][-1].tokens == tokens_of(names["response"])
    again = names["compactor"].serve(names["rows"], names["served"].record, load_memo(json.loads(names["stored"])))
    assert again.messages == [*three.messages, answer]


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


@pytest.mark.parametrize(
    ("above", "kind"),
    [("A `Row` is one", Row), ("`served` has:", Served), ("| `stepped` has |", Stepped), ("| `event` has |", Event)],
)
def test_the_tables_of_the_page(above: str, kind: type[AttrsInstance]) -> None:
    """Each has every attribute, in its order, and no other."""
    table = PAGE[PAGE.index(above) :].partition("|---|---|\n")[2].partition("\n\n")[0]
    told = [name for line in table.split("\n") for name in re.findall("`([a-z_]+)`", line.split(" | ")[0])]
    assert told == list(fields_dict(kind))


def test_the_names_and_numbers_of_the_page() -> None:
    """Kinds of repairs, protocols, shares."""
    table = PAGE[PAGE.index("## Repairs") :]
    assert sorted(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == sorted(get_args(RepairKind))
    assert all(f"`{name}`" in PAGE for name in WRITERS)
    budgets = FoldSettings(windows=8_000, reserve=800).budgets()
    assert budgets is not None
    assert "8,000 with 800" in PAGE
    assert f"gives {budgets.trigger:,}." in PAGE
    assert FoldSettings(windows=10_000).budgets() == Budgets(window=10_000, trigger=7_200, summary=720)
    assert f"more than {NEWEST} texts" in PAGE
