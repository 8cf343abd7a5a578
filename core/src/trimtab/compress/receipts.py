"""The texts that a model gets for its call of the compress or decompress tool: a receipt, or what was wrong.

A text begins with what was done, so that a replay can tell a call that was taken from one that was not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trimtab.compress.apply import Applied
from trimtab.compress.board import Board
from trimtab.compress.explain import explain
from trimtab.compress.listing import compressible, listed_text
from trimtab.compress.ranges import Refusal
from trimtab.compress.results import Diagnostics, Parsed

__all__ = ["DONE", "FAILED", "OPENED", "feedback", "receipt", "refusal", "unreadable"]

DONE: Final = "Compressed:"
OPENED: Final = "Opened:"
FAILED: Final = "Nothing was changed."

_REASONS: Final = 8
_REASON_CHARS: Final = 200
_KEPT: Final = 6
_FULL: Final = 2


def receipt(board: Board, applied: Applied, diagnostics: Diagnostics) -> str:
    """What was folded, what of it stays visible, and which entries were not taken."""
    lines = [DONE]
    for fold in applied.folds:
        block = fold.block
        tokens = board.config.counter.count(block.summary)
        lines.append(
            f"- {block.ref} stands for {_spans(board, block.spans)}: {block.tokens:,} tokens became {tokens:,}"
        )
        if fold.kept:
            more = f" and {len(fold.kept) - _KEPT} more" if len(fold.kept) > _KEPT else ""
            lines.append(f"  still visible in between: {', '.join(fold.kept[:_KEPT])}{more}")
    if applied.refusals:
        lines += ["Not compressed:", *_reasons(applied.refusals)]
    if diagnostics.invalid_items or diagnostics.kind == "truncated":
        lines.append(explain(diagnostics))
    return "\n".join(lines)


def refusal(board: Board, applied: Applied, parsed: Parsed, upto: int) -> str:
    """Why no range was taken, and what can be compressed instead."""
    lines = [FAILED, *_reasons(applied.refusals)]
    if parsed.diagnostics.invalid_items or parsed.diagnostics.kind == "truncated":
        lines.append(explain(parsed.diagnostics))
    listed = compressible(board, upto)
    if not listed and any(one.reason == "too-small" for one in applied.refusals):
        lines.append("There is not enough to compress now: do not call compress again before much more was said.")
    else:
        lines.append(listed_text(listed))
    return "\n".join(lines)


def unreadable(diagnostics: Diagnostics) -> str:
    """Why the arguments gave no range."""
    return f"{FAILED}\n{explain(diagnostics)}"


def feedback(text: str, failures: int, tool: str) -> str:
    """A failure's text by how many there were in a row: in full at first, then with an end to it, then short."""
    if failures <= _FULL:
        return text
    if failures == _FULL + 1:
        return f"{text}\nThis was failure {failures} in a row. Stop calling {tool} and go on with the task."
    return f"{FAILED} Failure {failures} in a row: {tool} is of no use here now. Go on with the task without it."


def _reasons(refusals: Sequence[Refusal]) -> list[str]:
    lines = []
    for one in refusals[:_REASONS]:
        line = f"- entry {one.index}, {_short(one.start_ref)} to {_short(one.end_ref)}: {one.text}"
        lines.append(line if len(line) <= _REASON_CHARS else f"{line[: _REASON_CHARS - 1]}…")
    more = len(refusals) - _REASONS
    return lines + ([f"- and {more} more"] if more > 0 else [])


def _short(ref: str) -> str:
    ref = ref.replace("\n", " ")
    return ref if len(ref) <= 20 else f"{ref[:19]}…"


def _spans(board: Board, spans: Sequence[tuple[int, int]]) -> str:
    """The messages of a block in words."""
    words = [f"m{first:05}" if first == last else f"m{first:05} to m{last:05}" for first, last in spans[:_KEPT]]
    more = len(spans) - _KEPT
    return ", ".join(words) + (f" and {more} more runs" if more > 0 else "")
