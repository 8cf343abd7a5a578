"""How much of an output may stay: limits, water-filling, and the share of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from attrs import Attribute, Factory, field, frozen

from trimtab.errors import BadBudget
from trimtab.marker import MIN_MOVED
from trimtab.types import TokenCounter

__all__ = ["KEEP", "LIMIT", "Budget", "fill", "share"]

Unit = Literal["chars", "tokens"]

LIMIT: Final = 20_000
KEEP: Final = 12_000
"""What holds where nothing is said, in either unit."""

_LEAST = {"chars": 512, "tokens": 128}
_LEAST_CAP = {"chars": MIN_MOVED, "tokens": 64}


def _size(instance: Budget, attribute: Attribute[Any], value: object) -> None:
    if value is None and attribute.name in ("batch", "cap"):
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadBudget(f"{attribute.name} must be a whole number of {instance.unit}, not {value!r:.80}")


def _unit(_instance: Budget, _attribute: Attribute[Any], value: object) -> None:
    if value not in _LEAST:
        raise BadBudget(f"unit must be 'chars' or 'tokens', not {value!r:.80}")


def _counter(_instance: Budget, _attribute: Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, str | TokenCounter):
        raise BadBudget(f"counter must be the name of a token counter, or one itself, not {value!r:.80}")


def _usual_keep(budget: Budget) -> int:
    return min(KEEP, budget.limit) if isinstance(budget.limit, int) else KEEP


@frozen(kw_only=True)
class Budget:
    """How large a tool output may be in the prompt.

    Sizes are of `t.text`, markers and JSON escapes included, in `unit`.

    Args:
        limit: an output up to this is left alone.
        keep: a larger one is trimmed to this; `512 <= keep <= limit` (128 for tokens). By default 12,000, or `limit`
            where that is less.
        unit: `chars` (code points) or `tokens`.
        batch: what all results that answer one assistant message may take together; None: no bound.
        cap: what any one text may take, also in an output under `limit`; at least 256 (64 for tokens). None: no bound.
        counter: name of a token counter, or one itself; None: the policy's (`estimate`).

    Raises:
        BadBudget: the numbers contradict one another or lie outside their bounds.
    """

    unit: Unit = field(default="chars", validator=_unit)
    limit: int = field(default=LIMIT, validator=_size)
    keep: int = field(default=Factory(_usual_keep, takes_self=True), validator=_size)
    batch: int | None = field(default=None, validator=_size)
    cap: int | None = field(default=None, validator=_size)
    counter: str | TokenCounter | None = field(default=None, validator=_counter)

    def __attrs_post_init__(self) -> None:
        least = _LEAST[self.unit]
        if self.limit < least:
            raise BadBudget(f"limit must be at least {least} {self.unit}, not {self.limit}")
        if not least <= self.keep <= self.limit:
            raise BadBudget(f"keep must lie between {least} and limit ({self.limit}) {self.unit}, not {self.keep}")
        if self.batch is not None and self.batch < least:
            raise BadBudget(f"batch must be at least {least} {self.unit}, not {self.batch}")
        if self.cap is not None and self.cap < (least_cap := _LEAST_CAP[self.unit]):
            raise BadBudget(f"cap must be at least {least_cap} {self.unit}, not {self.cap}")

    def shared(self, part: int) -> Budget:
        """This budget for a result that got `part` of a batch: `limit = keep = part`."""
        return Budget(unit=self.unit, limit=part, keep=part, cap=self.cap, counter=self.counter)

    @property
    def least(self) -> int:
        """The smallest `keep` in this unit."""
        return _LEAST[self.unit]


def fill(frame: int, lengths: Sequence[int], keep: int) -> int | None:
    """Water-filling: the largest cap with `frame + sum(min(length, cap)) <= keep`; None when no cap is needed.

    At least 0, also when the frame alone is above `keep`.
    """
    room = keep - frame
    if sum(lengths) <= room:
        return None
    left = len(lengths)
    for length in sorted(lengths):
        if length * left > room:
            return max(room, 0) // left
        room -= length
        left -= 1
    return 0


def share(sizes: Sequence[int], batch: int, least: int) -> int | None:
    """The largest share `c` with `sum(min(size, c)) <= batch`, at least `least`; None when all fit."""
    cap = fill(0, sizes, batch)
    return None if cap is None else max(cap, least)
