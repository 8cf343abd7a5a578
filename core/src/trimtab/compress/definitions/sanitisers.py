"""What providers' own libraries make of a tool's input schema before it is sent.

Only as far as it decides which arguments fit: descriptions, titles and formats are left out. Each function takes a
schema and gives the one that is sent, or raises CallerError where the library raises. It never changes its argument.
The tests hold each against the library itself. Sanitisers that only take demands away have no function here: what
fits the schema as it stands fits theirs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from trimtab.errors import CallerError
from trimtab.types import Json

__all__ = ["Sanitiser", "ai_sdk_anthropic", "ai_sdk_closed", "anthropic", "gemini", "openai_strict"]

Sanitiser: TypeAlias = Callable[[Json], dict[str, Json]]

# A library that writes what a reference leads to in its place never ends on some schemas, or makes them huge.
_MOST_INLINED: Final = 200
_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise CallerError("a schema in it is not an object")
    return value


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise CallerError("alternatives in it are not a list")
    return value


def _each(change: Sanitiser, schemas: Json) -> dict[str, Json]:
    return {name: change(inner) for name, inner in _object(schemas).items()}


def anthropic(schema: Json) -> dict[str, Json]:
    """`anthropic.transform_schema`: every object is closed, and what structured outputs cannot enforce is text."""
    given = _object(schema)
    sent: dict[str, Json] = {}
    if given.get("$defs") is not None:
        sent["$defs"] = _each(anthropic, given["$defs"])
    if given.get("$ref") is not None:
        return {**sent, "$ref": given["$ref"]}
    kind = given.get("type")
    if given.get("enum") and all(map(_is_primitive, _list(given["enum"]))):
        sent["enum"] = given["enum"]
    if "const" in given and _is_primitive(given["const"]):
        sent["const"] = given["const"]
    literal = "enum" in sent or "const" in sent
    kind = None if literal else kind
    for name, new in (("anyOf", "anyOf"), ("oneOf", "anyOf"), ("allOf", "allOf")):
        if isinstance(given.get(name), list):
            sent[new] = [anthropic(inner) for inner in given[name]]
            break
    else:
        if kind is not None:
            sent["type"] = kind
        elif not literal:
            raise CallerError("a schema in it has neither a type nor alternatives")
    if kind is not None and kind not in _TYPES:
        raise CallerError("a schema in it has several types")
    if kind == "object":
        sent["properties"] = _each(anthropic, given.get("properties", {}))
        sent["additionalProperties"] = False
        if given.get("required") is not None:
            sent["required"] = given["required"]
    elif kind == "array":
        if given.get("items") is not None:
            sent["items"] = anthropic(given["items"])
        if given.get("minItems") in (0, 1):
            sent["minItems"] = given["minItems"]
    return sent


def _is_primitive(value: Json) -> bool:
    return value is None or isinstance(value, str | int | float)


def openai_strict(schema: Json) -> dict[str, Json]:
    """The `openai` library's strict schema: every property is required, objects that do not say are closed."""
    root: dict[str, Json] = copy.deepcopy(_object(schema))
    left = iter(range(_MOST_INLINED))

    def strict(value: Json) -> dict[str, Json]:
        # In place, as the library does it: what a reference leads to has or has not been made strict before.
        node = _object(value)
        for name in ("$defs", "definitions"):
            if isinstance(node.get(name), dict):
                for inner in node[name].values():
                    strict(inner)
        if node.get("type") == "object":
            node.setdefault("additionalProperties", False)
        if isinstance(node.get("properties"), dict):
            node["required"] = list(node["properties"])
            node["properties"] = _each(strict, node["properties"])
        if isinstance(node.get("items"), dict):
            node["items"] = strict(node["items"])
        if isinstance(node.get("anyOf"), list):
            node["anyOf"] = [strict(inner) for inner in node["anyOf"]]
        parts = node.get("allOf")
        if isinstance(parts, list) and len(parts) == 1:
            node.update(strict(parts[0]))
            node.pop("allOf", None)
        elif isinstance(parts, list):
            node["allOf"] = [strict(inner) for inner in parts]
        if "default" in node and node["default"] is None:
            del node["default"]
        ref = node.get("$ref")
        if not ref or len(node) == 1:
            return node
        if next(left, None) is None:
            raise CallerError("its references have no end")
        return strict(_with_target(node, root, ref))

    return strict(root)


def _with_target(node: dict[str, Json], root: dict[str, Json], ref: Json) -> dict[str, Json]:
    """A schema with what its reference leads to in place of the reference; its own keywords win."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        raise CallerError("it refers to something outside")
    target: Json = root
    for step in ref[2:].split("/"):
        if step not in _object(target):
            raise CallerError(f"it refers to {ref:.80}, which is not there")
        target = _object(target[step])
    node.update({**target, **node})
    del node["$ref"]
    return node


def ai_sdk_closed(schema: Json) -> dict[str, Json]:
    """`@ai-sdk/provider-utils`: objects are closed, whatever they say, unless a schema says what else they hold."""

    def visit(value: Json) -> Json:
        return value if isinstance(value, bool) else ai_sdk_closed(value)

    sent = dict(_object(schema))
    kind = sent.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        others = sent.get("additionalProperties")
        sent["additionalProperties"] = False if others is None or isinstance(others, bool) else visit(others)
        if sent.get("properties") is not None:
            sent["properties"] = _visited(visit, sent["properties"])
    for name in ("items", "anyOf", "allOf", "oneOf"):
        value = sent.get(name)
        if isinstance(value, list):
            sent[name] = [visit(inner) for inner in value]
        elif value is not None:
            sent[name] = visit(value)
    if sent.get("definitions") is not None:
        sent["definitions"] = _visited(visit, sent["definitions"])
    return sent


def _visited(visit: Callable[[Json], Json], schemas: Json) -> dict[str, Json]:
    return {name: visit(inner) for name, inner in _object(schemas).items()}


_AI_SDK_KEPT: Final = ("$schema", "$id", "enum", "type")


def ai_sdk_anthropic(schema: Json) -> dict[str, Json]:
    """`@ai-sdk/anthropic`: every object is closed, and what the decoder cannot enforce is text."""

    def visit(value: Json) -> Json:
        return ai_sdk_anthropic(value) if isinstance(value, dict) else value

    given = _object(schema)
    stored = {name: _visited(visit, given[name]) for name in ("definitions", "$defs") if given.get(name) is not None}
    if given.get("$ref") is not None:
        return {"$ref": given["$ref"], **stored}
    sent = {name: given[name] for name in _AI_SDK_KEPT if given.get(name) is not None}
    if "const" in given:
        sent["const"] = given["const"]
    for name, new in (("anyOf", "anyOf"), ("oneOf", "anyOf"), ("allOf", "allOf")):
        if given.get(name) is not None and (name != "oneOf" or "anyOf" not in sent):
            sent[new] = [visit(inner) for inner in _list(given[name])]
    sent |= stored
    if given.get("type") == "object" or given.get("properties") is not None:
        if given.get("properties") is not None:
            sent["properties"] = _visited(visit, given["properties"])
        sent["additionalProperties"] = False
        if given.get("required") is not None:
            sent["required"] = given["required"]
    items = given.get("items")
    if items is not None:
        sent["items"] = [visit(inner) for inner in items] if isinstance(items, list) else visit(items)
    return sent


# The fields of google-genai's `Schema` that decide, and what each holds; then those that do not.
_GEMINI: Final[Mapping[str, str]] = {
    "additionalProperties": "any",
    "anyOf": "schemas",
    "enum": "texts",
    "items": "schema",
    "maxItems": "count",
    "maxLength": "count",
    "maxProperties": "count",
    "maximum": "number",
    "minItems": "count",
    "minLength": "count",
    "minProperties": "count",
    "minimum": "number",
    "pattern": "text",
    "properties": "map",
    "required": "texts",
}
_GEMINI_SAYS: Final = frozenset(["default", "description", "example", "format", "propertyOrdering", "title"])


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def gemini(schema: Json) -> dict[str, Json]:
    """google-genai's processing and its `Schema` (OpenAPI 3.0), read back as JSON Schema."""
    root = _object(schema)
    definitions = root.get("$defs")
    definitions = {} if definitions is None else _object(definitions)
    return _from_openapi(_GeminiRefs(definitions).processed({k: v for k, v in root.items() if k != "$defs"}))


class _GeminiRefs:
    """References of one schema written out; one that leads back into itself becomes a schema that takes anything."""

    def __init__(self, definitions: dict[str, Json]) -> None:
        self.definitions = definitions
        self.open: list[str] = []
        self.left: Iterator[int] = iter(range(_MOST_INLINED))

    def processed(self, value: Json) -> dict[str, Json]:
        node = _null_as_nullable({_camel(key): inner for key, inner in _object(value).items()})
        ref = node.pop("$ref", None)
        if ref is not None:
            return {**node, **(self._target(ref) or {})}
        if node.get("anyOf") is not None:
            return {**node, "anyOf": [self._inner(one) for one in _list(node["anyOf"])]}
        kind = node["type"].upper() if isinstance(node.get("type"), str) else node.get("type")
        if node.get("const") is not None:
            if kind != "STRING":
                raise CallerError("it has a constant that is not a text")
            node["enum"] = [node.pop("const")]
        if kind == "OBJECT":
            if node.get("properties") is not None:
                node["properties"] = _each(self._inner, node["properties"])
            if isinstance(node.get("additionalProperties"), dict):
                node["additionalProperties"] = self._inner(node["additionalProperties"])
        elif kind == "ARRAY" and node.get("items") is not None:
            node["items"] = self._inner(node["items"])
        return node

    def _inner(self, value: Json) -> dict[str, Json]:
        ref = _object(value).get("$ref")
        return self.processed(value) if ref is None else self._target(ref) or {}

    def _target(self, ref: Json) -> dict[str, Json] | None:
        name = ref.split("defs/")[-1] if isinstance(ref, str) else None
        if name in self.open:
            return None
        if name is None or name not in self.definitions or next(self.left, None) is None:
            raise CallerError("it has a reference that is not there, or that grows without end")
        self.open.append(name)
        found = self.processed(self.definitions[name])
        self.open.pop()
        return found


def _null_as_nullable(node: dict[str, Json]) -> dict[str, Json]:
    """OpenAPI 3.0 has no type `null`: it becomes `nullable`. `node` is changed."""
    if node.get("type") == "null":
        node["nullable"] = True
        del node["type"]
    elif "anyOf" in node:
        rest = list(_list(node["anyOf"]))
        node["anyOf"] = rest
        at = 0
        while at < len(rest):  # as the library: it takes items out of the list that it walks
            if _object(rest[at]).get("type") == "null":
                if {"type": "null"} not in rest or "anyOf" not in node:
                    raise CallerError("it says null in a way that is not understood")
                node["nullable"] = True
                rest.remove({"type": "null"})
                if len(rest) == 1:
                    node.update(rest[0])
                    del node["anyOf"]
            at += 1
    return node


def _from_openapi(node: Json, free: bool = False) -> dict[str, Json]:
    """The same in JSON Schema. Refuses what `Schema` has no field for, unless `free`: below `additionalProperties`."""
    made: dict[str, Json] = {}
    fields = {_camel(key): value for key, value in _object(node).items() if value is not None}
    nullable, kind = fields.pop("nullable", False), fields.pop("type", None)
    if kind is not None:
        made["type"] = kind.lower() if isinstance(kind, str) else None
        if made["type"] not in _TYPES:
            raise CallerError("it has a type that Gemini does not know")
    for name, value in fields.items():
        if name in _GEMINI:
            made[name] = _field(_GEMINI[name], value, free or name == "additionalProperties")
        elif free:
            made[name] = value
        elif name not in _GEMINI_SAYS:
            raise CallerError(f"it has {name:.40}, which Gemini does not know")
    return {"anyOf": [made, {"type": "null"}]} if nullable else made


def _field(what: str, value: Json, free: bool) -> Json:
    """What stands in a field, made what it must be."""

    def read(one: Json) -> Json:
        return one if free and not isinstance(one, dict) else _from_openapi(one, free)

    if what == "schema" or (what == "any" and isinstance(value, dict)):
        return read(value)
    if what == "schemas" and (isinstance(value, list) or not free):
        return [read(one) for one in _list(value)]
    if what == "map" and (isinstance(value, dict) or not free):
        return {name: read(one) for name, one in _object(value).items()}
    if what == "count" and isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:20])  # a 64-bit number is a text in Google's JSON
    fits = {
        "text": isinstance(value, str),
        "texts": isinstance(value, list) and all(isinstance(one, str) for one in value),
        "count": isinstance(value, int | float) and value == int(value),
        "number": isinstance(value, int | float),
    }
    if not free and not fits.get(what, True):
        raise CallerError(f"it has something else than {what} where Gemini wants that")
    return value
