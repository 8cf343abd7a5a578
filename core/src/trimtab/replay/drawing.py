"""A report as a picture: how large each request was and would have been, what of it the cache had, where folds were."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast

from trimtab.errors import CallerError, MissingExtra
from trimtab.replay.report import Report
from trimtab.replay.rules import RULES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMATS", "check_can_draw", "draw", "format_of"]

FORMATS: Final = ("png", "svg")

_INK: Final = "#27313b"
_FAINT: Final = "#8a949e"
_GRID: Final = "#e6e9ec"
_RAW: Final = "#b3bac1"
_CACHED: Final = "#a9d6cf"
_NEW: Final = "#f2a65a"
_LINE: Final = "#0f766e"
_LIMIT: Final = "#b3413b"
_LANES: Final = {"durable": ("v", "fold between turns"), "loop": ("D", "fold inside a turn")}
_DOTS: Final = 144  # per inch
_LARGE: Final = 10_000  # tokens, from which on an axis counts in thousands

_LEGEND: Final[dict[str, Any]] = {"loc": "upper left", "framealpha": 1.0, "edgecolor": "white", "borderaxespad": 0.6}

# What is drawn must not depend on the settings or the fonts of a machine, nor on the moment.
_STYLE: Final[dict[str, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.linewidth": 0.8,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "legend.fontsize": 8.5,
    "svg.hashsalt": "trimtab",
    "text.color": _INK,
    "xtick.color": _FAINT,
    "xtick.labelcolor": _INK,
    "ytick.color": _FAINT,
    "ytick.labelcolor": _INK,
}


def format_of(name: str) -> str:
    """The format that a file's name ends in. Raises CallerError: it is none of `FORMATS`."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending not in FORMATS:
        raise CallerError(f"a picture is written as .png or .svg; {name:.200} ends in neither")
    return ending


def check_can_draw() -> None:
    """Raises MissingExtra: matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("drawing a report", extra="trimtab[plot]")


def draw(report: Report, form: str) -> bytes:
    """The picture, as a file's bytes; the same for the same report, as far as one release of matplotlib goes.

    Args:
        report: of at least one request.
        form: one of `FORMATS`.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    check_can_draw()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        cast(Any, matplotlib.rcParams).update(_STYLE)
        figure = Figure(figsize=(10, 6.6), dpi=_DOTS, layout="constrained", facecolor="white")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
        figure.get_layout_engine().set(h_pad=0.09, hspace=0.04)  # type: ignore[union-attr, call-arg]
        _sizes(above, report)
        _prompts(below, report)
        for axes in (above, below):
            _dress(axes, len(report.requests))
        below.set_xlabel("request")
        kept = io.BytesIO()
        metadata = {"Software": None} if form == "png" else {"Date": None, "Creator": None}
        figure.savefig(kept, format=form, metadata=metadata)
    return kept.getvalue()


def _sizes(axes: Axes, report: Report) -> None:
    """Above: the requests as recorded against those that would have been sent."""
    edges, (raw, served) = _steps(report)
    axes.stairs(raw, edges, fill=True, color=_RAW, alpha=0.55, label="as recorded")
    axes.stairs(raw, edges, color=_FAINT, linewidth=1.0)
    axes.stairs(served, edges, fill=True, color=_LINE, alpha=0.9, label="with trimtab")
    axes.set_ylabel("tokens")
    axes.set_ylim(0, 1.25 * max(1, *raw, *served))
    saved = _less(report.raw.tokens, report.served.tokens)
    axes.set_title(f"Size of each request: {saved} in all", loc="left", fontweight="bold", fontsize=11)
    axes.legend(**_LEGEND, ncols=2)


def _prompts(axes: Axes, report: Report) -> None:
    """Below: what would have been sent, split into what the cache has and what is new, with the folds."""
    edges, (_, served) = _steps(report)
    read = [one.served.read for one in report.requests]
    axes.stairs(served, edges, baseline=read, fill=True, color=_NEW, label="new to the cache")
    axes.stairs(read, edges, fill=True, color=_CACHED, label="read from the cache")
    axes.stairs(served, edges, color=_INK, linewidth=0.9)
    top = float(max(1, *served))
    if report.trigger is not None and report.trigger < 1.6 * top:
        axes.axhline(report.trigger, color=_LIMIT, linewidth=1.0, linestyle=(0, (5, 3)), label="fold from here on")
        top = max(top, report.trigger)
    axes.set_ylim(0, 1.3 * top)
    _folds(axes, report, 1.07 * top)
    axes.set_ylabel("tokens")
    saved = _less(report.raw.cost, report.served.cost)
    about = RULES[report.rule].about if report.rule in RULES else report.rule
    axes.set_title(
        f"With trimtab, and the provider's cache ({about}): input costs {saved}",
        loc="left",
        fontweight="bold",
        fontsize=11,
    )
    axes.legend(**_LEGEND, ncols=5)


def _folds(axes: Axes, report: Report, height: float) -> None:
    for lane, (sign, label) in _LANES.items():
        places = [
            one.number
            for one in report.requests
            if any(event.kind == "done" and event.lane == lane for event in one.events)
        ]
        if not places:
            continue
        axes.vlines(places, 0, height, color=_INK, linewidth=0.7, linestyle=(0, (1, 2)))
        axes.plot(places, [height] * len(places), sign, color=_INK, markersize=5.5, label=label)


def _steps(report: Report) -> tuple[list[float], tuple[list[int], list[int]]]:
    """The edges of the requests' steps, and the tokens of both sides."""
    edges = [at + 0.5 for at in range(len(report.requests) + 1)]
    sides = [one.raw.tokens for one in report.requests], [one.served.tokens for one in report.requests]
    return edges, sides


def _dress(axes: Axes, requests: int) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", color=_GRID, linewidth=0.8)
    axes.set_xlim(0.5, requests + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.yaxis.set_major_formatter(FuncFormatter(_in_thousands if axes.get_ylim()[1] >= _LARGE else _plainly))


def _in_thousands(value: float, _place: object = None) -> str:
    return f"{value / 1_000:,.6g}k" if value else "0"


def _plainly(value: float, _place: object = None) -> str:
    return f"{value:,.6g}"


def _less(before: float, after: float) -> str:
    """By how much something is less, or more."""
    if not before:
        return "no more"
    change = 100 * (after - before) / before
    return f"{abs(change):.0f} % {'less' if change <= 0 else 'more'}"
