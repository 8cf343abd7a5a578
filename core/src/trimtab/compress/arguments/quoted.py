"""Reads a string that holds JSON, where other text with quotes of its own follows."""

from __future__ import annotations

import re
from typing import Final

from trimtab.compress.arguments.names import KNOWN, SPACES
from trimtab.lenient.document import Document
from trimtab.lenient.strings import text_of
from trimtab.lenient.tree import read

__all__ = ["ENDS_ALONE", "read_string"]

ENDS_ALONE: Final = re.compile('[ \\t\\x00]*(?:\\Z|[\\r\\n<)]|"(?=[{\\[]))')
"""What stands behind a string that is the last on its line, or between tags, or has another one behind it."""

_STRING: Final = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*)"', re.DOTALL)
_BEGINS: Final = tuple('{["`')
_ENDS: Final = tuple('}]"`')


def read_string(text: str, start: int) -> Document:
    """The string at this index. It ends at the first quote without a backslash, where it then holds JSON from its first
    character to its last; else, as its inner quotes may have lost their backslashes, where lenient reading says.
    """
    found = _STRING.match(text, start)
    if found is not None and ENDS_ALONE.match(text, found.end()):
        repairs: dict[str, None] = {}
        value = text_of(found[1], '"', repairs)
        inner = value.strip(SPACES)
        if len(inner) > 1 and inner.startswith(_BEGINS) and inner.endswith(_ENDS):
            return Document(
                value=value,
                start=start,
                end=found.end(),
                finished=True,
                open=(),
                cut=None,
                last_key="",
                repairs=tuple(repairs),
            )
    return read(text, start, known=KNOWN)
