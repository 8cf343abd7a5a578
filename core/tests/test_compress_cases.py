"""Compress arguments: every recorded case of what models sent."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compress import CompressRange, explain, parse_compress_args

FIELD_NAMES = {"startId": "start_ref", "endId": "end_ref", "summary": "summary"}


def as_expected(found: CompressRange) -> dict[str, Any]:
    """A range as the cases write it: absent where it is None."""
    fields = {
        "start_ref": found.start_ref,
        "end_ref": found.end_ref,
        "summary": found.summary,
        "topic": found.topic,
        "summary_max_chars": found.summary_max_chars,
    }
    return {name: value for name, value in fields.items() if value is not None}


@pytest.mark.cases("compress-args.jsonl")
def test_a_recorded_call(case: dict[str, Any]) -> None:
    """Ranges, kind and count of unusable entries are right, and so are the facts about the input."""
    given, expect = case["input"], case["expect"]
    parsed = parse_compress_args(given, call_id="call-7")
    found = parsed.diagnostics
    assert [as_expected(one) for one in parsed.ranges] == expect["ranges"]
    assert found.kind in [expect["kind"], *expect.get("kind_also", [])]
    assert found.invalid_items == expect["invalid_items"]
    assert all(one.call_id == "call-7" for one in parsed.ranges)
    assert found.ok is bool(expect["ranges"])
    if isinstance(given, str):
        assert (found.raw_prefix, found.length) == (given[:800], len(given))
    else:
        assert (found.raw_prefix, found.length) == (None, None)
        assert list(found.keys) == (list(given) if isinstance(given, dict) else [])


@pytest.mark.cases("compress-args.jsonl")
def test_a_recorded_call_as_bytes(case: dict[str, Any]) -> None:
    """The same text as UTF-8 bytes gives the same."""
    given = case["input"]
    if isinstance(given, str) and "\ud83d" not in given:
        assert parse_compress_args(given.encode()) == parse_compress_args(given)


@pytest.mark.cases("field-reports.jsonl", area="args")
def test_a_reported_fault(case: dict[str, Any]) -> None:
    """A fault from a public report does not happen here."""
    expect = case["expect"]
    parsed = parse_compress_args(case["input"])
    found = parsed.diagnostics
    wanted = [{FIELD_NAMES[name]: value for name, value in one.items()} for one in expect["ranges"]]
    got = [{name: getattr(one, name) for name in FIELD_NAMES.values()} for one in parsed.ranges]
    assert got == wanted
    assert found.kind in [expect["kind"], *expect.get("kind_also_ok", [])]
    assert found.invalid_items == expect.get("invalid_items", found.invalid_items)
    for index in expect.get("invalid_reasons_for", []):
        assert any(reason.startswith(f"entry {index}: ") for reason in found.invalid_reasons)
    for word in expect.get("error_must_mention", []):
        assert word in explain(found)
