"""A transcript in sentences: whose each is, and what part it has in the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from trimtab._json import canonical, decode_or_none
from trimtab.compaction.summarizers.facts import Fact, facts_in
from trimtab.compaction.summarizers.sentences import EDGES, flat, left, right, sentences
from trimtab.compaction.summarizers.words import tells_decision, tells_failure, tells_rule

__all__ = ["Section", "Source", "Unit", "tight", "unit", "units_of"]

Section: TypeAlias = Literal["Goal", "Decisions", "Failed", "Facts", "Done", "State"]

Source: TypeAlias = Literal["request", "conclusion", "note", "step", "prior"]

_PIECE: Final = re.compile("\n(?=(?:User|Assistant|Tool|System): |\\[)")
_LABEL: Final = re.compile("(User|Assistant|Tool|System): ")
_BRACKETS: Final = re.compile("\\[(?:called ([^\n:]{1,100}): |([^\n:]{1,100}?) returned( an error)?: )")

_FILLER: Final = 18
_FILLER_NOTE: Final = 60
_NEAR: Final = 600  # chars of a text's beginning and of its end; what stands between is said deep in it
_PLACES: Final = 1 << 16
_STEP_ARGUMENTS: Final = 120
_STEP_OUTCOME: Final = 120
_STEP_READ: Final = 2_000
_ERROR: Final = re.compile("[A-Za-z](?:Error|Exception)(?![A-Za-z])")
_BEFORE: Final = 28
_BEHIND: Final = 20
_GAP: Final = 40
_TIGHT: Final = 90


@frozen(kw_only=True)
class Unit:
    """A sentence, or a step: a call and what came of it.

    Attributes:
        order: its place in the conversation; below 0 in an earlier summary.
        turn: how many requests came before it, its own included.
        last: whether it belongs to the newest request, conclusion or step.
        rule: whether the user set a rule by it that holds from then on.
        deep: whether it stands in the middle of a very long text, as pasted lines do.
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
    rule: bool = False
    deep: bool = False
    section: Section | None = None
    bare: bool = False


@frozen(kw_only=True)
class _Piece:
    speaker: str
    said: str
    bracketed: bool


def unit(
    text: str,
    source: Source,
    order: int,
    turn: int,
    *,
    last: bool = False,
    failed: bool = False,
    deep: bool = False,
    asked: bool = False,
) -> Unit:
    """A unit, with what is in it; `asked`: the user's words."""
    return Unit(
        text=text,
        source=source,
        order=order,
        turn=turn,
        facts=tuple(facts_in(text)),
        decided=source != "step" and tells_decision(text),
        failed=failed or (source != "step" and tells_failure(text)),
        last=last,
        rule=asked and not deep and tells_rule(text),
        deep=deep,
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
        said: list[Unit] = []
        for n, (text, deep) in enumerate(_placed(piece.said)):
            if text in seen and at not in newest:
                continue
            seen.add(text)
            order = at * _PLACES + min(n, _PLACES - 1)
            said.append(unit(text, source, order, turn, last=at in newest, deep=deep, asked=source == "request"))
        telling = [one for one in said if not _is_filler(one)]
        found += telling if telling or source == "note" else said[-1:]
    return [*found, *_steps(pieces, max(newest))]


def _placed(said: str) -> Iterator[tuple[str, bool]]:
    """The sentences of one text, and whether they stand deep in it."""
    texts = list(sentences(said))
    size, begin = sum(map(len, texts)), 0
    for text in texts:
        yield text, _NEAR < begin < size - _NEAR
        begin += len(text)


def tight(one: Unit) -> str:
    """What stands around the facts of a unit, or its beginning where it has none; of a step its name too."""
    text = one.text
    spans = [[0, right(text, min(len(text), _BEFORE))]] if one.source == "step" else []
    for fact in one.facts:
        begin, end = left(text, max(0, fact.start - _BEFORE)), right(text, min(len(text), fact.end + _BEHIND))
        if spans and begin - spans[-1][1] < _GAP:
            spans[-1][1] = max(end, spans[-1][1])
        else:
            spans.append([begin, end])
    if not spans:
        spans = [[0, right(text, min(len(text), _TIGHT))]]
    pieces = [text[begin:end].strip(" ") for begin, end in spans]
    head, tail = "…" if spans[0][0] else "", "…" if spans[-1][1] < len(text) else ""
    short = head + "… ".join(pieces) + tail
    return short if len(short) + 8 < len(text) else text


def _is_filler(one: Unit) -> bool:
    """Whether it is a courtesy, or announces a step: few letters, and nothing named. Letters beyond ASCII say more."""
    if one.facts or len(one.text) >= _FILLER_NOTE or (one.source == "note" and (one.decided or one.failed)):
        return False
    most = _FILLER_NOTE if one.source == "note" else _FILLER
    return len(one.text) + 2 * sum(ch > "\x7f" for ch in one.text) < most


def _pieces(history: str) -> Iterator[_Piece]:
    speaker = "Assistant"
    for raw in _PIECE.split(history):
        label = _LABEL.match(raw)
        if label is not None:
            speaker, raw = label[1], raw[label.end() :]
        if raw.strip(EDGES):
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
            steps.append((at, turn, _shortened(piece.said.strip("[]"), _STEP_OUTCOME), False))
            continue
        said = _closed(piece.said[found.end() :])
        if found[1]:
            waiting.append((at, turn, found[1], _shortened(_arguments(said), _STEP_ARGUMENTS)))
            continue
        place = next((n for n, one in enumerate(waiting[:32]) if one[2] == found[2]), None)
        called = "" if place is None else f" {waiting.pop(place)[3]}"
        outcome = _shortened(_telling(said, failed=bool(found[3])), _STEP_OUTCOME)
        steps.append((at, turn, f"{found[2]}{called} → {'error: ' if found[3] else ''}{outcome}", bool(found[3])))
    steps += [(at, turn, f"{name} {said}", False) for at, turn, name, said in waiting]
    steps.sort(key=lambda one: one[0])
    for n, (at, turn, text, failed) in enumerate(steps):
        last = n == len(steps) - 1 and at > newest
        yield unit(text, "step", at * _PLACES, turn, last=last, failed=failed)


def _closed(said: str) -> str:
    said = said.rstrip(" \n")
    return said[:-1] if said.endswith("]") else said


def _arguments(said: str) -> str:
    """The values of a call's arguments, without the signs of JSON; as they are where they are not whole."""
    value = decode_or_none(said)
    if not isinstance(value, dict) or not value:
        return said
    return " ".join(one if isinstance(one, str) else canonical(one) for one in value.values())


def _telling(said: str, *, failed: bool) -> str:
    """The line of an outcome that tells most: of an error the last one that names it, else the first."""
    lines = [line for line in said[:_STEP_READ].split("\n") if line.strip(EDGES)]
    if failed and len(lines) > 1:
        return next((line for line in reversed(lines[1:]) if _ERROR.search(line) or tells_failure(line)), lines[0])
    return lines[0] if lines else ""


def _shortened(said: str, most: int) -> str:
    """The beginning of a text, on one line."""
    one = flat(said[: 4 * most]).strip(" ")
    return one if len(one) <= most else f"{one[: right(one, most)]}…"
