"""The page about replays says what the rules say."""

from __future__ import annotations

from pathlib import Path

import pytest

from trimtab.replay import RULES, CacheRule

PAGE = Path(__file__).resolve().parents[2] / "docs" / "replay.md"


def row(rule: CacheRule) -> str:
    """A rule as a row of the page's table."""
    if rule.kind == "breakpoints":
        found = "up to a breakpoint"
        found += f", {rule.look_back} blocks back" if rule.look_back else ""
    else:
        found = "any beginning"
        found += f", in steps of {rule.step}" if rule.step > 1 else ""
    found += f"; for {rule.ttl:,} s" if rule.ttl else ""
    return f"| `{rule.name}` | {rule.about} | {rule.read:g} | {rule.write:g} | {rule.least:,} | {found} |"


def test_the_table_of_the_page_is_that_of_the_rules() -> None:
    """Every rule has its row, in order, and there is no other."""
    if not PAGE.is_file():
        pytest.skip("not in a checkout")
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    begin = lines.index("| rule | for | read | write | from tokens | found again |")
    end = lines.index("", begin)
    assert lines[begin + 2 : end] == [row(rule) for rule in RULES.values()]
