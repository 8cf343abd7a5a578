"""Tool definitions: how each protocol writes a tool's name, description, input schema and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from attrs import frozen

from trimtab.types import Json
from trimtab.wire.guard import protocol_named

__all__ = ["PROTOCOLS", "ToolShape", "definition", "shape_of"]


@frozen(kw_only=True)
class ToolShape:
    """Where a definition of one protocol holds what.

    `typed`: it says `"type": "function"`. `body`: the keys that lead to the object with the name and the description.
    `schema`: from there to the JSON Schema of the arguments; `other_schemas`: further ways there that applications
    use. `examples`: the key beside the name under which a list of example arguments stands; empty: there is none, and
    they stand in the schema, under `schema_examples`. `example_key`: under which each holds the arguments; empty: it
    is them. `groups`: keys under which one tool holds a list of definitions. `loose`: it says `"strict": false`, since
    the API would hold every call to the schema else and make each optional argument one that must be given.
    """

    schema: tuple[str, ...]
    body: tuple[str, ...] = ()
    typed: bool = False
    other_schemas: tuple[tuple[str, ...], ...] = ()
    examples: str = ""
    example_key: str = ""
    schema_examples: str = "examples"
    groups: tuple[str, ...] = ()
    loose: bool = False


_CHAT: Final = ToolShape(schema=("parameters",), body=("function",), typed=True)

PROTOCOLS: Final[Mapping[str, ToolShape]] = MappingProxyType(
    {
        "ai-sdk": ToolShape(schema=("inputSchema",), examples="inputExamples", example_key="input"),
        "anthropic": ToolShape(schema=("input_schema",), examples="input_examples"),
        "bedrock": ToolShape(schema=("inputSchema", "json"), body=("toolSpec",)),
        # Its schemas are OpenAPI 3.0's, with one `example`; JSON Schema goes under another key.
        "gemini": ToolShape(
            schema=("parameters",),
            other_schemas=(("parametersJsonSchema",), ("parameters_json_schema",)),
            schema_examples="example",
            groups=("functionDeclarations", "function_declarations"),
        ),
        "mcp": ToolShape(schema=("inputSchema",)),
        "openai-chat": _CHAT,
        "openai-responses": ToolShape(schema=("parameters",), typed=True, groups=("tools",), loose=True),
        "parsed": ToolShape(schema=("parameters",)),
        "vllm": _CHAT,
    }
)
"""The protocols that definitions can be written in, always in this order."""


def shape_of(protocol: str) -> ToolShape:
    """Where a definition of this protocol holds what.

    Raises:
        CallerError: an unknown protocol.
    """
    return protocol_named(protocol, PROTOCOLS)


def definition(
    protocol: str, name: str, text: str, parameters: dict[str, Json], *, examples: Sequence[Json] = ()
) -> Json:
    """A tool's definition in a protocol's schema.

    Args:
        protocol: a key of `PROTOCOLS`. For Gemini the definition is a function declaration, to be put into a `Tool`.
        name: the tool's name.
        text: its description.
        parameters: the JSON Schema of its arguments.
        examples: arguments of calls, written where the protocol has a place for them: all, or the first.

    Raises:
        CallerError: an unknown protocol.
    """
    shape = shape_of(protocol)
    schema = parameters
    if examples and not shape.examples:
        many = shape.schema_examples == "examples"
        schema = {**parameters, shape.schema_examples: list(examples) if many else examples[0]}
    inner: Json = schema
    for key in reversed(shape.schema[1:]):
        inner = {key: inner}
    body: Json = {"name": name, "description": text, shape.schema[0]: inner}
    if examples and shape.examples:
        body[shape.examples] = [{shape.example_key: one} if shape.example_key else one for one in examples]
    if shape.loose:
        body["strict"] = False
    if shape.typed and not shape.body:
        body = {"type": "function", **body}
    for key in reversed(shape.body):
        body = {"type": "function", key: body} if shape.typed else {key: body}
    return body
