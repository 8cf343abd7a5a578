"""What reading compress arguments costs: strict ones against decoding, damaged ones against two JSON repairers.

The recorded cases come from the folder in `TRIMTAB_CASES`; without it the damaged calls are made up here.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fast_json_repair
import json_repair
import msgspec
import pytest

from trimtab.compress import parse_compress_args
from trimtab.lenient import loads

SENTENCE = "Traced the retry bug to a stale lock file in the worker pool, then ran all 14 checks again. "


def entries(count: int, sentences: int) -> list[dict[str, str]]:
    """So many valid entries."""
    return [
        {"startRef": f"m{10 * i:05d}", "endRef": f"m{10 * i + 9:05d}", "summary": f"{i}: " + SENTENCE * sentences}
        for i in range(count)
    ]


def compact(call: Any) -> str:
    """A call as text."""
    return json.dumps(call, separators=(",", ":"))


STRICT = compact({"content": entries(9, 2)})
LONG = {"content": entries(60, 3)}
TEXT = compact(LONG)

DAMAGES: dict[str, str] = {
    "cut": TEXT[:-40],
    "single quotes": repr(LONG),
    "trailing commas": TEXT.replace('"}', '",}'),
    "unquoted keys": TEXT.replace('"startRef":', "startRef:")
    .replace('"endRef":', "endRef:")
    .replace('"summary":', "summary:"),
    "raw line breaks": TEXT.replace(", then", ",\nthen"),
    "inner quotes": TEXT.replace("stale lock", '"stale lock"'),
    "bad escapes": TEXT.replace("stale lock", r"stale\_lock"),
    "missing commas": TEXT.replace("},{", "}\n{"),
    "missing braces": TEXT.replace('"},{', '",{'),
    "comments": TEXT.replace("},{", "}, // next\n{"),
    "smart quotes": TEXT.replace('"summary":"', '"summary":“').replace(' "}', " ”}"),
}

HOSTILE = (
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "“",
    "\n",
    "\\",
    "`",
    "{'",
    '{"',
    '[{"',
    '"}',
    '",',
    '{"a":',
    "/*",
    "<think>",
    "=",
)


def damaged_cases() -> list[str]:
    """The recorded texts that are no strict JSON, or made-up ones."""
    folder = Path(os.environ.get("TRIMTAB_CASES") or Path(__file__).resolve().parent.parent.parent / "shared")
    name = "compress-args.jsonl"
    paths = [path for path in (folder / name, folder / "cases" / name) if path.is_file()]
    if not paths:
        call = compact({"content": entries(2, 1)})
        return [
            call[:-40],
            call.replace('"}', '",}'),
            call.replace("stale lock", '"stale lock"'),
            call.replace('"', "'"),
        ]
    lines = paths[0].read_text(encoding="utf-8").split("\n")
    texts = [case["input"] for case in map(json.loads, filter(None, lines)) if isinstance(case["input"], str)]
    return [text for text in texts if not is_strict(text) and "[" * 100 not in text]


def is_strict(text: str) -> bool:
    """Whether msgspec reads it."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def fastest(*works: Callable[[], Any], rounds: int) -> list[float]:
    """Seconds of each one's fastest run, all in turn, so that a slow moment of the machine meets all."""
    least = [float("inf")] * len(works)
    for _ in range(rounds):
        for place, work in enumerate(works):
            begin = time.perf_counter()
            work()
            least[place] = min(least[place], time.perf_counter() - begin)
    return least


def test_strict(compare: Any) -> None:
    """A strict call of 2 kB costs at most two decodes and 20 microseconds."""
    ours, decode = fastest(lambda: parse_compress_args(STRICT), lambda: msgspec.json.decode(STRICT), rounds=3_000)
    compare.done()
    goal = 2 * decode * 1e6 + 20
    compare.keep(
        f"strict call of {len(STRICT)} chars", ours * 1e6, round(goal, 1), "us", f"decode {decode * 1e6:.1f} us"
    )


def test_damaged_corpus(compare: Any) -> None:
    """Small damaged calls, each against the pure Python repairer: the median of how many times as fast."""
    read, parsed = [], []
    for text in damaged_cases():
        ours, whole, theirs = fastest(
            lambda text=text: loads(text),
            lambda text=text: parse_compress_args(text),
            lambda text=text: json_repair.loads(text),
            rounds=60,
        )
        read.append(theirs / ours)
        parsed.append(theirs / whole)
    compare.done()
    detail = f"{len(read)} texts, against json_repair"
    compare.keep("damaged corpus, loads, median", statistics.median(read), 3, "x", detail, at_least=True)
    compare.keep("damaged corpus, parsed to ranges, median", statistics.median(parsed), 3, "x", detail, at_least=True)


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_and_long(compare: Any, name: str) -> None:
    """A long damaged call against both repairers."""
    text = DAMAGES[name]
    assert len(text) > 10_000
    ours, whole, rust = fastest(
        lambda: loads(text), lambda: parse_compress_args(text), lambda: fast_json_repair.loads(text), rounds=40
    )
    (python,) = fastest(lambda: json_repair.loads(text), rounds=3)
    found = len(parse_compress_args(text).ranges)
    compare.done()
    compare.keep(f"long, {name}: against Python", python / whole, 4, "x", f"{found} ranges", at_least=True)
    compare.keep(f"long, {name}: against Rust", ours / rust, 4, "x", f"parsed to ranges {whole / rust:.1f} x")


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile(compare: Any, unit: str) -> None:
    """A megabyte of one mark, alone and inside a summary."""
    text = (unit * 1_000_000)[:1_000_000]
    inside = f'{{"content":[{{"startRef":"m1","endRef":"m2","summary":"{text}'[:1_000_000]
    slowest = max(fastest(lambda: parse_compress_args(text), lambda: parse_compress_args(inside), rounds=1))
    compare.done()
    compare.keep(f"1 MB of {unit!r}", slowest * 1e3, 1_500, "ms", "the slower of alone and in a summary")
