"""Globs over paths, name by name: `*.py` fits a file's name in any folder, `docs/**/*.md` the whole path."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

__all__ = ["fits", "names_hidden"]

_ANY_FOLDERS = "**"


def _pattern(glob: str) -> list[str]:
    names = [one for one in glob.replace("\\", "/").split("/") if one not in ("", ".")]
    return names if len(names) != 1 or "/" in glob.rstrip("/") else [_ANY_FOLDERS, *names]


def fits(glob: str, parts: Sequence[str]) -> bool:
    """Whether a glob names the path with these parts. `**` stands for any number of folders, none included.

    A set of places in the pattern is carried along, so that no glob takes long.
    """
    pattern = _pattern(glob)
    places = _closed({0}, pattern)
    for part in parts:
        further = {one for one in places if one < len(pattern) and pattern[one] == _ANY_FOLDERS}
        further |= {one + 1 for one in places if one < len(pattern) and _fits_name(part, pattern[one])}
        places = _closed(further, pattern)
    return len(pattern) in places


def _closed(places: set[int], pattern: Sequence[str]) -> set[int]:
    """With the places behind each `**`, which may stand for nothing."""
    closed = set(places)
    for place in sorted(places):
        while place < len(pattern) and pattern[place] == _ANY_FOLDERS:
            place += 1
            closed.add(place)
    return closed


def _fits_name(name: str, pattern: str) -> bool:
    return pattern != _ANY_FOLDERS and fnmatchcase(name, pattern)


def names_hidden(glob: str) -> bool:
    """Whether a glob asks for names that begin with a dot, which are left out otherwise."""
    return any(one.startswith(".") for one in _pattern(glob))
