"""`trimtab parse-args`: ranges on standard output, the diagnosis beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest

GOOD = {"content": [{"startId": "m00001", "endId": "m00002", "summary": "Found it.\nIn two lines.", "topic": "search"}]}
CUT = "{'content': [{'startId': 'm00001', 'endId': 'm00002', summary: 'Found it.',}, {'startId': 'm00003'"


def test_a_good_call_is_printed_with_its_topic(trimtab: Any) -> None:
    """Refs and topic on one line, the summary indented below; the diagnosis says ok."""
    done = trimtab("parse-args", "-", stdin=json.dumps(GOOD).encode())
    assert done.code == 0
    assert done.text == "m00001 to m00002  search\n    Found it.\n    In two lines.\n"
    assert done.err.startswith("ok: 1 range")


def test_a_damaged_call_says_what_was_repaired_and_what_a_model_is_told(trimtab: Any) -> None:
    """The complete entry is there; repairs and the explanation stand on standard error."""
    done = trimtab("parse-args", "-", stdin=CUT.encode())
    assert done.code == 0
    assert done.text.startswith("m00001 to m00002\n    Found it.")
    assert "truncated: 1 range" in done.err
    assert "repaired: " in done.err
    assert "end too early" in done.err


def test_json_holds_everything(trimtab: Any) -> None:
    """`--json` gives ranges with the call's id, the diagnostics, and the explanation."""
    done = trimtab("parse-args", "-", "--json", "--call-id", "call_7", stdin=CUT.encode())
    assert [one["call_id"] for one in done.json["ranges"]] == ["call_7"]
    assert done.json["diagnostics"]["kind"] == "truncated"
    assert done.json["explanation"]


@pytest.mark.parametrize("data", [b"", b"[1, 2]", b"no call at all", b"\xff\xfe\x00"])
def test_no_range_exits_with_1(trimtab: Any, data: bytes) -> None:
    """Where nothing can be used, the exit code says so."""
    done = trimtab("parse-args", "-", stdin=data)
    assert (done.code, done.out) == (1, b"")
    assert "0 ranges" in done.err


def test_debug_is_an_option_as_everywhere(trimtab: Any) -> None:
    """It shows where an error was raised; the help names it."""
    assert trimtab("parse-args", "-", "--debug", stdin=json.dumps(GOOD).encode()).code == 0
    assert "Traceback" in trimtab("parse-args", "missing", "--debug").err
    assert "--debug" in trimtab("parse-args", "--help").text
