"""JSON Schemas of strangers: a walk over them, and a validator that cannot be hurt by them. Owns jsonschema-rs.

A schema may come from any server. Nothing is fetched; patterns run in an engine without catastrophic backtracking (the
`jsonschema` package runs them in Python's `re`, which cannot be stopped, and `fastjsonschema` compiles schemas to
Python code); and what would take long (references that double at every step) is refused before it is tried.
"""

from __future__ import annotations

import graphlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeAlias
from urllib.parse import unquote

from trimtab._json import check
from trimtab.errors import CallerError, MissingExtra, PointerError, UnsupportedOutput
from trimtab.pointer import locate, to_pointer
from trimtab.types import Json

__all__ = ["Validator", "children", "compiler", "size_of"]

# Keywords that hold schemas: one, a list of them, or a mapping from names to them. (`items` and `dependencies` hold
# one of several.) Draft 4 to 2020-12. Those below say something about what is inside the value, not about itself.
_ONES_BELOW: Final = frozenset(
    ["additionalItems", "additionalProperties", "contains", "items", "propertyNames", "unevaluatedItems"]
)
_MAPS_BELOW: Final = frozenset(["patternProperties", "properties"])
_ONES: Final = frozenset([*_ONES_BELOW, "contentSchema", "else", "if", "not", "then", "unevaluatedProperties"])
_LISTS: Final = frozenset(["allOf", "anyOf", "items", "oneOf", "prefixItems"])
_MAPS: Final = frozenset([*_MAPS_BELOW, "$defs", "definitions", "dependencies", "dependentSchemas"])
_BELOW: Final = frozenset([*_ONES_BELOW, *_MAPS_BELOW, "prefixItems", "unevaluatedProperties"])
_STORED: Final = frozenset(["$defs", "definitions"])

_DEEPEST: Final = 100
_MOST_NODES: Final = 20_000
_MOST_VISITS: Final = 20_000
_MOST_WORK: Final = 5_000_000
_BACKTRACKS: Final = 10_000
_PATTERN_BYTES: Final = 1 << 20

Validator: TypeAlias = Callable[[Json], str | None]
"""`validator(value)`: None, or what the schema refuses it for."""


def children(schema: dict[str, Json]) -> Iterator[tuple[str, tuple[str | int, ...], Json]]:
    """The schemas directly inside a schema: the keyword, the path, and the schema (which may be anything)."""
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, dict):
            for name, inner in value.items():
                yield key, (key, name), inner
        elif key in _LISTS and isinstance(value, list):
            for number, inner in enumerate(value):
                yield key, (key, number), inner
        elif key in _ONES:
            yield key, (key,), value


def size_of(value: Json) -> tuple[int, int]:
    """How many values there are in a JSON value, and how deep they are nested.

    Raises:
        CallerError: it is not JSON, or larger or deeper than a tool definition has reason to be.
    """
    try:
        check(value)
    except UnsupportedOutput as error:
        raise CallerError(f"it is not JSON: {error!s:.100}") from None
    nodes, depth = 0, 0
    level = [value]
    while level:
        nodes += len(level)
        depth += 1
        if nodes > _MOST_NODES or depth > _DEEPEST:
            raise CallerError("it is too large or too deep to be checked")
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return nodes, depth


def compiler() -> Callable[[Json], Validator]:
    """`compile(schema)` makes a validator; both raise CallerError where that is not possible or would take long.

    A schema that names no draft is read as 2020-12. `format` is not looked at: no provider does.

    Raises:
        MissingExtra: jsonschema-rs is not installed.
    """
    try:
        import jsonschema_rs
    except ImportError:
        raise MissingExtra("checking examples of tool definitions", extra="trimtab[tools]") from None
    patterns = jsonschema_rs.FancyRegexOptions(
        backtrack_limit=_BACKTRACKS, size_limit=_PATTERN_BYTES, dfa_size_limit=_PATTERN_BYTES
    )

    def compiled(schema: Json) -> Validator:
        size_of(schema)
        if not isinstance(schema, dict):
            raise CallerError("it is not an object")
        _ends(schema)
        try:
            made = jsonschema_rs.validator_for(
                schema, validate_formats=False, retriever=_nothing, pattern_options=patterns
            )
        except ValueError as error:
            raise CallerError(f"it is not a JSON Schema that can be used: {_line(error)}") from None

        def validator(value: Json) -> str | None:
            nodes, depth = size_of(value)
            if nodes * _work(schema, depth) > _MOST_WORK:
                raise CallerError("its references and alternatives multiply beyond what can be tried")
            try:
                made.validate(value)
            except jsonschema_rs.ValidationError as error:
                return _refusal(error)
            except ValueError as error:
                raise CallerError(f"the value cannot be checked: {_line(error)}") from None
            return None

        return validator

    return compiled


def _nothing(uri: str) -> NoReturn:
    """Takes the place of what would fetch a schema."""
    raise ValueError("schemas are not fetched")


def _line(error: Exception) -> str:
    """The first line of a message, shortened: the rest quotes the schema."""
    return str(error).partition("\n")[0][:160]


def _refusal(error: Any) -> str:
    """The keyword and the place, without the value: it may be long, or no one else's business."""
    keywords = [step for step in error.schema_path if isinstance(step, str)]
    place = to_pointer(tuple(error.instance_path))
    return f"`{keywords[-1] if keywords else 'false'}` refuses what stands at {place or 'the top'}"[:300]


def _ends(root: dict[str, Json]) -> None:
    """Checks that trying a schema ends.

    Raises:
        CallerError: it refers to something other than a place in itself, or to itself without going deeper into the
            value. (JSON Schema leaves open what that means; validators accept, refuse or never end.)
    """
    same_value: dict[int, list[int]] = {}
    stack: list[Json] = [root]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict) or id(node) in same_value:
            continue
        if node is not root and (isinstance(node.get("$id"), str) or isinstance(node.get("id"), str)):
            raise CallerError("it holds another schema with an id of its own, which is not followed")
        targets = list(_targets(node, root))
        inner = [(keyword, one) for keyword, _, one in children(node) if keyword not in _STORED]
        stack += [*targets, *(one for _, one in inner)]
        same_value[id(node)] = [id(one) for one in (*targets, *(one for key, one in inner if key not in _BELOW))]
    try:
        graphlib.TopologicalSorter(same_value).prepare()
    except graphlib.CycleError:
        raise CallerError("it refers to itself in a circle that has no end") from None


def _work(schema: dict[str, Json], depth: int) -> int:
    """How many schemas may be tried on any one value of an instance nested so deep, at most.

    Validators follow references each time they meet them, so 40 definitions that each refer twice to the next are 2^40
    steps. Counted with a memory it is as many steps as there are schemas. The schema is one that `_ends`.

    Raises:
        CallerError: counting takes too long already.
    """
    known: dict[tuple[int, int], int] = {}

    def count(node: Json, left: int, nested: int) -> int:
        if not isinstance(node, dict) or left < 0:
            return 0
        key = (id(node), left)
        if key not in known:
            if len(known) > _MOST_VISITS or nested > 2 * _DEEPEST:
                raise CallerError("its references lead too far to be checked")
            total = 1 + sum(
                count(inner, left - (keyword in _BELOW), nested + 1)
                for keyword, _, inner in children(node)
                if keyword not in _STORED
            )
            total += sum(count(target, left, nested + 1) for target in _targets(node, schema))
            known[key] = min(total, _MOST_WORK + 1)
        return known[key]

    return count(schema, depth, 0)


def _targets(node: Mapping[str, Json], root: Json) -> Iterator[Json]:
    """What the references of a schema lead to, where it is used.

    Raises:
        CallerError: not a place in the same schema.
    """
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        ref = node.get(keyword)
        if not isinstance(ref, str):
            continue
        if ref != "#" and not ref.startswith("#/"):
            raise CallerError(f"it refers to {ref!r:.80}, which is not a place in it; nothing is fetched")
        try:
            yield locate(root, unquote(ref[1:]))[1]
        except PointerError:
            raise CallerError(f"it refers to {ref!r:.80}, which is not there") from None
