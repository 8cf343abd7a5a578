"""The extractive summary of sessions as they are: whole sentences, rules that outlive folds, no courtesies, in time."""

from __future__ import annotations

import re

import pytest

from trimtab.compaction import SummaryRequest
from trimtab.compaction.summarizers import ExtractiveSummarizer
from trimtab.compaction.summarizers.sentences import sentences
from trimtab.compaction.summarizers.units import tight, units_of
from trimtab.compaction.summarizers.words import tells_failure, tells_rule
from trimtab.tables import fold
from trimtab.testing.briefings import briefing
from trimtab.tokens import Estimate

COUNT = Estimate().count


def extract(history: str, budget: int, prior: str | None = None) -> str:
    """The summary of a history."""
    return ExtractiveSummarizer()(SummaryRequest(history=history, prior=prior, budget=budget, count=COUNT))


SPLIT = {
    "**Root cause:** `load` reads **kwargs; 2**8 is 256.": ["Root cause: `load` reads **kwargs; 2**8 is 256."],
    "- **Decision**: keep it": ["Decision: keep it"],
    "原因は**時間**です。": ["原因は時間です。"],
    "Ask Dr. Smith, Tel. +49-30-77. Or see p. 42, Nr. 7.": ["Ask Dr. Smith, Tel. +49-30-77.", "Or see p. 42, Nr. 7."],
    "Done. All 4 pass.": ["Done.", "All 4 pass."],
    "```diff\n-    return a\n+    return b\n```\n- and so on": ["`- return a + return b`", "and so on"],
    "In short:\n| a | b |\n|---|:--:|\n| 1 | **2** |\n| | 3 |\n\nSo it is.": [
        "In short:",
        "a: 1; b: 2",
        "b: 3",
        "So it is.",
    ],
    "a | b\n--|--\nx. Y | z": ["a: x. Y; b: z"],
    "yes | no\nx | y": ["yes | no", "x | y"],
    "yes\nyes\nno": ["yes", "no"],
}


@pytest.mark.parametrize("text", SPLIT)
def test_a_text_falls_into_whole_sentences(text: str) -> None:
    """Emphasis goes in pairs, abbreviations end nothing, code is whole, and what is said twice is there once.

    A row of a table says what its columns are.
    """
    assert list(sentences(text)) == [(said, True) for said in SPLIT[text]]


def test_long_code_is_no_sentence() -> None:
    """Of code that is too long to be taken whole no line stands in the summary, but what it names does."""
    code = "\n".join(f"    if row[{n}]: load_{n}('/srv/{n}.csv')" for n in range(40))
    assert not any(alone for _, alone in sentences(f"```\n{code}\n```"))
    summary = extract(f"User: What is wrong in it?\n```\n{code}\n```\n\nAssistant: Row 17 of 40 is empty.", 300)
    assert "What is wrong in it?" in summary
    assert "load_3" in summary
    assert "if row[" not in summary


def test_a_first_request_that_is_repeated_stays_the_first() -> None:
    """What was asked first and is asked again later outlives the folds after that, too."""
    prior: str | None = None
    for number in range(5):
        asked = "User: Why does it lose frames?\n\nAssistant: I will look.\n\n" if number < 2 else ""
        history = briefing(number, turns=4).history
        prior = extract(f"{history}\n\n{asked}" if number else asked + history, 300, prior)
    assert prior is not None
    assert "## Goal\n- Why does it lose frames?\n" in prior


def test_the_goal_is_what_is_asked_about_code() -> None:
    """A conversation that begins with pasted code is for what is asked about it: that outlives folds."""
    prior: str | None = None
    for number in range(4):
        asked = f"User: ```\nERROR frame {number} of 4711 lost\n```\nWhy does it lose frames?\n\n" if not number else ""
        prior = extract(asked + briefing(number, turns=4).history, 300, prior)
    assert prior is not None
    assert "Why does it lose frames?" in prior


def test_code_that_is_all_there_is_is_kept() -> None:
    """A request that is nothing but long code leaves its beginning, not nothing."""
    assert extract("User: ```\n" + "select a from b where c\n" * 40 + "```", 100)


def test_a_long_sentence_is_cut_between_words() -> None:
    """The pieces of a sentence without a full stop cut no url and no number."""
    words = [f"https://x.example.com/{n}/{'a' * (n % 50)}?n={n * 7919}" for n in range(200)]
    pieces = [piece for piece, _ in sentences(" ".join(words))]
    assert len(pieces) > 10
    assert " ".join(pieces).split(" ") == words
    assert max(len(piece) for piece, _ in sentences("7" * 100_000)) <= 2_000


RULES = {
    "en": "Never push to main, always use the branch release/x-77.",
    "de": "Niemals direkt auf main pushen, immer den Branch release/x-77 verwenden.",
    "zh": "绝对不要推送到main，务必使用分支release/x-77。",
    "ja": "mainには絶対にプッシュせず、必ずrelease/x-77を使ってください。",
    "ko": "main에 절대 푸시하지 말고 항상 release/x-77을 사용하세요.",
    "ru": "Никогда не пушь в main, всегда используй release/x-77.",
}


@pytest.mark.parametrize("language", RULES)
def test_a_rule_of_the_users_outlives_six_folds(language: str) -> None:
    """What the user asked never or always to be done is there word for word as long as the conversation lasts."""
    assert tells_rule(fold(RULES[language]))
    prior: str | None = None
    for seed in range(6):
        history = briefing(seed, turns=8).history
        if not seed:
            history = f"User: We move project ZEUS-4242. {RULES[language]}\n\nAssistant: I will.\n\n{history}"
        prior = extract(history, 1_500, prior)
    assert prior is not None
    assert RULES[language] in prior
    assert "ZEUS-4242" in prior


@pytest.mark.parametrize(
    "text",
    [
        "Connection refused: 10.134.121.213:9092",
        "What about cust_77aa12?",
        "Please bump it to 7.14.23.",
        "Bitte prüfe OPS-4711.",
        "请检查接口。",
        "注文の商品がまだ届きません。",
        "Проверь OPS-4711.",
    ],
)
def test_a_plain_request_is_no_rule(text: str) -> None:
    """What is asked once does not take the room of what is to hold from then on."""
    assert not tells_rule(fold(text))


def test_rules_stay_while_their_share_holds_them() -> None:
    """Five rules, said in different folds between many requests, are all there after six."""
    rules = [f"Never touch /srv/vault/{number}." for number in range(5)]
    prior: str | None = None
    for seed in range(6):
        said = f"User: {rules[seed]}\n\nAssistant: I will not.\n\n" if seed < 5 else ""
        prior = extract(said + briefing(100 + seed, turns=8).history, 800, prior)
    assert prior is not None
    assert [rule for rule in rules if rule not in prior] == []


def test_the_first_request_outlives_folds_whatever_is_asked_last() -> None:
    """What the conversation is for stays, however little room there is and however long the newest request is."""
    prior: str | None = extract("User: My order #38902428 has not arrived.\n\nAssistant: It is at depot 9.", 300)
    for number in range(6):
        rule = f"Never send the money for A-{number} to IBAN DE9364218629923907852{number}, but only to the card."
        history = f"{briefing(number, turns=4).history}\n\nUser: {rule}\n\nAssistant: Noted for A-{number}."
        prior = extract(history, 300, prior)
        assert "My order #38902428 has not arrived." in prior


def test_decisions_and_failures_have_room_of_their_own() -> None:
    """However many facts there are, something that was decided and something that failed is told in a sentence."""
    for seed in range(5):
        summary = extract(briefing(seed, turns=20).history, 400)
        assert "## Decisions\n- " in summary
        assert "## Failed\n- " in summary


def test_a_rule_that_is_repeated_keeps_its_place() -> None:
    """What was ruled first and is said again goes before rules that came between."""
    said = [f"Never touch /srv/vault/{number} before the audit of {number}." for number in range(40)]
    history = "\n\n".join(f"User: {rule}\n\nAssistant: Noted." for rule in [*said, said[0], "Go on."])
    assert said[0] in extract(history, 300)


def test_a_step_ends_between_words() -> None:
    """What came of a call is cut so that no url or path is half."""
    lines = "".join(f"{'x' * (n % 30)} https://a.example.com/{n}/{n * 7919}/index.html " for n in range(30))
    history = "\n\n".join(
        f"User: {n}?\n\nAssistant: [called get: {{}}]\n\nTool: [get returned: {lines[n:]}]" for n in range(1, 20)
    )
    steps = re.findall("https://a[^ \n;…]*(?=…)", extract(history, 2_000))
    assert [url for url in steps if not url.endswith("index.html")] == []


def test_a_sentence_that_begins_with_also_is_no_list_of_facts() -> None:
    """A request is taken up whole by the next fold, however it begins."""
    asked = "Also: the customer is cust_77aa12; use only EUR for it."
    first = extract(f"User: Make the invoice for A-4711.\n\nAssistant: Made it.\n\nUser: {asked}", 400)
    assert f"- {asked}" in extract("User: And now?\n\nAssistant: It is sent, as A-4711.", 400, first)


def test_announcements_and_courtesies_take_no_room() -> None:
    """What the assistant says between two calls and names nothing is left out; what it found is not."""
    history = (
        'User: Why does job_77 fail?\n\nAssistant: Running the tests again.\n[called run: {"only":"job_77"}]\n\n'
        "Tool: [run returned: ok]\n\nAssistant: The cause cannot be the lock, it is never taken.\n[called run: {}]\n\n"
        "Tool: [run returned: ok]\n\nAssistant: job_77 waits for itself."
    )
    summary = extract(history, 400)
    assert "Running the tests" not in summary
    assert "cannot be the lock" in summary


def test_a_step_says_what_came_of_it() -> None:
    """A call is its name and the values of its arguments; of an error the line that names it is kept."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nValueError: no row 4711'
    history = (
        f'User: Mend it.\n\nAssistant: [called run: {{"command":"pytest a.py"}}]\n\n'
        f"Tool: [run returned an error: {trace}]\n\nAssistant: I will look at a.py."
    )
    assert "- run pytest a.py → error: ValueError: no row 4711" in extract(history, 400).partition("## Failed")[2]


def test_a_step_in_few_words_says_what_came_of_it() -> None:
    """Where there is little room, a call that names nothing still has the beginning of its outcome."""
    said = "[called look_up: {}]\n\nTool: [look_up returned: the refund is allowed within a month of the purchase]"
    history = f"User: May I?\n\nAssistant: {said}\n\nAssistant: You may."
    step = next(one for one in units_of(history) if one.source == "step")
    assert tight(step).startswith("look_up {} → the refund is allowed")


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("The login failed with code 7.", True),
        ("The error is fixed in 9ab12cd.", False),
        ("Error rate is down to 2 %.", False),
        ("错误率从6.5%降到2%，已修复。", False),
        ("第一次重试失败，返回码88。", True),
    ],
)
def test_what_is_mended_has_not_failed(text: str, failed: bool) -> None:
    """A failure that is over, and the count of failures, are no failure."""
    assert tells_failure(fold(text)) is failed


def test_a_pasted_log_does_not_push_out_what_is_asked() -> None:
    """Of a long text that a user pastes, what stands before and behind it is worth more than its middle."""
    log = "\n".join(f"2026-03-04 12:00:{n % 60:02d} ERROR worker-{n}: frame {n * 7919:x} lost" for n in range(3_000))
    history = f"User: Here is the log of node-17.\n{log}\nWhy is INC-20417 back? Never restart node-17."
    summary = extract(f"{history}\n\nAssistant: Disk sdb4 of node-17 is full.", 600)
    for kept in ("Why is INC-20417 back?", "Never restart node-17.", "Disk sdb4 of node-17 is full."):
        assert kept in summary


def test_the_newest_of_what_is_said_twice_is_the_state() -> None:
    """A conclusion that was drawn before, and is drawn again at last, is the newest state."""
    again = "The queue of node-17 is empty."
    talk = (
        f"User: How is it?\n\nAssistant: {again}\n\nUser: And node-18?\n\nAssistant: node-18 waits for disk sdb4.\n\n"
    )
    summary = extract(f"{talk}User: And node-17 now?\n\nAssistant: {again}", 400)
    assert again in summary.partition("## State")[2]
    assert summary.count(again) == 1


class Counted:
    """A counter that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, text: str) -> int:
        self.calls += 1
        return COUNT(text)


@pytest.mark.parametrize("as_prior", [False, True])
@pytest.mark.parametrize("between", [" ", "\n", ". "])
def test_what_finds_no_room_is_not_counted(between: str, as_prior: bool) -> None:
    """Of very many facts no more are counted than there is room for, and some."""
    text = between.join(f"A-{number}" for number in range(40_000))
    count = Counted()
    history, prior = ("User: go on", text) if as_prior else (f"User: {text}", None)
    summary = ExtractiveSummarizer()(SummaryRequest(history=history, prior=prior, budget=500, count=count))
    assert COUNT(summary) <= 500
    assert count.calls < 4_000


@pytest.mark.parametrize("count", [len, lambda text: len(text.split(" ")), lambda text: 0, lambda text: 7])
@pytest.mark.parametrize("budget", [1, 5, 20, 100])
def test_any_counter_will_do(count: object, budget: int) -> None:
    """By whatever is counted, and however little room there is, the budget is kept."""
    history = briefing(2, turns=3).history
    summary = ExtractiveSummarizer()(SummaryRequest(history=history, prior=None, budget=budget, count=count))  # type: ignore[arg-type]
    assert not summary or count(summary) <= budget  # type: ignore[operator]
    assert re.search("[\ud800-\udfff]", summary) is None
