"""The sliding window: with no summarizer the oldest whole turns are not sent any more."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import accumulate

from attrs import field, frozen

from trimtab.compaction.chosen import Protocol, shape_named
from trimtab.compaction.cuts import turns
from trimtab.compaction.measuring.estimate import Estimator
from trimtab.compaction.prompt import checked_rows, cleared, system_of
from trimtab.compaction.repair import Repair, repaired
from trimtab.compaction.settings import Budgets, FoldSettings, checked_settings
from trimtab.compaction.stored.manifests import Retained, retained
from trimtab.compaction.types import Row
from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire.histories import Message

__all__ = ["Slid", "slide"]


@frozen(kw_only=True)
class Slid:
    """What is sent of a conversation.

    Attributes:
        messages: for the request, in the protocol's own shape.
        rows: those that they come from. What slid out is not to be read back: nothing that is sent names it.
        gone: how many rows slid out.
        before, after: tokens of the whole prompt and of the one that is sent, estimated.
        repairs: what was amiss in the history, and mended.
        retained: what the model may open: what these rows have.
    """

    messages: list[Json] = field(repr=False)
    rows: tuple[Row, ...] = field(repr=False)
    gone: int
    before: int
    after: int
    repairs: tuple[Repair, ...] = ()
    retained: Retained = field(factory=Retained, repr=False)


def slide(protocol: Protocol, rows: Iterable[Row], settings: FoldSettings, *, most: int | None = None) -> Slid:
    """The newest whole turns that fit; the newest one always.

    The window does not move with every turn: where the prompt gets larger than the trigger, so many turns go that it
    is as small as after a fold. Until that is so again, each prompt begins with the one before.

    Args:
        protocol: its name, itself, or its shape.
        rows: the whole history.
        settings: with no window known all is sent, but for `most`.
        most: at most so many rows, then back to the beginning of their turn: a window that the user has set.

    Raises:
        CallerError: `most` is no whole number from 1; something in `rows` is no row, or two have one id.
    """
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        raise CallerError(f"most must be a whole number of rows from 1, not {most!r:.80}")
    shape = shape_named(protocol)
    rows = checked_rows(rows)
    live = list(rows[cleared(rows) :])
    read = [shape.read(list(row.messages)) for row in live]
    plain = set(turns(shape, read))
    begins = turns(shape, read, inside=True) or [0]
    begin = 0
    if most is not None and len(live) > most:
        begin = max((at for at in begins if at <= len(live) - most), default=0)
    estimator = Estimator(checked_settings(settings))
    opening = system_of(shape, rows[: len(rows) - len(live)])
    fixed = _totals(estimator.beside + estimator.messages(opening), (estimator.messages(_system(row)) for row in read))
    sizes = _totals(0, (estimator.messages(row) - estimator.messages(_system(row)) for row in read))
    budgets = settings.budgets()
    if budgets is not None and live:
        begin = _slid(begins, plain, fixed, sizes, begin, budgets)
    opening += [message for row in read[:begin] for message in _system(row)]
    natives, repairs = repaired(shape, [*opening, *(message for row in read[begin:] for message in row)])
    before = fixed[-1] + sizes[-1]
    return Slid(
        messages=shape.joined(natives),
        rows=tuple(live[begin:]),
        gone=begin,
        before=before,
        after=before - sizes[begin],
        repairs=repairs,
        retained=retained(live[begin:], None),
    )


def _system(messages: Iterable[Message]) -> list[Message]:
    """What the system says among them: it never slides out."""
    return [message for message in messages if message.role == "system"]


def _totals(first: int, sizes: Iterable[int]) -> list[int]:
    """The tokens before each row, and at the end those of all."""
    return list(accumulate(sizes, initial=first))


def _slid(
    begins: Sequence[int],
    plain: Container[int],
    fixed: Sequence[int],
    sizes: Sequence[int],
    begin: int,
    budgets: Budgets,
) -> int:
    """The first row that is sent, found by letting the window slide from the first turn to the last.

    `plain`: where a turn begins with a prompt alone: one of these, if any fits. `fixed`: tokens of what does not slide,
    `sizes`: of what does, both before each row.
    """
    for number, end in enumerate([*begins[1:], len(sizes) - 1]):
        # A turn is asked for with its prompt, and grows until the next one.
        for here in (begins[number] + 1, end):
            if fixed[here] + sizes[here] - sizes[begin] > budgets.trigger:
                keep = budgets.kept(fixed[here])
                fitting = [at for at in begins[: number + 1] if at >= begin and sizes[here] - sizes[at] <= keep]
                alone = (at for at in fitting if at in plain)
                begin = max(begin, next(alone, next(iter(fitting), begins[number])))
    return begin
