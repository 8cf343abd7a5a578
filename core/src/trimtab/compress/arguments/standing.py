"""Tells where in a text a call can stand: not in a quotation, an example, a comment line, another tool's call."""

from __future__ import annotations

import re
from typing import Final

from trimtab.compress.arguments.names import SPACES, names_compress
from trimtab.compress.arguments.quoted import ENDS_ALONE
from trimtab.lenient.strings import ESCAPED_START

__all__ = [
    "ANSWER",
    "CALLED",
    "ESCAPED",
    "EXAMPLE",
    "PYTHON",
    "QUOTED_WORDS",
    "SENTENCE",
    "Lines",
    "is_other",
    "is_quotation",
]

_LINE_START: Final = "(?:(?<=\\n)|(?<![^\\n]))"

CALLED: Final = re.compile(
    "(?:\\[TOOL_CALLS\\][ \\t]*|tool[▁_]call[▁_]begin｜>(?:function<｜tool[▁_]sep｜>)?|<start_function_call>call:"
    "|(?<![A-Za-z0-9_])to="
    "|<\\|tool_call_begin\\|>|<tool_call>[ \\t\\r\\n]*"
    f"|{_LINE_START}(?:Action|Tool|Function):[ \\t]*(?=[A-Za-z0-9_.:-]*[ \\t]*(?:[\\r\\n(]|\\Z)))"
    "(?P<name>[A-Za-z_][A-Za-z0-9_.:-]*)"
)
"""The name of the tool that is called, where a model's own tags or ReAct name it."""

PYTHON: Final = re.compile(
    "(?:\\[[ \\t\\r\\n]*)?(?<![A-Za-z0-9_])(?:[A-Za-z0-9_]{1,40}_)?compress[ \\t]*\\("
    "(?=[ \\t\\r\\n]*(?P<keyword>[A-Za-z_][A-Za-z0-9_]{0,40})[ \\t]*=(?!=))"
)
"""A call in Python's form, up to its first keyword."""

EXAMPLE: Final = re.compile(
    "(?:(?:[Ff]or|[Aa]n?|[Aa]s|[Tt]his) example|[Ff]or instance|e\\.g\\."
    "|(?:(?<=[.!?:#*>-] )|(?<![^\\n\"'#*>(]))(?:Examples?|EXAMPLES?|Schema)"
    "|(?:[Ee]xamples?|[Ss]chema)(?=[ \\t]*[:：,(\\n]|[ \\t]*\\Z| (?:is|looks)\\b)|[Ee]xpected (?:shape|format))"
    "[^{}\\n]{0,60}\\n?(?:```[A-Za-z0-9]*\\n)?[ \\t\\r\\n]*\\Z"
)
"""A text that ends by saying that an example follows."""

ANSWER: Final = re.compile(
    f"{_LINE_START}(?:Observation|(?:[Tt]ool|[Ff]unction)[ _](?:[Rr]esult|[Rr]esponse|[Oo]utput)s?):"
    "[ \\t]*\\n?(?:```[A-Za-z0-9]*\\n)?[ \\t\\r\\n]*\\Z"
)
"""A text that ends by saying that what follows is the answer to a call."""

SENTENCE: Final = re.compile("[ \\t]*[A-Za-z0-9(—–\x80-\U0010ffff-]")
"""What goes on behind words in quotes."""

_WORDS: Final = "[^\"'`{}\\[\\]\\\\\\n]{1,80}+"
_GO_ON: Final = "[ \\t\\r\\n]*+[^ \\t\\r\\n,:=}\\]\\\\\"'“‘`]"

QUOTED_WORDS: Final = re.compile(f"([\"'`]){_WORDS}\\1{_GO_ON}")
"""A text whose first words are in quotes; it is no text in quotes."""

ESCAPED: Final = re.compile(f'{ESCAPED_START}(?!{_WORDS}\\\\+"{_GO_ON})')
"""JSON whose quotes are all escaped, since the quotes around it are lost."""

_ASIDE: Final = re.compile("[ \\t]*(?://|#|>|--(?!-)|/\\*(?=[ \\t*{[])|<!--)")
_QUOTES: Final = {"`": "`", '"': '"', "'": "'", "“": "”", "‘": "’"}
_STARTS_ALONE: Final = re.compile(
    "(?:\\A|[\\n>\\]]|compress[ \\t]*[(:=]?|(?:Input|[Aa]rguments|[Cc]all|[Aa]rgs):)[ \\t]*\\Z"
)
_NEAR: Final = 40


class Lines:
    """The lines of a text outside its documents, as a walk over it comes by."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._seen = 0
        self._start = 0

    def begin(self, at: int) -> None:
        """Behind a comment or a thought a line begins anew."""
        self._start = self._seen = at

    def is_aside(self, start: int, end: int) -> bool:
        """Whether the line of a document at these indexes begins like a comment or a quotation."""
        at = self._text.rfind("\n", self._seen, start)
        if at >= 0:
            self._start = at + 1
        self._seen = max(self._seen, end)
        return _ASIDE.match(self._text, self._start, start) is not None


def is_quotation(text: str, start: int, end: int) -> bool:
    """Whether what stands here is quoted inside a sentence, not the whole of what is said on its lines."""
    mark = text[start - 1] if start else ""
    if mark not in _QUOTES or text[end : end + 1] not in ("", _QUOTES[mark]):
        return False
    if text.endswith("```", 0, start):
        return False
    while start and text[start - 1] == mark and text[end : end + 1] == _QUOTES[mark]:
        start, end = start - 1, end + 1
    if not (text[:start].strip(SPACES) or text[end:].strip(SPACES)):
        return False
    head = text[max(0, start - _NEAR) : start]
    return _STARTS_ALONE.search(head) is None or ENDS_ALONE.match(text, end) is None


def is_other(name: str | None) -> bool:
    """Whether a call of this name is one of another tool."""
    return name is not None and name != "function" and not names_compress(name)
