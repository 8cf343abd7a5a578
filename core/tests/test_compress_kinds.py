"""Compress arguments: what weak models, templates and gateways write, by the kind of damage."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.compress import parse_compress_args
from trimtab.wire.arguments import as_object

E1 = '{"startRef":"m00004","endRef":"m00019","summary":"One done."}'
E2 = '{"startRef":"m00020","endRef":"m00041","summary":"Two, with a (paren)."}'
DRAFT = '{"content":[{"startRef":"m09001","endRef":"m09002","summary":"A draft, not meant."}]}'
C1, C12 = f'{{"content":[{E1}]}}', f'{{"content":[{E1},{E2}]}}'
R1, R2 = ("m00004", "m00019", "One done."), ("m00020", "m00041", "Two, with a (paren).")


def read(given: Any) -> tuple[list[tuple[str, str, str]], str]:
    """The ranges and the kind."""
    parsed = parse_compress_args(given)
    return [(one.start_ref, one.end_ref, one.summary) for one in parsed.ranges], parsed.diagnostics.kind


def with_summary(source: str) -> str:
    """A call whose summary is spelt like this, with its quotes."""
    return f"{{'content': [{{'startRef': 'm00004', 'endRef': 'm00019', 'summary': {source}}}]}}"


WRAPPERS = [
    "%s", "```json\n%s\n```", "``` json\n%s\n```", "<json>%s</json>", "> note\n```\n%s\n```", "%s</s>", "%s<|im_end|>",
    '<tool_call>\n{"name": "compress", "arguments": %s}\n</tool_call>',
    '<tool_call>\n{"arguments": %s, "name": "compress"}\n</tool_call>',
    '<tool_call>\n{"name": "compress", "arguments": %s}',
    '<tool_call>\n{"name": "compress", "arguments": %s}}\n</tool_call>',
    '<tool_call>\n{"name": "compress", "arguments": %s\n</tool_call>',
    '<tool_call>\n{{"name": "compress", "arguments": %s}}\n</tool_call>',
    "<tool_call>\n{'name': 'compress', 'arguments': %s}\n</tool_call>", "<tool_call>compress\n%s\n</tool_call>",
    '[TOOL_CALLS] [{"name": "compress", "arguments": %s, "id": "abcdefghi"}]</s>',
    "[TOOL_CALLS]compress[CALL_ID]abcdefghi[ARGS]%s</s>", "<function=compress>%s",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>compress<｜tool▁sep｜>%s<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<|tool_calls_section_begin|><|tool_call_begin|>compress:1<|tool_call_argument_begin|>%s<|tool_call_end|>",
    "<|start|>assistant to=functions.compress<|channel|>commentary json<|message|>%s<|call|>",
    "commentary to=functions.compress json%s", "compress\n%s<|observation|>",
    '<|tool_call|>[{"type": "function", "function": {"name": "compress", "arguments": %s}}]<|/tool_call|>',
    'functools[{"name": "compress", "arguments": %s}]', '<|tools_prefix|>[{"compress": %s}]<|tools_suffix|>',
    'Action: ```json\n[\n {"tool_name": "compress", "parameters": %s}\n]```',
    "<start_function_call>call:compress%s<end_function_call>", "Arguments: %s", "Parameters:\n%s", "[%s]",
    'Action:\n```json\n{"action": "compress", "action_input": %s}\n```',
    "<compress><arguments>%s</arguments></compress>",
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compress","arguments":%s}}',
    '{"role":"model","parts":[{"text":"ok"},{"functionCall":{"name":"compress","args":%s}}]}',
    '%s\n<tool_response>\n{"ok": true}\n</tool_response>', "data: %s\n\ndata: [DONE]\n\n", "const args = %s;",
]  # fmt: skip


@pytest.mark.parametrize("around", WRAPPERS)
def test_a_call_in_its_wrapper(around: str) -> None:
    """A call comes out of what models and servers put around it; so does a damaged one, one behind a draft, and each of
    two.
    """
    assert read(around % C12) == ([R1, R2], "ok")
    assert read(around % C12.replace('"}', '",}').replace('"startRef"', "startRef")) == ([R1, R2], "ok")
    assert read(f"<think>\nDraft: {DRAFT}\n</think>\n\n{around % C12}") == ([R1, R2], "ok")
    if not around.startswith(('{"jsonrpc', "data:")):
        both = f"{around % C12}\n{around % C1.replace('00004', '00001')}"
        assert read(both) == ([R1, R2, ("m00001", "m00019", "One done.")], "ok")


FIELDS = [
    "<compress>\n<content>\n%s\n</content>\n</compress>",
    "<acp_compress><ranges>%s</ranges></acp_compress>",
    "<minimax:tool_call>\n<invoke name='compress'>\n<parameter name='content'>%s</parameter>\n</invoke>\n",
    '<｜DSML｜invoke name="compress">\n<｜DSML｜parameter name="content" string="false">%s</｜DSML｜parameter>\n',
]


@pytest.mark.parametrize("around", FIELDS)
def test_a_content_between_tags(around: str) -> None:
    """The array, its text, a fence around it, line form: each is read between the tags of one field."""
    for content in (f"[{E1},{E2}]", f"[{E1},{E2},]", f"```json\n[{E1},{E2}]\n```", json.dumps(f"[{E1},{E2}]")):
        assert read(around % content) == ([R1, R2], "ok")
    assert read(around % "m4-m19 lock\nThe body.") == ([("m00004", "m00019", "The body.")], "ok")
    cut = around % f"[{E1},{E2}]"
    assert read(cut[: cut.index(E2) + 30]) == ([R1], "truncated")


def test_an_entry_between_tags() -> None:
    """The fields of one range, each between tags of its own name; the one that the text ends inside is dropped."""
    call = "<compress>\n<topic>T</topic>\n<startId>m4</startId>\n<endId>m9</endId>\n<summary>One</summary>\n</compress>"
    assert read(call) == ([("m4", "m9", "One")], "ok")
    assert parse_compress_args(call).ranges[0].topic == "T"
    assert read(call[: call.index("ne</summary>")]) == ([], "truncated")
    assert read(call.replace("compress", "search"))[0] == []


KEYWORDS = [("startId", "endId"), ("startRef", "endRef"), ("start_id", "end_id"), ("start_ref", "end_ref"),
            ("start", "end"), ("start_message_id", "end_message_id"), ("StartRef", "EndRef")]  # fmt: skip


@pytest.mark.parametrize(("start", "end"), KEYWORDS)
def test_python_form(start: str, end: str) -> None:
    """A call with one range's fields as keywords, in whatever order, list or statement it stands."""
    call = f"""compress({start}="m1", {end}='m2', summary="It is done, (all) of it.")"""
    wanted = ("m1", "m2", "It is done, (all) of it.")
    for text in (call, f"[{call}]", f"acp_{call}", f"print(default_api.{call})", f"Now:\n```python\n{call}\n```"):
        assert read(text) == ([wanted], "ok"), text
    assert read(f"{call}\n{call.replace('m1', 'm0')}")[0] == [wanted, ("m0", *wanted[1:])]
    for cut in (3, 20):
        assert read(call[:-cut]) == ([], "truncated")
    assert read(f"de{call}")[0] == read(call.replace("compress", "search"))[0] == []


def test_python_form_beside_the_content() -> None:
    """Keywords stand in any order: a topic before the content counts."""
    (one,) = parse_compress_args(f'compress(topic="t", content=[{E1}])').ranges
    assert one.topic == "t"


QUOTED = [
    ("'it's done'", "it's done"), ("'the users' data, and more'", "the users' data, and more"),
    ("'don't, won't, can't'", "don't, won't, can't"), ("u'unicode'", "unicode"), ("r'raw'", "raw"), ("`it's`", "it's"),
    ("'key: 'v', other'", "key: 'v', other"), ("'I ran \\'make\\', then'", "I ran 'make', then"),
    ("'part one ' 'part two'", "part one part two"), ("('a ' 'b')", "a b"), ('"a " + "b"', "a b"),
    ("«One «x» done.»", "One «x» done."), ("One, two: three", "One, two: three"),
    ("完成，测试、好；行", "完成，测试、好；行"),
    ("don't, can't", "don't, can't"), ("'完成：第一步，全部。'", "完成：第一步，全部。"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "summary"), QUOTED)
def test_a_summary_in_any_quotes(source: str, summary: str) -> None:
    """A summary is what stands between its quotes, whole; without quotes it goes up to the bracket."""
    assert read(with_summary(source)) == ([("m00004", "m00019", summary)], "ok")
    assert read(with_summary(source)[:-2] + f",{E2}]}}") == ([("m00004", "m00019", summary), R2], "ok")


@pytest.mark.parametrize("quotes", ["“”", "„“", "«»", "‘’", "＂＂", "””", "``"])
def test_quotes_of_other_scripts(quotes: str) -> None:
    """All keys and texts in such quotes; an apostrophe inside ends nothing."""
    begin, end = quotes[0], quotes[1]
    text = C1.replace('":', f"{end}:").replace('",', f"{end},").replace('"}', f"{end}}}").replace('"', begin)
    for call in (text, f"Call:\n{text}", text.replace("}]", ",},]")):
        assert read(call) == ([R1], "ok")
    assert read(text.replace("One", "It’s")) == ([("m00004", "m00019", "It’s done.")], "ok")


@pytest.mark.parametrize(
    "text",
    [
        '｛"content"：［｛"startRef"："m00004"，"endRef"："m00019"，"summary"："One done."｝］｝',
        f'{{"content":【{E1}】}}',
        C1.replace('","', '"、"'),
        C1.replace('","', '"；"'),
        f"调用如下：\n{C1}。",
        C1.replace(",", ",\u3000").replace('":', '"\xa0:\xa0'),
    ],
)
def test_punctuation_of_other_scripts(text: str) -> None:
    """Brackets, colons and commas of full width, and blanks that JSON does not know."""
    assert read(text) == ([R1], "ok")


INNER = ['the "fast" path', '"quoted" start', 'end "quoted"', 'a "b", "c", "d" e', 'key "topic": "x" inside',
         'said "yes", then "no"; done', 'json {"a": "b"} here', 'json ["a", "b"] here', 'f("a", "b")', '6", then 7"',
         '<a href="x" class="y">z</a>', '"}', '"]', 'test "a": 1, "b": 2 end', '{"summary": "fake"}',
         "他说\"好\"、\"不\"，走",
         'use "startRef": "m1" please', '"one" and "two": "three"', "“smart” and \"straight\""]  # fmt: skip


@pytest.mark.parametrize("summary", INNER)
def test_inner_quotes_without_backslashes(summary: str) -> None:
    """Wherever the summary stands, its own quotes are part of it."""
    wanted = ("m00004", "m00019", summary)
    entry = f'"startRef":"m00004","endRef":"m00019","summary":"{summary}"'
    for text in (f'{{"content":[{{{entry}}}]}}', f'{{"content":[{{{entry},"topic":"t"}}]}}'):
        assert read(text) == ([wanted], "ok")
    assert read(f'{{"content":[{{{entry}}},{E2}]}}') == ([wanted, R2], "ok")


STRINGS = [
    json.dumps(json.dumps(json.dumps(C12))), C12.replace('"', '\\"'), C12.replace('"', '\\\\\\"'), f'"{C12}"',
    f"'{C12}'", f"“{C12}”", f'"""{C12}"""', json.dumps(json.dumps(json.loads(C12), indent=1))[1:-1],
    f'{{"arguments":"{C12}"}}', f'{{"content":"[{E1},{E2}]"}}', f'["{E1}","{E2}"]', f'{{"content":["{E1}" "{E2}"]}}',
    json.dumps({"content": [E1, E2]}), json.dumps(E1) + json.dumps(E2), json.dumps({"content": f"{E1}; {E2}"}),
    C1 + json.dumps(C12.replace(f"{E1},", "")), json.dumps({"content": f"<ranges>[{E1},{E2}]</ranges>"}),
]  # fmt: skip


@pytest.mark.parametrize("text", STRINGS)
def test_texts_in_texts(text: str) -> None:
    """Stringified once or often, as a whole or in parts, with backslashes or without."""
    assert read(text) == ([R1, R2], "ok")


BRACKETS = [
    C12[1:], C12.replace("[", ""), C12.replace("},{", ",{"), C12.replace("},{", "},"), C12.replace("},{", ","),
    C12.replace("}]}", "]}"), f"{C12}}}", f"{{{C12}}}", C12[11:-1], C12[12:-2], C12[12:], C12[1:-1], f"[{C12}]",
    C12.replace("[", "(").replace("]", ")"), f"content = [{E1},{E2}]", f"Content:\n[{E1},{E2}]",
    f"{E1} and then {E2}", f'{{"content":[{E1} and {E2}]}}', f'{{"content":[{E1}\nSecond range:\n{E2}]}}',
    f"{{'content': list([{E1}, {E2}])}}", f'[[{E1},{E2}]]', f'[{C1},{C12.replace(E1 + ",", "")}]',
    f'Summary: "done".\n{C12}', f'topic: "locks"\n{C12}',
]  # fmt: skip


@pytest.mark.parametrize("text", BRACKETS)
def test_brackets_and_words_too_few_or_too_many(text: str) -> None:
    """Both entries are found, and the text is not said to end early: it does not."""
    assert read(text) == ([R1, R2], "ok")
    assert parse_compress_args(text).diagnostics.invalid_items == 0


@pytest.mark.parametrize(
    "bad",
    ['{"startRef":"m1","endRef":}', '{"startRef":,"endRef":"m2","summary":"x"}', '{"startRef"}', "{}", "null", '"x"',
     "42", '{"startRef":"m1","endRef":"m2"}', "[]", '{"a":[1,{"b":]}', '{"startRef":"m1" "m2" "x"}', "true", '{"a":1}'],
)  # fmt: skip
def test_an_unusable_entry_between_two(bad: str) -> None:
    """It is counted; its neighbours stay."""
    parsed = parse_compress_args(f'```json\n{{"content":[{E1},\n{bad},\n{E2},]}}\n```')
    assert [one.start_ref for one in parsed.ranges] == ["m00004", "m00020"]
    assert (parsed.diagnostics.kind, parsed.diagnostics.invalid_items) == ("ok", 1)


OPENED = ["%s", "```json\n%s", "Okay, let me fold this.\n\n%s", f"<think>maybe {DRAFT}?</think>\n%s",
          '<tool_call>\n{"name": "compress", "arguments": %s', '[TOOL_CALLS] [{"name": "compress", "arguments": %s',
          '{"tool_calls":[{"type":"function","function":{"name":"compress","arguments":%s',
          "<|channel|>commentary to=functions.compress <|constrain|>json<|message|>%s"]  # fmt: skip


@pytest.mark.parametrize("around", OPENED)
def test_a_call_that_is_cut(around: str) -> None:
    """Wherever the text ends, what is whole comes out, and the text is said to end early; so with bare keys."""
    for text in (C12, C12.replace('"startRef"', "startRef").replace('"content"', "content")):
        first, second = text.index("},{") + 1, len(text) - 2
        for end in range(2, len(text)):
            wanted = [R1, R2] if end >= second else [R1] if end >= first else []
            ranges, kind = read(around % text[:end])
            assert ranges == wanted, text[:end]
            assert kind == "truncated" or wanted == [R1, R2] or (text[1] == "c" and end < 12), text[:end]


DECOYS = ["For example: %s", "The schema is like %s", "Expected format:\n```json\n%s\n```", "<example>%s</example>",
          "> %s", "// %s", "<tool_response>%s</tool_response>", "[TOOL_RESULTS]%s[/TOOL_RESULTS]", "Observation: %s",
          "Tool result:\n%s", '{"role":"user","content":[%s]}', '{"type":"tool_result","content":%s}',
          '{"previous":%s,"x":1}', "Tool: search\nArguments: %s", "<function=search>%s</function>",
          '<｜tool_call_begin｜>function<｜tool_sep｜>search<｜tool_sep｜>%s<｜tool_call_end｜>']  # fmt: skip


@pytest.mark.parametrize("around", DECOYS)
def test_a_decoy_beside_the_call(around: str) -> None:
    """Examples, quotations, answers and other tools' calls are not taken, alone or before or behind a call."""
    decoy = around % DRAFT
    assert read(decoy)[0] == []
    for text in (f"{decoy}\n```json\n{C1}\n```", f"{C1}\n{decoy}", f"```json\n{C1[:-2]},]}}\n```\n{decoy}"):
        assert read(text)[0] == [R1], text


@pytest.mark.parametrize("around", ["\nFor example: %s", "\n> %s", "\n<think>%s</think>", "\nExample:\n```\n%s"])
@pytest.mark.parametrize("call", [C12, json.dumps(json.loads(C12), indent=2), C12.replace('"', "'")])
def test_a_damaged_call_takes_no_draft(call: str, around: str) -> None:
    """A call that lost or got a bracket does not run on into what stands behind it."""
    behind = around % DRAFT
    for at in range(len(call)):
        if call[at] in "{}[],":
            for text in (call[:at] + call[at + 1 :], f"{call[:at]}[{call[at:]}", f"{call[:at]}}}{call[at:]}"):
                assert "m09001" not in [ref for ref, _, _ in read(text + behind)[0]], text


@pytest.mark.parametrize(
    ("text", "kind"),
    [("```json\n{}\n```", "missing-content"), ("```json\n[]\n```", "not-object"), ("{}\n{}", "missing-content"),
     ("<tool_call>{}</tool_call>", "missing-content"), ("compress({})", "missing-content"), ("{},", "missing-content"),
     ('[{"content":"please"}]', "not-object"), ('{"content":[{"content":[]}]}', "no-valid-ranges"),
     ("I can't {do} that, it's [not] ok.", "malformed-json"), ("It's {x}.", "malformed-json")],
)  # fmt: skip
def test_a_text_without_entries(text: str, kind: str) -> None:
    """The kind says what it is, and never that it ends early."""
    assert read(text) == ([], kind)


@pytest.mark.parametrize("text", [C12[:-4], f"Sure: {C1}}}", "m4-m5 x", "no", f"```\n{C1}", "[]", '"x"', C1 + C12])
def test_what_stands_for_malformed_arguments(text: str) -> None:
    """The object that is sent again in their place is read as their text, decoded, as text and in an envelope."""
    again = as_object(text)
    assert parse_compress_args(again) == parse_compress_args(json.dumps(again)) == parse_compress_args(text)
    assert read({"name": "compress", "arguments": again})[0] == read(text)[0]
