"""What can be compressed now. Everything listed passes the gates: a model that names it is not refused for its size."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from attrs import frozen

from trimtab.compress.board import Board
from trimtab.compress.folded import block_text

__all__ = ["Listed", "compressible", "example_call", "listed_text"]

_SHOWN: Final = 12
_FRAME: Final = 400  # more chars than a block takes besides its summary


@frozen(kw_only=True)
class Listed:
    """Messages, or blocks with what stands between them, that can be folded by one range.

    `chars`, `tokens`: what they take as they are shown. `by_block`: the range makes blocks denser.
    """

    start_ref: str
    end_ref: str
    chars: int
    tokens: int
    by_block: bool = False


def compressible(board: Board, upto: int) -> list[Listed]:
    """The ranges that can be folded, in order: runs of free messages, then the run of blocks if there is more than one.

    Each has at least `min_chars`, so that it can be named alone; and it leaves room for a summary that is shorter.
    Short runs are put together over messages that stay visible between them, never over a block.
    """
    held = board.held(upto)
    free = [at for at in range(upto) if not board.block_at[at] and board.is_free(at, upto, held)]
    runs = [[at for _, at in run] for _, run in groupby(enumerate(free), lambda pair: pair[1] - pair[0])]
    found: list[Listed] = []
    short: list[int] = []
    for run in runs:
        rows = _whole_units(board, run)
        if short and any(board.block_at[short[-1] : run[0]]):
            short = []
        if _is_enough(board, _chars(board, rows)):
            short = []
        else:
            rows = short = short + rows
        if rows and _is_enough(board, _chars(board, rows)):
            found.append(_listed(board, rows))
            short = []
    return found + _denser(board, upto, held)


def _chars(board: Board, rows: list[int]) -> int:
    return sum(board.seen[at].chars for at in rows)


def _is_enough(board: Board, chars: int) -> bool:
    return chars >= max(board.config.min_chars, board.config.min_summary + _FRAME)


def _listed(board: Board, rows: list[int]) -> Listed:
    start, end = board.seen[rows[0]], board.seen[rows[-1]]
    tokens = sum(board.seen[at].tokens for at in rows)
    return Listed(start_ref=start.ref, end_ref=end.ref, chars=_chars(board, rows), tokens=tokens)


def _whole_units(board: Board, run: list[int]) -> list[int]:
    """The rows of a run whose units lie in it."""
    inside = set(run)
    starts = {board.unit[at] for at in run}
    whole = {unit for unit in starts if unit in inside and board.unit_ends[unit] <= run[-1]}
    return [at for at in run if board.unit[at] in whole]


def _denser(board: Board, upto: int, held: set[int]) -> list[Listed]:
    """All that is folded as one range, with what can be folded between, where that can be made denser."""
    blocks = sorted((board.blocks[number] for number in board.shown), key=lambda one: board.places_of(one)[:1])
    blocks = [block for block in blocks if board.places_of(block)]
    if len(blocks) < 2:
        return []
    final = max(blocks, key=lambda one: board.places_of(one)[-1])
    first, last = board.places_of(blocks[0])[0], board.places_of(final)[-1]
    free = [at for at in range(first, last) if not board.block_at[at] and board.is_free(at, upto, held)]
    rows = [at for at in free if board.unit[at] >= first and board.unit_ends[board.unit[at]] <= last]
    texts = [block_text(block) for block in blocks]
    chars = sum(map(len, texts)) + _chars(board, rows)
    if not _is_enough(board, chars):
        return []
    tokens = sum(map(board.config.counter.count, texts)) + sum(board.seen[at].tokens for at in rows)
    return [Listed(start_ref=blocks[0].ref, end_ref=final.ref, chars=chars, tokens=tokens, by_block=True)]


def listed_text(listed: list[Listed]) -> str:
    """The list as the model reads it; one sentence where it is empty."""
    if not listed:
        return "Nothing can be compressed now: go on with the task."
    lines = [
        f"- {one.start_ref} to {one.end_ref}: {one.chars:,} chars, {one.tokens:,} tokens" for one in listed[:_SHOWN]
    ]
    more = len(listed) - _SHOWN
    lines += [f"- and {more} more"] if more > 0 else []
    return "\n".join(["Can be compressed now:", *lines])


def example_call(one: Listed) -> str:
    """A call that names this range. Its summary is too short to be taken if it is copied, too."""
    return f'{{"content": [{{"startId": "{one.start_ref}", "endId": "{one.end_ref}", "summary": "..."}}]}}'
