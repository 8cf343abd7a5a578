"""`trimtab status` and `trimtab rebuild` on recorded conversations of every protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trimtab.compress import load_state, rebuild_state
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.wire import protocols

LONG = "a line of an output\n" * 400
SUMMARY = "The files were read; none of them names the parser. " * 3
TURNS = [
    *[Turn(said=f"go {n}", calls=(Told(call_id=f"r{n}", name="read", arguments={}, output=LONG),)) for n in range(4)],
    Turn(
        said="fold it",
        calls=(
            Told(
                call_id="c1",
                name="compress",
                arguments={"content": [{"startId": "m00001", "endId": "m00003", "summary": SUMMARY, "topic": "files"}]},
                output="Compressed:\n- b1",
            ),
        ),
    ),
    Turn(said="and now?"),
]


@pytest.fixture(params=sorted(WRITERS))
def recorded(request: pytest.FixtureRequest) -> tuple[str, Any]:
    """The conversation in each protocol: its name and the request."""
    return request.param, WRITERS[request.param](TURNS)


def test_the_state_is_that_of_the_library(trimtab: Any, recorded: tuple[str, Any]) -> None:
    """What `rebuild` prints is what `rebuild_state` gives; one block is found in every protocol."""
    name, request = recorded
    done = trimtab("rebuild", "-", "--protocol", name, stdin=json.dumps(request).encode())
    assert done.code == 0, done.err
    state = load_state(done.json)
    assert state == rebuild_state(request, protocol=name)
    assert [block.topic for block in state.active] == ["files"]
    assert "1 call replayed, 0 of them in vain, 1 block shown" in done.err


def test_the_request_is_one_that_can_be_sent(trimtab: Any, recorded: tuple[str, Any]) -> None:
    """With `--request` the folded conversation is printed: the summary is in it, what it stands for is not."""
    name, request = recorded
    done = trimtab("rebuild", "-", "--request", "--protocol", name, stdin=json.dumps(request).encode())
    assert protocols[name].check_pairs(done.json) == []
    assert "<folded b1" in done.text
    assert "go 0" not in done.text
    assert "go 2" in done.text


def test_status_shows_what_is_folded(trimtab: Any, recorded: tuple[str, Any]) -> None:
    """Sizes, blocks, and what can be folded now; the same as data."""
    name, request = recorded
    data = json.dumps(request).encode()
    done = trimtab("status", "-", "--protocol", name, stdin=data)
    assert done.code == 0, done.err
    assert " of them folded" in done.text
    assert "b1" in done.text
    assert "files" in done.text
    report = trimtab("status", "-", "--json", "--protocol", name, stdin=data).json
    assert report["folded"] > 0
    assert report["messages"] > report["folded"]
    assert [block["topic"] for block in report["blocks"]] == ["files"]


def test_json_lines_and_a_stored_state(trimtab: Any, tmp_path: Path) -> None:
    """A message on each line is a conversation too; a stored state is gone on from."""
    messages = WRITERS["anthropic"](TURNS)["messages"]
    lines = "\n".join(json.dumps(one) for one in messages)
    (tmp_path / "c.jsonl").write_text(lines, encoding="utf-8")
    whole = trimtab("rebuild", "c.jsonl", "--protocol", "anthropic")
    (tmp_path / "state.json").write_text(whole.text, encoding="utf-8")
    again = trimtab("rebuild", "c.jsonl", "--protocol", "anthropic", "--state", "state.json")
    assert again.json == whole.json


def test_settings_count(trimtab: Any) -> None:
    """Each option does what it says."""
    data = json.dumps(WRITERS["anthropic"](TURNS)).encode()

    def pending(*words: str) -> list[Any]:
        return list(trimtab("status", "-", "--json", *words, stdin=data).json["pending"])

    assert pending()
    assert not pending("--keep-recent", "100")
    assert not pending("--min-chars", "1000000")
    assert not pending("--protect", "read")
    assert trimtab("status", "-", "--json", "--compress-tool", "fold", stdin=data).json["blocks"] == []


@pytest.mark.parametrize(
    ("words", "data", "complaint"),
    [
        ([], b"hello", "- is not JSON: a request, a list of messages, or a message on each line"),
        ([], b'{"a": 1}\nhello\n', "line 2 of - is not JSON"),
        ([], b'{"x": 1}', "looks like no wire protocol; name one with --protocol"),
        (["--protocol", "openai"], b"{}", "unknown protocol 'openai'"),
        (["--protocol", "openai-chat"], b"{}", "- has no messages as openai-chat writes them"),
        (["--state", "missing.json", "--protocol", "anthropic"], b'[{"role": "user", "content": "x"}]', "missing.json"),
        (["--keep-recent", "-1", "--protocol", "anthropic"], b'[{"role": "user", "content": "x"}]', "keep_recent"),
    ],
)
def test_what_cannot_be_done_is_said(trimtab: Any, words: list[str], data: bytes, complaint: str) -> None:
    """One line on standard error that names the place; exit code 2."""
    for command in ("status", "rebuild"):
        done = trimtab(command, "-", *words, stdin=data)
        assert (done.code, done.text) == (2, ""), done
        assert complaint in done.err
