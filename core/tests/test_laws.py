"""The eight laws, for every kind of codec, on generated outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from trimtab.budget import Budget
from trimtab.codecs import entities
from trimtab.errors import StoreUnavailable
from trimtab.host import Host
from trimtab.policy import Policy, ToolPolicy
from trimtab.testing.corpus import FOREIGN_TEXT, OWN_TEXT
from trimtab.testing.faults import raising_at
from trimtab.testing.independent import blob_id_of, counted_text, difference, refs_of
from trimtab.testing.kinds import KINDS, Kind
from trimtab.testing.laws import (
    OWNER,
    check_bounded,
    check_content_cannot_steer,
    check_frame_exact,
    check_left_whole,
    check_one_primitive,
    check_readable_back,
    check_same_bytes,
    check_settled,
    check_whole_on_failure,
)
from trimtab.testing.samples import host_with
from trimtab.testing.strategies import budgets, focuses, json_texts, json_values, texts, token_budgets
from trimtab.tokens import Estimate
from trimtab.types import Call, Json

STORES = ("memory:", "sqlite:", "file:")


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of codec."""
    found: Kind = request.param
    return found


@pytest.fixture(params=[20, pytest.param(1_500, marks=pytest.mark.fuzz)], ids=["", "fuzz"])
def each(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Runs a claim on drawn arguments: a few that are always the same, or (marked `fuzz`) many random ones."""
    examples: int = request.param

    def run(claim: Callable[..., None], *, most: int = 1_000_000, **drawn: SearchStrategy[Any]) -> None:
        settings(
            max_examples=min(examples, most),
            deadline=None,
            derandomize=examples < 100,
            database=None,
            suppress_health_check=list(HealthCheck),
        )(given(**drawn)(claim))()

    return run


def with_strangers(host: Host) -> Host:
    """The host, its store holding what forged markers name: a text of the owner's, and one of somebody else's."""
    host.store.put({blob_id_of(OWN_TEXT): OWN_TEXT}, owner=OWNER)
    host.store.put({blob_id_of(FOREIGN_TEXT): FOREIGN_TEXT}, owner="somebody else")
    return host


@pytest.fixture(params=STORES)
def hosts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Kind], Host]]:
    """Makes hosts over an empty store of each sort."""
    numbers = count()
    made: list[Host] = []

    def make(kind: Kind) -> Host:
        place = {"memory:": "", "sqlite:": f"///{tmp_path}/{next(numbers)}", "file:": f"//{tmp_path}/{next(numbers)}"}
        made.append(with_strangers(kind.host(f"{request.param}{place[request.param]}")))
        return made[-1]

    yield make
    for host in made:
        host.close()


def smaller_than(budget: Budget) -> list[Budget]:
    """Budgets in chars below this one, with a room between `keep` and `limit` and without."""
    keeps = {512, 600, budget.keep // 2, budget.keep - 1}
    return [
        Budget(limit=keep + more, keep=keep, cap=budget.cap)
        for keep in sorted(keeps)
        for more in (0, 300)
        if 512 <= keep < budget.keep
    ]


def test_law_1_frame_exact(kind: Kind, each: Callable[..., None]) -> None:
    """Outside the moved texts nothing changes; in their place stand slices and markers."""

    def claim(output: Json, budget: Budget, focus: str | None) -> None:
        check_frame_exact(with_strangers(kind.host()), kind.tool, output, budget, focus=focus)

    each(claim, output=kind.outputs, budget=budgets() | token_budgets(), focus=focuses())


def test_law_2_one_primitive(kind: Kind, each: Callable[..., None]) -> None:
    """The prompt gets what the stored row renders to, alone and in a batch."""

    def claim(output: Json, budget: Budget, focus: str | None) -> None:
        check_one_primitive(with_strangers(kind.host()), kind.tool, output, budget, focus=focus)

    each(claim, output=kind.outputs, budget=budgets() | token_budgets(), focus=focuses())


def test_law_3_same_bytes(kind: Kind, each: Callable[..., None]) -> None:
    """A fresh host, a host that has trimmed other outputs, and the same host again give the same bytes."""
    used = kind.host()

    def claim(output: Json, budget: Budget, focus: str | None) -> None:
        fresh = kind.host()
        check_same_bytes([fresh, used, fresh], kind.tool, output, budget, focus=focus)

    each(claim, output=kind.outputs, budget=budgets() | token_budgets(), focus=focuses())


def test_law_4_readable_back(kind: Kind, each: Callable[..., None]) -> None:
    """The row inflates to the output, and every omitted character is on a page of its handle."""

    def claim(output: Json, budget: Budget, focus: str | None) -> None:
        check_readable_back(with_strangers(kind.host()), kind.tool, output, budget, focus=focus)

    each(claim, output=kind.outputs, budget=budgets() | token_budgets(), focus=focuses())


def test_laws_1_to_4_in_every_store(kind: Kind, each: Callable[..., None], hosts: Callable[[Kind], Host]) -> None:
    """What is stored, read and rendered does not depend on the store."""
    host, memory = hosts(kind), kind.host()

    def claim(output: Json, budget: Budget) -> None:
        check_frame_exact(host, kind.tool, output, budget)
        check_one_primitive(host, kind.tool, output, budget)
        check_same_bytes([host, memory], kind.tool, output, budget)
        check_readable_back(host, kind.tool, output, budget)

    each(claim, most=200, output=kind.outputs, budget=budgets())


def test_law_5_whole_when_the_store_fails(kind: Kind, each: Callable[..., None]) -> None:
    """Whichever call of the store raises, the output stays whole, now and later."""

    def claim(output: Json, budget: Budget) -> None:
        check_whole_on_failure(kind.host, kind.tool, output, budget)

    each(claim, most=500, output=kind.outputs, budget=budgets())


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError(), StoreUnavailable("x"), MemoryError(), TypeError()])
def test_law_5_whole_when_the_codec_fails(kind: Kind, each: Callable[..., None], error: Exception) -> None:
    """Whichever pointer a codec raises at, whatever it raises, the output stays whole, now and later."""
    codec = entities("/*/content") if kind.codec is None else kind.codec
    budget = Budget(limit=512, keep=512)

    def claim(output: Json, nth: int) -> None:
        moved = refs_of(kind.host().trim(kind.tool, output, budget=budget).row)
        host = host_with(raising_at(codec, nth, lambda: error), kind.pattern)
        now = host.trim(kind.tool, output, budget=budget)
        later = host.trim(kind.tool, output, budget=budget)
        assert now.error is not None or nth or not moved
        if now.error is not None:
            assert now.error.__cause__ is error
            check_left_whole(host, now, output, f"the codec raised at {nth}")
            check_left_whole(host, later, output, f"the codec raised at {nth}, later")

    each(claim, most=100, output=kind.outputs, nth=st.integers(0, 4))


def test_law_6_bounded_in_chars(kind: Kind, each: Callable[..., None]) -> None:
    """A rendering is at most `keep`, or everything that can move is a bare marker and `over_budget` says so."""

    def claim(output: Json, budget: Budget, focus: str | None) -> None:
        check_bounded(with_strangers(kind.host()), kind.tool, output, budget, codec=kind.known, focus=focus)

    each(claim, output=kind.outputs, budget=budgets(), focus=focuses())


def test_law_6_bounded_in_tokens(kind: Kind, each: Callable[..., None]) -> None:
    """The same, counted by the estimator and by counters whose counts jump."""

    def claim(output: Json, budget: Budget) -> None:
        counter = Estimate() if isinstance(budget.counter, str) or budget.counter is None else budget.counter
        host = with_strangers(kind.host())
        check_bounded(host, kind.tool, output, budget, codec=kind.known, count=counter.count)

    each(claim, output=kind.outputs, budget=token_budgets())


def test_law_6_bounded_in_a_batch(kind: Kind, each: Callable[..., None]) -> None:
    """Together the results take at most `batch`, or each that takes more than its share has nothing left to move."""

    def claim(outputs: list[Json], budget: Budget, batch: int) -> None:
        host = with_strangers(kind.host())
        shared = Budget(limit=budget.limit, keep=budget.keep, cap=budget.cap, batch=batch)
        calls = [Call(kind.tool, output) for output in outputs]
        results = host.trim_batch(calls, budget=shared, owner=OWNER)
        backwards = host.trim_batch(calls[::-1], budget=shared, owner=OWNER)
        assert [one.text for one in results] == [one.text for one in backwards[::-1]]
        sizes = [len(counted_text(kind.known, one.value)) for one in results]
        assert sum(sizes) <= max(batch, 512 * len(outputs)) or any(one.over_budget for one in results)
        for output, one in zip(outputs, results, strict=True):
            assert difference(host.inflate(one.row, owner=OWNER), output) is None

    outputs = st.lists(kind.outputs, min_size=1, max_size=4)
    each(claim, most=300, outputs=outputs, budget=budgets(), batch=st.integers(512, 12_000))


def test_law_7_settled(kind: Kind, each: Callable[..., None]) -> None:
    """A rendering is shorter, the same budget leaves it alone, a smaller one trims the original again."""

    def claim(output: Json, budget: Budget, focus: str | None) -> None:
        host = with_strangers(kind.host())
        check_settled(host, kind.tool, output, budget, smaller=smaller_than(budget), codec=kind.known, focus=focus)

    each(claim, output=kind.outputs, budget=budgets(), focus=focuses())


def test_law_7_settled_in_tokens(kind: Kind, each: Callable[..., None]) -> None:
    """The same, counted in tokens of any kind."""

    def claim(output: Json, budget: Budget) -> None:
        counter = Estimate() if isinstance(budget.counter, str) or budget.counter is None else budget.counter
        smaller = [
            Budget(unit="tokens", limit=keep, keep=keep, counter=counter)
            for keep in (128, budget.keep // 2, budget.keep - 1)
            if 128 <= keep < budget.keep
        ]
        host = with_strangers(kind.host())
        check_settled(host, kind.tool, output, budget, smaller=smaller, codec=kind.known, count=counter.count)

    each(claim, output=kind.outputs, budget=token_budgets())


def test_law_8_content_cannot_steer(kind: Kind, each: Callable[..., None]) -> None:
    """Forged markers and rows in an output open nothing and hold nothing."""

    def claim(output: Json, budget: Budget) -> None:
        host = with_strangers(kind.host())
        check_content_cannot_steer(host, kind.tool, output, budget, secret=FOREIGN_TEXT)

    each(claim, output=kind.outputs, budget=budgets())


@pytest.mark.parametrize("tool", ["fs_read", "fs_search", "exempt"])
def test_the_laws_of_what_a_read_tool_shows(each: Callable[..., None], tool: str) -> None:
    """It is whole in the prompt and slim in the row, reads back, renders and inflates as any other output."""
    policy = Policy(tools={"exempt": ToolPolicy(exempt=True)})
    outputs = json_values() | texts() | json_texts()

    def claim(output: Json) -> None:
        host = with_strangers(host_with(None, tool, policy=policy))
        check_frame_exact(host, tool, output)
        check_one_primitive(host, tool, output)
        check_readable_back(host, tool, output)
        check_same_bytes([host, host_with(None, tool, policy=policy)], tool, output)
        check_whole_on_failure(lambda store: host_with(None, tool, store, policy), tool, output)
        trimmed = host.trim(tool, output, owner=OWNER)
        assert trimmed.value is output
        assert not trimmed.changed

    each(claim, output=outputs)
