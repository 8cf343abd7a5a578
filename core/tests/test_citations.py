"""The sources that outputs and rows offer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import Budget, Citation, Host
from trimtab.citations import SNIPPET_MAX, citations

ONE = {"id": "a-1", "title": "One", "url": "https://e.org/1", "content": "text of one"}
TWO = {"id": "a-2", "title": "Two", "url": "https://e.org/2", "content": "text of two"}
BOTH = [("a-1", "https://e.org/1", "One", "text of one"), ("a-2", "https://e.org/2", "Two", "text of two")]
LONG = "a line of text\n" * 2_000


def told(*rows: Any) -> list[tuple[str, str, str, str]]:
    """Id, url, title and snippet of each source."""
    return [(one.id, one.url, one.title, one.snippet) for one in citations(rows)]


@pytest.mark.parametrize(
    "output",
    [
        [ONE, TWO],
        {"results": [ONE, TWO]},
        {"query": "q", "source": "engine", "results": [ONE, TWO], "images": [{"url": "i", "title": "t"}]},
        {"url": "https://api.e.org/search", "id": "request", "results": [ONE, TWO]},
        {"web": {"results": [ONE]}, "news": {"results": [TWO]}},
        {"a": {"b": {"c": [[ONE], TWO]}}},
        json.dumps([ONE, TWO]),
        "\ufeff" + json.dumps({"results": [ONE, TWO]}, indent=4),
        {"content": [{"type": "text", "text": json.dumps({"results": [ONE, TWO]})}]},
        [{"type": "text", "text": json.dumps(ONE)}, {"type": "text", "text": json.dumps(TWO)}],
        {"content": [{"type": "text", "text": json.dumps([ONE, TWO])}], "structuredContent": {"result": [ONE, TWO]}},
        {"content": [{"type": "text", "text": "Two results."}], "structuredContent": {"result": [ONE, TWO]}},
        {"$deferredToolResult": {"topicId": "t", "messageId": "m", "toolCallId": "c", "skeleton": [ONE, TWO]}},
    ],
    ids=lambda output: json.dumps(output)[:40],
)
def test_results_are_found(output: Any) -> None:
    """Sources are found in order wherever a tool or a server puts them, and nothing else is taken for one."""
    assert told(output) == BOTH


@pytest.mark.parametrize(
    ("item", "source"),
    [
        ({"url": "u"}, ("", "u", "", "")),
        ({"link": "u", "name": "n", "snippet": "s"}, ("", "u", "n", "s")),
        ({"id": 0, "title": "t"}, ("0", "", "t", "")),
        ({"id": "i", "text": "x"}, ("i", "", "", "x")),
        ({"chunk_id": "c", "id": "d", "path": "p.md", "heading": "h", "text": "x"}, ("c", "p.md", "h", "x")),
        ({"page_content": "x", "metadata": {"source": "p.md", "title": "t"}}, ("", "p.md", "t", "x")),
        ({"id": "i", "score": 1, "metadata": {"text": "x", "file_path": "p"}}, ("i", "p", "", "x")),
        ({"chunk": {"id": 1, "text": "x"}, "document": {"id": 2, "path": "p", "title": "t"}}, ("1", "p", "t", "x")),
        ({"node": {"id_": "n", "text": "x", "metadata": {"file_path": "p"}}, "score": 1}, ("n", "p", "", "x")),
        ({"source": "p.md", "id": "i", "text": "x"}, ("i", "p.md", "", "x")),
        ({"source": "crawler", "id": "i", "text": "x"}, ("i", "", "", "x")),
        ({"url": "u", "title": "t", "content": "", "description": "d"}, ("", "u", "t", "d")),
        ({"url": "u", "error": "timeout", "title": "t"}, ("", "u", "t", "")),
        ({"url": "u", "title": "t", "content": "x" * 3_000}, ("", "u", "t", "x" * SNIPPET_MAX)),
    ],
)
def test_the_fields_of_a_source(item: dict[str, Any], source: tuple[str, str, str, str]) -> None:
    """Id, url, title and text are known under the usual names, also in the objects inside a result."""
    assert told([item]) == [source]


def test_chunks_have_the_path_of_their_document() -> None:
    """What the parts of a document leave out they have from it."""
    first = {"path": "a.md", "title": "A", "chunks": [{"id": 1, "text": "x"}, {"id": 2, "text": "y"}]}
    second = {"path": "b.md", "title": "B", "chunks": [{"id": 1, "text": "z"}]}
    assert told({"results": [first, second]}) == [
        ("1", "a.md", "A", "x"),
        ("2", "a.md", "A", "y"),
        ("1", "b.md", "B", "z"),
    ]


@pytest.mark.parametrize(
    "output",
    [
        None,
        True,
        3,
        "",
        "https://e.org",
        "[1, 2",
        [],
        {},
        ["https://e.org"],
        [[]],
        {"id": 1},
        {"title": "t"},
        {"url": ""},
        {"url": None, "title": "t"},
        {"url": 3},
        {"id": True, "title": "t"},
        {"error": "timeout", "url": "https://e.org"},
        {"kind": "error", "code": "not-found", "url": "https://e.org", "message": "m"},
        {"isError": True, "content": [{"type": "text", "text": json.dumps([ONE])}]},
        {"images": [{"url": "https://e.org/1.png", "title": "t"}]},
        {"content": [{"type": "text", "text": "See https://e.org"}]},
        {"$deferredToolResult": {"topicId": "t", "messageId": "m", "toolCallId": "c"}},
    ],
    ids=lambda output: json.dumps(output)[:40],
)
def test_what_offers_no_source(output: Any) -> None:
    """Values of another shape and error objects offer none, and raise nothing."""
    assert told(output) == []


def test_a_value_that_holds_itself_ends() -> None:
    """Neither depth nor a circle keeps the search from ending."""
    circle: dict[str, Any] = {"metadata": {}}
    circle["metadata"]["metadata"] = circle["metadata"]
    circle["results"] = [circle]
    assert told(circle) == []


TEXTS = {
    "lines": LONG,
    "short": "short",
    "empty": "",
    "wide": "é\U0001f600\n" * 900,
    "escaped": '"quoted" \\ \x00\n' * 400,
    "surrogates": "\ud800 alone\n" * 300,
    "one line": "no line end " * 400,
}


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=6),
    how=st.sampled_from(["value", "utf8", "ascii", "spaced", "block", "blocks"]),
    keep=st.sampled_from([512, 2_000, 6_000]),
    cap=st.sampled_from([None, 256, 400]),
)
def test_a_row_offers_what_its_output_offers(names: list[str], how: str, keep: int, cap: int | None) -> None:
    """Ids, urls, titles and order are the same for output and row; a snippet is a visible beginning, never a marker."""
    texts = [TEXTS[name] for name in names]
    results = [{"id": f"i-{n}", "url": f"u/{n}", "title": f"t{n}", "content": text} for n, text in enumerate(texts)]
    spaced = json.dumps(results, indent=3).replace("\\n", "\\u000A")
    blocks = [{"type": "text", "text": json.dumps(one)} for one in results]
    output = {
        "value": results,
        "utf8": json.dumps(results, ensure_ascii=False, separators=(",", ":")).replace("\ud800", "\\ud800"),
        "ascii": json.dumps(results),
        "spaced": spaced,
        "block": {"content": [{"type": "text", "text": spaced}]},
        "blocks": {"content": blocks},
    }[how]
    with Host.load(discover=False) as host:
        t = host.trim("search", output, budget=Budget(limit=keep, keep=keep, cap=cap))
        assert t.error is None
        whole, row = host.citations([output]), host.citations([json.loads(t.row_text)])
    assert [(one.id, one.url, one.title) for one in row] == [(one.id, one.url, one.title) for one in whole]
    for one, other, text in zip(whole, row, texts, strict=True):
        assert one.snippet == text[:SNIPPET_MAX]
        assert "<omitted" not in other.snippet
        visible = text[: len(other.snippet)].replace("\ud800", "\ufffd").replace("\x00", "\ufffd")
        assert other.snippet.replace("\ud800", "\ufffd").replace("\x00", "\ufffd") == visible


def test_a_bare_marker_shows_nothing() -> None:
    """Where a text is down to its marker the snippet is empty, in values and in JSON text."""
    results = [{"id": f"i-{n}", "url": "u", "title": "t", "content": LONG} for n in range(60)]
    with Host.load(discover=False) as host:
        for output in (results, json.dumps(results)):
            t = host.trim("search", output, budget=Budget(limit=8_000, keep=8_000))
            assert {one.snippet for one in host.citations([t.row])} == {""}
            assert len(host.citations([t.row])) == 60


def test_rows_of_older_generations() -> None:
    """A row that keeps its items offers them; one that keeps a text only offers none."""
    blob = {"fileEntryId": "f", "vfsFilename": "v", "head": "", "tail": "", "totalChars": 9, "totalLines": 1}
    entities = {"shape": "entities", "skeleton": [ONE, TWO], "blobRefs": [{"key": "/0/content", **blob}]}
    assert told({"$persistedToolOutput": entities}) == BOTH
    assert told({"$persistedToolOutput": {"shape": "text", **blob}}) == []


def test_sources_of_all_rows_in_order() -> None:
    """The rows' sources follow one another; the same source twice stays twice."""
    assert (
        citations([[ONE], "text", [ONE]])
        == [Citation(id="a-1", url="https://e.org/1", title="One", snippet="text of one")] * 2
    )
