"""Messages of one role in a row, made one for providers that refuse several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from trimtab.types import Json
from trimtab.wire.histories.types import Role
from trimtab.wire.nodes import changed, has, items, member, text

__all__ = ["joined"]

_RESULTS: Final = ("toolResult", "functionResponse", "function_response")


def joined(
    natives: Sequence[Json],
    roles: Sequence[Role],
    name: str,
    role: Callable[[Json], Role],
    user_text: Callable[[str], Json],
) -> list[Json]:
    """The messages, each run of one of these roles made one message in which the members `name` are put together."""
    if not roles:
        return list(natives)
    runs: list[list[Json]] = []
    before: Role | None = None
    for native in natives:
        now = role(native)
        if now == before and now in roles and _fits(runs[-1][-1], native, name):
            runs[-1].append(native)
        else:
            runs.append([native])
        before = now
    return [run[0] if len(run) == 1 else _one(run, name, role(run[0]), user_text) for run in runs]


def _fits(one: Json, other: Json, name: str) -> bool:
    """Whether both have something to put together, and one spelling: Gemini's older `function` has only results."""
    if not all(isinstance(both, str) or isinstance(member(both, name), str | list | tuple) for both in (one, other)):
        return False
    return (text(one, "role") or "user") == (text(other, "role") or "user")


def _one(run: Sequence[Json], name: str, role: Role, user_text: Callable[[str], Json]) -> Json:
    """One message of several: texts with an empty line between them, or all the blocks.

    What tools returned comes first; in the model's own messages it follows the call, which the provider has run.
    """
    run = [user_text(native) if isinstance(native, str) else native for native in run]
    contents = [member(native, name) for native in run]
    both: Json
    if all(isinstance(content, str) for content in contents):
        both = "\n\n".join(contents)
    else:
        found = [block for content in contents for block in _blocks(content, name, user_text)]
        both = found if role == "assistant" else sorted(found, key=lambda one: not _is_result(one))
    first = run[0]
    if not isinstance(first, Mapping):
        return changed(first, {(name,): both})
    return {
        **{key: value for one in reversed(run) if isinstance(one, Mapping) for key, value in one.items()},
        name: both,
    }


def _blocks(content: Json, name: str, user_text: Callable[[str], Json]) -> Sequence[Json]:
    if not isinstance(content, str):
        return items(content)
    said = member(user_text(content), name)
    return said if isinstance(said, list) else [{"type": "text", "text": content}]


def _is_result(block: Json) -> bool:
    return any(has(block, name) for name in _RESULTS)
