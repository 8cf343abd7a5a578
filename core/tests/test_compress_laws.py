"""Compress arguments: what holds for every input, every valid call, and every damage of the known kinds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab.compress import CompressRange, Parsed, explain, parse_compress_args

FRAGMENTS = (
    *"{}[]\"',:\\\n (),;=`“”，：｛",
    *('{"content":[', '{"startRef":"m1","endRef":"m2","summary":"x"}', '"startRef"', '"summary":"', '"}', '"m00001"'),
    *("//", "/*", "*/", "#", "```json\n", "<think>", "</think>", "<tool_call>", "[TOOL_CALLS]compress", '"""', "True"),
    *("\\u", "\\ud83d", "\ud83d", "\ufeff", "\x00", "m1-m2 x\n", "<function=compress><parameter=content>", "Example: "),
)
SOUP = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)
BLANK = " \t\r\n\v\f\x00\x85\xa0\u200b\u2028\u2029\u3000\ufeff"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "startRef", "endRef", "summary", "arguments", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)
TEXT = (st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | SOUP).filter(
    lambda text: bool(text.strip(BLANK)) and not any("\ud800" <= char <= "\udfff" for char in text)
)
REF = st.integers(1, 9999).map(lambda number: f"m{number:05d}")
ENTRY = st.fixed_dictionaries(
    {"startRef": REF, "endRef": REF, "summary": TEXT}, optional={"topic": TEXT, "summaryMaxChars": st.integers(1, 9999)}
)
CALL = st.lists(ENTRY, min_size=1, max_size=4).map(lambda entries: {"content": entries})


def laws(given_value: Any) -> Parsed:
    """Parse; what always holds of the answer."""
    parsed = parse_compress_args(given_value, call_id="c")
    found = parsed.diagnostics
    assert found.ok is bool(parsed.ranges)
    assert found.kind in ("ok", "truncated") if found.ok else found.kind != "ok"
    assert found.invalid_items >= len(found.invalid_reasons)
    for one in parsed.ranges:
        assert isinstance(one, CompressRange)
        assert one.start_ref
        assert one.end_ref
        assert one.summary.strip(BLANK)
        assert one.summary_max_chars is None or one.summary_max_chars > 0
        for text in (one.start_ref, one.end_ref, one.summary, one.topic or ""):
            text.encode()
    explain(found).encode()
    return parsed


def rows(parsed: Parsed) -> list[tuple[Any, ...]]:
    """The ranges as plain tuples."""
    return [(one.start_ref, one.end_ref, one.summary, one.topic, one.summary_max_chars) for one in parsed.ranges]


def wanted(call: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What a valid call says."""
    names = ("startRef", "endRef", "summary", "topic", "summaryMaxChars")
    return [
        tuple(entry.get(name) if name != "topic" or entry.get(name, "").strip(BLANK) else None for name in names)
        for entry in call["content"]
    ]


@settings(max_examples=150, deadline=None)
@given(SOUP | st.text(max_size=60) | JSON | st.binary(max_size=60))
def test_any_input(value: Any) -> None:
    """No text, no bytes and no JSON value raises; what comes out is valid Unicode and consistent."""
    laws(value)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CALL, st.booleans(), st.sampled_from([None, 1]))
def test_a_call_cut_anywhere(call: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    """A valid call cut after every character yields exactly the entries that are complete by then, and says so."""
    text = json.dumps(call, ensure_ascii=ascii_only, indent=indent)
    decode = json.JSONDecoder().raw_decode
    ends, at = [], text.index("[") + 1
    for _ in call["content"]:
        at = text.index("{", at)
        at = decode(text, at)[1]
        ends.append(at)
    everything = wanted(call)
    for end in range(1, len(text)):
        parsed = parse_compress_args(text[:end])
        assert rows(parsed) == everything[: sum(one <= end for one in ends)], text[:end]
        assert (parsed.diagnostics.kind, parsed.diagnostics.invalid_items) == ("truncated", 0), text[:end]
    assert rows(parse_compress_args(text)) == everything


class Spelling:
    """Writes a call as a careless model would: each kind of damage is chosen for the whole text."""

    KINDS = ("single", "smart", "bare", "trailing", "missing", "comments", "raw", "literal", "full", "equals", "tick")

    def __init__(self, seed: random.Random) -> None:
        self.seed = seed
        self.on = {kind: seed.random() < 0.35 for kind in (*self.KINDS, "unbraced", "surplus", "stringified", "texts")}

    def maybe(self, kind: str, share: float = 0.5) -> bool:
        """Whether to do this kind of damage here."""
        return self.on[kind] and self.seed.random() < share

    def quoted(self, text: str, key: bool = False) -> str:
        """A string or key."""
        if key and self.on["bare"]:
            return text
        body = text if self.on["raw"] else text.replace("\n", "\\n").replace("\t", "\\t")
        if self.maybe("smart", 0.7):
            return f"“{body}”"
        mark = "'" if self.on["single"] else "`" if self.on["tick"] and not key else '"'
        return f"{mark}{body}{mark}"

    def space(self) -> str:
        """White space between two things, or none."""
        return self.seed.choice(["", "", " ", "\n", "\t", " \xa0", "\u200b"])

    def comma(self) -> str:
        """What separates two members."""
        return (" " if self.maybe("missing") else "，" if self.maybe("full") else ",") + self.space() + self.comment()

    def comment(self) -> str:
        """A comment, or none."""
        return self.seed.choice(["", " /* c */", " // note\n", " # n\n"]) if self.on["comments"] else ""

    def member(self, name: str, value: str) -> str:
        """A key and its value."""
        colon = "：" if self.maybe("full") else "=" if self.on["equals"] and self.on["bare"] else ":"
        return f"{self.quoted(name, key=True)}{self.space()}{colon}{self.space()}{value}"

    def entry(self, entry: dict[str, str]) -> str:
        """One entry."""
        members = [self.member(name, self.quoted(value)) for name, value in entry.items()]
        body = members[0] + "".join(self.comma() + member for member in members[1:])
        tail = ("," if self.on["trailing"] else "") + self.comment()
        return f"{{{self.space()}{body}{tail}{'' if self.maybe('unbraced') else '}'}"

    def call(self, entries: list[dict[str, str]]) -> str:
        """All of it."""
        texts = [self.entry(entry) for entry in entries]
        array = f"[{self.comment()}{texts[0]}"
        for before, text in pairwise(texts):
            array += ("\n" if before.endswith("}") and self.maybe("missing") else ",") + self.comment() + text
        array += f"{',' if self.on['trailing'] and texts[-1].endswith('}') else ''}{self.comment()}]"
        if self.on["texts"]:
            array = json.dumps(array)
        first = ""
        if self.on["literal"]:
            first = self.member("dry", self.seed.choice(["True", "None", "undefined", "NaN", "false"])) + ","
        text = f"{{{first}{self.member('content', array)}{',' if self.on['trailing'] else ''}}}"
        text += self.seed.choice(["}", "]}", "]"]) if self.on["surplus"] else ""
        return json.dumps(text) if self.on["stringified"] else text


WRAPPERS: list[Callable[[str], str]] = [
    lambda text: text,
    lambda text: f"\ufeff{text}\x00\x00",
    lambda text: f"```json\n{text}\n```",
    lambda text: f"Sure, folding now.\n{text}\nDone.",
    lambda text: f"Folding:\n\n```\n{text}\n```\n\nThat is all {{ok}}.",
    lambda text: f"{text} {{ok}}",
    lambda text: f"<tool_call>\n{text}\n</tool_call>",
    lambda text: f'<tool_call>{{"name":"compress","arguments":{text}}}</tool_call>',
    lambda text: f"<|channel|>commentary to=functions.compress<|message|>{text}<|call|>",
    lambda text: f"[TOOL_CALLS]compress{text}",
    lambda text: f"<think>fold it</think>{text}",
]
PLAIN = st.text(st.sampled_from("abc XYZ.-é日😀\n\t"), min_size=1, max_size=20).filter(
    lambda text: text == text.strip()
)
PLAIN_ENTRY = st.fixed_dictionaries({"startRef": REF, "endRef": REF, "summary": PLAIN}, optional={"topic": PLAIN})


@settings(max_examples=150, deadline=None)
@given(st.lists(PLAIN_ENTRY, min_size=1, max_size=3), st.randoms(use_true_random=False), st.sampled_from(WRAPPERS))
def test_any_damage(entries: list[dict[str, str]], seed: random.Random, wrap: Callable[[str], str]) -> None:
    """A valid call under any composition of the repairs, in any wrapper, yields the same ranges."""
    text = wrap(Spelling(seed).call(entries))
    parsed = laws(text)
    assert rows(parsed) == wanted({"content": entries}), text
    assert (parsed.diagnostics.kind, parsed.diagnostics.invalid_items) == ("ok", 0), text


@settings(max_examples=120, deadline=None)
@given(st.lists(PLAIN_ENTRY, min_size=1, max_size=3), st.data())
def test_inner_quotes(entries: list[dict[str, str]], data: st.DataObject) -> None:
    """Words in unescaped quotes stay in their summary, wherever they stand."""
    quoted = ['"Done"', '"a", "b" and', '<a href="x">', '"}', '{"ok":false}', '["a","b"]', '"MODE": prod', "it's", '"?']
    for entry in entries:
        words = data.draw(st.lists(st.sampled_from([*quoted, "then", "line\nbreak"]), min_size=1, max_size=4))
        entry["summary"] = " ".join(["It", *words, "here."])
    text = json.dumps({"content": entries}, ensure_ascii=False).replace('\\"', '"')
    assert rows(parse_compress_args(text)) == wanted({"content": entries}), text


@settings(max_examples=60, deadline=None)
@given(
    st.lists(PLAIN_ENTRY, min_size=2, max_size=3),
    st.sampled_from([" oops ", ", oops, ", ";", " | ", ", ...,", " and "]),
)
def test_junk_between_entries(entries: list[dict[str, str]], junk: str) -> None:
    """What stands between entries that are whole does not reach into them."""
    text = f'{{"content":[{junk.join(json.dumps(entry) for entry in entries)}]}}'
    assert rows(parse_compress_args(text)) == wanted({"content": entries}), text


def test_depth() -> None:
    """Nesting of any depth neither raises nor hides the entries beside it."""
    entry = '{"startRef":"m1","endRef":"m2","summary":"x"}'
    for levels in (900, 3_000, 15_000):
        deep = "[" * levels + "]" * levels
        assert len(parse_compress_args(f'{{"extra":{deep},"content":[{entry}]}}').ranges) == 1
    for unit in ("[", "{", '{"a":', '[{"', "{'"):
        laws(unit * 30_000)
