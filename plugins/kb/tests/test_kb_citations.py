"""Citations of chunks, checked against outputs and against the rows that are stored of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import Budget, Host
from trimtab_kb import Citable, Lookup, check_citations, plugin, render_citations

TEXT = "A sentence of the handbook.\n" * 800


def chunk(name: str | int, path: str = "docs/a.md", size: int = 20_000) -> dict[str, Any]:
    """A chunk of a document."""
    return {"chunk_id": name, "path": path, "heading": f"Section {name}", "score": 0.5, "text": TEXT[:size]}


def test_an_answer_over_two_lookups() -> None:
    """Chunks of one document are sources of their own; the same chunk found twice is one."""
    first = Lookup(tool="kb_search", output={"results": [chunk("c-1"), chunk("c-2")]})
    second = Lookup(tool="kb_search", output=[chunk("c-2"), chunk("c-9", "docs/b.md")])
    made = render_citations("A [cite:c-2][cite:c-2], b [cite:c-9]; c [cite:c-7] and [1].", [first, second])
    assert made.text == "A [1], b [2]; c [cite:c-7] and [1]."
    assert [(one.id, one.url, one.title) for one in made.check.cited] == [
        ("c-2", "docs/a.md", "Section c-2"),
        ("c-9", "docs/b.md", "Section c-9"),
    ]
    assert made.check.unknown == ("c-7",)
    assert [one.id for one in made.check.uncited] == ["c-1"]
    assert made.check.numbers == {"c-2": 1, "c-9": 2}


def test_chunk_ids_that_count_within_a_document() -> None:
    """Two documents may have chunks of one id: it means the first, and a path before it says which."""
    by_document = [
        {"path": "docs/a.md", "title": "A", "chunks": [{"id": 1, "text": "x"}, {"id": 2, "text": "y"}]},
        {"path": "docs/b.md", "title": "B", "chunks": [{"id": 1, "text": "z"}]},
    ]
    lookup = Lookup(tool="kb_search", output={"results": by_document})
    made = check_citations("[cite:1] [cite:docs/b.md#1] [cite:docs/b.md] [cite:docs/a.md#3]", [lookup])
    assert [(one.url, one.id) for one in made.cited] == [("docs/a.md", "1"), ("docs/b.md", "1")]
    assert made.numbers == {"1": 1, "docs/b.md#1": 2, "docs/b.md": 2}
    assert made.unknown == ("docs/a.md#3",)
    assert [(one.url, one.id) for one in made.uncited] == [("docs/a.md", "2")]


def test_bare_numbers_need_a_single_lookup() -> None:
    """`[N]` is the N-th chunk of the only lookup; with a second one it is text."""
    one = Lookup(tool="kb_search", output=[chunk("c-1"), chunk("c-2")])
    assert render_citations("[2]", [one]).text == "[1]"
    assert check_citations("[2]", [one, one]).cited == ()
    assert [found.id for found in check_citations("[2]", [one, Lookup(tool="web_search", output=[])]).cited] == ["c-2"]


def test_foreign_tools_of_the_same_name() -> None:
    """What another party's server says is no source, unless the server is the application's own."""
    for lookup in (
        Lookup(tool="kb_search", output=[chunk("evil")], server="evil"),
        Lookup(tool="mcp__evil__kb_search", output=[chunk("evil")]),
    ):
        assert check_citations("[cite:evil]", [lookup]).unknown == ("evil",)
        assert check_citations("[cite:evil]", [lookup], own_servers=["evil"]).unknown == ()


def test_chunks_beside_other_sources() -> None:
    """An answer may cite chunks and what another plugin names."""
    web = Citable(tools=["web_search"], same=lambda one: one.url)
    lookups = [
        Lookup(tool="kb_search", output=[chunk("c-1")]),
        Lookup(tool="web_search", output=[{"id": "w-1", "url": "docs/a.md", "title": "t"}]),
    ]
    made = render_citations("[cite:w-1] [cite:c-1]", lookups, also=[web])
    assert (made.text, made.check.unknown) == ("[1] [2]", ())


@pytest.mark.parametrize("output", ["nothing", None, [], {"error": "no index"}, {"kind": "error", "path": "docs/a.md"}])
def test_a_failed_lookup_offers_nothing(output: Any) -> None:
    """Errors and empty results raise nothing; whatever is cited is unknown."""
    made = check_citations("[cite:c-1]", [Lookup(tool="kb_search", output=output)])
    assert (made.cited, made.unknown, made.uncited) == ((), ("c-1",), ())


@settings(max_examples=60, deadline=None)
@given(
    chunks=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from([0, 300, 2_000, 20_000])),
        min_size=1,
        max_size=6,
    ),
    as_text=st.booleans(),
    keep=st.sampled_from([512, 1_500, 6_000]),
)
def test_output_and_row_say_the_same(chunks: list[tuple[int, int, int]], as_text: bool, keep: int) -> None:
    """Over the output and over its row: the same chunks, paths, headings and numbers; each chunk can be cited."""
    results = [chunk(name, f"docs/{path}.md", size) for name, path, size in chunks]
    output = json.dumps({"results": results}) if as_text else {"results": results}
    answer = " and ".join(f"[cite:docs/{path}.md#{name}]" for name, path, _ in chunks)
    with Host.load(plugins=[plugin], discover=False) as host:
        row = json.loads(host.trim("kb_search", output, budget=Budget(limit=keep, keep=keep)).row_text)
    whole, stored = (render_citations(answer, [Lookup(tool="kb_search", output=value)]) for value in (output, row))
    assert stored.text == whole.text
    assert stored.check.numbers == whole.check.numbers
    for made in (whole, stored):
        told = [(one.id, one.url, one.title) for one in made.check.cited]
        assert told == [
            (str(n), f"docs/{p}.md", f"Section {n}") for n, p in dict.fromkeys((n, p) for n, p, _ in chunks)
        ]
        assert (made.check.unknown, made.check.uncited) == ((), ())
    assert not any("<omitted" in one.snippet for one in stored.check.cited)
