"""Reminders: after growth, sooner when it gets tight, never each turn, with refs that are there, in lasting bytes."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from trimtab._json import canonical
from trimtab.compress import CompressConfig, CompressSession, dump_state, load_state, rebuild_state
from trimtab.testing.talks import begin, board_of, compress, entry, say, shown_texts, talk
from trimtab.types import Json

WINDOW = 200_000
GROWTH = 2_000


def remind(session: CompressSession, tokens: int) -> str | None:
    """The reminder that the next request ends with, if it has a new one."""
    before = len(session.state.nudges)
    session.request(tokens=tokens)
    return session.state.nudges[-1].text if len(session.state.nudges) > before else None


def grow(session: CompressSession, tokens: int) -> int:
    """The conversation grows by at least so many tokens, and by less than 90 more; by how many."""
    grown = 0
    while grown < tokens:
        number = len(session.messages)
        session.add([say("assistant" if number % 2 else "user", number, 150)])
        grown += session.state.seen[-1].tokens
    return grown


def reminded_at(session: CompressSession, tokens: int, steps: int, step: int = 100) -> list[int]:
    """After how many tokens of growth there are reminders."""
    found, grown = [], 0
    for _ in range(steps):
        grown += grow(session, step)
        if remind(session, tokens) is not None:
            found.append(grown)
    return found


def fresh(**config: Any) -> CompressSession:
    """A session with much to fold, reminded once already in the band below pressure."""
    session = begin(talk(20), window=WINDOW, growth=GROWTH, **config)
    assert remind(session, 20_000) is not None
    return session


def test_without_a_window_there_are_none() -> None:
    """Nothing is urged where nothing is known of the room; nor where the tool is not offered."""
    assert remind(begin(talk(200)), 10**9) is None
    assert remind(begin(talk(200), window=1_000, compress=""), 10**9) is None


def test_the_first_comes_after_growth() -> None:
    """Not before the conversation has grown by `growth` tokens."""
    session = begin(talk(6), window=WINDOW, growth=10_000)
    assert remind(session, 20_000) is None
    grow(session, 10_000)
    assert remind(session, 20_000) is not None


def test_growth_is_at_most_a_quarter_of_the_window() -> None:
    """A small window is not passed by before the first reminder."""
    session = begin(talk(10), window=8_000, growth=50_000)
    grow(session, 2_000)
    assert remind(session, 3_000) is not None


@pytest.mark.parametrize(
    ("share", "band", "first", "later"),
    [(0.5, "growth", 2_000, 1_000), (0.8, "pressure", 1_000, 500), (0.96, "emergency", 250, 125)],
)
def test_they_repeat_by_band(share: float, band: str, first: int, later: int) -> None:
    """After `growth` tokens, half or an eighth of them; twice as often while the model does not react."""
    session = begin(talk(20), window=WINDOW, growth=GROWTH)
    compress(session, entry("m1", "m6"))
    found = reminded_at(session, int(share * WINDOW), steps=50)
    # Results of the call count, too.
    assert first - 150 <= found[0] <= first + 190
    gaps = [after - before for before, after in pairwise(found)]
    assert gaps
    assert all(later <= gap <= later + 190 for gap in gaps)
    assert {one.band for one in session.state.nudges} == {band}


def test_a_turn_without_growth_has_none() -> None:
    """Also when the window is almost full, and however often the same request is asked for."""
    session = fresh()
    for tokens in (20_000, 160_000, 199_000, 10**9):
        assert remind(session, tokens) is None


def test_an_ignored_one_does_not_silence_the_next() -> None:
    """Of a model that never reacts each comes after half of the growth, on and on."""
    assert len(reminded_at(fresh(), 20_000, steps=60)) >= 5


def test_a_success_starts_the_growth_anew() -> None:
    """After a call that was taken there is none for a whole growth."""
    session = fresh()
    grow(session, 900)
    assert compress(session, entry("m1", "m10")).ok
    found = reminded_at(session, 20_000, steps=25)
    assert found[0] >= GROWTH - 300


@pytest.mark.parametrize("share", [0.5, 0.8, 0.96])
def test_failed_calls_do_not_make_them_faster(share: float) -> None:
    """A failed call resets the growth like one that was taken; after three in a row it takes twice as long."""
    tokens = int(share * WINDOW)
    taken, failed, often = fresh(), fresh(), fresh()
    assert compress(taken, entry("m1", "m6")).ok
    assert not compress(failed, entry("m1", "m1")).ok
    for number in range(3):
        assert not compress(often, entry(f"m{900 + number}", "m1")).ok
    first = [reminded_at(one, tokens, steps=60, step=70)[0] for one in (taken, failed, often)]
    assert abs(first[0] - first[1]) <= 150
    assert 2 * first[1] - 200 <= first[2] <= 2 * first[1] + 200


def test_none_while_the_model_fails_again_and_again() -> None:
    """A model that answers each request with a failing call is never reminded: its calls reset the growth."""
    session = fresh()
    for number in range(12):
        grow(session, 100)
        compress(session, entry(f"m{900 + number}", "m1"))
        assert remind(session, 199_000) is None


def test_with_nothing_to_fold_there_are_none() -> None:
    """What could not succeed is not asked for, in no band and on no turn."""
    session = begin(talk(30, 100), window=WINDOW, growth=100, keep_recent=10**6)
    for _ in range(10):
        grow(session, 500)
        assert remind(session, 199_000) is None


def test_all_folded_once_is_not_asked_for_again() -> None:
    """After everything that can be folded is, growth alone does not bring one before there is something to fold."""
    session = begin([*talk(20), *talk(2, 20)], window=WINDOW, growth=100, min_chars=5_000)
    assert compress(session, entry("m1", "m19")).ok
    assert reminded_at(session, 150_000, steps=10) == []


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (61_234, "61,234 of 200,000 tokens. If parts of it are settled, compress them."),
        (151_000, "151,000 of 200,000 tokens. Compress what is settled before you go on."),
        (199_000, "199,000 of 200,000 tokens. Compress what you can now: the next answers may be cut off."),
    ],
)
def test_they_say_how_full_it_is(tokens: int, words: str) -> None:
    """With the numbers, by band; and that it is not the user who speaks."""
    session = begin(talk(20), window=WINDOW, growth=GROWTH)
    text = remind(session, tokens)
    assert text is not None
    assert text.startswith(f"The conversation takes about {words}\n")
    assert text.endswith("This is an automatic note, not from the user.")
    assert shown_texts(session)[-1] == f"<context-status>\n{text}\n</context-status>"


def test_refs_in_them_are_there_and_in_order() -> None:
    """Each ref stands in the conversation as it is sent, the start of each range before its end, the example's too."""
    session = begin(talk(60), window=WINDOW, growth=GROWTH)
    compress(session, entry("m1", "m10"))
    compress(session, entry("m21", "m30"))
    grow(session, GROWTH)
    text = remind(session, 150_000)
    assert text is not None
    ranges = re.findall("- ([mb][0-9]+) to ([mb][0-9]+): ", text)
    example = json.loads(text[text.index("{") : text.rindex("}") + 1])["content"][0]
    places = board_of(session).place
    for start, end in [*ranges, (example["startId"], example["endId"])]:
        assert places[int(start[1:])] < places[int(end[1:])]
        assert any(start in one for one in shown_texts(session)[:-1])
        again = CompressSession("openai-chat", config=session.config, messages=session.messages, state=session.state)
        assert compress(again, entry(start, end)).ok


def test_the_example_cannot_be_sent_as_it_stands() -> None:
    """Copied to the letter it is refused for its summary, so that nothing is lost by it."""
    session = begin(talk(20), window=WINDOW, growth=GROWTH)
    text = remind(session, 150_000)
    assert text is not None
    outcome = compress(session, *json.loads(text[text.index("{") : text.rindex("}") + 1])["content"])
    assert [one.reason for one in outcome.refusals] == ["summary-too-short"]


def test_once_shown_they_stay_where_they_were() -> None:
    """Each request begins with the bytes of the one before, through many reminders."""
    session = begin(talk(20), window=WINDOW, growth=GROWTH)
    before = ""
    for _ in range(30):
        session.request(tokens=160_000)
        sent = canonical(session.request())[:-1]
        assert sent.startswith(before)
        before = sent
        grow(session, 300)
    assert len(session.state.nudges) >= 5


def test_they_are_stored_with_the_state() -> None:
    """A session that goes on from a stored state sends the same bytes; a rebuilt state has none of them."""
    session = fresh()
    stored = load_state(json.loads(json.dumps(dump_state(session.state))))
    again = CompressSession("openai-chat", config=session.config, messages=session.messages, state=stored)
    assert again.request() == session.request()
    assert rebuild_state(session.messages, session.config, protocol="openai-chat").nudges == ()


def test_one_below_a_folded_message_goes_with_it() -> None:
    """It is not shown beside the block."""
    session = fresh()
    session.add(talk(20))
    assert compress(session, entry("m1", "m30")).ok
    assert not any("<context-status>" in text for text in shown_texts(session))


@pytest.mark.parametrize("protocol", ["anthropic", "bedrock", "gemini"])
def test_one_behind_results_is_legal(protocol: str) -> None:
    """Where roles must alternate it is put into the message with the results, behind them."""
    user, assistant = ("user", "assistant") if protocol != "gemini" else ("user", "model")
    key = "parts" if protocol == "gemini" else "content"

    def block(text: str) -> dict[str, Json]:
        return {"type": "text", "text": text} if protocol == "anthropic" else {"text": text}

    messages: list[Json] = []
    for number in range(20):
        messages.append({"role": assistant if number % 2 else user, key: [block(f"{number} ".ljust(1_000, "w"))]})
    config = CompressConfig(window=WINDOW, growth=GROWTH)
    session = CompressSession(protocol, config=config, messages=messages[:-1])
    sent = session.request(tokens=160_000)
    assert len(session.state.nudges) == 1
    roles = [one["role"] for one in sent]
    if protocol != "anthropic":  # which joins messages of one role itself
        assert all(left != right for left, right in pairwise(roles))
    assert "context-status" in sent[-1][key][-1]["text"]
