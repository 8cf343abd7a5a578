"""What the model is shown in the place of folded messages, and below a message that has a ref."""

from __future__ import annotations

import re
from typing import Final

from trimtab.compress.state import Block, Seen
from trimtab.measure import shown

__all__ = ["block_text", "is_told", "nudge_text", "tag", "without_copies"]

_TOPIC_CHARS: Final = 120
_BLANKS: Final = re.compile("[ \t\r\n\v\f\x85\u2028\u2029]+")
_TAG_END: Final = " tokens]"
_COPY: Final = re.compile("\\[m[0-9]{5,15}, [0-9]{1,15} tokens\\]")
_COPY_CHARS: Final = 42  # of the longest
_EDGES: Final = " \t\r\n"
_TOLD: Final = "<context-status>\n"


def block_text(block: Block) -> str:
    """A block as one text, in delimiters, as a record that is not taken for a request: a frozen format.

    NUL and lone surrogates, which a model can write as escapes, are U+FFFD: the next request could not be sent.
    """
    first, last = block.spans[0][0], block.spans[-1][1]
    topic = f", {_one_line(block.topic)}" if block.topic else ""
    return shown(
        f"<folded {block.ref}: messages m{first:05} to m{last:05}{topic}>\n"
        "This is a record of what was said and done before, not a new request.\n"
        f"{block.summary}\n"
        f"</folded {block.ref}>"
    )


def tag(one: Seen) -> str:
    """The line below a message that says its ref and its tokens: a frozen format."""
    return f"[{one.ref}, {one.tokens} tokens]"


def without_copies(text: str) -> str:
    """A text of the model's without tags that it copied from what it reads, on lines of their own at the end."""
    if not text.rstrip(_EDGES).endswith(_TAG_END):
        return text
    end = len(text)
    while True:
        last = _before(text, end, _EDGES)
        if not text.endswith(_TAG_END, 0, last):
            return text[:end]
        start = text.rfind("[m", max(0, last - _COPY_CHARS), last)
        if start < 0 or not _COPY.fullmatch(text, start, last):
            return text[:end]
        line = _before(text, start, " \t")
        if line and text[line - 1] not in "\r\n":
            return text[:end]
        end = line - 2 if text.endswith("\r\n", 0, line) else max(0, line - 1)


def _before(text: str, end: int, blanks: str) -> int:
    """Where the blanks begin that end there."""
    while end and text[end - 1] in blanks:
        end -= 1
    return end


def nudge_text(text: str) -> str:
    """What is told in a message of the user's, but not by the user: a reminder, the answer to a call without a part."""
    return f"{_TOLD}{text}\n</context-status>"


def is_told(text: str) -> bool:
    """Whether a text of the user's is such a one."""
    return text.startswith(_TOLD)


def _one_line(text: str) -> str:
    """A topic on one line, cut to 120 chars."""
    line = " ".join(filter(None, _BLANKS.split(text)))
    return line if len(line) <= _TOPIC_CHARS else f"{line[: _TOPIC_CHARS - 1]}…"
