"""The form of an extractive summary: a few headings with a list under each; written, and read for the next one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import evolve

from trimtab.compaction.summarizers.sentences import sentences
from trimtab.compaction.summarizers.units import STEP, Section, Unit, unit

__all__ = ["SECTIONS", "read_outline", "section_of", "written"]

SECTIONS: Final[tuple[Section, ...]] = ("Goal", "Decisions", "Failed", "Facts", "Done", "State")
_ALSO: Final = "Also: "

_ITEM: Final = "- "
_HEADING: Final = "## "
_BETWEEN: Final = "; "
_EDGES: Final = " \t\r"


def section_of(one: Unit) -> Section:
    """Where a unit of the conversation is written."""
    if one.section:
        return one.section
    if one.source == "request":
        return "Goal"
    if one.last:
        return "State"
    if one.failed:
        return "Failed"
    if one.decided:
        return "Decisions"
    return "Done" if one.source == "step" else "Facts"


def written(lines: Iterable[tuple[Section, int, str]], mentions: Sequence[str]) -> str:
    """The summary: the lines under their headings in the order of the conversation, the facts with no line last."""
    by_section: dict[Section, list[str]] = {one: [] for one in SECTIONS}
    for section, _, text in sorted(lines, key=lambda one: one[1]):
        by_section[section].append(_ITEM + text)
    if mentions:
        by_section["Facts"].append(_ITEM + _ALSO + _BETWEEN.join(mentions))
    return "\n".join("\n".join([_HEADING + name, *found]) for name, found in by_section.items() if found)


def read_outline(prior: str) -> Iterator[Unit]:
    """The units of an earlier summary, ours or anybody's; what was the state then is a fact now."""
    section: Section | None = None
    seen: set[str] = set()
    for order, line in enumerate(prior.split("\n"), -prior.count("\n") - 1):
        line = line.strip(_EDGES)
        if line in seen:
            continue
        name = line.removeprefix(_HEADING)
        if name in SECTIONS and name != line:
            section = name
            continue
        seen.add(line)
        said = line.removeprefix(_ITEM)
        bare = section == "Facts" and said.startswith(_ALSO)
        if bare:
            texts: Iterable[str] = said.removeprefix(_ALSO).split(_BETWEEN)
        else:
            texts = [said] if section and said != line else (one for one, _ in sentences(line))
        for text in filter(None, dict.fromkeys(texts)):
            found = unit(text, "prior", order, 0, asked=section == "Goal")
            yield evolve(found, section=_kept_under(section, found), bare=bare)


def _kept_under(section: Section | None, found: Unit) -> Section:
    if section in ("Goal", "Decisions", "Failed", "Facts", "Done"):
        return section
    if STEP in found.text:
        return "Done"
    return "Failed" if found.failed else "Decisions" if found.decided else "Facts"
