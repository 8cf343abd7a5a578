"""`trimtab replay`: what trimtab would have sent in a session's place, and what providers' caches make of it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from attrs import asdict, evolve, frozen
from cyclopts import Parameter
from rich.table import Table

from trimtab._json import canonical
from trimtab.cli.inputs import read_conversation
from trimtab.cli.options import Count, File, Name
from trimtab.cli.places import load_policy
from trimtab.cli.screen import console, counted, progress, put, saying, styled, table
from trimtab.cli.streams import emit, listed
from trimtab.compaction.repair import Repair
from trimtab.compaction.settings import FoldSettings
from trimtab.compaction.types import Event
from trimtab.errors import CallerError
from trimtab.host import Host
from trimtab.host.engine import counter_named
from trimtab.replay import Report, Sent, ServeSettings, Session, Totals, rule_for, rule_named, session_of
from trimtab.replay import replay as replayed
from trimtab.replay.drawing import check_can_draw, draw, format_of
from trimtab.replay.generated import generate as generated
from trimtab.replay.serving import Lanes

__all__ = ["FlatHow", "How", "replay"]

_LANES = {"durable": "between turns", "loop": "inside the turn"}
_MENDED = {
    "answered": "calls without a result",
    "left-out": "results without a call",
    "moved": "results that stood elsewhere",
    "opened": "began with the model",
}


@frozen(kw_only=True)
class How:
    """Options of how a session is replayed.

    Args:
        protocol: The wire protocol, such as openai-chat. Default: the one that it looks like; of a made-up session
            anthropic.
        seed: Of a made-up session: another number makes another one. Default: 1.
        untrimmed: Leave tool outputs as they are.
        window: Tokens that the model takes in: from a share of it on, older messages are folded. Default: no folds.
        share: Of the window, from which on a prompt is folded. Default: 0.8.
        reserve: Of the window, tokens that the answer may take (max_tokens). Default: 0.
        cap: Tokens from which on a prompt is folded, whatever the window. Default: only the window counts.
        fold: When messages are folded: between turns (durable), inside a turn (loop), or both. Default: both.
        compress_tool: Name of the compress tool, whose calls are replayed. Default: compress.
        decompress_tool: Name of the decompress tool. Default: decompress.
        counter: Token counter, such as o200k. Default: estimate.
        rule: How the provider caches, such as gpt-5; a wrong name lists them. Default: by the protocol.
        pause: Seconds between requests, after which a cache may have forgotten them. Default: 0.
        policy: Policy file. Default: trimtab.toml in this folder, else [tool.trimtab] in pyproject.toml.
        debug: Show where an error was raised.
    """

    protocol: Name = None
    seed: Count = None
    untrimmed: bool = False
    window: Annotated[int | None, Parameter(metavar="TOKENS")] = None
    share: Annotated[float | None, Parameter(metavar="SHARE")] = None
    reserve: Annotated[int | None, Parameter(metavar="TOKENS")] = None
    cap: Annotated[int | None, Parameter(metavar="TOKENS")] = None
    fold: Annotated[Lanes | None, Parameter(metavar="WHEN")] = None
    compress_tool: Name = None
    decompress_tool: Name = None
    counter: Name = None
    rule: Name = None
    pause: Annotated[float, Parameter(metavar="SECONDS")] = 0.0
    policy: Annotated[str | None, Parameter(metavar="FILE")] = None
    debug: bool = False


FlatHow = Annotated[How | None, Parameter(name="*")]


def replay(
    file: File | None = None,
    /,
    *,
    generate: Annotated[int | None, Parameter(metavar="TURNS")] = None,
    json: bool = False,
    requests: bool = False,
    plot: Annotated[str | None, Parameter(metavar="FILE")] = None,
    how: FlatHow = None,
) -> int:
    """Show what trimtab would have sent in a session's place: sizes, folds, what repeats, and what that costs.

    The session is JSON lines with a request each, in the order in which they were sent; or one conversation (a request
    of any wire protocol, its list of messages, or JSON lines with a message each), in which each answer of the model
    had a request. Nothing is stored and no model is asked. Costs are of input alone, in prices of one token that is not
    cached; caches are taken to forget nothing before their time.

    Args:
        file: A file, or - for standard input.
        generate: Replay a made-up session of so many turns instead of a file.
        json: Print one object.
        requests: Print the requests that would have been sent, one on each line.
        plot: Draw it as well: a file that ends in .png or .svg. Needs trimtab[plot].
    """
    how = how or How()
    if json and requests:
        raise CallerError("--json and --requests print different things: give one of them")
    form = None if plot is None else _form(plot)
    policy, _ = load_policy(how.policy)
    with Host.load("memory:", policy) as host:
        session = _session(file, generate, how, host)
        settings = _settings(how, host)
        rule = rule_for(session.protocol.name) if how.rule is None else rule_named(how.rule)
        with progress("replaying", total=len(session.requests), printing=requests) as tell:

            def told(number: int, sent: Sent) -> None:
                if requests:
                    emit(f"{canonical(sent.request)}\n")
                tell(number)

            report = replayed(session, host, settings, rule=rule, pause=how.pause, on_served=told)
    _warn(report, settings)
    if json:
        emit(f"{canonical(listed(asdict(report)))}\n")
    elif not requests:
        _show(report)
    if plot is not None and form is not None:
        _write(plot, draw(report, form))
        saying((f"drawn in {plot}", "green"))
    return 0


def _session(file: str | None, generate: int | None, how: How, host: Host) -> Session:
    if (file is None) == (generate is None):
        raise CallerError("give a file (- for standard input), or --generate with a number of turns: one of the two")
    if generate is not None:
        return generated(generate, protocol=how.protocol or "anthropic", seed=1 if how.seed is None else how.seed)
    if how.seed is not None:
        raise CallerError("--seed is for sessions that are made up with --generate")
    name = str(file)
    value = read_conversation(name, line="a request or a message")
    return session_of(value, protocol=how.protocol, known=host.protocols, what=name)


def _settings(how: How, host: Host) -> ServeSettings:
    given = _given(share=how.share, reserve=how.reserve, cap=how.cap)
    if how.window is None and (given or how.fold is not None):
        raise CallerError("--share, --reserve, --cap and --fold say how to fold, which needs --window")
    if how.counter is not None:
        given["counter"] = counter_named(how.counter, host.registry.token_counters)
    usual = ServeSettings()
    return ServeSettings(
        trim=not how.untrimmed,
        folds=FoldSettings(windows=how.window, **given),
        lanes=how.fold or usual.lanes,
        compress=evolve(usual.compress, **_given(compress=how.compress_tool, decompress=how.decompress_tool)),
    )


def _given(**options: Any) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _form(plot: str) -> str:
    """The picture's format. What hinders drawing it is said before anything is replayed."""
    form = format_of(plot)
    check_can_draw()
    if not Path(plot).parent.is_dir():
        raise CallerError(f"{plot:.200} cannot be written: there is no such folder")
    return form


def _warn(report: Report, settings: ServeSettings) -> None:
    """Says where the figures tell little, since what was recorded had been trimmed or folded by trimtab."""
    again = {"trimmed": settings.trim, "folded": report.trigger is not None}
    if had := [one for one in report.had if again[one]]:
        saying(
            (f"what was recorded had been {' and '.join(had)} by trimtab, and is so once more: ", "yellow"),
            "the figures tell little; replay the session as it was without trimtab",
        )


def _write(name: str, data: bytes) -> None:
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        raise CallerError(f"{name:.200} cannot be written: {error.strerror or error}") from None


def _show(report: Report) -> None:
    screen = console(sys.stdout)
    right = ("", "messages", "tokens", "sent", "repeats", "read", "written", "cost")
    rows = table("", "messages", "tokens", "sent", "repeats", "read", "written", "cost", "folds, repairs", right=right)
    for one in report.requests:
        served = one.served
        rows.add_row(
            f"{one.number:,}",
            _change(one.raw.messages, served.messages),
            f"{one.raw.tokens:,}",
            f"{served.tokens:,}",
            _share(served.share),
            f"{served.read:,}",
            f"{served.written:,}",
            f"{served.cost:,.0f}",
            ", ".join([*map(_told, one.events), *_mended(one.repairs)]),
        )
    put(screen, rows)
    screen.print()
    put(screen, _both(report))
    screen.print()
    rows = table("cache rule", "for", "cost as recorded", "sent", "saved", right=("cost as recorded", "sent", "saved"))
    for cost in report.costs:
        shown = f"{cost.rule} *" if cost.rule == report.rule else cost.rule
        rows.add_row(shown, cost.about, f"{cost.raw:,.0f}", f"{cost.served:,.0f}", _saved(cost.saved))
    put(screen, rows)
    screen.print()
    fold = "nothing is folded" if report.trigger is None else f"prompts are folded from {report.trigger:,} tokens on"
    lines = f"{counted(len(report.requests), 'request')} of {report.protocol}; tokens by {report.counter}; {fold}"
    screen.print(styled(lines), soft_wrap=True)
    screen.print(
        styled("* read, written and cost above are by this rule; the price of an input token is 1"), soft_wrap=True
    )


def _both(report: Report) -> Table:
    names = ("tokens", "largest request", "begin anew", "read", "written", "cost")
    rows = table("in all", *names, right=names)
    for name, side in (("as recorded", report.raw), ("sent", report.served)):
        rows.add_row(name, *_numbers(side))
    return rows


def _numbers(side: Totals) -> list[str]:
    return [
        f"{side.tokens:,}",
        f"{side.largest:,}",
        f"{side.broken:,}",
        f"{side.read:,}",
        f"{side.written:,}",
        f"{side.cost:,.0f}",
    ]


def _change(raw: int, served: int) -> str:
    return f"{served:,}" if raw == served else f"{raw:,} > {served:,}"


def _share(share: float | None) -> str:
    """Per cent, never rounded up to all of it."""
    if share is None:
        return ""
    return "100 %" if share >= 1 else f"{math.floor(1_000 * share) / 10:.1f} %"


def _saved(share: float) -> str:
    return f"{100 * share:.0f} %"


def _mended(repairs: Sequence[Repair]) -> list[str]:
    """What was amiss in a history: a word each, with how often."""
    return [f"{word}: {many}" for kind, word in _MENDED.items() if (many := sum(one.kind == kind for one in repairs))]


def _told(event: Event) -> str:
    if event.kind == "done":
        still = f" ({event.reason})" if event.reason else ""
        return f"{_LANES[event.lane]}: {event.before:,} > {event.after or 0:,}{still}"
    return f"none {_LANES[event.lane]}: {event.reason}"
