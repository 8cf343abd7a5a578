"""How much text is a summary by itself."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from trimtab.tables import unspaced_class

__all__ = ["LEAST_PROSE", "is_prose"]

LEAST_PROSE: Final = 50
"""Chars of a summary that nothing marks as one: no `summary` member, no `<summary>`; also of one that was cut off."""

_WIDE: Final = 3  # chars of an alphabet say as much as one of Han, kana, Hangul or Thai


def is_prose(text: str) -> bool:
    """Whether a text is long enough: has 50 chars, of which each of a script without blanks counts as three."""
    return len(text) >= LEAST_PROSE or len(text) + (_WIDE - 1) * len(_unspaced().findall(text)) >= LEAST_PROSE


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{unspaced_class()}]")
