"""Gates: what a call must have to be taken, the true reason where it has not, and a list that passes them."""

from __future__ import annotations

import re

import pytest

from trimtab.compress import CompressSession, Outcome
from trimtab.compress.folded import block_text
from trimtab.compress.listing import compressible
from trimtab.testing.talks import (
    SUMMARY,
    active,
    begin,
    board_of,
    call,
    compress,
    decompress,
    entry,
    read,
    say,
    talk,
)
from trimtab.types import Json

REF = re.compile("(?<![A-Za-z0-9])[mb][0-9]+(?![A-Za-z0-9])")


def only(outcome: Outcome) -> tuple[str, str]:
    """The reason why the only entry was refused, as a name and in words."""
    (refusal,) = outcome.refusals
    assert refusal.text in outcome.text
    return refusal.reason, refusal.text


def refs_in(text: str) -> set[str]:
    """All refs that a text names."""
    return set(REF.findall(text))


def there(session: CompressSession) -> set[str]:
    """All refs that can be named now."""
    return {one.ref for one in session.state.seen} | {block.ref for block in session.state.active}


@pytest.mark.parametrize(("chars", "taken"), [(999, False), (1_000, True), (1_001, True)])
def test_a_call_must_name_enough(chars: int, taken: bool) -> None:
    """Exactly `min_chars` is enough; one char less is not, and the answer has both numbers."""
    session = begin(talk(20, chars), min_chars=5_000)
    outcome = compress(session, entry("m1", "m5"))
    assert outcome.ok is taken
    if not taken:
        text = "the call names 4,995 chars that can be folded; at least 5,000 are needed"
        assert only(outcome) == ("too-small", text)


def test_the_entries_of_a_call_count_together() -> None:
    """Two ranges that are too small alone are enough together; of one that cannot be taken nothing counts."""
    session = begin(talk(20))
    assert compress(session, entry("m1", "m3"), entry("m6", "m7")).ok
    session = begin(talk(20))
    outcome = compress(session, entry("m1", "m3"), entry("m6", "m8", "short"))
    assert [(one.index, one.reason) for one in outcome.refusals] == [(0, "too-small"), (1, "summary-too-short")]
    assert "what is left of the call names 3,000 chars" in outcome.text


def test_what_stays_visible_does_not_count() -> None:
    """A range over the newest messages has the size of what can be folded of it."""
    session = begin(talk(7))
    text = "the call names 4,000 chars that can be folded; at least 5,000 are needed"
    assert only(compress(session, entry("m1", "m7"))) == ("too-small", text)


def test_ranges_at_blocks_need_no_size() -> None:
    """A range that begins or ends with a block makes it denser, however little stands beside it."""
    session = begin([*talk(10), *talk(10, 100)])
    compress(session, entry("m1", "m10"))
    assert compress(session, entry("b1", "m12")).ok
    assert active(session) == {"b2": list(range(1, 13))}
    assert not compress(session, entry("m13", "m15")).ok


def test_size_is_in_chars_on_both_sides() -> None:
    """What is listed is measured as the gate measures: characters, not tokens or bytes, also of Chinese text."""
    session = begin([{"role": role, "content": "今天下雨了" * 200} for role in ("user", "assistant") * 10])
    (listed,) = compressible(board_of(session), len(session.state.seen))
    assert (listed.start_ref, listed.end_ref, listed.chars) == ("m00001", "m00016", 16_000)
    assert listed.tokens > 10_000
    outcome = compress(session, entry("m1", "m4", "中文摘要，写明做了什么、找到了什么。" * 4))
    assert only(outcome)[1].startswith("the call names 4,000 chars")
    assert compress(session, entry("m1", "m5", "中文摘要，写明做了什么、找到了什么。" * 4)).ok


@pytest.mark.parametrize(
    ("summary", "more", "reason", "text"),
    [
        ("s" * 50, {}, None, ""),
        ("s" * 49, {}, "summary-too-short", "its summary has 49 chars; at least 50 are needed to replace messages"),
        ("s" * 3_000, {}, None, ""),
        ("s" * 3_001, {}, "summary-too-long", "its summary has 3,001 chars; allowed are 3,000"),
        ("s" * 3_001, {"summaryMaxChars": 3_001}, None, ""),
        (
            "s" * 101,
            {"summaryMaxChars": 100},
            "summary-too-long",
            "its summary has 101 chars; its summaryMaxChars allows 100",
        ),
        (
            "s" * 3_001,
            {"summaryMaxChars": "many"},
            "summary-too-long",
            "its summary has 3,001 chars; allowed are 3,000",
        ),
        ("s" * 3_001, {"summaryMaxChars": 0}, "summary-too-long", "its summary has 3,001 chars; allowed are 3,000"),
    ],
)
def test_a_summary_has_a_length(summary: str, more: dict[str, Json], reason: str | None, text: str) -> None:
    """From `min_summary` to `max_summary` chars, or to the entry's own `summaryMaxChars`; both ends are allowed."""
    session = begin(talk(20), max_summary=3_000)
    outcome = compress(session, entry("m1", "m10", summary, **more))
    assert outcome.ok is (reason is None)
    if reason:
        assert only(outcome) == (reason, text)


@pytest.mark.parametrize(("spare", "taken"), [(1, True), (0, False)])
def test_a_summary_is_shorter_than_what_it_replaces(spare: int, taken: bool) -> None:
    """With its frame, to the char: what is not shorter gains nothing, and the answer says so in numbers."""
    session = begin(talk(20))
    compress(session, entry("m1", "m6", "s" * 100))
    frame = len(block_text(session.state.blocks[0])) - 100
    outcome = compress(session, entry("m7", "m12", "s" * (6_000 - frame - spare)))
    assert outcome.ok is taken
    if not taken:
        text = "with its frame its summary would take 6,000 chars in the place of 6,000: nothing is gained"
        assert only(outcome) == ("no-gain", text)


def test_what_is_folded_is_not_folded_again_by_the_same_call() -> None:
    """The same call once more is refused, and told which block has it all."""
    session = begin(talk(20))
    compress(session, entry("m1", "m10"))
    reason, text = only(compress(session, entry("m1", "m10")))
    assert reason == "no-gain"
    assert text.startswith("all of it is folded in b1 already, in ")
    assert active(session) == {"b1": list(range(1, 11))}


def test_what_no_summary_can_mend_is_told_first() -> None:
    """A range that is too small is not sent back for its summary."""
    session = begin(talk(20))
    assert only(compress(session, entry("m1", "m2", "short")))[0] == "too-small"


@pytest.mark.parametrize(
    ("start", "end", "reason", "text"),
    [
        ("m99", "m4", "unknown-ref", "there is no m00099 and never was: the newest message is m00023"),
        ("m1", "m99999999", "unknown-ref", "there is no m99999999 and never was: the newest message is m00023"),
        ("m0", "m4", "unknown-ref", "there is no m00000 and never was: the newest message is m00023"),
        ("b9", "m4", "unknown-ref", "there is no b9 and never was: what is folded is b1"),
        ("first", "m4", "not-a-ref", "'first' is no ref: write refs as they are shown, such as m00023"),
        ("m1", "12", "not-a-ref", "'12' is no ref: write refs as they are shown, such as m00023"),
        ("m5", "m2", "reversed", "the first comes after the second in the conversation: name the earlier one first"),
        ("m9", "m12", "folded-ref", "m00009 is folded in b1 already: name b1, or a message outside of it"),
        ("m2", "m9", "folded-ref", "m00009 is folded in b1 already: name b1, or a message outside of it"),
    ],
)
def test_refs_that_lead_nowhere_are_told_why(start: str, end: str, reason: str, text: str) -> None:
    """Each has a cause of its own; whatever ref the answer names is there, but for the one that was asked for."""
    session = begin(talk(20))
    compress(session, entry("m7", "m12"))
    outcome = compress(session, entry(start, end))
    assert only(outcome) == (reason, text)
    named = {ref for ref in refs_in(outcome.text) if int(ref[1:]) not in (0, 9, 99, 99_999_999)}
    assert named - {start, end} <= there(session)


def test_refs_that_are_gone_are_told_from_refs_that_never_were() -> None:
    """After a host dropped old messages their refs are gone; the answer says where the conversation begins now."""
    messages = talk(20)
    session = begin(messages)
    session.sync(messages[8:])
    gone, never = compress(session, entry("m3", "m12")), compress(session, entry("m88", "m12"))
    assert only(gone) == (
        "gone-ref",
        "m00003 was a message earlier, but it is gone: the conversation now begins with m00009",
    )
    assert only(never)[0] == "unknown-ref"
    for outcome in (gone, never):
        assert "Can be compressed now:\n- m00009 to m000" in outcome.text


def test_a_block_whose_messages_are_gone() -> None:
    """It cannot be named or opened, and the answer says why."""
    messages = talk(20)
    session = begin(messages)
    compress(session, entry("m1", "m6"))
    session.sync(messages[8:])
    text = "the messages of b1 are not in the conversation any more: nothing is folded now"
    assert text in compress(session, entry("b1", "m12")).text
    assert text in decompress(session, "b1").text


@pytest.mark.parametrize(
    "entries",
    [
        [entry("m1", "m2")],
        [entry("m1", "m9", "short")],
        [entry("m88", "m9"), entry("m9", "m1")],
        [{"startId": "m1"}],
        [],
    ],
)
def test_a_refused_call_changes_nothing(entries: list[Json]) -> None:
    """Refs and blocks are as before, the same objects; only the failure is taken note of."""
    session = begin(talk(20))
    compress(session, entry("m1", "m6"))
    before = session.state
    outcome = compress(session, *entries)
    assert not outcome.ok
    assert session.state.blocks == before.blocks
    assert session.state.seen[: len(before.seen)] == before.seen
    assert session.state.marks[:-1] == before.marks
    assert session.state.failures == outcome.failures == 1
    assert outcome.text.startswith("Nothing was changed.\n")


def test_a_receipt_says_which_entries_were_not_taken() -> None:
    """Each with its number, its refs and its own cause, refused and unreadable ones alike."""
    session = begin(talk(30))
    outcome = compress(session, entry("m1", "m9"), {"startId": "m11", "summary": SUMMARY}, entry("m12", "m77"))
    assert outcome.ok
    summary = session.config.counter.count(SUMMARY)
    assert outcome.text.split("\n") == [
        "Compressed:",
        f"- b1 stands for m00001 to m00009: {tokens(session, 9)} tokens became {summary:,}",
        "Not compressed:",
        "- entry 2, m12 to m77: there is no m00077 and never was: the newest message is m00031",
        "- entry 1: endId is missing",
    ]


def test_a_receipt_says_that_a_call_was_cut() -> None:
    """What was whole is taken; that the rest is missing is said, and nothing of a shape that was right."""
    session = begin(talk(30))
    text = '{"content": [{"startId": "m1", "endId": "m9", "summary": "' + SUMMARY + '"}, {"startId": "m11", "endId'
    outcome = call(session, "compress", text)
    assert outcome.ok
    assert outcome.text.split("\n")[2:] == ["Not compressed:", "- what comes after that: the call breaks off"]


def test_a_refusal_does_not_say_that_entries_were_taken() -> None:
    """Entries that were read and then refused were not taken, also where others were unreadable or cut."""
    session = begin(talk(30))
    text = '{"content": [{"startId": "m1", "endId": "m99", "summary": "' + SUMMARY + '"}, {"startId": "m11"}, {"star'
    said = call(session, "compress", text).text
    assert "taken" not in said
    assert "took" not in said
    assert "- entry 1: endId is missing; summary is missing" in said


def test_many_refusals_are_told_in_short() -> None:
    """Eight in words of at most 200 chars each, the rest by number."""
    session = begin(talk(30))
    entries = [entry(f"m{90 + number}" + " " * 9, "x" * 400) for number in range(30)]
    lines = compress(session, entry("m1", "m6"), *entries).text.split("\n")
    start = lines.index("Not compressed:")
    assert len(lines[start + 1 :]) == 9
    assert lines[-1] == "- more entries: 9-30"
    assert max(map(len, lines)) <= 202


def test_a_call_of_very_many_entries_has_a_short_answer() -> None:
    """Twenty blocks have a line of their own; which of a thousand overlapping entries are left out is said in runs."""
    session = begin(talk(200))
    disjoint = [entry(f"m{3 * number + 1}", f"m{3 * number + 3}") for number in range(50)]
    outcome = compress(session, *disjoint)
    assert len(outcome.folds) == 50
    assert outcome.text.split("\n")[21:] == ["- and 30 more blocks, to b50"]
    overlapping = compress(session, *[entry("m160", "m190")] * 1_000)
    assert len(overlapping.folds) == 1
    assert overlapping.text.endswith("\n- more entries: 9-999")


def test_a_long_receipt_of_many_blocks_names_what_stays_in_short() -> None:
    """Runs of messages and messages that stay are named up to six."""
    messages = [one for number in range(30) for one in (*read(f"p{number}", 10, "plan"), say("user", number))]
    session = begin([*messages, *talk(4)], protected_tools=["plan"])
    text = compress(session, entry("m1", "m90")).text
    assert "and 24 more runs" in text
    assert "since they cannot be folded yet: m00001, m00002, m00004, m00005, m00007, m00008 and 54 more" in text


def test_unreadable_arguments_are_shown_an_example_of_this_conversation() -> None:
    """The expected shape comes with refs that are there and pass, and with what can be compressed."""
    session = begin(talk(20))
    text = call(session, "compress", {"range": "all"}).text
    assert text.startswith("Nothing was changed.\nThe arguments of compress have no `content`.")
    assert '{"content": [{"startId": "m00001", "endId": "m00017", "summary": "..."}]}' in text
    assert text.endswith(f"Can be compressed now:\n- m00001 to m00017: 17,000 chars, {tokens(session, 17)} tokens")
    assert refs_in(text) <= there(session)


def tokens(session: CompressSession, count: int) -> str:
    """Tokens of the first messages, as written."""
    return f"{sum(one.tokens for one in session.state.seen[:count]):,}"


@pytest.mark.parametrize("arguments", [{}, "", "{", {"content": 7}, '{"content": [{"startId": "m1", "endId": "m'])
def test_with_nothing_to_compress_the_model_is_sent_on(arguments: Json) -> None:
    """No shape, no example, no word of calling again where that could not succeed."""
    session = begin(talk(4))
    text = call(session, "compress", arguments).text
    assert text.startswith("Nothing was changed.\n")
    assert text.endswith("\nNothing can be compressed now: go on with the task.")
    assert "gain" not in text.replace("again only", "")
    assert "Call" not in text
    assert refs_in(text) == set()


def test_too_little_to_compress_is_told_for_good() -> None:
    """Just below the least size, with nothing to add: the answer ends the matter, and does not say what to combine."""
    session = begin([*talk(4, 1_228), {"role": "user", "content": "so"}, *talk(4, 2)])
    outcome = compress(session, entry("m1", "m5"))
    assert only(outcome) == ("too-small", "the call names 4,914 chars that can be folded; at least 5,000 are needed")
    assert outcome.text.split("\n")[-1] == (
        "There is not enough to compress now: go on with the task, and call compress again much later."
    )


def test_a_summary_that_can_be_mended_is_not_sent_away() -> None:
    """Where only the summary of a block was wrong, the answer does not say that nothing can be done."""
    session = begin(talk(20), keep_recent=10)
    compress(session, entry("m1", "m10"))
    text = compress(session, entry("b1", "m11", "short")).text
    assert text.endswith("\nCall again only with a better summary; nothing else can be compressed now.")
