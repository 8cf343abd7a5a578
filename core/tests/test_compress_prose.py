"""Compress arguments: a call between prose, thoughts, fences, tags, comments and decoys."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab.compress import parse_compress_args

DRAFT = '{"content":[{"startRef":"m09001","endRef":"m09002","summary":"A draft, not meant."}]}'
CALL = '{"content":[{"startRef":"m00101","endRef":"m00120","summary":"Found the leak in the pool."}]}'
LINES = "m00101-m00120 pool\nFound the leak."
FOUND: list[str] = ["m00101"]
NONE: list[str] = []


def starts(text: str) -> tuple[list[str], str]:
    """The start refs that were found, and the kind."""
    parsed = parse_compress_args(text)
    assert parsed.diagnostics.invalid_items == 0
    return [one.start_ref for one in parsed.ranges], parsed.diagnostics.kind


GLOBS = ["src/*.py", "**/*", "a/*b", "./*", "~/*", "C:/*", "`/*`", '"/*"', "rm -r /tmp/*", "ls /*", "/*.log",
         "**/*.ts and */5",
         "https://a.example/x/*?y=//z", "http://[::1]/{id}", "<!-- not closed"]  # fmt: skip


@pytest.mark.parametrize("glob", GLOBS)
def test_a_glob_opens_no_comment(glob: str) -> None:
    """A path with `/*` in it hides no call, before or behind it, and ends no text early."""
    for text in (f"I read {glob} first.\n{CALL}", f"{glob}\n{CALL}", f"{CALL}\nNow {glob}", f"{glob} {CALL} {glob}"):
        if text.startswith("<!--") and "\n" not in text:
            continue
        assert starts(text) == (FOUND, "ok"), text


@pytest.mark.parametrize(
    "text",
    [
        f"/* {DRAFT} */ {CALL}",
        f"/* {DRAFT} */{CALL}",
        f"{CALL}/* {DRAFT} */",
        f"x = 1; /* {DRAFT} */\n{CALL}",
        f"<!-- {DRAFT} -->\n{CALL}",
        f"/* {DRAFT}\n{CALL}",
        f"<!-- {DRAFT}\n{CALL}",
        f"// {{x}} {DRAFT}\n{CALL}",
        f"<!-- note --> {CALL}",
        f"/* note */ {CALL}",
    ],
)
def test_a_comment_holds_no_call(text: str) -> None:
    """What stands in a comment, or in the line of one that is never closed, is no call; what stands behind it is."""
    assert starts(text) == (FOUND, "ok")


THOUGHTS = [
    ("<think>", "</think>"), ("<Think>", "</Think>"), ("<THINK>", "</THINK>"), ("<thinking>", "</thinking>"),
    ("<seed:think>", "</seed:think>"), ("<mm:think>", "</mm:think>"), ("<antThinking>", "</antThinking>"),
    ("<longcat_think>", "</longcat_think>"), ("◁think▷", "◁/think▷"), ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"), ("<scratchpad>", "</scratchpad>"), ("<reflection>", "</reflection>"),
    ('<think mode="long">', "</think>"), ("<thinking signature='a'>", "</thinking >"), ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"), ("<|channel>thought\n", "<channel|>"),
    ("<think>\n<think>", "</think>"), ("<think>", "</thinking>"), ("<think>a <think>b</think> c", "</think>"),
    ("<reasoning>a <think>b</think> c", "</reasoning>"), ("<think>I must not write </think> here.", "</think>"),
]  # fmt: skip


@pytest.mark.parametrize(("opened", "closed"), THOUGHTS, ids=[f"{one[0]} {one[1]}" for one in THOUGHTS])
def test_a_thought_holds_no_call(opened: str, closed: str) -> None:
    """A draft in a thought is no call, however the thought is spelt; the call behind it is."""
    for text in (
        f"{opened}Maybe {DRAFT}?{closed}\n{CALL}",
        f"Sure.\n{opened}\n{DRAFT}\n{closed}{CALL}",
        f"{opened}it {{ is {closed}{CALL}",
        f"{opened}x{closed}{CALL}\n{opened}was it {DRAFT}?{closed}",
    ):
        assert starts(text) == (FOUND, "ok"), text
    assert starts(f"{opened}Maybe {DRAFT}?{closed}") == (NONE, "malformed-json")
    if "</" not in opened:
        assert starts(f"{opened}Maybe {DRAFT}?")[0] == NONE


NAMED = ["I will not use <think> here.", "No <think> or </think> needed.", "as in the <example> above,",
         "`<think>` is off:",
         "Between <think> and </think> tags stands nothing.", '"<thinking>" it is', "the (<scratchpad>) way",
    "<think> tags are off.",
         "I close no </think> tag.", "Not in [THINK] mode", "See <tool_result> for more",
    "the <parameter=content> tag",
         "a <function=search> call"]  # fmt: skip


@pytest.mark.parametrize("sentence", NAMED)
def test_a_tag_that_is_named_opens_nothing(sentence: str) -> None:
    """A tag that a sentence speaks of hides no call, before or behind it, and ends no text early."""
    for text in (f"{sentence}\n{CALL}", f"{sentence} {CALL}", f"{CALL}\n{sentence}", f"{CALL} {sentence}"):
        assert starts(text) == (FOUND, "ok"), text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"{DRAFT}</think>\n{CALL}", FOUND),
        (f"Hm, {DRAFT}? No.\n</think>\n\n{CALL}", FOUND),
        (f"Hm, {DRAFT}? No.\n</think>\nAll is short enough.", NONE),
        (f"{CALL}</think>", FOUND),
        (f"{CALL}\n</think>\n", FOUND),
        (f"<tool_call>\n{CALL}\n</tool_call></think>", FOUND),
        (f"<think>a</think>Folding.\n{CALL}</think>", FOUND),
        (f"Okay so <think> maybe {DRAFT}? </think>\n{CALL}", FOUND),
    ],
)
def test_a_thought_without_a_beginning(text: str, wanted: list[str]) -> None:
    """What stands before a lone closing tag is a thought: where a call follows, or where it begins with prose."""
    assert starts(text)[0] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=compress>\n<parameter=content>\n%s\n</parameter>\n</function>\n</tool_call>",
        '<invoke name="compress"><parameter name="content">%s</parameter></invoke>',
        "<tool_call>compress\n<arg_key>content</arg_key>\n<arg_value>%s</arg_value>\n</tool_call>",
        "<function=compress><parameter=topic>\npool\n</parameter><parameter=content>\n```json\n%s\n```\n</parameter>\n",
    ],
)
def test_a_closing_tag_in_a_string(text: str) -> None:
    """A closing tag inside a string of the value ends nothing; a value without its bracket ends at the tag."""
    summary = "Qwen writes </parameter> and </arg_value> and </function>, [see] {x}."
    value = json.dumps([{"startRef": "m1", "endRef": "m2", "summary": summary}])
    (one,) = parse_compress_args(text % value).ranges
    assert one.summary == summary
    assert parse_compress_args(text % value).diagnostics.kind == "ok"
    cut = (text % value).partition("</arg_value> and")[0]
    assert starts(cut) == (NONE, "truncated")
    assert len(parse_compress_args(text % '[{"startRef":"m1","endRef":"m2","summary":"x"}').ranges) == 1


@pytest.mark.parametrize(
    "prose",
    [
        "[a [b [c [d [e [f ",
        "{a {b {c {d {e {f ",
        "[[[[[[[[ ",
        "[1, [2 and ",
        "if (a) { b[0] { c(",
        "[Calling: ",
        "(see [",
    ],
)
@pytest.mark.parametrize("times", [1, 3, 300])
def test_open_brackets_of_prose(prose: str, times: int) -> None:
    """However many brackets prose leaves open before a call, the call is found, and the text is not cut."""
    assert starts(f"{prose * times}\n{CALL}") == (FOUND, "ok")
    assert starts(f"Well. {prose * times}{CALL}\nDone.") == (FOUND, "ok")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f'{{"meta": {DRAFT}, "b": 1}}', "missing-content"),
        (f'{{"meta": {DRAFT}, "b": 1', "truncated"),
        (f'So: {{"meta": {DRAFT}, "b": 1', "truncated"),
        (f"So: {{meta: {DRAFT}, b: 1", "truncated"),
        (f"[x {{example: {DRAFT}}}]", "not-object"),
    ],
)
def test_a_decoy_in_a_document_stays_in_it(text: str, kind: str) -> None:
    """What is the value of a key is no call of its own, whether or not the text ends inside."""
    assert starts(text)[0] == NONE
    assert starts(text)[1] in (kind, "malformed-json", "missing-content")


def test_a_fence_alone_is_no_other_text() -> None:
    """`trailing-text` is said only where there is text beside the call and its fence."""
    for text in (
        f"```json\n{CALL}\n```",
        f"~~~\n{CALL}\n~~~\n",
        f"```{CALL}```",
        f"````md\n```json\n{CALL}\n```\n````",
    ):
        assert parse_compress_args(text).diagnostics.repairs == ("fence",)
    assert "trailing-text" in parse_compress_args(f"```json\n{CALL}\n```\nDone.").diagnostics.repairs


LINE_FORMS = [
    "<think>x m1-m2</think>\n%s", "x</think>\n\n%s", "Here:\n```\n%s\n```\nDone.", "```text\n%s\n```",
    "Folding.\n\n~~~\n%s\n~~~",
    "<acp_compress>%s</acp_compress>", "<acp_compress>\n%s\n</acp_compress>", "<tool_call>\n%s\n</tool_call> ok",
    "<think>x</think>\nSo:\n```\n%s\n```", "<function=compress>\n%s\n</function>", "compress\n%s",
    "[TOOL_CALLS]compress[ARGS]%s",
    "<|channel|>commentary to=functions.compress<|message|>%s<|call|>", "Action: compress\nAction Input: %s",
]  # fmt: skip


@pytest.mark.parametrize("around", LINE_FORMS)
def test_line_form_in_a_text(around: str) -> None:
    """Line form is read behind a thought, in a fence, between a call's tags; its text ends where these do."""
    parsed = parse_compress_args(around % LINES)
    assert [(one.start_ref, one.topic, one.summary) for one in parsed.ranges] == [("m00101", "pool", "Found the leak.")]
    assert parsed.diagnostics.kind == "ok"


def test_line_form_with_a_fence_inside() -> None:
    """A fence in the summary does not end the fence around it; in an endless fence the last entry is half-written."""
    body = "m1-m2 pool\nRan:\n```sh\nmake\n```\nand it passed."
    (one,) = parse_compress_args(f"Here:\n```\n{body}\n```\nDone.").ranges
    assert one.summary == body.partition("\n")[2]
    assert starts(f"Here:\n```\n{LINES}\nm3-m4 x\ny") == (FOUND, "truncated")


@pytest.mark.parametrize(
    "text",
    [
        "Example:\n```\nm1-m2 topic\nbody\n```\n",
        "I will fold later.\nm1-m2 are old.\nm3-m4 too.",
        "<think>\nm1-m2 pool\nFound it.</think>\nNothing to do.",
        "<think>\n```\nm1-m2 pool\nFound it.\n```\n",
    ],
)
def test_line_form_that_is_no_call(text: str) -> None:
    """Lines with refs in prose, in thoughts and in examples are no entries."""
    assert starts(text)[0] == NONE


@pytest.mark.parametrize(
    "text",
    [
        r'I can\'t call "compress": \"content\" isn\'t {known} to me.',
        r"I won't send \"content\": [] or {\"content\": []} now.",
        '"compress" isn\'t a tool that I have.',
        '"I can\'t do that," it said.',
        "'Folding' won't help: it's short",
        r'"I can\"t do that.',
        f"'{CALL}' is what I would send.",
        f"{json.dumps(CALL)} is what I would send.",
        f"I would send '{CALL}', but I don't.",
        f"“{CALL}” it wrote",
        f"Use ``{CALL}`` like this.",
        "`compress(content=[{'startRef':'m1','endRef':'m2','summary':'x'}])` is the form of it.",
        "{see the note about it",
        "[1 is the note I can't find",
        "I can't: that isn't [allowed here",
    ],
)
def test_a_refusal(text: str) -> None:
    """Prose with quotes and brackets in it is no call, and does not end early."""
    assert starts(text)[0] == NONE
    assert starts(text)[1] in ("malformed-json", "missing-content", "not-object")


@pytest.mark.parametrize(
    "text",
    [
        f"Folding now:\n'{CALL}'\nDone.",
        f"Folding now:\n`{CALL}`",
        f"<tool_call>'{CALL}'</tool_call>",
        f"compress('{CALL}')",
        f"I'll fold the examples work now.\n{CALL}",
        f"Set timeout=30, then:\n{CALL}",
        f"Action: I fold it all now. {CALL}",
        f'{{"summary_of": "x\n# Title"}} {CALL}',
    ],
)
def test_a_call_beside_what_looks_like_a_decoy(text: str) -> None:
    """Quotes around a whole line, words like "example" inside a sentence, and other names do not make it a decoy."""
    assert starts(text) == (FOUND, "ok")


@pytest.mark.parametrize(
    "around",
    [
        '%s\nIt said "no".',
        '"Well" then:\n%s\nIt said "no".',
        "<tool_call>%s</tool_call>\nFor example: " + DRAFT,
        'Action: compress\nAction Input: %s\n"ok"',
        'I see [it\nArguments: %s\n"ok"',
        '```json\n%s\n```\nSee "a" and [b',
    ],
)
def test_a_call_in_a_string(around: str) -> None:
    """A string that holds the call ends where its JSON does, whatever quotes and brackets are around."""
    assert starts(around % json.dumps(CALL)) == (FOUND, "ok")


NASTY = ["plain words", "</think>", "<think>", "src/*.py */", "</parameter> x", "[see] {x}", "```sh", "it's", "m1-m2 x",
         "// not",
         "</acp_compress>", "Example: x", "<example>", "<|end|>", "\\", '"quoted"', "# title", "日本"]  # fmt: skip
SUMMARY = st.lists(st.sampled_from(NASTY), min_size=1, max_size=4).map(" ".join)
ENTRY = st.builds(
    lambda number, summary: {
        "startRef": f"m{number:05d}",
        "endRef": f"m{number + 9:05d}",
        "summary": f"Did {summary}.",
    },
    st.integers(1, 8000),
    SUMMARY,
)
WRAPPERS: list[Callable[[str], str]] = [
    lambda call: call,
    lambda call: f"```json\n{call}\n```",
    lambda call: f"```\n{call}\n```",
    lambda call: f"~~~json\n{call}\n~~~",
    lambda call: f"<tool_call>\n{call}\n</tool_call>",
    lambda call: f'<tool_call>\n{{"name": "compress", "arguments": {call}}}\n</tool_call>',
    lambda call: f"<acp_compress>{call}</acp_compress>",
    lambda call: f"[TOOL_CALLS]compress[ARGS]{call}",
    lambda call: f'[TOOL_CALLS] [{{"name": "compress", "arguments": {call}}}]',
    lambda call: f"<function=compress>{call}</function>",
    lambda call: f"<|python_tag|>{call}<|eom_id|>",
    lambda call: f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>compress\n```json\n{call}\n```<｜tool▁call▁end｜>",
    lambda call: f"<|tool_call_begin|>functions.compress:0<|tool_call_argument_begin|>{call}<|tool_call_end|>",
    lambda call: f"<|channel|>commentary to=functions.compress <|constrain|>json<|message|>{call}<|call|>",
    lambda call: f"Action: compress\nAction Input: {call}",
    lambda call: f"<function=compress>\n<parameter=content>\n{call[11:-1]}\n</parameter>\n</function>",
    lambda call: f"<tool_call>compress\n<arg_key>content</arg_key>\n<arg_value>{call[11:-1]}</arg_value>\n</tool_call>",
]
BEFORE = [
    "Folding now.\n", "I can't wait.\n", 'It said "no" twice.\n', "Okay, see [1] and {x}.\n",
    "The array [a, [b is odd.\n",
    "if (a) { do it\n", *(f"I looked at {glob} first.\n" for glob in GLOBS), *(f"{sentence}\n" for sentence in NAMED),
    *(f"{opened}Maybe {DRAFT}?{closed}\n" for opened, closed in THOUGHTS),
    *(f"{opened}{{it [is \"open{closed}\n" for opened, closed in THOUGHTS),
    f"For example:\n```json\n{DRAFT}\n```\nNow mine.\n", f"<example>{DRAFT}</example>\n", f"/* {DRAFT} */\n",
    f"// {DRAFT}\n",
    f"It wrote `{DRAFT}` before.\n", f"It wrote '{DRAFT}' before.\n", f"> {DRAFT}\n",
    f"<tool_response>{DRAFT}</tool_response>\n",
    f"[TOOL_CALLS]search[ARGS]{DRAFT}\n", f"<function=search>{DRAFT}</function>\n", "| a | b |\n|---|---|\n",
    "- [ ] do it\n", "1. First\n",
    "# Plan\n", "**Note:** m1-m2 are old.\n", "m1 is old.\n", "\\\"content\\\" isn't it.\n", "日本語の文。\n", "\n\n",
    "\t", "\ufeff",
]  # fmt: skip
BEHIND = [
    "\nDone.", "\n\nI can't do more [1", " {ok}", "\nNow the tests.", '\n"Well"', "\nif (a) { b", "\n",
    "\n# Next\n- [ ] a", "\n```",
    *(f"\nNow {glob}" for glob in GLOBS), *(f"\n{sentence}" for sentence in NAMED),
    f"\nNot `{DRAFT}` as before.", f"\n<example>{DRAFT}</example>", f"\n/* {DRAFT} */", f"\n// {DRAFT}",
    f"\nFor example: {DRAFT}",
    "\n\\\"content\\\" isn't [known", "<|im_end|>", "</s>", "\n<|eot_id|>", "\ndata: [DONE]",
]  # fmt: skip


def rows(found: Any) -> list[tuple[str, str, str]]:
    """The ranges as plain tuples."""
    return [(one.start_ref, one.end_ref, one.summary) for one in found.ranges]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(BEFORE), max_size=3),
    st.sampled_from(WRAPPERS),
    st.lists(ENTRY, min_size=1, max_size=3),
    st.lists(st.sampled_from(BEHIND), max_size=2),
)
def test_a_call_in_any_text(
    before: list[str], wrap: Callable[[str], str], entries: list[dict[str, str]], behind: list[str]
) -> None:
    """Exactly the call's entries come out, whatever stands around it, and the text is never said to end early."""
    call = json.dumps({"content": entries}, ensure_ascii=False, separators=(",", ":"))
    text = "".join(before) + wrap(call) + "".join(behind)
    parsed = parse_compress_args(text)
    assert rows(parsed) == [tuple(entry.values()) for entry in entries], text
    assert (parsed.diagnostics.kind, parsed.diagnostics.invalid_items) == ("ok", 0), text


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from([*BEFORE, *BEHIND]), max_size=5))
def test_prose_alone_is_no_call(pieces: list[str]) -> None:
    """Without the call there is none, whatever thoughts, examples and quotations there are."""
    text = "\n".join(pieces)
    assert starts(text)[0] == NONE, text
