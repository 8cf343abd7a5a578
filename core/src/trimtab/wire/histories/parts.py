"""What stands in one message: calls and results where the protocol finds them, all else by its kind."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Final

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.types import Part
from trimtab.wire.nodes import has, items, member, text
from trimtab.wire.sites import CallSite, Site

__all__ = ["CACHE_POINT", "parts_of"]

CACHE_POINT: Final = "cachePoint"

_CONTENT: Final = ("content", "parts")
_THINKING: Final = ("thinking", "redacted_thinking", "reasoning", "redacted-reasoning", "redacted_reasoning")
# Thinking that servers of OpenAI's chat have beside the content, each under a name of its own.
_BESIDE: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
_ASIDES: Final = ("step-start",)
# Kinds of pydantic-ai's parts whose text is called content.
_SAID_AS_CONTENT: Final = ("text", "user-prompt", "system-prompt", "instruction", "retry-prompt")


def parts_of(native: Json, sites: Iterable[Site]) -> tuple[Part, ...]:
    """The parts of a message, in order. `sites`: its calls and results, in paths that begin with one index."""
    if isinstance(native, str):
        return (Part(kind="text", path=(), at=(), text=native),)
    whole = 1 if has(native, "role") else None
    found = [_part(site, whole) for site in sites if not site.hidden]
    taken = {part.path for part in found}
    if () in taken:
        return tuple(found)
    rest = list(_rest(native, taken))
    if not found:
        return tuple(rest or [_block(native, ())])
    return tuple(sorted([*rest, *found], key=_order)) if rest else tuple(found)


def _part(site: Site, whole: int | None) -> Part:
    """A call or result as a part. `whole`: so many names lead to a call's arguments where it is all of the message."""
    at = site.path[1:]
    if isinstance(site, CallSite):
        return Part(
            kind="call",
            path=_block_of(at, whole=len(at) if whole is None else whole),
            at=at,
            value=site.raw,
            call_id=site.call_id,
            name=site.name,
            complete=site.complete,
            answered=site.answered,
            by_provider=site.by_provider,
        )
    return Part(
        kind="result",
        path=_block_of(at, whole=len(at)),
        at=at,
        value=site.value,
        call_id=site.call_id,
        name=site.name,
        is_error=site.is_error,
    )


def _block_of(at: Path, *, whole: int) -> Path:
    """The block that a path leads into: up to the first index; of at most `whole` names it is the message itself."""
    for length, step in enumerate(at):
        if isinstance(step, int):
            return at[: length + 1] if length == 1 else ()
    return () if len(at) <= whole else at[:1]


def _rest(native: Json, taken: Container[Path]) -> Iterator[Part]:
    """Thinking, texts and other blocks of a message; not those at the paths that are taken."""
    if not isinstance(native, dict) or not native.keys().isdisjoint(_BESIDE):
        for name in _BESIDE:
            value = member(native, name)
            if value and isinstance(value, str | list | tuple):
                yield Part(kind="thinking", path=(name,), at=(name,), value=value)
    listed = member(native, "parts")
    content = member(native, "content")
    if isinstance(content, str) and not items(listed):  # else it says the same once more, as in older UI messages
        yield Part(kind="text", path=("content",), at=("content",), text=content)
    if isinstance(listed, str):
        yield Part(kind="text", path=("parts",), at=("parts",), text=listed)
    for name, found in (("content", content), ("parts", listed)):
        for place, block in enumerate(items(found)):
            if (name, place) not in taken:
                yield _block(block, (name, place))


def _block(block: Json, path: Path) -> Part:
    """A block that is neither call nor result."""
    if isinstance(block, str):
        return Part(kind="text", path=path, at=path, text=block)
    kind = text(block, "type", "part_kind")
    if kind in _THINKING or member(block, "thought") is True or has(block, "reasoningContent"):
        return Part(kind="thinking", path=path, value=block)
    said = member(block, "text")
    if isinstance(said, str):
        return Part(kind="text", path=path, at=(*path, "text"), text=said)
    if kind in _ASIDES or has(block, CACHE_POINT):
        return Part(kind="aside", path=path, value=block)
    where = _text_of(block, kind)
    if where:
        said = block
        for step in where:
            said = said[step] if isinstance(step, int) else member(said, step)
        return Part(kind="text", path=path, at=(*path, *where), text=said)
    return Part(kind="other", path=path, value=block, call_id=_id_of(block, kind))


def _text_of(block: Json, kind: str) -> Path:
    """Where a block has its text that is not called so; (): it has none, or not in one place."""
    if kind == "refusal" and isinstance(member(block, "refusal"), str):
        return ("refusal",)
    if kind in _SAID_AS_CONTENT and isinstance(member(block, "content"), str):
        return ("content",)
    if isinstance(member(member(member(block, "guardContent"), "text"), "text"), str):
        return ("guardContent", "text", "text")
    cited = items(member(member(block, "citationsContent"), "content"))
    if len(cited) == 1 and isinstance(member(cited[0], "text"), str):
        return ("citationsContent", "content", 0, "text")
    return ()


def _id_of(block: Json, kind: str) -> str:
    """The id that a block of a tool which the provider runs shares with its result, a question with its answer."""
    if kind.endswith("_tool_use") or kind == "mcp_approval_request":
        return text(block, "id")
    if kind == "mcp_approval_response":
        return text(block, "approval_request_id")
    if kind in ("tool-approval-request", "tool-approval-response"):
        return text(block, "approvalId")
    if kind.endswith("_tool_result"):
        return text(block, "tool_use_id")
    for name in ("executableCode", "codeExecutionResult"):
        if has(block, name):
            return text(member(block, name), "id")
    return text(member(block, "toolUse"), "toolUseId") or text(member(block, "toolResult"), "toolUseId")


def _order(part: Part) -> tuple[int, int]:
    """Thinking that stands beside the content, the content in its order, then calls that stand beside it."""
    first = part.path[0] if part.path else ""
    place = part.path[1] if len(part.path) == 2 and isinstance(part.path[1], int) else 0
    return (0 if first in _BESIDE else 1 if first in _CONTENT else 2, place)
