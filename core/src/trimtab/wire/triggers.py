"""Calls that a model writes into its text, between tags, where it is offered no tool for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from trimtab.wire.types import RawCall

__all__ = ["SERVER_TAGS", "TRIGGERS", "spoken"]

TRIGGERS: Final[Mapping[str, str]] = MappingProxyType({"acp_compress": "compress"})
"""Tag to the tool that it stands for; "": its text says which."""

SERVER_TAGS: Final[Mapping[str, str]] = MappingProxyType({**TRIGGERS, "tool_call": ""})
"""Also what a server leaves in the text when it has no parser for the model's own calls."""

_NAMES = (re.compile('"name"[ \t\r\n]*:[ \t\r\n]*"([^"\\\\]*)"'), re.compile("<function=([^>\n]*)>"))
_BEGINS = re.compile("[ \t\r\n]*[\\[{\"'<`~]")
_CALLS = 500  # in one text; of more, none is looked into for closing tags in its strings
_FIRST_LINE = re.compile("[ \t\r\n]*([A-Za-z0-9_.-]+)[ \t]*(?:[\r\n]|$)")


def spoken(text: str, tags: Mapping[str, str] = TRIGGERS) -> Iterator[RawCall]:
    """The calls in a text of the assistant's, in order: the text between each pair of tags, as it came.

    Thinking holds drafts of calls, not calls. A closing tag inside a string of the call's JSON does not end it. A call
    whose closing tag is missing has `complete=False`. A tag in back quotes, or in a sentence without JSON behind it, is
    talked about, not used. Such calls are text to the provider: they are sent again as they are and have no place of
    their own in a request, so `past_calls` leaves them out; read the texts of a history with this.
    """
    if not any(f"<{tag}>" in text for tag in tags):
        return
    # Not when the protocols are imported: most texts hold no such call.
    from trimtab.lenient.between import closer_of
    from trimtab.lenient.thoughts import TAG, Tags, is_named, read_tag

    thoughts = Tags(text)
    opening = re.compile(f"<(?P<tag>{'|'.join(map(re.escape, tags))})>|{TAG.pattern}")
    at = count = 0
    while found := opening.search(text, at):
        at = found.end()
        tag = found["tag"]
        if tag is None:
            thought = read_tag(text, found)
            if thought is not None and thought.thought and not thought.closes and not thought.named:
                end = thoughts.end_of(thought)
                at = len(text) if end < 0 else end
            continue
        if not _BEGINS.match(text, at) and is_named(text, found.start(), at, False):
            continue
        if text[found.start() - 1 : found.start()] == "`":
            continue
        count += 1
        ends = re.compile(f"</{re.escape(tag)}>")
        closer = closer_of(text, at, ends) if count <= _CALLS else ends.search(text, at)
        inner = text[at:] if closer is None else text[at : closer.start()]
        yield RawCall(call_id="", name=tags[tag] or _name(inner), raw_args=inner, complete=closer is not None)
        at = len(text) if closer is None else closer.end()


def _name(inner: str) -> str:
    """The tool that a call without a tool of its own names: in JSON, in a tag, or on its first line."""
    for pattern in (*_NAMES, _FIRST_LINE):
        match = pattern.match(inner) if pattern is _FIRST_LINE else pattern.search(inner)
        if match:
            return match[1].strip(" \t\"'")
    return ""
