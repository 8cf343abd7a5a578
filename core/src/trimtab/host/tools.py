"""Definitions of the read and search tools, in the schema of each wire protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from trimtab.policy import Policy
from trimtab.types import Json
from trimtab.wire.guard import protocol_named

__all__ = ["PROTOCOLS", "definition", "paging_properties", "positive", "read_tools"]

_READ_TEXT = (
    "Read text that was omitted from an earlier tool output. Where a line says "
    "`<omitted chars A-B of N; full text: {name} trimtab:...>`, pass that trimtab: uri. "
    "Give `line` or `char` (both count from 1) to say where to begin; the answer says where to go on."
)
_SEARCH_TEXT = (
    "Search the full text behind a trimtab: uri for lines that match a word or a regular expression. "
    "The answer gives line numbers to read around."
)


def positive(text: str) -> Json:
    """The JSON Schema of a whole number from 1; `text` describes it."""
    return {"type": "integer", "minimum": 1, "description": text}


def _uri() -> Json:
    return {"type": "string", "description": "The uri from a marker, as in trimtab:3f2a9c1b7d04e5f6."}


def paging_properties() -> dict[str, Json]:
    """The JSON Schemas of the arguments that say where a page begins and how long it is."""
    return {
        "line": positive("First line to read. Default 1."),
        "char": positive("First character to read, instead of `line`: for text in one endless line."),
        "count": positive("How many lines (or characters) to read. Default: as many as fit."),
    }


def _read_parameters() -> Json:
    return {
        "type": "object",
        "properties": {"uri": _uri(), **paging_properties()},
        "required": ["uri"],
    }


def _search_parameters() -> Json:
    return {
        "type": "object",
        "properties": {
            "uri": _uri(),
            "pattern": {"type": "string", "description": "A word or a regular expression."},
            "line": positive("First line to search. Default 1."),
        },
        "required": ["uri", "pattern"],
    }


def _chat(name: str, text: str, parameters: Json) -> Json:
    return {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}


def _flat(name: str, text: str, parameters: Json) -> Json:
    return {"type": "function", "name": name, "description": text, "parameters": parameters}


# How each protocol writes a tool's name, description and JSON Schema.
PROTOCOLS: Final[Mapping[str, Callable[[str, str, Json], Json]]] = {
    "ai-sdk": lambda name, text, schema: {"name": name, "description": text, "inputSchema": schema},
    "anthropic": lambda name, text, schema: {"name": name, "description": text, "input_schema": schema},
    "bedrock": lambda name, text, schema: {
        "toolSpec": {"name": name, "description": text, "inputSchema": {"json": schema}}
    },
    "gemini": lambda name, text, schema: {"name": name, "description": text, "parameters": schema},
    "mcp": lambda name, text, schema: {"name": name, "description": text, "inputSchema": schema},
    "openai-chat": _chat,
    "openai-responses": _flat,
    "parsed": lambda name, text, schema: {"name": name, "description": text, "parameters": schema},
    "vllm": _chat,
}


def definition(protocol: str, name: str, text: str, parameters: Json) -> Json:
    """A tool's definition in a protocol's schema; `parameters` is the JSON Schema of its arguments.

    Raises:
        CallerError: an unknown protocol.
    """
    return protocol_named(protocol, PROTOCOLS)(name, text, parameters)


def read_tools(policy: Policy, protocol: str) -> list[Json]:
    """The read tool's definition and the search tool's, for those that the policy names.

    For Gemini these are function declarations, to be put into one `Tool`.

    Raises:
        CallerError: an unknown protocol.
    """
    protocol_named(protocol, PROTOCOLS)
    tools = []
    if policy.read_tool:
        tools.append(
            definition(protocol, policy.read_tool, _READ_TEXT.format(name=policy.read_tool), _read_parameters())
        )
    if policy.search_tool and policy.read_tool:
        tools.append(definition(protocol, policy.search_tool, _SEARCH_TEXT, _search_parameters()))
    return tools
