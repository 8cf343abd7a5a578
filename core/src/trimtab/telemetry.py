"""A span and a log record for every trim and every failure. Owns opentelemetry, which is optional.

Without the package, without a tracer provider, or with a span that does not record, nothing is written and nothing
raises. The library never configures logging: it writes to the logger `trimtab`, which has a null handler.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

__all__ = ["Recording", "log", "span"]

log = logging.getLogger("trimtab")
log.addHandler(logging.NullHandler())


class Recording(Protocol):
    """What a trim tells its span."""

    def set(self, attributes: Mapping[str, str | int | bool]) -> None:
        """Set attributes."""

    def fail(self, error: Exception) -> None:
        """Record a failure as an event and as the span's status."""


class _Silent:
    def set(self, attributes: Mapping[str, str | int | bool]) -> None:
        del attributes

    def fail(self, error: Exception) -> None:
        del error


class _Otel:
    def __init__(self, otel_span: Any) -> None:
        self._span = otel_span

    def set(self, attributes: Mapping[str, str | int | bool]) -> None:
        self._span.set_attributes(dict(attributes))

    def fail(self, error: Exception) -> None:
        from opentelemetry.trace import Status, StatusCode

        self._span.record_exception(error)
        self._span.set_status(Status(StatusCode.ERROR, type(error).__name__))


_SILENT = _Silent()


def _tracer() -> Any | None:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None  # the application has set up no tracing
    return trace.get_tracer("trimtab")


@contextmanager
def span(name: str, attributes: Mapping[str, str | int | bool]) -> Iterator[Recording]:
    """A span around one operation; what it yields takes attributes and failures, or does nothing."""
    tracer = _tracer()
    if tracer is None:
        yield _SILENT
        return
    with tracer.start_as_current_span(name) as otel_span:
        if not otel_span.is_recording():
            yield _SILENT
            return
        otel_span.set_attributes(dict(attributes))
        yield _Otel(otel_span)
