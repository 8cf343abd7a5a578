"""The names of what was mended in a damaged text: they stand in `repairs`, each once, in the order of the text."""

from __future__ import annotations

from typing import Final

__all__ = [
    "BAD_ESCAPE",
    "BARE_KEY",
    "BARE_VALUE",
    "COMMENT",
    "CONCATENATED",
    "CONTROL",
    "ELLIPSIS",
    "EQUALS",
    "EXTRA_BRACKET",
    "EXTRA_COMMA",
    "FENCE",
    "FULL_WIDTH",
    "GIVEN_UP",
    "INNER_QUOTE",
    "LITERAL",
    "MISSING_BRACKET",
    "MISSING_COLON",
    "MISSING_COMMA",
    "MISSING_KEY",
    "MISSING_QUOTE",
    "MISSING_VALUE",
    "ODD_SPACE",
    "OUT_OF_RANGE",
    "PADDING",
    "QUOTES",
    "STRAY",
    "STRINGIFIED",
    "SURROGATE",
    "TRAILING_TEXT",
    "UNFINISHED",
]

BAD_ESCAPE: Final = "bad-escape"
BARE_KEY: Final = "unquoted-key"
BARE_VALUE: Final = "unquoted-value"
COMMENT: Final = "comment"
CONCATENATED: Final = "concatenated"
CONTROL: Final = "control-character"
ELLIPSIS: Final = "ellipsis"
EQUALS: Final = "equals-for-colon"
EXTRA_BRACKET: Final = "surplus-bracket"
EXTRA_COMMA: Final = "surplus-comma"
FENCE: Final = "fence"
FULL_WIDTH: Final = "full-width-punctuation"
GIVEN_UP: Final = "given-up"
INNER_QUOTE: Final = "inner-quote"
LITERAL: Final = "foreign-literal"
MISSING_BRACKET: Final = "missing-bracket"
MISSING_COLON: Final = "missing-colon"
MISSING_COMMA: Final = "missing-comma"
MISSING_KEY: Final = "missing-key"
MISSING_QUOTE: Final = "missing-quote"
MISSING_VALUE: Final = "missing-value"
ODD_SPACE: Final = "odd-space"
OUT_OF_RANGE: Final = "out-of-range"
PADDING: Final = "padding"
QUOTES: Final = "foreign-quotes"
STRAY: Final = "stray-character"
STRINGIFIED: Final = "stringified"
SURROGATE: Final = "lone-surrogate"
TRAILING_TEXT: Final = "trailing-text"
UNFINISHED: Final = "unfinished"
