"""The summarizers `openai` and `anthropic`, against a server on loopback that speaks their protocols."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from trimtab.compaction import SummaryRequest
from trimtab.compaction.asking.calling import arun, ask, run
from trimtab.compaction.summarizers import (
    AnthropicSummarizer,
    ChainSummarizer,
    ExtractiveSummarizer,
    OpenAISummarizer,
)
from trimtab.compaction.summarizers.instructions import SYSTEM, prompt_of
from trimtab.errors import CallerError, MissingExtra, SummaryFailed
from trimtab.testing import SummarizerContract
from trimtab.testing.vendors import Server, serving, spoken
from trimtab.tokens import Estimate

GOOD = "The user asked for the invoice of order A-4711, and it was sent to billing@example.com on 3 May."
MAKERS: dict[str, Callable[..., Any]] = {"openai": OpenAISummarizer, "anthropic": AnthropicSummarizer}
VENDORS = tuple(MAKERS)
COUNT = Estimate().count


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on loopback."""
    with serving() as made:
        yield made


def summarizer(vendor: str, server: Server, **options: Any) -> Any:
    """A summarizer of the vendor's that asks the server."""
    pytest.importorskip(vendor)
    url = f"{server.url}/v1" if vendor == "openai" else server.url
    return MAKERS[vendor](model="small-1", base_url=url, api_key="k", **options)


def request(history: str = "User: go", prior: str | None = None) -> SummaryRequest:
    """A request."""
    return SummaryRequest(history=history, prior=prior, budget=300, count=COUNT)


def asked(one: Any, seconds: float | None = None) -> str:
    """What a request comes to: by a sync client in a sync fold, by an async one in an async fold."""
    if not one.is_async:
        try:
            return run(ask(request()), one, seconds)
        finally:
            one.close()

    async def main() -> str:
        try:
            return await arun(ask(request()), one, seconds)
        finally:
            await one.close()

    return asyncio.run(main())


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_request_is_what_the_vendor_takes(vendor: str, is_async: bool, server: Server) -> None:
    """One request: the model, the task last, as many tokens as are taken at most, the application's own options."""
    server.replies = [(200, spoken(vendor, GOOD))]
    assert asked(summarizer(vendor, server, is_async=is_async, options={"temperature": 0})) == GOOD
    ((path, body),) = server.seen
    assert path == ("/v1/chat/completions" if vendor == "openai" else "/v1/messages")
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("small-1", 600, 0)
    assert body["messages"][-1] == {"role": "user", "content": prompt_of(request())}
    assert (body["messages"][0]["content"] if vendor == "openai" else body["system"]) == SYSTEM
    assert "tools" not in body


BAD: dict[str, Callable[[str], tuple[int, str]]] = {
    "a fault of the server's": lambda vendor: (500, '{"error": {"message": "overloaded"}}'),
    "a fault with a page": lambda vendor: (502, "<html>bad gateway</html>"),
    "no JSON": lambda vendor: (200, '{"id": "c", "choi'),
    "JSON of another kind": lambda vendor: (200, "[1, 2]"),
    "an object with nothing": lambda vendor: (200, "{}"),
    "nothing said": lambda vendor: (200, spoken(vendor, None)),
    "an empty text": lambda vendor: (200, spoken(vendor, "")),
    "a refusal in words": lambda vendor: (
        200,
        spoken(vendor, "I'm sorry, but I can't help with that request of yours."),
    ),
    "a refusal by the vendor": lambda vendor: (
        200,
        spoken(vendor, GOOD, "content_filter" if vendor == "openai" else "refusal"),
    ),
    "far too much": lambda vendor: (200, spoken(vendor, "word " * 9_000)),
    "too many requests": lambda vendor: (429, '{"error": {"message": "slow down"}}'),
    "a key that is not known": lambda vendor: (401, '{"error": {"message": "no such key"}}'),
}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_bad_response_is_asked_for_once_more(vendor: str, name: str, is_async: bool, server: Server) -> None:
    """After one bad response a good one counts; after two the fold fails. The library does not try again by itself."""
    server.replies = [BAD[name](vendor), (200, spoken(vendor, GOOD))]
    assert asked(summarizer(vendor, server, is_async=is_async)) == GOOD
    assert len(server.seen) == 2
    server.replies = [BAD[name](vendor)]
    with pytest.raises(SummaryFailed):
        asked(summarizer(vendor, server, is_async=is_async))
    assert len(server.seen) == 4


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_slow_server_is_not_waited_for(vendor: str, is_async: bool, server: Server) -> None:
    """With a time limit a server that does not answer fails the fold; without one there is none."""
    server.replies = [(200, spoken(vendor, GOOD))]
    server.held = threading.Event()
    one = summarizer(vendor, server, is_async=is_async)
    with pytest.raises(SummaryFailed, match="no summary within"):
        asked(one, 0.05)
    server.held.set()
    for thread in threading.enumerate():
        if thread.name == "trimtab-summarizer":
            thread.join()


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_chain_falls_back(vendor: str, server: Server) -> None:
    """Behind a server that fails stands the summarizer that needs none."""
    server.replies = [(500, "")]
    one = summarizer(vendor, server)
    history = "User: Please refund order A-4711 to the customer.\n\nAssistant: Order A-4711 is refunded: 42.50 euros."
    chain = ChainSummarizer(links=[one, ExtractiveSummarizer()])
    summary = run(ask(request(history)), chain, None)
    assert "A-4711" in summary
    assert len(server.seen) == 1
    one.close()


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_applications_own_client_is_used_and_left_open(vendor: str, server: Server) -> None:
    """With `client` the application says how to ask; closing the summarizer does not close it."""
    library = pytest.importorskip(vendor)
    server.replies = [(200, spoken(vendor, GOOD))]
    make = library.OpenAI if vendor == "openai" else library.Anthropic
    with make(api_key="k", base_url=f"{server.url}/v1" if vendor == "openai" else server.url) as client:
        one = MAKERS[vendor](model="m", client=client)
        assert one(request()) == GOOD
        assert one.close() is None
        assert one(request()) == GOOD


def test_what_openai_refuses_with_is_no_text(server: Server) -> None:
    """A refusal in a field of its own is no summary."""
    server.replies = [(200, spoken("openai", None, refusal=GOOD))]
    with pytest.raises(SummaryFailed):
        asked(summarizer("openai", server))


def test_the_field_for_the_length_can_be_named(server: Server) -> None:
    """Models that take `max_completion_tokens` are asked by that."""
    server.replies = [(200, spoken("openai", GOOD))]
    asked(summarizer("openai", server, limit_field="max_completion_tokens"))
    assert server.seen[0][1]["max_completion_tokens"] == 600
    assert "max_tokens" not in server.seen[0][1]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_window_is_given_or_known(vendor: str, server: Server) -> None:
    """`window` says how many tokens a model takes in; else its name does, where it is known."""
    known = {"openai": ("gpt-4o-mini", 128_000), "anthropic": ("claude-sonnet-4-5", 200_000)}[vendor]
    one = summarizer(vendor, server)
    assert one.window is None
    other = MAKERS[vendor](model=known[0], client=one.client or object())
    assert other.window == known[1]
    assert MAKERS[vendor](model=known[0], client=object(), window=9_000).window == 9_000
    one.close()


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_missing_library_is_named(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the factory says what to install."""
    monkeypatch.setitem(sys.modules, vendor, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'trimtab\[{vendor}\]'"):
        MAKERS[vendor](model="m")


def test_a_missing_key_is_the_callers_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the library makes no client without a key, it is said what to pass."""
    pytest.importorskip("openai")
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CallerError, match="pass api_key, base_url or client"):
        OpenAISummarizer(model="m")
    with pytest.raises(CallerError, match="pass api_key or client"):
        OpenAISummarizer(model="m", base_url=7)  # type: ignore[arg-type]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_local_server_needs_no_key(
    vendor: str, is_async: bool, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a `base_url` and no key anywhere one is sent that is none; a key of the environment goes before it."""
    pytest.importorskip(vendor)
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    server.replies = [(200, spoken(vendor, GOOD))]
    url = f"{server.url}/v1" if vendor == "openai" else server.url
    assert asked(MAKERS[vendor](model="m", base_url=url, is_async=is_async)) == GOOD
    monkeypatch.setenv(f"{vendor.upper()}_API_KEY", "key-of-the-environment")
    made = MAKERS[vendor](model="m", base_url=url, is_async=is_async)
    assert made._asked.api_key == "key-of-the-environment"


class _Contract(SummarizerContract):
    vendor: ClassVar[str]
    huge: ClassVar[int] = 100_000

    @pytest.fixture(autouse=True)
    def _ask_the_server(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        def answer(path: str, body: dict[str, Any]) -> str:
            said = body["messages"][-1]["content"]
            prior = said.partition(">\n")[2].partition("\n</earlier")[0] if said.startswith("<earlier") else None
            history = said.partition("<conversation-")[2].partition(">\n")[2].rpartition("\n</conversation-")[0]
            made = SummaryRequest(history=history, prior=prior, budget=body["max_tokens"] // 2, count=COUNT)
            return spoken(self.vendor, f"<analysis>hm</analysis>\n<summary>{ExtractiveSummarizer()(made)}</summary>")

        server.answer = answer
        one = summarizer(self.vendor, server)
        monkeypatch.setattr(type(self), "summarizer", one)
        yield
        one.close()


class TestOpenAI(_Contract):
    """The summarizer `openai` keeps the contract, with a model that does."""

    vendor = "openai"


class TestAnthropic(_Contract):
    """So does `anthropic`."""

    vendor = "anthropic"
