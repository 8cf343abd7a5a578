"""Vendors' summarizers, and wrong servers, keys and addresses: nothing secret is told, and what helps is."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from trimtab.compaction import DurableCompactor, FoldSettings, Row, SummaryRequest
from trimtab.compaction.asking.calling import ask as fold
from trimtab.compaction.asking.calling import run
from trimtab.compaction.summarizers import AnthropicSummarizer, ChainSummarizer, OpenAISummarizer
from trimtab.errors import CallerError, SummaryFailed
from trimtab.testing.vendors import Server, serving, spoken
from trimtab.tokens import Estimate

GOOD = "The user asked for the invoice of order A-4711, and it was sent to billing@example.com on 3 May."
MAKERS: dict[str, Callable[..., Any]] = {"openai": OpenAISummarizer, "anthropic": AnthropicSummarizer}
KEY = "sk-live-0123456789abcdefghij"
PRIVATE = "User: nobody else may read this sentence. "
REQUEST = SummaryRequest(history=PRIVATE * 100, prior=None, budget=300, count=Estimate().count)
BOTH = pytest.mark.parametrize("is_async", [False, True])
EACH = pytest.mark.parametrize("vendor", list(MAKERS))


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on loopback."""
    with serving() as made:
        yield made


def made(vendor: str, server: Server | None, **options: Any) -> Any:
    """A summarizer of the vendor's that asks the server."""
    pytest.importorskip(vendor)
    if server is not None:
        options.setdefault("base_url", f"{server.url}/v1" if vendor == "openai" else server.url)
    return MAKERS[vendor](model="small-1", **{"api_key": KEY, **options})


def reply(one: Any, request: SummaryRequest = REQUEST) -> Any:
    """What it replies, sync or async."""

    async def later() -> Any:
        return await one(request)

    return asyncio.run(later()) if one.is_async else one(request)


TOLD: dict[str, tuple[int, str, str]] = {
    "a server that repeats the key": (401, f"no such key: {KEY}", r"AuthenticationError: .*no such key: …"),
    "one that repeats the request": (400, PRIVATE * 1_000, "BadRequestError: .*nobody else"),
    "an error in a response that is none": (200, f"overloaded ({KEY})", r"replied with an error: .*overloaded \(…\)"),
    "too many requests": (429, "slow down", "RateLimitError: .*slow down"),
    "a server's fault": (500, "out of memory", "InternalServerError: .*out of memory"),
}


@BOTH
@EACH
@pytest.mark.parametrize("name", TOLD)
def test_an_error_tells_no_secret(vendor: str, is_async: bool, name: str, server: Server) -> None:
    """What the server says is told in a few words; no key, no history, in no traceback either."""
    status, said, words = TOLD[name]
    server.replies = [(status, json.dumps({"error": {"message": said, "type": "x"}}))]
    with pytest.raises(SummaryFailed, match=words) as raised:
        reply(made(vendor, server, is_async=is_async))
    whole = "".join(traceback.format_exception(raised.value))
    assert KEY not in whole
    assert whole.count("nobody else") < 10


@EACH
def test_what_is_logged_and_told_of_a_fold_has_no_secret(
    vendor: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor has the event of a fold, nor the log."""
    server.replies = [(400, json.dumps({"error": {"message": f"{KEY} {PRIVATE * 500}"}}))]
    caplog.set_level(logging.DEBUG, "trimtab")
    messages = [
        {"role": "user" if number % 2 == 0 else "assistant", "content": f"{number} {PRIVATE * 40}"}
        for number in range(11)
    ]
    rows = [Row(id=str(number), messages=[one]) for number, one in enumerate(messages)]
    one = made(vendor, server, window=50_000)
    served = DurableCompactor("openai-chat", FoldSettings(windows=5_000), one).serve(rows)
    assert served.event is not None
    assert served.event.kind == "skipped"
    assert "BadRequestError" in served.event.reason
    for text in (served.event.reason, caplog.text):
        assert KEY not in text
        assert text.count("nobody else") < 20
    assert served.messages == messages


@EACH
@pytest.mark.parametrize("key", [f"{KEY}\n", f" {KEY}", f"{KEY}é", "sk-\x00"])
def test_a_key_that_cannot_be_sent_is_refused_when_it_is_given(
    vendor: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an option and in the environment; the message does not quote it."""
    with pytest.raises(CallerError, match=f"key for {vendor} has a char in it that cannot be sent") as raised:
        made(vendor, None, api_key=key)
    assert "sk-" not in str(raised.value)
    if "\0" not in key:
        monkeypatch.setenv(f"{vendor.upper()}_API_KEY", key)
        with pytest.raises(CallerError, match="cannot be sent"):
            made(vendor, None, api_key=None)


@EACH
def test_nothing_secret_stands_in_its_repr(vendor: str) -> None:
    """Neither the key nor an address with a password."""
    one = made(vendor, None, base_url="http://me:password@127.0.0.1:9", options={"user": "me-too"})
    assert "small-1" in repr(one)
    assert not any(secret in repr(one) for secret in (KEY, "password", "me-too"))
    one.close()


ADDRESSES: dict[str, tuple[str, str, str]] = {
    "openai without v1": ("openai", "", "the path was /chat/completions, see base_url"),
    "anthropic with v1": ("anthropic", "/v1", "the path was /v1/v1/messages, see base_url"),
    "anthropic with v1 and a slash": ("anthropic", "/v1/", "the path was /v1/v1/messages, see base_url"),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_wrong_address_is_told(name: str, server: Server) -> None:
    """Where the server knows no such path, the path is told."""
    vendor, tail, words = ADDRESSES[name]
    server.replies = [(404, '{"error": {"message": "no such thing"}}')]
    with pytest.raises(SummaryFailed, match=words):
        reply(made(vendor, server, base_url=server.url + tail))


@EACH
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:1", "ConnectError: .*onnect"),
        ("127.0.0.1:1", "UnsupportedProtocol: .*http://"),
        ("ftp://127.0.0.1:1", "UnsupportedProtocol: .*ftp://"),
    ],
)
def test_no_connection_says_why(vendor: str, url: str, words: str) -> None:
    """The library says "Connection error." alone; what is behind it is told too."""
    with pytest.raises(SummaryFailed, match=words):
        reply(made(vendor, None, base_url=url))


@BOTH
@EACH
def test_what_cannot_be_sent_is_replaced(vendor: str, is_async: bool, server: Server) -> None:
    """Lone surrogates and NULs in the history do not reach the library; everything else does, in every script."""
    server.replies = [(200, spoken(vendor, GOOD))]
    request = SummaryRequest(history="User: ü 日本 👩‍👩‍👧 \ud800\0.", prior="\udfff", budget=300, count=REQUEST.count)
    assert reply(made(vendor, server, is_async=is_async), request) == GOOD
    assert "User: ü 日本 👩‍👩‍👧 \ufffd\ufffd." in server.seen[0][1]["messages"][-1]["content"]


READ: dict[str, tuple[str, str, str | None]] = {
    "parts": ("openai", spoken("openai", [{"type": "text", "text": GOOD}]), GOOD),
    "thoughts beside": ("openai", spoken("openai", GOOD, reasoning_content="hm " * 50), GOOD),
    "thoughts alone": ("openai", spoken("openai", None, "length", reasoning_content="hm " * 50), None),
    "stopped at the length": ("openai", spoken("openai", GOOD, "length"), GOOD),
    "a call": ("openai", spoken("openai", None, "tool_calls", tool_calls=[]), None),
    "no choices": ("openai", '{"id": "c", "choices": []}', None),
    "null": ("openai", '{"id": "c", "choices": null}', None),
    "no content": ("anthropic", '{"id": "m", "type": "message", "content": null}', None),
    "stopped at the length too": ("anthropic", spoken("anthropic", GOOD, "max_tokens"), GOOD),
    "thinking": (
        "anthropic",
        json.dumps(
            {
                **json.loads(spoken("anthropic", GOOD)),
                "content": [
                    {"type": "thinking", "thinking": "hm " * 50, "signature": "c2ln"},
                    {"type": "redacted_thinking", "data": "RW1w"},
                    {"type": "text", "text": GOOD},
                ],
            }
        ),
        GOOD,
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_said_is_read(name: str, server: Server) -> None:
    """Text alone: no thoughts, no calls; None where there is none."""
    vendor, body, text = READ[name]
    server.replies = [(200, body)]
    assert reply(made(vendor, server)) == text


@EACH
def test_an_async_one_lives_through_many_loops(vendor: str, server: Server) -> None:
    """Turn after turn may have an event loop of its own."""
    server.replies = [(200, spoken(vendor, GOOD))]
    one = made(vendor, server, is_async=True)
    assert [reply(one) for _ in range(3)] == [GOOD] * 3


@EACH
def test_one_that_is_closed_fails(vendor: str, server: Server) -> None:
    """A closed client asks nobody, and says that it is closed."""
    server.replies = [(200, spoken(vendor, GOOD))]
    one = made(vendor, server)
    one.close()
    with pytest.raises(SummaryFailed, match="closed"):
        reply(one)
    assert server.seen == []


@EACH
@pytest.mark.parametrize("is_chained", [False, True])
def test_a_cancelled_turn_ends_the_request(vendor: str, is_chained: bool, server: Server) -> None:
    """When the caller is cancelled while the response is read, the connection is closed, and no other link is asked."""
    server.replies = [(200, spoken(vendor, GOOD))]
    server.dripping = True
    one = made(vendor, server, is_async=True)
    others: list[SummaryRequest] = []

    def other(request: SummaryRequest) -> str:
        others.append(request)
        return GOOD

    async def replied(asked: Any) -> Any:
        return await asked(REQUEST)

    async def main() -> None:
        asked = ChainSummarizer(links=[one, other]) if is_chained else one
        task = asyncio.create_task(replied(asked))
        assert await asyncio.to_thread(server.asked.wait, 10)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert await asyncio.to_thread(server.left.wait, 10)

    asyncio.run(main())
    assert others == []


@EACH
def test_a_response_that_does_not_end_is_not_waited_for(vendor: str, server: Server) -> None:
    """A link's time limit counts to the last byte, not the first; then the next link is asked."""
    server.replies = [(200, spoken(vendor, GOOD))]
    server.dripping = True
    chain = ChainSummarizer(links=[made(vendor, server, is_async=True), lambda request: GOOD], timeout=0.05)

    async def main() -> str:
        summary = chain(REQUEST)
        assert not isinstance(summary, str)
        return await summary

    assert asyncio.run(main()) == GOOD
    assert server.left.wait(10)


def test_chains_in_chains_tell_of_each_link() -> None:
    """Sync or async, the reason at the end names what was wrong with each link of each chain, hanging ones too."""
    release = threading.Event()

    def first(request: SummaryRequest) -> str:
        raise ValueError("no " + "x" * 500)

    def second(request: SummaryRequest) -> str:
        raise asyncio.CancelledError

    def third(request: SummaryRequest) -> Any:
        release.wait()

    def fourth(request: SummaryRequest) -> Any:
        return first

    chain = ChainSummarizer(links=[first, ChainSummarizer(links=[second, third, fourth], timeout=0.01)])
    with pytest.raises(SummaryFailed) as raised:
        run(fold(REQUEST), chain, None)
    release.set()
    for words in (
        "first: ValueError: no x",
        "second: it was cancelled",
        "third: TimeoutError: no summary within 0.01 s",
    ):
        assert words in str(raised.value)
    assert "fourth: it gave function, which is no text; a factory is called first" in str(raised.value)


def test_what_is_no_chain_is_refused() -> None:
    """A name, a class, a number, and a time limit that is none: each is said."""
    for links, words in (
        (["extractive"], r"'extractive' is a name, and no link; host\.summarizer"),
        ("extractive", "is a name, and no link"),
        ([OpenAISummarizer], "functions of a SummaryRequest, not <class"),
        ([5], "functions of a SummaryRequest, not 5"),
        ([], "one summarizer or more"),
    ):
        with pytest.raises(CallerError, match=words):
            ChainSummarizer(links=links)  # type: ignore[arg-type]
    with pytest.raises(CallerError, match="timeout is a number of seconds"):
        ChainSummarizer(links=[lambda request: GOOD], timeout=0)


def test_what_is_no_summarizer_is_refused() -> None:
    """A compactor takes neither names nor classes, and says what to do instead; a factory shows when it is asked."""
    settings = FoldSettings(windows=5_000)
    for given, words in (
        ("openai", r"host\.summarizer\('openai'\) makes one by its name"),
        (OpenAISummarizer, "not a class: call OpenAISummarizer with its options"),
        (5, "not int"),
    ):
        with pytest.raises(CallerError, match=words):
            DurableCompactor("openai-chat", settings, given)  # type: ignore[arg-type]
    rows = [
        Row(id=str(number), messages=[{"role": "assistant" if number % 2 else "user", "content": PRIVATE * 40}])
        for number in range(11)
    ]
    served = DurableCompactor("openai-chat", settings, lambda *options: lambda request: GOOD).serve(rows)  # type: ignore[arg-type]
    assert served.event is not None
    assert "it gave function, which is no text; a factory is called first" in served.event.reason
