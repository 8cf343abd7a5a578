"""Recorded exchanges of real providers, and the reported fault of a malformed past call."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from trimtab import Host, Policy
from trimtab.pointer import follow, replace
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.types import Json
from trimtab.wire import detect, protocols
from trimtab.wire.arguments import INVALID


@pytest.fixture(scope="module")
def exchanges(cases_dir: Path) -> list[dict[str, Any]]:
    """Every recorded exchange."""
    path = cases_dir / "recorded" / "exchanges.jsonl"
    if not path.is_file():
        pytest.skip(f"no recorded exchanges: {path} is no file")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_recorded_requests_and_responses_are_recognised(exchanges: list[dict[str, Any]]) -> None:
    """Every request, and every whole response, is taken for what it is."""
    for one in exchanges:
        assert detect(one["request"]) == one["protocol"], one["id"]
        if not one["stream"]:
            assert detect(one["response"]) == one["protocol"], one["id"]


def test_recorded_calls_are_found(exchanges: list[dict[str, Any]]) -> None:
    """Calls of whole responses: id, name, arguments, in order; text byte for byte."""
    for one in exchanges:
        if not one["stream"]:
            calls = protocols[one["protocol"]].tool_calls(one["response"])
            found = [(call.name, call.raw_args) for call in calls]
            assert found == [(call["name"], call["arguments"]) for call in one["expect_calls"]], one["id"]
            for call, wanted in zip(calls, one["expect_calls"], strict=True):
                assert call.call_id == (wanted["id"] or call.call_id)
                assert call.complete


def test_recorded_streams_are_read(exchanges: list[dict[str, Any]]) -> None:
    """Calls of streams: the same."""
    for one in exchanges:
        if one["stream"]:
            stream = protocols[one["protocol"]].stream()
            stream.feed(one["response"])
            found = [(call.call_id, call.name, call.raw_args) for call in stream.close()]
            wanted = [(call["id"], call["name"], call["arguments"]) for call in one["expect_calls"]]
            assert found == wanted, one["id"]


def test_recorded_results_are_found_and_replaced(exchanges: list[dict[str, Any]]) -> None:
    """Result ids in order; unchanged values give an equal request; one new value changes its own place only."""
    for one in exchanges:
        wire, request = protocols[one["protocol"]], one["request"]
        before = copy.deepcopy(request)
        results = wire.tool_results(request)
        assert [result.call_id for result in results] == one["expect_result_ids"], one["id"]
        assert wire.with_results(request, {result.key: copy.deepcopy(result.value) for result in results}) == request
        for result in results:
            changed = wire.with_results(request, {result.key: "other"})
            values = {other.key: other.value for other in wire.tool_results(changed)}
            assert values == {other.key: other.value for other in results} | {result.key: values[result.key]}
            assert values[result.key] in ("other", [{"text": "other"}], {"output": "other"})
            blank = {follow(request, result.key): None}
            assert replace(changed, {follow(changed, result.key): None}) == replace(request, blank), one["id"]
        assert request == before


def test_recorded_histories_are_whole(exchanges: list[dict[str, Any]]) -> None:
    """What providers took has its calls and results in pairs, names every result's tool, and has nothing to mend."""
    for one in exchanges:
        wire, request = protocols[one["protocol"]], one["request"]
        assert wire.check_pairs(request) == [], one["id"]
        assert wire.with_calls(request, {}) is request
        for result in wire.tool_results(request):
            assert result.name, one["id"]
            assert result.message


def test_recorded_requests_are_trimmed_result_by_result(exchanges: list[dict[str, Any]]) -> None:
    """With a small budget: what changes is results only, and sent again, a trimmed request is the same."""
    with Host.load("memory:", Policy(limit=512, keep=512, batch=1_000)) as host:
        for one in exchanges:
            done = host.trim_request(one["request"], owner=one["id"])
            assert done.protocol == one["protocol"]
            blanks = {follow(one["request"], key): None for key in done.keys}
            assert replace(done.request, blanks) == replace(one["request"], blanks)
            assert host.trim_request(one["request"], owner=one["id"]).request == done.request
            assert host.trim_request(done.request, owner=one["id"]).request == done.request


@pytest.mark.cases("field-reports.jsonl", id="C-17")
def test_a_malformed_past_call_is_sent_again_as_an_object(case: dict[str, Any]) -> None:
    """The case of the field report, on every wire."""
    check_malformed(case["input"]["raw_args"])


MALFORMED = [
    '{"a": [',
    "[1, 2]",
    "null",
    '"text"',
    "not json",
    '{"a": NaN}',
    '{"a": 1} {"a": 1}',
    '{"a": "\ud800"}',
    "{'a': 1}",
]


@pytest.mark.parametrize("raw", MALFORMED)
def test_malformed_arguments_never_reach_a_provider_twice(raw: str) -> None:
    """Whatever is malformed is sent as an object that holds its text, the same one each time, on every wire."""
    check_malformed(raw)


@pytest.mark.parametrize("raw", ["", " \n"])
def test_arguments_that_never_came_are_an_empty_object(raw: str) -> None:
    """Nothing stays nothing."""
    for name in protocols:
        wire = protocols[name]
        (call,) = wire.past_calls(wire.with_calls(spoilt(name, raw), {}))
        assert as_object(call.call.raw_args) == {}


def check_malformed(raw: str) -> None:
    """On every wire: mended to an object that holds the text; again; and with an object of the caller's."""
    for name in protocols:
        wire, request = protocols[name], spoilt(name, raw)
        before = copy.deepcopy(request)
        (call,) = wire.past_calls(request)
        assert call.call.raw_args == raw
        mended = wire.with_calls(request, {})
        (sent,) = wire.past_calls(mended)
        assert as_object(sent.call.raw_args) == {INVALID: raw.encode(errors="replace").decode().replace("?", "\ufffd")}
        assert json.dumps(wire.with_calls(request, {})) == json.dumps(mended)
        assert wire.with_calls(mended, {}) is mended
        (own,) = wire.past_calls(wire.with_calls(request, {call.key: {"error": "cut off"}}))
        assert as_object(own.call.raw_args) == {"error": "cut off"}
        assert replace(mended, {follow(mended, call.key): None}) == replace(request, {follow(request, call.key): None})
        assert request == before


def as_object(raw: Json) -> Json:
    """Arguments as the value they stand for."""
    return json.loads(raw) if isinstance(raw, str) else raw


def spoilt(name: str, raw: str) -> Json:
    """A request with one call, whose arguments are this text."""
    told = Told(call_id="a", name="read", arguments={}, output="text")
    request = WRITERS[name]([Turn(said="go", calls=(told,))])
    (call,) = protocols[name].past_calls(request)
    return replace(request, {follow(request, call.key): raw})
