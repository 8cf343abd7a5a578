"""`extractive`: a summary made of the conversation's own words; the same each time, and without a network.

Facts (ids, paths, urls, numbers) of requests and conclusions come first: room for their bare mention is put aside, and
what is left of the budget goes to the sentences that say most of them, the newest and the first request above all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import ClassVar, Final

from attrs import define, field, frozen

from trimtab.compaction.summarizers.facts import Fact, labelled
from trimtab.compaction.summarizers.outline import SECTIONS, read_outline, section_of, written
from trimtab.compaction.summarizers.sentences import is_code
from trimtab.compaction.summarizers.units import Section, Unit, tight, units_of
from trimtab.compaction.types import SummaryRequest
from trimtab.tables import is_joined

__all__ = ["ExtractiveSummarizer"]

_MARGIN: Final = 0.97  # of the budget: pieces that are counted alone may count more together
_PUT_ASIDE: Final = 0.65  # of the budget, at most, for facts that no sentence has room for; the rest is sentences
_PUT_ASIDE_DEEP: Final = 0.4  # the same for those in the middle of a very long text
_ASKED_SHARE: Final = 0.2  # of the budget, at most, for the first request and the newest, whole
_SAID_SHARE: Final = 0.15  # the same for what was said last
_RULED_SHARE: Final = 0.2  # the same for the rules that the user set
_TOLD_SHARE: Final = 0.15  # the same for what was decided, and for what failed
_PATIENCE: Final = 200  # so many have found no room: there is none, and the others need not be counted
_LINE: Final = 2  # tokens of a line's mark and end

# Worth of a unit by whose it is. Only the order of the sums matters; each bonus is about one step of that order.
_BASE: Final = {"request": 5.0, "conclusion": 4.0, "prior": 3.5, "note": 1.0, "step": 0.8}
_FIRM: Final = 3.0  # from here on a unit's facts are put aside for
_TOLD: Final = 3.0  # more, for what is decided or failed
_ASKED: Final = 2.0  # more, for a question
_QUESTIONS: Final = ("?", "？", "؟", "か。")
_NAMED: Final = 0.5  # more, for a fact
_MOST_NAMED: Final = 3.0
_AGAIN: Final = 1.5  # more, for something of the prior summary that is spoken of again
_FIRST: Final = 6.0  # more, for what was asked first
_LAST: Final = 5.0  # more, for what was asked and said last
_RULING: Final = 6.0  # more, for a rule
_SEEN_AGAIN: Final = 1.5  # as much, is a fact worth that is named in the prior summary and after it
_DEEP: Final = 0.4  # of a unit's worth is left to it in the middle of a very long text
_OLDEST: Final = 0.5  # of a unit's worth is left to it when it is the oldest
_LASTING: Final = ("url", "path", "id", "address")


@frozen(kw_only=True)
class ExtractiveSummarizer:
    """Keeps what the user asked for, what was decided, what failed, ids, paths, urls, numbers, and the newest state.

    The reply is Markdown with a few headings, has at most `budget` tokens and is a function of the request alone.
    A prior summary is taken up sentence by sentence; what is said twice is kept once.
    """

    window: ClassVar[int] = 100_000_000
    """Tokens that it takes in: as many as there are."""

    def __call__(self, request: SummaryRequest) -> str:
        """The summary; "" of nothing."""
        prior = request.prior or ""
        new = units_of(request.history)
        if not new and request.count(prior) <= request.budget:
            return prior
        ranked = _ranked([*read_outline(prior), *new])
        return _Draft(request=request, room=int(request.budget * _MARGIN)).filled(ranked)


@frozen(kw_only=True)
class _Ranked:
    """A unit with its worth and its heading; `since`: its order when it was said for the first time."""

    unit: Unit
    worth: float
    section: Section
    first: bool
    since: int

    @property
    def order(self) -> int:
        """Where it is written: what stays for good keeps its first place, whenever it is said again."""
        return self.since if self.first or self.unit.rule else self.unit.order


def _ranked(units: Sequence[Unit]) -> list[_Ranked]:
    """The units, the most worthy first; of those that say the same, the weightiest and newest alone."""
    turns = max((one.turn for one in units), default=0)
    before = sum(one.source == "prior" for one in units)
    named = {fact.text for one in units if one.source != "prior" for fact in one.facts}
    goals = [one for one in units if section_of(one) == "Goal"]
    goal = next(
        (one.folded for one in goals if not one.bare and not is_code(one.text)), goals[0].folded if goals else ""
    )
    best: dict[str, tuple[int, Unit]] = {}
    since: dict[str, int] = {}
    for at, one in enumerate(units):
        known = one.folded
        since.setdefault(known, one.order)
        old = best.get(known)
        if old is None or (_BASE[one.source], one.order) > (_BASE[old[1].source], old[1].order):
            best[known] = (at, one)
    found: list[_Ranked] = []
    for known, (at, one) in best.items():
        age = (at + 1) / before if one.source == "prior" else one.turn / turns if turns else 1.0
        worth = _worth(one, 1.0 if one.rule else age, named, first=known == goal)
        first = known == goal
        found.append(_Ranked(unit=one, worth=round(worth, 6), section=section_of(one), first=first, since=since[known]))
    return sorted(found, key=lambda one: (-one.worth, one.unit.order))


def _worth(one: Unit, age: float, named: Collection[str], *, first: bool) -> float:
    """What a unit is worth; `age`: 1 of the newest, 0 of the oldest."""
    worth = _BASE[one.source]
    if one.source != "step":  # what a tool happened to return is no reason to keep the call
        worth += min(_MOST_NAMED, _NAMED * sum(fact.weight for fact in one.facts))
    if one.source != "note" or one.facts:
        worth += _TOLD * (one.decided or (one.failed and one.source != "request"))
    worth += _ASKED * (one.source == "request" and one.text.endswith(_QUESTIONS))
    if one.source == "prior":
        worth += _AGAIN * any(fact.text in named for fact in one.facts)
    worth = worth * (_DEEP if one.deep else 1.0) * (_OLDEST + (1 - _OLDEST) * age)
    return worth + _RULING * one.rule + _FIRST * first + _LAST * (one.last and not one.deep)


@frozen(kw_only=True)
class _Mention:
    """A fact as it is mentioned by itself."""

    text: str
    tokens: int
    order: int


@frozen(kw_only=True)
class _Line:
    """A line of the summary."""

    ranked: _Ranked
    text: str
    tokens: int
    short: bool


@define(kw_only=True)
class _Draft:
    """A summary while it is put together: lines, and facts that still have to be mentioned."""

    request: SummaryRequest
    room: int
    lines: dict[int, _Line] = field(factory=dict)
    missing: dict[str, _Mention] = field(factory=dict)
    slack: int = 0

    def filled(self, ranked: Sequence[_Ranked]) -> str:
        """The text."""
        if not ranked:
            return ""
        headings = self._tokens("\n".join(f"## {one}" for one in SECTIONS)) + 2 * len(SECTIONS)
        self.slack = self.room - headings
        self._take_anchors(ranked)
        self._put_aside(ranked)
        for firm in (True, False):
            self._take_short(ranked, firm=firm)
            for at, line in sorted(self.lines.items()):
                if line.short and _is_firm(line.ranked.unit) is firm:
                    self._take(at, line.ranked, line.ranked.unit.text)
        return self._fitted([*self._mentions(), *self._lesser(ranked)])

    def _put_aside(self, ranked: Sequence[_Ranked]) -> None:
        """Find the facts of requests, conclusions and the prior summary, as many as there is room for."""
        found: dict[str, tuple[float, int, Unit, Fact]] = {}
        old = {fact.text for one in ranked if one.unit.source == "prior" for fact in one.unit.facts}
        for one in ranked:
            if _is_firm(one.unit):
                for fact in one.unit.facts:
                    if fact.text not in found:
                        again = one.unit.source != "prior" and fact.text in old
                        worth = fact.weight * one.worth * (_SEEN_AGAIN if again else 1.0)
                        found[fact.text] = (worth, one.unit.order, one.unit, fact)
        there = "\n".join(line.text for line in self.lines.values())
        used = refused = 0
        for key, (_, order, unit, fact) in sorted(found.items(), key=lambda one: (-one[1][0], one[1][1], one[0])):
            if refused == _PATIENCE:
                break
            if key in there:
                continue
            text = labelled(unit.text, fact)
            tokens = self._tokens(f"; {text}")
            if tokens <= self.slack and used + tokens <= self.room * (_PUT_ASIDE_DEEP if unit.deep else _PUT_ASIDE):
                used += tokens
                self.slack -= tokens
                self.missing[key] = _Mention(text=text, tokens=tokens, order=order)
            else:
                refused += 1

    def _take_anchors(self, ranked: Sequence[_Ranked]) -> None:
        """The first request, what was asked and said last, rules, decisions and failures, whole as far as they may."""
        for share, places in _anchors(ranked):
            most, room, refused = self.slack, int(self.room * share), 0  # the first may be longer than the share
            for at in places:
                if room <= 0 or refused == _PATIENCE:
                    break
                before, one = self.slack, ranked[at]
                if self._take(at, one, one.unit.text, most) or self._take(at, one, tight(one.unit), most):
                    room -= max(0, before - self.slack)
                    most = room
                else:
                    refused += 1

    def _take_short(self, ranked: Sequence[_Ranked], *, firm: bool) -> None:
        """Lines for what is not there yet, the most worthy first, in few words."""
        refused = 0
        for at, one in enumerate(ranked):
            if at in self.lines or one.unit.bare or _is_firm(one.unit) is not firm:
                continue
            names = any(fact.text in self.missing for fact in one.unit.facts)
            if names or (refused < _PATIENCE and _says_something(one.unit)):
                refused += not self._take(at, one, tight(one.unit))

    def _take(self, at: int, one: _Ranked, text: str, most: int | None = None) -> bool:
        """Put a line there, or a longer one in its place, if that costs no more than there is room for, and `most`."""
        old = self.lines.get(at)
        said = [key for key in dict.fromkeys(fact.text for fact in one.unit.facts) if key in self.missing]
        said = [key for key in said if key in text]
        tokens = self._tokens(text) + _LINE
        cost = tokens - (old.tokens if old else 0) - sum(self.missing[key].tokens for key in said)
        if cost > self.slack or (most is not None and cost > most):
            return False
        self.slack -= cost
        for key in said:
            del self.missing[key]
        self.lines[at] = _Line(ranked=one, text=text, tokens=tokens, short=text != one.unit.text)
        return True

    def _mentions(self) -> list[str]:
        """Facts that no line has, in the order of the conversation."""
        there = "\n".join(line.text for line in self.lines.values())
        left = [(one.order, at, one.text) for at, (key, one) in enumerate(self.missing.items()) if key not in there]
        return [text for _, _, text in sorted(left)]

    def _lesser(self, ranked: Iterable[_Ranked]) -> Iterator[str]:
        """Facts of everything else, while there is room."""
        there = {fact.text for line in self.lines.values() for fact in line.ranked.unit.facts} | self.missing.keys()
        for one in ranked:
            if _is_firm(one.unit):
                continue
            for fact in one.unit.facts:
                if fact.kind in _LASTING and fact.text not in there:
                    tokens = self._tokens(f"; {fact.text}")
                    if tokens > self.slack:
                        return
                    there.add(fact.text)
                    self.slack -= tokens
                    yield fact.text

    def _fitted(self, mentions: list[str]) -> str:
        """The text of what was taken; the least worthy goes, as long as it is too long."""
        worst = [at for at, _ in sorted(self.lines.items(), reverse=True)]
        while True:
            taken = [self.lines[at] for at in self.lines]
            text = written([(one.ranked.section, one.ranked.order, one.text) for one in taken], mentions)
            over = self._tokens(text) - self.request.budget
            if over <= 0 or not text:
                return text
            if len(worst) < 2 and not mentions:
                return self._cut(text)
            while over > 0 and (mentions or len(worst) > 1):
                if mentions:
                    over -= self._tokens(f"; {mentions.pop()}")
                else:
                    over -= self.lines.pop(worst.pop(0)).tokens

    def _cut(self, text: str) -> str:
        """The beginning of a single line that is too long by itself."""
        while text and self._tokens(text) > self.request.budget:
            at = len(text) * 3 // 4
            while at and is_joined(text, at):
                at -= 1
            text = text[:at]
        return text

    def _tokens(self, text: str) -> int:
        return self.request.count(text)


def _anchors(ranked: Sequence[_Ranked]) -> Iterator[tuple[float, Sequence[int]]]:
    """Places of what has room of its own, each once, and how much of the budget that is."""
    left = [at for at, one in enumerate(ranked) if one.first or not one.unit.bare]
    ends = [at for at in left if ranked[at].first or (ranked[at].unit.last and not ranked[at].unit.deep)]
    asked = [at for at in ends if ranked[at].unit.source == "request" or ranked[at].first]
    # The code that a user pastes says less than what is asked about it, here and where the first request is found.
    yield _ASKED_SHARE, sorted(asked, key=lambda at: (not ranked[at].first, is_code(ranked[at].unit.text)))
    taken = set(asked)
    yield _SAID_SHARE, [at for at in ends if at not in taken]
    taken.update(ends)
    others = [at for at in left if at not in taken]
    rules = [at for at in others if ranked[at].unit.rule]
    yield _RULED_SHARE, sorted(rules, key=lambda at: ranked[at].since)  # new ones have their turn as requests
    for section in ("Decisions", "Failed"):
        told = [at for at in others if ranked[at].section == section and ranked[at].unit.source != "step"]
        yield _TOLD_SHARE / 2, told


def _is_firm(one: Unit) -> bool:
    return _BASE[one.source] >= _FIRM or (bool(one.facts) and one.source == "note" and (one.decided or one.failed))


def _says_something(one: Unit) -> bool:
    """Whether a unit adds something even if its facts are there: a request, a decision, a failure, a step."""
    return one.source in ("request", "step") or one.decided or one.failed or not one.facts
