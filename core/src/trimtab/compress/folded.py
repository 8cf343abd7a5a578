"""What the model is shown in the place of folded messages, and below a message that has a ref."""

from __future__ import annotations

import re
from typing import Final

from trimtab.compress.state import Block, Seen

__all__ = ["block_text", "nudge_text", "tag", "without_copies"]

_TOPIC_CHARS: Final = 120
_BLANKS: Final = re.compile("[ \t\r\n\v\f\x85\u2028\u2029]+")
_TAG_END: Final = " tokens]"
_COPY: Final = re.compile("(?:(?<![^\\r\\n])|\\r\\n?|\\n)[ \\t]*\\[m[0-9]{5,15}, [0-9]{1,15} tokens\\][ \\t\\r\\n]*\\Z")
_EDGES: Final = " \t\r\n"


def block_text(block: Block) -> str:
    """A block as one text, in delimiters, as a record that is not taken for a request: a frozen format."""
    first, last = block.spans[0][0], block.spans[-1][1]
    topic = f", {_one_line(block.topic)}" if block.topic else ""
    return (
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
    while text.rstrip(_EDGES).endswith(_TAG_END) and (found := _COPY.search(text)):
        text = text[: found.start()]
    return text


def nudge_text(text: str) -> str:
    """What is told in a message of the user's, but not by the user: a reminder, the answer to a call without a part."""
    return f"<context-status>\n{text}\n</context-status>"


def _one_line(text: str) -> str:
    """A topic on one line, cut to 120 chars."""
    line = " ".join(filter(None, _BLANKS.split(text)))
    return line if len(line) <= _TOPIC_CHARS else f"{line[: _TOPIC_CHARS - 1]}…"
