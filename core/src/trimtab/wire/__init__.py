"""Wire protocols: where a provider's requests and responses have tool calls and tool results."""

from __future__ import annotations

from trimtab.wire.types import Fault, PastCall, RawCall, Stream, ToolResult, WireProtocol, synthetic_id

__all__ = ["Fault", "PastCall", "RawCall", "Stream", "ToolResult", "WireProtocol", "synthetic_id"]
