"""Requests of every wire, damaged at random: nothing raises but errors of ours, and nothing else changes."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import Host, Policy
from trimtab.errors import CallerError, TrimtabError
from trimtab.testing.conversations import WRITERS, Turn, conversations
from trimtab.types import Json
from trimtab.wire import protocols

NAMES = sorted(protocols)
LONG = "a line of an output\n" * 200
STRANGE: list[Json] = [None, True, 0, -1, 1.5, 10**30, "", "x", LONG, "\ud800", [], {}, [LONG], [{"text": LONG}]]
KEYS = ("type", "text", "content", "id", "role", "value", "output", "json", "name", "input", "parts", "response")


def places(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, one in inner:
        yield (*path, step)
        yield from places(one, (*path, step))


def at(value: Json, path: tuple[Any, ...]) -> Json:
    """What stands there."""
    for step in path:
        value = value[step]
    return value


def damage(request: Json, random: Random) -> None:
    """One thing is missing, doubled, wrapped, moved, or something else."""
    found = [*places(request)]
    if not found:
        return
    path = random.choice(found)
    there, step = at(request, path[:-1]), path[-1]
    new: Json
    match random.randrange(7):
        case 0:
            del there[step]
            return
        case 1:
            new = copy.deepcopy(random.choice(STRANGE))
        case 2:
            new = [there[step]]
        case 3:
            new = [there[step], copy.deepcopy(there[step])]
        case 4:
            new = {random.choice(KEYS): there[step]}
        case 5:
            new = copy.deepcopy(at(request, random.choice(found)))
        case _:
            new = {random.choice(KEYS): copy.deepcopy(random.choice(STRANGE)) for _ in range(3)}
    there[step] = new


@pytest.mark.parametrize("name", NAMES)
@given(
    turns=conversations(longest=3),
    random=st.randoms(use_true_random=False),
    often=st.integers(1, 6),
    batch=st.sampled_from((None, 3_000)),
    named=st.sampled_from((None, *NAMES)),
)
@settings(max_examples=60, deadline=None)
def test_a_damaged_request(
    name: str, turns: list[Turn], random: Random, often: int, batch: int | None, named: str | None
) -> None:
    """It is trimmed where it has results, or refused; the rest is the very same; trimmed again it stays as it is."""
    request = WRITERS[name]([*turns, Turn(said=LONG)])
    for _ in range(often):
        damage(request, random)
    before = copy.deepcopy(request)
    with Host.load("memory:", Policy(limit=2_000, keep=1_000, batch=batch), discover=False) as host:
        try:
            done = host.trim_request(request, named, owner="c")
        except CallerError:
            return
        finally:
            assert repr(request) == repr(before)
        wire = protocols[done.protocol]
        originals = {one.key: one.value for one in wire.tool_results(request)}
        assert [*originals] == list(done.keys)
        assert repr(wire.with_results(done.request, originals)) == repr(request)
        shown = {one.key: one.value for one in wire.tool_results(done.request)}
        assert repr(shown) == repr({key: one.value for key, one in zip(done.keys, done.results, strict=True)})
        for key, one in zip(done.keys, done.results, strict=True):
            assert one.error is None
            assert repr(host.inflate(one.row, owner="c")) == repr(originals[key])
        for again in (request, done.request):
            assert repr(host.trim_request(again, done.protocol, owner="c").request) == repr(done.request)
        twin = asyncio.run(host.atrim_request(request, done.protocol, owner="c"))
        assert repr(twin.request) == repr(done.request)
        wire.check_pairs(request)
        fit = wire.with_calls(request, {})
        assert wire.with_calls(fit, {}) is fit


class Evil:
    """An object of an SDK that answers nothing."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class EvilMap(dict[str, Any]):
    """A mapping that answers nothing."""

    def get(self, key: str, default: Any = None) -> Any:
        """Raise."""
        raise RuntimeError(key)


def _itself() -> Json:
    value: list[Any] = []
    value.append(value)
    return value


def _deep(levels: int) -> Json:
    value: Json = LONG
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("name", [None, *NAMES])
@pytest.mark.parametrize(
    "value",
    [
        Evil(),
        EvilMap(messages=[]),
        object(),
        b"bytes",
        {1, 2},
        _itself(),
        _deep(600),
        _deep(50_000),
        float("nan"),
        {3: LONG},
    ],
    ids=["object", "mapping", "bare", "bytes", "set", "itself", "deep", "deepest", "nan", "number as key"],
)
def test_what_is_no_json(name: str | None, value: Any) -> None:
    """As the request, a message of it, or a result in it: an error of ours, or nothing to trim in it."""
    with Host.load("memory:", discover=False) as host:
        for request in (
            value,
            {"messages": [value], "input": [value], "contents": [value]},
            {"messages": [{"role": "tool", "tool_call_id": "a", "content": value}]},
            {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": value}}]}]},
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": value}]}]},
            {"input": [{"type": "function_call_output", "call_id": "a", "output": value}]},
            {"contents": [{"parts": [{"functionResponse": {"name": "x", "response": value}}]}]},
        ):
            try:
                assert host.trim_request(request, name).request is request
            except TrimtabError as error:
                assert len(str(error)) < 500  # noqa: PT017 (either is right)


@pytest.mark.parametrize("name", ["bedrock", "gemini"])
def test_a_result_of_a_shape_that_is_no_ones_keeps_it(name: str) -> None:
    """Where a list of blocks or an object should stand, and something else does, it is trimmed as what it is."""
    request: Json = {
        "bedrock": {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": LONG}}]}]},
        "gemini": {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "x", "response": LONG}}]}]},
    }[name]
    with Host.load("memory:", Policy(limit=2_000, keep=1_000), discover=False) as host:
        done = host.trim_request(request, name)
        assert done.results[0].changed
        assert protocols[name].with_results(done.request, {done.keys[0]: LONG}) == request
