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

# Thinking holds drafts of calls, not calls.
_THINKING = re.compile("<(think|thinking)>.*?(?:</\\1>|$)", re.DOTALL)
_NAMES = (re.compile('"name"[ \t\r\n]*:[ \t\r\n]*"([^"\\\\]*)"'), re.compile("<function=([^>\n]*)>"))
_FIRST_LINE = re.compile("[ \t\r\n]*([A-Za-z0-9_.-]+)[ \t]*(?:[\r\n]|$)")


def spoken(text: str, tags: Mapping[str, str] = TRIGGERS) -> Iterator[RawCall]:
    """The calls in a text of the assistant's, in order: the text between each pair of tags, as it came.

    One whose closing tag is missing has `complete=False`. A tag in back quotes is talked about, not used.
    """
    if not any(f"<{tag}>" in text for tag in tags):
        return
    text = _THINKING.sub("", text)
    opening = re.compile("|".join(f"<({re.escape(tag)})>" for tag in tags))
    at = 0
    while found := opening.search(text, at):
        at = found.end()
        if text[found.start() - 1 : found.start()] == "`":
            continue
        tag = found[0][1:-1]
        end = text.find(f"</{tag}>", at)
        inner = text[at:] if end < 0 else text[at:end]
        yield RawCall(call_id="", name=tags[tag] or _name(inner), raw_args=inner, complete=end >= 0)
        at = len(text) if end < 0 else end + len(tag) + 3


def _name(inner: str) -> str:
    """The tool that a call without a tool of its own names: in JSON, in a tag, or on its first line."""
    for pattern in (*_NAMES, _FIRST_LINE):
        match = pattern.match(inner) if pattern is _FIRST_LINE else pattern.search(inner)
        if match:
            return match[1].strip(" \t\"'")
    return ""
