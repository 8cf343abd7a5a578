"""A transcript in sentences: whose each is, and what part it has in the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from trimtab.compaction.summarizers.facts import Fact, facts_in
from trimtab.compaction.summarizers.words import tells_decision, tells_failure
from trimtab.tables import is_joined

__all__ = ["Section", "Source", "Unit", "sentences", "tight", "unit", "units_of"]

Section: TypeAlias = Literal["Goal", "Decisions", "Failed", "Facts", "Done", "State"]

Source: TypeAlias = Literal["request", "conclusion", "note", "step", "prior"]

_PIECE: Final = re.compile("\n(?=(?:User|Assistant|Tool|System): |\\[)")
_LABEL: Final = re.compile("(User|Assistant|Tool|System): ")
_BRACKETS: Final = re.compile("\\[(?:called ([^\n:]{1,100}): |([^\n:]{1,100}?) returned( an error)?: )")
_SENTENCE: Final = re.compile("(?<=[.!?])[ \t]+(?=[^a-z \t])|(?<=[。！？；])|\n+")
_MARK: Final = re.compile("[ \t>]*(?:(?:[-*+•#=|]+|[0-9]{1,3}[.)])[ \t]+)*")
_SPACE: Final = re.compile("[ \t\r\n\f\v]+")
_EDGES: Final = " \t\r\n*|"
_RULE: Final = re.compile("[-=*_#~`|+ ]*\\Z")

_LONGEST_UNIT: Final = 400
_FILLER: Final = 18
_PLACES: Final = 1 << 16
_STEP_ARGUMENTS: Final = 120
_STEP_OUTCOME: Final = 160
_BEFORE: Final = 28
_BEHIND: Final = 20
_GAP: Final = 40
_BACK: Final = 16
_TIGHT: Final = 90


@frozen(kw_only=True)
class Unit:
    """A sentence, or a step: a call and what came of it.

    Attributes:
        order: its place in the conversation; below 0 in an earlier summary.
        turn: how many requests came before it, its own included.
        last: whether it belongs to the newest request, conclusion or step.
        section: the heading under which an earlier summary had it.
        bare: there it was a mention of a fact, not a sentence.
    """

    text: str
    source: Source
    order: int
    turn: int
    facts: tuple[Fact, ...] = field(repr=False)
    decided: bool = False
    failed: bool = False
    last: bool = False
    section: Section | None = None
    bare: bool = False


@frozen(kw_only=True)
class _Piece:
    speaker: str
    said: str
    bracketed: bool


def unit(text: str, source: Source, order: int, turn: int, *, last: bool = False, failed: bool = False) -> Unit:
    """A unit, with what is in it."""
    return Unit(
        text=text,
        source=source,
        order=order,
        turn=turn,
        facts=tuple(facts_in(text)),
        decided=source != "step" and tells_decision(text),
        failed=failed or (source != "step" and tells_failure(text)),
        last=last,
    )


def units_of(history: str) -> list[Unit]:
    """The units of a transcript, in order."""
    pieces = list(_pieces(history))
    asked = [at for at, one in enumerate(pieces) if one.speaker == "User" and not one.bracketed]
    closing = _closing(pieces)
    newest = {asked[-1] if asked else -1, closing[-1] if closing else -1}
    found: list[Unit] = []
    turn = 0
    concluding = set(closing)
    seen: set[str] = set()
    for at, piece in enumerate(pieces):
        if piece.bracketed:
            continue
        turn += piece.speaker == "User"
        source: Source = "request" if piece.speaker == "User" else "conclusion" if at in concluding else "note"
        said = list(sentences(piece.said))
        telling = [text for text in said if not _is_filler(text)] or said[-1:]
        for n, text in enumerate(telling):
            if text in seen and at not in newest:
                continue
            seen.add(text)
            found.append(unit(text, source, at * _PLACES + min(n, _PLACES - 1), turn, last=at in newest))
    return [*found, *_steps(pieces, max(newest))]


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, on one line each, without marks of lists; a very long one in pieces."""
    for raw in _SENTENCE.split(text):
        said = _SPACE.sub(" ", raw[_MARK.match(raw).end() :]).strip(_EDGES)  # type: ignore[union-attr]
        if said and not _RULE.match(said):
            for start in range(0, len(said), _LONGEST_UNIT):
                yield said[start : start + _LONGEST_UNIT]


def tight(one: Unit) -> str:
    """What stands around the facts of a unit, or its beginning where it has none; of a step its name too."""
    text = one.text
    spans = [[0, _right(text, min(len(text), _BEFORE))]] if one.source == "step" else []
    for fact in one.facts:
        begin, end = _left(text, max(0, fact.start - _BEFORE)), _right(text, min(len(text), fact.end + _BEHIND))
        if spans and begin - spans[-1][1] < _GAP:
            spans[-1][1] = max(end, spans[-1][1])
        else:
            spans.append([begin, end])
    if not spans:
        spans = [[0, _right(text, min(len(text), _TIGHT))]]
    pieces = [text[begin:end].strip(" ") for begin, end in spans]
    head, tail = "…" if spans[0][0] else "", "…" if spans[-1][1] < len(text) else ""
    short = head + "… ".join(pieces) + tail
    return short if len(short) + 8 < len(text) else text


def _left(text: str, at: int) -> int:
    """A place at or behind this one where a word begins."""
    if at == 0:
        return 0
    blank = text.find(" ", at, at + _BACK)
    return blank + 1 if blank >= 0 else _whole(text, at)


def _right(text: str, at: int) -> int:
    """A place at or before this one where a word ends."""
    if at == len(text):
        return at
    blank = text.rfind(" ", at - _BACK, at + 1)
    return blank if blank > 0 else _whole(text, at)


def _whole(text: str, at: int) -> int:
    return next((at - back for back in range(_BACK) if not is_joined(text, at - back)), at)


def _is_filler(text: str) -> bool:
    """Whether it is a courtesy: few letters, and nothing named. Letters beyond ASCII say more."""
    return len(text) + 2 * sum(ch > "\x7f" for ch in text) < _FILLER and next(facts_in(text), None) is None


def _pieces(history: str) -> Iterator[_Piece]:
    speaker = "Assistant"
    for raw in _PIECE.split(history):
        label = _LABEL.match(raw)
        if label is not None:
            speaker, raw = label[1], raw[label.end() :]
        if raw.strip(_EDGES):
            yield _Piece(speaker=speaker, said=raw, bracketed=raw.startswith("["))


def _closing(pieces: list[_Piece]) -> list[int]:
    """The last text of the assistant's in each turn."""
    found: list[int] = []
    held = -1
    for at, piece in enumerate(pieces):
        if piece.bracketed:
            continue
        if piece.speaker == "User":
            found += [held] if held >= 0 else []
            held = -1
        else:
            held = at
    return [*found, held] if held >= 0 else found


def _steps(pieces: list[_Piece], newest: int) -> Iterator[Unit]:
    """Calls with what they returned: results are taken in order, those of one tool first."""
    waiting: list[tuple[int, int, str, str]] = []
    steps: list[tuple[int, int, str, bool]] = []
    turn = 0
    for at, piece in enumerate(pieces):
        if not piece.bracketed:
            turn += piece.speaker == "User"
            continue
        found = _BRACKETS.match(piece.said)
        if found is None:
            steps.append((at, turn, _first(piece.said.strip("[]"), _STEP_OUTCOME), False))
            continue
        said = _closed(piece.said[found.end() :])
        if found[1]:
            waiting.append((at, turn, found[1], _first(said, _STEP_ARGUMENTS)))
            continue
        place = next((n for n, one in enumerate(waiting[:32]) if one[2] == found[2]), None)
        called = "" if place is None else f" {waiting.pop(place)[3]}"
        outcome = _first(said, _STEP_OUTCOME)
        steps.append((at, turn, f"{found[2]}{called} → {'error: ' if found[3] else ''}{outcome}", bool(found[3])))
    steps += [(at, turn, f"{name} {said}", False) for at, turn, name, said in waiting]
    steps.sort(key=lambda one: one[0])
    for n, (at, turn, text, failed) in enumerate(steps):
        last = n == len(steps) - 1 and at > newest
        yield unit(text, "step", at * _PLACES, turn, last=last, failed=failed)


def _closed(said: str) -> str:
    said = said.rstrip(" \n")
    return said[:-1] if said.endswith("]") else said


def _first(said: str, most: int) -> str:
    """The beginning of a text, on one line."""
    flat = _SPACE.sub(" ", said[: 4 * most]).strip(" ")
    return flat if len(flat) <= most else f"{flat[: _right(flat, most)]}…"
