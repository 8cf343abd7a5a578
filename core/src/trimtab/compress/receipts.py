"""The texts that a model gets for its call of the compress or decompress tool: a receipt, or what was wrong.

A text begins with what was done, so that a replay can tell a call that was taken from one that was not. Every ref in
it stands in the conversation, but for those that the model itself wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count, islice
from typing import Final

from attrs import frozen

from trimtab.compress.apply import Applied
from trimtab.compress.arguments.explain import advice, causes
from trimtab.compress.arguments.results import Diagnostics, Parsed
from trimtab.compress.board import Board
from trimtab.compress.listing import compressible, example_call, listed_text
from trimtab.compress.ranges import Reason, Refusal
from trimtab.compress.state import Block, Mark, Spans, numbers_of, spans_of

__all__ = [
    "DONE",
    "FAILED",
    "OPENED",
    "Failure",
    "entries_of",
    "feedback",
    "opened",
    "receipt",
    "refusal",
    "refused_in",
    "repeated",
    "unreadable",
]

DONE: Final = "Compressed:"
OPENED: Final = "Opened:"
FAILED: Final = "Nothing was changed."

_NOT_DONE: Final = "Not compressed:"
_REASONS: Final = 8
_REASON_CHARS: Final = 200
_FOLDS: Final = 20
_KEPT: Final = 6
_FULL: Final = 2
# A call with such a fault may be made again at once, with another summary.
_OF_SUMMARY: Final[tuple[Reason, ...]] = ("summary-too-short", "summary-too-long", "no-gain")
_ENTRY: Final = re.compile("- entry ([0-9]{1,6}), ")
_MORE: Final = re.compile("- more entries: [0-9]")
_RUN: Final = re.compile("([0-9]{1,6})(?:-([0-9]{1,6}))?")
_NUMBER: Final = re.compile("entry ([0-9]+): ")


@frozen(kw_only=True)
class Failure:
    """What a failed call is told: what was wrong, and what to do; the latter only while it helps."""

    cause: str
    advice: str


def receipt(board: Board, applied: Applied, parsed: Parsed) -> str:
    """What was folded, what of it stays visible, and which entries were not taken."""
    lines = [DONE]
    for fold in applied.folds[:_FOLDS]:
        block = fold.block
        tokens = board.config.counter.count(block.summary)
        spans = _words(block.spans)
        lines.append(f"- {block.ref} stands for {spans}: {block.tokens:,} tokens became {tokens:,}")
        if fold.kept:
            more = f" and {len(fold.kept) - _KEPT} more" if len(fold.kept) > _KEPT else ""
            lines.append(f"  still visible, since they cannot be folded yet: {', '.join(fold.kept[:_KEPT])}{more}")
    if (more_folds := len(applied.folds) - _FOLDS) > 0:
        lines.append(f"- and {more_folds} more blocks, to {applied.folds[-1].block.ref}")
    faults = [*_reasons(applied.refusals), *_unread(parsed.diagnostics)]
    return "\n".join([*lines, _NOT_DONE, *faults] if faults else lines)


def repeated(mark: Mark) -> str:
    """The answer to a call once more, where it was lost: what was done, in short."""
    if not mark.ok:
        return f"{FAILED} The call could not be used."
    done = ", ".join(f"b{number}" for number in mark.blocks)
    if mark.tool == "decompress":
        return f"{OPENED} {done}"
    more = _more(mark.left)
    return "\n".join([f"{DONE} {done}", *([_NOT_DONE, *more] if more else [])])


def refused_in(text: str) -> frozenset[int]:
    """The entries that a receipt says were not taken."""
    found = set[int]()
    for line in text.partition(f"\n{_NOT_DONE}\n")[2].split("\n"):
        if entry := _ENTRY.match(line):
            found.add(int(entry[1]))
        elif _MORE.match(line):
            found.update(numbers_of(_ascending(line)))
            break
    return frozenset(found)


def _ascending(line: str) -> Spans:
    """The runs in a line, as far as they ascend, as ours do: an answer that was changed is no reason to fail."""
    found: list[tuple[int, int]] = []
    for text in line.partition(": ")[2].split(", "):
        run = _RUN.fullmatch(text)
        first, last = (int(run[1]), int(run[2] or run[1])) if run else (0, -1)
        if last < first or (found and first <= found[-1][1]):
            break
        found.append((first, last))
    return tuple(found)


def refusal(board: Board, applied: Applied, parsed: Parsed, upto: int) -> Failure:
    """Why no range was taken, and what can be compressed instead."""
    lines = [FAILED, *_reasons(applied.refusals), *_unread(parsed.diagnostics)]
    listed = compressible(board, upto)
    reasons = {one.reason for one in applied.refusals}
    if not listed and not reasons.isdisjoint(_OF_SUMMARY):
        what_next = "Call again only with a better summary; nothing else can be compressed now."
    elif not listed and "too-small" in reasons:
        what_next = "There is not enough to compress now: go on with the task, and call compress again much later."
    else:
        what_next = listed_text(listed)
    return Failure(cause="\n".join(lines), advice=what_next)


def unreadable(board: Board, diagnostics: Diagnostics, upto: int) -> Failure:
    """Why the arguments gave no range, and what can be compressed in which shape."""
    listed = compressible(board, upto)
    what_next = listed_text(listed)
    if listed:
        what_next = f"{advice(diagnostics, example=example_call(listed[0]))}\n{what_next}"
    return Failure(cause=f"{FAILED}\n{causes(diagnostics)}", advice=what_next)


def opened(board: Board, block: Block, inner: Sequence[int]) -> str:
    """What is shown now in the place of a block."""
    folded = {at for one in inner for at in board.places_of(board.blocks[one])}
    direct = spans_of([board.seen[at].number for at in board.places_of(block) if at not in folded])
    shown = [f"b{one}" for one in inner] + ([_words(direct)] if direct else [])
    return f"{OPENED} in the place of {block.ref} the conversation has {', '.join(shown)} again."


def feedback(failure: Failure, failures: int, tool: str) -> str:
    """A failure's text by how many there were in a row: in full at first, then with an end to it, then short."""
    if failures <= _FULL:
        return f"{failure.cause}\n{failure.advice}"
    again = f"failed {failures} times in a row. Go on with the task without {tool}."
    return f"{failure.cause}\nSTOP: calls have {again}" if failures == _FULL + 1 else f"{FAILED} Calls have {again}"


def entries_of(parsed: Parsed) -> list[int]:
    """Which of a call's entries each range is, from 0: those that could not be used are counted, too."""
    unusable = {int(found[1]) for reason in parsed.diagnostics.invalid_reasons if (found := _NUMBER.match(reason))}
    usable = (index for index in count() if index not in unusable)
    return list(islice(usable, len(parsed.ranges)))


def _reasons(refusals: Sequence[Refusal]) -> list[str]:
    lines = [
        _line(f"entry {one.index}, {_short(one.start_ref)} to {_short(one.end_ref)}: {one.text}")
        for one in refusals[:_REASONS]
    ]
    return lines + _more([one.index for one in refusals[_REASONS:]])


def _more(entries: Sequence[int]) -> list[str]:
    runs = [f"{first}" if first == last else f"{first}-{last}" for first, last in spans_of(list(entries))]
    return [f"- more entries: {', '.join(runs)}"] if runs else []


def _unread(diagnostics: Diagnostics) -> list[str]:
    """What is wrong with a call beside the ranges that were read."""
    lines = [_line(" ".join(reason.split("\n"))) for reason in diagnostics.invalid_reasons[:_REASONS]]
    more = diagnostics.invalid_items - len(lines)
    lines += [f"- and {more} more that cannot be used"] if more > 0 else []
    return lines + (["- what comes after that: the call breaks off"] if diagnostics.kind == "truncated" else [])


def _line(text: str) -> str:
    return f"- {text}" if len(text) <= _REASON_CHARS else f"- {text[: _REASON_CHARS - 1]}…"


def _short(ref: str) -> str:
    ref = ref.replace("\n", " ")
    return ref if len(ref) <= 20 else f"{ref[:19]}…"


def _words(spans: Spans) -> str:
    """Messages in words."""
    words = [f"m{first:05}" if first == last else f"m{first:05} to m{last:05}" for first, last in spans[:_KEPT]]
    more = len(spans) - _KEPT
    return ", ".join(words) + (f" and {more} more runs" if more > 0 else "")
