"""The parts of a text that can be in line form: what stands behind a thought, in a fence, or between a call's tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from trimtab.compress.arguments.lines import is_header
from trimtab.compress.arguments.names import SPACES
from trimtab.compress.arguments.standing import EXAMPLE
from trimtab.lenient.thoughts import TAG, Tags, read_tag

__all__ = ["Region", "regions"]

_PAIR: Final = re.compile("[mMbB][0-9]{1,7}(?![A-Za-z0-9])[ \\t]*(?:[-–—−.…~→]|to\\b)")
_BEGIN: Final = re.compile("(?:(?<=[\\n>\\]])|(?<![^\\n]))[ \\t]*[mMbB][0-9]{1,7}[ \\t]*(?:[-–—−.…~→]|to\\b)")
_FENCE: Final = re.compile("^[ \\t]*(?P<mark>`{3,}|~{3,})(?P<info>[^`\\n]*)$", re.MULTILINE)
_WRAPPER: Final = re.compile(
    "<(?P<name>acp_compress|compress|tool_call|tool_use|function_call|function=[A-Za-z0-9_.:-]{0,60}compress"
    "|arguments|args|content|ranges)>[ \\t\\r\\n]*(?=[mMbB][0-9])"
    "|(?:(?P<token><\\|[A-Za-z_]{1,40}\\|>)(?:assistant\\n)?|\\[TOOL_CALLS\\][A-Za-z0-9_.:-]{0,60}compress(?:\\[ARGS\\])?|\\[ARGS\\]"
    "|\\A[A-Za-z0-9_.:-]{0,60}compress[ \\t]*\\n|(?<![^\\n])Action Input:)[ \\t\\r\\n]*(?=[mMbB][0-9])"
)
_LOOK_BACK: Final = 200


@frozen(kw_only=True)
class Region:
    """A part that begins with a pair of refs. `closed`: the text says where it ends."""

    text: str
    closed: bool


def regions(text: str) -> Iterator[Region]:
    """The parts that begin as line form does: all that is said, or else what stands in its fences, or in its tags."""
    if _PAIR.search(text) is None:
        return
    said = text[_behind_thoughts(text) :].strip(SPACES)
    if is_header(said):
        yield Region(text=said, closed=True)
        return
    found = [*_fenced(said)]
    yield from found or _wrapped(said)


def _behind_thoughts(text: str) -> int:
    """The index behind the thoughts and quotations that come before the first line with a pair of refs."""
    tags, at, pos = Tags(text), 0, 0
    while (found := TAG.search(text, pos)) is not None:
        pos = found.end()
        tag = read_tag(text, found)
        if tag is None or tag.named:
            continue
        if tag.closes:
            at = tag.end if tag.thought else at
        elif _BEGIN.search(text, at, tag.start):
            break
        else:
            end = tags.end_of(tag)
            pos = at = end if end >= 0 else len(text)
    return at


def _fenced(text: str) -> Iterator[Region]:
    """What stands in each fence; a fence with a language inside a fence is part of it."""
    pos = 0
    while (opened := _FENCE.search(text, pos)) is not None:
        start, mark, depth, end = opened.end() + 1, opened["mark"], 1, -1
        pos = start
        for line in _FENCE.finditer(text, start):
            if line["mark"][0] != mark[0] or len(line["mark"]) < len(mark):
                continue
            depth += 1 if line["info"].strip(SPACES) else -1
            pos = line.end()
            if not depth:
                end = line.start()
                break
        body = text[start : end if end >= 0 else len(text)]
        if end < 0:
            pos = len(text)
        if is_header(body.lstrip(SPACES)) and not EXAMPLE.search(
            text[max(0, opened.start() - _LOOK_BACK) : opened.start()]
        ):
            yield Region(text=body.strip(SPACES), closed=end >= 0)


def _wrapped(text: str) -> Iterator[Region]:
    """What stands between a call's own tags."""
    pos = 0
    while (opened := _WRAPPER.search(text, pos)) is not None:
        start, name = opened.end(), opened["name"]
        closer = f"</{name.partition('=')[0]}>" if name else "<|" if opened["token"] else ""
        end = text.find(closer, start) if closer else len(text)
        pos = end if end >= 0 else len(text)
        body = text[start : end if end >= 0 else len(text)]
        if is_header(body):
            yield Region(text=body.strip(SPACES), closed=end >= 0)
