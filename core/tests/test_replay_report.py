"""A replayed session: nothing breaks but at folds, the numbers are the requests', the same comes out each time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import frozen

from trimtab._json import canonical, utf8
from trimtab.compaction.measuring.estimate import Estimator
from trimtab.compaction.settings import FoldSettings
from trimtab.compress import CompressConfig
from trimtab.compress.rebuild import rebuild_state
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.shown import shown
from trimtab.errors import CallerError
from trimtab.host import Host
from trimtab.policy import Policy
from trimtab.replay import RULES, Report, ServeSettings, Session, replay, session_of
from trimtab.replay.generated import generate
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.testing.folds import refused
from trimtab.wire import protocols

# Small outputs are trimmed to small ones, so that long sessions are replayed in little time.
POLICY = Policy(limit=1_000, keep=600)


def folding(window: Any, **more: Any) -> ServeSettings:
    """Settings that fold in a window of so many tokens."""
    return ServeSettings(folds=FoldSettings(windows=window), **more)


FOLDING = folding(12_000)


@frozen
class Done:
    """A report, and the requests that would have been sent."""

    report: Report
    served: list[Any]

    @property
    def folded(self) -> set[int]:
        """Numbers of the requests before which something was folded."""
        return {one.number for one in self.report.requests if any(event.kind == "done" for event in one.events)}

    @property
    def broken(self) -> set[int]:
        """Numbers of the requests that do not begin with all of the one before."""
        return {one.number for one in self.report.requests if one.served.share is not None and one.served.share < 1}


def run(session: Session, settings: ServeSettings | None = None, **more: Any) -> Done:
    """Replay with a new host."""
    served: list[Any] = []
    with Host.load("memory:", POLICY, discover=False) as host:
        report = replay(session, host, settings, on_served=lambda _, one: served.append(one.request), **more)
    return Done(report, served)


def bytes_of(request: Any) -> bytes:
    """What counts for caching, written down once more: tools, system, messages without the closing bracket."""
    outside = [request[key] for key in ("tools", "toolConfig") if key in request]
    outside += [request[key] for key in ("system", "systemInstruction", "instructions") if key in request]
    (messages,) = (request[key] for key in ("messages", "contents", "input") if key in request)
    return utf8("".join(map(canonical, outside)) + canonical(messages)[:-1])


@pytest.mark.parametrize("name", sorted(protocols))
def test_without_folds_each_request_begins_with_the_one_before(name: str) -> None:
    """In every protocol, with tool outputs really trimmed: the share is exactly 1, in the report and in the bytes."""
    done = run(generate(12, protocol=name, size=0.1))
    assert done.report.served.tokens < 0.9 * done.report.raw.tokens
    assert done.broken == set()
    assert done.report.raw.broken == 0
    for before, after in zip(done.served, done.served[1:], strict=False):
        assert bytes_of(after).startswith(bytes_of(before))


def breaks_only_at_folds(name: str, seed: int) -> None:
    """A session of 50 turns, trimmed anew in each request: with no folds it never breaks; with folds only there."""
    session = generate(50, protocol=name, seed=seed, size=0.05)
    plain, done = run(session), run(session, folding(24_000))
    assert plain.report.served.tokens < 0.9 * plain.report.raw.tokens
    assert (plain.broken, plain.folded) == (set(), set())
    assert done.broken <= done.folded
    assert 0 < len(done.folded) <= len(done.served) // 10
    trigger, sizes = done.report.trigger or 0, [one.served.tokens for one in plain.report.requests]
    for at in range(1, len(done.served)):
        one, before = done.report.requests[at], done.report.requests[at - 1]
        assert refused(name, session.shape.place(done.served[at])[1]) == []
        assert one.number in done.folded or bytes_of(done.served[at]).startswith(bytes_of(done.served[at - 1]))
        if [event.lane for event in one.events] == ["loop"]:
            assert before.served.tokens + sizes[at] - sizes[at - 1] > trigger


def test_a_long_session_breaks_only_at_folds() -> None:
    """One of the many below."""
    breaks_only_at_folds("anthropic", 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 21))
@pytest.mark.parametrize("name", sorted(protocols))
def test_long_sessions_break_only_at_folds(name: str, seed: int) -> None:
    """Twenty sessions for each protocol."""
    breaks_only_at_folds(name, seed)


@pytest.mark.parametrize("lanes", ["both", "durable", "loop"])
@pytest.mark.parametrize("name", sorted(protocols))
def test_with_folds_it_breaks_only_there(name: str, lanes: Any) -> None:
    """There are folds; a request that does not begin with the one before comes right after one."""
    done = run(generate(12, protocol=name, size=0.1), folding(12_000, lanes=lanes))
    assert done.folded
    assert done.broken <= done.folded
    kinds = {event.lane for one in done.report.requests for event in one.events}
    assert kinds <= ({"durable", "loop"} if lanes == "both" else {lanes})
    for request in done.served:
        assert protocols[name].check_pairs(request) == []


@pytest.mark.parametrize("name", sorted(protocols))
@pytest.mark.parametrize("settings", [None, FOLDING])
def test_the_numbers_are_those_of_the_requests(name: str, settings: ServeSettings | None) -> None:
    """Sizes, shares and tokens, counted once more from the requests themselves."""
    session = generate(6, protocol=name, size=0.1)
    done = run(session, settings)
    for side, requests in (("raw", session.requests), ("served", done.served)):
        before = b""
        for one, request in zip(done.report.requests, requests, strict=True):
            found, data = getattr(one, side), bytes_of(request)
            natives = session.shape.place(request)[1]
            assert found.messages == len(natives)
            assert found.bytes == len(data)
            assert found.chars == len(data.decode("utf-8", "surrogatepass"))
            shared = next((at for at, (x, y) in enumerate(zip(before, data, strict=False)) if x != y), len(before))
            assert found.shared == shared
            assert found.share == (shared / len(before) if before else None)
            estimator = Estimator((settings or ServeSettings()).folds_of(request))
            assert found.tokens == estimator.beside + estimator.messages(session.shape.read(list(natives)))
            before = data


@pytest.mark.parametrize("side", ["raw", "served"])
def test_totals_are_sums(side: str) -> None:
    """What is said of all requests is the sum, or the largest, of what is said of each."""
    report = run(generate(6, size=0.1), FOLDING).report
    each, total = [getattr(one, side) for one in report.requests], getattr(report, side)
    for name in ("tokens", "chars", "read", "written"):
        assert getattr(total, name) == sum(getattr(one, name) for one in each)
    assert total.cost == pytest.approx(sum(one.cost for one in each))
    assert total.largest == max(one.tokens for one in each)
    assert total.broken == sum(one.share is not None and one.share < 1 for one in each)
    (cost,) = [one for one in report.costs if one.rule == report.rule]
    assert getattr(cost, side) == pytest.approx(total.cost)


@pytest.mark.parametrize("rule", list(RULES))
def test_a_session_without_folds_costs_what_the_formula_says(rule: str) -> None:
    """Each request reads all of the one before, if that was large enough to be kept, and writes what is new."""
    done = run(generate(8, size=0.1), rule=RULES[rule])
    how, before = RULES[rule], 0
    for one in done.report.requests:
        tokens = one.served.tokens
        kept = tokens // how.step * how.step if tokens >= how.least else 0
        assert (one.served.read, one.served.written) == (before, kept - before)
        assert one.served.cost == pytest.approx(before * how.read + (kept - before) * how.write + tokens - kept)
        before = kept
    assert done.report.rule == rule


def test_a_replay_changes_nothing_and_can_be_repeated() -> None:
    """The same session gives the same report and the same bytes; what was recorded is not touched."""
    session = generate(6, size=0.1)
    kept = copy.deepcopy(session.requests)
    first, second = run(session, FOLDING), run(session, FOLDING)
    assert first.report == second.report
    assert list(map(canonical, first.served)) == list(map(canonical, second.served))
    assert session.requests == kept


def test_nothing_done_sends_the_same_requests() -> None:
    """Neither trimmed nor folded: the very objects, and nothing is saved."""
    session = generate(3, size=0.1)
    done = run(session, ServeSettings(trim=False))
    assert all(one is other for one, other in zip(done.served, session.requests, strict=True))
    assert done.report.raw == done.report.served
    assert {cost.saved for cost in done.report.costs} == {0.0}


def test_a_recorded_session_is_as_good_as_a_conversation() -> None:
    """Requests that were recorded one by one, as JSON, give the report that the conversation gives."""
    conversation = generate(5, size=0.1)
    recorded = session_of(copy.deepcopy(list(conversation.requests)))
    assert not recorded.derived
    assert run(recorded, FOLDING).report == run(conversation, FOLDING).report


def test_a_history_that_was_changed_is_served_anew() -> None:
    """An application that rewrites its history breaks its cache; what trimtab folded before is not put before it."""
    session = generate(6, size=0.1)
    last = session.requests[-1]
    edited = {**last, "messages": [{"role": "user", "content": "something else"}, *last["messages"][1:]]}
    done = run(session_of([*session.requests, edited]), FOLDING)
    assert len(done.report.requests) in done.broken
    assert "something else" in canonical(done.served[-1]) or len(done.report.requests) in done.folded


LONG = "a line of an output\n" * 100
SUMMARY = "The files were read; none of them names the parser. " * 3
FOLD = {"content": [{"startId": "m00001", "endId": "m00006", "summary": SUMMARY, "topic": "files"}]}


def compressing() -> Iterator[Turn]:
    """A conversation whose model folds the files that it has read."""
    for number in range(6):
        told = Told(call_id=f"r{number}", name="read", arguments={}, output=LONG)
        yield Turn(said=f"go {number}", calls=(told,))
    yield Turn(said="fold it", calls=(Told(call_id="c1", name="compress", arguments=FOLD, output="Compressed:\n- b1"),))
    yield Turn(said="and now?")
    yield Turn(said="well?")


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_compress_calls_are_replayed(name: str) -> None:
    """What is sent is what a compress session shows; it breaks once, where the model folds."""
    whole = WRITERS[name](list(compressing()))
    session = session_of(whole, protocol=name)
    done = run(session, ServeSettings(trim=False))
    config = CompressConfig()
    last = session.requests[-1]
    now = Conversation.read(session.shape, last)
    expected = session.shape.write(last, shown(rebuild_state(last, config, protocol=name), now, config))
    assert done.served[-1] == expected
    assert done.report.requests[-1].served.tokens < done.report.requests[-1].raw.tokens
    assert len(done.broken) == 1
    other = run(session, ServeSettings(trim=False, compress=CompressConfig(compress="squeeze")))
    assert other.served[-1] == last


def long_compressing() -> Iterator[Turn]:
    """A conversation whose model folds some of the files that it has read, and reads more."""
    for number in range(16):
        told = Told(call_id=f"r{number}", name="read", arguments={}, output=f"line of file {number}\n" * 300)
        yield Turn(said=f"go {number}", calls=(told,))
        yield Turn(said="and?", calls=())
        if number == 5:
            yield Turn(said="fold it", calls=(Told(call_id="c1", name="compress", arguments=FOLD, output="Done"),))


# Where roles alternate, results and what the user says next are one message here, at which no fold may begin.
@pytest.mark.parametrize("name", sorted(set(WRITERS) - {"bedrock", "gemini"}))
def test_folds_after_compress_calls_name_what_was_omitted(name: str) -> None:
    """Texts that the model did not fold itself are listed in the summary row; there is no list of none."""
    session = session_of(WRITERS[name](list(long_compressing())), protocol=name)
    done = run(session, folding(5_000, lanes="durable"))
    assert done.folded
    assert canonical(done.served[-1]).count("to be read in full with fs_read: read trimtab:") == 1
    whole = run(session, folding(5_000, lanes="durable", trim=False))
    assert whole.folded
    assert "to be read in full" not in canonical(whole.served[-1])


@pytest.mark.parametrize("pause", [float("nan"), float("inf"), -1.0])
def test_a_pause_that_is_none_is_refused(pause: float) -> None:
    """Before anything is replayed."""
    with pytest.raises(CallerError, match="pause is a number of seconds from 0"):
        run(generate(1, size=0.1), pause=pause)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_what_trimtab_had_sent_is_told(name: str) -> None:
    """Of requests that were trimmed, or folded, between turns or inside one, it is said; of others not."""
    session = generate(12, protocol=name, size=0.1)
    assert run(session).report.had == ()
    trimmed = session_of(run(session).served, protocol=name)
    assert run(trimmed).report.had == ("trimmed",)
    for lanes in ("durable", "loop"):
        folded = run(session, folding(12_000, lanes=lanes, trim=False)).served
        assert run(session_of(folded, protocol=name)).report.had == ("folded",)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"folds": FoldSettings(windows=0)}, "a window of 0 tokens leaves no room"),
        ({"folds": FoldSettings(windows=5)}, "a window of 5 tokens leaves no room"),
        ({"folds": FoldSettings(windows=[-100_000, None])}, "a window of -100000 tokens leaves no room"),
        ({"lanes": "all"}, "lanes must be one of both, durable, loop"),
    ],
)
def test_settings_that_cannot_be_kept_are_refused(settings: dict[str, Any], complaint: str) -> None:
    """A window without room, a lane that is not there."""
    with pytest.raises(CallerError, match=complaint):
        ServeSettings(**settings)
