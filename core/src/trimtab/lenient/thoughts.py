"""Thoughts and quotations between tags in a model's text: what stands in them was not said.

Models and their servers spell the tags in many ways: `<think>`, `<Thinking mode="x">`, `<seed:think>`, `◁think▷`,
`[THINK]`, `<|begin_of_thought|>`. A tag that a sentence only speaks of ("I do not use <think> here") opens nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from attrs import frozen

__all__ = ["TAG", "Tag", "Tags", "is_named", "read_tag"]


def _any_case(words: str) -> str:
    return re.sub("[a-z]", lambda found: f"[{found[0]}{found[0].upper()}]", words)


_PREFIX: Final = "(?:[A-Za-z][A-Za-z0-9]{0,15}[:_-]|ant)?"
_THOUGHTS: Final = _any_case(
    "(?:think|thinking|thoughts?|reasoning|reflections?|scratch_?pad|analysis|monologue|rationale|deliberation|draft)"
)
_QUOTED: Final = _any_case("(?:examples?|(?:tool|function)[_-]?(?:response|result|output)s?|observation|blockquote)")
_ENDS: Final = _any_case("(?:(?:begin|end)_of|start|end)")
_MORE: Final = "(?:[ \\t]{1,8}[A-Za-z_:-]{1,20}=[^<>◁▷\\n]{0,80})?[ \\t]{0,8}/?"

TAG: Final = re.compile(
    f"[<◁]/?{_PREFIX}(?:{_THOUGHTS}|{_QUOTED}){_MORE}[>▷]|<\\|{_ENDS}_{_THOUGHTS}\\|>"
    f"|\\[/?{_any_case('(?:think|thinking)')}\\]|\\[/?TOOL_RESULTS\\]"
)
"""A tag that begins or ends a thought or a quotation."""

_PARTS: Final = re.compile(f"[<◁\\[]\\|?(?P<slash>/?)(?:(?P<ends>{_ENDS})_)?(?P<name>[A-Za-z][A-Za-z0-9:_-]*)")
_CLOSER: Final = re.compile("[<◁\\[]/|<\\|[eE]")
_QUOTED_NAME: Final = re.compile(f"{_PREFIX}{_QUOTED}\\Z")
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "(": ")", "*": "*"}
_NAMED_BEHIND: Final = re.compile("[ \\t]+(?:tags?|blocks?|sections?|elements?|tokens?|markers?|is|are|and|or|nor)\\b")
_SENTENCE_BEHIND: Final = re.compile("[ \\t]+[a-z]|[.,;:!?)]")
_BLANKS: Final = " \t"
_SPACE: Final = " \t\r\n"
_SENTENCE_ENDS: Final = frozenset(".!?:>]}▷|。！？：…*#-\"'”’)")
_NAMED_CHARS: Final = 200  # looked at before a tag
_WALK: Final = 40  # tags: a thought with more of them inside ends at the first that can end it


@frozen(kw_only=True)
class Tag:
    """One tag: its place in the text, its name in lower case, whether it closes, and whether it is a thought's."""

    start: int
    end: int
    name: str
    closes: bool
    thought: bool
    named: bool


def read_tag(text: str, found: re.Match[str]) -> Tag | None:
    """What a match of `TAG` in a text is; None for a tag that closes itself."""
    start, end = found.span()
    if text[end - 2] == "/":
        return None
    parts = _PARTS.match(text, start, end)
    assert parts is not None  # `TAG` matched there
    name, closes = parts["name"].translate(_LOWER), bool(parts["slash"]) or (parts["ends"] or "s")[0] in "eE"
    return Tag(
        start=start,
        end=end,
        name=name,
        closes=closes,
        thought=_QUOTED_NAME.match(name) is None,
        named=is_named(text, start, end, closes),
    )


def is_named(text: str, start: int, end: int, closes: bool) -> bool:
    """Whether a tag is only spoken of: in quotes, followed by a word like "tags", or in the middle of a sentence."""
    before, behind = text[start - 1 : start] if start else "", text[end : end + 1]
    if before and _QUOTES.get(before) == behind:
        return True
    if _NAMED_BEHIND.match(text, end):
        return True
    head = text[max(0, start - _NAMED_CHARS) : start]
    words = head.rstrip(_BLANKS)
    if words == head or not words or words[-1] in "\r\n" or words[-1] in _SENTENCE_ENDS:
        return False
    if closes:
        return _SENTENCE_BEHIND.match(text, end) is not None
    return not ("a" <= behind <= "z" or "A" <= behind <= "Z")


class Tags:
    """Finds where thoughts and quotations of one text end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tags: list[Tag] | None = None
        self._starts: list[int] = []

    def end_of(self, opener: Tag) -> int:
        """The index behind the tag that closes this one; -1: none does.

        The same tag inside counts, as far as all of them are closed. Where the tag of the same name is missing, any
        that closes a thought (or a quotation) will do.
        """
        if _CLOSER.search(self._text, opener.end) is None:
            return -1
        if self._tags is None:
            found = (read_tag(self._text, one) for one in TAG.finditer(self._text, opener.start))
            self._tags = [one for one in found if one is not None]
            self._starts = [one.start for one in self._tags]
        first, named, begin, depth = -1, -1, opener.end, {opener.name: 1}
        at = bisect_left(self._starts, opener.end)
        for walked in range(at, len(self._tags)):
            tag = self._tags[walked]
            if tag.thought is not opener.thought:
                continue
            if tag.named:
                if tag.closes and named < 0:
                    named = tag.end
                continue
            if not tag.closes:
                # Directly behind another it opens the same thought once more: a server's template wrote the first.
                if self._text[begin : tag.start].strip(_SPACE) or tag.name != opener.name:
                    depth[tag.name] = depth.get(tag.name, 0) + 1
                begin = tag.end
                continue
            nested = depth.get(tag.name, 0) > 0
            if nested:
                depth[tag.name] -= 1
            if not depth[opener.name] or not nested:
                return tag.end
            if first < 0 and tag.name == opener.name:
                first = tag.end
            if walked - at > _WALK:
                break
        return first if first >= 0 else named
