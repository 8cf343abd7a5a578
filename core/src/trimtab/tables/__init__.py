"""Unicode as trimtab froze it: where a text may be cut, what a word is, which letters are one letter.

Renderings must be the same bytes under every Python, so nothing here asks the running one: the data is
in `frozen.py` (Unicode 15.1), decoded on first use. Code points that later versions assign are as they
were then: no word, cut anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from trimtab.tables import frozen

__all__ = ["UNICODE_VERSION", "fold", "is_joined", "unspaced_class", "variants", "whole_before", "word_class"]

UNICODE_VERSION: Final = frozen.UNICODE_VERSION

ZWJ: Final = "\u200d"
FIRST_MARK: Final = "\u0300"
FIRST_FLAG: Final = "\U0001f1e6"
LAST_FLAG: Final = "\U0001f1ff"

FLAGS_BACK: Final = 256
"""How far back flag letters are counted: a bound, so that a text of flags alone costs linear time."""


MOST_BACK: Final = 32
"""Code points that a cut gives way to at most: what people see as one character has fewer."""


def is_joined(text: str, pos: int) -> bool:
    """Whether a cut between `text[pos - 1]` and `text[pos]` would split one character as people see it.

    True before combining marks, joiners, variation selectors, skin tones, tags, Hangul medials and
    finals; after a zero-width joiner; inside CRLF; inside a pair of flag letters. False after a
    newline or another control, where nothing can be joined (as in UAX 29, GB4), and at both ends of the
    text and beyond them.
    """
    if not 0 < pos < len(text):
        return False
    before, after = text[pos - 1], text[pos]
    if before == ZWJ:
        return True
    if after < FIRST_MARK or before < " ":
        return before == "\r" and after == "\n"
    if FIRST_FLAG <= after <= LAST_FLAG:
        return _flag_letters_before(text, pos) % 2 == 1
    return after in _never_before()


def whole_before(text: str, pos: int) -> int:
    """The last place up to `pos` where a cut splits no character; `pos` itself if there is none nearby."""
    return next((at for at in range(pos, pos - MOST_BACK, -1) if not is_joined(text, at)), pos)


def _flag_letters_before(text: str, pos: int) -> int:
    at = pos
    while at > 0 and pos - at < FLAGS_BACK and FIRST_FLAG <= text[at - 1] <= LAST_FLAG:
        at -= 1
    return pos - at


def word_class() -> str:
    """Inside of a regular expression's `[...]`: letters, digits and marks of scripts that write blanks."""
    return _char_class(frozen.WORD)


def unspaced_class() -> str:
    """Inside of a regular expression's `[...]`: letters, digits and marks of Han, kana, Hangul, Thai and the like."""
    return _char_class(frozen.UNSPACED)


def fold(text: str) -> str:
    """`text` without the difference of case, code point for code point: its length does not change."""
    return text.translate(_folds())


def variants(ch: str) -> str:
    """Every code point that folds to what `ch` folds to, ascending; `ch` alone if it has no case."""
    folded = _folds().get(ord(ch), ch)
    return _orbits().get(folded, ch)


def _spans(words: str) -> Iterator[tuple[int, int]]:
    for word in words.split(" "):
        first, _, last = word.partition("-")
        yield int(first, 16), int(last or first, 16)


@cache
def _never_before() -> frozenset[str]:
    return frozenset(chr(point) for first, last in _spans(frozen.NEVER_BEFORE) for point in range(first, last + 1))


@cache
def _char_class(words: str) -> str:
    # The only ASCII in these tables is letters and digits, which mean themselves inside brackets.
    return "".join(chr(a) if a == b else f"{chr(a)}-{chr(b)}" for a, b in _spans(words))


@cache
def _folds() -> dict[int, str]:
    table: dict[int, str] = {}
    for word in frozen.FOLDS.split(" "):
        cut = max(word.rfind("+"), word.rfind("-"))
        (span, _, step), distance = word[:cut].partition("/"), int(word[cut:], 16)
        first, _, last = span.partition("-")
        for point in range(int(first, 16), int(last or first, 16) + 1, int(step or 1)):
            table[point] = chr(point + distance)
    return table


@cache
def _orbits() -> dict[str, str]:
    orbits: dict[str, str] = {}
    for point, folded in sorted(_folds().items()):
        orbits[folded] = orbits.get(folded, folded) + chr(point)
    return {folded: "".join(sorted(orbit)) for folded, orbit in orbits.items()}
