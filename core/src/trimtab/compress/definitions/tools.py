"""The tools a model compresses its history with, as definitions in every protocol.

Laws: what a schema accepts, the parser reads. No schema has `required` or an alternative (`anyOf`, `oneOf`, `allOf`)
at its top: hosts that hold calls to the schema would refuse the one flat range, and some providers the tool. Every
field of every form is a named property, so that a provider that closes objects closes none of the forms. Models copy
what they are shown: no definition holds a ref, unless the application passes refs of its own conversation.
"""

from __future__ import annotations

from typing import Final

from trimtab.compress.refs.written import parse_ref
from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire.definitions import definition, shape_of

__all__ = ["compress_tools"]

_COMPRESS: Final = (
    "Replace stretches of the conversation that are done with by summaries that you write, to make room. "
    "Pass `content`: one entry for each stretch, with startId, endId and summary. "
    "Copy both refs exactly as the conversation shows them; the start comes before the end."
)
_DECOMPRESS: Final = "Show the messages behind a summary again, when you need their exact words."
_SEARCH: Final = "Search the messages behind all summaries for words. The answer names the refs they were found under."

_START: Final = "Ref of the first message of the stretch, exactly as shown in the conversation."
_END: Final = "Ref of the last message of the stretch, exactly as shown in the conversation. It is replaced too."
_SUMMARY: Final = (
    "What stands in the stretch's place, in full sentences: what was asked, done, decided and found, with every name, "
    "path, number and error that is still needed, and what is still to do."
)
_TOPIC: Final = "A title of a few words."
_MAX_CHARS: Final = "How many chars the summary may have at most. Leave it out if in doubt."
_LINES: Final = "The same as text: a first line with startId, a hyphen, endId and the topic; below it the summary."
_FLAT: Final = "Only for a single stretch, without `content`: as {} of an entry."

_EXAMPLE_TOPIC: Final = "a title of a few words"
_EXAMPLE_SUMMARY: Final = (
    "What was asked, done, decided and found from the first of these messages to the last, "
    "with every name, path, number and error that is still needed."
)


def compress_tools(
    protocol: str,
    *,
    compress: str = "compress",
    decompress: str = "decompress",
    search: str = "search_context",
    example: tuple[str, str] | None = None,
) -> list[Json]:
    """The definitions of the three tools, in this order, in a protocol's schema.

    Offer them from the first request on and leave them unchanged: tools stand before all messages in a provider's
    prompt cache.

    Args:
        protocol: as in `trimtab.wire.definitions.PROTOCOLS`. For Gemini these are function declarations, to be put
            into one `Tool`.
        compress: the first tool's name.
        decompress: the second's; empty: it is left out.
        search: the third's; empty: it is left out.
        example: refs of the first and the last message of a stretch that stands in the model's own conversation.
            With it the compress tool gets one example of its input; without it none.

    Raises:
        CallerError: an unknown protocol; an example that is not two refs with the first before the last.
    """
    shape_of(protocol)
    tools = [
        definition(protocol, compress, _COMPRESS, _compress_parameters(), examples=_examples(example)),
    ]
    if decompress:
        tools.append(definition(protocol, decompress, _DECOMPRESS, _decompress_parameters()))
    if search:
        tools.append(definition(protocol, search, _SEARCH, _search_parameters()))
    return tools


def _text(description: str) -> Json:
    return {"type": "string", "description": description}


def _count(description: str) -> Json:
    return {"type": "integer", "minimum": 1, "description": description}


def _entry() -> dict[str, Json]:
    """The properties of one range."""
    return {
        "startId": _text(_START),
        "endId": _text(_END),
        "summary": _text(_SUMMARY),
        "topic": _text(_TOPIC),
        "summaryMaxChars": _count(_MAX_CHARS),
    }


def _compress_parameters() -> dict[str, Json]:
    entry = _entry()
    flat = {name: {**schema, "description": _FLAT.format(name)} for name, schema in entry.items()}
    one = {"type": "object", "properties": entry, "required": ["startId", "endId", "summary"]}
    content = {
        "type": "array",
        "description": "The stretches to replace, each an object with startId, endId and summary.",
        "items": {"anyOf": [one, _text(_LINES)]},
    }
    return {"type": "object", "properties": {"content": content, **flat}}


def _decompress_parameters() -> dict[str, Json]:
    every = "true: back to the messages themselves, also where the summary covers other summaries. Default false."
    return {
        "type": "object",
        "properties": {
            "ref": _text("Ref of the summary, exactly as shown with it."),
            "all": {"type": "boolean", "description": every},
        },
    }


def _search_parameters() -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {
            "query": _text("Words to look for: names, paths, error texts."),
            "limit": _count("How many results at most."),
        },
    }


def _examples(refs: tuple[str, str] | None) -> list[Json]:
    """The example call with these refs.

    Raises:
        CallerError: they are no two refs in order.
    """
    if refs is None:
        return []
    start, end = refs
    first, last = (parse_ref(one) if isinstance(one, str) else None for one in (start, end))
    if first is None or last is None:
        raise CallerError("an example needs the refs of two messages of this conversation, as in ('m…', 'm…')")
    if first.kind == last.kind == "m" and first.number > last.number:
        raise CallerError(f"the example ends before it starts: {start} to {end}; give the earlier ref first")
    return [
        {"content": [{"startId": start, "endId": end, "topic": _EXAMPLE_TOPIC, "summary": _EXAMPLE_SUMMARY}]},
    ]
