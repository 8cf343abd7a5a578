"""`trimtab replay`: recorded and made-up sessions of every protocol, as a table, as data, as requests, as a picture."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from attrs import asdict

from trimtab.cli.replaying import _MENDED
from trimtab.compaction.repair import RepairKind
from trimtab.compaction.settings import FoldSettings
from trimtab.host import Host
from trimtab.replay import RULES, ServeSettings, replay, session_of
from trimtab.replay.generated import generate
from trimtab.testing.conversations import WRITERS

WINDOW = "20000"
SMALL = generate(3, size=0.2)


def lines_of(requests: Any) -> bytes:
    """JSON lines."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in requests)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_the_report_is_that_of_the_library(trimtab: Any, name: str) -> None:
    """What `--json` prints is the report, of JSON lines of requests as of one conversation."""
    session = generate(3, protocol=name, size=0.2)
    with Host.load("memory:", discover=False) as host:
        settings = ServeSettings(folds=FoldSettings(windows=int(WINDOW)))
        expected = json.loads(json.dumps(asdict(replay(session, host, settings))))
    data = json.dumps(session.requests[-1]).encode()
    done = trimtab("replay", "-", "--json", "--protocol", name, "--window", WINDOW, stdin=lines_of(session.requests))
    assert (done.code, done.err) == (0, "")
    assert done.json == expected
    if len(session_of(session.requests[-1], protocol=name).requests) == len(session.requests) - 1:
        again = trimtab("replay", "-", "--json", "--protocol", name, "--window", WINDOW, stdin=data)
        assert again.json["requests"] == expected["requests"][: len(again.json["requests"])]


def test_the_table_has_the_numbers_of_the_report(trimtab: Any) -> None:
    """A line for each request, the totals, and what each provider would have taken."""
    words = ("replay", "--generate", "8", "--window", "60000")
    shown, report = trimtab(*words), trimtab(*words, "--json").json
    assert shown.code == 0
    each, _, totals = shown.text.partition("\nin all ")
    lines = [line.split() for line in each.split("\n")]
    for one in report["requests"]:
        served = one["served"]
        numbers = [f"{served['tokens']:,}", f"{served['read']:,}", f"{served['written']:,}"]
        (line,) = [line for line in lines if line[:1] == [str(one["number"])]]
        assert set(numbers) <= set(line)
    for side, name in (("as recorded", "raw"), ("sent", "served")):
        (line,) = [line for line in totals.split("\n") if line.startswith(f"{side} ")]
        assert f"{report[name]['tokens']:,}" in line
    for cost in report["costs"]:
        (line,) = [line.split() for line in totals.split("\n") if line.split()[:1] == [cost["rule"]]]
        assert f"{100 * cost['saved']:.0f}" in line
    assert "inside the turn: " in shown.text
    assert "between turns: " in trimtab(*words, "--fold", "durable").text
    assert "prompts are folded from 43,200 tokens on" in shown.text


def test_the_requests_can_be_had(trimtab: Any) -> None:
    """`--requests` prints what would have been sent: replayed again, untrimmed, it is what is sent."""
    words = ("replay", "--generate", "3")
    report = trimtab(*words, "--json").json
    sent = trimtab(*words, "--requests")
    assert len(sent.text.split("\n")) == len(report["requests"]) + 1
    again = trimtab("replay", "-", "--json", "--untrimmed", stdin=sent.out).json
    assert again["raw"] == again["served"] == report["served"]


def test_what_trimtab_had_sent_is_not_shown_without_a_word(trimtab: Any) -> None:
    """Where it is done once more, and only there."""
    options = ("--window", "16000", "--fold", "durable")
    sent = trimtab("replay", "--generate", "3", *options, "--requests").out
    told = trimtab("replay", "-", "--json", *options, stdin=sent).err
    assert "what was recorded had been trimmed and folded by trimtab, and is so once more" in told
    assert "had been trimmed by trimtab" in trimtab("replay", "-", "--json", stdin=sent).err
    assert trimtab("replay", "-", "--json", "--untrimmed", stdin=sent).err == ""


def test_options_do_what_they_say(trimtab: Any) -> None:
    """Each option changes what it is for, and nothing when it is the default."""

    def report(*words: str) -> Any:
        done = trimtab("replay", "-", "--json", *words, stdin=lines_of(SMALL.requests))
        assert done.code == 0, done.err
        return done.json

    plain = report()
    assert plain == report("--rule", "anthropic", "--pause", "0", "--counter", "estimate")
    assert plain["trigger"] is None
    assert report("--rule", "gpt-4o")["rule"] == "gpt-4o"
    assert report("--pause", "301")["served"]["read"] == 0
    assert report("--window", WINDOW, "--share", "0.5")["trigger"] == 9_000
    assert report("--window", WINDOW, "--reserve", "3000")["trigger"] == 12_000
    assert report("--window", WINDOW, "--cap", "7000")["trigger"] == 7_000
    lanes = [
        event["lane"] for one in report("--window", "6000", "--fold", "loop")["requests"] for event in one["events"]
    ]
    assert set(lanes) == {"loop"}
    made = trimtab("replay", "--generate", "2", "--json").json
    assert made == trimtab("replay", "--generate", "2", "--json", "--seed", "1", "--protocol", "anthropic").json
    assert made != trimtab("replay", "--generate", "2", "--json", "--seed", "2").json


def test_a_policy_counts(trimtab: Any, tmp_path: Path) -> None:
    """The policy of this folder says how outputs are trimmed."""
    usual = trimtab("replay", "--generate", "2", "--json").json
    (tmp_path / "trimtab.toml").write_text("limit = 2000\nkeep = 1200\n", encoding="utf-8")
    assert trimtab("replay", "--generate", "2", "--json").json["served"]["tokens"] < usual["served"]["tokens"]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture_is_drawn_as_well(trimtab: Any, tmp_path: Path, ending: str) -> None:
    """The table goes to standard output, the picture into the file."""
    pytest.importorskip("matplotlib", reason="pictures need trimtab[plot]")
    done = trimtab("replay", "--generate", "2", "--plot", f"p.{ending}")
    assert done.code == 0, done.err
    assert f"drawn in p.{ending}" in done.err
    assert "cache rule" in done.text
    assert (tmp_path / f"p.{ending}").stat().st_size > 10_000


def test_without_the_library_the_extra_is_named(trimtab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is replayed."""
    monkeypatch.setattr("trimtab.replay.drawing.find_spec", lambda name: None)
    done = trimtab("replay", "--generate", "2", "--plot", "p.png")
    assert (done.code, done.text) == (2, "")
    assert "pip install 'trimtab[plot]'" in done.err


@pytest.mark.parametrize(
    ("words", "data", "complaint"),
    [
        (["-"], b"", "- is not JSON: a request, a list of messages, or a request or a message on each line"),
        (["-"], b"hello", "- is not JSON"),
        (["-"], b"\xff\xfe{}", "- is not JSON"),
        (["-"], b'{"messages": [}\n', "- is not JSON"),
        (["-"], b'{\n  "messages": [\n    {"role": "user",\n', "- is not JSON: a request"),
        (["-"], bytes(range(256)) * 3, "- is not JSON: a request"),
        (["-"], gzip.compress(b'{"messages": []}'), "- is compressed; unpack it first"),
        (["-"], b'{"messages": []}\nhello\n', "line 2 of - is not JSON"),
        (["-"], b"null", "- looks like no wire protocol; name one with --protocol: openai-chat"),
        (["-"], b"[]", "- looks like no wire protocol"),
        (["-"], b'{"x": 1}', "- looks like no wire protocol"),
        (["-"], b'{"messages": []}', "has no messages as"),
        (["-", "--protocol", "anthropic"], b"{}", "- has no messages as anthropic writes them"),
        (["-", "--protocol", "openai"], b"{}", "unknown protocol 'openai'"),
        (["missing.jsonl"], b"", "missing.jsonl cannot be read"),
        ([], b"", "give a file (- for standard input), or --generate"),
        (["-", "--generate", "2"], b"{}", "give a file (- for standard input), or --generate"),
        (["--generate", "0"], b"", "at least one turn"),
        (["--generate", "1", "--protocol", "mcp"], b"", "unknown protocol 'mcp'"),
        (["-", "--seed", "3"], b"{}", "--seed is for sessions"),
        (["--generate", "1", "--rule", "gpt-9"], b"", f"no cache rule 'gpt-9'; there are {', '.join(RULES)}"),
        (["--generate", "1", "--counter", "words"], b"", "unknown token counter 'words'; known: "),
        (["--generate", "1", "--window", "3"], b"", "a window of 3 tokens leaves no room"),
        (["--generate", "1", "--share", "0.5"], b"", "which needs --window"),
        (["--generate", "1", "--fold", "loop"], b"", "which needs --window"),
        (["--generate", "1", "--reserve", "10"], b"", "which needs --window"),
        (["--generate", "1", "--cap", "1000"], b"", "which needs --window"),
        (["--generate", "1", "--window", "9000", "--reserve", "-1"], b"", "reserve must be"),
        (["--generate", "1", "--window", "9000", "--cap", "10"], b"", "cap must be"),
        (["--generate", "1", "--window", "9000", "--share", "1.5"], b"", "share must be"),
        (["--generate", "1", "--window", "9000", "--fold", "never"], b"", "--fold"),
        (["--generate", "1", "--pause", "-1"], b"", "pause is a number of seconds from 0"),
        (["--generate", "1", "--pause", "nan"], b"", "pause is a number of seconds from 0"),
        (["--generate", "1", "--plot", "p.pdf"], b"", "written as .png or .svg"),
        (["--generate", "1", "--json", "--requests"], b"", "give one of them"),
    ],
)
def test_what_cannot_be_done_is_said(trimtab: Any, words: list[str], data: bytes, complaint: str) -> None:
    """One line on standard error that names the place; exit code 2; nothing on standard output."""
    done = trimtab("replay", *words, stdin=data)
    assert (done.code, done.text) == (2, ""), done
    assert complaint in done.err
    assert done.err.count("\n") == 1


def test_a_place_that_cannot_be_written_is_said(trimtab: Any, tmp_path: Path) -> None:
    """The picture's file is named: before anything is replayed where its folder is missing, else after the report."""
    pytest.importorskip("matplotlib", reason="pictures need trimtab[plot]")
    done = trimtab("replay", "--generate", "1", "--plot", "no/such/folder/p.png")
    assert (done.code, done.text) == (2, "")
    assert "no/such/folder/p.png cannot be written: there is no such folder" in done.err
    (tmp_path / "p.png").mkdir()
    done = trimtab("replay", "--generate", "1", "--plot", "p.png")
    assert done.code == 2
    assert "p.png cannot be written" in done.err
    assert "cache rule" in done.text


def test_what_was_mended_is_shown(trimtab: Any) -> None:
    """A call without a result and a result without a call are in the table and in the data."""
    assert set(_MENDED) == set(get_args(RepairKind))
    call = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "z", "content": "text"}
    said = [("user", "go"), ("assistant", [call]), ("user", [result]), ("user", "more")]
    data = json.dumps({"messages": [{"role": role, "content": content} for role, content in said]}).encode()
    words = ("replay", "-", "--protocol", "anthropic", "--window", WINDOW)
    shown = trimtab(*words, stdin=data)
    assert "calls without a result: 1, results without a call: 1" in " ".join(shown.text.split())
    requests = trimtab(*words, "--json", stdin=data).json["requests"]
    kinds = [[one["kind"] for one in request["repairs"]] for request in requests]
    assert kinds == [[], ["answered", "left-out"]]


def test_the_library_is_loaded_only_to_draw(trimtab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay without a picture needs no matplotlib."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert trimtab("replay", "--generate", "1").code == 0
