"""Applies the ranges of a call: each becomes a block, or is refused with the true reason and the numbers.

Nothing is folded that the range did not name; what it names and must stay (the newest messages, protected tools, half
of a call and its result) stays visible, and the receipt says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from trimtab.compress.arguments.results import CompressRange
from trimtab.compress.board import Board
from trimtab.compress.folded import block_text
from trimtab.compress.ranges import Reason, Refusal, Span, resolve
from trimtab.compress.state import Block, spans_of

__all__ = ["Applied", "Fold", "fold_ranges"]

_LOOKS: Final = 4  # so many times each message is looked at to tell why ranges are refused, however many name it


@frozen(kw_only=True)
class Fold:
    """A range that was applied: the block, and the refs of messages in it that stay visible."""

    block: Block
    kept: tuple[str, ...] = ()


@frozen(kw_only=True)
class Applied:
    """What became of a call's ranges, each in one of the two, in the order of the conversation and of the call."""

    folds: tuple[Fold, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@frozen(kw_only=True)
class _Plan:
    span: Span
    rows: list[int]
    inner: list[int]
    kept: list[int]


def fold_ranges(
    board: Board,
    ranges: Sequence[CompressRange],
    *,
    made_by: int,
    upto: int,
    entries: Sequence[int] | None = None,
    trusted: bool = False,
) -> Applied:
    """Fold each range that can be folded; the board has the new blocks then.

    Args:
        board: the conversation; changed only by ranges that are applied.
        ranges: of one call.
        made_by: number of the message with the call.
        upto: rows that the conversation had at the call, that message included.
        entries: which of the call's entries each range is; None: there are no others.
        trusted: the ranges are known to have been taken once: sizes are not asked again, since a setting may have
            changed.
    """
    held = board.held(upto)
    spans, refusals = _resolved(board, ranges, upto, range(len(ranges)) if entries is None else entries)
    if not trusted:
        # What is too small whatever its summaries say is told so at once.
        spans, small = _large_enough_at_all(board, spans, upto, held)
        refusals += small
    plans: list[_Plan] = []
    for span in spans:
        found = _judged(board, span, plans[-1].span if plans else None, upto, held, trusted)
        if isinstance(found, _Plan):
            plans.append(found)
        else:
            refusals.append(found)
    if not trusted:
        plans, small = _large_enough(board, plans)
        refusals += small
    folds = [_fold(board, plan, made_by) for plan in plans]
    return Applied(folds=tuple(folds), refusals=tuple(sorted(refusals, key=lambda one: one.index)))


def _resolved(
    board: Board, ranges: Sequence[CompressRange], upto: int, entries: Sequence[int]
) -> tuple[list[Span], list[Refusal]]:
    """The ranges that name rows, by place; and the others."""
    found = [resolve(board, index, asked, upto) for index, asked in zip(entries, ranges, strict=True)]
    spans = sorted((one for one in found if isinstance(one, Span)), key=lambda span: (span.first, span.index))
    return spans, [one for one in found if isinstance(one, Refusal)]


def _judged(board: Board, span: Span, before: Span | None, upto: int, held: set[int], trusted: bool) -> _Plan | Refusal:
    """What is folded of a range, if it can be taken. `before`: the last one that was."""
    if before is not None and span.first <= before.last:
        text = f"it overlaps entry {before.index}, {before.range.start_ref} to {before.range.end_ref}"
        return _refusal(span, "overlap", f"{text}: a message can be named once")
    if not trusted and (fault := _length_fault(board, span)):
        return fault
    plan = _plan(board, span, upto, held)
    if isinstance(plan, Refusal) or trusted:
        return plan
    return _gain_fault(board, plan) or plan


def _refusal(span: Span, reason: Reason, text: str) -> Refusal:
    asked = span.range
    return Refusal(index=span.index, start_ref=asked.start_ref, end_ref=asked.end_ref, reason=reason, text=text)


def _plan(board: Board, span: Span, upto: int, held: set[int]) -> _Plan | Refusal:
    """Which rows and blocks of a range are folded, and which stay."""
    inside = range(span.first, span.last + 1)
    there = Counter(board.unit[at] for at in inside)
    rows, kept, inner, partly = [], [], dict[int, None](), set[int]()
    for at in inside:
        number, unit = board.block_at[at], board.unit[at]
        if not number and board.is_free(at, upto, held) and there[unit] == board.unit_sizes[unit]:
            rows.append(at)
        elif not number:
            kept.append(at)
        elif number not in inner and number not in partly:
            places = board.places_of(board.blocks[number])
            if places[0] >= span.first and places[-1] <= span.last:
                inner[number] = None
            else:
                partly.add(number)
    if not rows and not inner:
        reach = min(partly, default=0)
        why = (
            board.why_held(kept[0], upto, inside) if kept else f"its messages are folded in b{reach}, which goes beyond"
        )
        return _refusal(span, "held", f"nothing of it can be folded: {why}")
    return _Plan(span=span, rows=rows, inner=list(inner), kept=kept)


def _length_fault(board: Board, span: Span) -> Refusal | None:
    """What is wrong with the length of a range's summary; None: nothing."""
    config, asked = board.config, span.range
    length, most = len(asked.summary), asked.summary_max_chars or config.max_summary
    if length < config.min_summary:
        text = f"its summary has {length:,} chars; at least {config.min_summary:,} are needed to replace messages"
        return _refusal(span, "summary-too-short", text)
    if length > most:
        allowed = "its summaryMaxChars allows" if asked.summary_max_chars else "allowed are"
        return _refusal(span, "summary-too-long", f"its summary has {length:,} chars; {allowed} {most:,}")
    return None


def _gain_fault(board: Board, plan: _Plan) -> Refusal | None:
    """Whether a range would take no less room than now; None: it would."""
    visible = _visible(board, plan)
    if (full := len(block_text(_block(board, plan, 0)))) < visible:
        return None
    text = f"with its frame its summary would take {full:,} chars in the place of {visible:,}: nothing is gained"
    if len(plan.inner) == 1 and not plan.rows:
        text = f"all of it is folded in b{plan.inner[0]} already, in {visible:,} chars, and this would take {full:,}"
    return _refusal(plan.span, "no-gain", text)


def _visible(board: Board, plan: _Plan) -> int:
    """Chars that a range takes as it is shown now."""
    blocks = sum(len(block_text(board.blocks[number])) for number in plan.inner)
    return blocks + sum(board.seen[at].chars for at in plan.rows)


def _large_enough_at_all(
    board: Board, spans: list[Span], upto: int, held: set[int]
) -> tuple[list[Span], list[Refusal]]:
    """The ranges, if all that they name is enough, whatever their summaries; those at blocks always are."""
    plain = [span for span in spans if not span.by_block]
    merged = [_plan(board, span, upto, held) for span in _merged(plain)]
    chars = sum(_visible(board, plan) for plan in merged if isinstance(plan, _Plan))
    if chars >= board.config.min_chars:
        return spans, []
    refusals = []
    work = _LOOKS * upto
    for span in plain:
        work -= span.last - span.first + 1
        found = _plan(board, span, upto, held) if work >= 0 else None
        refusals.append(found if isinstance(found, Refusal) else _too_small(board, span, "the call names", chars))
    return [span for span in spans if span.by_block], refusals


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Ranges in order, those that overlap as one."""
    found: list[Span] = []
    for span in spans:
        if found and span.first <= found[-1].last:
            found[-1] = evolve(found[-1], last=max(found[-1].last, span.last))
        else:
            found.append(span)
    return found


def _large_enough(board: Board, plans: list[_Plan]) -> tuple[list[_Plan], list[Refusal]]:
    """The ranges, if those that can be taken are enough together; those at blocks always are."""
    plain = [plan for plan in plans if not plan.span.by_block]
    chars = sum(_visible(board, plan) for plan in plain)
    if chars >= board.config.min_chars:
        return plans, []
    small = [_too_small(board, plan.span, "what is left of the call names", chars) for plan in plain]
    return [plan for plan in plans if plan.span.by_block], small


def _too_small(board: Board, span: Span, what: str, chars: int) -> Refusal:
    text = f"{what} {chars:,} chars that can be folded; at least {board.config.min_chars:,} are needed"
    return _refusal(span, "too-small", text)


def _block(board: Board, plan: _Plan, made_by: int) -> Block:
    """The block that a range becomes."""
    inner = [board.blocks[number] for number in plan.inner]
    rows = sorted([*plan.rows, *(at for block in inner for at in board.places_of(block))])
    asked = plan.span.range
    return Block(
        number=board.next_block,
        tier=1 + max((block.tier for block in inner), default=0),
        summary=asked.summary,
        topic=asked.topic,
        call_id=asked.call_id,
        made_by=made_by,
        spans=spans_of([board.seen[at].number for at in rows]),
        blocks=tuple(plan.inner),
        chars=sum(board.seen[at].chars for at in rows),
        tokens=sum(board.seen[at].tokens for at in rows),
    )


def _fold(board: Board, plan: _Plan, made_by: int) -> Fold:
    block = _block(board, plan, made_by)
    board.fold(block)
    return Fold(block=block, kept=tuple([board.seen[at].ref for at in plan.kept]))
