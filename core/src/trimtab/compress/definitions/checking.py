"""Finds examples in tool definitions that a provider would refuse, and leaves them out.

A provider answers a request with an error when an example of a tool's input does not fit the tool's schema: not the
schema that the application wrote, but what libraries on the way have made of it. The usual case is a tool that takes
any arguments (`"params": {"type": "object"}`), whose object is closed before it is sent. An example is worth little, a
refused request much: an example stays only where it fits every form in which its schema may be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from trimtab.compress.definitions.sanitisers import (
    Sanitiser,
    ai_sdk_anthropic,
    ai_sdk_closed,
    anthropic,
    gemini,
    openai_strict,
)
from trimtab.compress.definitions.schemas import Validator, children, compiler, size_of
from trimtab.errors import CallerError
from trimtab.pointer import Path, to_pointer
from trimtab.types import Json
from trimtab.wire.definitions import ToolShape, shape_of

__all__ = ["Finding", "check_tool_definitions"]

# Which sanitisers a schema may go through on its way, under the name that a finding gives them. OpenAI's only where
# a tool is strict.
_SANITISERS: Final[Mapping[str, Mapping[str, Sanitiser]]] = {
    "ai-sdk": {"as the AI SDK closes it": ai_sdk_closed, "as the AI SDK sends it to Anthropic": ai_sdk_anthropic},
    "anthropic": {"as anthropic's transform_schema leaves it": anthropic},
}
_STRICT: Final = {"as the openai library makes it strict": openai_strict}
_STRICT_PROTOCOLS: Final = ("openai-chat", "openai-responses", "vllm")
_OPENAPI: Final = {"as google-genai processes it": gemini}

_WHY_CHARS: Final = 400


@frozen(kw_only=True)
class Finding:
    """An example that was left out.

    `tool` is the tool's name (empty where it has none), `key` the JSON Pointer to the example in the tools as they
    were given, `why` one line: in which form the schema refuses it and where, or why it could not be checked. It
    never quotes the example.
    """

    tool: str
    key: str
    why: str


@frozen(kw_only=True)
class _Form:
    """A form in which a schema may be sent: its name, and what examples are checked with, or why there is nothing."""

    name: str
    validator: Validator | None = None
    fault: str = ""

    def refusal(self, example: Json) -> str | None:
        if self.validator is None:
            return f"the input schema {self.name} cannot be used: {self.fault}"
        try:
            why = self.validator(example)
        except (CallerError, RecursionError) as error:
            why = f"the example cannot be checked: {error!s:.300}"
        return None if why is None else f"the input schema {self.name}: {why}"


def check_tool_definitions(tools: Sequence[Json], protocol: str) -> tuple[list[Json], list[Finding]]:
    """The tools without those examples that a provider would refuse, and what was left out.

    Only examples are ever left out: never a tool, a description or a schema. A tool that keeps all of its examples
    comes back as the same object. What is no definition of a function in this protocol, a provider's own tool say,
    is passed on unseen. Nothing in a definition makes this fail: a schema that is no schema, refers to another place,
    never ends or would take long to check is a finding for each example that needs it.

    Args:
        tools: as they stand in a request of this protocol. Gemini's `Tool` objects with their function declarations,
            and single declarations, are both read.
        protocol: as in `trimtab.wire.definitions.PROTOCOLS`.

    Raises:
        CallerError: an unknown protocol, or `tools` is not a list.
        MissingExtra: jsonschema-rs, of `trimtab[tools]`, is not installed.
    """
    shape = shape_of(protocol)
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
        raise CallerError(f"tools are a list of definitions, not {type(tools).__name__}")
    compiled = compiler()
    checked: list[Json] = []
    findings: list[Finding] = []
    for number, tool in enumerate(tools):
        for path, body in _bodies(tool, shape):
            kept: dict[Path, list[Json] | None] = {}
            name = body.get("name")
            for place, why in _faults(body, shape, protocol, compiled, kept):
                key = to_pointer((number, *path, *place))
                findings.append(Finding(tool=name if isinstance(name, str) else "", key=key, why=why[:_WHY_CHARS]))
            for place, examples in kept.items():
                tool = _changed(tool, (*path, *place), examples)
        checked.append(tool)
    return checked, findings


def _bodies(tool: Json, shape: ToolShape) -> Iterator[tuple[Path, dict[str, Json]]]:
    """The objects of a tool that hold a name and a schema, with their paths."""
    if not isinstance(tool, dict):
        return
    for group in shape.groups:
        if isinstance(tool.get(group), list):
            for number, inner in enumerate(tool[group]):
                if isinstance(inner, dict):
                    yield (group, number), inner
    body: Json = tool
    for key in shape.body:
        body = body.get(key) if isinstance(body, dict) else None
    if isinstance(body, dict):
        yield shape.body, body


def _faults(
    body: dict[str, Json],
    shape: ToolShape,
    protocol: str,
    compiled: Callable[[Json], Validator],
    kept: dict[Path, list[Json] | None],
) -> Iterator[tuple[Path, str]]:
    """The paths of the examples to leave out, and why. Writes into `kept` what stays where something is left out."""
    for keys in (shape.schema, *shape.other_schemas):
        schema = _at(body, keys)
        if schema is None:
            continue
        openapi = protocol == "gemini" and keys == shape.schema
        for place in _misplaced(schema) if openapi else ():
            schema = _changed(schema, place, None)
            kept[(*keys, *place)] = None
            yield (*keys, *place), "Gemini's schemas know no `examples` and are refused with it; it has `example`"
        forms: list[_Form] = []
        for place, listed in _example_places(shape, keys, openapi):
            examples = _at(body, place)
            if examples is None:
                continue
            if not forms:
                forms = _forms(schema, protocol, compiled, strict=body.get("strict") is True, openapi=openapi)
            if listed and not isinstance(examples, list):
                kept[place] = None
                yield place, "the examples are not a list"
                continue
            key = shape.example_key if place == (shape.examples,) else ""
            bad = {
                number: why
                for number, one in enumerate(examples if listed else [examples])
                if (why := _why_not(one, key, forms)) is not None
            }
            if bad:
                kept[place] = [one for number, one in enumerate(examples) if number not in bad] if listed else None
            yield from (((*place, number) if listed else place, why) for number, why in bad.items())


def _example_places(shape: ToolShape, keys: tuple[str, ...], openapi: bool) -> Iterator[tuple[Path, bool]]:
    """Where examples of the whole input can stand, as paths from the body, and whether as a list."""
    if shape.examples:
        yield (shape.examples,), True
    if openapi:
        yield (*keys, "example"), False
    else:
        yield (*keys, "examples"), True


def _at(value: Json, path: Path) -> Json:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _forms(
    schema: Json,
    protocol: str,
    compiled: Callable[[Json], Validator],
    *,
    strict: bool,
    openapi: bool,
) -> list[_Form]:
    """The forms of a schema. One that a library cannot make is not sent; a schema that no one takes is one faulty form.

    OpenAPI's schemas are no JSON Schemas (`"type": "OBJECT"`): they have only the processed form.
    """
    as_it_stands = "as it stands"
    try:
        size_of(schema)
        if openapi:
            ((name, process),) = _OPENAPI.items()
            return [_Form(name=name, validator=compiled(process(schema)))]
        forms = [_Form(name=as_it_stands, validator=compiled(schema))]
    except (CallerError, RecursionError) as error:
        return [_Form(name=as_it_stands, fault=f"{error!s:.300}")]
    for name, sanitise in _sanitisers(protocol, strict).items():
        try:
            sent = sanitise(schema)
        except (CallerError, RecursionError):
            continue  # the library raises: this form is never sent
        try:
            forms.append(_Form(name=name, validator=compiled(sent)))
        except (CallerError, RecursionError) as error:
            forms.append(_Form(name=name, fault=f"{error!s:.300}"))
    return forms


def _sanitisers(protocol: str, strict: bool) -> Mapping[str, Sanitiser]:
    return _STRICT if strict and protocol in _STRICT_PROTOCOLS else _SANITISERS.get(protocol, {})


def _why_not(example: Json, key: str, forms: list[_Form]) -> str | None:
    """Why a provider would refuse an example; None: it would not."""
    if key:
        if not isinstance(example, dict) or key not in example:
            return f"the example has no `{key}`"
        example = example[key]
    if not isinstance(example, dict):
        return "the example is not an object, as the arguments of every call are"
    return next((why for form in forms if (why := form.refusal(example)) is not None), None)


def _misplaced(schema: Json) -> list[Path]:
    """The paths of all `examples` keywords in a schema, those inside others left out; none in one of hostile size."""
    try:
        size_of(schema)
    except CallerError:
        return []
    found: list[Path] = []
    stack: list[tuple[Path, Json]] = [((), schema)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict):
            found += [(*path, "examples")] if "examples" in node else []
            stack += [((*path, *steps), inner) for _, steps, inner in children(node)]
    return sorted(found, key=to_pointer)


def _changed(value: Json, path: Path, kept: list[Json] | None) -> Json:
    """The value with this list at a path, or without what stands there where nothing is kept. Copies the way to it."""
    step, rest = path[0], path[1:]
    copied: Json = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copied[step] = _changed(value[step], rest, kept)
    elif kept:
        copied[step] = kept
    else:
        del copied[step]
    return copied
