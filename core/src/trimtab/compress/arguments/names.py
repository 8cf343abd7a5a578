"""The names under which models write the fields of a compress call, and what may stand in them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from trimtab.types import Json

__all__ = [
    "ARGUMENTS",
    "ENVELOPE",
    "KEYWORDS",
    "KNOWN",
    "LISTS",
    "MAX_CHARS",
    "NAMES",
    "NESTS",
    "REF",
    "SLOTS",
    "SPACES",
    "SUMMARY",
    "TOPIC",
    "field",
    "is_foreign",
    "named_values",
    "names_compress",
    "narrowed",
    "plain",
    "ref_of",
    "roles_of",
]

SPACES: Final = " \t\r\n\v\f\x00\x85\xa0\u200b\u2028\u2029\u3000\ufeff"

# In the order in which they win. The weak ones mean a ref only where their value looks like one.
_STARTS: Final = ("startref", "startid", "startmessageid", "startmessageref", "start")
_ENDS: Final = ("endref", "endid", "endmessageid", "endmessageref", "end")
_BOTH: Final = ("messageid", "messageref")
_WEAK_STARTS: Final = (
    *("startmessage", "startmsgid", "startmsg", "fromref", "fromid", "from"),
    *("firstref", "firstid", "first", "beginref", "beginid", "begin"),
)
_WEAK_ENDS: Final = ("endmessage", "endmsgid", "endmsg", "toref", "toid", "to", "lastref", "lastid", "last")
_WEAK_BOTH: Final = ("message", "msgid", "ref")

SLOTS: Final = ("content", "ranges")
SUMMARY: Final = "summary"
TOPIC: Final = "topic"
MAX_CHARS: Final = "summarymaxchars"

# Where an envelope holds the arguments of the call and the tool's name, and what else stands in envelopes.
ARGUMENTS: Final = ("arguments", "parameters", "input", "args", "params", "actioninput", "toolinput", "kwargs")
NAMES: Final = ("name", "toolname", "tool", "action", "recipientname", "function", "method")
NESTS: Final = ("function", "functioncall", "tooluse", "toolcall")
LISTS: Final = ("toolcalls", "tooluses", "calls", "functioncalls")
_IDS: Final = ("type", "id", "index", "callid", "toolcallid", "tooluseid", "status", "role", "jsonrpc")
ENVELOPE: Final = frozenset([*NAMES, *_IDS])
KNOWN: Final = frozenset(
    [*_STARTS, *_ENDS, *_BOTH, *SLOTS, *ARGUMENTS[:3], SUMMARY, TOPIC, MAX_CHARS, "startmessage", "endmessage"]
) - {"start", "end", "input"}

KEYWORDS: Final = KNOWN | {"start", "end"}  # where an equals sign follows

_MEANT: Final = (
    KNOWN | ENVELOPE | {*ARGUMENTS, *NESTS, *LISTS, "parts", *_STARTS, *_ENDS, *_WEAK_STARTS, *_WEAK_ENDS, *_WEAK_BOTH}
)
_MANY: Final = 64

_PLAIN: Final = str.maketrans(
    {"_": "", "-": "", " ": "", **{chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)}}
)
_KEPT_CHARS: Final = 40
REF: Final = re.compile("[mMbB][0-9]{1,7}\\Z")
_AROUND: Final = SPACES + "\"'`“”‘’.,:;()[]{}<>"
_SPACED_REF: Final = re.compile("([mMbB])[ \\t_-]+([0-9]{1,7})\\Z")
_STARTING: Final = frozenset([*_STARTS, *_BOTH])
_ENDING: Final = frozenset(_ENDS)
_WEAK_STARTING: Final = frozenset([*_WEAK_STARTS, *_WEAK_BOTH])
_WEAK_ENDING: Final = frozenset(_WEAK_ENDS)
_REFS: Final = frozenset([*_STARTS, *_ENDS, *_BOTH, *_WEAK_STARTS, *_WEAK_ENDS, *_WEAK_BOTH])
_OTHER_ROLES: Final = {SUMMARY: SUMMARY, TOPIC: "more", MAX_CHARS: "more"}


def plain(name: str) -> str:
    """A key in lower case and without separators: `start_ref`, `StartRef` and `start-ref` are one name."""
    return _plain(name) if len(name) <= _KEPT_CHARS else name.translate(_PLAIN)


@lru_cache(maxsize=512)  # the keys of a call come again with each entry, and those of calls are few
def _plain(name: str) -> str:
    return name.translate(_PLAIN)


def narrowed(value: dict[str, Json]) -> dict[str, Json]:
    """An object of very many keys with only those that mean something, and one or two others."""
    if len(value) <= _MANY:
        return value
    found = {key: item for key, item in value.items() if plain(key) in _MEANT}
    return dict([*list(value.items())[:2], *found.items()])


def is_foreign(value: dict[str, Json]) -> bool:
    """Whether no key of an object means anything in a call or around it."""
    return _MEANT.isdisjoint(map(plain, value))


def field(entry: dict[str, Json], name: str) -> Json:
    """The value under this name, spelt exactly so or otherwise; None where there is none."""
    found = entry.get(name)
    if found is not None:
        return found
    for key, value in entry.items():
        if value is not None and plain(key) == name:
            return value
    return None


def roles_of(entry: dict[str, Json]) -> dict[str, str]:
    """What each key of an entry means: "start", "end", "summary" or "more" (topic and size); "": nothing."""
    names = {key: plain(key) for key in entry}
    starts, ends = _STARTING, _ENDING
    if starts.isdisjoint(names.values()):
        starts = _WEAK_STARTING
    if ends.isdisjoint(names.values()):
        ends = _WEAK_ENDING
    return {
        key: "start" if name in starts else "end" if name in ends else _OTHER_ROLES.get(name, "")
        for key, name in names.items()
    }


def ref_of(entry: dict[str, Json], which: str) -> str:
    """The start or end ref of an entry: the first of its names with a text in it; "": there is none."""
    by_name = {plain(key): entry[key] for key in reversed(entry)}
    if _REFS.isdisjoint(by_name):
        return ""
    strong, weak = (_STARTS, _WEAK_STARTS) if which == "start" else (_ENDS, _WEAK_ENDS)
    for name in (*strong, *_BOTH):
        text = _text(by_name.get(name))
        if text:
            return text
    for name in (*weak, *_WEAK_BOTH):
        text = _text(by_name.get(name))
        if text and REF.match(text):
            return text
    return ""


def named_values(entry: dict[str, Json], which: str) -> list[Json]:
    """What stands under all the names of an entry's start or end ref that can mean nothing else."""
    names = {*(_STARTS if which == "start" else _ENDS), *_BOTH}
    return [value for key, value in entry.items() if plain(key) in names]


def _text(value: Json) -> str:
    """The ref that a value is, without what may stand around or inside it; a text that looks like none as it is."""
    if not isinstance(value, str):
        return ""
    text = value.strip(SPACES)
    spaced = _SPACED_REF.match(text)
    if spaced is not None:
        return f"{spaced[1]}{spaced[2]}"
    bare = text.strip(_AROUND)
    return bare if REF.match(bare) else text


def names_compress(name: Json) -> bool:
    """Whether a tool's name is that of the compress tool, with whatever prefix a host puts before it."""
    if not isinstance(name, str):
        return False
    last = name.strip(SPACES).replace(":", ".").split(".")
    words = plain(last[-1]) if not last[-1].isdigit() or len(last) < 2 else plain(last[-2])
    return words.endswith("compress") and not words.endswith("decompress")
