"""What a model writes beside its summary: notes to itself between tags. In code blocks a tag is only text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

from trimtab.lenient.thoughts import TAG, Tag, read_tag

__all__ = ["code_blocks", "in_spans", "unfenced", "without_notes"]

# Kinds of notes that are asked for where summaries are written, beside those that are thoughts everywhere.
_MORE: Final = "</?(?:[aA]ssessment|ASSESSMENT|[pP]lanning|[eE]valuation|[iI]nternal|[nN]otes_to_self)[ \t]{0,8}>"
_TAG: Final = re.compile(f"{TAG.pattern}|{_MORE}")
_LONGEST_TAG: Final = 200

_FENCE: Final = re.compile("^ {0,3}(?:(`{3,}+)([^\n`]*+)|(~{3,}+)([^\n]*))$", re.MULTILINE)
_WRAPPERS: Final = ("", "json", "markdown", "md", "text", "txt", "plaintext", "xml", "html")
_NESTING: Final = ("markdown", "md")
_SUMMARY: Final = re.compile("^[ \t]*<summary>", re.MULTILINE)
_BEGINS: Final = ("<summary>", "{", "```")
_BLANK: Final = " \t\r\n"
_LEAST_BEHIND: Final = 50  # chars behind the end of notes whose beginning is missing, for the rest to be the summary


def code_blocks(text: str) -> list[tuple[int, int]]:
    """Where code blocks are, fences included: half-open, in order. One that nothing closes goes on to the end.

    As https://spec.commonmark.org/0.31.2/#fenced-code-blocks has it: closed by a fence of the same character that is at
    least as long and has nothing behind it.
    """
    found: list[tuple[int, int]] = []
    begin, fence = -1, ""
    for match in _FENCE.finditer(text):
        marks = match[1] or match[3]
        if begin < 0:
            begin, fence = match.start(), marks
        elif marks.startswith(fence) and not _info(match):
            found.append((begin, match.end()))
            begin = -1
    if begin >= 0:
        found.append((begin, len(text)))
    return found


def in_spans(at: int, spans: list[tuple[int, int]]) -> bool:
    """Whether a place lies in one of these spans."""
    place = bisect_right(spans, (at, len(spans) and spans[-1][1])) - 1
    return place >= 0 and spans[place][0] <= at < spans[place][1]


def unfenced(text: str) -> str | None:
    """What stands in the code block that is all of the text; None: it is no such block, or one of real code."""
    first = _FENCE.match(text)
    if first is None or _info(first) not in _WRAPPERS:
        return None
    marks, info = first[1] or first[3], _info(first)
    blocks = code_blocks(text)
    begin, end = first.end(), blocks[0][1]
    if end == len(text):
        last = text.rfind("\n", begin, end)
        closes = last >= 0 and _closes(text[last + 1 :], marks)
        return text[begin : last if closes else end]
    if info not in _NESTING:
        return None
    # Blocks inside a block of Markdown with fences of the same length: theirs close theirs, the last line closes it.
    inner = list(_FENCE.finditer(text, begin))
    if not inner or inner[-1].end() != len(text) or _info(inner[-1]):
        return None
    opened = False
    for at, one in enumerate(inner[:-1]):
        if bool(_info(one)) is opened and (opened or not at):
            return None
        opened = not opened
    return None if opened else text[begin : inner[-1].start()]


def without_notes(text: str) -> str:
    """The text without the notes between tags such as `<analysis>`; code blocks, and tags that are spoken of, stay.

    Notes that nothing closes go on to a `<summary>` that begins a line, else to the end, and those that nothing opens
    begin with the text.
    """
    spans = _notes(text)
    if not spans:
        return text
    kept = ""
    parts: list[str] = []
    at = 0
    for begin, end in spans:
        piece = text[at:begin]
        parts.append(piece)
        kept = (kept + piece)[-_LONGEST_TAG:]
        if kept and kept[-1] != "\n":
            # What stood around the notes must not become a tag.
            joint = "\n" if any(mark in kept for mark in "<[◁") else " "
            parts.append(joint)
            kept += joint
        at = end
    parts.append(text[at:])
    return "".join(parts)


def _notes(text: str) -> list[tuple[int, int]]:
    blocks = code_blocks(text)
    spans: list[tuple[int, int]] = []
    open_tags: list[Tag] = []
    names: dict[str, int] = {}
    for tag in _tags(text, blocks):
        if not tag.closes:
            open_tags.append(tag)
            names[tag.name] = names.get(tag.name, 0) + 1
        elif open_tags:
            known = names.get(tag.name, 0) > 0
            while True:
                last = open_tags.pop()
                names[last.name] -= 1
                if not known or last.name == tag.name:
                    break
            if not open_tags:
                spans.append((last.start, tag.end))
        elif _is_end_of_notes(text, tag.end):
            spans = [(0, tag.end)]
        else:
            spans.append((tag.start, tag.end))
    if open_tags:
        spans += _unclosed(text, open_tags[0], blocks)
    return spans


def _tags(text: str, blocks: list[tuple[int, int]]) -> Iterable[Tag]:
    for match in _TAG.finditer(text):
        tag = read_tag(text, match)
        if tag is not None and tag.thought and not tag.named and not in_spans(tag.start, blocks):
            yield tag


def _is_end_of_notes(text: str, end: int) -> bool:
    behind = text[end : end + 4 * _LEAST_BEHIND].strip(_BLANK)
    return len(behind) >= _LEAST_BEHIND or behind.startswith(_BEGINS)


def _unclosed(text: str, opener: Tag, blocks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    before = text[max(0, opener.start - _LONGEST_TAG) : opener.start].rstrip(" \t")
    if before and before[-1] != "\n":
        return []
    for found in _SUMMARY.finditer(text, opener.end):
        if not in_spans(found.end() - 1, blocks):
            return [(opener.start, found.start())]
    return [(opener.start, len(text))]


def _info(fence: re.Match[str]) -> str:
    return (fence[2] or fence[4] or "").strip(_BLANK)


def _closes(line: str, marks: str) -> bool:
    line = line.strip(_BLANK)
    return len(line) >= len(marks) and not line.strip(marks[0])
