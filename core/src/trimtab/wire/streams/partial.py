"""Arguments that Vertex streams value by value: a JSON Path (RFC 9535) with a piece of what stands there."""

from __future__ import annotations

import re

from trimtab.types import Json
from trimtab.wire.streams.drafts import join

__all__ = ["PartialArguments"]

# Only names and indexes lead to one place: `$.a.b[0]['c d']`.
_STEP = re.compile(r"""\.([^.\[\]'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
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
        if not self._placed(path, value):
            self.damaged = True

    def _placed(self, path: str, value: Json) -> bool:
        steps = _steps(path)
        if not steps or isinstance(steps[0], int):
            return False
        node: Json = self.value
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            if isinstance(step, int) != isinstance(node, list):
                return False
            if isinstance(step, int) and step > len(node):
                return False
            new: Json = value if following is None else [] if isinstance(following, int) else {}
            if isinstance(step, int) and step == len(node):
                node.append(new)
            elif following is None or (isinstance(step, str) and step not in node):
                node[step] = new
            node = node[step]
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
