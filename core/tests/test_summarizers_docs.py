"""The page about summarizers: its code runs, and its tables and numbers are those of the code."""

from __future__ import annotations

import asyncio
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import fields

from trimtab import Host, Policy
from trimtab.builtin import trimtab_summarizers
from trimtab.compaction import (
    DurableCompactor,
    FoldSettings,
    Row,
    SummaryRequest,
    parse_summary,
    summarizers,
)
from trimtab.compaction.asking.asides import MOST_MARKS
from trimtab.compaction.asking.prose import LEAST_PROSE
from trimtab.compaction.summarizers.outline import SECTIONS
from trimtab.testing import SummarizerContract

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "summarizers.md").read_text(encoding="utf-8")
CLASSES = {name.removesuffix("Summarizer").lower(): getattr(summarizers, name) for name in summarizers.__all__}


def rows(heading: str) -> dict[str, str]:
    """The first and the last column of the table under a head."""
    table = PAGE[PAGE.index(heading) :].partition("\n\n")[0]
    return {
        name: line.rstrip(" |").rpartition(" | ")[2]
        for line in table.split("\n")[2:]
        for name in re.findall(r"^\| `([a-z]+)` \|", line)
    }


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in one module, which is a plugin then: its summarizer is made by name, and folds."""
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):  # the page's servers are local ones, which want none
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    page: Any = ModuleType("page")
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
        exec(compile(code, f"summarizers.md, block {number + 1}", "exec"), vars(page))
    assert issubclass(page.TestMine, SummarizerContract)
    assert page.TestMine.summarize().window == 128_000
    policy = Policy(summarizer="mine", summarizers={"mine": {"model": "small-2"}})
    mine = Host.load(policy=policy, plugins=[page], discover=False).summarizer()
    said = "".join(f"Rule {n} of the grammar has {n} cases.\n" for n in range(400))
    rows = [Row(id=f"{n}", messages=[{"role": "user", "content": said}]) for n in range(3)]
    served = asyncio.run(DurableCompactor("openai-chat", FoldSettings(windows=8_000), mine).aserve(rows))
    assert served.record is not None
    assert "all of its tests kept" in served.record.summary


def test_the_table_of_summarizers_names_their_options() -> None:
    """Each built-in one stands there with every option that it takes, and no other."""
    told = {name: set(re.findall("`([a-z_]+)`", options)) for name, options in rows("| name |").items()}
    assert told == {name: set(inspect.signature(one).parameters) for name, one in CLASSES.items()}
    assert sorted(told) == sorted(trimtab_summarizers())


def test_the_table_of_a_request_names_its_attributes() -> None:
    """As they are, in their order."""
    assert list(rows("| attribute of")) == [one.name for one in fields(SummaryRequest)]


def test_the_numbers_and_names_of_the_page() -> None:
    """How long a summary is, how often tags may be repeated, the headings of the extractive one."""
    assert f"at least {LEAST_PROSE} characters" in PAGE
    assert f"more than {MOST_MARKS:,} times" in PAGE
    assert f"{', '.join(SECTIONS[:-1])} and {SECTIONS[-1]}" in PAGE
    assert parse_summary("好" * 17)
    assert parse_summary("好" * 16) is None
