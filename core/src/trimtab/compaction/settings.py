"""How large a prompt may get, and how small a fold makes it. All numbers are tokens."""

from __future__ import annotations

import math
from collections.abc import Iterable

from attrs import field, frozen

from trimtab.errors import CallerError
from trimtab.tokens import Estimate
from trimtab.types import Json, TokenCounter

__all__ = ["Budgets", "FoldSettings"]

_MARGIN = 0.9  # of a window: counts are estimates
_LEAST_ROOM = 0.2  # of that, whatever is reserved for the answer
_KEEP = 0.375  # of the trigger
_SUMMARY = 10  # the trigger is at least so many times a summary


@frozen(kw_only=True)
class Budgets:
    """From which size on a prompt is folded, how much of its end is kept as it is, and how long a summary may be."""

    trigger: int
    keep: int
    summary: int


def _windows(given: float | Iterable[float | None] | None) -> tuple[float | None, ...]:
    if given is None or isinstance(given, int | float):
        return (given,)
    return tuple(given)


@frozen(kw_only=True)
class FoldSettings:
    """What a conversation is sent to, and with what beside its messages.

    Attributes:
        windows: tokens that each model of a turn takes in; the smallest counts. None or nothing usable: no fold.
        reserve: tokens that the request keeps free for the answer (its `max_tokens`).
        share: of what is left of the window a prompt may take this part before it is folded.
        cap: a prompt of more tokens is folded, whatever the window; None: only the window counts.
        tools, system: what the request says beside its messages, as JSON: it takes room too.
        media: tokens that an image, a document or another medium counts, whatever its size.
        counter: counts tokens.
    """

    windows: tuple[float | None, ...] = field(converter=_windows)
    reserve: int = 0
    share: float = 0.8
    cap: int | None = None
    tools: Json = field(default=None, repr=False)
    system: Json = field(default=None, repr=False)
    media: int = 1_000
    counter: TokenCounter = field(factory=Estimate, repr=False)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.share, int | float) or not 0 < self.share <= 1:
            raise CallerError(f"share must be a number above 0, at most 1, not {self.share!r:.80}")
        for name in ("reserve", "media"):
            _whole(name, getattr(self, name), 0)
        if self.cap is not None:
            _whole("cap", self.cap, 1)

    def budgets(self) -> Budgets | None:
        """The budgets of the smallest window; None: no window is known, so nothing is ever folded."""
        known = [one for one in self.windows if one is not None and _is_usable(one)]
        if not known or len(known) < len(self.windows):
            return None
        effective = math.floor(min(known) * _MARGIN)
        room = max(effective - self.reserve, math.floor(effective * _LEAST_ROOM))
        trigger = math.floor(room * self.share)
        if self.cap is not None:
            trigger = min(trigger, self.cap)
        if trigger < _SUMMARY:
            return None
        return Budgets(trigger=trigger, keep=math.floor(trigger * _KEEP), summary=trigger // _SUMMARY)


def _is_usable(window: float) -> bool:
    return isinstance(window, int | float) and not isinstance(window, bool) and math.isfinite(window) and window > 0


def _whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise CallerError(f"{name} must be a whole number from {least}, not {value!r:.80}")
