"""The line form of an entry: refs and a topic on the first line, the summary on the lines below it.

::

    m00150–m00220 the lock bug
    Traced the retry bug to a stale lock file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from attrs import frozen

from trimtab.compress.arguments.names import SPACES

__all__ = ["LineEntry", "blocks", "is_header", "line_entry"]

_BETWEEN: Final = "[ \\t]*+(?:->|→|-|–|—|−|\\.{2,3}|…|~|\\bto\\b)[ \\t]*+"
_HEADER: Final = re.compile(
    f"[ \\t]*+([mMbB])([0-9]{{1,7}})(?![A-Za-z0-9])(?:{_BETWEEN}([mMbB])([0-9]{{1,7}})(?![A-Za-z0-9]))?"
)
_BLOCK: Final = re.compile(
    f"^[ \\t]*+[mMbB][0-9]{{1,7}}(?![A-Za-z0-9]){_BETWEEN}[mMbB][0-9]{{1,7}}(?![A-Za-z0-9])", re.MULTILINE
)
_HEADING: Final = re.compile("^#{1,6}[ \\t]++([^\\n]*)", re.MULTILINE)
_FIRST_LINE: Final = re.compile("[^ \\t\\r\\n][^\\n]*")
_MARKS: Final = " \t:：|,;-–—"
_TOPIC_CHARS: Final = 60


@frozen(kw_only=True)
class LineEntry:
    """An entry in line form. `topic` is what the header says, or None; `summary` may be empty: a header alone."""

    start: str
    end: str
    topic: str | None
    summary: str

    def topic_or_first(self) -> str | None:
        """The topic, or one taken from the summary: its first heading, else its first line; at most 60 chars."""
        if self.topic:
            return self.topic
        found = _HEADING.search(self.summary)
        line = found[1] if found else ""
        if not line.strip(SPACES):
            first = _FIRST_LINE.search(self.summary)
            line = first[0] if first else ""
        return line.strip(SPACES)[:_TOPIC_CHARS].rstrip(SPACES) or None


def line_entry(text: str, *, slot: bool = False) -> LineEntry | None:
    """The entry that a text in line form is; None where it does not begin with a ref.

    In a slot of its own (`slot`) the rest of a lone header line is the summary.
    """
    found = _HEADER.match(text.lstrip("\r\n"))
    if found is None:
        return None
    head, _, body = text.lstrip("\r\n")[found.end() :].partition("\n")
    head, body = head.strip(SPACES).lstrip(_MARKS), body.strip("\r\n")
    if slot and head and not body.strip(SPACES):
        head, body = "", head
    start = _ref(found[1], found[2])
    end = _ref(found[3], found[4]) if found[3] else start
    return LineEntry(start=start, end=end, topic=head or None, summary=body if body.strip(SPACES) else "")


def _ref(kind: str, digits: str) -> str:
    return f"b{digits}" if kind in "bB" else f"m{digits:0>5}"


def blocks(text: str) -> Iterator[str]:
    """The entries of a text in line form: each begins at a line with a pair of refs."""
    starts = [found.start() for found in _BLOCK.finditer(text)]
    for begin, end in pairwise([*starts, len(text)]):
        yield text[begin:end]


def is_header(text: str) -> bool:
    """Whether a text begins with a line in which a pair of refs comes first."""
    return _BLOCK.match(text) is not None
