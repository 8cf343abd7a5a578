"""Spans as an application's tracing would make and keep them, without its SDK. Needs opentelemetry-api."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace

__all__ = ["Provider", "Span", "Tracer"]


class Span(trace.Span):
    """A span that remembers; without `recording` it takes nothing, as those of an unsampled trace."""

    def __init__(self, name: str, recording: bool) -> None:
        self.name = name
        self.recording = recording
        self.attributes: dict[str, Any] = {}
        self.exceptions: list[BaseException] = []
        self.status: Any = None
        self.ended = False

    def _take(self) -> None:
        assert self.recording, "a span that does not record was written to"

    def is_recording(self) -> bool:
        return self.recording and not self.ended

    def end(self, end_time: int | None = None) -> None:
        assert not self.ended
        self.ended = True

    def get_span_context(self) -> Any:
        return trace.INVALID_SPAN_CONTEXT

    def set_attributes(self, attributes: Any) -> None:
        self._take()
        self.attributes |= attributes

    def set_attribute(self, key: str, value: Any) -> None:
        self.set_attributes({key: value})

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None:
        self._take()

    def update_name(self, name: str) -> None:
        self.name = name

    def set_status(self, status: Any, description: str | None = None) -> None:
        self._take()
        self.status = status

    def record_exception(self, exception: BaseException, *_: Any, **__: Any) -> None:
        self._take()
        self.exceptions.append(exception)


class Tracer(trace.Tracer):
    """Makes and keeps spans."""

    def __init__(self, recording: bool) -> None:
        self.recording = recording
        self.spans: list[Span] = []

    def start_span(self, name: str, *_: Any, **__: Any) -> Span:
        self.spans.append(Span(name, self.recording))
        return self.spans[-1]

    @contextmanager
    def start_as_current_span(self, name: str, *_: Any, **__: Any) -> Iterator[Span]:  # type: ignore[override]
        span = self.start_span(name)
        with trace.use_span(span, end_on_exit=True, record_exception=self.recording):
            yield span


class Provider(trace.TracerProvider):
    """What an application sets up."""

    def __init__(self, recording: bool) -> None:
        self.tracer = Tracer(recording)

    def get_tracer(self, instrumenting_module_name: str, *_: Any, **__: Any) -> Tracer:
        assert instrumenting_module_name == "trimtab"
        return self.tracer
