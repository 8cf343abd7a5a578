"""`parse_summary`: what counts as a summary among all that models reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.compaction.asking.asides import code_blocks
from trimtab.compaction.asking.prose import LEAST_PROSE
from trimtab.compaction.asking.reply import parse_summary

SUMMARY = "The user asked for the invoice of order A-4711; it was sent to billing@example.com on 3 May."
CODE = "The tags are written like this, and that must stay as it is:\n\n```\n<analysis>kept</analysis>\n\n\n\nx\n```"

KEPT = {
    "prose": (SUMMARY, SUMMARY),
    "white space around": (f"\ufeff\n\n  {SUMMARY}\u3000\n", SUMMARY),
    "three newlines are two": ("a" * 60 + "\n\n\n\n" + "b" + "\r\n\r\n\r\nc", "a" * 60 + "\n\nb\n\nc"),
    "a fence": (f"```\n{SUMMARY}\n```", SUMMARY),
    "a fence of Markdown": (f"```markdown\n## Goal\n{SUMMARY}\n```\n", f"## Goal\n{SUMMARY}"),
    "a fence of tildes": (f"~~~text\n{SUMMARY}\n~~~", SUMMARY),
    "a fence that is not closed": (f"```\n{SUMMARY}", SUMMARY),
    "a fence around fences": (
        f"```markdown\n{SUMMARY}\n```python\nx = 1\n```\nend\n```",
        f"{SUMMARY}\n```python\nx = 1\n```\nend",
    ),
    "two fences are not one": (f"```\na\n```\n{SUMMARY}\n```\nb\n```", f"```\na\n```\n{SUMMARY}\n```\nb\n```"),
    "real code stays code": (f"```python\n# {SUMMARY}\n```", f"```python\n# {SUMMARY}\n```"),
    "JSON": (json.dumps({"summary": "Short."}), "Short."),
    "JSON with more members": (json.dumps({"title": "t", "summary": SUMMARY, "n": 1}), SUMMARY),
    "JSON in a fence": (f"```json\n{json.dumps({'summary': SUMMARY})}\n```", SUMMARY),
    "JSON behind a word": (f"Here it is:\n```json\n{json.dumps({'summary': SUMMARY})}\n```", SUMMARY),
    "JSON as a string": (json.dumps(json.dumps({"summary": SUMMARY})), SUMMARY),
    "JSON in a list": (json.dumps([{"summary": SUMMARY}]), SUMMARY),
    "JSON in single quotes": ("{'summary': 'Short, and in Python.'}", "Short, and in Python."),
    "JSON with raw newlines": ('{"summary": "line one\nline two"}', "line one\nline two"),
    "JSON with a list of lines": (json.dumps({"summary": ["- one", "- two"]}), "- one\n- two"),
    "JSON cut in the text": ('{"summary": "' + SUMMARY, SUMMARY),
    "JSON cut before its brace": ('{"summary": "' + SUMMARY + '"', SUMMARY),
    "JSON cut in a fence": ('```json\n{"summary": "' + SUMMARY, SUMMARY),
    "JSON of another form": ('{"goal": "' + SUMMARY + '"}', '{"goal": "' + SUMMARY + '"}'),
    "tags around all": (f"<summary>\n{SUMMARY}\n</summary>", SUMMARY),
    "tags around little": ("<summary>Done.</summary>", "Done."),
    "tags that are not closed": (f"<summary>\n{SUMMARY}", SUMMARY),
    "tags around a part": (f"<summary>{SUMMARY}</summary> And more.", f"<summary>{SUMMARY}</summary> And more."),
    "tags twice": (
        f"<summary>{SUMMARY}</summary>\n<summary>b</summary>",
        f"<summary>{SUMMARY}</summary>\n<summary>b</summary>",
    ),
    "notes before": (f"<analysis>\nhm\n</analysis>\n\n<summary>{SUMMARY}</summary>", SUMMARY),
    "notes of several kinds": (
        f"<thinking>a</thinking><assessment>b</assessment>\n<scratchpad>c</scratchpad>{SUMMARY}<think>d</think>",
        SUMMARY,
    ),
    "notes inside notes": (f"<analysis>a<analysis>b</analysis>c</analysis>{SUMMARY}", SUMMARY),
    "notes of a kind inside others": (f"<analysis>a<thinking>b</analysis>{SUMMARY}", SUMMARY),
    "notes with attributes": (f'<Thinking mode="deep">a</Thinking>\n{SUMMARY}', SUMMARY),
    "notes spelt otherwise": (f"<seed:think>a</seed:think>◁think▷b◁/think▷[THINK]c[/THINK]{SUMMARY}", SUMMARY),
    "notes without a beginning": (f"Let me see what there is.\n</think>\n\n{SUMMARY}", SUMMARY),
    "notes without an end": (f"<thinking>\nLet me see.\n\n<summary>{SUMMARY}</summary>", SUMMARY),
    "notes at the end, cut": (f"{SUMMARY}\n<thinking>And n", SUMMARY),
    "an end without notes": (f"{SUMMARY}\n</analysis>", SUMMARY),
    "notes in a fence of all": (f"```\n<analysis>a</analysis>\n<summary>{SUMMARY}</summary>\n```", SUMMARY),
    "notes, then JSON": (f"<think>a</think>{json.dumps({'summary': SUMMARY})}", SUMMARY),
    "notes in JSON": (json.dumps({"summary": f"<think>a</think>{SUMMARY}"}), SUMMARY),
    "notes in code": (CODE, CODE),
    "tags that are spoken of": (
        f"{SUMMARY} It strips `<analysis>` and </analysis> tags.",
        f"{SUMMARY} It strips `<analysis>` and </analysis> tags.",
    ),
    "pieces do not become a tag": (f"{SUMMARY} <thi<think>a</think>nk>", f"{SUMMARY} <thi\nnk>"),
    "a refusal that is reported": (
        f"{SUMMARY} Then it said: I can't help with that.",
        f"{SUMMARY} Then it said: I can't help with that.",
    ),
    "sorry, and then a summary": (
        f"I'm sorry, but here is only an outline.\n- {SUMMARY}\n- Open: none.",
        f"I'm sorry, but here is only an outline.\n- {SUMMARY}\n- Open: none.",
    ),
    "what could not be done": ("I can't open /etc/shadow without root, so I asked the user; the user said no to it.",)
    * 2,
    "NUL and half a pair": (f"{SUMMARY}\0\ud800", f"{SUMMARY}\ufffd\ufffd"),
    "Chinese": (
        "用户要求导出订单 A-4711 的发票，并发送到 billing@example.com；第一次导出失败，第二次成功，文件在 /tmp/a.pdf。",
    )
    * 2,
}

NONE: dict[str, Any] = {
    "nothing": "",
    "white space": " \t\r\n\u200b\u3000",
    "None": None,
    "a number": 7,
    "bytes": SUMMARY.encode(),
    "an object": {"summary": SUMMARY},
    "short prose": "Done.",
    "prose of 49 chars": "a" * (LEAST_PROSE - 1),
    "no words": "-" * 80,
    "only notes": "<analysis>" + SUMMARY + "</analysis>",
    "only notes, cut": "<thinking>\n" + SUMMARY,
    "only notes in a fence": f"```\n<scratchpad>{SUMMARY}</scratchpad>\n```",
    "notes and empty tags": f"<analysis>{SUMMARY}</analysis><summary></summary>",
    "empty tags": "<summary>\n \n</summary>",
    "an empty member": '{"summary": ""}',
    "a blank member": '{"summary": " \\n "}',
    "a member that is null": '{"summary": null}',
    "a member that is a number": '{"summary": 12}',
    "an empty list": '{"summary": []}',
    "nothing in words": '{"summary": "N/A"}',
    "none in Chinese": '{"summary": "无"}',
    "JSON cut early": '{"summary": "The user',
    "JSON cut before the text": '{"summary": ',
    "tags cut early": "<summary>The user asked",
    "an error as JSON": json.dumps({"error": {"message": "The model is overloaded, try again later.", "code": 529}}),
    "an error page": "<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>",
    "a refusal in tags": "<summary>I cannot help with that.</summary>",
    "a refusal in JSON": '{"summary": "I\'m sorry, but I can\'t assist with that request."}',
    "a refusal behind notes": "<think>hm</think>I'm sorry, but I can't assist with that request, as it is.",
}

REFUSALS = [
    "I can't help with summarizing this conversation, because it holds content that I may not process.",
    "I can’t help with that. If you have another request, I would be glad to look at it with you.",
    "I'm sorry, but I cannot provide a summary of this conversation. Please try something else instead.",
    "Sorry, I can't assist with that request, as it might break the rules that I have been given.",
    "I must respectfully decline to summarize this conversation, given what it contains throughout.",
    "As an AI language model, I am not in a position to give summaries of conversations like this one.",
    "Es tut mir leid, aber ich kann bei dieser Anfrage nicht helfen, da sie gegen die Richtlinien verstößt.",
    "Ich kann Ihnen dabei leider nicht helfen. Bitte stellen Sie eine andere Frage, ich helfe gern weiter.",
    "Je suis désolé, mais je ne peux pas vous aider avec cette demande, car elle enfreint les règles.",
    "Lo siento, pero no puedo ayudar con esa solicitud porque va en contra de las normas establecidas.",
    "Desculpe, mas não posso ajudar com esse pedido, porque ele vai contra as regras estabelecidas.",
    "Mi dispiace, ma non posso aiutarti con questa richiesta perché va contro le regole stabilite.",
    "Het spijt me, maar ik kan niet helpen met dit verzoek, omdat het tegen de regels zou ingaan.",
    "Przykro mi, ale nie mogę pomóc w tej sprawie, ponieważ jest to niezgodne z moimi zasadami.",
    "Üzgünüm, ancak bu istekte yardımcı olamam çünkü belirlenmiş olan kurallara aykırı bir istek.",
    "Извините, но я не могу помочь с этим запросом, поскольку он нарушает установленные правила.",
    "很抱歉，我无法帮助您完成这个请求，因为这段对话的内容违反了相关的使用政策和安全规定。如果您有其他问题，我很乐意继续为您提供帮助和支持，谢谢理解。",
    "申し訳ありませんが、このリクエストにはお応えできません。会話の内容が利用規約に違反している可能性があるためです。ほかのご質問をどうぞ。",
    "죄송합니다. 이 요청은 도와드릴 수 없습니다. 대화 내용이 이용 정책에 어긋나기 때문입니다. 다른 질문을 해 주세요.",
    "عذرًا، لا أستطيع المساعدة في هذا الطلب لأنه يخالف القواعد المعمول بها هنا، يرجى طرح سؤال آخر.",
    "क्षमा करें, मैं इस अनुरोध में सहायता नहीं कर सकता क्योंकि यह निर्धारित नियमों के विरुद्ध जाता है।",
]


@pytest.mark.parametrize("name", KEPT)
def test_a_summary_is_found(name: str) -> None:
    """Whatever stands around a summary, it is found, and only the wrapping goes."""
    reply, expected = KEPT[name]
    assert parse_summary(reply) == expected


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_summary_is_none(name: str) -> None:
    """Nothing, notes only, a refusal, an error, or too little of it is no summary."""
    assert parse_summary(NONE[name]) is None


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_is_none_in_many_languages(reply: str) -> None:
    """A reply that only refuses is long enough to be a summary, and is none."""
    assert len(reply) >= LEAST_PROSE
    assert parse_summary(reply) is None
    assert parse_summary(f"<summary>{reply}</summary>") is None


TAGS = ["<analysis>", "</analysis>", "<think>", "</think>", "<summary>", "</summary>", "<scratchpad>", "</Thinking>"]
PIECES = st.sampled_from(
    [
        *TAGS,
        "```",
        "```json",
        "~~~",
        "\n",
        "\n\n\n\n",
        '{"summary": "',
        '"}',
        "{",
        "[",
        '"',
        "\\",
        " ",
        SUMMARY,
        "用户",
        "\0",
    ]
)
REPLIES = st.one_of(st.text(), st.lists(PIECES, max_size=14).map("".join))


@given(REPLIES)
@settings(max_examples=400, deadline=None)
def test_nothing_raises_and_a_summary_is_one(reply: str) -> None:
    """Any text gives None, or a text with something in it, storable, and no longer than it was."""
    summary = parse_summary(reply)
    if summary is not None:
        assert summary == summary.strip(" \t\r\n")
        assert summary
        assert "\0" not in summary
        summary.encode()
        assert len(summary) <= len(reply)
    assert parse_summary(reply) == summary


@given(st.lists(st.sampled_from([*TAGS, "a", "\n", " ", SUMMARY]), max_size=12).map("".join))
@settings(max_examples=300, deadline=None)
def test_a_summary_read_again_is_the_same(reply: str) -> None:
    """What is left has no notes and no wrapping any more; only that it was marked as a summary is gone."""
    summary = parse_summary(reply)
    if summary is not None and len(summary) >= LEAST_PROSE:
        assert parse_summary(summary) == summary


@given(st.lists(st.sampled_from(["a", "<think>", "</think>", "\n\n\n\n", " ", "<summary>"]), max_size=12).map("".join))
@settings(max_examples=200, deadline=None)
def test_code_stays_byte_for_byte(code: str) -> None:
    """Whatever stands in a code block of a summary stays."""
    reply = f"{SUMMARY}\n\n```text\n{code}\n```\n\nEnd of it."
    summary = parse_summary(reply)
    assert summary is not None
    assert f"```text\n{code}\n```" in summary


@given(st.dictionaries(st.text(max_size=5), st.integers(), max_size=3) | st.binary() | st.floats() | st.none())
@settings(max_examples=50, deadline=None)
def test_what_is_no_text_is_none(reply: object) -> None:
    """A reply of any other type is no summary."""
    assert parse_summary(reply) is None


MEGABYTES = {
    "prose": SUMMARY,
    "openers": "<think>",
    "closers": "</think>",
    "nested": "<analysis><think></analysis>",
    "half tags": "<thi<think></think>nk>",
    "spoken of": "`<think>` ",
    "fences": "```\n",
    "backticks": "`",
    "newlines": "\n",
    "summaries": "<summary>",
    "quotes": '"',
}


@pytest.mark.parametrize("name", MEGABYTES)
def test_a_huge_reply_takes_steps_in_proportion(name: str) -> None:
    """Half a megabyte of anything is read to the end, and ten of prose; in quadratic time that would not come back."""
    unit = MEGABYTES[name]
    summary = parse_summary(unit * ((20 if name == "prose" else 1) * 500_000 // len(unit)) + SUMMARY)
    assert summary is None or summary.endswith(SUMMARY)


def test_code_blocks_are_those_of_commonmark() -> None:
    """A block ends with a fence as long as its first; one that is not closed goes on to the end."""
    text = "a\n````\n```\n````\nb\n~~~\n```\n"
    assert [text[begin:end] for begin, end in code_blocks(text)] == ["````\n```\n````", "~~~\n```\n"]
    assert code_blocks("``` a ` b\n") == []
