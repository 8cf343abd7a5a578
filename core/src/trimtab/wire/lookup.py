"""Which protocol an application means: by name, by the protocol itself, or found out from a request."""

from __future__ import annotations

from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire import WireProtocol, detect, protocols
from trimtab.wire.guard import protocol_named
from trimtab.wire.histories import Shape

__all__ = ["shape_of"]


def shape_of(protocol: str | WireProtocol | None, request: Json) -> Shape:
    """How a protocol writes conversations.

    Args:
        protocol: its name or itself; None: found out from the request.
        request: looked at only then.

    Raises:
        CallerError: an unknown protocol, one that cannot be found out, or one that has no conversations.
    """
    if protocol is None:
        protocol = detect(request)
        if protocol is None:
            raise CallerError(f"the protocol of the request cannot be told; name one of {', '.join(protocols)}")
    if isinstance(protocol, str):
        protocol = protocol_named(protocol, protocols)
    shape = getattr(protocol, "history", None)
    if not isinstance(shape, Shape):
        raise CallerError(f"the protocol {protocol.name!r:.80} cannot read conversations: it has no `history`")
    return shape
