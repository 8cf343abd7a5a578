"""Searches what is folded: BM25 over the lines of the messages behind blocks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from attrs import field, frozen

from trimtab.compress.board import Board
from trimtab.compress.calls import decoded
from trimtab.compress.refs.identity import texts_of
from trimtab.focus import query_of, rank
from trimtab.measure import shown
from trimtab.types import Json

__all__ = ["Hit", "answer_search", "search"]

_LIMIT = 8
_MOST = 50
_LIMIT_DIGITS = 9


@frozen(kw_only=True)
class Hit:
    """A passage of a folded message: its ref, the block that it is folded in, at most 400 chars, and its score."""

    ref: str
    block: str
    text: str = field(repr=False)
    score: float


def search(board: Board, query: str, limit: int = _LIMIT) -> list[Hit]:
    """The passages of folded messages that answer a query, best first; none where no word of it is found."""
    texts: list[str] = []
    starts: list[int] = []
    rows: list[int] = []
    length = 0
    for row, number in enumerate(board.block_at):
        for text in texts_of(board.rows[row]) if number else ():
            starts.append(length)
            rows.append(row)
            texts.append(text)
            length += len(text) + 1
    whole = "\n".join(texts)
    hits = []
    for passage in rank(whole, query, most=max(1, min(limit, _MOST))):
        row = rows[bisect_right(starts, passage.start) - 1]
        text = whole[passage.start : passage.end].strip(" \t\r\n")
        block = board.blocks[board.block_at[row]].ref
        hits.append(Hit(ref=board.seen[row].ref, block=block, text=text, score=passage.score))
    return hits


def answer_search(board: Board, raw: Json) -> str:
    """The text that a model gets for its call of the search tool."""
    arguments = decoded(raw)
    query = arguments if isinstance(arguments, str) else query_of(arguments)
    limit = _limit(arguments.get("limit")) if isinstance(arguments, dict) else _LIMIT
    if not query or not query.strip(" \t\r\n"):
        return 'Say what to look for, as in {"query": "lock file"}.'
    if not board.shown:
        return "Nothing is folded: all there is can be seen in the conversation."
    hits = search(board, query, limit)
    if not hits:
        return "Nothing in the folded messages has one of these words."
    return shown(_listed(hits, board.config.decompress))


def _limit(value: Json) -> int:
    """How many hits are asked for, however the number is written; whatever is none counts for nothing."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _LIMIT_DIGITS:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else _LIMIT


def _listed(hits: Sequence[Hit], opens: str) -> str:
    """The hits, and with what a block is opened, if with anything."""
    lines = [f"{hit.ref} in {hit.block}: {hit.text}" for hit in hits]
    return "\n".join([*lines, f"{opens} shows the messages of a block again."] if opens else lines)
