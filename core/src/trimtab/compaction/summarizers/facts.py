"""What a text names that cannot be guessed again: urls, paths, ids, numbers, addresses, names out of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from attrs import frozen

from trimtab.tables import unspaced_class, word_class

__all__ = ["Fact", "facts_in", "labelled"]

_CHARS: Final = "A-Za-z0-9０-９_./\\\\:@#%+~=&?$€£¥*^-"
_CHUNK: Final = re.compile(
    f"(?<![A-Za-z])[a-z][a-z0-9+.-]{{1,15}}://[!#-;=?-_a-z~]*|[{_CHARS}]+(?:(?<=[0-9]),(?=[0-9]{{3}})[{_CHARS}]+)*"
)
# What a chunk must have to be worth a closer look: most are plain words.
_HINT: Final = re.compile("[0-9０-９_/\\\\@]|[A-Za-z]\\.[A-Za-z]|[a-z][A-Z]|\\A--?[a-z]|[A-Za-z]-[A-Z]")
_EDGE_LEFT: Final = ":=?&*+^,;!%"
_EDGE_RIGHT: Final = ":=?&*+^,;!.-\\"
_DIGIT: Final = re.compile("[0-9０-９]")
_LETTER: Final = re.compile("[A-Za-z]")
_ROOTED: Final = re.compile("[~.]{0,2}/[A-Za-z0-9._~-]|[A-Za-z]:[\\\\/]|\\\\\\\\")
_ADDRESS: Final = re.compile("[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\\.[A-Za-z0-9.-]+")
_FILE: Final = re.compile("[A-Za-z0-9_-]{2,}(?:\\.[A-Za-z0-9_-]{1,20})*\\.[A-Za-z][A-Za-z0-9]{0,9}")
_LONGEST: Final = 400  # chars of a fact: longer ones are payloads, and would take the room of ten others

# What leads somewhere weighs more than a quantity, a name out of code less: it is found again by a search.
_WEIGHTS: Final = {"url": 1.2, "path": 1.1, "id": 1.2, "address": 1.2, "number": 1.0, "file": 0.9, "name": 0.6}
_ONE_DIGIT: Final = 0.3  # the weight of a single digit, which mostly counts steps
_CAMEL: Final = 5  # chars of a name whose letters change their case; shorter ones are units: kWh, GiB

_NEAR: Final = 24  # chars before a number in which its label begins: one long word
_NO_LABELS: Final = (
    "the a an of to in on at is are was were be by for from with and or as it that this than about only over under up "
    "now after before within see all "
    "der die das den dem des ein eine und oder von zu im am ist sind war mit auf le la les de du des et ou un une est "
    "el los las del y o en es son il di e i"
)
_NO_LABEL: Final = frozenset(_NO_LABELS.split())


@frozen(kw_only=True)
class Fact:
    """One of them: where it stands (half-open), what it says, and its weight: 1 is an ordinary one's."""

    start: int
    end: int
    text: str
    kind: str
    weight: float


def facts_in(text: str) -> Iterator[Fact]:
    """The facts of a text, in order; they do not overlap. Takes time in proportion to the text."""
    for found in _CHUNK.finditer(text):
        chunk = found[0]
        if _HINT.search(chunk) is None:
            continue
        start = found.start() + len(chunk) - len(chunk.lstrip(_EDGE_LEFT))
        chunk = chunk.lstrip(_EDGE_LEFT).rstrip(_EDGE_RIGHT)
        if "(" not in chunk:
            chunk = chunk.rstrip(")" + _EDGE_RIGHT)
        kind = _kind(chunk) if 0 < len(chunk) <= _LONGEST else ""
        if kind:
            short = kind == "number" and len(chunk) == 1
            weight = _ONE_DIGIT if short else _WEIGHTS[kind]
            yield Fact(start=start, end=start + len(chunk), text=chunk, kind=kind, weight=weight)


def _kind(chunk: str) -> str:
    if "://" in chunk or chunk.startswith(("trimtab:", "urn:", "mailto:")):
        return "url"
    if "@" in chunk and _ADDRESS.search(chunk):
        return "address"
    digits, letters = _DIGIT.search(chunk) is not None, _LETTER.search(chunk) is not None
    if ("/" in chunk or "\\" in chunk) and letters:
        named = digits or any(mark in chunk for mark in "._-~")
        if _ROOTED.match(chunk) or named or chunk.count("/") > 1 or "\\" in chunk:
            return "path"
        return ""
    if digits:
        return "id" if letters else "number"
    if _FILE.fullmatch(chunk):
        return "file"
    return "name" if letters and ("_" in chunk.strip("_") or "-" in chunk or _is_camel(chunk)) else ""


def _is_camel(chunk: str) -> bool:
    return len(chunk) >= _CAMEL and re.search("[a-z][A-Z]", chunk) is not None


@cache
def _around() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words, dense = word_class(), unspaced_class()
    before = re.compile(f"(?:([{words}]+)[ :=#(]{{0,3}}|([{dense}]{{1,4}})[：:]?)\\Z")
    after = re.compile(f" ?([{words}%°]{{1,14}})|([{dense}]{{1,3}})")
    return before, after


def labelled(text: str, fact: Fact) -> str:
    """The fact with the word before it (or, of a number, behind it) that says what it is: `port 8080`, `42 users`."""
    if fact.kind not in ("number", "id"):
        return fact.text
    before, after = _around()
    found = before.search(text[max(0, fact.start - _NEAR) : fact.start])
    if found is not None:
        word = found[1] or found[2]
        if word not in _NO_LABEL and len(word) > 1:
            return f"{word} {fact.text}" if found[1] else f"{word}{fact.text}"
    follows = after.match(text, fact.end) if fact.kind == "number" else None
    if follows is not None and (follows[1] or follows[2]) not in _NO_LABEL:
        return text[fact.start : follows.end()]
    return fact.text
