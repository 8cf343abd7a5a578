"""The AI SDK's own treatment of tool schemas, run with Node: our verdict on an example is that of the real chain."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings

from trimtab.compress import check_tool_definitions, compress_tools, parse_compress_args
from trimtab.compress.definitions.sanitisers import ai_sdk_anthropic, ai_sdk_closed
from trimtab.errors import CallerError
from trimtab.wire.definitions import definition

pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parent.parent
NODE = ROOT / "tests" / "node"
VENDORS = runpy.run_path(str(ROOT / "core" / "tests" / "vendor_schemas.py"))
fits = VENDORS["fits"]
# What decides nothing: our sanitisers leave it out.
WORDS_ONLY = ("description", "title", "default", "format")

AiSdk = Callable[[Any], dict[str, Any]]


@pytest.fixture(scope="session")
def ai_sdk() -> Iterator[AiSdk]:
    """Gives what the AI SDK makes of a tool: `closed`, `anthropic`, `sent`, each with a `value` or an `error`."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    if not (NODE / "node_modules" / "@ai-sdk" / "anthropic").is_dir():
        pytest.skip("the AI SDK is not installed: `npm ci --ignore-scripts` in tests/node, or `dev.py test`")
    pipe = subprocess.PIPE
    with subprocess.Popen([node, "sanitise.mjs"], cwd=NODE, stdin=pipe, stdout=pipe, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ask, answers = process.stdin, process.stdout

        def answer(tool: Any) -> dict[str, Any]:
            ask.write(json.dumps({"tool": tool}) + "\n")
            ask.flush()
            found: dict[str, Any] = json.loads(answers.readline())
            return found

        yield answer
        ask.close()


def tool(schema: Any, *examples: Any) -> Any:
    """A tool as the AI SDK's providers are given it."""
    return definition("ai-sdk", "search", "Searches.", schema, examples=examples)


def accepted(answer: dict[str, Any], schema: Any, value: Any) -> bool:
    """Whether an example fits the schema as it stands and each form that the AI SDK makes of it."""
    made = [schema, *(answer[form]["value"] for form in ("closed", "anthropic") if "value" in answer[form])]
    return isinstance(value, dict) and all(fits(one, value) for one in made)


def ours(schema: Any, value: Any) -> bool:
    """Whether the example stays."""
    return not check_tool_definitions([tool(schema, value)], "ai-sdk")[1]


def bare(schema: Any) -> Any:
    """A schema without what decides nothing. (A property may be called `title`: a name is no keyword.)"""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: bare(one) for name, one in value.items()}
        if key in ("properties", "$defs", "definitions")
        else bare(value)
        for key, value in schema.items()
        if key not in WORDS_ONLY
    }


def dispatcher(**params: Any) -> Any:
    """A tool's schema that takes the name and the arguments of another."""
    return {"type": "object", "properties": {"name": {"type": "string"}, "params": {"type": "object", **params}}}


CALL = {"name": "f", "params": {"a": 1}}
TABLE: dict[str, tuple[Any, Any, bool]] = {
    "a dispatcher that does not say is closed": (dispatcher(), CALL, False),
    "one that says it is open is closed": (dispatcher(additionalProperties=True), CALL, False),
    "one with any values is closed for Anthropic": (dispatcher(additionalProperties={}), CALL, False),
    "without arguments": (dispatcher(), {"name": "f", "params": {}}, True),
    "closed outside, and too much": (dispatcher(), {"name": "f", "k": 1}, False),
    "no properties, no type": ({"required": ["a"]}, {"a": 1, "b": 2}, True),
    "properties, no type": ({"properties": {"a": {"type": "string"}}}, {"a": "x", "b": 2}, False),
    "definitions are closed too": (
        {"$ref": "#/definitions/d", "definitions": {"d": dispatcher()}},
        CALL,
        False,
    ),
    "a limit becomes text, the example breaks it": ({"type": "object", "minProperties": 1}, {}, False),
    "oneOf": ({"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}}]}, {"a": "x"}, True),
}


@pytest.mark.parametrize("kind", TABLE)
def test_the_table(kind: str, ai_sdk: AiSdk) -> None:
    """Tools as third parties write them: the verdict is the table's, and the real chain's."""
    schema, value, stays = TABLE[kind]
    assert ours(schema, value) is stays
    assert accepted(ai_sdk(tool(schema)), schema, value) is stays


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(VENDORS["inputs"]())
def test_any_schema(ai_sdk: AiSdk, pair: tuple[Any, Any]) -> None:
    """For any small schema and example: open stays open and closed closed as there, and the verdict is the same."""
    schema, value = pair
    answer = ai_sdk(tool(schema))
    assert outcome(ai_sdk_closed, schema) == answer["closed"].get("value", CallerError)
    made = outcome(ai_sdk_anthropic, schema)
    assert bare(made) == bare(answer["anthropic"].get("value", CallerError))
    verdict = accepted(answer, schema, value)
    event("stays" if verdict else "goes")
    assert ours(schema, value) == verdict


def outcome(sanitise: Callable[[Any], Any], schema: Any) -> Any:
    """What a sanitiser of ours gives, or that it refuses."""
    try:
        return sanitise(schema)
    except CallerError:
        return CallerError


def test_our_tools_pass(ai_sdk: AiSdk) -> None:
    """Our tools reach Anthropic as they are, with the example; closed, no form of a call is lost."""
    for one in compress_tools("ai-sdk", example=("m00003", "m00009")):
        answer = ai_sdk(one)
        sent = answer["sent"]["value"]
        assert (sent["name"], sent["input_schema"]) == (one["name"], one["inputSchema"])
        examples = [example["input"] for example in one.get("inputExamples", [])]
        assert sent.get("input_examples", []) == examples
        for form in ("closed", "anthropic"):
            schema = answer[form]["value"]
            assert not {"required", "anyOf", "oneOf", "allOf"} & set(schema)
            assert set(schema["properties"]) == set(one["inputSchema"]["properties"])
            assert all(fits(schema, example) for example in examples)
            if one["name"] == "compress":
                for call in CALLS:
                    assert fits(schema, call)
                    assert parse_compress_args(call).ranges


ENTRY = {"startId": "m00003", "endId": "m00009", "summary": "It was done.", "topic": "It", "summaryMaxChars": 900}
CALLS = [
    {"content": [ENTRY, {key: ENTRY[key] for key in ("startId", "endId", "summary")}]},
    {"content": ["m00003-m00009 It\nIt was done."]},
    {"content": [ENTRY], "topic": "It"},
    ENTRY,
]
