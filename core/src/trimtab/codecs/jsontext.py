"""JSON text as a source that is sliced, never decoded and encoded again.

`scan` reads one JSON array or object the way `json.loads` does (a BOM before it is allowed) and remembers where each
long string stands between its quotes. There are two readers that give the same: `_read` goes member by member and does
not recurse; `_align` lets msgspec decode, and then looks for the long strings only, in the order in which they stand.
It leaves the odd texts (repeated keys, NaN, lone surrogates, deep nesting) to the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from json import decoder

from attrs import field, frozen

from trimtab._json import MAX_DEPTH, Escape, decode_strict, decode_string, escape
from trimtab.errors import PointerError
from trimtab.marker import MIN_MOVED
from trimtab.pointer import Path, resolve
from trimtab.types import Json

__all__ = ["Located", "Source", "elements", "scan"]

_BLANKS = frozenset(" \t\n\r")
_SPACE = re.compile("[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Json] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_WORD = re.compile("true|false|null|NaN|-?Infinity")

# A longer text that is not ASCII is read member by member: a decoder's copies of it would take several times its size.
_ALIGN_MOST = 1 << 22

# A run of strings under 256 chars without escapes, and what stands between them. It can match in one way only, so
# going back costs little; possessive groups, which would not go back at all, are wrong in CPython before 3.11.5.
_SHORTS = re.compile(r'(?:[^"]*"[^"\\]{0,255}"){1,100}')

# Tried in this order; a text that is spelt in neither way keeps its source in the store.
_SPELLINGS: tuple[Escape, ...] = ("utf8", "ascii")
_BLOCK = 1 << 16

# A codec looks at shape, so a number of more digits than Python converts is an infinity to it.
_INT_DIGITS = 4_000


# Up to this length the C scanner of Python's json is the fastest; a longer string is found by its closing quote.
_SHORT = 64
# The C scanner of one string: (text, index after the opening quote, strict) -> (decoded, index after the closing one).
_scanstring: Callable[[str, int, bool], tuple[str, int]] = vars(decoder)["scanstring"]


@frozen
class Located:
    """One string of the source: its decoded text, `start:end` between its quotes (code points), how it is spelt.

    `esc` is the spelling that gives the source back exactly: `utf8`, `ascii`, or `raw` for none of ours.
    """

    path: Path
    text: str
    start: int
    end: int
    esc: str


@frozen
class Source:
    """A JSON text, its decoded value, and its long strings in the order they stand."""

    text: str
    value: Json
    strings: tuple[Located, ...]
    _by_path: dict[Path, Located] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        # Of a repeated key the last stays, as in the decoded value.
        object.__setattr__(self, "_by_path", {one.path: one for one in self.strings})

    def at(self, path: Path) -> Located | None:
        """The long string that a path of the decoded value stands for; None: a short one.

        Raises:
            PointerError: what stands there is not a string.
        """
        found = resolve(self.value, path)
        if not isinstance(found, str):
            raise PointerError("it leads to something that is not a string")
        one = self._by_path.get(path)
        return one if one is not None and one.text is found else None

    def shadowed(self) -> list[Located]:
        """Long strings that no path reaches: their key, or one above it, is repeated later in the same object."""
        return [one for one in self.strings if not _reached(self.value, one)]


def _reached(value: Json, one: Located) -> bool:
    try:
        return resolve(value, one.path) is one.text
    except (KeyError, IndexError, TypeError):
        return False


def scan(text: str, least: int = MIN_MOVED) -> Source | None:
    """The source map of a JSON array or object, of its strings of `least` chars or more; None for any other text.

    Accepts what `json.loads` accepts (`NaN` and `Infinity` too, since their text is kept as it is), and a BOM first.
    Text nested deeper than `MAX_DEPTH` is plain text: no usual reader opens it.
    """
    begin = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if text[begin : begin + 1] not in ("{", "["):
        return None
    usual = least == MIN_MOVED and (len(text) <= _ALIGN_MOST or text.isascii())
    if usual and (aligned := _align(text)) is not None:
        return aligned
    strings: list[Located] = []
    try:
        value, end = _read(text, begin, strings, least=least)
    except (ValueError, IndexError):
        return None
    return Source(text, value, tuple(strings)) if _skip(text, end) == len(text) else None


def _align(text: str) -> Source | None:
    """What `_read` would give, for the usual JSON text; None: read it member by member.

    Long strings of the source and long texts of the value come in the same order; they must be the same ones.
    """
    try:
        value = decode_strict(text)
    except ValueError:
        return None
    texts = _long_texts(value)
    strings: list[Located] = []
    at = count = 0
    while True:
        while shorts := _SHORTS.match(text, at):
            count += text.count('"', at, shorts.end()) // 2
            at = shorts.end()
        start = text.find('"', at) + 1
        if not start:
            break
        count += 1
        if (end := _short_end(text, start)) is None:
            located = _located(text, start, next(texts, None))
            if located is None:
                return None
            strings.append(located)
            end = located.end
        at = end + 1
    if next(texts, ()) != ():
        return None
    # A repeated key keeps its first place and gets its last value: with equal texts, only the count shows it.
    if _any_equal(strings) and _strings_and_keys(value) != count:
        return None
    return Source(text, value, tuple(strings))


def _any_equal(strings: Sequence[Located]) -> bool:
    return len({one.text for one in strings}) < len(strings)


def _strings_and_keys(value: Json) -> int:
    """How many strings a JSON text of this value has, keys included."""
    count = 0
    left = [value]
    while left:
        node = left.pop()
        count += len(node) if isinstance(node, dict) else 0
        for child in node.values() if isinstance(node, dict) else node:
            if isinstance(child, str):
                count += 1
            elif isinstance(child, dict | list):
                left.append(child)
    return count


def _short_end(text: str, start: int) -> int | None:
    """Where the string that begins at `start` ends, if it has under 256 chars."""
    end = text.find('"', start, start + MIN_MOVED)
    while end >= 0 and _backslashes(text, end) % 2:
        end = text.find('"', end + 1, start + MIN_MOVED)
    return end if end >= 0 else None


def _located(text: str, start: int, one: tuple[Path, str] | None) -> Located | None:
    """This text where it stands as the string that begins at `start`; None where it does not, or is a key."""
    if one is None:
        return None
    path, decoded = one
    esc, end = "raw", -1
    for how in _SPELLINGS:
        if (stop := _spelt_until(text, decoded, start, how)) is not None and text[stop] == '"':
            esc, end = how, stop
            break
    else:
        found, stop = _string(text, start - 1)
        end = stop - 1 if found == decoded else -1
    if end < 0 or text.startswith(":", _skip(text, end + 1)):
        return None
    return Located(path, decoded, start, end, esc)


def _long_texts(value: Json) -> Iterator[tuple[Path, str] | None]:
    """Strings of 256 chars or more, in the order they stand; None where the nesting gets too deep."""
    stack: list[Iterator[tuple[str | int, Json]]] = [_members(value)]
    path: list[str | int] = []
    while stack:
        for step, child in stack[-1]:
            if isinstance(child, str):
                if len(child) >= MIN_MOVED:
                    yield (*path, step), child
            elif isinstance(child, dict | list):
                if len(stack) == MAX_DEPTH:
                    yield None
                path.append(step)
                stack.append(_members(child))
                break
        else:
            stack.pop()
            if path:
                path.pop()


def _members(container: Json) -> Iterator[tuple[str | int, Json]]:
    return iter(container.items()) if isinstance(container, dict) else iter(enumerate(container))


def _spelt_until(source: str, text: str, start: int, how: Escape) -> int | None:
    """Where this spelling of the text ends in the source; None where it does not stand there.

    By blocks: a text may be huge.
    """
    at = start
    for begin in range(0, len(text), _BLOCK):
        spelt = escape(text[begin : begin + _BLOCK], how)
        if not source.startswith(spelt, at):
            return None
        at += len(spelt)
    return at


def _spelling(source: str, text: str, start: int, end: int) -> str:
    return next((how for how in _SPELLINGS if _spelt_until(source, text, start, how) == end), "raw")


def elements(text: str) -> list[tuple[int, int]]:
    """Where each element of a JSON array, or each member of an object, stands: `start:end` in code points.

    Raises:
        ValueError: not a JSON array or object.
    """
    begin = _skip(text, 1 if text.startswith("\ufeff") else 0)
    spans: list[tuple[int, int]] = []
    if text[begin : begin + 1] not in ("{", "["):
        raise ValueError("neither an array nor an object")
    try:
        _, end = _read(text, begin, [], spans)
    except IndexError:
        raise ValueError("the JSON text ends early") from None
    if _skip(text, end) != len(text):
        raise ValueError("the JSON text goes on after its value")
    return spans


def _skip(text: str, at: int) -> int:
    if text[at : at + 1] not in _BLANKS:
        return at
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _read(
    text: str,
    at: int,
    strings: list[Located],
    members: list[tuple[int, int]] | None = None,
    least: int = MIN_MOVED,
) -> tuple[Json, int]:
    """Read the value at `at` without recursion: the value and where it ends. Raises ValueError, IndexError.

    `strings` gets every string of `least` chars or more; `members` the spans of the outermost container's elements.
    """
    containers: list[Json] = []
    steps: list[str | int] = []  # for each open container, the step to the value being read
    begun = at
    while True:
        if text[at] in "{[":
            value: Json = {} if text[at] == "{" else []
            close = "}" if text[at] == "{" else "]"
            at = _skip(text, at + 1)
            if text[at] != close:
                containers.append(value)
                if len(containers) > MAX_DEPTH:
                    raise ValueError("nested too deep")
                begun = at if len(containers) == 1 else begun
                step, at = _step(text, at, value)
                steps.append(step)
                continue
            at += 1
        else:
            value, end = _scalar(text, at)
            if isinstance(value, str) and end - at - 2 >= least:
                how = _spelling(text, value, at + 1, end - 1)
                strings.append(Located(tuple(steps), value, at + 1, end - 1, how))
            at = end
        while True:  # a value is complete: put it into its container, and close what closes here
            if not containers:
                return value, at
            container = containers[-1]
            if isinstance(container, dict):
                container[steps[-1]] = value
            else:
                container.append(value)
            if members is not None and len(containers) == 1:
                members.append((begun, at))
            at = _skip(text, at)
            if text[at] == ",":
                at = _skip(text, at + 1)
                begun = at if len(containers) == 1 else begun
                steps[-1], at = _step(text, at, container)
                break
            if text[at] != ("}" if isinstance(container, dict) else "]"):
                raise ValueError("neither a comma nor the end")
            at += 1
            value = containers.pop()
            steps.pop()


def _step(text: str, at: int, container: Json) -> tuple[str | int, int]:
    """The key or index of the member that begins at `at`, and where its value begins."""
    if isinstance(container, list):
        return len(container), at
    if text[at] != '"':
        raise ValueError("a key must be a string")
    key, at = _scanstring(text, at + 1, True)
    at = _skip(text, at)
    if text[at] != ":":
        raise ValueError("a colon must follow a key")
    return key, _skip(text, at + 1)


def _scalar(text: str, at: int) -> tuple[Json, int]:
    if text[at] == '"':
        return _string(text, at)
    if found := _NUMBER.match(text, at):
        spelt = found[0]
        whole = spelt.lstrip("-").isdigit() and len(spelt) <= _INT_DIGITS
        return (int(spelt) if whole else float(spelt)), found.end()
    if found := _WORD.match(text, at):
        return _WORDS[found[0]], found.end()
    raise ValueError("no value begins here")


def _string(text: str, at: int) -> tuple[str, int]:
    """The string that begins at the quote `at`, decoded, and where it ends. Raises ValueError."""
    end = text.find('"', at + 1)
    if end - at < _SHORT:
        return _scanstring(text, at + 1, True)
    while _backslashes(text, end) % 2:
        end = text.find('"', end + 1)
        if end < 0:
            raise ValueError("a string that does not end")
    return decode_string(text[at : end + 1]), end + 1


def _backslashes(text: str, end: int) -> int:
    """How many stand right before `end`."""
    at = end
    while text[at - 1] == "\\":
        at -= 1
    return end - at
