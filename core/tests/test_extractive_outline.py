"""The extractive summary: its headings, the facts it keeps, what outlives many folds, and any text at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.compaction import DurableCompactor, FoldSettings, Row, SummaryRequest, parse_summary
from trimtab.compaction.asking.transcript import transcript
from trimtab.compaction.summarizers import ExtractiveSummarizer
from trimtab.compaction.summarizers.facts import facts_in
from trimtab.testing import SummarizerContract
from trimtab.testing.briefings import briefing, kept
from trimtab.testing.sessions_told import KINDS, session_told
from trimtab.tokens import Estimate
from trimtab.types import Json
from trimtab.wire.histories import Message, Part, Role

COUNT = Estimate().count


def extract(history: str, budget: int, prior: str | None = None) -> str:
    """The summary of a history."""
    return ExtractiveSummarizer()(SummaryRequest(history=history, prior=prior, budget=budget, count=COUNT))


class TestExtractive(SummarizerContract):
    """The built-in summarizer keeps the contract."""

    summarizer = ExtractiveSummarizer()


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
@pytest.mark.parametrize("turns", [3, 15, 40])
def test_a_tenth_keeps_nine_tenths_of_the_facts(language: Any, turns: int) -> None:
    """At a tenth of the size at least 90 % of the seeded ids, paths, urls and numbers are there."""
    for seed in range(3):
        told = briefing(seed, turns=turns, language=language)
        size = COUNT(told.history)
        summary = extract(told.history, size // 10)
        assert COUNT(summary) <= size // 10
        assert len(kept(told.facts, summary)) >= 0.9 * len(told.facts)
        assert parse_summary(summary) == summary


@pytest.mark.parametrize("kind", KINDS)
def test_sessions_of_all_kinds_at_a_tenth(kind: str) -> None:
    """The same of logs, tables, code, many languages and many spellings of ids."""
    for turns in (6, 20):
        told = session_told(kind, turns, turns=turns)
        summary = extract(told.history, COUNT(told.history) // 10)
        assert len(kept(told.facts, summary)) >= 0.9 * len(told.facts)


PROTOCOLS: Final[dict[str, Callable[[str, str], Json]]] = {
    "anthropic": lambda role, said: {"role": role, "content": [{"type": "text", "text": said}]},
    "openai-chat": lambda role, said: {"role": role, "content": said},
    "openai-responses": lambda role, said: {"type": "message", "role": role, "content": said},
    "gemini": lambda role, said: {"role": "user" if role == "user" else "model", "parts": [{"text": said}]},
    "bedrock": lambda role, said: {"role": role, "content": [{"text": said}]},
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_a_conversation_is_for_is_in_the_record_after_many_folds(protocol: str) -> None:
    """Through the durable lane, in each protocol: what was asked first and a rule are in the summary that is stored."""
    said = [("user", "We move project ZEUS-4242 to the new site."), ("assistant", "I will move ZEUS-4242.")]
    said += [("user", "Never touch /srv/vault/77."), ("assistant", "I will not.")]
    for seed, kind in enumerate(KINDS):
        told = session_told(kind, seed, turns=6).read
        said += [(one.role, part.text) for one in told for part in one.of("text") if one.role in ("user", "assistant")]
    lane = DurableCompactor(protocol, FoldSettings(windows=3_000))
    record, folds = None, 0
    for at in range(2, len(said) + 1, 2):
        rows = [Row(id=f"{n}", messages=[PROTOCOLS[protocol](*one)]) for n, one in enumerate(said[:at])]
        served = lane.serve(rows, record)
        folds += served.record is not record
        record = served.record
    assert folds >= 3
    assert record is not None
    assert "We move project ZEUS-4242 to the new site." in record.summary
    assert "Never touch /srv/vault/77." in record.summary


def text(said: str) -> Part:
    """What somebody says."""
    return Part(kind="text", path=(), text=said)


def call(name: str, arguments: dict[str, str]) -> Part:
    """A call of a tool."""
    return Part(kind="call", path=(), name=name, value=arguments, call_id=name)


def result(name: str, value: str, *, is_error: bool = False) -> Part:
    """What it returned."""
    return Part(kind="result", path=(), name=name, value=value, call_id=name, is_error=is_error)


SPOKEN: Final[list[tuple[Role, list[Part]]]] = [
    (
        "user",
        [text("Please port the parser in src/lex/scan.py; ticket LEX-2291. Never change tests/golden/a.json.")],
    ),
    ("assistant", [text("I read the file first."), call("read_file", {"path": "src/lex/scan.py"})]),
    ("tool", [result("read_file", "def scan(text):\n[1, 2, 3]")]),
    ("assistant", [call("run_tests", {"only": "lex"})]),
    ("tool", [result("run_tests", "3 failed: KeyError 'tok_9a81' in src/lex/table.py:88", is_error=True)]),
    (
        "assistant",
        [text("The regex approach failed with a KeyError in src/lex/table.py. I decided to use 412 states instead.")],
    ),
    ("user", [text("Good. And now?")]),
    (
        "assistant",
        [text("All 57 tests pass now. Left to do: docs/lexer.md, see https://ci.example.com/run/7781.")],
    ),
]
HISTORY: Final = transcript([Message(role=role, native=None, parts=tuple(parts)) for role, parts in SPOKEN])


def test_the_outline_tells_apart() -> None:
    """Requests, decisions, failures, facts and the newest state stand under headings of their own."""
    lines = extract(HISTORY, 600).split("\n")
    sections: dict[str, str] = {}
    for line in lines:
        if line.startswith("## "):
            name = line[3:]
            sections[name] = ""
        else:
            sections[name] += line + "\n"
    assert "LEX-2291" in sections["Goal"]
    assert "Never change tests/golden/a.json" in sections["Goal"]
    assert "412 states" in sections["Decisions"]
    assert "regex approach failed" in sections["Failed"]
    assert "tok_9a81" in sections["Failed"]
    assert "read_file" in sections["Done"]
    assert "https://ci.example.com/run/7781" in sections["State"]
    assert "run_tests" not in sections["Goal"]


def test_folding_again_does_not_grow() -> None:
    """Over many folds the summary stays within its budget, and what was asked first is still there."""
    first = (
        "User: Migrate tenant acme_7731 to the new ledger at https://ledger.example.com/acme, and keep me posted.\n\n"
    )
    prior: str | None = None
    for seed in range(10):
        told = briefing(seed, turns=10)
        prior = extract((first if not seed else "") + told.history, 1_500, prior)
        assert COUNT(prior) <= 1_500
        assert "acme_7731" in prior
        assert len(kept(told.facts, prior)) > len(told.facts) // 2
        assert len(set(prior.split("\n"))) == len(prior.split("\n"))


def test_little_that_is_new_loses_nothing_old() -> None:
    """While there is room every fact of every fold is kept, once."""
    prior: str | None = None
    facts: list[str] = []
    for seed in range(4):
        told = briefing(seed, turns=3)
        facts += told.facts
        prior = extract(told.history, 3_500, prior)
        assert len(kept(facts, prior)) == len(facts)
    assert prior is not None
    assert extract("", 3_500, prior) == prior
    assert extract(briefing(3, turns=3).history, 3_500, prior).count("## Goal") == 1


def test_what_is_spoken_of_again_outlives_what_is_not() -> None:
    """Of two old facts the one that the new part of the conversation names again is kept."""
    old = [f"- Job job_{n:04d} was moved to host h{n:03d}.example.com." for n in range(80)]
    prior = "## Facts\n" + "\n".join(old)
    summary = extract("User: what of job_0003?\n\nAssistant: It is on h003.example.com, and it is fine.", 300, prior)
    assert "job_0003" in summary
    assert len(kept([f"job_{n:04d}" for n in range(80)], summary)) < 80


def test_a_summary_of_another_form_is_taken_up() -> None:
    """A prior summary that a model wrote is read sentence by sentence."""
    summary = extract("User: go on", 300, "The user wants order A-4711 refunded. The first refund failed: code 5113.")
    assert "A-4711" in summary
    assert "5113" in summary.partition("## Failed")[2]


@given(st.text(max_size=300), st.none() | st.text(max_size=200), st.integers(1, 200))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_a_summary_within_the_budget(history: str, prior: str | None, budget: int) -> None:
    """Whatever the history and the prior summary are, the budget is kept, and the same request gives the same."""
    summary = extract(history, budget, prior)
    assert COUNT(summary) <= budget
    assert extract(history, budget, prior) == summary


@given(
    st.lists(
        st.sampled_from(["User: ", "\n", "[called x: ", "]", "## Goal\n", "- ", "Also: ", "A-1; ", "a. "]), max_size=30
    )
)
@settings(max_examples=150, deadline=None)
def test_the_form_of_a_transcript_or_a_summary_breaks_nothing(pieces: list[str]) -> None:
    """Pieces of transcripts and summaries in any order raise nothing."""
    text = "".join(pieces)
    assert COUNT(extract(text, 60, text)) <= 60


FACTS = {
    "order A-4711, see https://x.example.com/a?b=c.": ["A-4711", "https://x.example.com/a?b=c"],
    "in src/app/main.py:33 and ./run.sh or C:\\tmp\\a.txt": ["src/app/main.py:33", "./run.sh", "C:\\tmp\\a.txt"],
    "1,234.56 € for 12 users at 10:30": ["1,234.56", "12", "10:30"],
    "trimtab:3f2a9c1b7d04e5f6 by jo.doe@example.com": ["trimtab:3f2a9c1b7d04e5f6", "jo.doe@example.com"],
    "parse_summary() and parseSummary and README.md": ["parse_summary", "parseSummary", "README.md"],
    "订单A4711，金额5000元，见/data/a.csv。": ["A4711", "5000", "/data/a.csv"],
    "and/or, his/her, e.g. this - that": [],
    "plain words only, nothing else": [],
}


@pytest.mark.parametrize("text", FACTS)
def test_facts_are_found(text: str) -> None:
    """Urls, paths, ids, numbers, addresses and names out of code; no plain words."""
    found = list(facts_in(text))
    assert [fact.text for fact in found if fact.text != "e.g"] == FACTS[text]
    assert all(text[fact.start : fact.end] == fact.text for fact in found)
