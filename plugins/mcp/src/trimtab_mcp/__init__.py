"""trimtab for the results of MCP tools: their types, and a codec that knows where their text is.

A result is a dict with the wire's camelCase keys, as `model_dump(by_alias=True, exclude_none=True, mode="json")` of the
`mcp` package gives it.
"""

from __future__ import annotations

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
