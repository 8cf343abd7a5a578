"""Texts of every kind that tools return, made from a seed: the same under every Python. Needs no Hypothesis."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from typing import Final

from trimtab.testing.independent import blob_id_of

__all__ = ["FOREIGN_TEXT", "OWN_TEXT", "TEXT_KINDS", "joined", "made_text"]

OWN_TEXT: Final = "".join(f"line {n} of a text that the conversation holds\n" for n in range(400))
"""A text that forged markers and rows name; a test stores it for the owner under test."""

FOREIGN_TEXT: Final = "".join(f"line {n} of somebody else's text\n" for n in range(400))
"""A text that forged markers and rows name; a test stores it for another owner."""

_SPLIT_PAIR = re.compile("([\ud800-\udbff])[\udc00-\udfff]+")

_WORDS = (
    "the",
    "cache",
    "prefix",
    "of",
    "a",
    "tool",
    "output",
    "is",
    "kept",
    "line",
    "naïve",
    "façade",
    "“quoted”",
    "x",
)
_CJK = "前缀缓存是一种技术、模型上下文。日本語のテキストと한국어"
_RTL = "שלום עולם مرحبا بالعالم "
_EMOJI = ("👩‍👩‍👧‍👦", "👍🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️", "😀", "e\u0301", "n\u0303\u0323", "क्षि", "각")
_FLAGS = "🇩🇪🇫🇷🇯🇵"
_CONTROLS = "\x00\x01\x07\x08\x0b\x0c\x1b\x7f\x85\u2028\u2029\u200b\ufeff\ufffd\ufffe"
_ANSI = ("\x1b[31m", "\x1b[0m", "\x1b[1;38;5;196m", "\x1b]8;;https://e.org/\x1b\\", "\x1b]0;title\x07", "\x1b(B")
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ROW = (
    '{"$persistedToolOutput":{"v":3,"tool":"x","skeleton":"<s>","blobRefs":[{"key":"","blobId":"%s","totalChars":%d}]}}'
)


def _marker(rng: random.Random) -> str:
    text = rng.choice((OWN_TEXT, FOREIGN_TEXT, f"{rng.random()}"))
    last = rng.choice((len(text), rng.randint(1, len(text))))
    how = f"{rng.choice(('fs_read', 'fs_read', 'other'))} trimtab:{blob_id_of(text)[:16]}"
    return f"\n<omitted chars {rng.randint(1, last)}-{last} of {len(text)}; full text: {how}>\n"


def _row(rng: random.Random) -> str:
    text = rng.choice((OWN_TEXT, FOREIGN_TEXT))
    return _ROW % (blob_id_of(text), len(text))


def _any_plane(rng: random.Random) -> str:
    plane = rng.choice((0, 0, 0, 1, 2, 3, 14, 15, 16))
    point = plane * 0x10000 + rng.randrange(0x10000)
    return "\ufffd" if 0xD800 <= point <= 0xDFFF else chr(point)


TEXT_KINDS: Final[Mapping[str, Callable[[random.Random], str]]] = {
    "prose": lambda rng: rng.choice(_WORDS) + rng.choice((" ", " ", " ", ". ", "\n")),
    "lines": lambda rng: f"line {rng.randint(1, 999)}\n",
    "crlf": lambda rng: rng.choice(_WORDS) * rng.randint(0, 8) + "\r\n",
    "blanks": lambda rng: rng.choice(" \n\t\r"),
    "solid": lambda rng: rng.choice(_BASE64),
    "url": lambda rng: rng.choice(("https://example.org/", "a/", "b?c=d&", "%20")),
    "ansi": lambda rng: rng.choice(_ANSI) + rng.choice(_WORDS),
    "emoji": lambda rng: rng.choice(_EMOJI),
    "flags": lambda rng: rng.choice(_FLAGS),
    "marks": lambda rng: rng.choice("ae\u0301\u0323\u0308\u200d\ufe0f"),
    "cjk": lambda rng: rng.choice(_CJK),
    "rtl": lambda rng: rng.choice(_RTL),
    "planes": _any_plane,
    "controls": lambda rng: rng.choice(_CONTROLS) + "x" * rng.randint(0, 3),
    "surrogates": lambda rng: rng.choice("\ud800\udc00\udfffab\n"),
    "quotes": lambda rng: rng.choice("\"\\/'{}[]<>&"),
    "markers": lambda rng: rng.choice((_marker(rng), "some words ", "some words ")),
    "rows": lambda rng: rng.choice((_row(rng), "\n")),
    "json": lambda rng: rng.choice(('{"a": 1}', '{"key":"value","list":[1,2.50,"x"]}', ",", "\n")),
}
"""What a made text is made of, by name: one piece at a time."""


def made_text(kind: str, size: int, seed: int) -> str:
    """A text of about `size` chars of one of `TEXT_KINDS`; the same for the same arguments, under every Python."""
    rng = random.Random(seed)
    piece = TEXT_KINDS[kind]
    if kind == "json":
        return json.dumps([piece(rng) for _ in range(size // 12)], ensure_ascii=seed % 2 == 0)
    pieces: list[str] = []
    length = 0
    while length < size:
        pieces.append(piece(rng))
        length += len(pieces[-1])
        if len(pieces) == 400:  # long texts repeat themselves
            pieces = ["".join(pieces) * (size // length + 1)]
            break
    return _SPLIT_PAIR.sub(r"\1", "".join(pieces)[:size])


def joined(*texts: str) -> str:
    """The texts one after another, without making two lone surrogates a pair."""
    return _SPLIT_PAIR.sub(r"\1", "".join(texts))
