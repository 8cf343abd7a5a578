"""Reads what a summarizer replied, leniently: `parse_summary`."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from trimtab._json import canonical, decode_or_none
from trimtab.compaction.asides import code_blocks, in_spans, unfenced, without_notes
from trimtab.compaction.refusals import is_refusal
from trimtab.errors import UnsupportedOutput
from trimtab.lenient import loads
from trimtab.tables import fold, unspaced_class, word_class
from trimtab.types import Json

__all__ = ["LEAST_PROSE", "parse_summary"]

LEAST_PROSE: Final = 50
"""Chars of a summary that nothing marks as one: no `summary` member, no `<summary>`; also of one that was cut off."""

_EDGES: Final = " \t\r\n\f\v\u00a0\u200b\u2060\u3000\ufeff"
_ROUNDS: Final = 8  # wrappings inside one another
# No provider takes these, and no database does.
_UNSENDABLE: Final = re.compile("[\0\ud800-\udfff]")
_MANY_LINES: Final = re.compile("(?:\r?\n){3,}")
_KEY: Final = re.compile("(?:\\A|[{,\"'“”\\\\ \t\r\n])[sS]ummary[\"'“”\\\\]{0,4}[ \t\r\n]{0,8}[:：]")
_BEGINS_LATER: Final = re.compile(
    "[^{}\n]{0,200}[ \t\r\n]{0,4}(?:(?:`{3,8}|~{3,8})(?:json)?[ \t\r\n]{1,4})?"
    "(?=\\{[ \t\r\n]{0,8}[\\\\]?[\"'“][sS]ummary)"
)
_OPEN: Final = "<summary>"
_CLOSE: Final = "</summary>"
_PAGE: Final = re.compile("<(?:![dD][oO][cC][tT][yY][pP][eE] )?[hH][tT][mM][lL][ >]")
_NOTHING: Final = frozenset(
    {"n/a", "na", "none", "null", "nil", "nothing", "empty", "undefined", "todo", "tbd", "summary", "no summary"}
    | {"(none)", "(empty)", "[summary]", "(no summary)", "[empty]", "[none]", "无", "無", "なし", "없음"}
)


def parse_summary(reply: object) -> str | None:
    """The summary in a reply; None: there is none. Never raises, whatever the reply is.

    It may stand in a code block, in the member `summary` of a JSON object, whole or cut off, or between `<summary>` and
    `</summary>`; else the whole text is it, if it has at least 50 chars. Notes of the model's to itself are left out.
    A reply that only refuses, or says nothing, is no summary.
    """
    if not isinstance(reply, str):
        return None
    text = _UNSENDABLE.sub("\ufffd", reply)
    marked = cut = False
    for _ in range(_ROUNDS):
        before = text
        text = without_notes(text).strip(_EDGES)
        if (inner := unfenced(text)) is not None:
            text = inner
        elif text.startswith(_OPEN):
            text, marked, cut = _untagged(text, marked, cut)
        elif (found := _member(text)) is not None:
            text, ended = found
            marked, cut = True, cut or not ended
        if text == before:
            break
    text = _fewer_lines(text).strip(_EDGES)
    return text if _is_summary(text, LEAST_PROSE if cut or not marked else 1) else None


def _fewer_lines(text: str) -> str:
    """Two newlines for three and more, but not in code."""
    blocks = code_blocks(text)
    return _MANY_LINES.sub(lambda found: found[0] if in_spans(found.start(), blocks) else "\n\n", text)


def _untagged(text: str, marked: bool, cut: bool) -> tuple[str, bool, bool]:
    """What stands between the tags, if they wrap all of it; without the first where the last is missing."""
    at = text.find(_CLOSE)
    if at < 0:
        return text[len(_OPEN) :], True, True
    if at == len(text) - len(_CLOSE):
        return text[len(_OPEN) : at], True, cut
    return text, marked, cut


def _member(text: str) -> tuple[str, bool] | None:
    """The summary of a JSON object, and whether it ends; "" where it holds none; None: the text is no such object."""
    if text[:1] == '"' == text[-1:]:
        said = decode_or_none(text)
        return (said, True) if isinstance(said, str) else None
    if text[:1] not in ("{", "["):
        later = _BEGINS_LATER.match(text)
        if later is None:
            return None
        text = text[later.end() :]
    repairs: tuple[str, ...] = ()
    if _KEY.search(text) is None:  # only what is meant to be a summary is worth mending
        value = decode_or_none(text)
    else:
        value, repairs = loads(text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return None
    for key in ("summary", "Summary"):
        if key in value:
            return _spelt(value[key]), "unfinished" not in repairs
    return ("", True) if "error" in value else None


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


def _is_summary(text: str, least: int) -> bool:
    if len(text) < least or _words().search(text) is None or _PAGE.match(text):
        return False
    if len(text) < LEAST_PROSE and fold(text).strip(" .…-*_!") in _NOTHING:
        return False
    return not is_refusal(text)


@cache
def _words() -> re.Pattern[str]:
    return re.compile(f"[{word_class()}{unspaced_class()}]")
