"""What a model writes beside its summary: notes to itself between tags. In code blocks a tag is only text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import Final

from trimtab.compaction.asking.prose import LEAST_PROSE, is_prose
from trimtab.lenient.thoughts import TAG, Tag, read_tag
from trimtab.tables import fold

__all__ = [
    "MOST_MARKS",
    "SUMMARY_TAG",
    "code_blocks",
    "in_spans",
    "repeats_marks",
    "summary_tags",
    "unfenced",
    "without_notes",
]

# Kinds of notes that are asked for where summaries are written, beside those that are thoughts everywhere.
_KINDS: Final = ("assessment", "planning", "evaluation", "internal", "notes_to_self")
_SPELT: Final = "|".join(spelt for kind in _KINDS for spelt in (kind, kind[0].upper() + kind[1:], kind.upper()))
_TAG: Final = re.compile(f"{TAG.pattern}|</?(?:{_SPELT})[ \t]{{0,8}}>")
_LONGEST_TAG: Final = 200  # chars: none of these is longer, attributes included

SUMMARY_TAG: Final = re.compile("<(/?)(?:[sS]ummary|SUMMARY)(?:[ \t][^<>\n]{0,80})?>")
"""`<summary>` and `</summary>`, of which group 1 is the slash."""

_FENCE: Final = re.compile("^ {0,3}(?:(`{3,}+)([^\n`]*+)|(~{3,}+)([^\n]*))$", re.MULTILINE)
_WRAPPERS: Final = frozenset(
    {"", "json", "markdown", "md", "mdx", "text", "txt", "plain", "plaintext", "xml", "html", "summary", "none"}
)
_SUMMARY: Final = re.compile(f"^[ \t]*(?={SUMMARY_TAG.pattern})", re.MULTILINE)
_BEGINS: Final = ("{", "```")
_CHANNELS: Final = re.compile("[ \t\r\n]{0,8}(?:<\\|start\\|>assistant)?<\\|channel\\|>")
_FINAL: Final = "<|channel|>final<|message|>"
_RETURN: Final = re.compile("<\\|(?:return|end)\\|>[ \t\r\n]*+\\Z")
_RUN: Final = re.compile("`+|\n")
_BLANK: Final = " \t\r\n"
_MARK: Final = re.compile(f"{_TAG.pattern}|{SUMMARY_TAG.pattern}|^ {{0,3}}(?:`{{3}}|~{{3}})", re.MULTILINE)
MOST_MARKS: Final = 2_000
"""Tags and fences of a reply: as many as a long summary has tokens."""


def repeats_marks(text: str) -> bool:
    """Whether there are more tags and fences than anybody means: a model that lost its way repeats itself."""
    return next(islice(_MARK.finditer(text), MOST_MARKS, None), None) is not None


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
    if first is None or fold(_info(first)) not in _WRAPPERS:
        return None
    marks = first[1] or first[3]
    blocks = code_blocks(text)
    begin, end = first.end(), blocks[0][1]
    if end == len(text):
        last = text.rfind("\n", begin, end)
        closes = last >= 0 and _closes(text[last + 1 :], marks)
        return text[begin : last if closes else end]
    # Blocks inside a block with fences of the same length: theirs close theirs, the last line closes it.
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
    begin with the text. Of channels, where they came as text, the final one's is kept.
    """
    text = _final(text)
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


def _final(text: str) -> str:
    """What a model says to the user, where its server passed on the marks of its channels.

    As https://github.com/openai/harmony has them: `<|channel|>final<|message|>` before it, `<|return|>` behind.
    """
    if not _CHANNELS.match(text):
        return text
    at = text.rfind(_FINAL)
    return "" if at < 0 else _RETURN.sub("", text[at + len(_FINAL) :])


def summary_tags(text: str) -> list[re.Match[str]]:
    """The tags around summaries, in order, without those in code; one at the end of the text is none of code's."""
    found = list(SUMMARY_TAG.finditer(text))
    if not found:
        return []
    blocks, inline = code_blocks(text), _Inline(text)
    return [
        tag
        for tag in found
        if not (inline.holds(tag.start()) or in_spans(tag.start(), blocks)) or tag.end() == len(text)
    ]


class _Inline:
    """Code between backticks in a line of a text. It is asked about places in their order.

    As https://spec.commonmark.org/0.31.2/#code-spans has it: as many backticks close it as opened it.
    """

    def __init__(self, text: str) -> None:
        self._runs = [found.span() for found in _RUN.finditer(text)]
        self._closing: dict[int, int] = {}  # number of a run to that of the run which closes it
        behind: dict[int, int] = {}
        for at in range(len(self._runs) - 1, -1, -1):
            begin, end = self._runs[at]
            if text[begin] == "\n":
                behind.clear()
                continue
            if end - begin in behind:
                self._closing[at] = behind[end - begin]
            behind[end - begin] = at
        self._next = self._end = 0

    def holds(self, place: int, floor: int = 0) -> bool:
        """Whether a place lies in code that begins at the floor or behind it."""
        while self._next < len(self._runs) and (begin := self._runs[self._next][0]) < place:
            closing = self._closing.get(self._next, -1) if begin >= floor else -1
            if closing >= 0:
                self._next, self._end = closing, self._runs[closing][1]
            self._next += 1
        return place < self._end


def _notes(text: str) -> list[tuple[int, int]]:
    if _TAG.search(text) is None:
        return []
    blocks, inline = code_blocks(text), _Inline(text)
    spans: list[tuple[int, int]] = []
    open_tags: list[Tag] = []
    names: dict[str, int] = {}
    for tag in _tags(text, blocks):
        if not open_tags and inline.holds(tag.start, spans[-1][1] if spans else 0):
            continue
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


def _tags(text: str, blocks: list[tuple[int, int]]) -> Iterator[Tag]:
    for match in _TAG.finditer(text):
        tag = read_tag(text, match)
        if tag is not None and tag.thought and not tag.named and not in_spans(tag.start, blocks):
            yield tag


def _is_end_of_notes(text: str, end: int) -> bool:
    """Whether enough stands behind the end of notes whose beginning is missing for that to be the summary."""
    behind = text[end : end + 4 * LEAST_PROSE].strip(_BLANK)
    return is_prose(behind) or behind.startswith(_BEGINS) or SUMMARY_TAG.match(behind) is not None


def _unclosed(text: str, opener: Tag, blocks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    before = text[max(0, opener.start - _LONGEST_TAG) : opener.start].rstrip(" \t")
    if before and before[-1] != "\n":
        return []
    # A block of code that the notes began and did not end hides their end; so may a tag that they only quoted.
    for tag in _tags(text, []):
        if tag.closes and tag.name == opener.name and tag.start >= opener.end:
            return [(opener.start, tag.end)]
    summaries = [found.end() for found in _SUMMARY.finditer(text, opener.end)]
    plain = (at for at in summaries if not in_spans(at, blocks))
    return [(opener.start, next(plain, summaries[0] if summaries else len(text)))]


def _info(fence: re.Match[str]) -> str:
    """The first word behind the marks: the language."""
    return (fence[2] or fence[4] or "").strip(_BLANK).split(" ", 1)[0]


def _closes(line: str, marks: str) -> bool:
    line = line.strip(_BLANK)
    return len(line) >= len(marks) and not line.strip(marks[0])
