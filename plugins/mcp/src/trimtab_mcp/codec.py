"""Where the bulk text of an MCP result is: `mcp_result`, and `wrapped` for tools whose own codec is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from trimtab.codecs import Codec, codec_for, within
from trimtab.pointer import Path, to_pointer
from trimtab.types import Json

__all__ = ["mcp_result", "wrapped"]

_META: Final = "_meta"
_STRUCTURED: Final = "structuredContent"
_RESULT: Final = "result"


def mcp_result(output: Json) -> Iterable[str] | None:
    """The codec of a `CallToolResult`, as a dict with the wire's keys, or of its list of content blocks alone.

    Bulk text is the text of text blocks and embedded resources, descriptions of resource links, and every string of
    `structuredContent` that does not look like a name (JSON leaves). So where text blocks repeat `structuredContent`,
    as one JSON text, as one for each element or as the bare text, both are shortened at the same strings, which stand
    behind the same handles. Never bulk text: `_meta`, media, annotations, uris, names, titles, icons. Blocks and fields
    of a later version are read as JSON leaves. What asks for input or names a task is no result, and stays whole.
    """
    if isinstance(output, list):
        known = _are_blocks(output) and any(_typed(block) is not None for block in output)
        return list(_in_blocks(output, "")) if known else None
    if not isinstance(output, dict):
        return None
    if "content" not in output:
        if _is_no_result(output):
            return []
        return list(_in_result(output)) if _STRUCTURED in output else None
    return list(_in_result(output)) if _are_blocks(output["content"]) else None


def wrapped(codec: Codec) -> Codec:
    """A codec for a tool that MCP wraps, from the codec of what the tool itself gives::

        [tools.mcp__brave__web_search]
        codec = "my_application:brave_search"       # brave_search = wrapped(codec_for(list[WebResult]))

    `structuredContent`, or its member `result` (where servers put what is no object), is read by `codec`, and so is the
    JSON of an only text block without it. Everything else is as in `mcp_result`.
    """
    structured = within(codec, [f"/{_STRUCTURED}", f"/{_STRUCTURED}/{_RESULT}"])

    def look(output: Json) -> Iterable[str] | None:
        result = mcp_result(output)
        if result is None:
            return codec(output)
        known = structured(output)
        if known is None:
            return None
        return [*(one for one in result if not one.startswith(f"/{_STRUCTURED}")), *known]

    return look


def _is_no_result(output: dict[str, Json]) -> bool:
    """What a server answers instead of a result: that it needs input, or that a task will have the result."""
    task = output.get("task")
    return output.get("resultType") in ("input_required", "task") or (isinstance(task, dict) and "taskId" in task)


def _are_blocks(value: Json) -> bool:
    return isinstance(value, list) and all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in value
    )


@cache
def _blocks() -> Mapping[str, Codec]:
    """The codecs of the known blocks by their `type`; made when first needed, since a command may only list plugins."""
    from trimtab_mcp.results import EmbeddedResource, ResourceLink, TextContent

    return {
        "text": codec_for(TextContent),
        "resource": codec_for(EmbeddedResource),
        "resource_link": codec_for(ResourceLink),
        "image": lambda _: (),
        "audio": lambda _: (),
    }


def _typed(block: dict[str, Json]) -> list[str] | None:
    """Pointers into a block of a known type; None for others."""
    codec = _blocks().get(block["type"])
    found = None if codec is None else codec(block)
    return None if found is None else list(found)


def _in_blocks(blocks: list[dict[str, Json]], prefix: str) -> Iterator[str]:
    for index, block in enumerate(blocks):
        found = _typed(block)
        if found is None:
            found = [to_pointer(path) for path in _leaves(block) if path[0] != _META]
        yield from (f"{prefix}/{index}{pointer}" for pointer in found)


def _in_result(output: dict[str, Json]) -> Iterator[str]:
    for key, value in output.items():
        if key == "content":
            yield from _in_blocks(value, "/content")
        elif (
            key == _STRUCTURED and isinstance(value, dict) and [*value] == [_RESULT] and isinstance(value[_RESULT], str)
        ):
            yield f"/{_STRUCTURED}/{_RESULT}"  # a tool's bare text, which a text block repeats
        elif key != _META:
            prefix = to_pointer((key,))
            yield from (f"{prefix}{to_pointer(path)}" for path in _leaves(value))


def _leaves(value: Json) -> Iterator[Path]:
    """Strings that JSON leaves would take, were they long: a codec looks at no lengths."""
    from trimtab.codecs.leaves import is_identity, strings  # as above: it brings the JSON reader with it

    for path, text, is_payload in strings(value, least=0):
        if not (text and is_payload) and not is_identity(text):
            yield path
