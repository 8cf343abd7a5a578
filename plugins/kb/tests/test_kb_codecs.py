"""Where the bulk text of knowledge base results is, in the shapes that stores give."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import attrs
import pytest

from trimtab import Budget, Host
from trimtab_kb import KbResult, plugin
from trimtab_kb.codecs import kb_search

LONG = "A sentence of the handbook.\n" * 800
TITLE = "A heading that is longer than what an unknown tool's strings may have. " * 5

CHUNK = {"chunk_id": "c-1", "path": "docs/a.md", "heading": "Caching", "score": 0.83, "text": "text"}
BLOCK = {"type": "text", "text": "nothing found"}

# What it is, the output, the pointers; None: not this codec's shape.
SHAPES: list[tuple[str, Any, list[str] | None]] = [
    ("a list", [CHUNK, CHUNK], ["/0/text", "/1/text"]),
    ("nothing found", [], []),
    ("an object without results", {"query": "q", "results": []}, []),
    ("results", {"query": "q", "results": [CHUNK], "total": 1}, ["/results/0/text"]),
    ("chunks", {"chunks": [CHUNK]}, ["/chunks/0/text"]),
    ("hits with numbers as ids", {"hits": [{"id": 7, "score": 1, "content": "c"}]}, ["/hits/0/content"]),
    ("matches with metadata", {"matches": [{"id": "i", "metadata": {"text": "t"}}]}, ["/matches/0/metadata/text"]),
    ("points with a payload", {"result": [{"id": 1, "payload": {"text": "t"}}]}, ["/result/0/payload/text"]),
    ("documents", [{"id": None, "page_content": "t", "metadata": {"source": "a.md"}}], ["/0/page_content"]),
    ("a document in each", [{"document": {"page_content": "t"}, "score": 0.1}], ["/0/document/page_content"]),
    ("nodes", {"source_nodes": [{"node": {"id_": "n", "text": "t"}, "score": 1}]}, ["/source_nodes/0/node/text"]),
    ("chunk and document", [{"chunk": {"id": 1, "text": "t"}, "document": {"path": "p"}}], ["/0/chunk/text"]),
    ("a chunk that is a text", [{"chunk": "t", "path": "p"}], ["/0/chunk"]),
    ("texts in pieces", [{"filename": "f", "content": [BLOCK, BLOCK]}], ["/0/content/0/text", "/0/content/1/text"]),
    ("by document", [{"path": "p", "chunks": [CHUNK, CHUNK]}], ["/0/chunks/0/text", "/0/chunks/1/text"]),
    ("by document, passages only", [{"path": "p", "passages": ["t", "u"]}], ["/0/passages/0", "/0/passages/1"]),
    ("score as text, no title", [{**CHUNK, "score": "0.8", "heading": None}], ["/0/text"]),
    ("some without a text", [{"chunk_id": "c", "path": "p"}, CHUNK], ["/1/text"]),
    ("a text only", [{"text": "t"}], ["/0/text"]),
    ("texts under unknown names", [{"id": "c", "essay": "e"}], None),
    ("one that is no result", [CHUNK, "text"], None),
    ("a text that is none", [{**CHUNK, "text": 3}], None),
    ("a content list", [BLOCK], None),
    ("an MCP result", {"content": [BLOCK], "isError": False}, None),
    ("an error", {"error": "index not found"}, None),
    ("an error in a list", [{"error": "index not found", "text": ""}], None),
    ("an error of a kind", {"kind": "error", "message": LONG}, None),
    ("text", "nothing found", None),
    ("null", None, None),
]


def listed(pointers: Iterable[str] | None) -> list[str] | None:
    """The pointers as a list; None stays None."""
    return None if pointers is None else list(pointers)


@pytest.mark.parametrize(("output", "pointers"), [one[1:] for one in SHAPES], ids=[one[0] for one in SHAPES])
def test_shapes(output: Any, pointers: list[str] | None) -> None:
    """Chunks in every usual shape are known; what is none of them is left to core."""
    assert listed(kb_search(output)) == pointers


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
    """Chunk ids, paths, headings and scores in order, however the output was handed over."""
    if isinstance(value, dict):
        value = value["content"]
    if isinstance(value, list) and value[0].get("type") == "text":
        value = value[0]["text"]
    results = json.loads(value) if isinstance(value, str) else value
    return [(one["chunk_id"], one["path"], one["heading"], one["score"]) for one in results]


@pytest.mark.parametrize("how", ["value", "text", "blocks", "mcp"])
def test_ids_paths_and_headings_survive(how: str) -> None:
    """Of 50 chunks with 20,000 chars each every id, path, heading and score stays, in prompt and row."""
    chunks = [
        {**CHUNK, "chunk_id": f"c-{n}", "path": f"docs/{n % 7}/{'deep/' * 60}a.md", "heading": f"{n} {TITLE}"}
        | {"score": n / 7, "text": LONG[:20_000]}
        for n in range(50)
    ]
    output = handed_over(chunks, how)
    with Host.load(plugins=[plugin], discover=False) as host:
        t = host.trim("kb_search", output, budget=Budget(limit=60_000, keep=60_000))
        assert t.error is None
        assert t.changed
        assert host.explain(t)["codec"] == "trimtab_kb.plugin: kb_search"
        assert identities(t.value) == identities(output)
        assert identities(host.render(json.loads(t.row_text))) == identities(output)
        assert host.inflate(json.loads(t.row_text)) == output
        assert len(t.text) <= 60_000


def test_results_can_be_made_from_the_type() -> None:
    """A tool that returns the type's objects as dicts gives what the codec knows."""
    made = KbResult(chunk_id="c-1", path="docs/a.md", heading="Caching", score=0.5, text="t")
    plain = attrs.asdict(made, filter=lambda _, value: value is not None)
    assert plain == {"chunk_id": "c-1", "path": "docs/a.md", "heading": "Caching", "score": 0.5, "text": "t"}
    assert listed(kb_search([plain])) == ["/0/text"]


@pytest.mark.parametrize("fields", [{"error": "not found"}, {"type": "error"}, {"type": "text", "text": "t"}])
def test_what_is_no_result_is_refused(fields: dict[str, Any]) -> None:
    """Errors and content blocks cannot be made into results."""
    with pytest.raises(ValueError, match="not a result"):
        KbResult(**fields)
