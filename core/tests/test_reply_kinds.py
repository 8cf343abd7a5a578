"""`parse_summary` on what real models reply: wrappings in many spellings, notes beside code, refusals and reports."""

from __future__ import annotations

import json
from typing import Final

import pytest

from trimtab.compaction.asking.prose import LEAST_PROSE, is_prose
from trimtab.compaction.asking.reply import parse_summary

SUMMARY: Final = (
    "## Goal\n- Fix the export of AB-12.\n\n## Decisions\n- Keep the cursor open until 500 rows are written.\n\n"
    "## State\n- Done: the patch in src/app/main.py; open: its review."
)
WHOLE: Final = json.dumps({"summary": SUMMARY})

WRAPPED: Final = {
    "a fence in capitals": f"```Markdown\n{SUMMARY}\n```",
    "a fence with more behind its language": f'```markdown title="Summary"\n{SUMMARY}\n```',
    "a fence called summary": f"```summary\n{SUMMARY}\n```",
    "a fence with Windows' newlines": f"```markdown\r\n{SUMMARY}\r\n```\r\n",
    "tags in capitals": f"<SUMMARY>\n{SUMMARY}\n</SUMMARY>",
    "tags with attributes": f'<summary lang="en">\n{SUMMARY}\n</summary>',
    "tags with blanks": f"<summary >\n{SUMMARY}\n</summary >",
    "tags in tags": f"<summary><summary>{SUMMARY}</summary></summary>",
    "an end tag whose beginning was written for the model": f"{SUMMARY}\n</summary>",
    "tags around a fence": f"<summary>\n```markdown\n{SUMMARY}\n```\n</summary>",
    "JSON behind some lines": f"Sure!\nHere is the summary as JSON:\n\n```json\n{WHOLE}\n```\nI hope it helps.",
    "JSON before a line": f"{WHOLE}\n\nLet me know if you need more.",
    "JSON in an object": json.dumps({"result": {"summary": SUMMARY}}),
    "JSON in objects and lists": json.dumps([{"response": {"summary": SUMMARY, "n": 1}}]),
    "JSON with its name in capitals": json.dumps({"SUMMARY": SUMMARY}),
    "JSON as a string in a string": json.dumps(json.dumps(WHOLE)),
    "JSON beside an error that is null": json.dumps({"error": None, "summary": SUMMARY}),
    "channels": f"<|channel|>analysis<|message|>Hm.<|end|>"
    f"<|start|>assistant<|channel|>final<|message|>{SUMMARY}<|return|>",
    "notes in capitals": f"<PLANNING>\nHm.\n</PLANNING>\n\n{SUMMARY}",
    "notes of its own in capitals": f"<NOTES_TO_SELF>Hm.</NOTES_TO_SELF>\n{SUMMARY}",
    "notes with a fence that is not closed": f"<analysis>\n```\nfoo\n</analysis>\n{SUMMARY}",
    "notes with such a fence, then tags": f"<thinking>\n```py\nx\n</thinking>\n<summary>\n{SUMMARY}\n</summary>",
    "notes in which their tag stands once more": f"<analysis>a\n<analysis>\nb</analysis>\n{SUMMARY}",
    "notes with an odd backtick": f"<think>a ` b</think>\n{SUMMARY}",
}

KEPT: Final = {
    "a fence around a fence, without a language": (
        f"```\n{SUMMARY}\n```py\nx = 1\n```\nend\n```",
        f"{SUMMARY}\n```py\nx = 1\n```\nend",
    ),
    "an end tag in a block of code": (
        f"<summary>\n{SUMMARY}\n```xml\n</summary>\n```\nend\n</summary>",
        f"{SUMMARY}\n```xml\n</summary>\n```\nend",
    ),
    "an end tag in a block of code, cut": (
        f"<summary>\n{SUMMARY}\n```xml\n</summary>\n```\nend",
        f"{SUMMARY}\n```xml\n</summary>\n```\nend",
    ),
    "an end tag in backticks": (
        f"<summary>\n{SUMMARY}\nIt strips `</summary>` now.\n</summary>",
        f"{SUMMARY}\nIt strips `</summary>` now.",
    ),
}

AS_IT_IS: Final = {
    "code between backticks": f"{SUMMARY}\nThe prompt says `<think>plan</think>` first.",
    "code between two backticks": f"{SUMMARY}\nThe prompt says ``<analysis>a ` b</analysis>`` first.",
    "a sentence that cites JSON": 'The API now returns {"summary": "x"} instead of text, as asked: 42 tests pass.',
    "a line of JSON that is cited": (
        'The endpoint /v1/sum was changed. It says:\n{"summary": "x", "tokens": 4}\nTests pass, 42 of 42; nothing is '
        "open any more, and the user is content with it."
    ),
    "code at both ends": f"```\nx = 1\n```\n{SUMMARY}\n```\ny = 2\n```",
    "a state that has an error": json.dumps({"goal": "Export AB-12 to /srv/out.csv", "error": "timeout after 30 s"}),
    "HTML that folds": f"<details>\n<summary>Goal</summary>\n{SUMMARY}\n</details>",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_the_wrapping_goes_and_nothing_else(name: str) -> None:
    """However a model spells what it puts around a summary, the summary is what is left."""
    assert parse_summary(WRAPPED[name]) == SUMMARY


@pytest.mark.parametrize("name", KEPT)
def test_tags_and_fences_inside_stay(name: str) -> None:
    """What stands in a summary's own code neither ends it nor is taken for a wrapping."""
    reply, expected = KEPT[name]
    assert parse_summary(reply) == expected


@pytest.mark.parametrize("name", AS_IT_IS)
def test_a_text_that_speaks_of_wrappings_stays(name: str) -> None:
    """A summary that cites tags, JSON or code is not cut down to what it cites."""
    assert parse_summary(AS_IT_IS[name]) == AS_IT_IS[name]


@pytest.mark.parametrize("length", range(9, len(f"<summary>{SUMMARY}</summary>") + 1))
def test_a_cut_in_tags_leaves_no_piece_of_them(length: int) -> None:
    """Cut off anywhere, the summary is what came of it, without a piece of the end tag; too little is none."""
    came = f"<summary>{SUMMARY}</summary>"[9:length]
    came = came.removesuffix("</summary>") if came.endswith(">") else came.split("</", 1)[0]
    summary = parse_summary(f"<summary>{came}" + f"<summary>{SUMMARY}</summary>"[9 + len(came) : length])
    expected = came.removesuffix("<").strip()
    assert summary in ((came.strip(), expected) if len(expected) >= LEAST_PROSE else (None,))


BROKEN: Final = {
    "what FastAPI says": '{"detail": "Rate limit exceeded. Please retry after 20 seconds, or raise your quota."}',
    "what a gateway says": '{"status": 503, "message": "Service temporarily unavailable, please try again later on"}',
    "what a server says": '{"object":"error","message":"The model does not exist, try another one","code":404}',
    "an error in a list": '[{"error": {"code": 429, "message": "Resource has been exhausted (e.g. check quota)."}}]',
    "a page behind a comment": "<!-- x -->\n<!DOCTYPE html><html><body>Bad gateway, please try again</body></html>",
    "a page without its beginning": "<head><title>503 Service Temporarily Unavailable</title></head><body>x</body>",
    "XML": '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
    "headings alone": "## Goal\n\n## Decisions\n\n## Failed\n\n## Facts\n\n## State\n\n## What to do next\n",
    "only the first channel": "<|channel|>analysis<|message|>I have to look at all of it, and then I write it down.",
    "a heading in tags": "<summary>## Summary</summary>",
    "no content, in tags": "<summary>[No content.]</summary>",
    "nothing, in JSON": '{"summary": "There is nothing to summarize."}',
    "nothing, in Chinese": "<summary>暂无内容。</summary>",
    "nothing, in Japanese": '{"summary": "なし。"}',
    "a filler that is a letter": "<summary>\u3164</summary>",
}


@pytest.mark.parametrize("name", BROKEN)
def test_errors_and_empties_are_none(name: str) -> None:
    """An error's body, a page of a gateway's, and ways to say nothing are no summary."""
    assert parse_summary(BROKEN[name]) is None


REFUSALS: Final = [
    "I won't be able to summarize this conversation for you today, because it holds private data.",
    "I do not feel comfortable summarizing this conversation, because of the contents that it has.",
    "I don't have access to the conversation. Please provide the text you'd like me to summarize here.",
    "There is no conversation to summarize. Please share the conversation and I'll be glad to help you.",
    "It looks like you didn't include the conversation. Could you paste the text you want summarized?",
    "Please provide the conversation that you would like me to summarize, and I will get started on it.",
    "I regret that I cannot fulfil this request, since it conflicts with the guidelines I must follow.",
    "Tyvärr kan jag inte sammanfatta den här konversationen, eftersom den strider mot mina riktlinjer.",
    "Beklager, men jeg kan ikke hjelpe med denne forespørselen, fordi den bryter mot retningslinjene mine.",
    "Valitettavasti en voi auttaa tässä pyynnössä, koska se on vastoin minulle annettuja käyttöohjeita.",
    "Omlouvám se, ale s tímto požadavkem nemohu pomoci, protože je v rozporu s mými pravidly a zásadami.",
    "Sajnálom, de ebben a kérésben nem tudok segíteni, mert ellentétes a rám vonatkozó szabályokkal itt.",
    "Îmi pare rău, dar nu pot ajuta cu această solicitare, deoarece încalcă regulile stabilite pentru mine.",
    "Λυπάμαι, αλλά δεν μπορώ να βοηθήσω με αυτό το αίτημα, επειδή παραβιάζει τους κανόνες χρήσης μου.",
    "Вибачте, але я не можу допомогти з цим запитом, оскільки він порушує встановлені правила системи.",
    "אני מצטער, אבל אני לא יכול לעזור בבקשה הזו, משום שהיא מנוגדת לכללים שנקבעו לי על ידי המפתחים.",
    "متأسفم، نمی\u200cتوانم در این درخواست به شما کمک کنم، زیرا با قوانین تعیین شده برای من مغایرت دارد.",
    "ขออภัย ฉันไม่สามารถช่วยเหลือคำขอนี้ได้ เนื่องจากขัดต่อนโยบายการใช้งานที่กำหนดไว้สำหรับระบบนี้ในขณะนี้",
    "我无法对这段对话进行总结，因为其中的内容违反了相关的使用政策和安全规定，请您换一个其他的问题再来问我吧，非常感谢您的理解与支持。",
]

REPORTS: Final = [
    "I can't reproduce bug AB-12 on main: the tests pass with Python 3.11 and 3.12; on 3.13 one fails at line 40.",
    "Sorry, I misread the first request. The user wants the report for AB-12 in /srv/report.pdf, 12 pages, by Monday.",
    "Unfortunately, I could not reach https://api.example.com (timeout after 30 s), so AB-12 is still open.",
    "As an AI feature of the app, the user wants a chat window in src/chat.tsx; see http://localhost:3000.",
    "I will not share this password again: the key in /etc/app.env was to be rotated; done at 10:30, its id is k-42.",
    "Leider kann ich den Fehler AB-12 in src/a.py nicht nachstellen: unter Python 3.11 laufen alle 42 Tests durch.",
    "Disculpe al usuario: el correo debe enviarse a billing@example.com el 3 de mayo con el pedido A-4711.",
    "Maaf, laporan AB-12 salah; pengguna ingin yang baru di /srv/report.pdf, 12 halaman, sebelum hari Senin.",
    "I don't have the history of branch release/2.1 yet; the user will push it to git@example.com by 3 May, see AB-12.",
]


@pytest.mark.parametrize("reply", REFUSALS)
def test_who_refuses_or_was_given_nothing_has_no_summary(reply: str) -> None:
    """In more languages, in longer words, and where the model says that it sees no conversation."""
    assert len(reply) >= LEAST_PROSE
    assert parse_summary(reply) is None


@pytest.mark.parametrize("reply", REPORTS)
def test_a_report_that_begins_like_a_refusal_is_kept(reply: str) -> None:
    """A short summary of real work is lost to no word of regret: it names what was worked on."""
    assert parse_summary(reply) == reply


def test_dots_without_end_are_looked_at_only_so_far() -> None:
    """Megabytes that say nothing are no summary, and are not searched to their end for a word."""
    assert parse_summary("." * 10_000_000 + "word") is None


WIDE: Final = [
    "用户要求修复登录超时问题，已把上限改为三十秒。测试全部通过，等待发布。",
    "ユーザーは請求書の再発行を依頼し、金額を修正して送付済み。",
    "사용자는 로그인 오류 수정을 요청했고 제한을 늘렸다.",
    "แก้ไขปัญหาแล้วและทดสอบผ่านทั้งหมด",
]


@pytest.mark.parametrize("summary", WIDE)
def test_a_char_of_a_script_without_blanks_counts_as_three(summary: str) -> None:
    """Two sentences of Chinese are prose, in half as many chars as English needs: plain, cut off and behind notes."""
    assert 20 < len(summary) < LEAST_PROSE
    assert parse_summary(summary) == summary
    assert parse_summary('{"summary": "' + summary) == summary
    assert parse_summary(f"I look at it.\n</think>\n{summary}") == summary


@pytest.mark.parametrize("said", ["好" * 16, "好" * 8 + "a" * 25, "Fertig, alles gut."])
def test_what_is_too_short_is_no_prose(said: str) -> None:
    """Sixteen Chinese chars are as many as 48 of another script."""
    assert parse_summary(said) is None
    assert parse_summary(f"<summary>{said}</summary>") == said


SHORT_REFUSALS: Final = [
    "抱歉，这个请求违反了规定，我不能对它进行总结。",
    "我没有看到任何对话内容，因此写不出您要的摘要。",
    "没有可以总结的内容，请把对话发给我之后再试一次。",
    "好的，请您先提供需要总结的对话内容，我会马上开始。",
    "要約する会話が見当たりません。もう一度お送りください。",
    "お手数ですが、要約したい会話の内容をご提供ください。",
    "요약할 대화 내용이 없습니다. 다시 보내 주시기 바랍니다.",
    "요약하실 대화를 먼저 여기에 제공해 주세요. 기다리겠습니다.",
]


@pytest.mark.parametrize("reply", SHORT_REFUSALS)
def test_a_short_refusal_is_long_enough_to_be_one(reply: str) -> None:
    """What was too short to be a summary before chars counted for more is known as a refusal."""
    assert is_prose(reply)
    assert parse_summary(reply) is None


@pytest.mark.parametrize("mark", ["<think>\n<summary>", "</think> and ", "<summary>\n", "```\n", "~~~\n", "[THINK]"])
def test_a_model_that_repeats_itself_gives_no_summary(mark: str) -> None:
    """Tags and fences by the thousands are no reply that anybody meant; hundreds may be."""
    assert parse_summary(f"{mark * 60_000}{SUMMARY}") is None
    assert parse_summary('{"summary": ' + json.dumps(f"{mark * 60_000}{SUMMARY}") + "}") is None


def test_hundreds_of_blocks_are_a_summary() -> None:
    """A long summary with code in it is kept as it is."""
    summary = "\n".join(f"- {n}: run\n```sh\nmake target-{n}\n```" for n in range(400))
    assert parse_summary(summary) == summary
