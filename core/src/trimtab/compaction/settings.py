"""How large a prompt may get, and how small a fold makes it. All numbers are tokens."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final, TypeGuard

from attrs import field, frozen

from trimtab.errors import CallerError
from trimtab.tokens import Estimate
from trimtab.types import Json, TokenCounter

__all__ = ["Budgets", "FoldSettings", "checked_settings", "tokens_in"]

_MARGIN: Final = 0.9  # of a window: counts are estimates
_LEAST_ROOM: Final = 0.2  # of that, whatever is reserved for the answer
_KEEP: Final = 0.375  # of the trigger, not of the window: a low trigger would else keep all there is
_NOT_MEANT: Final = 10**15
_SUMMARY: Final = 10  # the trigger is at least so many times a summary
_LEAST_SUMMARY: Final = 16  # tokens: shorter prose is no summary


@frozen(kw_only=True)
class Budgets:
    """What follows from a window.

    Attributes:
        window: the window itself.
        trigger: a prompt of more tokens is folded.
        summary: tokens that a summary is asked for. What takes no more room is not worth a fold.
    """

    window: int
    trigger: int
    summary: int

    def kept(self, fixed: int = 0) -> int:
        """Tokens at the end of a conversation that a fold keeps as they are.

        `fixed`: tokens of what no fold takes away, such as tools and system prompt: what they take is neither kept nor
        free. Else a prompt would be folded again as soon as a little is added to it. As much as a summary is kept
        always.
        """
        return max(self.summary, math.floor((self.trigger - fixed) * _KEEP))


def _several(given: Any) -> tuple[Any, ...]:
    """One value, or each of several."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (given,)


def _windows(given: float | Iterable[float | None] | None) -> tuple[float | None, ...]:
    return _several(given)


def _largest(given: int | Iterable[int]) -> int:
    several = _several(given)
    wrong = [one for one in several if not _is_number(one)]
    return wrong[0] if wrong else max(several, default=0)


@frozen(kw_only=True)
class FoldSettings:
    """What a conversation is sent to, and with what beside its messages.

    Attributes:
        windows: tokens that the model takes in, or those of each model that answers in this turn: the smallest counts.
            None, 0, negative, not finite: not known. None is known: no fold.
        reserve: tokens that the request keeps free for the answer (its `max_tokens`); of several, the most.
        share: of what is left of the window a prompt may take this part before it is folded.
        cap: a prompt of more tokens is folded, whatever the window (160 at least); None: only the window counts.
        tools, system: what the request says beside its messages, as JSON: it takes room too.
        media: tokens that an image, a document or another medium counts, whatever its size.
        counter: counts tokens.

    Raises:
        CallerError: a number that is none, or out of range.
    """

    windows: tuple[float | None, ...] = field(converter=_windows)
    reserve: int = field(default=0, converter=_largest)
    share: float = 0.8
    cap: int | None = None
    tools: Json = field(default=None, repr=False)
    system: Json = field(default=None, repr=False)
    media: int = 1_000
    counter: TokenCounter = field(factory=Estimate, repr=False)

    def __attrs_post_init__(self) -> None:
        for window in self.windows:
            if window is not None and not isinstance(window, int | float):
                raise CallerError(f"windows are numbers of tokens (or None: not known), not {window!r:.80}")
        if not _is_number(self.share) or not 0 < self.share <= 1:
            raise CallerError(f"share must be a number above 0, at most 1, not {self.share!r:.80}")
        for name in ("reserve", "media"):
            _check(name, getattr(self, name), 0)
        if self.cap is not None:
            _check("cap", self.cap, _SUMMARY * _LEAST_SUMMARY)
        if not isinstance(self.counter, TokenCounter):
            raise CallerError(
                f"counter must be a token counter (trimtab.types.TokenCounter: it has name, version and count), "
                f"not {self.counter!r:.80}"
            )

    def budgets(self) -> Budgets | None:
        """The budgets of the smallest window; None: no window is known, or none that holds a prompt."""
        known = [window for one in self.windows if (window := tokens_in(one)) is not None]
        if not known:
            return None
        window = min(known)
        effective = math.floor(window * _MARGIN)
        room = max(effective - self.reserve, math.floor(effective * _LEAST_ROOM))
        trigger = math.floor(room * self.share)
        if self.cap is not None:
            trigger = min(trigger, self.cap)
        summary = trigger // _SUMMARY
        if summary < _LEAST_SUMMARY:
            return None
        return Budgets(window=window, trigger=trigger, summary=summary)


def checked_settings(settings: FoldSettings) -> FoldSettings:
    """The same. Raises CallerError: they are none."""
    if not isinstance(settings, FoldSettings):
        raise CallerError(f"settings must be a trimtab.compaction.FoldSettings, not {type(settings).__name__}")
    return settings


def tokens_in(value: object) -> int | None:
    """A number of tokens, rounded down; None: it is none, below 1, or more than anybody means (NaN, infinity)."""
    return math.floor(value) if _is_number(value) and 1 <= value < _NOT_MEANT else None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise CallerError(f"{name} must be a whole number from {least}, not {value!r:.80}")
