"""The result of `tools/call` as MCP sends it: dicts with camelCase keys.

Shapes from https://modelcontextprotocol.io/specification/2025-11-25/schema and its successor of 2026-07-28, which
lets `structuredContent` be any JSON value. Whatever else is in a block or a result is kept as it is. Field names are
the wire's, so that a value can be checked against these types without renaming.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from attrs import field, frozen

from trimtab.codecs import Bulk

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
]

Meta: TypeAlias = dict[str, Any]


@frozen(kw_only=True)
class Annotations:
    """For whom a block is and how much it matters (0 to 1): never shortened."""

    audience: list[str] | None = None
    priority: float | None = None
    lastModified: str | None = None


@frozen(kw_only=True)
class TextContent:
    """Text: `text` may be shortened."""

    type: Literal["text"]
    text: Annotated[str, Bulk]
    annotations: Annotations | None = None
    _meta: Meta | None = None


@frozen(kw_only=True)
class ImageContent:
    """An image in base64: never shortened, and not counted."""

    type: Literal["image"]
    data: str = field(repr=False)
    mimeType: str
    annotations: Annotations | None = None
    _meta: Meta | None = None


@frozen(kw_only=True)
class AudioContent:
    """Sound in base64: never shortened, and not counted."""

    type: Literal["audio"]
    data: str = field(repr=False)
    mimeType: str
    annotations: Annotations | None = None
    _meta: Meta | None = None


@frozen(kw_only=True)
class ResourceLink:
    """What the server offers to read: `description` may be shortened; `uri`, `name`, `title` and icons are identity."""

    type: Literal["resource_link"]
    uri: str
    name: str
    title: str | None = None
    description: Annotated[str | None, Bulk] = None
    mimeType: str | None = None
    size: int | None = None
    icons: list[Any] | None = None
    annotations: Annotations | None = None
    _meta: Meta | None = None


@frozen(kw_only=True)
class TextResource:
    """A resource's text: `text` may be shortened, `uri` is identity."""

    uri: str
    text: Annotated[str, Bulk]
    mimeType: str | None = None
    _meta: Meta | None = None


@frozen(kw_only=True)
class BlobResource:
    """A resource's bytes in base64: never shortened, and not counted."""

    uri: str
    blob: str = field(repr=False)
    mimeType: str | None = None
    _meta: Meta | None = None


@frozen(kw_only=True)
class EmbeddedResource:
    """A resource that is sent along."""

    type: Literal["resource"]
    resource: TextResource | BlobResource
    annotations: Annotations | None = None
    _meta: Meta | None = None


Content: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


@frozen(kw_only=True)
class CallToolResult:
    """What a tool gave: blocks for the model, and a value that the tool's `outputSchema` describes.

    `isError`: the tool failed, and the blocks say how. `resultType`: "complete", or absent, in a result that is final.
    """

    content: list[Content]
    structuredContent: Any = None
    isError: bool = False
    resultType: str = "complete"
    _meta: Meta | None = None
