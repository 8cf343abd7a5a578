"""A conversation as a record leaves it, and how large it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import field, frozen

from trimtab.compaction.measuring.estimate import Estimator, Measured
from trimtab.compaction.measuring.usage import tokens_of
from trimtab.compaction.stored.record import FoldRecord
from trimtab.compaction.types import Row
from trimtab.envelope import warn_of_texts
from trimtab.errors import CallerError
from trimtab.wire.histories import Message, Shape

__all__ = ["Prompt", "checked_rows", "cleared", "measured", "prompt_of", "system_of"]


@frozen(kw_only=True)
class Prompt:
    """What is served of a conversation.

    Attributes:
        record: the fold that is served; None: there is none.
        opening: what stands before the rows: all that the system said in rows that are not served, the summary.
        rows: the rows that are served, with their messages.
        live: these, and those behind the fold; not what was cleared.
    """

    record: FoldRecord | None
    opening: list[Message] = field(repr=False)
    rows: list[tuple[Row, tuple[Message, ...]]] = field(repr=False)
    live: Sequence[Row] = field(repr=False)

    @property
    def messages(self) -> list[Message]:
        """All messages."""
        return [*self.opening, *(message for _, messages in self.rows for message in messages)]


def checked_rows(rows: Iterable[Row]) -> list[Row]:
    """These rows. Raises CallerError: something is no row, or two have one id, so that no boundary can be told."""
    found = list(rows)
    if not all(isinstance(row, Row) for row in found) or isinstance(rows, str | Mapping):
        raise CallerError("rows must be a list of trimtab.compaction.Row, the whole history of the conversation")
    seen: set[str] = set()
    for row in found:
        if row.id in seen:
            raise CallerError(f"each row needs an id of its own: {row.id!r:.80} is that of two")
        seen.add(row.id)
    warn_of_texts(output for row in found for output in row.outputs)
    return found


def cleared(rows: Sequence[Row]) -> int:
    """How many rows the user cleared."""
    return max((at + 1 for at, row in enumerate(rows) if row.clears), default=0)


def system_of(shape: Shape, rows: Iterable[Row]) -> list[Message]:
    """What the system says in these rows."""
    return [message for row in rows for message in shape.read(list(row.messages)) if message.role == "system"]


def prompt_of(
    shape: Shape, rows: Sequence[Row], known: Sequence[FoldRecord | None], text_of: Callable[[FoldRecord], str]
) -> Prompt:
    """What is served of these rows. `known`: their folds and those of other branches; the one that reaches furthest
    here is used; None is none. `text_of`: what is served in place of a fold.
    """
    if not isinstance(known, list | tuple) or not all(isinstance(one, FoldRecord | None) for one in known):
        raise CallerError("record must be a trimtab.compaction.FoldRecord (load_record makes one), or a list of these")
    begin = cleared(rows)
    places = {row.id: at for at, row in enumerate(rows) if at >= begin}
    here = [one for one in known if one is not None and one.boundary in places]
    record = max(here, key=lambda one: places[one.boundary], default=None)
    live = rows[begin:]
    first = begin if record is None else places[record.boundary] + 1
    opening = system_of(shape, rows[:first])
    if record is not None:
        opening += shape.read([shape.user_text(text_of(record))])
    served = [(row, shape.read(list(row.messages))) for row in rows[first:]]
    return Prompt(record=record, opening=opening, rows=served, live=live)


def measured(prompt: Prompt, estimator: Estimator) -> Measured:
    """Its tokens: from the provider's last count on, where there is one that still holds; else all estimated."""
    sizes = [estimator.messages(messages) for _, messages in prompt.rows]
    fixed = estimator.beside + estimator.messages(prompt.opening)
    counts_hold = prompt.record is None
    anchor, since, before = None, 0, 0
    for at, (row, _) in enumerate(prompt.rows):
        if counts_hold and (tokens := tokens_of(row.tokens)) is not None:
            if tokens < before:  # counted of a fold that is not served: its record is lost, or another branch's
                anchor = None
                break
            anchor, since, before = tokens, at + 1, tokens
        counts_hold = counts_hold or (prompt.record is not None and row.id == prompt.record.made_at)
    if anchor is None:
        return Measured(tokens=fixed + sum(sizes))
    return Measured.from_count(anchor, fixed + sum(sizes[:since]), sum(sizes[since:]))
