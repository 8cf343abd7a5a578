"""Token counters: `estimate`, which needs nothing, and `o200k`, `cl100k`, which are exact and need an extra.

The estimate reads each character once. A character costs what its class costs after the class of the one
before it: a small letter is a tenth of a token after another and more than one after a digit, a Han
character inside a run five sixths. So counts grow with every character, add up over pieces, and stay
near for text that is not English, where characters / 4 is a third of the truth. The costs were fitted
against o200k on texts of some 130 kinds; `bench/bench_tokens.py` prints how near they come.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from functools import cache, partial
from operator import index
from typing import Final, Protocol

from attrs import field, frozen

from trimtab.errors import CallerError, MissingExtra, PluginError
from trimtab.types import TokenCounter

__all__ = ["BUILTIN_COUNTERS", "Checked", "Estimate", "Exact"]

UNIT: Final = 64
"""Costs are in 64ths of a token."""

BLOCK: Final = 1 << 16
"""Chars looked at together: bounds the memory, changes no count."""


class _After(IntEnum):
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
    (" ", _After.BLANK, (3, 48, 22, 1, 19, 13, 22, 1)),
    ("\t\v\f", _After.BLANK, (50, 59, 51, 53, 22, 45, 54, 44)),
    ("\r\n", _After.NEWLINE, (92, 1, 107, 81, 61, 72, 42, 195)),
    (SMALL_CHARS, _After.SMALL, (24, 37, 6, 1, 81, 39, 55, 38)),
    (RARE_CHARS, _After.SMALL, (45, 92, 32, 205, 147, 106, 59, 100)),
    (CAPITAL_CHARS, _After.CAPITAL, (50, 81, 53, 10, 1, 99, 41, 36)),
    ("0123456789", _After.DIGIT, (141, 65, 64, 147, 11, 65, 100, 108)),
    ("\"'`", _After.POINT, (29, 26, 16, 59, 45, 28, 1, 44)),
    (",;:", _After.POINT, (125, 43, 15, 27, 59, 49, 44, 38)),
    ("./_", _After.POINT, (44, 1, 10, 21, 53, 25, 16, 31)),
    ("()[]{}<>", _After.POINT, (34, 3, 19, 50, 45, 42, 31, 65)),
    ("-=*#~+", _After.RULE, (52, 63, 32, 59, 46, 13, 1, 59)),
    ("!$%&?@\\^|" + CONTROL_CHARS, _After.POINT, (61, 58, 102, 101, 1, 68, 6, 54)),
)

# Ranges of code points, what they count as for the next one, cost at the start of a run of such, cost inside.
SCRIPTS: Final = (
    (((0xC0, 0x17F),), _After.SMALL, 49, 84),  # Latin with marks
    (((0x180, 0x24F), (0x1E00, 0x1EFF)), _After.SMALL, 29, 4),  # more of it, mostly Vietnamese
    (((0x300, 0x36F),), _After.FOREIGN, 52, 26),  # combining marks
    (((0x370, 0x3FF), (0x1F00, 0x1FFF)), _After.FOREIGN, 37, 25),  # Greek
    (((0x400, 0x52F),), _After.FOREIGN, 90, 7),  # Cyrillic
    (((0x530, 0x5FF), (0x10A0, 0x10FF), (0x1C90, 0x1CBF)), _After.FOREIGN, 103, 11),  # Armenian, Hebrew, Georgian
    (((0x600, 0x6FF), (0x750, 0x77F)), _After.FOREIGN, 40, 20),  # Arabic
    (((0x900, 0x97F),), _After.FOREIGN, 20, 27),  # Devanagari
    (((0x980, 0x9FF), (0xA80, 0xD7F)), _After.FOREIGN, 20, 30),  # Bengali, Gujarati to Malayalam
    (((0xE00, 0xE7F),), _After.FOREIGN, 51, 26),  # Thai
    # Gurmukhi, Sinhala, Myanmar, Khmer
    (((0xA00, 0xA7F), (0xD80, 0xDFF), (0x1000, 0x109F), (0x1780, 0x17FF)), _After.FOREIGN, 77, 31),
    (((0xA0, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7), (0x2070, 0x24FF), (0x25A0, 0x2E7F)), _After.POINT, 109, 47),  # symbols
    (((0x2500, 0x259F),), _After.RULE, 56, 26),  # box drawing
    (((0x2000, 0x206F), (0x3000, 0x303F), (0xFF00, 0xFF65)), _After.POINT, 20, 29),  # typographic and wide points
    (((0x3040, 0x30FF), (0xFF66, 0xFF9F)), _After.FOREIGN, 46, 43),  # kana
    (((0x4E00, 0x9FFF),), _After.FOREIGN, 111, 53),  # Han
    (((0xAC00, 0xD7AF),), _After.FOREIGN, 74, 39),  # Hangul
    (((0x80, 0x9F),), _After.FOREIGN, 133, 128),  # C1 controls, and every code point up to U+FFFF not named here
    (((0x10000, 0x10FFFF),), _After.FOREIGN, 76, 128),  # emoji, rare Han, dead scripts
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
    this, before, pair = bytearray([ASTRAL] * 256), bytearray([_After.FOREIGN << 5] * 256), bytearray(256)
    for number, (chars, group, costs) in enumerate(ASCII):
        for ch in chars:
            classes[ord(ch)] = chr(number)
        this[number], before[number] = number, group << 5
        for after in _After:
            pair[after << 5 | number] = costs[after]
    for number, (ranges, group, start, inside) in enumerate(SCRIPTS, len(ASCII)):
        for first, last in ranges:
            for point in range(first, min(last + 1, 0x10000)):
                classes[point] = chr(number)
        this[number], before[number] = number, group << 5
        for after in _After:
            pair[after << 5 | number] = inside if after is group else start
    return _Costs("".join(classes), bytes(this), bytes(before), bytes(pair))


@frozen
class Estimate:
    """Estimates tokens by script and neighbour: 0.9 to 1.25 times what o200k takes, on common kinds of text.

    `count` is at least 1 for text that is not empty and never falls when text is added at the end.
    """

    name: str = field(default="estimate", init=False)
    version: str = field(default="1", init=False)

    def count(self, text: str) -> int:
        """Tokens of `text`, rounded up; 0 for the empty text."""
        costs = _costs()
        total = 0
        before = bytes([_After.NEWLINE << 5])
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


@frozen
class Checked:
    """A counter that somebody else may have written: a count that is none would be compared, and decide silently."""

    _counter: TokenCounter

    @property
    def name(self) -> str:
        """The counter's."""
        return self._counter.name

    @property
    def version(self) -> str:
        """The counter's."""
        return self._counter.version

    def count(self, text: str) -> int:
        """Tokens of `text`. What the counter raises is raised; PluginError: what it gave is no whole number from 0."""
        counted: object = self._counter.count(text)
        if type(counted) is int and counted >= 0:
            return counted
        try:
            number = -1 if isinstance(counted, bool) else index(counted)  # type: ignore[arg-type]
        except TypeError:
            number = -1
        if number < 0:
            raise PluginError(
                f"token counter {self.name!r:.80} gave {counted!r:.80} ({type(counted).__name__}) for a text of "
                f"{len(text)} chars; it must give a whole number from 0"
            )
        return number


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
            from splintr import Tokenizer
        except ModuleNotFoundError as error:
            raise MissingExtra(f"the token counter {self.name!r}", extra="trimtab[tokens]") from error
        object.__setattr__(self, "version", f"{vocabulary} splintr-rs {importlib.metadata.version('splintr-rs')}")
        object.__setattr__(self, "_tokenizer", Tokenizer.from_pretrained(vocabulary))

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
