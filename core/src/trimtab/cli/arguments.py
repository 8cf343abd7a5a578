"""`trimtab parse-args`: what the lenient parser reads in the arguments of a `compress` call."""

from __future__ import annotations

from attrs import asdict

from trimtab._json import canonical
from trimtab.cli.inputs import read_bytes
from trimtab.cli.options import File, Name
from trimtab.cli.screen import counted, saying
from trimtab.cli.streams import emit, listed
from trimtab.compress import CompressRange, Parsed, explain, parse_compress_args

__all__ = ["parse_args"]


def parse_args(file: File, /, *, call_id: Name = None, json: bool = False, debug: bool = False) -> int:
    """Print the ranges in the arguments of a compress call, and what was wrong with them.

    The input is what the wire carried, however damaged: JSON or what was meant to be JSON, line form, a call envelope.
    Ranges go to standard output, the diagnosis and what a model would be told to standard error. Exits with 1 where
    there is no range.

    Args:
        file: A file, or - for standard input.
        call_id: The call's id, which each range gets.
        json: Print one object with ranges, diagnostics and explanation.
        debug: Show where an error was raised.
    """
    parsed = parse_compress_args(read_bytes(file), call_id=call_id)
    if json:
        data = {**asdict(parsed), "explanation": explain(parsed.diagnostics)}
        emit(f"{canonical(listed(data))}\n")
    else:
        for one in parsed.ranges:
            emit(f"{_line(one)}\n")
        _tell(parsed)
    return 0 if parsed.ranges else 1


def _line(one: CompressRange) -> str:
    topic = f"  {one.topic}" if one.topic else ""
    return f"{one.start_ref} to {one.end_ref}{topic}\n{_indented(one.summary)}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _tell(parsed: Parsed) -> None:
    found = parsed.diagnostics
    style = "green" if found.kind == "ok" and not found.invalid_items else "yellow"
    saying((f"{found.kind}: {counted(len(parsed.ranges), 'range')}", style))
    if found.repairs:
        saying(f"  repaired: {', '.join(found.repairs)}")
    if found.kind != "ok" or found.invalid_items:
        saying(explain(found))
