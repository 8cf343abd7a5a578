"""MCP results: what is shortened, what never is, and what a result says twice."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import Budget, Host, Policy, hookimpl
from trimtab.codecs import Codec, entities
from trimtab.convert import structure
from trimtab.testing import CodecContract, PluginContract
from trimtab_mcp import CallToolResult, mcp_result, plugin, wrapped

PAGE = "".join(f"Paragraph {number} of a long page, with some words in it.\n" for number in range(400))
BASE64 = "iVBORw0KGgo" * 400
SMALL = Budget(limit=4_000, keep=3_000)

# As mcp 2.3 writes it: model_dump(by_alias=True, exclude_none=True, mode="json").
EVERY_BLOCK: dict[str, Any] = {
    "_meta": {"vendor/notes": PAGE},
    "content": [
        {"type": "text", "text": PAGE, "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": BASE64, "mimeType": "image/png"},
        {"type": "audio", "data": BASE64, "mimeType": "audio/wav", "_meta": {"seconds": 3}},
        {
            "name": "a.md",
            "title": "A",
            "uri": "file:///a.md",
            "description": PAGE,
            "mimeType": "text/markdown",
            "size": 12,
            "icons": [{"src": f"data:image/png;base64,{BASE64}", "mimeType": "image/png"}],
            "type": "resource_link",
        },
        {"type": "resource", "resource": {"uri": "file:///b.md", "mimeType": "text/markdown", "text": PAGE}},
        {"type": "resource", "resource": {"uri": "file:///c.bin", "blob": BASE64}, "_meta": {"note": "two words"}},
    ],
    "structuredContent": {"pages": [{"id": "a-0", "url": "https://e.example/0", "body": PAGE}], "total": 1},
    "isError": False,
    "resultType": "complete",
}

HITS = [
    {
        "id": f"a-{number}",
        "title": f"Title {number}",
        "url": f"https://e.example/{number}",
        "content": f"{number} {PAGE}",
    }
    for number in range(6)
]


def result(value: Any, *texts: str, **more: Any) -> dict[str, Any]:
    """A final result with these text blocks and this `structuredContent`."""
    blocks = [{"type": "text", "text": text} for text in texts]
    return {"content": blocks, "structuredContent": value, "isError": False, "resultType": "complete", **more}


def host() -> Host:
    """A host with this plugin alone."""
    return Host.load(plugins=[plugin], discover=False)


def refs(row: Any) -> list[dict[str, Any]]:
    """The refs of a row."""
    found: list[dict[str, Any]] = row["$persistedToolOutput"]["blobRefs"]
    return found


class Application:
    """An application that knows a tool's own output, and that the tool is offered through MCP too."""

    @hookimpl
    def trimtab_codecs(self) -> list[tuple[str, Codec]]:
        """The tool's own codec, and the same one wrapped."""
        own = entities("/*/content")
        return [("web_search", own), ("mcp__brave__web_search", wrapped(own))]


class TestPlugin(PluginContract):
    """The plugin keeps the contract of plugins."""

    plugin: ClassVar[Any] = plugin
    samples: ClassVar = {"mcp__docs__search": [result({"items": [{"id": "x", "body": "some text"}]}, "some text")]}


class TestMcpResult(CodecContract):
    """The codec keeps every law on results of every kind."""

    codec = mcp_result
    tool = "mcp__server__tool"
    samples = (
        {**EVERY_BLOCK, "_meta": {"a": "b"}},
        [{"type": "text", "text": "a block list"}, {"type": "later", "body": "some words", "_meta": {"x": "y z"}}],
        result({"status": "available", "summary": "## Overview"}),
        result({"result": "bare"}, "bare"),
        {"structuredContent": "a string value"},
    )


class TestWrapped(CodecContract):
    """A tool's own codec, wrapped, keeps every law as well."""

    codec = wrapped(entities("/*/content"))
    tool = "mcp__brave__web_search"
    samples = (
        result({"result": [{"id": "a-0", "title": "T", "content": "some text"}]}, "one", "two"),
        [{"id": "a-0", "title": "T", "content": "some text"}],
    )


def test_where_the_bulk_text_is() -> None:
    """Texts, embedded texts, descriptions and the strings of structuredContent that are no names."""
    assert mcp_result(EVERY_BLOCK) == [
        "/content/0/text",
        "/content/3/description",
        "/content/4/resource/text",
        "/structuredContent/pages/0/body",
    ]


def test_a_result_is_trimmed_and_comes_back() -> None:
    """Media, `_meta`, uris, names, icons and annotations stay; the row gives the result back."""
    with host() as made:
        trimmed = made.trim("mcp__docs__get", EVERY_BLOCK, budget=SMALL)
        assert trimmed.error is None
        assert [ref["key"] for ref in refs(trimmed.row)] == mcp_result(EVERY_BLOCK)
        assert len({ref["blobId"] for ref in refs(trimmed.row)}) == 1
        emptied = deepcopy(trimmed.value)
        emptied["content"][0]["text"] = PAGE
        emptied["content"][3]["description"] = PAGE
        emptied["content"][4]["resource"]["text"] = PAGE
        emptied["structuredContent"]["pages"][0]["body"] = PAGE
        assert emptied == EVERY_BLOCK
        assert made.inflate(json.loads(trimmed.row_text)) == EVERY_BLOCK
        structure(trimmed.value, CallToolResult)


@pytest.mark.parametrize(
    "output",
    [
        None,
        3,
        "text",
        [],
        {},
        [1],
        ["text"],
        {"content": "text"},
        {"content": ["text"]},
        {"content": [{"id": 1, "body": "text"}]},
        {"content": [{"type": 3, "text": "text"}]},
        [{"type": "article", "body": "text"}],
        [{"id": 1}],
        {"error": "text"},
        {"result": "text"},
    ],
)
def test_what_is_no_result(output: Any) -> None:
    """Other shapes are not this codec's: they are looked at as any other output."""
    assert mcp_result(output) is None


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ({"content": []}, []),
        ({"content": [], "structuredContent": {"status": "available", "summary": "## Over view"}}, ["/summary"]),
        ({"structuredContent": {"a/b": {"~": "two words"}}}, ["/a~1b/~0"]),
        ({"structuredContent": {"result": "solid"}}, ["/result"]),
        ({"structuredContent": {"result": "solid", "more": "solid"}}, []),
        ({"structuredContent": ["a b", "c"]}, ["/0"]),
        ({"structuredContent": "a b"}, [""]),
        ({"structuredContent": None, "content": []}, []),
        ({"structuredContent": {"shot": {"type": "image", "data": "aGVsbG8="}}}, []),
        ({"structuredContent": {"_meta": {"note": "a b"}}}, ["/_meta/note"]),
    ],
)
def test_structured_content(output: Any, found: list[str]) -> None:
    """Any JSON value, empty content or none: strings that are no names, media left out."""
    assert mcp_result(output) == [f"/structuredContent{pointer}" for pointer in found]


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ({"type": "later", "body": "a b", "_meta": {"n": "a b"}}, ["/body"]),
        ({"type": "text"}, []),
        ({"type": "text", "text": 3, "note": "a b"}, ["/note"]),
        ({"type": "text", "text": "solid", "cache_control": {"type": "ephemeral"}}, ["/text"]),
        ({"type": "resource", "resource": {"uri": "u", "text": "solid", "_meta": {"n": "a b"}}}, ["/resource/text"]),
        ({"type": "resource", "resource": {"uri": "u", "blob": "aGk="}}, []),
        ({"type": "resource", "resource": "a b"}, ["/resource"]),
        ({"type": "resource_link", "uri": "u", "name": "a b", "title": "a b"}, []),
        ({"type": "image", "data": "a b", "mimeType": "image/png"}, []),
    ],
)
def test_blocks(output: Any, found: list[str]) -> None:
    """Known blocks by their types, others and broken ones by JSON leaves; `_meta` never."""
    assert mcp_result({"content": [output]}) == [f"/content/0{pointer}" for pointer in found]


@pytest.mark.parametrize(
    "output",
    [
        {"resultType": "input_required", "requestState": PAGE, "inputRequests": {"a": {"message": PAGE}}},
        {"resultType": "task", "task": {"taskId": "t", "statusMessage": PAGE}},
        {"task": {"taskId": "t", "status": "working", "statusMessage": PAGE}},
    ],
)
def test_what_asks_for_input_stays_whole(output: Any) -> None:
    """A request for input and a task pass as they are, whatever their size."""
    with host() as made:
        trimmed = made.trim("mcp__docs__get", output, budget=SMALL)
        assert trimmed.value is output
        assert trimmed.over_budget


def test_an_error_stays_an_error() -> None:
    """`isError` stays, with both ends of what it says."""
    failed = {"content": [{"type": "text", "text": f"Traceback\n{PAGE}\nValueError: no such page"}], "isError": True}
    with host() as made:
        value = made.trim("mcp__docs__get", failed, budget=SMALL).value
        assert value["isError"] is True
        assert value["content"][0]["text"].startswith("Traceback")
        assert value["content"][0]["text"].endswith("ValueError: no such page")


def twins(value: Any) -> dict[str, Any]:
    """The ways in which servers repeat `structuredContent` in text blocks."""
    return {
        "compact": result(value, json.dumps(value, separators=(",", ":"), ensure_ascii=False)),
        "indented": result(value, json.dumps(value, indent=2)),
        "with prose": result(value, "Found 6 pages.", json.dumps(value)),
        "by element": result({"result": value["result"]}, *(json.dumps(one, indent=2) for one in value["result"])),
    }


@pytest.mark.parametrize("name", list(twins({"result": []})))
def test_a_text_twin_is_trimmed_with_its_original(name: str) -> None:
    """What stands in structuredContent and again as JSON text loses the same strings, behind the same handles."""
    output = twins({"result": HITS})[name]
    with host() as made:
        trimmed = made.trim("mcp__brave__web_search", output, budget=Budget(limit=20_000, keep=12_000))
        structured = [ref for ref in refs(trimmed.row) if ref["key"].startswith("/structuredContent")]
        twin = [ref for ref in refs(trimmed.row) if ref["key"].startswith("/content")]
        assert [ref["blobId"] for ref in structured] == [ref["blobId"] for ref in twin]
        assert len(structured) == len(HITS)
        for block in trimmed.value["content"]:
            if block["text"].startswith("{"):
                json.loads(block["text"])
        for hit in HITS:
            assert trimmed.text.count(hit["url"]) == 2
        assert made.inflate(trimmed.row) == output


def test_a_bare_text_and_its_twin_are_cut_alike() -> None:
    """A tool's plain text stands twice; both are the same excerpt."""
    for text in (PAGE, "solid" * 300):
        with host() as made:
            value = made.trim(
                "mcp__docs__get", result({"result": text}, text), budget=Budget(limit=1_000, keep=900)
            ).value
            assert value["content"][0]["text"] == value["structuredContent"]["result"] != text


def test_metadata_beside_the_file_loses_nothing() -> None:
    """structuredContent that holds only metadata takes nothing from the file in the text block."""
    meta = {"fileName": "conf.ini", "fileType": "text"}
    with host() as made:
        trimmed = made.trim("mcp__fs__read_file", result(meta, PAGE), budget=SMALL)
        assert trimmed.value["structuredContent"] == meta
        assert [ref["key"] for ref in refs(trimmed.row)] == ["/content/0/text"]
        assert made.inflate(trimmed.row) == result(meta, PAGE)
        small = result(meta, "alpha = 1\nbeta = 2\n")
        assert made.trim("mcp__fs__read_file", small).value is small


def test_the_text_of_a_json_block_stays_json() -> None:
    """A text block with JSON keeps its keys, ids and spelling; only its long strings are shortened."""
    source = '{ "id": 90071992547409931, "price": 1.10, "body": ' + json.dumps(PAGE) + ', "body": "last" }'
    for output in ({"content": [{"type": "text", "text": source}]}, [{"type": "text", "text": source}]):
        with host() as made:
            trimmed = made.trim("mcp__shop__get", output, budget=SMALL)
            (block,) = trimmed.value["content"] if isinstance(output, dict) else trimmed.value
            assert block["text"].startswith('{ "id": 90071992547409931, "price": 1.10, "body": "Paragraph 0')
            assert block["text"].endswith('", "body": "last" }')
            assert made.inflate(trimmed.row) == output


def test_a_wrapped_tool_keeps_what_its_own_codec_knows() -> None:
    """A long title stays, a text that looks like a name is moved, as in the tool's own output: the same blobs."""
    hits = [{"id": f"a-{n}", "title": "A very long title " * 20, "content": f"{n}{'solid' * 200}"} for n in range(8)]
    budget = Budget(limit=6_000, keep=5_000)
    with Host.load(plugins=[Application(), plugin], discover=False) as made:
        plain = {ref["blobId"] for ref in refs(made.trim("web_search", hits, budget=budget).row)}
        for output in (
            result({"result": hits}, "Found 8 pages."),
            result({"result": hits}, *(json.dumps(one) for one in hits)),
            {"content": [{"type": "text", "text": json.dumps(hits)}], "isError": False},
            result(hits),
        ):
            trimmed = made.trim("mcp__brave__web_search", output, budget=budget)
            found = [ref for ref in refs(trimmed.row) if ref["blobId"] in plain]
            assert len({ref["blobId"] for ref in found}) == len(hits)
            assert made.inflate(trimmed.row) == output


JSON_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.sampled_from([PAGE[:700], "solid" * 100])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)
BLOCKS = st.one_of(
    st.sampled_from(EVERY_BLOCK["content"]),
    st.builds(lambda value: {"type": "text", "text": json.dumps(value)}, JSON_VALUES),
    st.builds(lambda value: {"type": "later", "value": value}, JSON_VALUES),
)


@settings(max_examples=60, deadline=None)
@given(blocks=st.lists(BLOCKS, max_size=4), value=JSON_VALUES, failed=st.booleans())
def test_any_result_comes_back(blocks: list[Any], value: Any, failed: bool) -> None:
    """Whatever blocks and structuredContent: the same pointers for the rendering, and the row gives the result back."""
    output = {"content": blocks, "structuredContent": value, "isError": failed, "_meta": {"note": PAGE[:600]}}
    with host() as made:
        trimmed = made.trim("mcp__a__b", output, budget=Budget(limit=600, keep=512))
        assert trimmed.error is None
        assert mcp_result(trimmed.value) == mcp_result(output)
        assert trimmed.value["_meta"] == output["_meta"]
        assert made.inflate(json.loads(trimmed.row_text)) == output


def test_the_policy_names_a_wrapped_codec() -> None:
    """`codec = "module:name"` in the policy comes before the glob."""
    policy = Policy.from_mapping({"tools": {"mcp__docs__*": {"codec": "trimtab_mcp:mcp_result"}}})
    with Host.load(policy=policy, plugins=[plugin], discover=False) as made:
        trimmed = made.trim("mcp__docs__get", EVERY_BLOCK, budget=SMALL)
        assert made.explain(trimmed)["codec"] == "policy"
