"""`trimtab check-codec`: the laws, on a codec and the outputs that its author has."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Final

from cyclopts import Parameter
from rich.table import Table

from trimtab._json import canonical
from trimtab.cli.inputs import read_outputs
from trimtab.cli.options import File
from trimtab.cli.screen import console, counted, progress, put, saying, styled, table
from trimtab.errors import CallerError
from trimtab.testing.laws import LAWS
from trimtab.testing.samples import Finding, check_codec
from trimtab.types import Codec, Json

__all__ = ["check"]

# Samples that get a column of their own, and faults that are written out.
_COLUMNS: Final = 10
_FAULTS: Final = 12

_HOLDS = ("✓", "green")
_BROKEN = ("✗", "bold red")


def check(
    codec: str,
    samples: File,
    /,
    *,
    tool: Annotated[str, Parameter(metavar="NAME")] = "tool",
    json: bool = False,
    debug: bool = False,
) -> int:
    """Check a codec against the laws, on sample outputs of its tool.

    Every law is checked on each sample as it is, and with its bulk texts grown, emptied and made hostile: small samples
    do. These are the checks of `trimtab.testing.CodecContract`. Exits with 1 if a law is broken.

    Args:
        codec: MODULE:NAME of the codec; modules are looked for in this folder too.
        samples: A file with a JSON list of outputs, or one output to a line (.jsonl), or - for standard input.
        tool: The tool's name. Default: tool.
        json: As JSON, for programs: every check that was made.
        debug: Show where an error was raised.
    """
    function = _imported(codec)
    outputs = _samples(samples, function)
    with progress(f"checking {counted(len(outputs), 'sample')}"):
        findings = check_codec(function, outputs, tool=tool)
    broken = [one for one in findings if not one.ok]
    if json:
        sys.stdout.write(f"{canonical([_as_data(one) for one in findings])}\n")
        return 1 if broken else 0
    screen = console(sys.stdout)
    put(screen, _table(findings, len(outputs)))
    screen.print()
    for text, where in _faults(broken):
        screen.print(styled((text, "red"), f" ({where})"), soft_wrap=True)
    if broken:
        if {one.law for one in findings} != set(LAWS):
            saying(("the laws without a mark could not be checked: mend that first", "yellow"))
        saying((f"{counted(len(broken), 'check')} of {len(findings):,} failed", "bold red"))
    else:
        screen.print(styled((f"every law holds: {counted(len(findings), 'check')}", "bold green")))
    return 1 if broken else 0


def _imported(name: str) -> Codec:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise CallerError(f"{name!r:.80} is not MODULE:NAME; write it as in my_package.codecs:jira")
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
        for step in attribute.split("."):
            found = getattr(found, step)
    except Exception as error:
        raise CallerError(f"{name!r:.80} cannot be imported: {type(error).__name__}: {error!s:.300}") from error
    if not callable(found):
        raise CallerError(
            f"{name!r:.80} is of type {type(found).__name__}, not a codec, which is called with an output"
        )
    codec: Codec = found
    return codec


def _samples(name: str, codec: Codec) -> list[Json]:
    outputs = read_outputs(name, "auto")
    if outputs.form == "jsonl":
        return list(outputs.values)
    (value,) = outputs.values
    if not isinstance(value, list):
        return [value]
    if not value:
        raise CallerError(f"{name} is an empty list; give at least one output of the tool")
    if not any(_knows(codec, one) for one in value) and _knows(codec, value):
        saying(("note: the list as a whole has this codec's shape, so it is taken as one sample", "yellow"))
        return [value]
    return value


def _knows(codec: Codec, value: Json) -> bool:
    """Whether the codec points at anything in a value; what it raises is for the checks to report."""
    try:
        return any(True for _ in codec(value) or ())
    except Exception:
        return False


def _number(finding: Finding) -> int | None:
    """Which sample a finding is about; None: all of them."""
    word = finding.sample.removeprefix("sample ").partition(",")[0]
    return int(word) if finding.sample.startswith("sample ") and word.isdecimal() else None


def _table(findings: Sequence[Finding], samples: int) -> Table:
    """Laws by samples: whether each law holds there; of many samples only how many break it."""
    numbers = range(samples) if samples <= _COLUMNS else ()
    made = table("law", "", "checks", *(f"sample {number}" for number in numbers), "holds", right=("checks",))
    for law, name in LAWS.items():
        own = [one for one in findings if one.law == law]
        marks = [_mark([one for one in own if _number(one) == number]) for number in numbers]
        worse = {_number(one) for one in own if not one.ok}
        holds = styled(_mark(own)) if len(worse) < 2 else styled(_BROKEN, f" in {len(worse)} samples")
        made.add_row(str(law), name, f"{len(own):,}", *map(styled, marks), holds)
    return made


def _mark(findings: Sequence[Finding]) -> tuple[str, str]:
    if not findings:
        return ("", "")
    return _HOLDS if all(one.ok for one in findings) else _BROKEN


def _faults(broken: Sequence[Finding]) -> list[tuple[str, str]]:
    """What is wrong, each once, with the first place where it is, and in how many others."""
    places: dict[tuple[int, str], list[str]] = {}
    for one in broken:
        places.setdefault((one.law, one.what or ""), []).append(one.sample)
    told = [
        (f"law {law} ({LAWS[law]}): {what}", where[0] + (f", and {len(where) - 1} more" if where[1:] else ""))
        for (law, what), where in places.items()
    ]
    more = len(told) - _FAULTS
    return told[:_FAULTS] + ([(f"… and {counted(more, 'other fault')}", "--json lists all")] if more > 0 else [])


def _as_data(one: Finding) -> dict[str, Json]:
    return {"law": one.law, "claim": one.claim, "sample": one.sample, "ok": one.ok, "what": one.what}
