"""The table of reported faults: complete, each with a source, what was seen, and tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROW = re.compile(r"\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")
SOURCE = re.compile(r"(?:[\w.-]+/)?[\w.-]+#\d+")
TEST = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def rows() -> list[tuple[str, ...]]:
    """Number, sources, symptom and cover of each report."""
    lines = (HERE / "reports.md").read_text(encoding="utf-8").split("\n")
    return [found.groups() for line in lines if (found := ROW.fullmatch(line))]


def test_there_is_a_row_for_each_report() -> None:
    """Thirty-one, counted from 1, none twice."""
    assert [int(number) for number, *_ in rows()] == list(range(1, 32))


def test_each_row_has_a_source_and_says_what_was_seen() -> None:
    """Repositories with a number, each once, and a sentence of our own."""
    named = [source for _, sources, *_ in rows() for source in sources.split(", ")]
    assert all(SOURCE.fullmatch(source) for source in named)
    assert len(set(named)) == len(named)
    assert all(len(seen) > 30 for _, _, seen, _ in rows())


def test_each_named_test_is_there() -> None:
    """In its file, under its name; a row without a test says in a sentence why the fault cannot arise."""
    for number, _, _, cover in rows():
        tests = TEST.findall(cover)
        assert tests or cover.endswith("."), number
        assert TEST.sub("", cover).strip(" ,") == "" or not tests, number
        for file, name in tests:
            assert f"\ndef {name}(" in (HERE / file).read_text(encoding="utf-8"), (number, file, name)
