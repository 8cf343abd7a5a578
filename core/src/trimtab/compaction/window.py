"""The sliding window: with no summarizer the oldest whole turns are not sent any more."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from trimtab.compaction.estimate import Estimator
from trimtab.compaction.repair import Repair, repaired
from trimtab.compaction.settings import FoldSettings
from trimtab.compaction.types import Event, Row
from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire.histories import Shape, is_prompt

__all__ = ["Slid", "slide"]


@frozen(kw_only=True)
class Slid:
    """What is sent, and which rows it came from: what slid out is not to be read back any more."""

    messages: list[Json] = field(repr=False)
    rows: tuple[Row, ...] = field(repr=False)
    event: Event | None
    repairs: tuple[Repair, ...] = ()


def slide(shape: Shape, rows: Sequence[Row], settings: FoldSettings, *, most: int | None = None) -> Slid:
    """The newest whole turns that fit.

    Args:
        shape: of the protocol.
        rows: the history.
        settings: their trigger is the room there is; with no window known all is sent, unless `most` says otherwise.
        most: at most so many rows, then back to the beginning of their turn: a window that the user has set.

    Raises:
        CallerError: `most` is no whole number from 1.
    """
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        raise CallerError(f"most must be a whole number of rows from 1, not {most!r:.80}")
    cleared = max((at + 1 for at, row in enumerate(rows) if row.clears), default=0)
    live = rows[cleared:]
    read = [shape.read(list(row.messages)) for row in live]
    turns = [at for at, messages in enumerate(read) if messages and is_prompt(messages[0])] or [0]
    begin = 0
    if most is not None and len(live) > most:
        begin = max((at for at in turns if at <= len(live) - most), default=0)
    estimator = Estimator(settings)
    budgets = settings.budgets()
    sizes = [estimator.messages(messages) for messages in read]
    before = estimator.beside + sum(sizes)
    if budgets is not None:
        while begin < turns[-1] and estimator.beside + sum(sizes[begin:]) > budgets.trigger:
            begin = next(at for at in turns if at > begin)
    natives, repairs = repaired(shape, [message for messages in read[begin:] for message in messages])
    event = None
    if begin:
        folded = sum(map(len, read[:begin]))
        after = estimator.beside + sum(sizes[begin:])
        event = Event(kind="done", lane="window", before=before, after=after, folded=folded)
    return Slid(messages=shape.joined(natives), rows=tuple(live[begin:]), event=event, repairs=repairs)
