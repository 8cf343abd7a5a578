"""Measures one thing against another within the same run, and prints what came out as a table.

Nothing here passes or fails by a clock: a figure above its goal is marked, and a person decides.
"""

from __future__ import annotations

import json
import platform
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

Work = Callable[[], Any]


@frozen(kw_only=True)
class Figure:
    """One measured figure: what, its value, the goal, and how it was found."""

    name: str
    value: float
    goal: float
    unit: str
    detail: str
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """Whether the goal is met."""
        met = self.value >= self.goal if self.at_least else self.value <= self.goal
        return "ok" if met else "MISSED"


FIGURES: list[Figure] = []


def best(work: Work, rounds: int) -> float:
    """Seconds of the fastest of so many runs: what the machine can do when nothing else disturbs it."""
    fastest = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest


class Compare:
    """Records figures; each method measures and keeps one."""

    def __init__(self, benchmark: Any) -> None:
        self._benchmark = benchmark

    def ratio(
        self, name: str, work: Work, base: Work, *, goal: float, rounds: int = 30, at_least: bool = False
    ) -> None:
        """How many times the time of `base` `work` takes (or, with `at_least`, how many times as fast it is)."""
        work()
        base()
        ours = theirs = float("inf")
        for _ in range(rounds):  # in turn, so that a slow moment of the machine meets both
            theirs = min(theirs, best(base, 1))
            ours = min(ours, best(work, 1))
        self.done()
        value = theirs / ours if at_least else ours / theirs
        self.keep(name, value, goal, "x", f"{ours * 1e3:.3f} ms against {theirs * 1e3:.3f} ms", at_least=at_least)

    def seconds(self, name: str, work: Work, *, goal: float, rounds: int = 10) -> None:
        """Milliseconds of the fastest run."""
        value = best(work, rounds) * 1e3
        self.done()
        self.keep(name, value, goal, "ms", f"best of {rounds}")

    def peak(self, name: str, work: Work, *, size: int, goal: float, unit: str = "x input") -> None:
        """Peak of allocated memory during one run, as a multiple of `size` bytes."""
        work()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            work()
            peak = tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
        self.done()
        self.keep(name, peak / size, goal, unit, f"{peak / 1e6:.2f} MB at the peak")

    def done(self) -> None:
        """Tell pytest-benchmark that something was measured, where this class did the measuring."""
        if not self._benchmark.stats:
            self._benchmark.pedantic(lambda: None, rounds=1, iterations=1)

    def keep(self, name: str, value: float, goal: float, unit: str, detail: str, *, at_least: bool = False) -> None:
        """Record a figure that was measured elsewhere."""
        FIGURES.append(Figure(name=name, value=value, goal=goal, unit=unit, detail=detail, at_least=at_least))
        self._benchmark.extra_info[name] = round(value, 3)


@pytest.fixture
def compare(benchmark: Any) -> Compare:
    """The recorder of this run's figures."""
    return Compare(benchmark)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table, and the same as JSON in `.benchmarks/figures.json`."""
    if not FIGURES:
        return
    terminalreporter.section("figures")
    width = max(len(one.name) for one in FIGURES)
    for one in FIGURES:
        sign = ">=" if one.at_least else "<="
        value = f"{one.value:>9.2f} {one.unit:<8} goal {sign} {one.goal:<7g}"
        row = f"{one.name:<{width}}  {value} {one.verdict:<7} {one.detail}"
        terminalreporter.write_line(row)
    terminalreporter.write_line(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}")
    folder = Path(__file__).resolve().parent.parent / ".benchmarks"
    folder.mkdir(exist_ok=True)
    figures = [{"name": one.name, "value": round(one.value, 4), "goal": one.goal, "unit": one.unit} for one in FIGURES]
    (folder / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
