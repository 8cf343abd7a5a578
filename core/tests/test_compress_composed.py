"""Compress arguments, decoded: a valid call in any composition of names, shapes, wrappers and envelopes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.compress import Parsed, explain, parse_compress_args

Row = tuple[str, str, str, str | None]
REF = st.integers(1, 9_999).map(lambda number: f"m{number:05d}")
WORDS = st.text(st.sampled_from("ab XYZ.\"'{}[]:,-é日😀\n"), min_size=1, max_size=20).filter(
    lambda text: bool(text.strip()) and text.strip() == text
)
ENTRIES = st.lists(  # the same document twice counts once, so no two are the same
    st.tuples(REF, REF, WORDS, st.none() | WORDS), min_size=1, max_size=3, unique_by=lambda one: one[:3]
)
NAMES = [
    ("startId", "endId", "summary"),
    ("startRef", "endRef", "summary"),
    ("start_ref", "end_ref", "Summary"),
    ("START-ID", "End_Id", "SUMMARY"),
    ("from", "to", "summary"),
    ("startMessageId", "end", "summary"),
]
DECOY = {"startId": "m90001", "endId": "m90002", "summary": "A decoy."}
EXTRAS = {
    "note": "x", "dry": True, "meta": {"content": [DECOY]}, "example": DECOY, "summary_max_chars": None, "topic": None
}  # fmt: skip
Change = Callable[[Any], Any]
CONTENTS: list[Change] = [
    list,
    json.dumps,
    lambda entries: json.dumps(entries, ensure_ascii=False, indent=1),
    lambda entries: [json.dumps(one) for one in entries],
    lambda entries: {str(place): one for place, one in enumerate(entries)},
    lambda entries: [entries],
    lambda entries: {"ranges": entries},
    lambda entries: {"content": entries, "note": "inside"},
    lambda entries: entries[0] if len(entries) == 1 else entries,
    lambda entries: "\n".join(map(json.dumps, entries)),
]
TEXT_BLOCK = {"type": "text", "text": "m1-m2 x\ny"}


def rows(parsed: Parsed) -> list[Row]:
    """The ranges as tuples."""
    return [(one.start_ref, one.end_ref, one.summary, one.topic) for one in parsed.ranges]


def used(name: str, value: Any) -> dict[str, Any]:
    """A call of a tool as one provider has it."""
    return {"type": "tool_use", "id": "t", "name": name, "input": value}


def called(value: Any) -> dict[str, Any]:
    """A call of compress as another has it."""
    return {"id": "c", "type": "function", "function": {"name": "compress", "arguments": value}}


WRAPPERS: list[Change] = [
    lambda value: value,
    json.dumps,
    lambda value: {"args": value},
    lambda value: {"_": json.dumps(value)},
    lambda value: {"name": "compress", "arguments": value},
    lambda value: {"name": "mcp__acp__compress", "arguments": json.dumps(value)},
    lambda value: called(json.dumps(value)),
    lambda value: {"type": "function_call", "call_id": "c", "name": "compress", "arguments": json.dumps(value)},
    lambda value: {"role": "assistant", "content": "I fold {it}.", "tool_calls": [called(value)]},
    lambda value: {"role": "assistant", "content": [TEXT_BLOCK, used("compress", value)]},
    lambda value: [used("read", DECOY), used("compress", value)],
    lambda value: [{"role": "user", "content": [DECOY]}, {"name": "compress", "arguments": value}],
]
DECOY_WRAPPERS: list[Change] = [
    lambda value: {"name": "read", "arguments": value},
    lambda value: {"type": "tool_result", "content": value},
    lambda value: {"role": "user", "content": value},
    lambda value: {"example": value},
    lambda value: {"tool_output": value},
    lambda value: {"a": value, "b": 1},
    lambda value: [{"type": "tool_use", "name": "read", "input": value}],
]


def spelt(entries: list[tuple[str, str, str, str | None]], names: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Entries as objects, under these names."""
    return [{**dict(zip(names, one, strict=False)), **({} if one[3] is None else {"topic": one[3]})} for one in entries]


ARGUMENTS = st.builds(
    lambda entries, names, change, slot, extras: (
        entries,
        {**{key: EXTRAS[key] for key in extras if key[0] < "m"}, slot: change(spelt(entries, names)),
         **{key: EXTRAS[key] for key in extras if key[0] >= "m"}},
    ),
    ENTRIES, st.sampled_from(NAMES), st.sampled_from(CONTENTS), st.sampled_from(["content", "ranges", "Content"]),
    st.sets(st.sampled_from(sorted(EXTRAS)), max_size=3),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(ARGUMENTS, st.lists(st.sampled_from(WRAPPERS), max_size=2), st.booleans())
def test_any_composition(arguments: tuple[Any, Any], wrappers: list[Change], as_text: bool) -> None:
    """A valid call under any names, in any content's form, with keys beside it, in wrappers and envelopes, gives
    exactly its entries.
    """
    entries, value = arguments
    for wrap in wrappers:
        value = wrap(value)
    if as_text:
        value = json.dumps(value, ensure_ascii=False)
    parsed = parse_compress_args(value)
    assert rows(parsed) == entries, value
    assert (parsed.diagnostics.kind, parsed.diagnostics.invalid_items) == ("ok", 0), value
    assert explain(parsed.diagnostics) == "compress took all entries."


@settings(max_examples=150, deadline=None)
@given(ARGUMENTS, st.lists(st.sampled_from(WRAPPERS), max_size=1), st.sampled_from(DECOY_WRAPPERS), st.booleans())
def test_any_decoy(arguments: tuple[Any, Any], wrappers: list[Change], decoy: Change, as_text: bool) -> None:
    """The same inside what is no call gives nothing."""
    value = arguments[1]
    for wrap in wrappers:
        value = wrap(value)
    value = decoy(value)
    if as_text:
        value = json.dumps(value)
    parsed = parse_compress_args(value)
    assert (parsed.ranges, parsed.diagnostics.invalid_items) == ((), 0), value


@settings(max_examples=150, deadline=None)
@given(ENTRIES, st.sampled_from(NAMES), st.sampled_from([json.dumps, repr]), st.randoms(use_true_random=False))
def test_any_brackets_lost(entries: Any, names: tuple[str, str, str], write: Callable[[Any], str], seed: Any) -> None:
    """Between any of the entries the brackets may be lost: all come out whole, or are counted."""
    texts = [write(one) for one in spelt(entries, names)]
    joined = texts[0]
    for text in texts[1:]:
        joined = f"{joined[:-1]}, {text[1:]}" if seed.random() < 0.7 else f"{joined}, {text}"
    parsed = parse_compress_args(f"[{joined}]")
    assert [one[:3] for one in rows(parsed)] == [one[:3] for one in entries], joined
    assert parsed.diagnostics.invalid_items == 0
