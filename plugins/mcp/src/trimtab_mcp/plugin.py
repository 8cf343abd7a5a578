"""What trimtab-mcp registers: the codec of MCP results, for the names that hosts give to tools of MCP servers."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab import hookimpl
from trimtab.codecs import Codec
from trimtab_mcp.codec import mcp_result

__all__ = ["trimtab_codecs"]


@hookimpl
def trimtab_codecs() -> Iterable[tuple[str, Codec]]:
    """`mcp__<server>__<tool>`."""
    yield "mcp__*", mcp_result
