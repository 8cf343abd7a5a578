"""A fold as others see it: its events and its span, from when it is due until it is done or skipped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

from attrs import define, evolve, field

from trimtab.compaction.asking.calling import LONGEST_REPLY, Asking
from trimtab.compaction.settings import FoldSettings
from trimtab.compaction.types import Event, Lane, OnEvent
from trimtab.telemetry import log, span

__all__ = ["Due", "archiving", "due", "metered", "without_window"]

T = TypeVar("T")


@define(kw_only=True)
class Due:
    """A fold that is due. Its verdict is told once, when the block of `due` ends.

    `requests`, `taken`, `given`: as of `Event`.
    """

    lane: Lane
    before: int
    requests: int = field(default=0, init=False)
    taken: int = field(default=0, init=False)
    given: int = field(default=0, init=False)
    verdict: Event | None = field(default=None, init=False)
    error: Exception | None = field(default=None, init=False)

    @property
    def is_done(self) -> bool:
        """Whether it is folded."""
        return self.verdict is not None and self.verdict.kind == "done"

    def done(self, *, after: int, folded: int, reason: str = "") -> None:
        """The prompt is smaller now."""
        self.verdict = evolve(self._event("done", reason), after=after, folded=folded)
        if reason:
            log.warning("%s fold: %s", self.lane, reason)

    def skipped(self, reason: str, error: Exception | None = None) -> Event:
        """Nothing has changed. `error`: what was raised, where that is why."""
        self.verdict = self._event("skipped", reason)
        self.error = error
        log.warning("no %s fold: %s", self.lane, reason)
        return self.verdict

    def _event(self, kind: Literal["done", "skipped"], reason: str) -> Event:
        return Event(
            kind=kind,
            lane=self.lane,
            reason=reason,
            before=self.before,
            requests=self.requests,
            taken=self.taken,
            given=self.given,
        )


def without_window(lane: Lane, settings: FoldSettings) -> Event:
    """`skipped`, since no window is known. Nobody is told but by this and the log: no fold is due."""
    reason = "no window is known that holds a prompt"
    log.warning("no %s fold: %s (windows=%r)", lane, reason, settings.windows)
    return Event(kind="skipped", lane=lane, reason=reason)


@contextmanager
def archiving(now: Due) -> Iterator[None]:
    """Around the writing of an archive and what comes of it: a store that raises, whatever it is, skips the fold."""
    try:
        yield
    except Exception as error:
        now.skipped(f"the archive could not be written: {type(error).__name__}: {error!s:.200}", error)


@contextmanager
def due(lane: Lane, before: int, on_event: OnEvent | None) -> Iterator[Due]:
    """Around a fold: `compacting` is told, then one verdict; what ends the block with an error is `skipped` too.

    The span has the names of OpenTelemetry's conventions for generative AI where these have one:
    https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/.
    """
    _tell(on_event, Event(kind="compacting", lane=lane, before=before))
    now = Due(lane=lane, before=before)
    attributes: dict[str, str | int | bool] = {"gen_ai.operation.name": "compact", "trimtab.lane": lane}
    with span("trimtab.fold", attributes) as recording:
        recording.set({"trimtab.tokens_before": before})
        try:
            yield now
        except BaseException as error:
            now.skipped(f"interrupted by {type(error).__name__}")
            raise
        finally:
            verdict = now.verdict or now.skipped("nothing was decided")
            recording.set(_said(verdict))
            if now.error is not None:
                recording.fail(now.error)
            _tell(on_event, verdict)


def metered(fold: Asking[T], now: Due) -> Asking[T]:
    """The same fold; `now` has what its summarizer takes in and gives out."""
    try:
        request = next(fold)
        while True:
            now.requests += 1
            now.taken += request.count(request.history) + request.count(request.prior or "")
            try:
                reply = yield request
            except Exception as error:
                request = fold.throw(error)
            else:
                now.given += request.count(reply[:LONGEST_REPLY]) if isinstance(reply, str) else 0
                request = fold.send(reply)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        fold.close()


def _said(verdict: Event) -> dict[str, str | int | bool]:
    found: dict[str, str | int | bool] = {"trimtab.verdict": verdict.kind, "trimtab.requests": verdict.requests}
    found |= {"gen_ai.usage.input_tokens": verdict.taken, "gen_ai.usage.output_tokens": verdict.given}
    if verdict.kind == "done":
        found |= {"trimtab.tokens_after": verdict.after or 0, "trimtab.messages_folded": verdict.folded}
    if verdict.reason:
        found |= {"trimtab.reason": verdict.reason}
    return found


def _tell(on_event: OnEvent | None, event: Event) -> None:
    if on_event is None:
        return
    try:
        on_event(event)
    except Exception:
        log.exception("on_event raised when it was told that a fold is %s", event.kind)
