"""What a run of the demo shows: as tables for a person, or as one JSON object."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from trimtab.cli.demo.agent import Outcome
from trimtab.cli.demo.citing import Cited
from trimtab.cli.demo.evidence import BLOBS, DATABASE, POLICY, Evidence, sources_of
from trimtab.cli.demo.laws import Checked
from trimtab.cli.demo.screen import Screen, Table
from trimtab.testing.independent import refs_of
from trimtab.types import Json

__all__ = ["Report", "show"]


@frozen(kw_only=True)
class Report:
    """A run: what happened, the answers by question, their citations in the same order, and the laws as checked."""

    evidence: Evidence
    answers: Mapping[str, str]
    citations: Sequence[Cited]
    laws: Sequence[Checked]

    @property
    def faults(self) -> list[str]:
        """Everything that broke, in words."""
        unknown = [name for one in self.citations for name in one.unknown]
        return [
            *(f"law {one.law}, {one.name}: {fault}" for one in self.laws for fault in one.faults),
            *(f"citations: an answer cites {name!r}, which no output has" for name in unknown),
        ]

    @property
    def ok(self) -> bool:
        """Whether everything held."""
        return not self.faults


def show(report: Report, *, as_json: bool, kept: Path | None) -> None:
    """Print a run to standard output."""
    if as_json:
        print(json.dumps(_as_data(report, kept), indent=2))
        return
    screen = Screen()
    screen.paragraph(
        "An agent's tools return more than its model needs to see. trimtab shortens what the model is sent, keeps the "
        "full text in a store, and the model reads back what it misses. Here the tools and their input are real (pages "
        f"on loopback, files of Python {platform.python_version()}); the model is a script."
    )
    screen.paragraph("")
    for question, answer in report.answers.items():
        screen.said("user", question)
        screen.said("model", answer)
    screen.table(_outputs(report))
    if marker := _marker(report):
        screen.said("a gap:", marker, style="")
    screen.table(_requests(report))
    screen.table(_laws(report))
    screen.paragraph("")
    for fault in report.faults:
        screen.said("BROKEN", fault, style="bold red")
    screen.verdict(_verdict(report), good=report.ok)
    if kept is not None:
        screen.paragraph(f"Kept in {kept}: {DATABASE} (messages and rows) and {BLOBS} (full texts).")


def _outputs(report: Report) -> Table:
    host = report.evidence.host
    rows = []
    asking = {batch: number for number, batch in enumerate(_batches(report), start=1)}
    for one in report.evidence.outcomes:
        before, after = (_identity(sources_of(host, value)) for value in (one.output, one.trimmed.row))
        rows.append(
            [
                str(asking[one.batch]),
                one.tool,
                _asked(one, report.evidence.secret_id),
                f"{one.trimmed.sizes.before:,}",
                f"{one.trimmed.sizes.after:,}",
                "-" if not before else f"{before} = {after}" if before == after else f"{before} > {after}",
                str(len(refs_of(one.trimmed.row)) or "-"),
            ]
        )
    return Table(
        title="Tool outputs",
        about="chars; ids, urls and titles before = after; texts stored",
        heads=[">step", "tool", "asked for", ">before", ">after", ">ids kept", ">stored"],
        rows=rows,
        total=["", "", "", f"{_given(report):,}", f"{_seen(report):,}", "", ""],
    )


def _requests(report: Report) -> Table:
    """One column for each request, and one for all."""
    requests = report.evidence.requests
    bytes_before = [0, *(len(one.body) for one in requests)]
    parts = [
        f"{100 * one.shared / before:.1f}" if before else "-"
        for one, before in zip(requests, bytes_before, strict=False)
    ]
    sent, shared, untrimmed = _totals(report)
    return Table(
        title="Requests to the model",
        about="kB; what repeats is in a provider's prompt cache",
        heads=["step", *(f">{number}" for number in range(1, len(requests) + 1)), ">all"],
        rows=[
            ["sent", *(_kb(len(one.body)) for one in requests), _kb(sent)],
            ["repeated", *(_kb(one.shared) for one in requests), _kb(shared)],
            ["% of last", *parts, ""],
            ["untrimmed", *(_kb(one.untrimmed) for one in requests), _kb(untrimmed)],
        ],
    )


def _laws(report: Report) -> Table:
    rows = [[str(one.law), one.name, "BROKEN" if one.faults else "ok", one.said] for one in report.laws]
    names = [title for one in report.citations for title in one.known]
    unknown = any(one.unknown for one in report.citations)
    rows.append(
        [
            "",
            "citations",
            "BROKEN" if unknown else "ok",
            f"all given by a tool: {'; '.join(names)}",
        ]
    )
    return Table(title="Laws", about="checked on everything above", heads=[">law", "name", "", "how"], rows=rows)


def _verdict(report: Report) -> str:
    if not report.ok:
        return f"{len(report.faults)} broken; see above."
    sent, shared, untrimmed = _totals(report)
    return (
        f"All laws hold. Sent {_kb(sent)} kB instead of {_kb(untrimmed)} ({100 * sent / untrimmed:.0f} %); "
        f"{100 * shared / sent:.0f} % of it repeated."
    )


def _as_data(report: Report, kept: Path | None) -> Json:
    host = report.evidence.host
    sent, shared, untrimmed = _totals(report)
    return {
        "ok": report.ok,
        "faults": report.faults,
        "python": platform.python_version(),
        "kept": None if kept is None else str(kept),
        "budget": {"limit": POLICY.limit, "keep": POLICY.keep, "batch": POLICY.batch, "unit": POLICY.unit},
        "answers": [
            {"question": question, "answer": answer, "cited": list(one.known), "unknown": list(one.unknown)}
            for (question, answer), one in zip(report.answers.items(), report.citations, strict=True)
        ],
        "outputs": [
            {
                "call": one.call_id,
                "tool": one.tool,
                "arguments": one.arguments,
                "chars_before": one.trimmed.sizes.before,
                "chars_after": one.trimmed.sizes.after,
                "ids_before": _identity(sources_of(host, one.output)),
                "ids_after": _identity(sources_of(host, one.trimmed.row)),
                "stored": len(refs_of(one.trimmed.row)),
                "row_chars": len(one.trimmed.row_text),
            }
            for one in report.evidence.outcomes
        ],
        "requests": [
            {"bytes": len(one.body), "shared": one.shared, "untrimmed": one.untrimmed}
            for one in report.evidence.requests
        ],
        "totals": {"bytes": sent, "shared": shared, "untrimmed": untrimmed},
        "laws": [{"law": one.law, "name": one.name, "ok": not one.faults, "how": one.said} for one in report.laws],
    }


def _marker(report: Report) -> str:
    """The line that stands in the largest output's place, or in that of its largest text."""
    largest = max(report.evidence.outcomes, key=lambda one: one.trimmed.sizes.before)
    handles = [f"trimtab:{ref['blobId'][:16]}>" for ref in refs_of(largest.trimmed.row)]
    lines = largest.trimmed.text.replace("\\n", "\n").split("\n")
    return next((line for line in lines if line.startswith("<omitted") and line.endswith(tuple(handles))), "")


def _batches(report: Report) -> list[int]:
    return list(dict.fromkeys(one.batch for one in report.evidence.outcomes))


def _identity(sources: Sequence[tuple[str, str, str]]) -> int:
    """How many ids, urls and titles these are."""
    return sum(bool(name) for source in sources for name in source)


def _given(report: Report) -> int:
    return sum(one.trimmed.sizes.before for one in report.evidence.outcomes)


def _seen(report: Report) -> int:
    return sum(one.trimmed.sizes.after for one in report.evidence.outcomes)


def _totals(report: Report) -> tuple[int, int, int]:
    """Bytes sent, bytes of them that the request before began with, bytes that would have been sent untrimmed."""
    requests = report.evidence.requests
    return (
        sum(len(one.body) for one in requests),
        sum(one.shared for one in requests),
        sum(one.untrimmed for one in requests),
    )


def _kb(size: int) -> str:
    """Thousands of bytes."""
    return f"{size / 1000:,.1f}"


def _asked(one: Outcome, secret_id: str) -> str:
    """What a call asked for, in a word or two."""
    said = one.arguments
    place = str(said.get("path") or said.get("filename") or "").rsplit("/", 1)[-1]
    if place == f"trimtab:{secret_id[:16]}":
        return "a forged handle"
    if place.startswith("trimtab:"):
        place = "omitted text"
    if "pattern" in said:
        text = f"{place}: {said['pattern'].split()[0]}"
    elif "line" in said:
        text = f"{place}: line {said['line']}"
    else:
        text = str(next(iter(said.values()), "")).rsplit("/", 1)[-1]
    return text if len(text) <= 24 else f"{text[:22]}.."
