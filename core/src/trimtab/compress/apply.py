"""Applies the ranges of a call: each becomes a block, or is refused with the true reason and the numbers.

Nothing is folded that the range did not name; what it names and must stay (the newest messages, protected tools, half
of a call and its result) stays visible, and the receipt says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from trimtab.compress.board import Board
from trimtab.compress.folded import block_text
from trimtab.compress.ranges import Reason, Refusal, Span, resolve
from trimtab.compress.results import CompressRange
from trimtab.compress.state import Block, spans_of

__all__ = ["Applied", "Fold", "fold_ranges"]


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
    trusted: bool = False,
) -> Applied:
    """Fold each range that can be folded; the board has the new blocks then.

    Args:
        board: the conversation; changed only by ranges that are applied.
        ranges: of one call.
        made_by: number of the message with the call.
        upto: rows that the conversation had at the call, that message included.
        trusted: the call is known to have been taken once: sizes are not asked again, since a setting may have changed.
    """
    spans, refusals = _in_order(board, ranges, upto)
    held = board.held(upto)
    plans = []
    for span in spans:
        found = _plan(board, span, upto, held)
        if isinstance(found, _Plan) and not trusted:
            found = _sized(board, found) or found
        if isinstance(found, Refusal):
            refusals.append(found)
        else:
            plans.append(found)
    if not trusted:
        plans, small = _large_enough(board, plans)
        refusals += small
    folds = [_fold(board, plan, made_by) for plan in plans]
    return Applied(folds=tuple(folds), refusals=tuple(sorted(refusals, key=lambda one: one.index)))


def _in_order(board: Board, ranges: Sequence[CompressRange], upto: int) -> tuple[list[Span], list[Refusal]]:
    """The ranges by place; of two that overlap the earlier one counts."""
    spans: list[Span] = []
    refusals: list[Refusal] = []
    for index, asked in enumerate(ranges):
        found = resolve(board, index, asked, upto)
        if isinstance(found, Span):
            spans.append(found)
        else:
            refusals.append(found)
    spans.sort(key=lambda span: (span.first, span.index))
    kept: list[Span] = []
    for span in spans:
        if kept and span.first <= kept[-1].last:
            before = kept[-1].range
            text = f"it overlaps {before.start_ref} to {before.end_ref}, which begins earlier and was taken"
            refusals.append(_refusal(span, "overlap", text))
        else:
            kept.append(span)
    return kept, refusals


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
        why = board.why_held(kept[0], upto) if kept else "its messages are folded in blocks that reach beyond it"
        return _refusal(span, "held", f"nothing of it can be folded: {why}")
    return _Plan(span=span, rows=rows, inner=list(inner), kept=kept)


def _sized(board: Board, plan: _Plan) -> Refusal | None:
    """What is wrong with the length of a range's summary; None: nothing."""
    config, asked = board.config, plan.span.range
    length, most = len(asked.summary), asked.summary_max_chars or config.max_summary
    if length < config.min_summary:
        text = f"its summary has {length:,} chars; at least {config.min_summary:,} are needed to replace messages"
        return _refusal(plan.span, "summary-too-short", text)
    if length > most:
        return _refusal(
            plan.span, "summary-too-long", f"its summary has {length:,} chars; at most {most:,} are allowed"
        )
    visible = _visible(board, plan)
    if (full := len(block_text(_block(board, plan, 0)))) >= visible:
        text = f"its summary would take {full:,} chars in the place of {visible:,}: nothing is gained"
        return _refusal(plan.span, "no-gain", text)
    return None


def _visible(board: Board, plan: _Plan) -> int:
    """Chars that a range takes as it is shown now."""
    blocks = sum(len(block_text(board.blocks[number])) for number in plan.inner)
    return blocks + sum(board.seen[at].chars for at in plan.rows)


def _large_enough(board: Board, plans: list[_Plan]) -> tuple[list[_Plan], list[Refusal]]:
    """The ranges, if a call's messages are enough together; those that begin or end with a block always are."""
    plain = [plan for plan in plans if not plan.span.by_block]
    chars = sum(_visible(board, plan) for plan in plain)
    if chars >= board.config.min_chars:
        return plans, []
    text = f"the messages named have {chars:,} chars; a call must name at least {board.config.min_chars:,}"
    return [plan for plan in plans if plan.span.by_block], [_refusal(plan.span, "too-small", text) for plan in plain]


def _block(board: Board, plan: _Plan, made_by: int) -> Block:
    """The block that a range becomes."""
    inner = [board.blocks[number] for number in plan.inner]
    rows = sorted([*plan.rows, *(at for block in inner for at in board.places_of(block))])
    asked = plan.span.range
    return Block(
        number=max(board.blocks, default=0) + 1,
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
