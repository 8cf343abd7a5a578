"""The one encoder and the one door for JSON values. Owns msgspec.

`canonical(value)` is every byte that is hashed, stored or sent: exactly what
`json.dumps(value, ensure_ascii=False, separators=(",", ":"))` writes, except that a lone surrogate is
spelt as its `\\udXXX` escape, so that the text is always valid UTF-8. msgspec does the work where it writes the
same bytes; an iterative encoder of ours does it where msgspec differs (floats from 1e16 and under 1e-4, lone
surrogates, subclasses, nesting near the interpreter's recursion limit).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from json.encoder import encode_basestring, encode_basestring_ascii
from math import isfinite
from typing import Literal

import msgspec

from trimtab.errors import UnsupportedOutput
from trimtab.types import Json

__all__ = [
    "MAX_DEPTH",
    "Escape",
    "blob_id",
    "canonical",
    "check",
    "decode",
    "decode_or_none",
    "decode_strict",
    "decode_string",
    "escape",
    "escaped_length",
    "refuse_split_pair",
    "utf8",
]

# The usual readers (Python's json, browsers' databases) stop near 1,000 levels.
MAX_DEPTH = 500

# Python's own bound on decimal digits (CVE-2020-10735): such an int cannot be written.
_INT_BOUND = 10**4300

Escape = Literal["utf8", "ascii"]

# Chars of a huge text that are worked on at a time.
_BLOCK = 1 << 18

# Steps of a path that an error shows before it is abridged.
_PATH_STEPS = 20

_UNITS = re.compile(r"(?:[^\\]|\\u[0-9a-fA-F]{4}|\\[^u])*")
_LOW_SURROGATE = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_encode = msgspec.json.Encoder().encode
_decode_string = msgspec.json.Decoder(str).decode


def _finite(spelt: str) -> float:
    """A float; an overflow, which JSON could not spell again, is refused."""
    number = float(spelt)
    if not isfinite(number):
        raise ValueError(spelt)
    return number


_decode_finite = msgspec.json.Decoder(float_hook=_finite).decode


def utf8(text: str) -> bytes:
    """The bytes that are hashed and stored: UTF-8, lone surrogates as three bytes each (`surrogatepass`)."""
    return text.encode("utf-8", "surrogatepass")


def blob_id(text: str) -> str:
    """First 32 hex digits of the SHA-256 of the text's UTF-8 (`surrogatepass`)."""
    if len(text) <= _BLOCK:
        return hashlib.sha256(utf8(text)).hexdigest()[:32]
    digest = hashlib.sha256()
    for begin in range(0, len(text), _BLOCK):  # a huge text is never copied whole
        digest.update(utf8(text[begin : begin + _BLOCK]))
    return digest.hexdigest()[:32]


def refuse_split_pair(text: str) -> None:
    """Raises UnsupportedOutput for a string with a surrogate pair as two code points: JSON would merge it."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        if _SURROGATE_PAIR.search(text):
            raise _fault(text) from None


def check(value: Json) -> tuple[int, bool]:
    """Walk a tool output once.

    Gives the sum of the lengths of its strings, a lower bound of its canonical length; and whether the value is plain:
    then `canonical(value, plain=True)` need not look again, also after strings in it were replaced.

    Raises:
        UnsupportedOutput: something in it is not JSON (bytes, NaN, a tuple, a custom object, a key that is not a
            string), it contains itself, or it is nested deeper than `MAX_DEPTH`.
    """
    chars = 0
    plain = True
    stack: list[Iterator[Json]] = [iter((value,))]
    while stack:
        for item in stack[-1]:
            kind = type(item)
            if kind is str:
                chars += len(item)
            elif kind is int or kind is bool or item is None:
                pass
            elif isinstance(item, dict):
                for key in item:
                    if type(key) is not str:
                        if not isinstance(key, str):
                            raise _fault(value)
                        plain = False
                    chars += len(key)
                stack.append(iter(item.values()))
                break
            elif isinstance(item, list):
                stack.append(iter(item))
                break
            elif isinstance(item, float):
                if not isfinite(item):
                    raise _fault(value)
                if kind is not float or (item != 0.0 and not 1e-4 <= abs(item) < 1e16):
                    plain = False
            elif isinstance(item, str | int):
                chars += len(item) if isinstance(item, str) else 0
                plain = False
            else:
                raise _fault(value)
        else:
            stack.pop()
        if len(stack) > MAX_DEPTH + 1:
            raise _fault(value)
    return chars, plain


def canonical(value: Json, *, plain: bool = False) -> str:
    """The canonical JSON text of a value: compact, insertion order, non-ASCII as itself.

    Raises:
        UnsupportedOutput: as `check`; also a surrogate pair as two code points, which any JSON reader would merge
            into one, and an int of more than 4,300 digits.
    """
    if plain or check(value)[1]:
        try:
            return _encode(value).decode()
        except UnicodeEncodeError:
            pass  # a lone surrogate: spelt as an escape below
        except (RecursionError, ValueError, OverflowError):
            pass  # deep, or a huge int: the iterative encoder copes or says where
    if _SURROGATE_PAIR.search(text := "".join(_pieces(value))):
        raise _fault(value)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def decode(text: str | bytes) -> Json:
    """A JSON value from text, as `json.loads` gives it, but by msgspec where that can.

    Raises:
        ValueError: not JSON.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return json.loads(text)


def decode_strict(text: str) -> Json:
    """The value of plain JSON text, fast.

    Raises:
        ValueError: not JSON, or one that msgspec refuses: with a BOM, NaN, lone surrogates, deep nesting.
    """
    try:
        # From bytes: of a string that is not ASCII, msgspec would leave a UTF-8 copy in the string object for good.
        return msgspec.json.decode(text if text.isascii() else text.encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError("not plain JSON text") from error


def decode_or_none(text: str) -> Json:
    """As `decode_strict`, but None where that raises, and for a number that is too large for a float.

    For callers to whom damage is an everyday thing.
    """
    try:
        return _decode_finite(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def decode_string(quoted: str) -> str:
    """The text of a JSON string with its quotes, as `json.loads` gives it.

    Raises:
        ValueError: not a JSON string.
    """
    if len(quoted) > 2 * _BLOCK:
        ends = [*_between_escapes(quoted), len(quoted) - 1]
        pieces = zip([1, *ends], ends, strict=False)
        return "".join([decode_string(f'"{quoted[begin:end]}"') for begin, end in pieces])
    try:
        return _decode_string(quoted)
    except (msgspec.MsgspecError, UnicodeError):  # a lone surrogate, or malformed
        text = json.loads(quoted)
        if not isinstance(text, str):
            raise ValueError("not a JSON string") from None
        return text


def _between_escapes(quoted: str) -> Iterator[int]:
    """Places about a block apart at which a JSON string can be cut: inside no escape, and inside no pair of them."""
    last = 0
    for end in range(_BLOCK, len(quoted) - _BLOCK, _BLOCK):
        begin = end - 32
        while begin > last and quoted[begin - 1] == "\\":
            begin -= 1
        if begin <= last:
            continue  # backslashes all the way
        # From a place that is not behind a backslash, escapes can be read off; a low surrogate stays with its high one.
        found = _UNITS.match(quoted, begin, end)
        last = found.end() if found else begin
        last += 6 * (_LOW_SURROGATE.match(quoted, last) is not None)
        yield last


def escape(text: str, how: Escape) -> str:
    """The text as it stands between the quotes of a JSON string: `utf8` canonical, `ascii` as Python's `json`."""
    if how == "ascii":
        return encode_basestring_ascii(text)[1:-1]
    try:
        return _encode(text)[1:-1].decode()
    except UnicodeEncodeError:
        spelt = encode_basestring(text)[1:-1]
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", spelt)


def _pieces(value: Json) -> Iterator[str]:
    """The canonical text in pieces, without recursion; lone surrogates still as themselves."""
    # Each frame: an iterator over what is left of a container, and the bracket that closes it.
    stack: list[tuple[Iterator[Json], str]] = [(iter((value,)), "")]
    first = True
    while stack:
        items, close = stack[-1]
        for item in items:
            if not first:
                yield ","
            first = False
            if close == "}":
                key, item = item
                yield encode_basestring(str.__str__(key)) + ":"
            if isinstance(item, dict | list):
                yield "{" if isinstance(item, dict) else "["
                stack.append((iter(item.items()), "}") if isinstance(item, dict) else (iter(item), "]"))
                first = True
                break
            yield _scalar(item, value)
        else:
            stack.pop()
            yield close
            first = False


def _scalar(item: Json, whole: Json) -> str:
    if item is None:
        return "null"
    if item is True or item is False:
        return "true" if item else "false"
    if isinstance(item, str):
        return encode_basestring(item)
    if isinstance(item, float):
        return float.__repr__(item)
    if abs(item) >= _INT_BOUND:
        raise _fault(whole)
    return int.__repr__(item)


def escaped_length(text: str) -> int:
    """Code points of the text inside a canonical JSON string, without the quotes."""
    return len(_encode(text)) - 2 if text.isascii() else len(escape(text, "utf8"))


def _fault(value: Json) -> UnsupportedOutput:
    """What is wrong with a value that cannot be written, with the place: a second, slow walk."""
    open_ids: set[int] = set()
    # Frames: (container, iterator over (step, child)); the path is the steps of all frames.
    stack: list[tuple[Json, Iterator[tuple[str, Json]]]] = [(None, iter([("$", value)]))]
    path: list[str] = []
    while stack:
        container, children = stack[-1]
        found = next(children, None)
        if found is None:
            open_ids.discard(id(container))
            stack.pop()
            if path:
                path.pop()
            continue
        step, item = found
        if (wrong := _wrong(item, open_ids, len(stack))) is not None:
            here = [*path, step] if len(path) < _PATH_STEPS else [*path[:_PATH_STEPS], "…", step]
            return UnsupportedOutput(wrong[0], path="".join(here), fix=wrong[1])
        if isinstance(item, dict | list):
            path.append(step)
            open_ids.add(id(item))
            stack.append((item, _children(item)))
    return UnsupportedOutput("not a JSON value", path="$", fix="pass what json.loads would give")


def _children(item: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(item, list):
        return ((f"[{i}]", child) for i, child in enumerate(item))
    return (_member(key, child) for key, child in item.items())


def _member(key: object, child: Json) -> tuple[str, Json]:
    """The step of a path and what stands there; where the key itself is wrong, the key stands there."""
    if not isinstance(key, str):
        return _shown_key(key), _BadKey(key)
    if re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,79}", key):
        return f".{key}", child
    return f"[{key!r:.80}]", key if _SURROGATE_PAIR.search(key) else child


def _shown_key(key: object) -> str:
    """A key that is not a string, as a path shows it: of foreign types only the name, since their repr may raise."""
    if key is None or isinstance(key, bool | float | bytes) or (type(key) is int and abs(key) < _INT_BOUND):
        return f"[{key!r:.80}]"
    return f"[<{type(key).__name__}>]"


class _BadKey:
    """Stands for a member whose key is not a string, so that the walk reports it at its place."""

    def __init__(self, key: object) -> None:
        self.kind = type(key).__name__


def _wrong(item: Json, open_ids: set[int], depth: int) -> tuple[str, str] | None:
    """What is wrong with one node, and what to do about it; None: nothing."""
    if item is None or isinstance(item, bool):
        return None
    if isinstance(item, str):
        if _SURROGATE_PAIR.search(item):
            fix = "join them: text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
            return "a surrogate pair as two code points", fix
        return None
    if isinstance(item, int):
        return ("an int of more than 4,300 digits", "pass it as a string") if abs(item) >= _INT_BOUND else None
    if isinstance(item, float):
        return None if isfinite(item) else (f"{item!r} is not JSON", "pass None or a string instead")
    if isinstance(item, dict | list):
        if id(item) in open_ids:
            return "a value that contains itself", "pass a tree: copy the part that repeats"
        if depth > MAX_DEPTH:
            return f"nested deeper than {MAX_DEPTH} levels", "flatten it, or pass it as JSON text"
        return None
    if isinstance(item, _BadKey):
        return f"a key of type {item.kind}", "make every key a string"
    if isinstance(item, bytes | bytearray | memoryview):
        return f"{type(item).__name__} is not JSON", "decode it to text, or pass base64 in a media block"
    if isinstance(item, tuple | set | frozenset):
        return f"{type(item).__name__} is not JSON", "pass list(...)"
    return f"{type(item).__name__} is not JSON", "pass plain data: dict, list, str, int, float, bool, None"
