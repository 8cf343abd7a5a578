"""What a host gives back: trims, batches, explanations, owners; and what it does with a codec that fails."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest

from trimtab import ALL, Budget, Call, Host, Policy, Trimmed, hookimpl
from trimtab._json import blob_id, canonical
from trimtab.blobs.memory import MemoryStore
from trimtab.errors import CodecError, LostBlob
from trimtab.host.tools import PROTOCOLS
from trimtab.testing.faults import raising_at
from trimtab.types import Json

SMALL = Budget(limit=600, keep=512)
PAGE = "the pilot came aboard at noon\n" * 90


@pytest.fixture
def host() -> Iterator[Host]:
    """A host with no plugin of others."""
    with Host.load(discover=False) as loaded:
        yield loaded


class Untouchable(MemoryStore):
    """A store that may not be asked anything."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("put", "get", "held", "find", "has", "hold"):
            raise AssertionError(f"{name} was called")
        return super().__getattribute__(name)


OUTPUTS: dict[str, Any] = {
    "text": PAGE,
    "value": {"id": 7, "page": PAGE, "π": [None, True, 1.5e300, "é\ud800"]},
    "json text": json.dumps([{"page": PAGE, "n": 1.10}]),
    "small": {"id": 7},
    "empty": "",
    "none": None,
    "number": 0,
    "like a row": {"$persistedToolOutput": {"v": 3, "tool": "x", "skeleton": PAGE, "blobRefs": []}},
}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("tool", ["fetch", "fs_read", ""])
def test_what_a_trim_gives_hangs_together(host: Host, name: str, tool: str) -> None:
    """Value, text, row and their JSON say the same; the types stay; sizes are of what is sent."""
    output = OUTPUTS[name]
    trimmed = host.trim(tool, output, budget=SMALL)
    assert type(trimmed.value) is type(output)
    assert trimmed.text == (trimmed.value if isinstance(output, str) else canonical(trimmed.value))
    assert json.loads(trimmed.row_text) == trimmed.row
    assert trimmed.row_text.encode()
    assert trimmed.changed == (canonical(trimmed.value) != canonical(output))
    assert trimmed.error is None
    assert trimmed.tool == tool
    before, after = len(output if isinstance(output, str) else canonical(output)), len(trimmed.text)
    assert (trimmed.sizes.before, trimmed.sizes.after) == (before, after)
    assert trimmed.sizes.tokens_after <= trimmed.sizes.tokens_before
    assert repr(trimmed).count("pilot") == 0
    assert canonical(host.inflate(json.loads(trimmed.row_text))) == canonical(output)


@pytest.mark.parametrize("output", ["", "short", None, 0, True, [], {}, {"a": "x" * 400}, ["y" * 100] * 4, "z" * 600])
def test_an_output_under_its_limit_asks_the_store_nothing(output: Any) -> None:
    """It passes as the same object, into the prompt and into the row, without any work of the store's."""
    host = Host(Untouchable(), Policy(), Host.load(discover=False).registry)
    trimmed = host.trim("fetch", output, budget=SMALL)
    assert trimmed.value is trimmed.row is output
    assert not trimmed.changed
    assert host.render(output) is output
    assert host.allow_list([output]).held == frozenset()


def test_what_was_given_is_not_changed(host: Host) -> None:
    """The application's own object stays as it was, down to the last list in it."""
    output: Any = {"a": [{"page": PAGE}, {"page": "short"}], "b": {"c": PAGE}}
    before = json.dumps(output)
    trimmed = host.trim("fetch", output, budget=SMALL)
    assert trimmed.changed
    assert json.dumps(output) == before
    assert trimmed.value["a"][1] is output["a"][1]


def test_an_explanation_is_data(host: Host) -> None:
    """What was kept and why can be written as JSON, for trimmed, untouched, whole and failed outputs."""
    outputs = [PAGE, "short", {"text": PAGE}, json.dumps({"a": PAGE, "b": "x" * 300})]
    for tool in ("fetch", "fs_read"):
        for output in outputs:
            told = json.loads(json.dumps(host.explain(host.trim(tool, output, budget=SMALL))))
            assert told["tool"] == tool
            assert told["budget"]["limit"] == 600
            assert {one["why"] for one in told["texts"]} <= {"fits", "short", "excerpt", "marker", "whole"}
    (text,) = host.explain(host.trim("fetch", PAGE, budget=SMALL))["texts"]
    assert (text["why"], text["total_chars"]) == ("excerpt", len(PAGE))


# Codecs that fail


def good(output: Json) -> list[str] | None:
    """A codec for a list of pages."""
    if not isinstance(output, list) or not all(isinstance(one, dict) and "page" in one for one in output):
        return None
    return [f"/{n}/page" for n in range(len(output))]


def _exits(_: Json) -> list[str]:
    raise SystemExit(1)


CODECS: dict[str, tuple[Callable[[Json], Any], str]] = {
    "raises": (raising_at(good, 0, lambda: KeyError("a secret")), "raised KeyError"),
    "raises half-way": (raising_at(good, 2, lambda: ValueError("half-way")), "half-way"),
    "recurses": (raising_at(good, 0, RecursionError), "RecursionError"),
    "exits": (_exits, "SystemExit"),
    "gives a number": (lambda _: 5, "raised TypeError"),
    "gives a string": (lambda _: "/0/page", "a list of pointers"),
    "gives an empty string": (lambda _: "", "a list of pointers"),
    "gives numbers": (lambda _: [0], "not a JSON Pointer"),
    "gives lists": (lambda _: [["0", "page"]], "unhashable"),
    "no slash": (lambda _: ["0/page"], "not a JSON Pointer"),
    "a bad escape": (lambda _: ["/0/page~2"], "not a JSON Pointer"),
    "leads nowhere": (lambda _: ["/0/page", "/9/page"], "leads nowhere"),
    "past the end": (lambda _: ["/-"], "leads nowhere"),
    "an endless index": (lambda _: ["/" + "9" * 5_000], "leads nowhere"),
    "not a string": (lambda _: ["/0"], "not a string"),
    "a number's place": (lambda _: ["/0/id"], "not a string"),
    "the whole": (lambda _: [""], "not a string"),
}


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("form", ["value", "json text", "mcp"])
def test_a_codec_that_fails_leaves_the_output_whole(name: str, form: str, caplog: pytest.LogCaptureFixture) -> None:
    """A codec's mistake is its own: that output is whole and reported, others go on, and it stays whole."""
    codec, says = CODECS[name]
    pages = [{"id": n, "page": f"{n}: {PAGE}"} for n in range(3)]
    forms: dict[str, Any] = {
        "value": pages,
        "json text": json.dumps(pages),
        "mcp": {"content": [{"type": "text", "text": json.dumps(pages)}]},
    }
    output = forms[form]

    def asked(value: Json) -> Any:
        """The codec; an MCP result, about which it is asked first, is not its shape."""
        return None if isinstance(value, dict) else codec(value)

    class Plugin:
        @hookimpl
        def trimtab_codecs(self) -> list[tuple[str, Any]]:
            return [("broken", asked), ("sound", good)]

    with Host.load(plugins=[Plugin()], discover=False) as host:
        for _ in range(2):
            trimmed, other = host.trim_batch([Call("broken", output), Call("sound", pages)], budget=SMALL)
            assert trimmed.value is trimmed.row is output
            assert other.changed
        assert host.store.stats().blobs == 3
        first = host.trim("broken", json.loads(canonical(output)), budget=SMALL)
        assert first.value == output
    record = caplog.records[0].getMessage()
    assert record.startswith("broken: left whole: codec for 'broken': ")
    assert says in record
    assert len(record) < 700


def test_a_codecs_error_says_whose_it_is(host: Host) -> None:
    """The error of a failed codec is a `CodecError` with the tool and the pointer, and what it raised as its cause."""
    policy = Policy(tools={"t": {"codec": "operator:truediv"}})
    with Host.load(policy=policy, discover=False) as other:
        error = other.trim("t", PAGE, budget=SMALL).error
    assert isinstance(error, CodecError)
    assert (error.tool, error.pointer) == ("t", None)
    assert isinstance(error.__cause__, TypeError)


# Batches


def total(results: list[Trimmed]) -> int:
    """Chars of a batch in the prompt."""
    return sum(len(one.text) for one in results)


def test_a_batch_shares_its_budget_whatever_the_order(host: Host) -> None:
    """Results of one message fit `batch` together; small ones stay whole; the order changes nothing."""
    calls = [Call("fetch", f"{n}: " + PAGE * (n + 1)) for n in range(6)] + [Call("status", "ready")]
    budget = Budget(limit=8_000, keep=6_000, batch=9_000)
    results = host.trim_batch(calls, budget=budget)
    assert total(results) <= 9_000 < total([host.trim(one.tool, one.output, budget=budget) for one in calls])
    assert not results[-1].changed
    shuffled = list(enumerate(calls))
    random.Random(3).shuffle(shuffled)
    again = host.trim_batch([call for _, call in shuffled], budget=budget)
    assert {n: one.text for (n, _), one in zip(shuffled, again, strict=True)} == dict(
        enumerate(one.text for one in results)
    )
    assert [host.inflate(one.row) for one in results] == [call.output for call in calls]


def test_read_pages_are_outside_a_batch(host: Host) -> None:
    """What a read tool shows neither counts in its batch nor is made smaller."""
    budget = Budget(limit=8_000, keep=6_000, batch=7_000)
    alone = host.trim_batch([Call("fetch", PAGE * 2)], budget=budget)
    for shown in ({"text": PAGE * 9}, {"lines": ["a short line, which is never moved " * 5] * 60}):
        both = host.trim_batch([Call("fs_read", shown), Call("fetch", PAGE * 2)], budget=budget)
        assert both[1].text == alone[0].text
        assert not both[0].changed


@pytest.mark.parametrize("calls", [[], [Call("a", "x")], [Call("a", PAGE)] * 3])
def test_odd_batches(host: Host, calls: list[Call]) -> None:
    """None, one, and the same output several times: a result for each, in order."""
    results = host.trim_batch(calls, budget=attrs.evolve(SMALL, batch=1_000))
    assert [one.tool for one in results] == [call.tool for call in calls]
    assert len({one.row_text for one in results}) <= 1


# Owners


def test_a_fork_and_a_deletion(host: Host) -> None:
    """Another owner may hold what one has; deleting one conversation keeps what the other still holds."""
    row = host.trim("fetch", PAGE, budget=SMALL, owner="a").row
    ids = [ref["blobId"] for ref in row["$persistedToolOutput"]["blobRefs"]]
    with pytest.raises(LostBlob):
        host.inflate(row, owner="b")
    host.hold("b", ids)
    host.release("a")
    assert host.collect(0).blobs == 0
    assert host.inflate(row, owner="b") == PAGE
    host.release("b")
    host.release("b")
    host.release("never seen")
    assert host.collect(3_600).blobs == 0
    assert host.inflate(row, owner=ALL) == PAGE
    assert host.collect(0).blobs == 1
    with pytest.raises(LostBlob):
        host.inflate(row, owner=ALL)


def test_no_owner_is_one_owner(host: Host) -> None:
    """Without an owner everything belongs to the host's own, which is held until it is released."""
    row = host.trim("fetch", PAGE, budget=SMALL).row
    assert host.inflate(row) == host.inflate(row, owner=None) == PAGE
    host.collect(0)
    assert host.allow_list([row]).held == {blob_id(PAGE)}


# Threads, tools, closing


@pytest.mark.parametrize("kind", ["memory", "sqlite", "file"])
def test_threads_share_a_host(tmp_path: Path, kind: str) -> None:
    """Eight threads trim, render, read and open through one host; each gets its own results."""
    urls = {"memory": "memory:", "sqlite": f"sqlite:///{tmp_path / 'a.db'}", "file": (tmp_path / "a").as_uri()}
    with Host.load(store=urls[kind], discover=False) as host:

        def work(number: int) -> bool:
            text = f"{number % 20}: {PAGE}"
            trimmed = host.trim("fetch", text, budget=SMALL, owner=f"chat {number % 3}")
            allow = host.allow_list([trimmed.row], owner=f"chat {number % 3}")
            page = host.read(f"trimtab:{blob_id(text)[:16]}", allow=allow)
            opened = host.inflate(trimmed.row, owner=f"chat {number % 3}")
            return bool(opened == text == page.text and host.render(trimmed.row) == trimmed.value)

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(120)))
        assert host.store.stats().blobs == 20


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tools_are_those_of_the_policy(protocol: str) -> None:
    """Every protocol has the read tool and the search tool by the names of the policy; none where there is none."""
    for policy, names in (
        (Policy(), {"fs_read", "fs_search"}),
        (Policy(read_tool="open_text", search_tool=""), {"open_text"}),
        (Policy(read_tool=""), set()),
    ):
        with Host.load(policy=policy, discover=False) as host:
            tools = canonical(host.read_tools(protocol))
            assert {name for name in ("fs_read", "fs_search", "open_text") if f'"name":"{name}"' in tools} == names
            assert len(json.loads(tools)) == len(names)


def test_a_host_closes_once_and_again() -> None:
    """Closing twice is no error, with or without `with`."""
    with Host.load(discover=False) as host:
        host.trim("fetch", PAGE, budget=SMALL)
    host.close()
    host.close()
