"""Which lines of a text answer a question: BM25 over lines, or over pieces of lines that are very long.

Words are those of trimtab's frozen tables, without regard to case; scripts that put no blanks between
words go by pairs of characters. The text is searched for the question's terms, never split into its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from heapq import heappush, heappushpop
from typing import Final

from attrs import frozen

from trimtab.tables import fold, unspaced_class, variants, whole_before, word_class
from trimtab.types import Json

__all__ = ["Passage", "query_of", "rank"]

QUERY_KEYS: Final = (
    "query",
    "q",
    "queries",
    "question",
    "pattern",
    "search",
    "search_query",
    "keywords",
    "keyword",
    "prompt",
    "topic",
)

MOST_QUERY: Final = 10_000
"""Chars of a query that are read."""

MOST_TERMS: Final = 32
"""Distinct terms of a query that are looked for, the first ones."""

LONGEST_TERM: Final = 128
"""A longer word is not looked for: the digits of a SHA-512 still are."""

LONG_LINE: Final = 400
"""Chars of the longest line, its end included, that is one passage."""

SHORT_PIECE: Final = 200
"""A piece of a longer line has at least so many chars, less what keeps a character whole; its last may be shorter."""

SENTENCE_ENDS: Final = (". ", "! ", "? ", "; ", "\u3002", "\uff01", "\uff1f")
BLANKS: Final = (" ", "\t", "\u3000")

BEYOND_ASCII: Final = re.compile("[^\x00-\x7f]")

# The usual constants of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75


@frozen(kw_only=True)
class Passage:
    """A piece of a text: code points `start` to `end`, 0-based and half open; higher scores answer better."""

    start: int
    end: int
    score: float


def query_of(arguments: Json) -> str | None:
    """What a tool call asks for, by its own arguments: the first of the usual keys that holds a text.

    A list of texts counts as its texts with blanks between. None when there is no such key, or no object.
    """
    if not isinstance(arguments, dict):
        return None
    for key in QUERY_KEYS:
        value = arguments.get(key)
        if isinstance(value, list):
            value = " ".join(item for item in value if isinstance(item, str) and item)
        if isinstance(value, str) and value:
            return value
    return None


def rank(text: str, query: str, *, most: int = 64) -> list[Passage]:
    """The passages of `text` that hold a term of `query`, best first, equal ones in order; at most `most`.

    A passage is a line with its end, or, of a line above 400 chars, a piece of some 200 to 400 that ends with
    a sentence or else at a blank. No passage when `query` has no word in it.

    Memory is bounded by `most`, not by the text. Scores are the same on every machine: sums, products and
    quotients of doubles in a fixed order, with a logarithm of whole numbers.
    """
    pattern = _pattern(*_terms(query), beyond_ascii=BEYOND_ASCII.search(text) is not None)
    if pattern is None or most < 1:
        return []
    found_in = [0] * pattern.groups
    for _, _, counts in _hits(text, pattern):
        for term in counts:
            found_in[term] += 1
    pieces = text.count("\n") + 1 + len(text) // SHORT_PIECE
    weights = [_log2(2 * max(pieces, found) + 2, 2 * found + 1) for found in found_in]
    best: list[tuple[float, int, int]] = []
    for start, end, counts in _hits(text, pattern):
        # The length of a piece against the mean one, which is len(text) / pieces.
        length = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * ((end - start) * pieces / len(text)))
        score = 0.0
        for term in sorted(counts):
            times = counts[term]
            score += weights[term] * (times * (SATURATION + 1) / (times + length))
        entry = (round(score, 6), -start, end)
        if len(best) < most:
            heappush(best, entry)
        elif entry > best[0]:
            heappushpop(best, entry)
    best.sort(reverse=True)
    return [Passage(start=-start, end=end, score=score) for score, start, end in best]


def _log2(above: int, below: int) -> float:
    # Whole numbers only, because math.log may differ in the last bit between C libraries. Between powers of
    # two the curve is taken for straight: off by 0.09 at most, and never out of order.
    ratio = (above << 32) // below
    power = ratio.bit_length() - 1
    return (power - 32) + (ratio - (1 << power)) / (1 << power)


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(f"([{word_class()}]+)|[{unspaced_class()}]+")


def _terms(query: str) -> tuple[list[str], list[str]]:
    """Words, which stand alone, and pairs of characters of scripts without blanks; distinct, folded."""
    words: dict[str, None] = {}
    pairs: dict[str, None] = {}
    for run in _runs().finditer(fold(query[:MOST_QUERY])):
        if not run[1]:
            for at in range(max(1, len(run[0]) - 1)):
                pairs.setdefault(run[0][at : at + 2])
        elif len(run[0]) <= LONGEST_TERM:
            words.setdefault(run[0])
        if len(words) + len(pairs) >= MOST_TERMS:
            break
    return list(words), list(pairs)[: MOST_TERMS - len(words)]


def _pattern(words: list[str], pairs: list[str], *, beyond_ascii: bool) -> re.Pattern[str] | None:
    """Matches the terms, a group for each. None when there are none."""
    if not words and not pairs:
        return None
    # Pairs overlap: only their first characters are consumed.
    branches = [f"(?<={pair[0]})((?={pair[1:]}))" for pair in pairs]
    if words:
        left, right = "(?<![0-9A-Za-z].)", "(?![0-9A-Za-z])"
        if beyond_ascii:
            # Only where it can matter: this class takes longer to compile than many a text to search.
            letter = f"(?<=[{word_class()}])"
            left, right = f"{left}(?<![^\x00-\x7f]{letter}.)", f"{right}(?![^\x00-\x7f]{letter})"
        alone = "|".join(f"(?<={_any_case(word[0])})({_any_case(word[1:])})" for word in words)
        branches.append(f"{left}(?:{alone}){right}")
    # One set of characters in front, because `re` scans for that fast.
    firsts = "".join(sorted({variant for term in (*words, *pairs) for variant in variants(term[0])}))
    return re.compile(f"[{firsts}](?:{'|'.join(branches)})", re.DOTALL)


def _any_case(text: str) -> str:
    return "".join(f"[{variants(ch)}]" for ch in text)


def _hits(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, dict[int, int]]]:
    """Passages with a term in them, in order: start, end, and how often each term occurs."""
    start = end = line_end = 0
    counts: dict[int, int] = {}
    for match in pattern.finditer(text):
        at = match.start()
        if at >= end:
            if counts:
                yield start, end, counts
                counts = {}
            start = end
            if at >= line_end:
                start = text.rfind("\n", line_end, at) + 1 or line_end
                line_end = text.find("\n", at) + 1 or len(text)
            end = _piece_end(text, start, line_end)
            while end <= at:
                start, end = end, _piece_end(text, end, line_end)
        term = (match.lastindex or 1) - 1
        counts[term] = counts.get(term, 0) + 1
    if counts:
        yield start, end, counts


def _piece_end(text: str, start: int, line_end: int) -> int:
    if line_end - start <= LONG_LINE:
        return line_end
    least, most = start + SHORT_PIECE, start + LONG_LINE
    cut = _after_last(SENTENCE_ENDS, text, least, most) or _after_last(BLANKS, text, least, most) or most
    return whole_before(text, cut)


def _after_last(marks: Sequence[str], text: str, least: int, most: int) -> int:
    return max(at + len(mark) if (at := text.rfind(mark, least, most)) >= 0 else 0 for mark in marks)
