"""Which protocol and which summarizer an application means: by name, by the thing itself, or the default."""

from __future__ import annotations

from typing import TypeAlias

from trimtab.compaction.summarizers import BUILTIN_SUMMARIZERS
from trimtab.compaction.types import Summarize
from trimtab.errors import CallerError
from trimtab.wire import WireProtocol
from trimtab.wire.histories import Shape
from trimtab.wire.lookup import shape_of

__all__ = ["Protocol", "shape_named", "summarizer_of"]

Protocol: TypeAlias = str | WireProtocol | Shape
"""The name of a built-in protocol, a protocol, or its shape (`protocol.history`)."""


def shape_named(protocol: Protocol) -> Shape:
    """How it writes conversations. Raises CallerError: unknown, or one that has no conversations."""
    return protocol if isinstance(protocol, Shape) else shape_of(protocol, None)


def summarizer_of(given: str | Summarize | None) -> Summarize:
    """The summarizer; None: the extractive one, which needs no network.

    Raises:
        CallerError: no summarizer that comes with trimtab has this name; those of plugins are in
            `host.registry.summarizers`.
        MissingExtra: it needs what is not installed.
    """
    if given is None:
        given = "extractive"
    if not isinstance(given, str):
        if not callable(given):
            raise CallerError(f"a summarizer is a function or its name, not {type(given).__name__}")
        return given
    if given not in BUILTIN_SUMMARIZERS:
        known = ", ".join(sorted(BUILTIN_SUMMARIZERS))
        raise CallerError(f"unknown summarizer {given!r:.80}; known: {known}; pass one of a plugin's as an object")
    made: Summarize = BUILTIN_SUMMARIZERS[given]()
    return made
