"""The search engine behind the demo's `web_search` and `kb_search`: BM25 over a handful of documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from trimtab.tables import fold

__all__ = ["ranked"]

# Usual values of BM25's two constants: how soon more of a word counts less, how much a long document is held back.
_K1, _B = 1.2, 0.75
_WORD = re.compile("[A-Za-z0-9_]+")


def ranked(query: str, documents: Sequence[str], most: int) -> list[int]:
    """Numbers of the documents that answer a query best, best first; those without any of its words are left out."""
    counts = [Counter(_words(document)) for document in documents]
    lengths = [sum(count.values()) for count in counts]
    average = max(sum(lengths) / max(len(lengths), 1), 1.0)
    scores = [0.0] * len(documents)
    for word in sorted(set(_words(query))):
        holding = sum(word in count for count in counts)
        weight = log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for number, count in enumerate(counts):
            often = count[word]
            scores[number] += weight * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * lengths[number] / average))
    best = sorted(range(len(documents)), key=lambda number: (-scores[number], number))
    return [number for number in best[:most] if scores[number] > 0]


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text))
