"""Citations of search results and pages, checked against outputs and against the rows that are stored of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import Budget, Host, Policy
from trimtab_web import Citable, Lookup, check_citations, plugin, render_citations

PAGE = "A sentence about prefix caching.\n" * 700


def result(number: int, prefix: str = "3f2a", url: str | None = None) -> dict[str, str]:
    """A search result with a long text."""
    return {
        "id": f"{prefix}-{number}",
        "url": f"https://e.org/{number}" if url is None else url,
        "title": f"Page {number}",
        "content": f"{number}: {PAGE}",
    }


SEARCH = Lookup(tool="web_search", output={"results": [result(0), result(1), result(2)]})
FETCH = Lookup(tool="web_fetch", output={"url": "https://e.org/1", "title": "Page 1, whole", "content": PAGE})


def test_an_answer_over_a_search_and_a_fetch() -> None:
    """A fetched page is the same source as the search result with its url; unknown ids are told."""
    answer = "It works [cite:3f2a-1][cite:https://e.org/1], says [cite:3f2a-0]. Not [cite:77aa-3], [1].\n\n`[cite:x]`"
    made = render_citations(answer, [SEARCH, FETCH])
    assert made.text == "It works [1], says [2]. Not [cite:77aa-3], [1].\n\n`[cite:x]`"
    assert made.check == check_citations(answer, [SEARCH, FETCH])
    assert [(one.id, one.url, one.title) for one in made.check.cited] == [
        ("3f2a-1", "https://e.org/1", "Page 1"),
        ("3f2a-0", "https://e.org/0", "Page 0"),
    ]
    assert made.check.unknown == ("77aa-3",)
    assert [one.id for one in made.check.uncited] == ["3f2a-2"]


def test_bare_numbers_need_a_single_lookup() -> None:
    """`[N]` is the N-th result of the only lookup; with a second one it is text."""
    assert render_citations("[3] and [1]", [SEARCH]).text == "[1] and [2]"
    assert check_citations("[3] and [1]", [SEARCH, FETCH]).cited == ()
    other = Lookup(tool="run_tests", output={"results": [result(9)]})
    assert [one.id for one in check_citations("[3]", [SEARCH, other]).cited] == ["3f2a-2"]


@pytest.mark.parametrize("tool", ["web_search", "web_fetch"])
def test_foreign_tools_of_the_same_name(tool: str) -> None:
    """What another party's server says is no source, in whatever way the tool is named, unless the server is ours."""
    poisoned = [result(0, prefix="evil", url="https://evil.example")]
    for lookup in (
        Lookup(tool=tool, output=poisoned, server="evil"),
        Lookup(tool=f"mcp__evil__{tool}", output=poisoned),
        Lookup(tool=f"mcp__evil__{tool}", output=poisoned, server="evil"),
    ):
        foreign = check_citations("[cite:evil-0] [1]", [lookup, SEARCH], own_servers=["ours"])
        assert foreign.unknown == ("evil-0",)
        assert [one.id for one in foreign.cited] == ["3f2a-0"]
        own = check_citations("[cite:evil-0] [1]", [lookup, SEARCH], own_servers=["evil"])
        assert (own.unknown, [one.id for one in own.cited]) == ((), ["evil-0"])


def test_calls_through_a_meta_tool() -> None:
    """A search that ran through the policy's meta-tool counts."""
    policy = Policy.from_mapping({"meta": {"tool_invoke": {"name": "/name", "arguments": "/params"}}})
    arguments = {"name": "web_search", "params": {"query": "q"}}
    lookup = Lookup(tool="tool_invoke", arguments=arguments, output=[result(0)])
    assert check_citations("[cite:3f2a-0]", [lookup], policy=policy).unknown == ()
    assert check_citations("[cite:3f2a-0]", [lookup]).unknown == ("3f2a-0",)


def test_other_sources_beside_the_web() -> None:
    """What else may be cited is named, by another plugin or the application."""
    mail = Citable(tools=["mail_search"], same=lambda one: one.id)
    lookups = [SEARCH, Lookup(tool="mail_search", output=[{"id": "m-1", "title": "Hello"}])]
    made = render_citations("[cite:m-1] [cite:3f2a-0]", lookups, also=[mail])
    assert (made.text, made.check.unknown) == ("[1] [2]", ())
    assert check_citations("[cite:m-1]", lookups).unknown == ("m-1",)


@pytest.mark.parametrize("output", ["no results", None, [], {"error": "quota"}, {"results": "none"}, {"isError": True}])
def test_a_failed_lookup_offers_nothing(output: Any) -> None:
    """Errors and empty results raise nothing; whatever is cited is unknown."""
    made = check_citations("[cite:3f2a-0]", [Lookup(tool="web_search", output=output)])
    assert (made.cited, made.unknown, made.uncited) == ((), ("3f2a-0",), ())


IDS = [f"3f2a-{number}" for number in range(6)]
HANDED_OVER: dict[str, Callable[[Any], Any]] = {
    "value": lambda output: output,
    "text": lambda output: json.dumps(output, indent=1),
    "mcp": lambda output: {"content": [{"type": "text", "text": json.dumps(output)}], "isError": False},
}


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.sampled_from([0, 40, 300, 2_000, 20_000]), min_size=1, max_size=6),
    urls=st.lists(st.integers(0, 3), min_size=6, max_size=6),
    how=st.sampled_from(sorted(HANDED_OVER)),
    markers=st.lists(st.sampled_from([*IDS, "1", "2", "6", "none"]), max_size=8),
    keep=st.sampled_from([512, 1_500, 6_000]),
)
def test_output_and_row_say_the_same(
    sizes: list[int], urls: list[int], how: str, markers: list[str], keep: int
) -> None:
    """Over the output and over its row: the same sources, numbers and unknown ids, and the same rendered answer."""
    results = [
        {**result(number, url=f"https://e.org/{urls[number]}"), "content": (PAGE * 2)[:size]}
        for number, size in enumerate(sizes)
    ]
    output = HANDED_OVER[how]({"results": results})
    answer = ", ".join(f"[{name}]" if name.isdigit() else f"[cite:{name}]" for name in markers)
    with Host.load(plugins=[plugin], discover=False) as host:
        t = host.trim("web_search", output, budget=Budget(limit=keep, keep=keep))
        assert t.error is None
    whole, row, prompt = (
        render_citations(answer, [Lookup(tool="web_search", output=value)])
        for value in (output, json.loads(t.row_text), t.value)
    )
    for other in (row, prompt):
        assert other.text == whole.text
        assert (other.check.unknown, other.check.numbers) == (whole.check.unknown, whole.check.numbers)
        for ours, theirs in ((whole.check.cited, other.check.cited), (whole.check.uncited, other.check.uncited)):
            assert [(one.id, one.url, one.title) for one in ours] == [(one.id, one.url, one.title) for one in theirs]
    assert not any("<omitted" in one.snippet for one in (*row.check.cited, *row.check.uncited))
    assert {name for name in markers if name in IDS[: len(sizes)]} <= set(whole.check.numbers)
