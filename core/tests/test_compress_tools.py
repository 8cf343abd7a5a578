"""The definitions of the compress tools: what a schema takes, the parser reads; nothing in them misleads a model."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.compress import compress_tools, parse_compress_args
from trimtab.errors import CallerError
from trimtab.wire.definitions import PROTOCOLS

VENDORS = runpy.run_path(str(Path(__file__).with_name("vendor_schemas.py")))
fits = VENDORS["fits"]
REFS = ("m00003", "m00009")
ENTRY = {"startId": "m00003", "endId": "b2", "summary": "It was done."}
FULL = {**ENTRY, "topic": "It", "summaryMaxChars": 900}
LINES = "m00003-m00009 It\nIt was done."
CALLS: dict[str, tuple[Any, int]] = {
    "entries": ({"content": [ENTRY, FULL]}, 2),
    "line form": ({"content": [LINES, FULL]}, 2),
    "one range": (FULL, 1),
    "a topic for all": ({"content": [ENTRY], "topic": "It"}, 1),
}


def schema_of(protocol: str, tool: Any) -> Any:
    """The input schema in a definition."""
    shape = PROTOCOLS[protocol]
    for key in (*shape.body, *shape.schema):
        tool = tool[key]
    return tool


def examples_of(protocol: str, tool: Any) -> list[Any]:
    """The examples in a definition, wherever the protocol has them."""
    return {
        "anthropic": lambda: tool.get("input_examples", []),
        "ai-sdk": lambda: [one["input"] for one in tool.get("inputExamples", [])],
        "gemini": lambda: [schema_of(protocol, tool)["example"]] if "example" in schema_of(protocol, tool) else [],
    }.get(protocol, lambda: schema_of(protocol, tool).get("examples", []))()


def names(tools: list[Any]) -> list[str]:
    """Their names."""
    return [name for tool in tools for name in re.findall(r'"name": "([^"]*)"', json.dumps(tool))]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_three_tools(protocol: str) -> None:
    """Each protocol has the three, in one order, by the names that are asked for; one without a name is left out."""
    assert names(compress_tools(protocol)) == ["compress", "decompress", "search_context"]
    assert names(compress_tools(protocol, compress="fold", decompress="open", search="find")) == [
        "fold",
        "open",
        "find",
    ]
    assert names(compress_tools(protocol, decompress="", search="")) == ["compress"]
    assert json.dumps(compress_tools(protocol)) == json.dumps(compress_tools(protocol))
    with pytest.raises(CallerError, match=r"known: .*anthropic"):
        compress_tools("other")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_flat_form_lives(protocol: str) -> None:
    """No schema demands anything at its top or has alternatives there, and none is called strict."""
    for tool in compress_tools(protocol, example=REFS):
        schema = schema_of(protocol, tool)
        assert schema["type"] == "object"
        assert not {"required", "anyOf", "oneOf", "allOf", "not", "additionalProperties"} & set(schema)
        assert "strict" not in json.dumps(tool).replace('"strict": false', "")
        # That API is strict where a tool says nothing.
        assert ("strict" in tool) == (protocol == "openai-responses")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_refs_to_copy(protocol: str) -> None:
    """A definition holds no ref and no example, unless the application gives refs: then those two, once each."""
    assert re.findall("[mMbB][0-9]", json.dumps(compress_tools(protocol))) == []
    assert [examples_of(protocol, tool) for tool in compress_tools(protocol)] == [[], [], []]
    tools = compress_tools(protocol, example=REFS)
    assert re.findall("[mMbB][0-9]+", json.dumps(tools)) == list(REFS)
    (example,) = examples_of(protocol, tools[0])
    (found,) = parse_compress_args(example).ranges
    assert (found.start_ref, found.end_ref) == REFS
    assert len(found.summary) > 100


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_a_model_reads_is_no_call(protocol: str) -> None:
    """A description that a model copies whole is no range."""
    for tool in compress_tools(protocol):
        for text in re.findall(r'"description": ("(?:[^"\\]|\\.)*")', json.dumps(tool)):
            for copied in (text, {"content": [json.loads(text)]}, {"content": json.loads(text)}):
                assert parse_compress_args(copied).ranges == ()


@pytest.mark.parametrize("refs", [("m00009", "m00003"), ("m3", ""), ("first", "last"), ("M12", "m2"), (3, 9)])
def test_a_wrong_example(refs: Any) -> None:
    """An example's refs are refs, and the start comes before the end."""
    with pytest.raises(CallerError, match="example"):
        compress_tools("anthropic", example=refs)


@pytest.mark.parametrize("refs", [("m00003", "m00003"), ("m99999", "m100000"), ("b2", "m00001"), ("m00007", "b1")])
def test_an_example_of_one_message_or_with_blocks(refs: tuple[str, str]) -> None:
    """A stretch may be one message, and may begin or end with a block, whose place its number does not tell."""
    (example,) = examples_of("anthropic", compress_tools("anthropic", example=refs)[0])
    assert [(one.start_ref, one.end_ref) for one in parse_compress_args(example).ranges] == [refs]


TEXTS = st.text().map(lambda text: f"It: {text}")
REF = st.integers(1, 99_999).map(lambda number: f"m{number:05}")
ENTRIES = st.fixed_dictionaries(
    {"startId": REF, "endId": REF, "summary": TEXTS},
    optional={"topic": TEXTS, "summaryMaxChars": st.integers(1, 10**6)},
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ENTRIES | st.builds(lambda text: f"m00001-m00002 topic\n{text}", TEXTS), min_size=1) | ENTRIES)
def test_what_the_schema_takes_the_parser_reads(value: Any) -> None:
    """Every call of a form that the schema describes gives all of its ranges."""
    pytest.importorskip("jsonschema")
    call = {"content": value} if isinstance(value, list) else value
    assert fits(schema_of("mcp", compress_tools("mcp")[0]), call)
    parsed = parse_compress_args(call)
    assert len(parsed.ranges) == (len(value) if isinstance(value, list) else 1)
    assert parsed.diagnostics.kind == "ok"


@pytest.mark.parametrize("form", CALLS)
def test_the_forms(form: str) -> None:
    """Each documented form of a call is taken by the schema and read by the parser."""
    pytest.importorskip("jsonschema")
    call, ranges = CALLS[form]
    assert fits(schema_of("mcp", compress_tools("mcp")[0]), call)
    assert len(parse_compress_args(call).ranges) == ranges


@pytest.mark.parametrize(
    "call", [{"content": [{**ENTRY, "summary": 3}]}, {"content": [{"startId": "m1"}]}, {"topic": 1}]
)
def test_what_the_schema_refuses(call: Any) -> None:
    """What is no range is refused by hosts that check."""
    pytest.importorskip("jsonschema")
    assert not fits(schema_of("mcp", compress_tools("mcp")[0]), call)


@pytest.mark.parametrize("library", ["anthropic", "google"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_our_tools_pass_the_vendors_sanitisers(protocol: str, library: str) -> None:
    """Whatever library a definition goes through: no form of a call is lost, no alternative or demand appears at the
    top, every property stays, what was open is open or names all that it takes, and the example fits.
    """
    if VENDORS[library] is None or VENDORS["jsonschema"] is None:
        pytest.skip(f"{library} or jsonschema is not installed")
    for tool in compress_tools(protocol, example=REFS):
        given_schema = {key: value for key, value in schema_of(protocol, tool).items() if key != "examples"}
        schema = VENDORS[f"from_{library}"](given_schema)
        assert not {"required", "anyOf", "oneOf", "allOf"} & set(schema)
        assert set(schema["properties"]) == set(given_schema["properties"])
        for example in examples_of(protocol, tool):
            assert fits(schema, example)
        if "compress" in names([tool]):
            assert all(fits(schema, call) for call, _ in CALLS.values())
            (entry, text) = schema["properties"]["content"]["items"]["anyOf"]
            assert set(entry["required"]) == {"startId", "endId", "summary"}
            assert set(entry["properties"]) == set(FULL)
            assert text["type"] == "string"


def test_strict_would_kill_the_flat_form() -> None:
    """The openai library makes every property required: why no definition may be strict."""
    if VENDORS["openai"] is None or VENDORS["jsonschema"] is None:
        pytest.skip("openai or jsonschema is not installed")
    schema = VENDORS["from_openai"](schema_of("openai-chat", compress_tools("openai-chat")[0]))
    assert not any(fits(schema, call) for call, _ in CALLS.values())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_our_examples_stay(protocol: str) -> None:
    """Our definitions pass our own check untouched."""
    pytest.importorskip("jsonschema_rs")
    from trimtab.compress import check_tool_definitions

    tools = compress_tools(protocol, example=REFS)
    checked, findings = check_tool_definitions(tools, protocol)
    assert findings == []
    assert all(one is other for one, other in zip(checked, tools, strict=True))


def test_vendors_types_take_our_tools() -> None:
    """google-genai's own `FunctionDeclaration` takes the Gemini definitions as they are."""
    if VENDORS["google"] is None:
        pytest.skip("google-genai is not installed")
    types = __import__("google.genai.types", fromlist=["types"])
    for tool in compress_tools("gemini", example=REFS):
        made = types.FunctionDeclaration.model_validate(tool).model_dump(exclude_none=True, by_alias=True, mode="json")
        assert set(made) == {"name", "description", "parameters"}
