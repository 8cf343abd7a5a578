"""The kinds of fault behind the reported cases, on inputs and forms of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from trimtab import ALL, Budget, Host, Policy, Trimmed, UnsupportedOutput
from trimtab._json import blob_id, canonical

MARKER = re.compile(r"<omitted chars (\d+)-(\d+) of (\d+); full text: ([\w.-]+) trimtab:([0-9a-f]{16})>")
BUDGET = Budget(limit=6_000, keep=4_000)

PARAGRAPH = "The valve in basin {0} was opened at dawn, the level fell by {0} cm, and nobody wrote down why.\n"


def basin(number: int, length: int = 2_500) -> dict[str, Any]:
    """One entity with identity of several types, and `length` chars of text."""
    text = (PARAGRAPH.format(number) * (length // 80 + 1))[:length]
    return {
        "ref": f"basin-{number:03}",
        "link": f"https://canal.example/b/{number}?view=log&lang=fi#r{number}",
        "title": f"Basin {number} “north”",
        "rank": number / 8,
        "log": text,
        "open": number % 2 == 0,
        "parent": None,
    }


Form = Callable[[Any], Any]


def text_block(text: str) -> dict[str, Any]:
    """An MCP result with one text block."""
    return {"content": [{"type": "text", "text": text}]}


# Ways in which tools hand out the same data.
FORMS: dict[str, Form] = {
    "value": lambda data: data,
    "text": canonical,
    "indented text": lambda data: json.dumps(data, indent=2, ensure_ascii=False),
    "ascii text": json.dumps,
    "text with a BOM": lambda data: "\ufeff" + canonical(data),
    "text with CRLF": lambda data: json.dumps(data, indent=1).replace("\n", "\r\n"),
    "mcp text": lambda data: text_block(canonical(data)),
    "mcp text, indented": lambda data: text_block(json.dumps(data, indent=2)),
    "mcp structured": lambda data: {"content": [], "structuredContent": {"items": data}, "isError": False},
    "mcp twins": lambda data: {**text_block(json.dumps(data)), "structuredContent": {"items": data}},
    "two blocks": lambda data: {"content": [{"type": "text", "text": json.dumps(one)} for one in data]},
    "block list": lambda data: [{"type": "text", "text": canonical(data)}],
    "text in a field": lambda data: {"status": 200, "body": json.dumps(data), "took_ms": 12},
    "deep": lambda data: {"data": {"search": {"edges": [{"node": one} for one in data]}}},
}


def documents(value: Any) -> Iterator[Any]:
    """A value, and everything that the JSON text in its strings decodes to."""
    yield value
    if isinstance(value, str):
        try:
            inner = json.loads(value.removeprefix("\ufeff"))
        except ValueError:
            return
        if isinstance(inner, dict | list):
            yield from documents(inner)
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from documents(child)


def identities(value: Any) -> list[tuple[Any, ...]]:
    """What names each basin in a value, in order, however it is wrapped."""
    return [
        tuple((key, child) for key, child in one.items() if key != "log")
        for one in documents(value)
        if isinstance(one, dict) and "ref" in one
    ]


def is_json_kept(before: Any, after: Any) -> bool:
    """Whether each string that held JSON still holds JSON, with the same keys at the same places."""

    def shape(value: Any) -> Any:
        if isinstance(value, str):
            inner = list(documents(value))
            return ("text", shape(inner[1])) if len(inner) > 1 else str
        if isinstance(value, dict):
            return [(key, shape(child)) for key, child in value.items()]
        return [shape(child) for child in value] if isinstance(value, list) else (type(value), value)

    return bool(shape(before) == shape(after))


def markers(trimmed: Trimmed) -> list[re.Match[str]]:
    """Every marker of a rendering; our marker needs no escape in JSON, so the text shows it as it is."""
    return list(MARKER.finditer(trimmed.text))


@pytest.fixture
def host() -> Iterator[Host]:
    """A host with no plugin of others."""
    with Host.load(discover=False) as loaded:
        yield loaded


def assert_laws(host: Host, tool: str, output: Any, trimmed: Trimmed, budget: Budget = BUDGET) -> None:
    """Bounded, settled, opened again to the same output, and the row renders to what was sent."""
    assert len(trimmed.text) <= budget.keep or trimmed.over_budget or not trimmed.changed
    assert trimmed.text.encode()
    assert canonical(host.inflate(json.loads(trimmed.row_text))) == canonical(output)
    assert canonical(host.render(json.loads(trimmed.row_text))) == canonical(trimmed.value)
    again = host.trim(tool, trimmed.value, budget=budget)
    assert again.text == trimmed.text
    smaller = Budget(limit=max(budget.keep // 2, 512), keep=max(budget.keep // 2, 512))
    if not any(160 < len(one) < 256 for one in documents(trimmed.value) if isinstance(one, str)):
        assert host.trim(tool, trimmed.value, budget=smaller).text == host.trim(tool, output, budget=smaller).text


@pytest.mark.parametrize("count", [1, 6, 40])
@pytest.mark.parametrize("form", FORMS)
def test_json_stays_json_and_names_survive(host: Host, form: str, count: int) -> None:
    """However a tool wraps its data, one huge entity or many: it stays JSON, and only the long texts are shorter."""
    output = FORMS[form]([basin(number, 24_000 // count) for number in range(count)])
    trimmed = host.trim("list_basins", output, budget=BUDGET)
    assert trimmed.changed
    assert type(trimmed.value) is type(output)
    assert is_json_kept(output, trimmed.value)
    assert identities(trimmed.value) == identities(output)
    assert identities(output)
    assert_laws(host, "list_basins", output, trimmed)


@pytest.mark.parametrize("form", FORMS)
def test_urls_are_never_touched(host: Host, form: str) -> None:
    """A url of any usual length stays verbatim beside text that is cut."""
    urls = ["https://archive.example/" + "/".join(["very%20long"] * n) + "?q=%E4%BD%A0&x[]=1" for n in (1, 20, 150)]
    output = FORMS[form]([{**basin(number), "source": url} for number, url in enumerate(urls)])
    trimmed = host.trim("search", output, budget=BUDGET)
    shown = [one for one in documents(trimmed.value) if isinstance(one, str)]
    assert trimmed.changed
    assert [url for url in urls if url not in shown] == []


@pytest.mark.parametrize(
    "small",
    [
        {"a": "on", "b": "", "c": "short note"},
        {"state": '{"k":1,"deep":{"x":[1,2]}}', "n": 1.5},
        {"state": json.dumps({"k": "v" * 180}), "list": ["x" * 200, " ".join("ab" * 60)]},
        {"edge": "word " * 50 + "12345"},
    ],
    ids=["flags", "json in a field", "long but under the marker", "255 chars"],
)
def test_nothing_shorter_than_a_marker_line_is_replaced(host: Host, small: dict[str, Any]) -> None:
    """Beside text that is moved, a field of under 256 chars stays as it is, also one that is JSON itself."""
    output = [{**small, "body": PARAGRAPH.format(n) * 90} for n in range(4)]
    trimmed = host.trim("get_items", output, budget=Budget(limit=4_000, keep=3_000))
    assert trimmed.changed
    assert [{key: value for key, value in one.items() if key != "body"} for one in trimmed.value] == [small] * 4
    many = {f"field {n}": small for n in range(300)}
    assert host.trim("get_item", many, budget=Budget(limit=1_000, keep=512)).value is many


@pytest.mark.parametrize("own", ["[... 991 more characters truncated]", "<output truncated at 1MB>", "…(continued)"])
@pytest.mark.parametrize("place", ["head", "middle", "tail"])
def test_a_marker_states_our_own_loss(host: Host, own: str, place: str) -> None:
    """What a tool says of its own cut is text like any other; our marker counts what we left out, to the char."""
    body = PARAGRAPH.format(7) * 200
    half = len(body) // 2
    output = {"head": own + "\n" + body, "middle": body[:half] + own + body[half:], "tail": body + own}[place]
    trimmed = host.trim("run", output, budget=BUDGET)
    (found,) = markers(trimmed)
    first, last, total = (int(found[n]) for n in (1, 2, 3))
    assert total == len(output)
    assert trimmed.text[: found.start()].rstrip("\n") == output[: first - 1].rstrip("\n")
    assert trimmed.text[found.end() :].lstrip("\n") == output[last:].lstrip("\n")
    assert place == "middle" or own in trimmed.text


@pytest.mark.parametrize(
    "text",
    [
        "The reader prints [output truncated] and <omitted chars 5-9 of 12> when a page is large.\n",
        "<omitted chars 1-90000 of 90000; full text: fs_read trimtab:0123456789abcdef>",
        '{"note": "result truncated, see trimtab:0123456789abcdef"}',
        '{"$persistedToolOutput": "is what rows are called"}',
    ],
)
@pytest.mark.parametrize("form", ["text", "field", "mcp"])
def test_text_about_truncation_is_just_text(host: Host, text: str, form: str) -> None:
    """A short output that talks of truncation, or looks like a marker, passes as the same object."""
    output = {"text": text, "field": {"text": text}, "mcp": text_block(text)}[form]
    trimmed = host.trim("read_file", output, budget=Budget(limit=600, keep=512))
    assert trimmed.value is output
    assert trimmed.row is output


LOG = "2031-04-02T11:{0:02}:00Z worker {0} took lease {0}, 0 retries\n"


@pytest.mark.parametrize(
    "last", ["PANIC: ring buffer is full (cap=512)\n", "exit 3", "build-ok", "✗ 2 of 900 failed\r\n"]
)
@pytest.mark.parametrize("form", ["text", "stdout", "mcp", "json text"])
def test_the_last_words_survive(host: Host, last: str, form: str) -> None:
    """The end of a log, with or without a newline after it, is there, in whatever the log comes."""
    log = "".join(LOG.format(n % 60) for n in range(1_500)) + last
    output = {
        "text": log,
        "stdout": {"exit_code": 3, "stdout": log, "stderr": ""},
        "mcp": text_block(log),
        "json text": json.dumps({"stdout": log, "code": 3}),
    }[form]
    trimmed = host.trim("run", output, budget=BUDGET)
    shown = [one for one in documents(trimmed.value) if isinstance(one, str)]
    assert any(one.endswith(last) for one in shown)
    assert_laws(host, "run", output, trimmed)


@pytest.mark.parametrize(
    "numbers",
    [
        '"n":9223372036854775809,"m":-0,"e":1e400',
        '"price":3.100,"tiny":1E-7,"plus":2e+10,"zero":-0.0',
        '"id" : 18446744073709551616 , "id" : 12345678901234567890123456789',
        '"s":"\\u00e9\\/\\u0041","t":"\\ud83d\\ude00"',
    ],
)
@pytest.mark.parametrize("wrap", [str, text_block, lambda text: {"result": text, "code": 0}], ids=["", "mcp", "field"])
def test_spellings_of_json_text_survive(host: Host, numbers: str, wrap: Callable[[str], Any]) -> None:
    """JSON text is sliced, never written again: numbers, escapes and repeated keys keep their spelling."""
    text = '{"first":1.10, ' + numbers + ',"body":"' + "spelt as it was, " * 700 + '" , "last":1.0E+2}'
    output = wrap(text)
    trimmed = host.trim("get_row", output, budget=BUDGET)
    holder = trimmed.value if isinstance(output, str) else next(iter(documents(trimmed.value)))
    inside = holder if isinstance(output, str) else holder.get("result") or holder["content"][0]["text"]
    assert numbers in inside
    assert inside.startswith('{"first":1.10, ')
    assert inside.endswith('" , "last":1.0E+2}')
    assert host.inflate(json.loads(trimmed.row_text)) == output


MCP_SMALL: dict[str, Any] = {
    "metadata beside content": {**text_block("gamma = 3\n"), "structuredContent": {"path": "a.toml", "lines": 1}},
    "content is a pointer": {**text_block("See structured content."), "structuredContent": {"rows": [{"id": "r1"}]}},
    "no content": {"content": [], "structuredContent": {"state": "ready"}},
    "nothing at all": {"content": [], "structuredContent": {}, "_meta": {}},
    "error": {"isError": True, "content": [{"type": "text", "text": "no such branch"}]},
    "image": {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]},
}


@pytest.mark.parametrize("name", MCP_SMALL)
def test_a_small_mcp_result_passes_as_it_is(host: Host, name: str) -> None:
    """Neither twin of an MCP result is preferred, dropped or merged."""
    assert host.trim("mcp__srv__tool", MCP_SMALL[name], budget=Budget(limit=512, keep=512)).value is MCP_SMALL[name]


@pytest.mark.parametrize("name", MCP_SMALL)
def test_a_large_mcp_result_keeps_all_its_parts(host: Host, name: str) -> None:
    """With a large text in it, everything beside that text stays: flags, twins, empty objects, unknown fields."""
    large = {"type": "text", "text": PARAGRAPH.format(1) * 300, "annotations": {"audience": ["user"]}}
    small = MCP_SMALL[name]
    output = {**small, "content": [*small["content"], large]}
    trimmed = host.trim("mcp__srv__tool", output, budget=BUDGET)
    (found,) = markers(trimmed)
    assert int(found[3]) == len(large["text"])
    assert trimmed.value["content"][:-1] == small["content"]
    assert {**trimmed.value, "content": small["content"]} == small
    assert {**trimmed.value["content"][-1], "text": large["text"]} == large
    assert_laws(host, "mcp__srv__tool", output, trimmed)


@pytest.mark.parametrize(
    "error",
    [
        {"isError": True, "content": [{"type": "text", "text": "denied: /srv/keys\n" + "frame 0x00 in loop\n" * 900}]},
        {"error": {"code": 13, "message": "denied: /srv/keys\n" + "frame 0x00 in loop\n" * 900}},
        {"status": "failed", "detail": "denied: /srv/keys " + "frame in loop " * 900, "retry": False},
        [{"type": "text", "text": "denied: /srv/keys\n" + "at loop()\n" * 900, "is_error": True}],
    ],
)
def test_an_error_stays_an_error(host: Host, error: Any) -> None:
    """A large error keeps its flags, its code and the beginning that says what went wrong."""
    trimmed = host.trim("ssh", error, budget=BUDGET)
    assert trimmed.changed
    assert "denied: /srv/keys" in trimmed.text
    assert is_json_kept(error, trimmed.value)
    assert_laws(host, "ssh", error, trimmed)


def test_bytes_are_named_with_their_place(host: Host) -> None:
    """Bytes anywhere in an output are an error with the path; nothing is decoded by guess. Or whole, when told so."""
    output = {"runs": [{"out": "fine"}, {"out": b"\xff\xfe\x00PNG"}]}
    with pytest.raises(UnsupportedOutput, match=r"bytes is not JSON \(@ \$\.runs\[1\]\.out\); decode it") as caught:
        host.trim("run", output)
    assert caught.value.path == "$.runs[1].out"
    with Host.load(policy=Policy(unsupported="whole"), discover=False) as lenient:
        trimmed = lenient.trim("run", output)
    assert trimmed.value is output
    assert trimmed.row is output
    assert isinstance(trimmed.error, UnsupportedOutput)


def test_a_marker_names_the_tool_that_there_is() -> None:
    """The marker names the read tool of the policy; without one nothing is trimmed, or no reading is promised."""
    text = PARAGRAPH.format(3) * 300
    with Host.load(policy=Policy(read_tool="mcp.files-read_2"), discover=False) as renamed:
        (found,) = markers(renamed.trim("run", text))
        assert found[4] == "mcp.files-read_2"
        assert next(one["name"] for one in renamed.read_tools("anthropic")) == "mcp.files-read_2"
    with Host.load(policy=Policy(read_tool=""), discover=False) as none:
        assert none.trim("run", text).value is text
    with Host.load(policy=Policy(read_tool="", without_read_back="trim"), discover=False) as lossy:
        shown = lossy.trim("run", text).text
        assert re.search(r"<omitted chars \d+-\d+ of \d+>", shown)
        assert "full text" not in shown
        assert "trimtab:" not in shown


def test_a_marker_says_where_to_read_on(host: Host) -> None:
    """Reading from the marker's first number, with its tool and uri, gives the omitted text to its last."""
    output = PARAGRAPH.format(5) * 200
    trimmed = host.trim("run", output, budget=BUDGET, owner="chat")
    (found,) = markers(trimmed)
    allow = host.allow_list([json.loads(trimmed.row_text)], owner="chat")
    at, pieces = int(found[1]), []
    while at <= int(found[2]):
        arguments = {"uri": f"trimtab:{found[5]}", "char": at, "count": int(found[2]) - at + 1}
        page = host.run_read_tool(found[4], arguments, allow=allow)
        pieces.append(page["text"])
        at = page["end_char"] + 1
    assert "".join(pieces) == output[int(found[1]) - 1 : int(found[2])]
    assert found[5] == blob_id(output)[:16]


def test_one_long_json_row_is_read_to_its_end(host: Host) -> None:
    """Text in one endless line moves forward with each page, and what comes back is never trimmed or stored again."""
    output = json.dumps({"dump": "0123456789abcdef " * 12_000})
    trimmed = host.trim("dump", output)
    (found,) = markers(trimmed)
    arguments: dict[str, Any] = {"uri": f"trimtab:{found[5]}"}
    pages = []
    while arguments:
        page = host.run_read_tool("fs_read", arguments, allow=ALL)
        again = host.trim("fs_read", page)
        assert again.value is page
        assert not markers(again)
        assert len(again.text) <= host.policy.limit
        pages.append(page["text"])
        arguments = {"uri": arguments["uri"], "char": page["next_char"]} if "next_char" in page else {}
    assert "".join(pages) == json.loads(output)["dump"]
