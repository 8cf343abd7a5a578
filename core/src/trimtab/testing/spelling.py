"""JSON text as other encoders write it: odd escapes, number spellings, repeated keys, indentation, a BOM."""

from __future__ import annotations

import json
import random
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Final, Literal

from attrs import frozen

from trimtab.types import Json

__all__ = ["ODD_NUMBERS", "Escapes", "Style", "escaped", "written"]

Escapes = Literal["utf8", "ascii", "slashes", "upper", "html", "odd"]

ODD_NUMBERS: Final = (
    "1.10",
    "1E5",
    "-0",
    "0.0",
    "1e+02",
    "2.50E-3",
    "123456789012345678901234567890",
    "-0.0e0",
    "1E400",
)
"""Numbers in spellings that no decoder keeps."""


@frozen(kw_only=True)
class Style:
    """How a JSON text is written.

    `escapes`: `utf8` as canonical JSON, `ascii` as Python's json, `slashes` as PHP (`\\/`, and ASCII), `upper` with
    upper-case hex digits, `html` as Go (`<`, `>`, `&`, U+2028 escaped), `odd` with any character escaped for no reason.
    `odd_numbers`: numbers are replaced by oddly spelt ones. `repeat_keys`: members of some objects are written twice,
    the first time with another value. `seed`: of every choice.
    """

    escapes: Escapes = "utf8"
    indent: int | str | None = None
    separators: tuple[str, str] = (",", ":")
    bom: bool = False
    ending: str = ""
    odd_numbers: bool = False
    repeat_keys: bool = False
    seed: int = 0


def written(value: Json, style: Style) -> str:
    """The JSON text of a value in a style; `json.loads` reads it (without the BOM)."""
    rng = random.Random(style.seed)
    pieces: list[str] = ["\ufeff" if style.bom else ""]
    _write(value, style, rng, 1, pieces)
    return "".join([*pieces, style.ending])


def _write(value: Json, style: Style, rng: random.Random, depth: int, pieces: list[str]) -> None:
    if isinstance(value, str):
        pieces += ('"', escaped(value, style.escapes, rng), '"')
    elif isinstance(value, dict):
        members = list(value.items())
        if style.repeat_keys and members and rng.random() < 0.4:
            key, child = rng.choice(members)
            earlier = rng.choice((None, "x", child, f"another text\n{json.dumps(child)[:2_000]}"))
            members.insert(rng.randrange(list(value).index(key) + 1), (key, earlier))
        _container("{}", members, style, rng, depth, pieces)
    elif isinstance(value, list):
        _container("[]", [(None, child) for child in value], style, rng, depth, pieces)
    elif value is None or isinstance(value, bool):
        pieces.append({None: "null", True: "true", False: "false"}[value])
    else:
        pieces.append(rng.choice(ODD_NUMBERS) if style.odd_numbers and rng.random() < 0.5 else repr(value))


def _container(
    brackets: str,
    members: list[tuple[str | None, Json]],
    style: Style,
    rng: random.Random,
    depth: int,
    pieces: list[str],
) -> None:
    unit = " " * style.indent if isinstance(style.indent, int) else style.indent
    pieces.append(brackets[0])
    for number, (key, child) in enumerate(members):
        if number:
            pieces.append(style.separators[0])
        if unit is not None:
            pieces.append("\n" + unit * depth)
        if key is not None:
            pieces += ('"', escaped(key, style.escapes, rng), '"', style.separators[1])
        _write(child, style, rng, depth + 1, pieces)
    if unit is not None and members:
        pieces.append("\n" + unit * (depth - 1))
    pieces.append(brackets[1])


def escaped(text: str, escapes: Escapes, rng: random.Random | None = None) -> str:
    """The text between the quotes of a JSON string; `rng` chooses for `odd`."""
    if escapes == "utf8":
        return "".join(
            f"\\u{ord(ch):04x}" if "\ud800" <= ch <= "\udfff" else ch for ch in encode_basestring(text)[1:-1]
        )
    if escapes == "ascii":
        return encode_basestring_ascii(text)[1:-1]
    if escapes == "slashes":
        return encode_basestring_ascii(text)[1:-1].replace("/", "\\/")
    if escapes == "html":
        plain = escaped(text, "utf8")
        return "".join(f"\\u{ord(ch):04x}" if ch in "<>&\u2028\u2029" else ch for ch in plain)
    return "".join(_odd(ch, escapes, rng or random.Random(0)) for ch in text)


def _odd(ch: str, escapes: Escapes, rng: random.Random) -> str:
    plain = encode_basestring_ascii(ch)[1:-1]
    if escapes == "odd" and rng.random() < 0.9:
        return escaped(ch, "utf8")
    if plain == ch and escapes == "upper":
        return ch
    if len(plain) == 1:
        plain = f"\\u{ord(ch):04x}"
    if not plain.startswith("\\u"):
        return plain
    return "".join(f"\\u{one.upper()}" for one in plain.split("\\u")[1:])
