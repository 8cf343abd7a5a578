"""The characters that structure JSON and what models write for them, and the patterns that step over plain text.

Runs of chars are possessive: they never go back over what they have matched. Groups are not, since CPython before
3.11.5 matches possessive groups wrongly; each can match in one way only, so that going back costs little, and every
pattern takes time linear in what it reads.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "ARRAY_OPENERS",
    "BODIES",
    "CHAIN",
    "CLOSERS",
    "COLONS",
    "COMMAS",
    "COMMENT_START",
    "CONTROLS",
    "ENTRY_RUN",
    "FULL_WIDTH_MARKS",
    "HALF_KEY",
    "KEY_AHEAD",
    "KEY_WITHOUT_COLON",
    "LIST_RUN",
    "LITERALS",
    "LITERALS_WINDOW",
    "MEMBER",
    "NUMBER",
    "OBJECT_OPENERS",
    "ODD_SPACES",
    "OPENERS",
    "PADDING_CHARS",
    "QUOTE_ENDS",
    "SEPARATORS",
    "SINGLE_TEXT_RUN",
    "SPACE",
    "SPACES",
    "STRAIGHT",
    "TEXT_RUN",
    "VALUE_LITERAL",
    "WORD",
]

SPACES: Final = "\t\n\v\f\r \x00\x85\xa0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
ODD_SPACES: Final = re.compile(
    f"[{SPACES}]".replace("\t", "").replace("\n", "").replace("\r", "").replace(" ", "") + "|\\\\"
)
PADDING_CHARS: Final = "\x00\t\n\v\f\r \x85\xa0\u200b\u200c\u200d\u2028\u2029\u2060\u3000\ufeff"
SPACE: Final = re.compile(f"[{SPACES}]*+(?:\\\\[nrt][{SPACES}]*+)*")  # also escapes that stand outside of strings
COMMAS: Final = frozenset(",，;；、")
COLONS: Final = frozenset(":=：")
OBJECT_OPENERS: Final = frozenset("{｛")
ARRAY_OPENERS: Final = frozenset("[(［（【")
CLOSERS: Final = {"}": "{", "｝": "{", "]": "[", ")": "[", "］": "[", "）": "[", "】": "["}
FULL_WIDTH_MARKS: Final = frozenset("｛｝［］（）【】：，；、＂＇")
COMMENT_START: Final = frozenset("/#<`~")
SEPARATORS: Final = re.compile(f"[{SPACES},，;；、]*+(?:\\\\[nrt][{SPACES},，;；、]*+)*")
OPENERS: Final = re.compile("[{｛](?:[ \\t\\r\\n]*+[{｛])*")
CHAIN: Final = re.compile(f"[{SPACES},，;}}｝\\]\\)］）]*+(?:\\\\[nrt][{SPACES},，;}}｝\\]\\)］）]*+)*")
CONTROLS: Final = re.compile("[\x00-\x1f]")

# Which characters end a string that one of these began.
QUOTE_ENDS: Final = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": '”“"',
    "”": '”“"',
    "„": '”“"',
    "‘": "’‘'",
    "’": "’‘'",
    "‚": "’‘'",
    "«": "»",
    "＂": "＂",
    "＇": "＇",
}
STRAIGHT: Final = "\"'`"
BODIES: Final = {
    ends: re.compile(rf"[^\\{ends}]*+(?:\\.[^\\{ends}]*+)*", re.DOTALL) for ends in set(QUOTE_ENDS.values())
}

NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?\Z")
WORD: Final = re.compile(f'[^{SPACES},，；、:：={{}}｛｝\\[\\]\\(\\)［］（）【】"“”＂]++')

_WS = "[ \\t\\n\\r]*+"
_ANY = f"[{SPACES}]*+"
_TEXT = '"[^"\\\\\\x00-\\x1f]*+(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\\\\x00-\\x1f]*+)*"'
_SCALAR = f"(?:{_TEXT}|-?(?:0|[1-9][0-9]*+)(?:\\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)"
_PAIR = f"{_WS}{_TEXT}{_WS}:{_WS}{_SCALAR}{_WS}"
_FLAT = f"\\{{{_PAIR}(?:,{_PAIR})*\\}}(?={_WS}(?:,{_WS}[{{\\]]|\\]{_WS}(?:[}},\\]]|\\Z)|\\Z))"

# Strict JSON objects of scalars, one after another in an array: the undamaged part of a damaged text.
ENTRY_RUN: Final = re.compile(f"{_FLAT}(?:{_WS},{_WS}{_FLAT})*")


def _run_of(item: str) -> re.Pattern[str]:
    """At least two of these in an array, each with a comma and another one behind it."""
    return re.compile(f"{item}{_WS},{_WS}(?:{item}{_WS},{_WS})+(?={item}{_WS}[,\\]])")


_IN_TEXT = "\\\\\x00-\x1f\ud800-\udfff"
_PLAIN = "-?(?:0|[1-9][0-9]{0,14}+)|true|false|null"

# Strict strings in a row, the same in single quotes, and arrays of numbers and literals.
TEXT_RUN: Final = _run_of(f'"(?![ \\t\\n\\r{{])[^"{_IN_TEXT}]*+"')
SINGLE_TEXT_RUN: Final = _run_of(f"'(?![ \\t\\n\\r{{])[^'\"{_IN_TEXT}]*+'")
LIST_RUN: Final = _run_of(f"\\[{_WS}(?:(?:{_PLAIN}){_WS}(?:,{_WS}(?:{_PLAIN}){_WS})*)?\\]")

# What can only be a key: a short quoted text or a bare name, then a colon; then the first character of its value.
KEY_AHEAD: Final = re.compile(
    r"(?:[uU]?\"([^\"\\\n]{1,64})\"|[uU]?'([^'\\\n]{1,64})'|[“”„]([^”“\n]{1,64})[”“]|[‘’‚]([^’‘\n]{1,64})[’‘]"
    r"|`([^`\n]{1,64})`|[＂«]([^＂»\n]{1,64})[＂»]|([A-Za-z_$][A-Za-z0-9_$-]{0,63}+))"
    f"{_ANY}(?:=>|[:=：])" + _ANY
)
KEY_WITHOUT_COLON: Final = re.compile(f"[\"']([A-Za-z_][A-Za-z0-9_-]{{0,63}})[\"']{_ANY}[\"'\\[{{]")
# A key that has lost one of its quotes: `name":` or `"name: "`.
HALF_KEY: Final = re.compile(
    f"([A-Za-z_$][A-Za-z0-9_$-]{{0,63}}+)[\"'”’]{_ANY}[:：]|[\"'“‘]([A-Za-z_$][A-Za-z0-9_$-]{{0,63}}+){_ANY}[:：]{_ANY}[\"'“‘\\[{{]"
)
VALUE_LITERAL: Final = re.compile(
    r"(?:true|false|null|True|False|None|undefined|NaN|-?Infinity|-?[0-9.]+(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_])"
)
# Numbers and words of JSON in a row, as in an array without commas; looked at in this many chars.
_LITERAL = f"{VALUE_LITERAL.pattern}[{SPACES}]"
LITERALS: Final = re.compile(f"(?:{_LITERAL}++){{4}}|(?:{_LITERAL}++)*(?:{_LITERAL}*+)?(?:[,，\\]］}}｝)）\"'“]|\\Z)")
LITERALS_WINDOW: Final = 64

_NAME = "[A-Za-z_][A-Za-z0-9_]{0,63}+"
_BEGIN = f"{_ANY}:{_ANY}[\"'\\[{{0-9tfnTFN-]"
_QUOTED_NEXT = f"{_ANY}(?:\"{_NAME}\"|'{_NAME}'){_BEGIN}"
_BARE_NEXT = f"{_ANY}{_NAME}{_BEGIN}"
_LAST = f"\\}}{_ANY}(?:\\]{_ANY}\\}}?+{_ANY}\\Z|,{_ANY}\\{{(?:{_QUOTED_NEXT}|(?(3){_BARE_NEXT}|(?!))))"

# One member with nothing doubtful in it: key, value, and then a comma with another key behind it, or the end.
MEMBER: Final = re.compile(
    f"{_ANY}(?:\"({_NAME})\"|'({_NAME})'|({_NAME})){_ANY}:{_ANY}"
    r"(?:\"([^\"\\]*+(?:\\.[^\"\\]*+)*)\"|'([^'\\]*+)'|(-?(?:0|[1-9][0-9]{0,14}+)|true|false|null))"
    f"{_ANY}(?:(,)(?:(?={_QUOTED_NEXT})|(?(3)(?={_BARE_NEXT})|(?!)))|(?={_LAST}))",
    re.DOTALL,
)
