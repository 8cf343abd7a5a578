"""Examples in tool definitions: those that a provider would refuse are left out, everything else stays."""

from __future__ import annotations

import copy
import json
import runpy
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from trimtab.compress import Finding, check_tool_definitions
from trimtab.errors import CallerError, MissingExtra
from trimtab.wire.definitions import PROTOCOLS, definition

pytest.importorskip("jsonschema_rs", reason="checking examples needs trimtab[tools]")

VENDORS = runpy.run_path(str(Path(__file__).with_name("vendor_schemas.py")))
CHAINS, accepted = VENDORS["CHAINS"], VENDORS["accepted"]

OPEN = {"type": "object", "properties": {"name": {"type": "string"}, "params": {"type": "object"}}}
CLOSED = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False}


def tool(protocol: str, schema: Any, *examples: Any, strict: bool = False) -> Any:
    """One tool of a protocol with these examples of its input."""
    made = copy.deepcopy(definition(protocol, "search", "Searches.", schema, examples=examples))
    if strict:
        made.get("function", made)["strict"] = True
    return made


def ours(protocol: str, schema: Any, value: Any, *, strict: bool = False) -> bool:
    """Whether the example stays."""
    given_tool = tool(protocol, schema, value, strict=strict)
    before = json.dumps(given_tool)
    (checked,), findings = check_tool_definitions([given_tool], protocol)
    assert json.dumps(given_tool) == before
    assert (checked is given_tool) == (not findings)
    if findings:
        assert checked == tool(protocol, schema, strict=strict)
    return not findings


TABLE: list[tuple[str, str, bool, Any, Any]] = [
    ("closed and right", "anthropic", False, CLOSED, {"q": "x"}),
    ("closed and too much", "anthropic", False, CLOSED, {"q": "x", "k": 1}),
    ("closed and too little", "anthropic", False, CLOSED, {}),
    ("another type", "anthropic", False, CLOSED, {"q": 1}),
    ("a dispatcher is closed", "anthropic", False, OPEN, {"name": "f", "params": {"a": 1}}),
    ("a dispatcher without arguments", "anthropic", False, OPEN, {"name": "f", "params": {}}),
    ("said to be open, closed all the same", "anthropic", False, {**OPEN, "additionalProperties": True}, {"k": 1}),
    ("a limit becomes text", "anthropic", False, {"type": "object", "maxProperties": 0}, {}),
    ("oneOf becomes anyOf", "anthropic", False, {"oneOf": [CLOSED, {"type": "object"}]}, {"q": "x"}),
    ("several types stop the library", "anthropic", False, {"type": ["object", "null"]}, {"a": 1}),
    ("no type stops the library", "anthropic", False, {"type": "object", "properties": {"a": {}}}, {"a": 1, "b": 2}),
    ("a definition that is closed", "anthropic", False, {"$ref": "#/$defs/d", "$defs": {"d": OPEN}}, {"x": 1}),
    ("an open object stays open", "openai-chat", False, OPEN, {"name": "f", "params": {"a": 1}}),
    ("strict: all are required", "openai-chat", True, OPEN, {"name": "f"}),
    ("strict: closed", "openai-chat", True, OPEN, {"name": "f", "params": {"a": 1}}),
    ("strict: whole", "openai-chat", True, OPEN, {"name": "f", "params": {}}),
    (
        "strict: said to be open",
        "openai-responses",
        True,
        {"type": "object", "additionalProperties": True},
        {"a": 1},
    ),
    ("strict: a default of null", "openai-responses", True, {"type": "object", "default": None}, {}),
    (
        "strict: written out",
        "openai-responses",
        True,
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/d", "title": "A"}}, "$defs": {"d": OPEN}},
        {"a": {"name": "x"}},
    ),
    (
        "strict: a circle written out has no end",
        "openai-responses",
        True,
        {"type": "object", "properties": {"a": {"$ref": "#", "title": "A"}}},
        {},
    ),
    ("open in OpenAPI", "gemini", False, OPEN, {"name": "f", "params": {"a": 1}}),
    (
        "loud types",
        "gemini",
        False,
        {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}},
        {"a": None},
    ),
    ("loud types, wrong", "gemini", False, {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}, {"a": None}),
    (
        "or null",
        "gemini",
        False,
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
        {"a": None},
    ),
    (
        "or null, with more",
        "gemini",
        False,
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}}},
        {"a": None},
    ),
    ("what Gemini does not know", "gemini", False, {"type": "object", "uniqueItems": True}, {}),
    ("several types", "gemini", False, {"type": ["object", "null"]}, {}),
    (
        "a number as a text",
        "gemini",
        False,
        {"type": "object", "properties": {"a": {"type": "array", "min_items": "2"}}},
        {"a": [1]},
    ),
    (
        "a circle takes anything",
        "gemini",
        False,
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"$ref": "#/$defs/d"}}},
        {"a": 1},
    ),
    ("no object", "mcp", False, {}, []),
    (
        "draft 7 lists items",
        "mcp",
        False,
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": {"items": [{"type": "string"}]}},
        },
        {"a": [1]},
    ),
    ("2020-12 does not", "mcp", False, {"properties": {"a": {"items": [{"type": "string"}]}}}, {"a": ["x"]}),
    ("a format is not looked at", "bedrock", False, {"properties": {"a": {"format": "date"}}}, {"a": "x"}),
]


@pytest.mark.parametrize(
    ("protocol", "strict", "schema", "value"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE]
)
def test_the_table(protocol: str, strict: bool, schema: Any, value: Any) -> None:
    """Tools as third parties write them: the verdict is that of the vendor's library and `jsonschema`."""
    for name in VENDORS["missing"](protocol):
        pytest.skip(f"{name} is not installed")
    assert ours(protocol, schema, value, strict=strict) == accepted(CHAINS[protocol, strict], schema, value)


def test_the_table_has_both_verdicts() -> None:
    """For each protocol some examples stay and some go."""
    verdicts = {(row[1], ours(row[1], row[3], row[4], strict=row[2])) for row in TABLE}
    assert {name for name, stays in verdicts if stays} >= {"anthropic", "openai-chat", "openai-responses", "gemini"}
    assert {name for name, stays in verdicts if not stays} >= {"anthropic", "openai-chat", "gemini", "mcp"}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VENDORS["inputs"]().filter(lambda pair: pair[1] is not None))
def test_any_schema(pair: tuple[Any, Any]) -> None:
    """For any small schema and example, the verdict is that of the vendor's library and `jsonschema`."""
    for (protocol, strict), chain in CHAINS.items():
        if not VENDORS["missing"](protocol):
            verdict = accepted(chain, *pair)
            event(f"{protocol} {'strict' if strict else ''}: {'stays' if verdict else 'goes'}")
            assert ours(protocol, *pair, strict=strict) == verdict, protocol


def at(value: Any, pointer: str) -> Any:
    """What a JSON Pointer leads to."""
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_only_the_bad_example_goes(protocol: str) -> None:
    """Of several examples the bad one goes, the finding says which and why, and all else is the same object."""
    good, bad, also = {"q": "one"}, {"q": 2, "secret": "hunter2"}, {"q": "three"}
    only = protocol == "gemini"
    given_tool = tool(protocol, CLOSED, *((bad,) if only else (good, bad, also)))
    given_tool["kept"] = {"cache_control": {"type": "ephemeral"}}
    other = tool(protocol, CLOSED, good)
    (first, second), (finding,) = check_tool_definitions([other, given_tool], protocol)
    assert first is other
    assert second == {**tool(protocol, CLOSED, *(() if only else (good, also))), "kept": given_tool["kept"]}
    assert list(second) == [key for key in given_tool if key in second]
    assert second["kept"] is given_tool["kept"]
    assert finding.tool == "search"
    assert at([other, given_tool], finding.key) in (bad, {"input": bad})
    assert "hunter2" not in finding.why
    assert len(finding.why) <= 400


@pytest.mark.parametrize(
    ("protocol", "given_tool"),
    [
        ("anthropic", {"type": "web_search_20260318", "name": "web_search"}),
        ("anthropic", {"name": "bash", "type": "bash_20250124", "input_examples": [{"command": "ls"}]}),
        ("openai-chat", {"type": "custom", "custom": {"name": "grammar"}}),
        ("openai-chat", {"type": "function"}),
        ("openai-responses", {"type": "mcp", "server_label": "s", "tools": None}),
        ("gemini", {"googleSearch": {}}),
        ("gemini", {"functionDeclarations": "none"}),
        ("bedrock", {"cachePoint": {"type": "default"}}),
        ("mcp", None),
        ("ai-sdk", 7),
        ("mcp", {"name": 3, "inputSchema": {}}),
    ],
)
def test_what_is_no_function_passes(protocol: str, given_tool: Any) -> None:
    """A provider's own tools, and what is no tool at all, are passed on as they are."""
    (checked,), findings = check_tool_definitions([given_tool], protocol)
    assert checked is given_tool
    assert findings == []


PLACES: dict[str, tuple[str, Any, list[str], Any]] = {
    "declarations in a tool": (
        "gemini",
        {"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "example": 3}}, {"name": "g"}]},
        ["/0/functionDeclarations/0/parameters/example"],
        {"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}, {"name": "g"}]},
    ),
    "a second key for the schema": (
        "gemini",
        {"name": "f", "parametersJsonSchema": {**CLOSED, "examples": [{"q": "x"}, {}]}},
        ["/0/parametersJsonSchema/examples/1"],
        {"name": "f", "parametersJsonSchema": {**CLOSED, "examples": [{"q": "x"}]}},
    ),
    "a keyword that Gemini refuses": (
        "gemini",
        {
            "name": "f",
            "parameters": {
                "type": "OBJECT",
                "example": {"examples": "x"},
                "properties": {"examples": {"type": "STRING", "examples": ["y"]}},
            },
        },
        ["/0/parameters/properties/examples/examples"],
        {
            "name": "f",
            "parameters": {
                "type": "OBJECT",
                "example": {"examples": "x"},
                "properties": {"examples": {"type": "STRING"}},
            },
        },
    ),
    "tools in a namespace": (
        "openai-responses",
        {"type": "namespace", "name": "n", "tools": [tool("openai-responses", CLOSED, {})]},
        ["/0/tools/0/parameters/examples/0"],
        {"type": "namespace", "name": "n", "tools": [tool("openai-responses", CLOSED)]},
    ),
    "in the schema and beside it": (
        "ai-sdk",
        {"name": "f", "inputSchema": {**CLOSED, "examples": [[]]}, "inputExamples": [{"q": "x"}, {"input": {}}]},
        ["/0/inputExamples/0", "/0/inputExamples/1", "/0/inputSchema/examples/0"],
        {"name": "f", "inputSchema": CLOSED},
    ),
    "a list that is none": (
        "anthropic",
        {"name": "f", "input_schema": CLOSED, "input_examples": {"q": "x"}},
        ["/0/input_examples"],
        {"name": "f", "input_schema": CLOSED},
    ),
}


@pytest.mark.parametrize("kind", PLACES)
def test_every_place(kind: str) -> None:
    """Wherever an application can put an example, a bad one goes and its place is named."""
    protocol, given_tool, keys, left = PLACES[kind]
    (checked,), findings = check_tool_definitions([given_tool], protocol)
    assert [one.key for one in findings] == keys
    assert checked == left


def deep(levels: int) -> Any:
    """A schema nested so deep."""
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def doubling(levels: int, keyword: str) -> Any:
    """Definitions that each refer twice to the next."""
    steps = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{levels}": {"type": "object"}}}


def nested(levels: int) -> Any:
    """An example nested so deep."""
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


STEP = {"properties": {"a": {"$ref": "#"}}}
CHAIN = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(3_000)}
LONG = {"a": "a" * 50_000 + "!"}
HOSTILE: dict[str, tuple[Any, Any]] = {
    "a number": (3, {}),
    "a list": ([], {}),
    "no type": ({"type": "objekt"}, {}),
    "properties of a wrong type": ({"type": "object", "properties": 3}, {}),
    "alternatives of a wrong type": ({"anyOf": {"type": "object"}}, {}),
    "a broken pattern": ({"type": "object", "properties": {"a": {"pattern": "("}}}, {"a": "x"}),
    "a huge pattern": ({"properties": {"a": {"pattern": "((a{1000}){1000}){1000}"}}}, {"a": "x"}),
    "a circle": ({"$ref": "#"}, {}),
    "a circle of two": ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, {}),
    "a circle of alternatives": ({"anyOf": [{"type": "string"}, {"not": {"$ref": "#"}}]}, {}),
    "nowhere": ({"$ref": "#/$defs/none"}, {}),
    "a file": ({"$ref": "file:///etc/passwd"}, {}),
    "an anchor": ({"$ref": "#a", "$defs": {"a": {"$anchor": "a"}}}, {}),
    "a draft of its own": ({"$schema": "https://example.org/meta", "type": "object"}, {}),
    "an id inside": ({"properties": {"a": {"$id": "https://example.org/a", "$ref": "#/x"}}}, {"a": 1}),
    "too deep": (deep(3_000), {}),
    "too large": ({"enum": list(range(30_000))}, {}),
    "a long chain": ({"$ref": "#/$defs/d0", "$defs": {**CHAIN, "d3000": {}}}, {}),
    "doubling": (doubling(60, "allOf"), {}),
    "doubling alternatives": (doubling(60, "anyOf"), {}),
    "doubling with the example": ({"allOf": [STEP, dict(STEP)]}, nested(60)),
    "not JSON": ({"type": "object", "default": {1, 2}}, {}),
    "a surrogate": ({"properties": {"\ud800": {}}}, {}),
    "an example that is not JSON": ({"type": "object"}, {"a": b"x"}),
    "an example with NaN": ({"type": "object"}, {"a": float("nan")}),
    "an example that is too deep": ({"type": "object"}, nested(5_000)),
    "a pattern that backtracks": ({"properties": {"a": {"pattern": "^(a+)+$"}}}, LONG),
    "a pattern that looks ahead": ({"properties": {"a": {"pattern": "^(?=(a+)+$)b"}}}, LONG),
    "a pattern that looks back": ({"properties": {"a": {"pattern": "(a*)*\\1b"}}}, LONG),
}
# google-genai makes a schema that takes anything of what leads in a circle.
MILD = {("gemini", "a circle of two")}


def spoilt(protocol: str, schema: Any, value: Any) -> Any:
    """A tool with this schema and example, whatever they are."""
    shape = PROTOCOLS[protocol]
    if not shape.examples and isinstance(schema, dict):
        schema = {**schema, shape.schema_examples: value if protocol == "gemini" else [value]}
    body: Any = {"name": "search", "description": "Searches."}
    if shape.examples:
        body[shape.examples] = [{shape.example_key: value} if shape.example_key else value]
    body[shape.schema[0]] = {shape.schema[1]: schema} if len(shape.schema) > 1 else schema
    if protocol.startswith("openai"):
        body["strict"] = True
    return {shape.body[0]: body} if shape.body else body


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_definitions(kind: str, protocol: str) -> None:
    """A schema or an example that cannot be checked, or not in time, costs its example and nothing else."""
    schema, value = HOSTILE[kind]
    other = tool(protocol, CLOSED, {"q": "x"})
    given_tool = spoilt(protocol, schema, value)
    (first, second, third), findings = check_tool_definitions([other, given_tool, other], protocol)
    assert first is third is other
    for one in findings:
        assert (one.tool, one.key[:3]) == ("search", "/1/")
        assert len(one.why) <= 400
    if (isinstance(schema, dict) or PROTOCOLS[protocol].examples) and (protocol, kind) not in MILD:
        assert len(findings) == 1, kind
        shape = PROTOCOLS[protocol]
        body = second[shape.body[0]] if shape.body else second
        assert shape.examples not in body
        inner = at(body, "/" + "/".join(shape.schema))
        assert inner is schema or inner == schema
    else:
        assert second is given_tool


class Asked(BaseHTTPRequestHandler):
    """Notes who asks."""

    def do_GET(self) -> None:
        self.server.paths.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")


@pytest.mark.parametrize("key", ["$ref", "$schema", "$dynamicRef", "$id"])
def test_nothing_is_fetched(key: str) -> None:
    """A schema that lies elsewhere is not looked for."""
    paths: list[str] = []
    with HTTPServer(("127.0.0.1", 0), Asked) as server:
        server.paths = paths  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            uri = f"http://127.0.0.1:{server.server_port}/schema.json"
            schema = {key: uri, "type": "object", "properties": {"a": {"$ref": "other.json"}}}
            for protocol in PROTOCOLS:
                (_,), (finding,) = check_tool_definitions([tool(protocol, schema, {"a": 1})], protocol)
                assert finding.tool == "search"
        finally:
            server.shutdown()
            thread.join()
    assert paths == []


@pytest.mark.parametrize("protocol", ["", "anthropic2", None, []])
def test_an_unknown_protocol(protocol: Any) -> None:
    """It is the caller's mistake; the message names those that there are."""
    with pytest.raises(CallerError, match=r"known: .*anthropic"):
        check_tool_definitions([], protocol)


@pytest.mark.parametrize("tools", [None, "tools", {"name": "f"}, b"x", 3])
def test_tools_are_a_list(tools: Any) -> None:
    """One tool, or a mapping, is the caller's mistake."""
    with pytest.raises(CallerError, match="list of definitions"):
        check_tool_definitions(tools, "anthropic")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without jsonschema-rs the error names what to install, whether or not there is an example."""
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    with pytest.raises(MissingExtra, match=r"trimtab\[tools\]") as raised:
        check_tool_definitions([], "anthropic")
    assert raised.value.extra == "trimtab[tools]"


KEYS = {"name", "function", "toolSpec", "functionDeclarations", "tools", "strict", "a", "json", "input"}
KEYS |= {"inputSchema", "inputExamples", "input_schema", "input_examples", "parameters", "examples", "example"}
KEYS |= {"type", "properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "allOf"}
KEYS |= {"enum", "const", "nullable", "$ref", "$defs"}
WORDS = st.sampled_from(sorted(KEYS))
VALUES = st.sampled_from(
    ["object", "OBJECT", "string", "array", "null", "#", "#/$defs/a", "function", True, 0.5, 1e300]
)
JSON = st.recursive(
    st.none() | st.integers(-1, 2) | VALUES | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(JSON, JSON, JSON)
def test_anything_at_all(value: Any, schema: Any, given_example: Any) -> None:
    """Any JSON in the place of a tool, a schema or an example raises nothing, and what comes back is settled."""
    before = json.dumps([value, schema, given_example])
    for protocol in PROTOCOLS:
        given_tools = [value, {"name": value}, spoilt(protocol, schema, given_example)]
        tools, findings = check_tool_definitions(given_tools, protocol)
        assert len(tools) == 3
        assert check_tool_definitions(tools, protocol) == (tools, [])
        assert all(isinstance(one, Finding) for one in findings)
    assert json.dumps([value, schema, given_example]) == before
