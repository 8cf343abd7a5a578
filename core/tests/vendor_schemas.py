"""What vendors' own libraries make of a tool's input schema, and whether an example fits it, said by `jsonschema`.

Tests load this with `runpy`; what is measured with it is `check_tool_definitions`. Libraries that are not installed are
None: a test that needs one skips.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from hypothesis import strategies as st


def library(name: str) -> Any:
    """The module, or None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


jsonschema = library("jsonschema")
anthropic = library("anthropic")
openai = library("openai.lib._pydantic")
google = library("google.genai._transformers")
TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}


def from_anthropic(schema: Any) -> Any:
    """What `anthropic.transform_schema` gives."""
    return anthropic.transform_schema(copy.deepcopy(schema))


def from_openai(schema: Any) -> Any:
    """What the openai library makes of the schema of a strict tool."""
    schema = copy.deepcopy(schema)
    return openai._ensure_strict_json_schema(schema, path=(), root=schema)


def from_google(schema: Any) -> Any:
    """What google-genai processes a schema to and its `Schema` takes, with OpenAPI 3.0's words in JSON Schema's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = google.t_schema(None, copy.deepcopy(schema))
    return as_json_schema({} if made is None else made.model_dump(exclude_none=True, by_alias=True, mode="json"))


def as_json_schema(node: Any) -> Any:
    """OpenAPI 3.0's types and `nullable` in JSON Schema."""
    node = dict(node)
    if "type" in node:
        node["type"] = node["type"].lower()
        if node["type"] not in TYPES:
            raise ValueError(f"unknown type {node['type']}")
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            node[key] = as_json_schema(node[key])
    if "anyOf" in node:
        node["anyOf"] = [as_json_schema(one) for one in node["anyOf"]]
    if "properties" in node:
        node["properties"] = {name: as_json_schema(one) for name, one in node["properties"].items()}
    return {"anyOf": [node, {"type": "null"}]} if node.pop("nullable", False) else node


def as_it_stands(schema: Any) -> Any:
    """The schema."""
    return schema


# Protocol and strictness to what a schema may go through.
CHAINS: dict[tuple[str, bool], tuple[Callable[[Any], Any], ...]] = {
    ("anthropic", False): (as_it_stands, from_anthropic),
    ("openai-chat", False): (as_it_stands,),
    ("openai-chat", True): (as_it_stands, from_openai),
    ("openai-responses", True): (as_it_stands, from_openai),
    ("gemini", False): (from_google,),
    ("bedrock", False): (as_it_stands,),
    ("mcp", False): (as_it_stands,),
}


def missing(protocol: str) -> list[str]:
    """What is not installed and needed to say what becomes of a protocol's schemas."""
    needed = {"anthropic": anthropic, "gemini": google, "openai-chat": openai, "openai-responses": openai}
    found = {"jsonschema": jsonschema, protocol: needed.get(protocol, jsonschema)}
    return [name for name, module in found.items() if module is None]


def forms(chain: tuple[Callable[[Any], Any], ...], schema: Any) -> list[Any]:
    """The forms of a schema; one that the library raises for is never sent."""
    made = []
    for change in chain:
        try:
            made.append(change(schema))
        except Exception:  # each library raises what it likes
            continue
    return made


def fits(schema: Any, example: Any) -> bool:
    """Whether an example fits a schema; none fits one that is not valid, leads nowhere, or has no end."""
    cls = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        cls.check_schema(schema)
        follow(schema, schema, [], set())
        return bool(cls(schema).is_valid(example))
    except (jsonschema.SchemaError, LookupError):
        return False


def follow(node: Any, root: Any, above: list[int], seen: set[int]) -> None:
    """Go through all schemas in use. LookupError: a reference leads nowhere, or back without going into the value."""
    if not isinstance(node, dict):
        return
    if id(node) in above:
        raise LookupError("a circle")
    if id(node) in seen:
        return
    now = [*above, id(node)]
    if "$ref" in node:
        target = root
        for step in node["$ref"].split("/")[1:]:
            target = target[step]
        follow(target, root, now, seen)
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in node.get(key, []):
            follow(inner, root, now, seen)
    seen.add(id(node))
    deeper = [*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")]
    for inner in deeper:
        follow(inner, root, [], seen)


def accepted(chain: tuple[Callable[[Any], Any], ...], schema: Any, example: Any) -> bool:
    """Whether an example fits every form of a schema, and there is one."""
    made = forms(chain, schema)
    return isinstance(example, dict) and bool(made) and all(fits(one, example) for one in made)


NAMES = st.sampled_from(["a", "b", "c"])
TEXTS = st.sampled_from(["", "x", "yy", "zzz", "2020-01-01"])
SMALL = st.integers(-2, 3)
LEAVES = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "string", "format": "date"}),
    st.builds(lambda low: {"type": "string", "minLength": low}, st.integers(0, 2)),
    st.just({"type": "string", "pattern": "^[xy]+$"}),
    st.builds(lambda words: {"type": "string", "enum": words}, st.lists(TEXTS, min_size=1, unique=True)),
    st.builds(lambda word: {"type": "string", "const": word}, TEXTS),
    st.builds(lambda low: {"type": "integer", "minimum": low}, SMALL),
    st.just({"type": "number", "exclusiveMinimum": 0}),
    st.just({"type": "boolean", "description": "yes or no"}),
    st.just({"type": "null"}),
    st.just({"type": ["string", "null"]}),
    st.just({"enum": [1, "x", None]}),
    st.just({"const": 2}),
    st.just({}),
    st.just(True),
    st.builds(lambda name: {"$ref": f"#/$defs/{name}"}, st.sampled_from(["d", "e"])),
    st.builds(lambda name: {"$ref": f"#/$defs/{name}", "description": "that"}, st.sampled_from(["d", "e"])),
    st.just({"$ref": "#/definitions/d"}),
)


def _with(draw: st.DrawFn, node: dict[str, Any], key: str, values: st.SearchStrategy[Any]) -> None:
    if draw(st.booleans()):
        node[key] = draw(values)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Schemas of objects, open, closed or saying nothing of it."""
    node: dict[str, Any] = {"type": "object"}
    _with(draw, node, "properties", st.dictionaries(NAMES, inner, max_size=3))
    _with(draw, node, "required", st.lists(NAMES, max_size=2, unique=True))
    _with(draw, node, "additionalProperties", st.booleans() | st.just({}) | inner)
    if draw(st.integers(0, 9)) == 0:
        node["maxProperties"] = 2
    return node


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Schemas of arrays."""
    node: dict[str, Any] = {"type": "array"}
    _with(draw, node, "items", inner)
    _with(draw, node, "minItems", st.integers(0, 2))
    _with(draw, node, "maxItems", st.integers(0, 2))
    return node


@st.composite
def choices(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Schemas with alternatives, sometimes beside other keywords."""
    node = {draw(st.sampled_from(["anyOf", "oneOf", "allOf"])): draw(st.lists(inner, min_size=1, max_size=3))}
    if draw(st.integers(0, 3)) == 0:
        node = {**draw(objects(inner)), **node}
    return node


SCHEMAS = st.recursive(LEAVES, lambda inner: objects(inner) | arrays(inner) | choices(inner), max_leaves=6)


@st.composite
def inputs(draw: st.DrawFn) -> tuple[Any, Any]:
    """An input schema and an example that may fit it."""
    root = draw(objects(SCHEMAS) | choices(objects(SCHEMAS)))
    stored = {name: draw(SCHEMAS) for name in ("d", "e")}
    schema = {**root, "$defs": stored} if draw(st.booleans()) or "$defs" in repr(root) + repr(stored) else root
    if "#/definitions/" in repr(schema):
        schema = {**schema, "definitions": {"d": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    return schema, draw(st.just({}) | instance(schema, schema, 4))


@st.composite
def instance(draw: st.DrawFn, schema: Any, root: Any, depth: int) -> Any:
    """A value that a schema may well take."""
    if not isinstance(schema, dict) or depth == 0 or draw(st.integers(0, 20)) == 0:
        return draw(st.none() | TEXTS | SMALL | st.just({}) | st.just({"x": 1}))
    if "$ref" in schema:
        place, name = schema["$ref"].split("/")[1:]
        return draw(instance(root.get(place, {}).get(name), root, depth - 1))
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema and "type" not in schema:
            return draw(instance(draw(st.sampled_from(schema[key])), root, depth - 1))
    for key in ("enum", "const"):
        if key in schema:
            return draw(st.sampled_from(schema[key])) if key == "enum" else schema[key]
    kind = schema.get("type")
    if kind == "object":
        named = schema.get("properties", {})
        names = [name for name in named if draw(st.integers(0, 3)) or name in schema.get("required", [])]
        made = {name: draw(instance(named[name], root, depth - 1)) for name in names}
        if draw(st.integers(0, 3)) == 0:
            made["x"] = draw(instance(schema.get("additionalProperties"), root, depth - 1))
        return made
    if kind == "array":
        size = draw(st.integers(schema.get("minItems", 0), 2))
        return [draw(instance(schema.get("items"), root, depth - 1)) for _ in range(size)]
    kinds = {"string": TEXTS, "integer": SMALL, "number": SMALL, "boolean": st.booleans(), "null": st.none()}
    return draw(kinds.get(str(kind), TEXTS | st.none()))
