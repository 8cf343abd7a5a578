"""How near the token estimate comes on the texts of this machine, and how fast counters and `rank` are."""

from __future__ import annotations

import base64
import gettext
import hashlib
import importlib.metadata
import json
import sysconfig
import time
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from trimtab.focus import rank
from trimtab.tokens import Estimate, Exact

MOST = 300_000
STDLIB = Path(sysconfig.get_path("stdlib"))
LOCALES = Path("/usr/share/locale")
LANGUAGES = {
    "Arabic": "ar",
    "Chinese": "zh_CN",
    "Chinese, traditional": "zh_TW",
    "French": "fr",
    "German": "de",
    "Greek": "el",
    "Hebrew": "he",
    "Hindi": "hi",
    "Japanese": "ja",
    "Korean": "ko",
    "Polish": "pl",
    "Russian": "ru",
    "Spanish": "es",
    "Thai": "th",
    "Turkish": "tr",
    "Ukrainian": "uk",
    "Vietnamese": "vi",
}


def noise(size: int) -> bytes:
    """Bytes without a pattern, the same in each run."""
    return b"".join(hashlib.sha256(n.to_bytes(4, "big")).digest() for n in range(size // 32))


def read(paths: Iterator[Path]) -> str:
    """The first files, joined, up to the most that is counted."""
    text = ""
    for path in paths:
        if len(text) > MOST:
            break
        text += path.read_text(encoding="utf-8", errors="replace")
    return text[:MOST]


@cache
def python() -> str:
    """Sources of the standard library."""
    return read(iter(sorted(STDLIB.glob("[a-m]*.py"))))


@cache
def prose() -> str:
    """Descriptions of the installed packages."""
    bodies = (str(one.metadata.json.get("description", "")) for one in importlib.metadata.distributions())
    return "\n".join(sorted(bodies))[:MOST]


def catalog(language: str) -> str:
    """Translated messages of the machine's programs, of a dozen characters or more."""
    found: list[str] = []
    for path in sorted((LOCALES / language / "LC_MESSAGES").glob("*.mo")):
        if sum(map(len, found)) > MOST:
            break
        with path.open("rb") as file:
            try:
                messages: Mapping[Any, str] = vars(gettext.GNUTranslations(file))["_catalog"]
            except (OSError, UnicodeDecodeError):
                continue
        found += [text for source, text in messages.items() if source and text != source and len(text) > 12]
    return "\n".join(found)[:MOST]


def records() -> list[dict[str, Any]]:
    """Rows as a search or a database gives them."""
    lines = [line for line in prose().split("\n") if len(line) > 30]
    return [
        {
            "id": noise(32 * (n + 1))[-32:].hex()[:12],
            "url": f"https://example.org/{line.split()[0]}/{n * 37}?page={n % 9}",
            "title": line[:40],
            "score": round(1 / (n + 3), 6),
            "updated_at": f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d}T08:{n % 60:02d}:11Z",
            "tags": line.split()[:3],
            "parent": None,
        }
        for n, line in enumerate(islice(lines, 800))
    ]


def log() -> str:
    """Lines as services write them."""
    return "\n".join(
        f"2025-11-{n % 28 + 1:02d} 06:{n % 60:02d}:{n * 7 % 60:02d},{n * 37 % 1000:03d} {('INFO', 'ERROR')[n % 2]} "
        f"[worker-{n % 5}] com.example.{row['title'].split()[0]} - {row['title']} took {n * 13 % 900}ms "
        f"from 10.0.3.{n % 256}"
        for n, row in enumerate(records())
    )


def table() -> str:
    """Columns padded with blanks."""
    return "\n".join(f"{row['title'][:24]:<26}{row['score']:>12}{row['id']:>30}    ok" for row in records())


def kinds() -> dict[str, str]:
    """Texts by kind, those that this machine has."""
    rows = records()
    texts = {
        "English": prose(),
        "Python": python(),
        "compact JSON": json.dumps(rows, separators=(",", ":")),
        "indented JSON": json.dumps(rows, indent=2),
        "log": log(),
        "hex": noise(30_000).hex(),
        "base64": base64.b64encode(noise(30_000)).decode(),
        "urls": "\n".join(row["url"] for row in rows),
        "padded table": table(),
    }
    texts |= {name: catalog(language) for name, language in LANGUAGES.items()}
    return {name: text for name, text in texts.items() if len(text) > 2_000}


def test_calibration(compare: Any) -> None:
    """The estimate against what o200k takes, for each kind of text: 0.9 to 1.25 times as many."""
    pytest.importorskip("splintr")
    true, estimate = Exact("o200k"), Estimate()
    compare.done()
    for name, text in kinds().items():
        tokens = true.count(text)
        value = estimate.count(text) / tokens
        detail = f"{len(text):,} chars, {tokens:,} tokens"
        low = value < 1
        compare.keep(f"estimate of {name}", value, 0.9 if low else 1.25, "x o200k", detail, at_least=low)


def test_speed_of_counters(compare: Any) -> None:
    """The estimate of 1 MB, as MB in a second and against the exact counter."""
    pytest.importorskip("splintr")
    true, estimate = Exact("o200k"), Estimate()
    ascii_text = ((prose() + python()).encode("ascii", "ignore").decode() * 4)[:1_000_000]
    begin = time.perf_counter()
    for _ in range(10):
        estimate.count(ascii_text)
    speed = 10 / (time.perf_counter() - begin)
    compare.done()
    compare.keep("estimate of 1 MB of ASCII", speed, 20, "MB/s", "mean of 10", at_least=True)
    compare.ratio(
        "estimate against o200k", lambda: estimate.count(ascii_text), lambda: true.count(ascii_text), goal=1, rounds=5
    )
    compare.peak("memory of an estimate", lambda: estimate.count(ascii_text), size=len(ascii_text), goal=1)


def test_speed_of_rank(compare: Any) -> None:
    """Passages of 1 MB for a question; ten times the text takes ten times as long."""
    text = ((prose() + python()) * 8)[:1_000_000]
    query = "how does the parser return an error for invalid input"
    compare.seconds("passages of 1 MB", lambda: rank(text, query), goal=150)
    one_line = text.replace("\n", " ")
    compare.seconds("passages of one line of 1 MB", lambda: rank(one_line, query), goal=150)
    compare.ratio(
        "passages of 10 MB against 1 MB", lambda: rank(text * 10, query), lambda: rank(text, query), goal=13, rounds=3
    )
    compare.peak("memory of passages", lambda: rank(text, query), size=len(text), goal=0.25)
