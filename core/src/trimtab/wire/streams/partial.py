"""Arguments that Vertex streams value by value: a JSON Path (RFC 9535) with a piece of what stands there."""

from __future__ import annotations

import re

from trimtab.types import Json
from trimtab.wire.streams.drafts import join

__all__ = ["PartialArguments"]

# Only names and indexes lead to one place: `$.a.b[0]['c d']`.
_STEP = re.compile(r"""\.([^.\[\]'"*]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_ESCAPE = re.compile(r"\\(.)")

# More steps than any arguments have; the walk is a loop, but what it builds has to be read by others.
_DEEPEST = 100

_VALUES = ("stringValue", "string_value", "numberValue", "number_value", "boolValue", "bool_value")
_NULLS = ("nullValue", "null_value")


class PartialArguments:
    """`value`: the arguments so far, whole after `end`. `damaged`: a piece could not be put anywhere."""

    def __init__(self) -> None:
        self.value: dict[str, Json] = {}
        self.damaged = False
        self._path = ""
        self._texts: list[str] = []  # of a string that goes on, joined once it has ended

    def add(self, piece: dict[str, Json]) -> None:
        """One element of `partialArgs`. Strings may come in several; then each but the last has `willContinue`."""
        path = piece.get("jsonPath", piece.get("json_path"))
        goes_on = bool(piece.get("willContinue", piece.get("will_continue")))
        value = next((piece[name] for name in _VALUES if piece.get(name) is not None), None)
        if path != self._path:
            self.end()
        if not isinstance(path, str):
            self.damaged = True
        elif isinstance(value, str):
            self._path = path
            self._texts.append(value)
            if not goes_on:
                self.end()
        elif value is not None or any(name in piece for name in _NULLS):
            self._put(path, value)
        elif not goes_on:
            self.end()  # an empty piece ends a string

    def end(self) -> None:
        """The string that was going on has ended."""
        texts, self._texts = self._texts, []
        if texts:
            self._put(self._path, join(texts))
        self._path = ""

    def _put(self, path: str, value: Json) -> None:
        """Put a value where its path leads. A path that leads to no one place changes nothing."""
        node: Json = self.value
        steps = _steps(path)
        for place, step in enumerate(steps):
            there = _has(node, step)
            if there and place < len(steps) - 1:
                node = node[step]
                continue
            if there is not None and _set(node, step, steps[place + 1 :], value):
                return
            break
        self.damaged = True


def _has(node: Json, step: str | int) -> bool | None:
    """Whether a step leads to something; None: it never could."""
    if isinstance(step, str):
        return step in node if isinstance(node, dict) else None
    return step < len(node) if isinstance(node, list) and step <= len(node) else None


def _set(node: Json, step: str | int, rest: list[str | int], value: Json) -> bool:
    """Make what the rest of a path leads through, with the value at its end."""
    if any(isinstance(one, int) and one > 0 for one in rest):
        return False
    for one in reversed(rest):
        value = {one: value} if isinstance(one, str) else [value]
    if isinstance(node, list) and step == len(node):
        node.append(value)
        return True
    if _has(node, step) and isinstance(node[step], dict | list):
        return False  # what has parts already is no single value
    node[step] = value
    return True


def _steps(path: str) -> list[str | int]:
    """The steps of a path; none: it is not one that leads to one place."""
    steps: list[str | int] = []
    at = 1 if path.startswith("$") else 0
    if not at:
        path = f".{path}"
    while at < len(path) and len(steps) < _DEEPEST:
        found = _STEP.match(path, at)
        if found is None:
            return []
        name, index, single, double = found.groups()
        if index is not None:
            steps.append(int(index))
        else:
            quoted = single if single is not None else double
            steps.append(name if quoted is None else _ESCAPE.sub(r"\1", quoted))
        at = found.end()
    return steps if at >= len(path) else []
