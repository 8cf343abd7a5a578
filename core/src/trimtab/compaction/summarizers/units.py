"""A transcript in sentences: whose each is, and what part it has in the conversation."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias, TypedDict

from attrs import field, frozen

from trimtab._json import canonical, decode_or_none
from trimtab.compaction.asking.transcript import Piece, pieces
from trimtab.compaction.summarizers.facts import Fact, facts_in
from trimtab.compaction.summarizers.sentences import EDGES, flat, left, right, sentences
from trimtab.compaction.summarizers.words import tells_decision, tells_failure, tells_rule
from trimtab.tables import fold

__all__ = ["STEP", "Section", "Source", "Unit", "tight", "unit", "units_of"]

Section: TypeAlias = Literal["Goal", "Decisions", "Failed", "Facts", "Done", "State"]

Source: TypeAlias = Literal["request", "conclusion", "note", "step", "prior"]

STEP: Final = " → "
"""Between a call and what came of it."""

# Chars. "Thanks, that works!" is a courtesy, "Delete it." is not; what an assistant announces between two calls is a
# sentence, what it found is longer or names something.
_FILLER: Final = 18
_FILLER_NOTE: Final = 60
_NEAR: Final = 600  # chars of a text's beginning and of its end; what stands between is said deep in it
_PLACES: Final = 1 << 16  # sentences of one text that have an order
_STEP: Final = 120  # chars of a call's arguments, and of what came of it: a line of a terminal
_STEP_READ: Final = 2_000  # chars of an outcome: more than a transcript shows
_ERROR: Final = re.compile("[A-Za-z](?:Error|Exception)(?![A-Za-z])")
# Chars around a fact: some five words before it, which say what it is, and three behind it.
_BEFORE: Final = 28
_BEHIND: Final = 20
_GAP: Final = 40  # between two of them, that is no shorter left out
_TIGHT: Final = 90  # of a sentence that names nothing


@frozen(kw_only=True)
class Unit:
    """A sentence, or a step: a call and what came of it.

    Attributes:
        folded: the text without the difference of case; those of which it is the same say the same.
        order: its place in the conversation; below 0 in an earlier summary.
        turn: how many requests came before it, its own included.
        last: whether it belongs to the newest request, conclusion or step.
        rule: whether the user set a rule by it that holds from then on.
        deep: whether it stands in the middle of a very long text, as pasted lines do.
        section: the heading under which an earlier summary had it.
        bare: it cannot stand alone: there it was a mention of a fact, or it is a line out of long code.
    """

    text: str
    folded: str = field(repr=False)
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
    bare: bool = False,
) -> Unit:
    """A unit, with what is in it; `asked`: the user's words."""
    folded = fold(text)
    return Unit(
        text=text,
        folded=folded,
        source=source,
        order=order,
        turn=turn,
        facts=tuple(facts_in(text)),
        decided=source != "step" and tells_decision(folded),
        failed=failed or (source != "step" and tells_failure(folded)),
        last=last,
        rule=asked and not deep and tells_rule(folded),
        deep=deep,
        bare=bare,
    )


def units_of(history: str) -> list[Unit]:
    """The units of a transcript, in order."""
    told = list(pieces(history))
    asked = [at for at, one in enumerate(told) if one.speaker == "user" and one.kind == "text"]
    closing = _closing(told)
    newest = {asked[-1] if asked else -1, closing[-1] if closing else -1}
    found: list[Unit] = []
    turn = 0
    concluding = set(closing)
    seen: set[str] = set()
    for at, piece in enumerate(told):
        if piece.kind != "text":
            continue
        turn += piece.speaker == "user"
        source: Source = "request" if piece.speaker == "user" else "conclusion" if at in concluding else "note"
        said: list[Unit] = []
        for n, (text, place) in enumerate(_placed(piece.said)):
            if text in seen and at not in newest:
                continue
            seen.add(text)
            order = at * _PLACES + min(n, _PLACES - 1)
            said.append(unit(text, source, order, turn, last=at in newest, asked=source == "request", **place))
        telling = [one for one in said if not _is_filler(one)]
        found += telling if telling or source == "note" else said[-1:]
    return [*found, *_steps(told, max(newest))]


class _Place(TypedDict):
    deep: bool
    bare: bool


def _placed(said: str) -> Iterator[tuple[str, _Place]]:
    """The sentences of one text, and how each stands in it."""
    found = list(sentences(said))
    size, begin = sum(len(text) for text, _ in found), 0
    for text, alone in found:
        yield text, {"deep": _NEAR < begin < size - _NEAR, "bare": not alone}
        begin += len(text)


def tight(one: Unit) -> str:
    """What stands around the facts of a unit, or its beginning where it has none; of a step how both parts begin."""
    text = one.text
    marks = [(fact.start, fact.end) for fact in one.facts]
    if one.source == "step":
        outcome = max(0, text.find(STEP))
        marks = sorted([*marks, (0, 0), (outcome, outcome + _BEFORE)])
    spans: list[list[int]] = []
    for start, stop in marks:
        begin, end = left(text, max(0, start - _BEFORE)), right(text, min(len(text), stop + _BEHIND))
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


def _closing(told: Sequence[Piece]) -> list[int]:
    """The last text of the assistant's in each turn."""
    found: list[int] = []
    held = -1
    for at, piece in enumerate(told):
        if piece.kind != "text":
            continue
        if piece.speaker == "user":
            found += [held] if held >= 0 else []
            held = -1
        else:
            held = at
    return [*found, held] if held >= 0 else found


@frozen(kw_only=True)
class _Step:
    at: int
    turn: int
    text: str
    failed: bool = False


def _steps(told: Sequence[Piece], newest: int) -> Iterator[Unit]:
    """Calls with what they returned: a result answers the first call of its tool that waits for one."""
    waiting: dict[str, deque[_Step]] = {}
    steps: list[_Step] = []
    turn = 0
    for at, piece in enumerate(told):
        if piece.kind == "text":
            turn += piece.speaker == "user"
        elif piece.kind == "other":
            steps.append(_Step(at=at, turn=turn, text=_shortened(piece.said)))
        elif piece.kind == "call":
            called = f"{piece.name} {_shortened(_arguments(piece.said))}"
            waiting.setdefault(piece.name, deque()).append(_Step(at=at, turn=turn, text=called))
        else:
            calls = waiting.get(piece.name)
            called = calls.popleft().text if calls else piece.name
            outcome = _shortened(_telling(piece.said, failed=piece.is_error))
            text = f"{called}{STEP}{'error: ' if piece.is_error else ''}{outcome}"
            steps.append(_Step(at=at, turn=turn, text=text, failed=piece.is_error))
    for calls in waiting.values():
        steps += calls
    steps.sort(key=lambda one: one.at)
    for n, one in enumerate(steps):
        last = n == len(steps) - 1 and one.at > newest
        yield unit(one.text, "step", one.at * _PLACES, one.turn, last=last, failed=one.failed)


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
        return next(
            (line for line in reversed(lines[1:]) if _ERROR.search(line) or tells_failure(fold(line))), lines[0]
        )
    return lines[0] if lines else ""


def _shortened(said: str) -> str:
    """The beginning of a text, on one line; it ends between words, unless the last one is half of it."""
    one = flat(said[: 4 * _STEP]).strip(" ")
    if len(one) <= _STEP:
        return one
    blank = one.rfind(" ", _STEP // 2, _STEP + 1)
    return f"{one[: blank if blank >= 0 else right(one, _STEP)]}…"
