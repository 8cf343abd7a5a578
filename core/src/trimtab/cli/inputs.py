"""What commands read: bytes of a file or of standard input, as outputs or as rows.

Bytes are read as they are and decoded here, strictly: nothing is replaced, no newline translated.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

from trimtab._json import decode
from trimtab.cli.streams import is_terminal, say
from trimtab.errors import CallerError
from trimtab.types import Json

__all__ = [
    "Form",
    "Outputs",
    "argument",
    "read_bytes",
    "read_conversation",
    "read_json",
    "read_outputs",
    "read_rows",
    "read_text",
]

Form = Literal["auto", "json", "text", "jsonl"]

_BOM = "\ufeff"
_JSON_SUFFIX = ".json"
_LINES_SUFFIXES = (".jsonl", ".ndjson")
_GZIP_MARK = b"\x1f\x8b"
_WIDE_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@frozen(kw_only=True)
class Outputs:
    """Tool outputs as they were read. `form`: what the input was taken for. `note`: why not for something else."""

    form: Literal["json", "text", "jsonl"]
    values: Sequence[Json]
    note: str = ""


class _Inexact(ValueError):
    """JSON that Python's values cannot hold exactly."""


def read_text(name: str) -> str:
    """The text of a file, or of standard input (`-`).

    Raises:
        CallerError: unreadable, binary, or not UTF-8 (the message has the byte's offset).
    """
    data = read_bytes(name)
    for mark, encoding in _WIDE_MARKS.items():
        if data.startswith(mark):
            raise CallerError(
                f"{_named(name)} is {encoding} (its first bytes say so); convert it, as in "
                f"`iconv -f {encoding} -t UTF-8`: trimtab reads UTF-8"
            )
    nul = data.find(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not 0 <= nul < error.start:
            raise CallerError(
                f"{_named(name)}: the byte at offset {error.start} (0x{data[error.start]:02x}) is not UTF-8; "
                "convert the input to UTF-8, or, if it is binary, turn it into text first"
            ) from None
    if nul >= 0:
        raise CallerError(
            f"{_named(name)}: the byte at offset {nul} is NUL, so this looks binary; turn it into text first "
            "(in JSON, NUL is spelt \\u0000)"
        )
    return text


def read_outputs(name: str, form: Form) -> Outputs:
    """The tool outputs in a file: one JSON value, one text, or one JSON value on each line.

    With `auto`, a name that ends in `.jsonl` or `.ndjson` is lines; else what parses as one JSON value is that; else
    two or more lines of which each is a JSON object or array are lines; anything else is a text.

    Raises:
        CallerError: as `read_text`; or it is not what `form` says.
    """
    text = read_text(name)
    if form == "auto" and name.endswith(_LINES_SUFFIXES):
        form = "jsonl"
    if form == "text":
        return Outputs(form="text", values=[text])
    if form == "jsonl":
        return Outputs(form="jsonl", values=_lines(name, text))
    try:
        return Outputs(form="json", values=[_exact(text)])
    except _Inexact as error:
        if form == "json":
            raise CallerError(f"{_named(name)}: {error}; read it with --as text, which keeps it exactly") from None
        return Outputs(form="text", values=[text], note=f"{error}: read as text, which keeps it exactly")
    except (ValueError, RecursionError) as error:
        if form == "json":
            raise CallerError(f"{_named(name)} is not JSON: {_fault(error)}; try --as text or --as jsonl") from None
        why = _fault(error)
    if (values := _only_containers(text)) is not None:
        return Outputs(form="jsonl", values=values)
    note = f"{name} is not JSON ({why}): read as text, as it stands" if name.endswith(_JSON_SUFFIX) else ""
    return Outputs(form="text", values=[text], note=note)


def read_rows(name: str) -> list[Json]:
    """The rows in a file: one JSON value, or one on each line.

    Raises:
        CallerError: as `read_text`, or it is not JSON.
    """
    text = read_text(name).removeprefix(_BOM)
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError) as error:
        fault = _fault(error)
    try:
        return [json.loads(line) for line in _filled(text)]
    except (ValueError, RecursionError):
        raise CallerError(
            f"{_named(name)} is not a row: {fault}; a row is JSON, as `t.row_text` and `trimtab trim --row` write it"
        ) from None


def read_conversation(name: str, *, line: str = "a message") -> Json:
    """A request or list of messages in a file; of JSON lines the list of their values. `line`: what each may be.

    Raises:
        CallerError: unreadable, or not JSON.
    """
    data = read_bytes(name)
    if data.startswith(_GZIP_MARK):
        raise CallerError(f"{name} is compressed; unpack it first, as in `gzip -dc FILE | trimtab ... -`")
    try:
        return decode(data)
    except (ValueError, RecursionError):
        lines = [(number, one) for number, one in enumerate(data.split(b"\n"), 1) if one.strip()]
    try:
        first = [decode(one) for _, one in lines[:1]] if len(lines) > 1 else []
    except (ValueError, RecursionError):
        first = []
    if not first:
        raise CallerError(f"{name} is not JSON: a request, a list of messages, or {line} on each line")
    return first + [_decoded(one, f"line {number} of {name}") for number, one in lines[1:]]


def read_json(name: str) -> Json:
    """The JSON value in a file. Raises CallerError: unreadable, or not JSON."""
    return _decoded(read_bytes(name), name)


def _decoded(data: bytes, what: str) -> Json:
    try:
        return decode(data)
    except (ValueError, RecursionError):
        raise CallerError(f"{what} is not JSON") from None


def argument(text: str | None, option: str) -> Json:
    """The JSON value of an option. Raises CallerError."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CallerError(f"""{option} is not JSON: {_fault(error)}; write it as in '{{"query": "..."}}'""") from None


def read_bytes(name: str) -> bytes:
    """The bytes of a file, or of standard input (`-`). Raises CallerError: unreadable."""
    if name == "-":
        if is_terminal(sys.stdin):
            say("reading from the terminal; end with Ctrl-D")
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CallerError(f"{name} cannot be read: {why}; give a file, or - for standard input") from None


def _named(name: str) -> str:
    return "standard input" if name == "-" else name


def _fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno} column {error.colno}"
    return "nested too deep" if isinstance(error, RecursionError) else f"{error!s:.200}"


def _exact(text: str) -> Json:
    """The JSON value of a text. Raises ValueError, or _Inexact for what the value would lose."""
    return json.loads(
        text.removeprefix(_BOM), object_pairs_hook=_members, parse_float=_float, parse_constant=_no_constant
    )


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Inexact(f"the key {twice!r:.80} stands twice in an object")
    return found


def _float(spelt: str) -> float:
    value = float(spelt)
    if not isfinite(value):
        raise _Inexact(f"the number {spelt:.40} is too large for a float")
    return value


def _no_constant(spelt: str) -> Json:
    raise _Inexact(f"{spelt} is not JSON")


def _is_blank(line: str) -> bool:
    return not line.strip(" \t\r")


def _filled(text: str) -> list[str]:
    """The lines of a text that are not blank."""
    return [line for line in text.split("\n") if not _is_blank(line)]


def _lines(name: str, text: str) -> list[Json]:
    values = []
    for number, line in enumerate(text.removeprefix(_BOM).split("\n"), 1):
        if _is_blank(line):
            continue
        try:
            values.append(_exact(line))
        except (ValueError, RecursionError) as error:
            raise CallerError(
                f"{_named(name)}, line {number}: {_fault(error)}; with JSON lines each line is one JSON value"
            ) from None
    return values


def _only_containers(text: str) -> list[Json] | None:
    """The values of a text of two or more lines, each of them a JSON object or array; None for any other text."""
    lines = _filled(text.removeprefix(_BOM))
    if len(lines) < 2 or not all(line.lstrip(" \t").startswith(("{", "[")) for line in lines):
        return None
    try:
        return [_exact(line) for line in lines]
    except (ValueError, RecursionError):
        return None
