"""Replays a session: what each request was, what trimtab would have sent in its place, what that costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from attrs import field, frozen

from trimtab.compaction.repair import Repair
from trimtab.compaction.types import Event
from trimtab.errors import CallerError
from trimtab.host import Host
from trimtab.replay.caching import Cached, cached
from trimtab.replay.measuring import Meter, Prompt, shared_bytes
from trimtab.replay.rules import RULES, CacheRule, rule_for
from trimtab.replay.serving import Sent, Server, ServeSettings
from trimtab.replay.sessions import Had, Session, had

__all__ = ["Cost", "Replayed", "Report", "Side", "Totals", "replay"]


@frozen(kw_only=True)
class Side:
    """One request, as it was recorded or as it would have been sent.

    Attributes:
        messages, chars, tokens: its size. Chars are those of its canonical JSON, media included; tokens are the texts',
            with a fixed number for each medium.
        bytes: that count for caching: tools, system, messages without the closing bracket of their list.
        shared: with so many bytes it begins as the request before.
        share: that as a share of the request before, 0 to 1; None for the first.
        read, written: tokens that the provider's cache gives and takes, by the report's rule.
        cost: of its input, in prices of one token that is not cached.
    """

    messages: int
    chars: int
    tokens: int
    bytes: int
    shared: int
    share: float | None
    read: int
    written: int
    cost: float


@frozen(kw_only=True)
class Replayed:
    """One request of the session.

    Attributes:
        number: from 1.
        events: folds that were due before it.
        repairs: what was amiss in its history, and mended when it was folded or might have been.
    """

    number: int
    raw: Side
    served: Side
    events: tuple[Event, ...]
    repairs: tuple[Repair, ...]


@frozen(kw_only=True)
class Totals:
    """The whole session on one side.

    Attributes:
        tokens, chars: of all requests.
        largest: tokens of the largest request.
        broken: requests that do not begin with all of the one before.
        read, written, cost: by the report's rule.
    """

    tokens: int
    chars: int
    largest: int
    broken: int
    read: int
    written: int
    cost: float


@frozen(kw_only=True)
class Cost:
    """What all requests cost by one provider's rule. `saved`: the share of `raw` that is saved; it may be below 0."""

    rule: str
    about: str
    raw: float
    served: float
    saved: float


@frozen(kw_only=True)
class Report:
    """A session, replayed.

    Attributes:
        protocol: its name.
        rule: the name of the rule by which requests are shown.
        window, trigger: tokens that the model takes in, and from which a prompt is folded; None: nothing is folded.
        counter: the name of the token counter.
        requests: in order.
        raw, served: the totals.
        costs: by every rule.
        had: what trimtab had done to the requests as recorded; it is done once more, and what is saved tells little.
    """

    protocol: str
    rule: str
    window: int | None
    trigger: int | None
    counter: str
    requests: tuple[Replayed, ...] = field(repr=False)
    raw: Totals
    served: Totals
    costs: tuple[Cost, ...]
    had: tuple[Had, ...]


def replay(
    session: Session,
    host: Host,
    settings: ServeSettings | None = None,
    *,
    rule: CacheRule | None = None,
    pause: float = 0.0,
    on_served: Callable[[int, Sent], None] | None = None,
) -> Report:
    """Replay a session. The same session, host policy and settings give the same report.

    Args:
        session: what was sent.
        host: trims the tool outputs; its store takes the texts. A host that has seen nothing yet.
        settings: None: tool outputs are trimmed, nothing is folded.
        rule: by which requests are shown; None: the one that fits the protocol. All rules are in the totals.
        pause: seconds between two requests: caches forget.
        on_served: is told the number, from 1, and the request that would have been sent, as it is made.

    Raises:
        CallerError: `pause` is no number of seconds.
        TrimtabError: as `Host.trim_request`; a request cannot be read.
    """
    if not isinstance(pause, int | float) or isinstance(pause, bool) or not math.isfinite(pause) or pause < 0:
        raise CallerError(f"pause is a number of seconds from 0, not {pause!r:.80}")
    settings = ServeSettings() if settings is None else settings
    rule = rule_for(session.protocol.name) if rule is None else rule
    folds = settings.folds
    meters = Meter(session.shape, folds), Meter(session.shape, folds)
    server = Server(host, session, settings)
    raw: list[Prompt] = []
    made: list[Prompt] = []
    told: list[tuple[tuple[Event, ...], tuple[Repair, ...]]] = []
    for number, request in enumerate(session.requests, 1):
        sent = server.serve(request)
        raw.append(meters[0].prompt(request))
        made.append(meters[1].prompt(sent.request))
        told.append((sent.events, sent.repairs))
        if on_served is not None:
            on_served(number, sent)
    played = {
        one.name: [list(cached(prompts, one, pause=pause)) for prompts in (raw, made)]
        for one in (*RULES.values(), rule)
    }
    shown = played[rule.name]
    sides = [_sides(prompts, caches) for prompts, caches in zip((raw, made), shown, strict=True)]
    budgets = folds.budgets()
    return Report(
        protocol=session.protocol.name,
        rule=rule.name,
        window=None if budgets is None else budgets.window,
        trigger=None if budgets is None else budgets.trigger,
        counter=folds.counter.name,
        requests=tuple(
            Replayed(number=number, raw=one, served=other, events=events, repairs=repairs)
            for number, (one, other, (events, repairs)) in enumerate(zip(*sides, told, strict=True), 1)
        ),
        raw=_totals(sides[0], shown[0]),
        served=_totals(sides[1], shown[1]),
        costs=tuple(_cost(one, *played[one.name]) for one in RULES.values()),
        had=had(session),
    )


def _sides(prompts: Sequence[Prompt], caches: Sequence[Cached]) -> list[Side]:
    sides = []
    before: Prompt | None = None
    for prompt, cache in zip(prompts, caches, strict=True):
        shared = 0 if before is None else shared_bytes(before, prompt)
        sides.append(
            Side(
                messages=prompt.messages,
                chars=prompt.chars,
                tokens=prompt.tokens,
                bytes=prompt.size,
                shared=shared,
                share=None if before is None else shared / before.size,
                read=cache.read,
                written=cache.written,
                cost=_rounded(cache.cost),
            )
        )
        before = prompt
    return sides


def _totals(sides: Sequence[Side], caches: Sequence[Cached]) -> Totals:
    return Totals(
        tokens=sum(one.tokens for one in sides),
        chars=sum(one.chars for one in sides),
        largest=max((one.tokens for one in sides), default=0),
        broken=sum(one.share is not None and one.share < 1 for one in sides),
        read=sum(one.read for one in sides),
        written=sum(one.written for one in sides),
        cost=_rounded(sum(one.cost for one in caches)),
    )


def _cost(rule: CacheRule, raw: Sequence[Cached], made: Sequence[Cached]) -> Cost:
    before, after = (sum(one.cost for one in caches) for caches in (raw, made))
    return Cost(
        rule=rule.name,
        about=rule.about,
        raw=_rounded(before),
        served=_rounded(after),
        saved=round(1 - after / before, 6) if before else 0.0,
    )


def _rounded(cost: float) -> float:
    """Prices are hundredths of a token's: more digits are those of floating point."""
    return round(cost, 4)
