"""Reads what a summarizer replied, leniently: `parse_summary`."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from trimtab._json import canonical, decode_or_none
from trimtab.compaction.asking.asides import code_blocks, in_spans, repeats_marks, summary_tags, unfenced, without_notes
from trimtab.compaction.asking.prose import LEAST_PROSE, is_prose
from trimtab.compaction.asking.refusals import is_refusal
from trimtab.errors import UnsupportedOutput
from trimtab.lenient import loads
from trimtab.measure import shown
from trimtab.tables import fold, unspaced_class, word_class
from trimtab.types import Json

__all__ = ["parse_summary"]

_EDGES: Final = " \t\r\n\f\v\u00a0\u200b\u2060\u3000\u3164\ufeff"
_ROUNDS: Final = 8  # wrappings inside one another; models write two or three
_MANY_LINES: Final = re.compile("(?:\r?\n){3,}")
_NAME: Final = "(?:[sS]ummary|SUMMARY)"
_KEY: Final = re.compile(f"(?:\\A|[{{,\"'“”\\\\ \t\r\n]){_NAME}[\"'“”\\\\]{{0,4}}[ \t\r\n]{{0,8}}[:：]")
_BEGINS_LATER: Final = re.compile(f"[^{{}}]{{0,400}}(?=\\{{[ \t\r\n]{{0,8}}\\\\?[\"'“]{_NAME})")
_AROUND: Final = 60  # chars around an object that holds a short summary; a longer one may have as many as itself
_CLOSE: Final = "</summary>"
_PAGE: Final = re.compile(
    "(?:<!--[^>]{0,400}-->[ \t\r\n]{0,8})?<(?:(?:![dD][oO][cC][tT][yY][pP][eE] )?(?:[hH][tT][mM][lL]|[hH][eE][aA][dD])"
    "[ >]|\\?xml[ ?])"
)
_HEADING: Final = re.compile("^ {0,3}#{1,6}[ \t][^\n]{0,49}$", re.MULTILINE)
_LOOKED_AT: Final = 20_000  # chars in which a summary says its first word
_NOTHING: Final = frozenset(
    {"n/a", "na", "none", "null", "nil", "nothing", "empty", "undefined", "todo", "tbd", "summary", "content"}
    | {"no summary", "no content", "no summary available", "no content available", "summary unavailable"}
    | {"无", "無", "无内容", "暂无", "暂无内容", "なし", "特になし", "없음"}
)
_NOTHING_EDGES: Final = " \t\r\n.…。-*_!#:：()[]<>/\"'`"
_ERROR: Final = frozenset({"error", "errors", "detail"})
_ERROR_MEMBERS: Final = _ERROR | frozenset(
    {"message", "msg", "details", "code", "status", "status_code", "statuscode", "type", "title", "param", "object"}
    | {"path", "reason", "success", "timestamp", "request_id", "requestid", "user_id"}
)


def parse_summary(reply: object) -> str | None:
    """The summary in a reply; None: there is none. Never raises, whatever the reply is.

    It may stand in a code block, in the member `summary` of a JSON object, whole or cut off, or between `<summary>` and
    `</summary>`; else the whole text is it, if it has at least 50 chars (those of scripts that write no blanks, as Han,
    count as three). Notes of the model's to itself are left out.
    A reply that only refuses, or says nothing, is no summary.
    """
    if not isinstance(reply, str):
        return None
    text = shown(reply)  # no provider and no database takes NUL or half a pair
    marked = cut = False
    for _ in range(_ROUNDS):
        if repeats_marks(text):
            return None
        before = text
        text = without_notes(text).strip(_EDGES)
        if (inner := unfenced(text)) is not None:
            text = inner
        elif (found := _untagged(text) or _member(text)) is not None:
            text, ended = found
            marked, cut = True, cut or not ended
        if text == before:
            break
    text = _fewer_lines(text).strip(_EDGES)
    return text if _is_summary(text) and (is_prose(text) or (marked and not cut)) else None


def _fewer_lines(text: str) -> str:
    """Two newlines for three and more, but not in code."""
    blocks = code_blocks(text)
    return _MANY_LINES.sub(lambda found: found[0] if in_spans(found.start(), blocks) else "\n\n", text)


def _untagged(text: str) -> tuple[str, bool] | None:
    """What stands between the tags, and whether the last is there; None: they do not wrap all of the text.

    The first may be missing: many write it for the model.
    """
    tags = summary_tags(text)
    ends = bool(tags) and tags[-1].end() == len(text) and bool(tags[-1][1])
    if ends and len(tags) == 1:
        return text[: tags[-1].start()], True
    if not tags or tags[0].start() or tags[0][1]:
        return None
    depth = 0
    for tag in tags:
        depth += -1 if tag[1] else 1
        if not depth and tag is not tags[-1]:
            return None
    if ends:
        return text[tags[0].end() : tags[-1].start()], True
    if not depth:
        return None
    cut = next((chars for chars in range(len(_CLOSE) - 1, 1, -1) if text.endswith(_CLOSE[:chars])), 0)
    return text[tags[0].end() : len(text) - cut], False


def _member(text: str) -> tuple[str, bool] | None:
    """The summary of a JSON object, and whether it ends; "" where it holds none; None: the text is no such object."""
    if text[:1] == '"' == text[-1:]:
        said = decode_or_none(text)
        return (said, True) if isinstance(said, str) else None
    begin = 0
    if text[:1] not in ("{", "["):
        later = _BEGINS_LATER.match(text)
        if later is None:
            return None
        begin = later.end()
    body = text[begin:]
    repairs: tuple[str, ...] = ()
    if _KEY.search(body) is None:  # only what is meant to be a summary is worth mending
        value = decode_or_none(body)
    else:
        value, repairs = loads(body)
    value = _innermost(value)
    if not isinstance(value, dict):
        return None
    for key in filter(_is_name, value):
        said, ended = _spelt(value[key]), "unfinished" not in repairs
        around = begin + (len(text) - 1 - text.rfind("}") if ended else 0)
        return (said, ended) if around <= max(_AROUND, len(said)) else None  # else a text that cites an object
    return ("", True) if _is_error(value) else None


def _innermost(value: Json) -> Json:
    """Without lists and objects around it that hold nothing else, as in `{"result": {"summary": …}}`."""
    for _ in range(_ROUNDS):
        if not isinstance(value, dict | list) or len(value) != 1:
            break
        key, inner = next(iter(value.items())) if isinstance(value, dict) else ("", value[0])
        if not isinstance(inner, dict) or _is_name(key) or fold(key) in _ERROR:
            break
        value = inner
    return value


def _is_name(key: str) -> bool:
    return fold(key) == "summary"


def _is_error(value: dict[str, Json]) -> bool:
    """Whether it is what a server sends in a summary's place."""
    names = frozenset(map(fold, value))
    return names <= _ERROR_MEMBERS and bool(names & _ERROR or (len(names) > 1 and names & {"message", "msg"}))


def _spelt(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    if not isinstance(value, dict | list) or not value:
        return ""
    try:
        return canonical(value)
    except UnsupportedOutput:
        return ""


def _is_summary(text: str) -> bool:
    if not text or _PAGE.match(text) or _words().search(_HEADING.sub("", text[:_LOOKED_AT])) is None:
        return False
    if len(text) < LEAST_PROSE and fold(text).strip(_NOTHING_EDGES) in _NOTHING:
        return False
    return not is_refusal(text)


@cache
def _words() -> re.Pattern[str]:
    return re.compile(f"[{word_class()}{unspaced_class()}]")
