"""Where the bulk text of search results and fetched pages is, in the shapes that services give."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import attrs
import pytest

from trimtab import Budget, Host
from trimtab_web import WebPage, WebResult, plugin
from trimtab_web.codecs import web_fetch, web_search

LONG = "A sentence about prefix caching.\n" * 700
TITLE = "A title that is longer than what an unknown tool's strings may have. " * 5

RESULT = {"id": "3f2a-1", "title": "One", "url": "https://e.org/1", "content": "text"}
BLOCK = {"type": "text", "text": "no results"}

# What it is, the output, the pointers; None: not this codec's shape.
SEARCHES: list[tuple[str, Any, list[str] | None]] = [
    ("a list", [RESULT, RESULT], ["/0/content", "/1/content"]),
    ("no results", [], []),
    ("an object without results", {"query": "q", "results": []}, []),
    ("a number as id, no title", [{"id": 7, "url": "u", "title": None, "content": "x"}], ["/0/content"]),
    ("scores and dates", {"results": [{**RESULT, "score": 0.9, "published_date": None}]}, ["/results/0/content"]),
    (
        "an answer, pictures, raw content",
        {"answer": "a", "images": [{"url": "i"}], "results": [{**RESULT, "raw_content": "r"}], "response_time": 1.2},
        ["/results/0/content", "/results/0/raw_content", "/answer"],
    ),
    (
        "highlights and a summary",
        {"results": [{"url": "u", "text": "t", "highlights": ["a", "b"], "summary": "s", "highlightScores": [1]}]},
        ["/results/0/text", "/results/0/highlights/0", "/results/0/highlights/1", "/results/0/summary"],
    ),
    (
        "nested under web, with what else was found",
        {
            "type": "search",
            "web": {"results": [{"title": "t", "url": "u", "description": "d", "extra_snippets": ["e"]}]},
            "news": {"results": [{"title": "t", "url": "n", "description": "d"}]},
        },
        ["/web/results/0/description", "/web/results/0/extra_snippets/0", "/news/results/0/description"],
    ),
    (
        "organic results with links",
        {"organic": [{"title": "t", "link": "u", "snippet": "s", "position": 1}], "peopleAlsoAsk": []},
        ["/organic/0/snippet"],
    ),
    ("organic_results", {"organic_results": [{"link": "u", "snippet": "s"}]}, ["/organic_results/0/snippet"]),
    ("href and body", [{"title": "t", "href": "u", "body": "b"}], ["/0/body"]),
    ("items", {"kind": "search", "items": [{"link": "u", "snippet": "s", "pagemap": {}}]}, ["/items/0/snippet"]),
    ("data", {"success": True, "data": [{"url": "u", "markdown": "m"}]}, ["/data/0/markdown"]),
    ("data.web", {"success": True, "data": {"web": [{"url": "u", "description": "d"}]}}, ["/data/web/0/description"]),
    ("some without a text", [{"url": "u", "error": "timeout"}, RESULT], ["/1/content"]),
    ("text is null", [{**RESULT, "content": None}, RESULT], ["/1/content"]),
    ("a title and a text, no url", [{"title": "t", "content": "c"}], ["/0/content"]),
    (
        "sealed content stays",
        [{"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": LONG}],
        None,
    ),
    ("texts under unknown names", [{"url": "u", "title": "t", "essay": "e"}], None),
    ("one that is no result", [RESULT, "text"], None),
    ("one without anything", [RESULT, {"content": "c"}], None),
    ("a content that is no text", [{**RESULT, "content": {"a": 1}}], None),
    ("a content list", [BLOCK], None),
    ("an MCP result", {"content": [BLOCK], "isError": False}, None),
    ("an error", {"error": "quota exceeded"}, None),
    ("an error of a kind", {"kind": "error", "code": "timeout", "message": LONG}, None),
    ("text", "no results", None),
    ("null", None, None),
    ("a number", 3, None),
]

FETCHES: list[tuple[str, Any, list[str] | None]] = [
    ("a page", {"url": "u", "title": "t", "content": "c"}, ["/content"]),
    ("a page without a url", {"markdown": "m"}, ["/markdown"]),
    ("a page in several forms", {"url": "u", "html": "h", "text": "t"}, ["/html", "/text"]),
    ("an empty page", {"url": "u", "content": ""}, ["/content"]),
    ("status and headers", {"url": "u", "status": 200, "headers": {"a": "b"}, "body": "b"}, ["/body"]),
    ("no error", {"url": "u", "content": "c", "error": None}, ["/content"]),
    ("data", {"success": True, "data": {"markdown": "m", "metadata": {"title": "t"}}}, ["/data/markdown"]),
    ("pages", [{"url": "u", "content": "c"}, {"url": "v", "text": "t"}], ["/0/content", "/1/text"]),
    ("pages without urls", [{"content": "c"}, {"content": "d"}], ["/0/content", "/1/content"]),
    (
        "results, and what failed",
        {"results": [{"url": "u", "raw_content": "r"}], "failed_results": [{"url": "v", "error": "404"}]},
        ["/results/0/raw_content"],
    ),
    ("some that failed", [{"url": "u", "content": "c"}, {"url": "v", "error": "404"}], ["/0/content"]),
    ("an error", {"url": "u", "error": "timeout", "content": ""}, None),
    ("an error object", {"error": {"code": 404}}, None),
    ("an error by type", {"type": "error", "text": "not found"}, None),
    ("only a description", {"url": "u", "description": "d"}, None),
    ("a text block", BLOCK, None),
    ("a content list", [BLOCK], None),
    ("an MCP result", {"content": [BLOCK]}, None),
    ("text", LONG, None),
    ("null", None, None),
]


def listed(pointers: Iterable[str] | None) -> list[str] | None:
    """The pointers as a list; None stays None."""
    return None if pointers is None else list(pointers)


@pytest.mark.parametrize(("output", "pointers"), [one[1:] for one in SEARCHES], ids=[one[0] for one in SEARCHES])
def test_search_shapes(output: Any, pointers: list[str] | None) -> None:
    """Search results in every usual shape are known; what is none of them is left to core."""
    assert listed(web_search(output)) == pointers


@pytest.mark.parametrize(("output", "pointers"), [one[1:] for one in FETCHES], ids=[one[0] for one in FETCHES])
def test_fetch_shapes(output: Any, pointers: list[str] | None) -> None:
    """Fetched pages in every usual shape are known; what is none of them is left to core."""
    assert listed(web_fetch(output)) == pointers


def handed_over(output: Any, how: str) -> Any:
    """An output as servers hand it over: a value, JSON text, a content list, an MCP result."""
    block = {"type": "text", "text": json.dumps(output, indent=2)}
    return {
        "value": output,
        "text": block["text"],
        "blocks": [block],
        "mcp": {"content": [block], "isError": False},
    }[how]


def identities(value: Any) -> list[Any]:
    """Ids, urls and titles in order, however the output was handed over."""
    if isinstance(value, dict):
        value = value["content"]
    if isinstance(value, list) and value and value[0].get("type") == "text":
        value = value[0]["text"]
    results = json.loads(value) if isinstance(value, str) else value
    return [(one["id"], one["url"], one["title"]) for one in results]


@pytest.mark.parametrize("how", ["value", "text", "blocks", "mcp"])
def test_ids_urls_and_titles_survive(how: str) -> None:
    """Of 50 results with 20,000 chars each every id, url and title stays, in prompt and row; long ones too."""
    page = LONG[:20_000]
    results = [
        {"id": f"3f2a-{n}", "url": f"https://e.org/{n}?{'q' * 2_500}", "title": f"{n} {TITLE}", "content": page}
        for n in range(50)
    ]
    output = handed_over(results, how)
    with Host.load(plugins=[plugin], discover=False) as host:
        t = host.trim("web_search", output, budget=Budget(limit=200_000, keep=200_000))
        assert t.error is None
        assert t.changed
        assert host.explain(t)["codec"] == "trimtab_web.plugin: web_search"
        assert identities(t.value) == identities(output)
        assert identities(host.render(json.loads(t.row_text))) == identities(output)
        assert host.inflate(json.loads(t.row_text)) == output
        assert len(t.text) <= 200_000


@pytest.mark.parametrize("output", [{"error": "x " * 20_000}, [BLOCK, {"type": "text", "text": LONG}], LONG])
def test_what_is_no_result_is_still_trimmed(output: Any) -> None:
    """An output that the codec does not know is trimmed as any tool's."""
    with Host.load(plugins=[plugin], discover=False) as host:
        for tool in ("web_search", "web_fetch"):
            t = host.trim(tool, output)
            assert t.changed
            assert len(t.text) <= host.policy.keep
            assert host.inflate(t.row) == output


def test_results_can_be_made_from_the_types() -> None:
    """A tool that returns the types' objects as dicts gives what the codecs know."""
    result = WebResult(id="a-1", url="https://e.org", title="t", content="c")
    page = WebPage(url="https://e.org", text="t")
    plain = [attrs.asdict(one, filter=lambda _, value: value is not None) for one in (result, page)]
    assert plain == [
        {"id": "a-1", "url": "https://e.org", "title": "t", "content": "c"},
        {"url": "https://e.org", "text": "t"},
    ]
    assert listed(web_search(plain[:1])) == ["/0/content"]
    assert listed(web_fetch(plain[1])) == ["/text"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WebResult(content="c"), "a result has a url"),
        (lambda: WebResult(title="t"), "a result has a url"),
        (lambda: WebPage(url="u"), "a page has a text"),
        (lambda: WebPage(url="u", text="", error="404"), "an error"),
        (lambda: WebPage(type="text", text="t"), "a block"),
    ],
)
def test_what_cannot_be_cited_is_refused(make: Any, message: str) -> None:
    """A result without identity and a page without text cannot be made."""
    with pytest.raises(ValueError, match=message):
        make()
