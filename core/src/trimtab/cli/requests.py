"""What `trimtab trim` takes for a provider's request."""

from __future__ import annotations

from trimtab.host import Host
from trimtab.types import Json
from trimtab.wire import detect
from trimtab.wire.guard import guarded

__all__ = ["request_protocol"]

# Below, a value only might be a request: a table of messages that a tool gave, say.
_SURE = 0.9


def request_protocol(host: Host, value: Json) -> str | None:
    """The protocol of a value that is surely a provider's request with tool results in it, or None."""
    if not isinstance(value, dict):
        return None
    name = detect(value, host.protocols)
    if name is None:
        return None
    wire = guarded(host.protocols[name])
    return name if wire.detect(value) >= _SURE and wire.tool_results(value) else None
