"""`WireContract`: what every wire protocol keeps, as tests that a protocol's own package imports and runs.

from trimtab.testing import WireContract
from my_package import PROTOCOL, REQUEST, RESPONSE, STREAM

class TestMyProtocol(WireContract):
    protocol = PROTOCOL
    requests, responses, streams = [REQUEST], [RESPONSE], [STREAM]
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

import pytest
from hypothesis import given, settings

from trimtab._json import decode
from trimtab.errors import CallerError
from trimtab.pointer import follow, replace
from trimtab.testing.strategies import json_values
from trimtab.types import Json
from trimtab.wire import RawCall, ToolResult, WireProtocol, protocols

__all__ = ["FOREIGN", "WireContract"]

FOREIGN: Final[tuple[Json, ...]] = (
    *(None, True, 0, 1.5, "", "text", [], {}, [[]], [None], [{}], {"": ""}),
    *({name: None} for name in ("messages", "contents", "input", "output", "choices", "candidates", "parts")),
    *({name: "x"} for name in ("messages", "contents", "input", "output", "choices", "candidates", "parts")),
    *({name: {}} for name in ("messages", "contents", "input", "output", "choices", "candidates", "parts")),
    *({name: [1, None]} for name in ("messages", "contents", "input", "output", "choices", "candidates", "parts")),
    {"messages": [None, 1, "x", [], {"role": None}, {"role": ["assistant"], "content": 3}, {"content": [None, 1, []]}]},
    {"messages": [{"role": "assistant", "tool_calls": {}}, {"role": "assistant", "content": [{"type": {}}]}]},
    {"messages": [{"role": "assistant", "tool_calls": [None, 1, {}, {"function": 1}]}, {"role": "tool"}]},
    {"contents": [{"parts": {}}, {"role": "model", "parts": [None, {"functionCall": 1, "functionResponse": []}]}]},
    {"input": [None, 1, {"type": []}, {"type": "function_call"}, {"type": "function_call_output"}]},
)
"""Payloads that are nobody's, or everybody's with something else where a call or a result should be."""

_MARK: Final = "a value that no sample has"


class WireContract:
    """Tests of a wire protocol; derive from it and override `protocol` and samples.

    `protocol`: the protocol, or the name of a built-in one.
    `requests`: valid requests; one at least with two tool results and their calls.
    `responses`: whole responses with tool calls.
    `streams`: streamed responses with tool calls, as the bytes that came.
    """

    protocol: ClassVar[Any] = None
    requests: ClassVar[Sequence[Json]] = ()
    responses: ClassVar[Sequence[Json]] = ()
    streams: ClassVar[Sequence[bytes]] = ()

    @classmethod
    def wire(cls) -> WireProtocol:
        """The protocol under test."""
        found = inspect.getattr_static(cls, "protocol")
        found = protocols[found] if isinstance(found, str) else found
        assert isinstance(found, WireProtocol), f"{cls.__name__}.protocol has not got every method of WireProtocol"
        return found

    def results(self) -> Iterator[tuple[Json, ToolResult]]:
        """Every result of every sample, with its request."""
        for request in self.requests:
            for result in self.wire().tool_results(request):
                yield request, result

    def test_it_has_samples(self) -> None:
        """There is something to test: two results in one request, and a call in each response and stream."""
        assert isinstance(self.wire().name, str)
        assert self.wire().name
        assert any(len(self.wire().tool_results(request)) > 1 for request in self.requests)
        assert self.responses
        assert all(self.wire().tool_calls(response) for response in self.responses)
        assert all(_read(self.wire(), [data]) for data in self.streams)

    def test_it_knows_its_own(self) -> None:
        """Every sample looks like this protocol, by a number from 0 to 1."""
        for payload in (*self.requests, *self.responses):
            assert 0 < self.wire().detect(payload) <= 1

    def test_it_copes_with_everything(self) -> None:
        """A payload of any other shape raises nothing and comes out as the same object."""
        for payload in FOREIGN:
            _touch_nothing(self.wire(), payload)

    def test_it_copes_with_any_json(self) -> None:
        """So does any JSON at all."""
        wire = self.wire()

        @given(payload=json_values())
        @settings(max_examples=50, deadline=None, database=None)
        def check(payload: Json) -> None:
            _touch_nothing(wire, payload)

        check()

    def test_it_keeps_what_it_reads(self) -> None:
        """No method changes a payload, and every one gives the same twice."""
        for payload in (*self.requests, *self.responses):
            before = copy.deepcopy(payload)
            wire = self.wire()
            for method in (wire.tool_results, wire.past_calls, wire.check_pairs, wire.tool_calls):
                assert method(payload) == method(payload)
            values = {one.key: _MARK for one in wire.tool_results(payload)}
            wire.with_results(payload, values)
            wire.with_calls(payload, {one.key: {_MARK: 1} for one in wire.past_calls(payload)})
            assert payload == before

    def test_each_result_has_a_place_of_its_own(self) -> None:
        """Keys are JSON Pointers, and no two results of a request have the same one."""
        for request in self.requests:
            keys = [one.key for one in self.wire().tool_results(request)]
            assert len(set(keys)) == len(keys)
            for key in keys:
                follow(request, key)

    def test_results_answer_calls(self) -> None:
        """Results with the same `message` answer the same message, and `call` is a call of the request."""
        for request in self.requests:
            calls = {one.key: one.call for one in self.wire().past_calls(request)}
            for result in self.wire().tool_results(request):
                if result.call is not None:
                    assert result.call in calls
                    assert result.name == calls[result.call].name or result.name

    def test_unchanged_values_change_nothing(self) -> None:
        """With its own values a request is equal to what it was; with none it is the same object."""
        for request in self.requests:
            values = {one.key: copy.deepcopy(one.value) for one in self.wire().tool_results(request)}
            assert self.wire().with_results(request, values) == request
            assert self.wire().with_results(request, {}) is request

    def test_one_result_is_replaced_and_nothing_else(self) -> None:
        """A new value stands where the old one was; all else of the request is the same."""
        for request, result in self.results():
            new = _other(result.value)
            changed = self.wire().with_results(request, {result.key: new})
            assert [one.value for one in self.wire().tool_results(changed)] == [
                new if one.key == result.key else one.value for one in self.wire().tool_results(request)
            ]
            assert _without(changed, result.key) == _without(request, result.key)
            assert self.wire().with_results(changed, {result.key: result.value}) == request

    def test_a_wrong_key_is_an_error(self) -> None:
        """A key that is no result's, or no call's, is the caller's mistake."""
        for request in self.requests:
            with pytest.raises(CallerError):
                self.wire().with_results(request, {"/no/such/key": "x"})
            with pytest.raises(CallerError):
                self.wire().with_calls(request, {"/no/such/key": {}})

    def test_valid_past_calls_keep_their_bytes(self) -> None:
        """A request whose calls are all valid comes out as the same object."""
        for request in self.requests:
            assert self.wire().with_calls(request, {}) is request

    def test_past_calls_are_replaced_by_objects(self) -> None:
        """A call carries the object that is given for it, and nothing else changes."""
        for request in self.requests:
            past = self.wire().past_calls(request)
            for one in past:
                changed = self.wire().with_calls(request, {one.key: {_MARK: [1]}})
                raw = {found.key: found.call.raw_args for found in self.wire().past_calls(changed)}
                assert _object(raw.pop(one.key)) == {_MARK: [1]}
                assert raw == {other.key: other.call.raw_args for other in past if other.key != one.key}
                assert _without(changed, one.key) == _without(request, one.key)
                assert self.wire().with_calls(changed, {}) is changed

    def test_the_samples_are_paired(self) -> None:
        """A valid request has no result without its call, and no call without its result."""
        for request in self.requests:
            assert self.wire().check_pairs(request) == []

    def test_calls_have_ids_of_their_own(self) -> None:
        """Every call of a response has an id that no other call of it has."""
        for response in self.responses:
            ids = [one.call_id for one in self.wire().tool_calls(response)]
            assert all(ids)
            assert len(set(ids)) == len(ids)

    def test_a_stream_may_be_cut_anywhere(self) -> None:
        """Whole, byte by byte, in uneven pieces and with other line ends, a stream gives the same calls."""
        for data in self.streams:
            whole = _read(self.wire(), [data])
            assert whole == _read(self.wire(), [data[at : at + 1] for at in range(len(data))])
            assert whole == _read(self.wire(), [data[at : at + 7] for at in range(0, len(data), 7)])
            if _is_text(data):
                assert whole == _read(self.wire(), [re.sub(b"\r?\n", b"\r\n", data)])
                assert whole == _read(self.wire(), [data.decode()])

    def test_a_stream_may_end_anywhere(self) -> None:
        """A stream that ends early raises nothing, and no call that lacks a piece passes for complete."""
        for data in self.streams:
            whole = {one.call_id: one for one in _read(self.wire(), [data])}
            for end in range(0, len(data), max(1, len(data) // 200)):
                for one in _read(self.wire(), [data[:end]]):
                    assert not one.complete or one == whole[one.call_id]


def _read(wire: WireProtocol, pieces: Sequence[bytes | str]) -> list[RawCall]:
    stream = wire.stream()
    for piece in pieces:
        stream.feed(piece)
    calls = stream.close()
    assert stream.close() == calls, "closing a stream again must give the same calls"
    return calls


def _touch_nothing(wire: WireProtocol, payload: Json) -> None:
    assert 0 <= wire.detect(payload) <= 1
    before = copy.deepcopy(payload)
    wire.tool_calls(payload)
    wire.check_pairs(payload)
    keys = [one.key for one in wire.tool_results(payload)] + [one.key for one in wire.past_calls(payload)]
    assert len(set(keys)) == len(keys)
    assert wire.with_results(payload, {}) is payload
    changed = wire.with_calls(payload, {})
    assert wire.with_calls(changed, {}) is changed
    if isinstance(payload, dict):
        wire.stream().feed(payload)
    assert payload == before


def _other(value: Json) -> Json:
    """A value of the same type that is not this one."""
    if isinstance(value, list):
        return [*value, copy.deepcopy(value[-1])] if value else [{"type": "text", "text": _MARK}]
    return {**value, _MARK: 1} if isinstance(value, dict) else _MARK


def _without(payload: Json, key: str) -> Json:
    """The payload with nothing where the key points."""
    return replace(payload, {follow(payload, key): None})


def _object(raw: Json) -> Json:
    return decode(raw) if isinstance(raw, str) else raw


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False
