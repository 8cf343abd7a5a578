"""Trimming a provider request as steps: every tool result in it, in batches, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from trimtab._json import decode
from trimtab.budget import Budget
from trimtab.errors import CallerError, UnsupportedOutput
from trimtab.host.engine import Engine, check_budget, fingerprint, holder
from trimtab.host.steps import Steps
from trimtab.host.trimming import trim_batch_steps
from trimtab.telemetry import span
from trimtab.trimmed import Trimmed
from trimtab.types import Call, Json, Owner
from trimtab.wire import RawCall, ToolResult, WireProtocol, detect
from trimtab.wire.guard import Guarded, guarded, is_protocol, protocol_named

__all__ = ["TrimmedRequest", "trim_request_steps"]


@frozen(kw_only=True)
class TrimmedRequest:
    """A provider request whose tool results are trimmed.

    Attributes:
        request: to send: the same object where nothing was trimmed, else a copy on the way to what was.
        results: what became of each result, in the order of the request.
        keys: JSON Pointer of each result's value in the request, in the same order.
        protocol: the name of the wire protocol that the request was read in.
    """

    request: Json = field(repr=False)
    results: tuple[Trimmed, ...]
    keys: tuple[str, ...]
    protocol: str


def trim_request_steps(
    engine: Engine,
    request: Json,
    protocol: str | WireProtocol | None,
    owner: Owner | None,
    budget: Budget | None = None,
) -> Steps[TrimmedRequest]:
    """Trim the results of a request, batch by batch; a batch is what answers one assistant message."""
    held_by = holder(owner)
    check_budget(budget)
    wire = _chosen(engine, request, protocol)
    results = wire.tool_results(request)
    calls = {one.key: one.call for one in wire.past_calls(request)} if results else {}
    batches: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        batches.setdefault(result.message, []).append(index)
    trimmed: dict[int, Trimmed] = {}
    with span("trimtab.trim_request", {"trimtab.outputs": len(results), "trimtab.protocol": wire.name}):
        for indexes in batches.values():
            batch = [results[index] for index in indexes]
            done = yield from _batch_steps(engine, batch, calls, held_by, budget)
            trimmed.update(zip(indexes, done, strict=True))
    values = {results[index].key: one.value for index, one in trimmed.items() if one.changed}
    return TrimmedRequest(
        request=wire.with_results(request, values) if values else request,
        results=tuple(trimmed[index] for index in range(len(results))),
        keys=tuple(one.key for one in results),
        protocol=wire.name,
    )


def _chosen(engine: Engine, request: Json, protocol: str | WireProtocol | None) -> Guarded:
    """The protocol that was named or given, or the one that the request looks like."""
    if protocol is not None and not isinstance(protocol, str) and is_protocol(protocol):
        return guarded(protocol)
    known = engine.registry.wire_protocols
    if protocol is None:
        protocol = detect(request, known)
        if protocol is None:
            raise CallerError(f"the request looks like no wire protocol; name one as protocol=...: {', '.join(known)}")
    return guarded(protocol_named(protocol, known))


def _batch_steps(
    engine: Engine, batch: Sequence[ToolResult], calls: dict[str, RawCall], owner: str, budget: Budget | None
) -> Steps[list[Trimmed]]:
    """Trim what answers one message. Each result keeps the share of its batch that it was first sent with."""
    outputs = [_call(one, calls) for one in batch]
    if (budget or engine.budget()).batch is None:
        done: list[Trimmed] = yield from trim_batch_steps(engine, outputs, budget, owner)
        return done
    keys = [_identity(one, owner) for one in batch]
    settled = {index: engine.first_share(key) for index, key in enumerate(keys) if key and engine.was_sent(key)}
    done = yield from trim_batch_steps(engine, outputs, budget, owner, settled=settled)
    for key, one in zip(keys, done, strict=True):
        if key:
            engine.sent(key, one.share)
    return done


def _call(result: ToolResult, calls: dict[str, RawCall]) -> Call:
    """The result with its call's arguments, which say what its excerpts should answer."""
    call = calls.get(result.call or "")
    arguments = None if call is None else call.raw_args
    if isinstance(arguments, str):
        try:
            arguments = decode(arguments)
        except (ValueError, RecursionError):
            arguments = None  # malformed: there is nothing to answer in it
    return Call(result.name, result.value, arguments=arguments)


def _identity(result: ToolResult, owner: str) -> str | None:
    """Tells a conversation's results apart, wherever they stand; None: the output is not JSON and stays whole."""
    try:
        return fingerprint(f"{owner}\0{result.call_id}\0{result.name}", result.value)
    except UnsupportedOutput:
        return None
