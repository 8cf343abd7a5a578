"""What a trim costs, against hashing the same text; and how it grows."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any

import msgspec
import pytest

from trimtab import Budget, Host

PROSE = 'The quick <b>brown</b> fox; jumps over: the "lazy" dog, naturally.\n'
PAGE = (PROSE * 16_000)[:1_000_000]
RESULTS = [
    {
        "id": f"r-{i}",
        "url": f"https://example.org/{i}",
        "title": f"Result {i}",
        "content": f"{i} {PAGE[:20_000]}"[:20_000],
    }
    for i in range(50)
]
RESULTS_TEXT = json.dumps(RESULTS)


@pytest.fixture(scope="module")
def host() -> Any:
    """A host with everything that is installed, and texts in memory."""
    with Host.load(store="memory:") as loaded:
        yield loaded


def sha256(text: str) -> str:
    """The measure: hashing the text once."""
    return hashlib.sha256(text.encode()).hexdigest()


def test_page(compare: Any, host: Host) -> None:
    """One page of 1 MB, as a string and as the object that a fetch tool gives."""
    page = {"url": "https://example.org/", "title": "Page", "content": PAGE}
    compare.ratio("page of 1 MB", lambda: host.trim("web_fetch", PAGE), lambda: sha256(PAGE), goal=2)
    compare.ratio("page of 1 MB in an object", lambda: host.trim("web_fetch", page), lambda: sha256(PAGE), goal=2)


def test_results(compare: Any, host: Host) -> None:
    """50 results of 20 kB, as a list and as JSON text."""
    texts = "".join(one["content"] for one in RESULTS)
    compare.ratio("50 results of 20 kB", lambda: host.trim("web_search", RESULTS), lambda: sha256(texts), goal=3)
    source = RESULTS_TEXT.encode()

    def base() -> None:
        msgspec.json.encode(msgspec.json.decode(source))
        sha256(texts)

    compare.ratio("the same as JSON text", lambda: host.trim("web_search", RESULTS_TEXT), base, goal=2.5)


def test_under_limit(compare: Any, host: Host) -> None:
    """An output under the limit costs its measuring."""
    small = [{**one, "content": one["content"][:300]} for one in RESULTS[:40]]

    def base() -> int:
        return len(json.dumps(small, ensure_ascii=False, separators=(",", ":")))

    compare.ratio("under the limit, against json.dumps", lambda: host.trim("web_search", small), base, goal=2)


def test_growth(compare: Any, host: Host) -> None:
    """100 MB take at most about ten times what 10 MB take."""

    def once(text: str) -> float:
        begin = time.perf_counter()
        host.trim("web_fetch", text)
        return time.perf_counter() - begin

    ten, hundred = PAGE * 10, PAGE * 100
    ratio = min(once(hundred) for _ in range(3)) / min(once(ten) for _ in range(3))
    compare.keep("100 MB against 10 MB", ratio, 11, "x", "a page")
    compare.done()


def test_memory(compare: Any, host: Host) -> None:
    """Memory beyond the input, at its peak."""
    page = PAGE * 20
    compare.peak("memory, page of 20 MB", lambda: host.trim("web_fetch", page), size=len(page), goal=2.5)
    han = "漢字かな交じり文。\n" * 800_000
    size = len(han.encode())
    compare.peak("memory, page of 22 MB of Japanese", lambda: host.trim("web_fetch", han), size=size, goal=2.5)
    text = json.dumps([{"content": page}], ensure_ascii=False)
    compare.peak("memory, the page as JSON text", lambda: host.trim("web_fetch", text), size=len(text), goal=2.5)
    text = json.dumps([{"content": han}], ensure_ascii=False)
    size = len(text.encode())
    compare.peak("memory, the Japanese as JSON text", lambda: host.trim("web_fetch", text), size=size, goal=2.5)


def test_tokens(compare: Any, host: Host) -> None:
    """A budget in tokens costs its counting."""
    budget = Budget(unit="tokens", limit=5_000, keep=3_000)
    counter = host.registry.token_counters["estimate"]()
    compare.ratio(
        "page of 1 MB by tokens, against counting it",
        lambda: host.trim("web_fetch", PAGE, budget=budget),
        lambda: counter.count(PAGE),
        goal=2,
        rounds=8,
    )


def test_focus(compare: Any, host: Host) -> None:
    """Passages that answer a query in a page of 1 MB."""
    compare.seconds(
        "page of 1 MB with a focus", lambda: host.trim("web_fetch", PAGE, focus="lazy dog naturally"), goal=200
    )
