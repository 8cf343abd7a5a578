"""The value of a text that should be JSON."""

from __future__ import annotations

import re
from typing import Final

from trimtab._json import decode_or_none
from trimtab.lenient.chars import PADDING_CHARS
from trimtab.lenient.document import put_cut
from trimtab.lenient.repairs import FENCE, PADDING, STRINGIFIED, TRAILING_TEXT
from trimtab.lenient.strings import ESCAPED_START, text_of
from trimtab.lenient.tree import read
from trimtab.types import Json

__all__ = ["loads"]

_FENCE: Final = re.compile("(`{3,}|~{3,})[A-Za-z0-9_+-]*+[ \\t\\r]*+\\n?")
_FENCE_END: Final = re.compile("[\\n\\r \\t]*+[`~]{3,}")
_ESCAPED: Final = re.compile(ESCAPED_START)
_ESCAPED_CHARS: Final = 64
_OPENER: Final = re.compile("[\\[{｛［]")


def loads(text: str) -> tuple[Json, tuple[str, ...]]:
    """The value of a JSON text, however damaged, and the names of the repairs it took, each once.

    Strict JSON is decoded as such, with no repairs. Of a text that ends too early the value holds all that it has up
    to there, a string cut short included, and `unfinished` is among the repairs: whoever must not act on half a value
    reads the events of `Tokenizer` instead. Text around the document is left out. No text raises; one with no JSON in
    it gives a string or None.
    """
    value = decode_or_none(text)
    if value is not None or text.strip(" \t\r\n") == "null":
        return value, ()
    repairs: dict[str, None] = {}
    body = text.strip(PADDING_CHARS)
    if body != text.strip("\t\n\r "):
        repairs[PADDING] = None
    fence = _FENCE.match(body) if body[:1] in ("`", "~") else None
    if fence is not None:
        repairs[FENCE] = None
        body = body[fence.end() :]
    if "\\" in body[:_ESCAPED_CHARS] and _ESCAPED.match(body):
        body = text_of(body, "", repairs)
        repairs[STRINGIFIED] = None
    start = 0
    if body[:1] not in "{[\"'“‘`":
        found = _OPENER.search(body)
        start = found.start() if found else 0
        if start:
            repairs[TRAILING_TEXT] = None
    document = read(body, start)
    repairs.update(dict.fromkeys(document.repairs))
    rest = body[document.end :].strip(PADDING_CHARS) if document.end < len(body) else ""
    if rest and not (fence and _FENCE_END.match(rest)):
        repairs[TRAILING_TEXT] = None
    value = document.value
    if document.cut is not None and document.open:
        put_cut(document, document.cut)
    return value, tuple(repairs)
