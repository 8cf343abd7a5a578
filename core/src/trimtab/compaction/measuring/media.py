"""Media in messages: which block is one, where its base64 stands, and base64 in the middle of a text."""

from __future__ import annotations

import re
from typing import Final

from trimtab.codecs.leaves import MEDIA_KEYS, MEDIA_TYPES, strings
from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.nodes import is_object, items, member

__all__ = ["is_medium", "payloads_in", "without_payloads"]

_DATA_URL: Final = re.compile("data:[^,]{0,100};base64,")

_LEAST: Final = (
    200  # chars of a payload: digests and keys have up to 128, and what is shorter costs no more than a word
)
_LEAST_KINDS: Final = 12  # different chars: a ruler of dashes is no payload
_PADDED: Final = 0.9  # of a payload may be zeros, which are spelt `A`
_WORDS: Final = 0.25  # of a path or a long name is in words; of base64, one char in twelve
_CHAR: Final = "[A-Za-z0-9+/_\\\\-]"
_BREAK: Final = "={0,2}[\"',+ \t]{0,6}(?:\r?\n|,)[\"' \t]{0,12}"
_PAYLOAD: Final = re.compile(
    f"[dD][aA][tT][aA]:(?P<type>[a-zA-Z]{{1,20}}/[A-Za-z0-9.+-]{{1,80}})?(?:;[A-Za-z0-9=._-]{{1,80}}){{0,4}},"
    "[!#-&(-;=?-~]*+"
    "|(?P<url>[a-z][a-z0-9+.-]{1,15}://[!#-&(-;=?-~]*+)"
    f"|(?<![A-Za-z0-9+/_-])(?P<lines>(?:{_CHAR}{{40,}}+{_BREAK})+(?!-){_CHAR}+={{0,2}})"
    f"|{_CHAR}{{{_LEAST},}}+={{0,2}}"
    f"|(?P<bytes>(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{{2}}[ :]){{{_LEAST // 3},}})"
)
_IN_URL: Final = re.compile(f"[A-Za-z0-9_-]{{{_LEAST},}}+")
_WORD: Final = re.compile("[a-z]{4,}+")
_HEX: Final = re.compile("[0-9A-Fa-f]+")


def is_medium(block: Json) -> bool:
    """Whether a block is an image, a document or the like, by its type or by the name of what it holds."""
    if not is_object(block):
        return False
    kind = member(block, "type")
    if isinstance(kind, str) and kind in MEDIA_TYPES:
        return True
    return any(is_object(inner := member(block, name)) or bool(items(inner)) for name in MEDIA_KEYS)


def payloads_in(value: Json) -> list[Path]:
    """Where base64 stands in a value: the payloads of media blocks, and `data:` urls."""
    found = strings(value, 1) if isinstance(value, dict | list) else ()
    return [path for path, text, is_payload in found if is_payload or _DATA_URL.match(text)]


def without_payloads(said: str) -> str:
    """A text with `data:` urls and long base64 named in their places: `[image/png, 48,211 chars]`."""
    return _PAYLOAD.sub(_named, said)


def _named(found: re.Match[str]) -> str:
    payload = found[0]
    if found["url"]:
        return _IN_URL.sub(lambda run: _called("base64", run[0]) if _is_payload(run[0]) else run[0], payload)
    if found["bytes"]:
        return _called("hex", payload)
    if payload[:5] in ("data:", "DATA:") or found["type"]:
        return _called(found["type"] or "data", payload) if len(payload) >= _LEAST else payload
    if found["lines"]:
        lines = re.split(_BREAK, payload)
        if all(_HEX.fullmatch(line) for line in lines):  # digests
            return payload
    return _called("base64", payload) if len(payload) >= _LEAST and _is_payload(payload) else payload


def _called(kind: str, payload: str) -> str:
    return f"[{kind}, {len(payload):,} chars]"


def _is_payload(run: str) -> bool:
    """Whether it is bytes, not a path, a name, a sequence of letters or a ruler, all of which may be as long."""
    if run.count("A") > _PADDED * len(run):
        return True
    if len(set(run)) < _LEAST_KINDS or not any("0" <= ch <= "9" for ch in run):
        return False
    return sum(len(word) for word in _WORD.findall(run)) < _WORDS * len(run)
