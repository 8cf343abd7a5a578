"""Trimming as steps: check, find the bulk text, prove renderings, cut, store, and only then hand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from attrs import asdict, evolve, frozen

from trimtab._json import blob_id, canonical, check, refuse_split_pair
from trimtab.budget import Budget, share
from trimtab.codecs.find import Found, find, splice
from trimtab.envelope import Envelope, is_row_shaped
from trimtab.errors import CallerError, UnsupportedOutput
from trimtab.host.engine import Engine, check_budget, holder
from trimtab.host.steps import Steps
from trimtab.marker import HANDLE_DIGITS
from trimtab.restore import LEAST_EXCERPT, claimed_handles, may_hold_rendering, originals, restored, still_bulk
from trimtab.telemetry import Recording, log, span
from trimtab.trim import Trimming, prompt_text, trim, whole
from trimtab.trimmed import Trimmed
from trimtab.types import BlobStore, Call, Json, Owner, TokenCounter

__all__ = ["trim_batch_steps", "trim_steps"]

_ROUNDS = 3


@frozen(kw_only=True)
class _Prepared:
    """An output that was cut and not stored yet."""

    tool: str
    output: Json
    budget: Budget
    counter: TokenCounter
    trimming: Trimming
    reads_back: bool = False
    codec: str = ""
    focus: str | None = None
    error: Exception | None = None


def trim_steps(engine: Engine, call: Call, budget: Budget | None, owner: Owner | None) -> Steps[Trimmed]:
    """Trim one output and store what was moved."""
    held_by = holder(owner)
    check_budget(budget)
    _check_call(call)
    with span("trimtab.trim", {"gen_ai.tool.name": call.tool}) as recording:
        prepared = yield from _prepare(engine, call, budget, held_by)
        trimmed = yield from _store(engine, prepared, held_by)
        _report(recording, trimmed)
        return trimmed


def trim_batch_steps(
    engine: Engine,
    calls: Sequence[Call],
    budget: Budget | None,
    owner: Owner | None,
    *,
    settled: Mapping[int, int | None] = MappingProxyType({}),
) -> Steps[list[Trimmed]]:
    """Trim the outputs that answer one assistant message; above `batch`, the larger ones share it alike.

    `settled`: of outputs that were sent before (by index), the share that they were sent with; it stays.
    """
    held_by = holder(owner)
    check_budget(budget)
    if not isinstance(calls, Sequence):
        raise CallerError(f"a batch is a list of Call(tool, output), not {type(calls).__name__}")
    for call in calls:
        _check_call(call)
    with span("trimtab.trim_batch", {"trimtab.outputs": len(calls)}):
        prepared = []
        for call in calls:
            prepared.append((yield from _prepare(engine, call, budget, held_by)))
        shared = budget or engine.budget()
        shares: dict[int, int | None] = {}
        if shared.batch is not None:
            # What reads back is outside; what failed is whole, whatever the others get.
            sizes: dict[int, int] = {}
            for index, one in enumerate(prepared):
                if not one.reads_back and one.error is None:
                    try:
                        sizes[index] = _counted(one, shared)
                    except Exception as error:  # whatever a plugin's counter raises
                        prepared[index] = evolve(one, error=error)
            part = share([*sizes.values()], shared.batch, shared.least)
            for index, size in sizes.items():
                shares[index] = settled.get(index, part if part and size > part else None)
                if (own := shares[index]) is not None:
                    shared_budget = prepared[index].budget.shared(own)
                    prepared[index] = yield from _prepare(engine, calls[index], shared_budget, held_by)
        results = []
        for index, one in enumerate(prepared):
            with span("trimtab.trim", {"gen_ai.tool.name": one.tool}) as recording:
                trimmed = yield from _store(engine, one, held_by, shares.get(index))
                _report(recording, trimmed)
            results.append(trimmed)
        return results


def _check_call(call: object) -> None:
    """Raises CallerError for what is no call: the caller's mistake, for which no output is to blame."""
    if not isinstance(call, Call):
        raise CallerError(f"a batch is a list of Call(tool, output), not of {type(call).__name__}")
    if not isinstance(call.tool, str):
        raise CallerError(f"the tool's name must be a string, not {call.tool!r:.80}; an unknown one is ''")
    if call.focus is not None and not isinstance(call.focus, str):
        raise CallerError(f'focus must be a string ("" for none), not {call.focus!r:.80}')


def _counted(prepared: _Prepared, budget: Budget) -> int:
    """What a result counts in its batch: its size after its own budget, in the batch's unit, media left out."""
    skeleton = prepared.trimming.skeleton
    payloads = find(prepared.tool, skeleton, ()).media
    text = prompt_text(splice(skeleton, [(one, "") for one in payloads]))
    return len(text) if budget.unit == "chars" else prepared.counter.count(text)


def _prepare(engine: Engine, call: Call, budget: Budget | None, owner: str) -> Steps[_Prepared]:
    """Everything but the store's part; a codec that fails leaves the output whole."""
    policy = engine.policy
    tool, arguments = policy.inner_call(call.tool, call.arguments)
    used = budget or engine.budget(tool)
    counter = engine.counter(used)
    reads_back = policy.is_read_tool(call.tool) or policy.is_read_tool(tool)

    def result(trimming: Trimming, **more: Any) -> _Prepared:
        return _Prepared(tool=call.tool, output=call.output, budget=used, counter=counter, trimming=trimming, **more)

    untouched = Trimming(skeleton=call.output)
    try:
        above, plain, tokens = _measured(call.output, used, counter)
        before = engine.why_whole(owner, call.tool, call.output)
        if before is not None or not (reads_back or (policy.trims() and (above or used.cap is not None))):
            if isinstance(call.output, str):
                refuse_split_pair(call.output)
            return result(untouched, reads_back=reads_back, error=before)
        found = find(tool, call.output, engine.codecs(tool), deep=not reads_back)
        if reads_back:
            return result(whole(call.output, found, policy.reader()), reads_back=True, codec=found.codec)
        focus = call.focus if call.focus is not None else policy.focus_of(tool, arguments)
        shorten = partial(trim, budget=used, counter=counter, reader=policy.reader(), focus=focus or None, plain=plain)
        trimming = shorten(call.output, found, tokens=tokens)
        output = call.output
        for _ in range(_ROUNDS):  # what is put back may be a text of which the output holds a rendering too
            if not (trimming.moved or trimming.over_budget):  # what is within its budget stays, whatever it holds
                break
            original = yield from _original(tool, output, engine, owner, trimming.blobs)
            if original is None:
                break
            output, found = original
            trimming = shorten(output, found)
    except UnsupportedOutput as error:
        if policy.unsupported == "error":
            raise
        return result(untouched, error=error)
    except Exception as error:  # whatever a plugin's codec, counter or store raises
        return result(untouched, reads_back=reads_back, error=error)
    if not trimming.moved:
        trimming = evolve(trimming, skeleton=output)
    return result(trimming, codec=found.codec, focus=focus)


def _measured(output: Json, budget: Budget, counter: TokenCounter) -> tuple[bool, bool, int | None]:
    """Whether an output may be above its limit, whether it is plain (see `check`), its tokens where counted."""
    plain = True
    if isinstance(output, str):
        text = output
    else:
        least, plain = check(output)
        if least > budget.limit and budget.unit == "chars":
            return True, plain, None
        text = canonical(output, plain=plain)
    if budget.unit == "chars":
        return len(text) > budget.limit, plain, None
    tokens = counter.count(text)
    return tokens > budget.limit, plain, tokens


def _original(
    tool: str, output: Json, engine: Engine, owner: str, storing: Mapping[str, str]
) -> Steps[tuple[Json, Found] | None]:
    """The output with the originals in the place of renderings that are proven to be ours; None where there is none.

    A text that is about to be stored counts as held: the same output gives the same bytes now and later.
    """
    reader = engine.policy.reader()
    if reader is None or not may_hold_rendering(output, reader):
        return None
    codecs = engine.codecs(tool)
    found = find(tool, output, codecs, least=LEAST_EXCERPT)
    totals = claimed_handles(found, reader)
    if not totals:
        return None

    def texts(store: BlobStore) -> dict[str, list[tuple[str, str]]]:
        """Texts of the lengths that the markers say; a forged marker has no other one read."""
        known: dict[str, dict[str, str]] = {}
        for one, text in storing.items():
            known.setdefault(one[:HANDLE_DIGITS], {})[one] = text
        for handle, held in store.find(owner, totals).items():
            for one in held:
                if one not in storing and store.size(one).chars in totals[handle]:
                    known.setdefault(handle, {})[one] = store.get(one)
        return {handle: sorted(known.get(handle, {}).items()) for handle in totals}

    proven = originals(found, reader, (yield texts))
    sources = {blob_id(source) for one in proven for source in one.sources()}
    held = frozenset((yield lambda store: store.held(owner, sources)) if sources else ())
    while proven:
        original = restored(output, proven, held)
        found = find(tool, original, codecs)
        bulk = still_bulk(proven, found)
        if len(bulk) == len(proven):
            return original, found
        proven = bulk
    return None


def _store(engine: Engine, prepared: _Prepared, owner: str, share: int | None = None) -> Steps[Trimmed]:
    """Store the moved texts, then hand out; a store that fails leaves the output whole, now and later."""
    error = prepared.error
    trimming = prepared.trimming
    if trimming.moved and error is None:
        # An equal one of its batch may just have failed.
        error = engine.why_whole(owner, prepared.tool, prepared.output)
    if trimming.moved and error is None:
        error = yield from _put(trimming.blobs, owner, prepared.tool)
    if error is not None:
        trimming = Trimming(skeleton=prepared.output)
        if not isinstance(error, UnsupportedOutput):
            engine.stay_whole(owner, prepared.tool, prepared.output, error)
    value = prepared.output if prepared.reads_back else trimming.skeleton
    return Trimmed(
        tool=prepared.tool,
        value=value,
        moved=len(trimming.blobs),
        share=share,
        envelope=lambda: _envelope(prepared, trimming),
        changed=value is not prepared.output and value != prepared.output,
        over_budget=trimming.over_budget,
        error=error,
        explained=lambda: _explained(engine, prepared, trimming),
        output=prepared.output,
        counter=prepared.counter,
    )


def _put(blobs: Mapping[str, str], owner: str, tool: str) -> Steps[Exception | None]:
    """Store texts; None: they are held. What cannot be put may be there from an earlier request, whose bytes stay."""

    def put(store: BlobStore) -> None:
        store.put(blobs, owner=owner)

    try:
        yield put
        return None
    except Exception as error:
        failure = error
    try:
        held: set[str] = yield lambda store: store.held(owner, blobs)
        missing = blobs.keys() - held
    except Exception as error:
        failure.add_note(f"then the store could not say what it holds: {type(error).__name__}: {error!s:.200}")
        return failure
    if missing:
        return failure
    log.warning("%s: a put failed, but its texts are held already: it stays trimmed: %s", tool, failure)
    return None


def _envelope(prepared: _Prepared, trimming: Trimming) -> Envelope | None:
    """What the row holds; an output that looks like a row gets one of its own, so that it is never taken for ours."""
    if trimming.moved:
        return Envelope(tool=prepared.tool, skeleton=trimming.skeleton, refs=trimming.refs)
    if is_row_shaped(trimming.skeleton):
        return Envelope(tool=prepared.tool, skeleton=trimming.skeleton)
    return None


def _explained(engine: Engine, prepared: _Prepared, trimming: Trimming) -> dict[str, Any]:
    return {
        "tool": prepared.tool,
        "codec": prepared.codec or None,
        "focus": prepared.focus or None,
        "budget": engine.describe(prepared.budget),
        "cap": trimming.cap,
        "over_budget": trimming.over_budget,
        "texts": [asdict(one) for one in trimming.kept],
    }


def _report(recording: Recording, trimmed: Trimmed) -> None:
    """One log record and the span's attributes; a failure is a warning and an error on the span."""
    if trimmed.error is not None:
        log.warning("%s: left whole: %s", trimmed.tool, trimmed.error)
        recording.fail(trimmed.error)
        return
    if trimmed.over_budget:
        log.warning("%s: above its budget, and nothing more of it can be moved", trimmed.tool)
    log.debug("%s: %s texts moved, over budget: %s", trimmed.tool, trimmed.moved, trimmed.over_budget)
    recording.set(
        {
            "trimtab.changed": trimmed.changed,
            "trimtab.texts_moved": trimmed.moved,
            "trimtab.over_budget": trimmed.over_budget,
        }
    )
