"""Generated conversations on every wire: results found, grouped, replaced; pairs checked; requests trimmed."""

from __future__ import annotations

import asyncio
import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import Host, Policy
from trimtab.blobs.memory import MemoryStore
from trimtab.errors import CallerError, StoreUnavailable, UnsupportedOutput
from trimtab.pointer import follow, locate, replace
from trimtab.testing.conversations import WRITERS, Told, Turn, conversations
from trimtab.types import Json
from trimtab.wire import detect, protocols

NAMES = sorted(protocols)
SOME = settings(max_examples=40, deadline=None)
# Where the wire says nothing of failure, or has no blocks in a result.
SILENT = ("openai-chat", "openai-responses", "vllm")


@pytest.mark.parametrize("name", NAMES)
@given(turns=conversations())
@SOME
def test_every_result_is_found_with_its_call(name: str, turns: list[Turn]) -> None:
    """In order, with tool, failure, and the call that it answers; one message's results have one `message`."""
    request = WRITERS[name](turns)
    told = [(number, one) for number, turn in enumerate(turns) for one in turn.calls]
    results = protocols[name].tool_results(request)
    assert [one.name for one in results] == [one.name for _, one in told]
    assert [one.call_id for one in results] == [one.call_id for _, one in told]
    assert [one.is_error for one in results] == [one.failed and name not in SILENT for _, one in told]
    assert [text_of(one.value) for one in results] == [one.output for _, one in told]
    calls = {one.key: one.call for one in protocols[name].past_calls(request)}
    for result, (_, one) in zip(results, told, strict=True):
        raw = calls[result.call or ""].raw_args
        assert (json.loads(raw) if isinstance(raw, str) else raw) == one.arguments
    groups = {
        number: {one.message for one, (at, _) in zip(results, told, strict=True) if at == number} for number, _ in told
    }
    assert all(len(one) == 1 for one in groups.values())
    assert len(set().union(*groups.values())) == len(groups)
    assert protocols[name].check_pairs(request) == []


@pytest.mark.parametrize("name", NAMES)
@given(turns=conversations(), choose=st.data())
@SOME
def test_replacing_some_results_changes_nothing_else(name: str, turns: list[Turn], choose: st.DataObject) -> None:
    """The chosen places hold the new values, everything else is the very same."""
    wire, request = protocols[name], WRITERS[name](turns)
    before = copy.deepcopy(request)
    results = wire.tool_results(request)
    chosen = {one.key for one in results if choose.draw(st.booleans())}
    new = {one.key: [] if isinstance(one.value, list) else "new" for one in results if one.key in chosen}
    changed = wire.with_results(request, new)
    for one, other in zip(results, wire.tool_results(changed), strict=True):
        assert other.value is one.value if one.key not in chosen else other.value == new[one.key]
        assert (other.key, other.name, other.call_id, other.is_error) == (one.key, one.name, one.call_id, one.is_error)
    blanks = {follow(request, key): None for key in chosen}
    assert dumped(replace(changed, blanks)) == dumped(replace(request, blanks))
    assert request == before


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ai-sdk"])
@given(turns=conversations(ids=True), choose=st.data())
@SOME
def test_a_lost_call_or_result_is_a_fault(name: str, turns: list[Turn], choose: st.DataObject) -> None:
    """Whatever is taken out of a pair leaves a fault about the other one, and only that."""
    wire, request = protocols[name], WRITERS[name](turns)
    results = wire.tool_results(request)
    if not results:
        return
    lost = choose.draw(st.sampled_from(results))
    takes_call = choose.draw(st.booleans())
    spoilt = without_block(request, (lost.call if takes_call else lost.key) or "")
    faults = wire.check_pairs(spoilt)
    assert [one.kind for one in faults] == ["result-without-call" if takes_call else "call-without-result"]
    assert faults[0].call_id == lost.call_id
    locate(spoilt, faults[0].key)


@pytest.mark.parametrize("name", NAMES)
@given(turns=conversations(longest=5))
@SOME
def test_generated_requests_are_recognised(name: str, turns: list[Turn]) -> None:
    """A request with calls in it is taken for what it is."""
    if any(turn.calls for turn in turns):
        assert detect(WRITERS[name](turns)) == name


@pytest.mark.parametrize("name", NAMES)
@given(turns=conversations(longest=5), batch=st.sampled_from((None, 1_000, 4_000)))
@settings(max_examples=25, deadline=None)
def test_a_result_once_sent_never_changes(name: str, turns: list[Turn], batch: int | None) -> None:
    """As a conversation grows, every request begins with the bytes of the one before."""
    with Host.load("memory:", Policy(limit=2_000, keep=1_000, batch=batch)) as host:
        sent: list[Json] = []
        for length in range(len(turns) + 1):
            request = WRITERS[name](turns[:length])
            before = copy.deepcopy(request)
            done = host.trim_request(request, name, owner="c")
            values = [one.value for one in protocols[name].tool_results(done.request)]
            assert dumped(values[: len(sent)]) == dumped(sent)
            blanks = {follow(request, key): None for key in done.keys}
            assert dumped(replace(done.request, blanks)) == dumped(replace(request, blanks))
            assert dumped(host.trim_request(done.request, name, owner="c").request) == dumped(done.request)
            assert request == before
            sent = values


@pytest.mark.parametrize("name", NAMES)
def test_results_keep_their_share_when_others_come_late(name: str) -> None:
    """A result that was sent before its siblings keeps its bytes when they come and the batch is full."""
    told = tuple(
        Told(call_id=f"id-{n}", name="read", arguments={}, output=f"line {n} of a long output\n" * 400)
        for n in range(3)
    )
    with Host.load("memory:", Policy(limit=12_000, keep=12_000, batch=12_000)) as host:
        firsts = []
        for count in (1, 2, 3):
            request = WRITERS[name]([Turn(said="go", calls=told[:count])])
            done = host.trim_request(request, name, owner="c")
            firsts.append([one.value for one in protocols[name].tool_results(done.request)])
        assert firsts[1][:1] == firsts[0]
        assert firsts[2][:2] == firsts[1]
        assert done.results[2].share == 4_000


def long_turns() -> list[Turn]:
    """One message with three long outputs, one of them of the read-back tool's."""
    text = "".join(f"line {n} about {'caches' if n == 700 else 'nothing'}\n" for n in range(2_000))
    calls = (
        Told(call_id="a", name="web_search", arguments={"query": "caches"}, output=text),
        Told(call_id="b", name="fs_read", arguments={"uri": "trimtab:0123456789abcdef"}, output=text, blocks=True),
        Told(call_id="c", name="read", arguments={}, output=text, failed=True, blocks=True),
    )
    return [Turn(said="go", calls=calls)]


@pytest.mark.parametrize("name", NAMES)
def test_a_request_is_trimmed_as_its_outputs_are(name: str) -> None:
    """Read-back tools are exempt, the batch is shared, arguments give the focus: the same as with `trim_batch`."""
    request = WRITERS[name](long_turns())
    with Host.load("memory:", Policy(batch=15_000)) as host:
        done = host.trim_request(request, owner="c")
        first, second, third = done.results
        assert second.value == protocols[name].tool_results(request)[1].value
        assert first.share == third.share == 7_500
        assert first.changed
        assert third.changed
        assert "line 700 about caches" in first.text
        assert "line 700 about caches" not in third.text
        assert "trimtab:" in first.text
        assert [one.tool for one in done.results] == ["web_search", "fs_read", "read"]
        assert asyncio.run(host.atrim_request(request, owner="c")).request == done.request
        for result, trimmed in zip(protocols[name].tool_results(done.request), done.results, strict=True):
            assert result.value == trimmed.value


class Failing(MemoryStore):
    """A store that fails when told to."""

    fails = True

    def put(self, blobs: Any, *, owner: str) -> None:
        """Store nothing, or everything."""
        if self.fails:
            raise StoreUnavailable("the disk is full")
        super().put(blobs, owner=owner)


@pytest.mark.parametrize("name", NAMES)
def test_a_result_that_failed_stays_whole(name: str) -> None:
    """A store that fails leaves the request as it is, now and when it works again; new results are trimmed."""
    store = Failing()
    with Host.load(store) as host:
        request = WRITERS[name](long_turns())
        done = host.trim_request(request, owner="c")
        assert done.request is request
        assert [type(one.error) for one in done.results] == [StoreUnavailable] * 3
        store.fails = False
        longer = [
            *long_turns(),
            Turn(said="more", calls=(Told(call_id="d", name="read", arguments={}, output="x\n" * 20_000),)),
        ]
        again = host.trim_request(WRITERS[name](longer), owner="c")
        values = [one.value for one in protocols[name].tool_results(again.request)]
        assert values[:3] == [one.value for one in protocols[name].tool_results(request)]
        assert again.results[3].changed


class Unsteady(MemoryStore):
    """A store that fails now and then."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random

    def put(self, blobs: Any, *, owner: str) -> None:
        """Store nothing, or everything."""
        if self._random.random() < 0.4:
            raise OSError(28, "No space left on device")
        super().put(blobs, owner=owner)


@pytest.mark.parametrize("name", ["anthropic", "openai-chat"])
@given(
    random=st.randoms(use_true_random=False),
    outputs=st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), min_size=1, max_size=3),
    batch=st.sampled_from((None, 2_500)),
)
@settings(max_examples=50, deadline=None)
def test_whatever_puts_fail_no_byte_changes_that_was_sent(
    name: str, random: Random, outputs: list[list[str]], batch: int | None
) -> None:
    """Equal outputs, batches, a store that fails now and then: each request begins with the one before."""
    turns = [
        Turn(
            said="go",
            calls=tuple(
                Told(call_id=f"{n}-{place}", name="read", arguments={}, output=f"{one} line\n" * 400)
                for place, one in enumerate(turn)
            ),
        )
        for n, turn in enumerate(outputs)
    ]
    plain = Host.load("memory:", discover=False)
    host = Host(Unsteady(random), Policy(limit=2_000, keep=1_000, batch=batch), plain.registry)
    sent: list[Json] = []
    for length in (*range(1, len(turns) + 1), len(turns)):
        done = host.trim_request(WRITERS[name](turns[:length]), name, owner="c")
        values = [one.value for one in done.results]
        assert dumped(values[: len(sent)]) == dumped(sent)
        for one in done.results:
            assert host.inflate(one.row, owner="c")
        sent = values


def test_a_short_request_is_the_same_object() -> None:
    """Where nothing is trimmed nothing is copied."""
    with Host.load("memory:") as host:
        for name in NAMES:
            request = WRITERS[name]([Turn(said="go")])
            assert host.trim_request(request, name).request is request


def test_what_cannot_be_read_is_refused() -> None:
    """An unknown protocol and a request of no protocol are errors that name the known ones."""
    with Host.load("memory:") as host:
        with pytest.raises(CallerError, match="unknown protocol 'openai'; known: openai-chat, "):
            host.trim_request({}, "openai")
        with pytest.raises(CallerError, match="no wire protocol; name one as protocol="):
            host.trim_request({"x": 1})
        with pytest.raises(UnsupportedOutput):
            host.trim_request({"messages": [{"role": "tool", "tool_call_id": "a", "content": b"bytes"}]})


def text_of(value: Json) -> str:
    """The text in a result, in whatever shape the writers wrote it."""
    while not isinstance(value, str):
        value = value[0] if isinstance(value, list) else value["text"]
    return value


def dumped(value: Json) -> str:
    """The value as JSON text."""
    return json.dumps(value)


def without_block(request: Json, key: str) -> Json:
    """The request without the call or result that a key is of: the innermost list element on the way there."""
    path = follow(request, key)
    inside = max(at for at, step in enumerate(path) if isinstance(step, int))
    spoilt = copy.deepcopy(request)
    there = spoilt
    for step in path[:inside]:
        there = there[step]
    del there[path[inside]]
    return spoilt
