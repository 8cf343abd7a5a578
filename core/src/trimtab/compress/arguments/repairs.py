"""The names of what reading a call mends, beside those of the lenient JSON reader."""

from __future__ import annotations

from typing import Final

__all__ = ["BAD_UTF_8", "LINE_FORM", "REPEATED_KEY"]

BAD_UTF_8: Final = "bad-utf-8"
LINE_FORM: Final = "line-form"
REPEATED_KEY: Final = "repeated-key"
