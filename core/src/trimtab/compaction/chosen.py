"""Which protocol and which summarizer an application means."""

from __future__ import annotations

import inspect
from typing import TypeAlias

from trimtab.compaction.summarizers.extractive import ExtractiveSummarizer
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


def summarizer_of(given: Summarize | None) -> Summarize:
    """The summarizer; None: the extractive one, which needs no network.

    Raises:
        CallerError: it is no function of a `SummaryRequest`, but a name or a class.
    """
    if given is None:
        return ExtractiveSummarizer()
    if isinstance(given, str):
        raise CallerError(f"a summarizer is a function; host.summarizer({given!r:.80}) makes one by its name")
    if inspect.isclass(given):
        raise CallerError(f"a summarizer is a function, not a class: call {given.__name__} with its options")
    if not callable(given):
        raise CallerError(f"a summarizer is a function of a SummaryRequest, not {type(given).__name__}")
    return given
