"""The patterns of the quick lane: what is plain JSON, and the kinds of damage that can be read in one way only.

Their groups are possessive, so that each is linear without a thought. CPython before 3.11.5 matches such groups
wrongly, and has no quick lane.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "BAD",
    "BARE_KEY",
    "BARE_PAIRS",
    "BARE_RUN",
    "CLEAN",
    "COMMENT",
    "CUT",
    "DOUBTED",
    "DROPPED",
    "FIRST_MEMBERS",
    "FLAT",
    "HALF",
    "HEAD",
    "INNER_QUOTE",
    "LAST_PAIR",
    "LITERAL",
    "LITERALS",
    "LOOSE_RUN",
    "MEMBERS",
    "MENDED",
    "NO_COLON",
    "ONE",
    "OPEN_ENTRY",
    "OPEN_RUN",
    "REST",
    "SINGLE",
    "SINGLE_BAD",
    "SINGLE_KEY",
    "SINGLE_RUN",
    "SMART",
    "SPACE",
    "SURPLUS",
    "SURROGATE",
    "TICKED",
    "TRAILING",
    "TRIPLE",
]

_WS: Final = "[ \\t\\n\\r]*+"
_NAME: Final = "[A-Za-z_][A-Za-z0-9_]{0,63}+"
_GOOD: Final = (
    '(?:["\\\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2})'
)
_BODY: Final = f'[^"\\\\\ud800-\udfff]*+(?:\\\\{_GOOD}[^"\\\\\ud800-\udfff]*+)*+'
_TEXT: Final = f'"{_BODY}"'
_SCALAR: Final = "(?:-?(?:0|[1-9][0-9]{0,17}+)(?:\\.[0-9]{1,17}+)?+(?:[eE][+-]?[0-9]{1,2}+)?+|true|false|null)"
_KEY: Final = '"[^"\\\\\n\ud800-\udfff]{1,64}+"'
_PAIR: Final = f"{_WS}{_KEY}{_WS}:{_WS}(?:{_TEXT}|{_SCALAR}){_WS}"
_FLAT: Final = f"\\{{{_PAIR}(?:,{_PAIR})*+\\}}"
_BEGIN: Final = "(?:[\"'“\\[{0-9-]|(?:true|false|null|True|False|None|undefined|NaN)(?![A-Za-z0-9_]))"
_KEY_NEXT: Final = f'"{_NAME}"{_WS}:{_WS}{_BEGIN}'
# Keys that are keys also where the text around them leaves a doubt.
_SURE_KEY: Final = (
    f'"(?:startRef|startId|start_ref|start_id|endRef|endId|end_ref|end_id|messageId|topic|summary|content)"{_WS}:'
)
_TAIL: Final = "[}\\]][ \\t\\n\\r}\\]]*+"
_TAG: Final = "```|~~~|</|<[|｜]|\\[/|data:"
_ASIDE: Final = "/\\*[^*\"']*+\\*/"  # a comment that leaves no doubt where it ends
_TAILS: Final = f"{_TAIL}(?:{_ASIDE}[ \\t\\n\\r}}\\]]*+)?+"
_AFTER: Final = f"{_TAILS}(?:,[ \\t\\n\\r,}}\\]]*+(?:\\Z|(?:\\{{{_WS})?+{_KEY_NEXT})|\\Z|\\{{{_WS}{_SURE_KEY}|{_TAG})"
_AFTER_DOUBT: Final = f"{_TAIL}(?:,[ \\t\\n\\r,}}\\]]*+(?:\\Z|(?:\\{{{_WS})?+{_SURE_KEY})|\\Z|{_TAG})"
_LAST_COMMENT: Final = "(?://|#)[^\\n\"'`{}\\[\\]]*+\\n?\\Z"
_CLOSED: Final = f"\\][ \\t\\n\\r,}}\\]]*+(?:{_ASIDE}[ \\t\\n\\r}}\\]]*+)?+"
_FOLLOW: Final = (
    f"(?={_WS}(?:{_ASIDE}{_WS})?+(?:,{_WS}(?:[{{\\],/#]|\\Z)"
    f"|{_CLOSED}(?:\\Z|\\{{{_WS}{_SURE_KEY}|{_KEY_NEXT}|{_TAG}|{_LAST_COMMENT})|\\Z))"
)
_ENDS: Final = f"(?={_WS}(?:,{_WS}(?:,{_WS})*+(?:\\{{{_WS})?+{_KEY_NEXT}|(?:,{_WS})*+{_AFTER}))"
CLEAN: Final = re.compile(
    f'(?:[ \\t\\n\\r]++|"{_NAME}"{_WS}:|{_FLAT}{_FOLLOW}(?:{_WS},{_WS}{_FLAT}{_FOLLOW})*+(?:{_WS},(?={_WS}\\{{))?+'
    f"|{_TEXT}{_ENDS}|{_SCALAR}(?={_WS}[,}}\\]])"
    f"|\\[{_WS}(?:{_SCALAR}{_WS}(?:,{_WS}{_SCALAR}{_WS})*+)?+\\](?={_WS}[,}}\\]])"
    f"|,(?={_WS}[^ \\t\\n\\r,}}\\]{{]))*+(?:{_FLAT}{_WS}(?=\\{{{_WS}{_SURE_KEY}))?+"
)
FLAT: Final = re.compile(_FLAT)
HEAD: Final = re.compile(f'\\{{{_WS}"{_NAME}"{_WS}:{_WS}\\[')
ONE: Final = re.compile(f"{_FLAT}(?:{_FOLLOW}|(?={_WS}\\{{{_WS}{_SURE_KEY}))")

# A string with damage inside; its inner quotes are those with a word and no colon behind them.
_BARE_NEXT: Final = f"{_WS}[A-Za-z_$][A-Za-z0-9_$-]*+[\"']?+{_WS}[:=：]"
_INNER: Final = (
    f'"(?=[A-Za-z0-9.;!?>]|"{_WS}{_AFTER_DOUBT}|[ ][A-Za-z0-9(&]|,[ ](?:[A-Za-z0-9]|"{_NAME}"[ ][A-Za-z]))'
    f"(?!,?+{_BARE_NEXT})"
)
_STRING_BEHIND: Final = f'(?:"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"{_WS}[,}}\\]]|[\\[{{0-9-]|true|false|null)'
DOUBTED: Final = re.compile(
    f'"([^"\\\\]*+(?:(?:\\\\.|(?<![\\[{{ ]){_INNER}|(?<![\\[{{][ ])(?<=[ ]){_INNER})[^"\\\\]*+)*+)"'
    f'{_WS}(?:(?=,{_WS}"{_NAME}"{_WS}:{_WS}{_STRING_BEHIND}|(?:,{_WS})?+{_AFTER_DOUBT})|(?={_KEY_NEXT}))',
    re.DOTALL,
)
MENDED: Final = re.compile(f'((?:[^\\\\"]++|\\\\{_GOOD})*+)([\\\\"])')
SINGLE_BAD: Final = re.compile(f"\\\\(?!{_GOOD})")
BAD: Final = re.compile(f"(?:[^\\\\]++|\\\\{_GOOD})*+\\\\")
INNER_QUOTE: Final = re.compile('[^\\\\"]*+(?:\\\\.[^\\\\"]*+)*+"', re.DOTALL)
SURROGATE: Final = re.compile("\\\\u[dD][89a-fA-F]|[\ud800-\udfff]")
SURPLUS: Final = re.compile("[}\\] \\t\\r\\n]{1,100}+\\Z")
SMART: Final = re.compile(f'“([^“”"\\\\\ud800-\udfff]*+)”{_ENDS}')

_SINGLE_BODY: Final = "'[^'\"\\\\\ud800-\udfff]*+'"
_SINGLE_PAIR: Final = f"{_WS}'[^'\"\\\\\n\ud800-\udfff]{{1,64}}+'{_WS}:{_WS}(?:{_SINGLE_BODY}|{_SCALAR}){_WS}"
_SINGLE_FLAT: Final = f"\\{{{_SINGLE_PAIR}(?:,{_SINGLE_PAIR})*+\\}}{_FOLLOW}"
SINGLE_RUN: Final = re.compile(f"{_SINGLE_FLAT}(?:{_WS},{_WS}{_SINGLE_FLAT})*+")
# The plain members of an object; in group 1 its end, where it and those after it have a comma too many there.
_TRAILING_FLAT: Final = f"\\{{(?:{_PAIR},)++{_WS}\\}}{_FOLLOW}"
FIRST_MEMBERS: Final = re.compile(f"\\{{(?:{_PAIR},)*+{_WS}(?:(\\}}){_FOLLOW}(?:{_WS},{_WS}{_TRAILING_FLAT})*+)?+")
TRAILING: Final = re.compile(f'(?<=[^\\\\]"),(?={_WS}\\}})')
_LOOSE: Final = '"[^"\\\\\ud800-\udfff]*+(?:\\\\[^u\n][^"\\\\\ud800-\udfff]*+)*+"'
_LOOSE_PAIR: Final = f"{_WS}{_KEY}{_WS}:{_WS}(?:{_LOOSE}|{_SCALAR}){_WS}"
_LOOSE_FLAT: Final = f"\\{{{_LOOSE_PAIR}(?:,{_LOOSE_PAIR})*+\\}}{_FOLLOW}"
LOOSE_RUN: Final = re.compile(f"{_LOOSE_FLAT}(?:{_WS},{_WS}{_LOOSE_FLAT})*+")
_NEXT_ENTRY: Final = f",(?={_WS}\\{{{_WS}{_SURE_KEY})"
OPEN_RUN: Final = re.compile(f"(?:\\{{{_PAIR}(?:,{_PAIR})*+{_NEXT_ENTRY}{_WS})++")
OPEN_ENTRY: Final = re.compile(_NEXT_ENTRY)
_BARE_PAIR: Final = f"{_WS}({_NAME})({_WS}:{_WS}(?:{_TEXT}|{_SCALAR}))"
_BARE_FLAT: Final = f"\\{{{_BARE_PAIR}{_WS}(?:,{_BARE_PAIR}{_WS})*+\\}}{_FOLLOW}".replace(f"({_NAME})", _NAME)
BARE_RUN: Final = re.compile(f"{_BARE_FLAT}(?:{_WS},{_WS}{_BARE_FLAT})*+")
BARE_PAIRS: Final = re.compile(f"({_NAME})({_WS}:{_WS}(?:{_TEXT}|{_SCALAR}))")
_SINGLE_NEXT: Final = f"'{_NAME}'{_WS}:{_WS}{_BEGIN}"
_SINGLE_AFTER: Final = (
    f"{_TAIL}(?:,[ \\t\\n\\r,}}\\]]*+(?:\\Z|(?:\\{{{_WS})?+{_SINGLE_NEXT})|\\Z|{_SINGLE_NEXT}|```|</)"
)
_SINGLE_ENDS: Final = f"(?={_WS}(?:,{_WS}{_SINGLE_NEXT}|(?:,{_WS})*+{_SINGLE_AFTER}))"
SINGLE: Final = re.compile(f"'([^'\\\\]*+(?:\\\\.[^'\\\\]*+)*+)'{_SINGLE_ENDS}", re.DOTALL)
SINGLE_KEY: Final = re.compile(f"'({_NAME})'{_WS}:")
BARE_KEY: Final = re.compile(f"({_NAME}){_WS}:(?={_WS}{_BEGIN})")
LITERALS: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null", "NaN": "null"}
LITERAL: Final = re.compile(f"({'|'.join(LITERALS)})(?={_WS}[,}}\\]])")
COMMENT: Final = re.compile("//[^\\n]*+\\n|/\\*(?:[^*]|\\*(?!/))*+\\*/|#[^\\n]*+\\n")
SPACE: Final = re.compile(_WS)
DROPPED: Final = re.compile(f"{_WS}[}}\\],]")
NO_COLON: Final = re.compile(f'"({_NAME})"{_WS}(?=[\\[{{])')
TICKED: Final = re.compile(f'`([^`"\\\\\ud800-\udfff]*+)`{_ENDS}')
TRIPLE: Final = re.compile(f'"""([^"\\\\\ud800-\udfff]++)"""{_ENDS}')
MEMBERS: Final = re.compile(f'(?:{_PAIR},(?={_WS}(?:["A-Za-z_]|\\Z)))*+')
_LAST: Final = f"{_WS}{_KEY}{_WS}:{_WS}{_TEXT}{_WS}"
_HALVES: Final = (
    f'{_WS}(?:"([^"\\\\\x00-\\x1f]{{1,64}}+)"{_WS}:{_WS}(?:"([^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+)\\\\?+|[0-9]*+)?+'
    f'|"{_NAME}"{_WS}|"(?:{_NAME})?+)?+'
)
LAST_PAIR: Final = re.compile(f"{_LAST}\\Z")
HALF: Final = re.compile(f"{_HALVES}\\Z", re.DOTALL)
# A call with nothing wrong in it but that the text ends inside an entry.
CUT: Final = re.compile(
    f'\\{{{_WS}"{_NAME}"{_WS}:{_WS}\\[{_WS}(?:{_FLAT}{_WS},{_WS}(?=\\{{))*+'
    f'(\\{{(?:{_PAIR},(?={_WS}(?:["A-Za-z_]|\\Z)))*+)(?:({_LAST})|{_HALVES})\\Z',
    re.DOTALL,
)
REST: Final = re.compile(f"[ \\t]*+(?:\\n|{_LAST_COMMENT})|[ \\t\\n\\r,}}\\]]*+(?:\\Z|\\{{{_WS}{_SURE_KEY}|{_TAG})")
