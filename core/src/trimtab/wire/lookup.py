"""Which protocol an application means: by name, by the protocol itself, or found out from a request."""

from __future__ import annotations

from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire import WireProtocol, detect, protocols
from trimtab.wire.histories import Shape

__all__ = ["protocol_of", "shape_of"]


def protocol_of(protocol: str | WireProtocol | None, request: Json) -> WireProtocol:
    """The protocol that is meant.

    Args:
        protocol: its name or itself; None: found out from the request.
        request: looked at only then.

    Raises:
        CallerError: an unknown protocol, or one that cannot be found out.
    """
    if protocol is None:
        protocol = detect(request)
        if protocol is None:
            raise CallerError(f"the protocol of the request cannot be told; name one of {', '.join(protocols)}")
    if isinstance(protocol, str):
        if protocol not in protocols:
            known = f"{', '.join(protocols)}; a plugin's is given itself: host.protocols[name]"
            raise CallerError(f"unknown protocol {protocol!r:.80}; known: {known}")
        return protocols[protocol]
    return protocol


def shape_of(protocol: str | WireProtocol | None, request: Json) -> Shape:
    """How a protocol writes conversations; the arguments are those of `protocol_of`.

    Raises:
        CallerError: as `protocol_of`; also one that has no conversations.
    """
    wire = protocol_of(protocol, request)
    shape = getattr(wire, "history", None)
    if not isinstance(shape, Shape):
        raise CallerError(f"the protocol {wire.name!r:.80} cannot read conversations: it has no `history`")
    return shape
