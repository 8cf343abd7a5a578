"""Token counters: `estimate`, which needs nothing, and `o200k`, `cl100k`, which are exact and need an extra.

The estimate reads each character once. A character costs what its class costs after the class of the one
before it: a small letter after another is a ninth of a token, after a digit more than one, a Han
character inside a run two thirds. So counts grow with every character, add up over pieces, and cannot
be off by orders of magnitude for text that is not English, as characters / 4 is. The costs were fitted
against o200k on text of some 130 kinds (`bench/bench_tokens.py` prints where they stand).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from functools import cache, partial
from typing import Final, Protocol, cast

from attrs import field, frozen

from trimtab.errors import CallerError, MissingExtra
from trimtab.types import TokenCounter

__all__ = ["BUILTIN_COUNTERS", "Estimate", "Exact"]

UNIT: Final = 64
"""Costs are in 64ths of a token."""

BLOCK: Final = 1 << 16
"""Chars looked at together: bounds the memory, changes no count."""


class After(IntEnum):
    """What the character before was."""

    BLANK = 0
    NEWLINE = 1
    SMALL = 2
    CAPITAL = 3
    DIGIT = 4
    RULE = 5
    POINT = 6
    FOREIGN = 7


SMALL_CHARS: Final = "abcdefghilmnoprstu"
RARE_CHARS: Final = "jkqvwxyz"  # After other letters they are the mark of random text: keys, base64.
CAPITAL_CHARS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CONTROL_CHARS: Final = "".join(map(chr, (*range(9), *range(14, 32), 127)))

# Characters, what they count as for the next one, and their cost after
#                                 BLANK NEWLINE SMALL CAPITAL DIGIT RULE POINT FOREIGN
ASCII: Final = (
    (" ", After.BLANK, (3, 49, 6, 1, 16, 12, 20, 1)),
    ("\t\v\f", After.BLANK, (53, 61, 40, 50, 13, 41, 48, 41)),
    ("\r\n", After.NEWLINE, (97, 1, 95, 71, 61, 69, 29, 194)),
    (SMALL_CHARS, After.SMALL, (25, 27, 9, 1, 84, 33, 50, 32)),
    (RARE_CHARS, After.SMALL, (71, 93, 47, 214, 159, 100, 66, 103)),
    (CAPITAL_CHARS, After.CAPITAL, (48, 88, 44, 10, 1, 91, 41, 30)),
    ("0123456789", After.DIGIT, (149, 67, 62, 148, 11, 71, 107, 104)),
    ("\"'`", After.POINT, (37, 37, 17, 70, 51, 23, 1, 41)),
    (",;:", After.POINT, (105, 39, 5, 30, 58, 44, 35, 35)),
    ("./_", After.POINT, (45, 1, 3, 20, 40, 27, 14, 31)),
    ("()[]{}<>", After.POINT, (44, 17, 19, 57, 28, 34, 27, 51)),
    ("-=*#~+", After.RULE, (59, 69, 24, 59, 43, 14, 1, 57)),
    ("!$%&?@\\^|" + CONTROL_CHARS, After.POINT, (64, 59, 91, 97, 4, 68, 15, 50)),
)

# Ranges of code points, what they count as for the next one, cost at the start of a run of such, cost inside.
SCRIPTS: Final = (
    (((0xC0, 0x24F), (0x1E00, 0x1EFF)), After.SMALL, 20, 54),  # Latin beyond ASCII
    (((0x300, 0x36F),), After.FOREIGN, 52, 26),  # combining marks
    (((0x370, 0x3FF), (0x1F00, 0x1FFF)), After.FOREIGN, 39, 25),  # Greek
    (((0x400, 0x52F),), After.FOREIGN, 93, 6),  # Cyrillic
    (((0x530, 0x5FF), (0x10A0, 0x10FF), (0x1C90, 0x1CBF)), After.FOREIGN, 107, 11),  # Armenian, Hebrew, Georgian
    (((0x600, 0x6FF), (0x750, 0x77F)), After.FOREIGN, 38, 21),  # Arabic
    (((0x900, 0x97F),), After.FOREIGN, 20, 27),  # Devanagari
    (((0x980, 0x9FF), (0xA80, 0xD7F)), After.FOREIGN, 20, 30),  # Bengali, Gujarati to Malayalam
    (((0xA00, 0xA7F), (0xD80, 0xDFF)), After.FOREIGN, 61, 37),  # Gurmukhi, Sinhala
    (((0xE00, 0xE7F),), After.FOREIGN, 51, 26),  # Thai
    (((0x1000, 0x109F), (0x1780, 0x17FF)), After.FOREIGN, 64, 33),  # Myanmar, Khmer
    (((0xA0, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7), (0x2070, 0x24FF), (0x25A0, 0x2E7F)), After.POINT, 117, 47),  # symbols
    (((0x2500, 0x259F),), After.RULE, 56, 26),  # box drawing
    (((0x2000, 0x206F), (0x3000, 0x303F), (0xFF00, 0xFF65)), After.POINT, 21, 28),  # typographic and wide points
    (((0x3040, 0x30FF), (0xFF66, 0xFF9F)), After.FOREIGN, 47, 45),  # kana
    (((0x4E00, 0x9FFF),), After.FOREIGN, 111, 46),  # Han
    (((0xAC00, 0xD7AF),), After.FOREIGN, 62, 40),  # Hangul
    (((0x80, 0x9F),), After.FOREIGN, 132, 129),  # C1 controls, and every code point up to U+FFFF not named here
    (((0x10000, 0x10FFFF),), After.FOREIGN, 86, 122),  # emoji, rare Han, dead scripts
)

REST: Final = len(ASCII) + len(SCRIPTS) - 2
ASTRAL: Final = REST + 1


@frozen
class _Costs:
    """`classes[code point]` is a character's class; the byte tables take classes to the halves of a pair and
    pairs to costs."""

    classes: str
    this: bytes
    before: bytes
    pair: bytes


@cache
def _costs() -> _Costs:
    classes = [chr(REST)] * 0x10000
    this, before, pair = bytearray([ASTRAL] * 256), bytearray([After.FOREIGN << 5] * 256), bytearray(256)
    for number, (chars, group, costs) in enumerate(ASCII):
        for ch in chars:
            classes[ord(ch)] = chr(number)
        this[number], before[number] = number, group << 5
        for after in After:
            pair[after << 5 | number] = costs[after]
    for number, (ranges, group, start, inside) in enumerate(SCRIPTS, len(ASCII)):
        for first, last in ranges:
            for point in range(first, min(last + 1, 0x10000)):
                classes[point] = chr(number)
        this[number], before[number] = number, group << 5
        for after in After:
            pair[after << 5 | number] = inside if after is group else start
    return _Costs("".join(classes), bytes(this), bytes(before), bytes(pair))


@frozen
class Estimate:
    """Estimates tokens by script and neighbour; within 0.9 and 1.25 of o200k on common kinds of text.

    `count` is at least 1 for text that is not empty and never falls when text is added at the end.
    """

    name: str = field(default="estimate", init=False)
    version: str = field(default="1", init=False)

    def count(self, text: str) -> int:
        """Tokens of `text`, rounded up; 0 for the empty text."""
        costs = _costs()
        total = 0
        before = bytes([After.NEWLINE << 5])
        for start in range(0, len(text), BLOCK):
            # Code points beyond the table stay as they are and become `?`, whose class is the astral one.
            classes = text[start : start + BLOCK].translate(costs.classes).encode("latin-1", "replace")
            # One byte for each character: its class, and in the upper bits the group of the one before.
            groups = classes.translate(costs.before)
            pairs = int.from_bytes(classes.translate(costs.this), "little")
            pairs |= int.from_bytes(before + groups[:-1], "little")
            total += sum(pairs.to_bytes(len(classes), "little").translate(costs.pair))
            before = groups[-1:]
        return -(-total // UNIT)


class _Tokenizer(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


VOCABULARIES: Final[Mapping[str, str]] = {"o200k": "o200k_base", "cl100k": "cl100k_base"}

PIECE: Final = 1 << 20
"""Chars encoded together, about: a list of token numbers takes many times the room of its text."""

# Both vocabularies split before a letter that follows a newline, so counts of pieces cut here add up.
SEAM: Final = re.compile("\n(?=[A-Za-z])")

SURROGATE: Final = re.compile("[\ud800-\udfff]")


@frozen
class Exact:
    """Counts with a published vocabulary: `name` is `o200k` or `cl100k`.

    Special tokens spelt out in the text count as the ordinary text they are. A lone surrogate counts as
    the U+FFFD that is sent in its place.

    Raises:
        MissingExtra: splintr-rs is not installed.
        CallerError: no such vocabulary.
    """

    name: str
    version: str = field(init=False)
    _tokenizer: _Tokenizer = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        vocabulary = VOCABULARIES.get(self.name)
        if vocabulary is None:
            raise CallerError(f"no vocabulary {self.name!r}; there are {', '.join(sorted(VOCABULARIES))}")
        try:
            splintr = importlib.import_module("splintr")
        except ModuleNotFoundError as error:
            raise MissingExtra(f"the token counter {self.name!r}", extra="trimtab[tokens]") from error
        tokenizer = cast(_Tokenizer, splintr.Tokenizer.from_pretrained(vocabulary))
        object.__setattr__(self, "version", f"{vocabulary} splintr-rs {importlib.metadata.version('splintr-rs')}")
        object.__setattr__(self, "_tokenizer", tokenizer)

    def count(self, text: str) -> int:
        """Tokens of `text`; 0 for the empty text."""
        return sum(len(self._tokenizer.encode_ordinary(SURROGATE.sub("\ufffd", piece))) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > PIECE and (seam := SEAM.search(text, start + PIECE)):
        yield text[start : seam.end()]
        start = seam.end()
    if start < len(text):
        yield text[start:]


BUILTIN_COUNTERS: Final[Mapping[str, Callable[[], TokenCounter]]] = {
    "estimate": Estimate,
    "o200k": partial(Exact, "o200k"),
    "cl100k": partial(Exact, "cl100k"),
}
"""What core answers to `trimtab_token_counters()`."""
