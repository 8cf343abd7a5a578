"""trimtab for the results of MCP tools: their types, and a codec that knows where their text is.

A result is a dict with the wire's camelCase keys, as `model_dump(by_alias=True, exclude_none=True, mode="json")` of the
`mcp` package gives it.
"""

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from trimtab_mcp.codec import mcp_result, wrapped
    from trimtab_mcp.results import (
        Annotations,
        AudioContent,
        BlobResource,
        CallToolResult,
        Content,
        EmbeddedResource,
        ImageContent,
        ResourceLink,
        TextContent,
        TextResource,
    )

__all__ = [
    "Annotations",
    "AudioContent",
    "BlobResource",
    "CallToolResult",
    "Content",
    "EmbeddedResource",
    "ImageContent",
    "ResourceLink",
    "TextContent",
    "TextResource",
    "mcp_result",
    "wrapped",
]

# Imported when first asked for: a host that loads the plugin needs the codec only.
_IN_CODEC = ("mcp_result", "wrapped")

if not typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"trimtab_mcp.{'codec' if name in _IN_CODEC else 'results'}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
