"""`trimtab trim`: what is read as what, the rendering and nothing else on standard output, where texts are stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trimtab import Budget, Host, Policy

RESULTS = [{"id": f"r-{n}", "url": f"https://example.org/{n}", "content": f"sentence {n}. " * 900} for n in range(4)]


def rendering(output: Any, *, tool: str = "output", budget: Budget | None = None) -> Any:
    """What the library makes of an output."""
    with Host.load(store="memory:") as host:
        return host.trim(tool, output, budget=budget)


def as_text(value: Any) -> str:
    """Compact JSON, as in a prompt."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    ("name", "data", "form", "outputs"),
    [
        ("page.txt", b"plain\r\ntext\n", "text", ["plain\r\ntext\n"]),
        ("empty.txt", b"", "text", [""]),
        ("value.json", b'{"b": 1, "a": [1.50, null]}', "json", [{"b": 1, "a": [1.5, None]}]),
        ("bom.json", b'\xef\xbb\xbf{"a": 1}', "json", [{"a": 1}]),
        ("bom.txt", b"\xef\xbb\xbftext", "text", ["\ufefftext"]),
        ("string.json", b'"just a string"', "json", ["just a string"]),
        ("big.json", b"[12345678901234567890123]", "json", [[12345678901234567890123]]),
        ("lines.jsonl", b'1\n\n"two"\r\n{"three": 3}', "jsonl", [1, "two", {"three": 3}]),
        ("one.jsonl", b'{"only": "line"}\n', "jsonl", [{"only": "line"}]),
        ("lines.ndjson", b"[1]\n[2]", "jsonl", [[1], [2]]),
        ("bom.jsonl", b"\xef\xbb\xbf[1]\n[2]", "jsonl", [[1], [2]]),
        ("unnamed", b'{"a": 1}\n{"b": 2}\n', "jsonl", [{"a": 1}, {"b": 2}]),
        ("numbers.txt", b"1\n2\n3\n", "text", ["1\n2\n3\n"]),
        ("half.json", b'{"a": 1}\nand text\n', "text", ['{"a": 1}\nand text\n']),
        ("twice.json", b'{"a": 1, "a": 2}', "text", ['{"a": 1, "a": 2}']),
        ("huge.json", b"[1e999]", "text", ["[1e999]"]),
        ("nan.json", b'{"a": NaN}', "text", ['{"a": NaN}']),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_what_an_input_is_taken_for(
    trimtab: Any, tmp_path: Path, name: str, data: bytes, form: str, outputs: list[Any]
) -> None:
    """One JSON value, a text, or an output on each line; JSON that a value cannot hold exactly stays text."""
    (tmp_path / name).write_bytes(data)
    done = trimtab("trim", name, "--json")
    assert done.code == 0, done.err
    assert [json.loads(line)["value"] for line in done.text.split("\n")[:-1]] == outputs
    assert ("outputs: " in done.err or "1 output: " in done.err) == (form == "jsonl")
    assert ("read as text" in done.err) == (form == "text" and name.endswith(".json"))


def test_a_broken_json_file_says_where_it_breaks(trimtab: Any, tmp_path: Path) -> None:
    """A file named as JSON that is none is a text, with a note of line and column; other names get no note."""
    for name in ("broken.json", "broken.txt"):
        (tmp_path / name).write_bytes(b'{"a": 1,\n "b"}')
        done = trimtab("trim", name)
        assert done.text == '{"a": 1,\n "b"}'
        note = f"note: {name} is not JSON (Expecting ':' delimiter at line 2 column 5): read as text, as it stands\n"
        assert done.err.startswith(note) == (name == "broken.json")


@pytest.mark.parametrize(
    ("form", "data", "printed"),
    [
        ("text", b'{\n "a": 1.50\n}', b'{\n "a": 1.50\n}'),
        ("json", b'{\n "a": 1.50\n}', b'{"a":1.5}\n'),
        ("jsonl", b'"text"\n', b'"text"\n'),
        ("json", b'"text"\n', b"text"),
    ],
)
def test_as_says_what_an_input_is(trimtab: Any, form: str, data: bytes, printed: bytes) -> None:
    """`--as` overrides what the input looks like; text is printed byte for byte."""
    assert trimtab("trim", "-", "--as", form, stdin=data).out == printed


@pytest.mark.parametrize(
    ("data", "words", "complaint"),
    [
        (b"ok\xff\xfeno", [], "standard input: the byte at offset 2 (0xff) is not UTF-8"),
        (b"caf\xe9", [], "the byte at offset 3 (0xe9) is not UTF-8"),
        (b"\x7fELF\x02\0\0\xff", [], "the byte at offset 5 is NUL, so this looks binary"),
        (b"text \xf0\x9f", [], "the byte at offset 5 (0xf0) is not UTF-8"),
        (b"lone \xed\xa0\x80", [], "the byte at offset 5 (0xed) is not UTF-8"),
        (
            b"\xff\xfea\0b\0",
            [],
            "standard input is UTF-16 (its first bytes say so); convert it, as in `iconv -f UTF-16",
        ),
        (b"\xff\xfe\0\0a\0\0\0", [], "is UTF-32"),
        (b"[1, 2", ["--as", "json"], "is not JSON: Expecting ',' delimiter at line 1 column 6; try --as text"),
        (b'{"a": 1, "a": 2}', ["--as", "json"], "the key 'a' stands twice in an object; read it with --as text"),
        (b"[1]\n[2\n", ["--as", "jsonl"], "standard input, line 2: Expecting ',' delimiter"),
        (b"[" * 200_000, ["--as", "json"], "nested too deep"),
        (b"[" * 600 + b"]" * 600, [], "nested deeper than 500 levels"),
    ],
)
def test_input_that_cannot_be_read_is_a_clear_error(
    trimtab: Any, data: bytes, words: list[str], complaint: str
) -> None:
    """Binary, wrongly encoded or malformed input: one line with the place, nothing printed, nothing stored."""
    done = trimtab("trim", "-", *words, stdin=data)
    assert (done.code, done.out) == (2, b"")
    assert complaint in done.err
    assert len(done.err) < 400


def test_standard_output_is_the_rendering(trimtab: Any, page: str) -> None:
    """What is printed is exactly what the library puts into the prompt, for a text and for any other value."""
    done = trimtab("trim", "-", stdin=page.encode())
    assert done.text == rendering(page).text
    done = trimtab("trim", "-", stdin=json.dumps(RESULTS).encode())
    assert done.text == rendering(RESULTS).text + "\n"
    crlf = page.replace("\n", "\r\n")
    assert trimtab("trim", "-", stdin=crlf.encode()).text == rendering(crlf).text


def test_json_text_keeps_its_spelling(trimtab: Any) -> None:
    """A JSON file read as text is the library's JSON text: indentation, escapes and numbers stay."""
    text = json.dumps([*RESULTS, {"é": 1.50, "n": 1e5}], indent=2)
    assert trimtab("trim", "-", "--as", "text", stdin=text.encode()).text == rendering(text).text


def test_each_line_gives_a_line(trimtab: Any) -> None:
    """JSON lines in, JSON lines out, in order, each on its own as the library trims it."""
    outputs = [RESULTS, "short", {"a": 1}, "text. " * 9000]
    data = "".join(json.dumps(one) + "\n" for one in outputs).encode()
    done = trimtab("trim", "-", "--as", "jsonl", stdin=data)
    assert done.text.split("\n")[:-1] == [as_text(rendering(one).value) for one in outputs]
    assert "4 outputs: " in done.err


def test_json_says_all_of_an_output(trimtab: Any) -> None:
    """`--json` gives value, row, sizes and error of the library's result."""
    done = trimtab("trim", "-", "--json", "--tool", "some_search", stdin=json.dumps(RESULTS).encode())
    expected = rendering(RESULTS, tool="some_search")
    assert done.out.count(b"\n") == 1
    assert done.json == {
        "tool": "some_search",
        "changed": True,
        "over_budget": False,
        "error": None,
        "sizes": {
            "before": expected.sizes.before,
            "after": expected.sizes.after,
            "tokens_before": expected.sizes.tokens_before,
            "tokens_after": expected.sizes.tokens_after,
        },
        "store": "sqlite:///trimtab.db",
        "value": expected.value,
        "row": expected.row,
    }


def test_row_is_what_a_database_gets(trimtab: Any, page: str) -> None:
    """`--row` prints `t.row_text`: JSON, also for an output that nothing was moved from."""
    assert trimtab("trim", "-", "--row", stdin=page.encode()).text == rendering(page, tool="output").row_text + "\n"
    assert trimtab("trim", "-", "--row", stdin=b"short").out == b'"short"\n'


@pytest.mark.parametrize(
    ("words", "budget"),
    [
        ([], Budget()),
        (["--limit", "8000"], Budget(limit=8000, keep=8000)),
        (["--keep", "5000"], Budget(limit=20000, keep=5000)),
        (["--keep", "30000"], Budget(limit=30000, keep=30000)),
        (["--limit", "9000", "--keep", "700"], Budget(limit=9000, keep=700)),
        (["--unit", "tokens", "--limit", "2000", "--keep", "1000"], Budget(unit="tokens", limit=2000, keep=1000)),
    ],
    ids=str,
)
def test_budget_options(trimtab: Any, page: str, words: list[str], budget: Budget) -> None:
    """Options change the policy's budget; one of limit and keep brings the other along where they would contradict."""
    assert trimtab("trim", "-", *words, stdin=page.encode()).text == rendering(page, budget=budget).text


def test_a_meta_tool_has_the_budget_of_the_tool_it_calls(trimtab: Any, tmp_path: Path, page: str) -> None:
    """As in the library, the inner tool's table decides."""
    (tmp_path / "trimtab.toml").write_text(
        "[tools.page_reader]\nlimit = 5000\nkeep = 4000\n[meta.invoke]\nname = '/name'\narguments = '/params'\n"
    )
    call = '{"name": "page_reader", "params": {}}'
    done = trimtab("trim", "-", "--tool", "invoke", "--arguments", call, stdin=page.encode())
    assert 3000 < len(done.text) <= 4000


def test_focus_comes_from_option_or_arguments(trimtab: Any, page: str) -> None:
    """`--focus`, or a query in `--arguments`, decides on what excerpts show; an empty focus is none."""
    wanted = "line 500: what the page says"
    plain = trimtab("trim", "-", stdin=page.encode())
    asked = trimtab("trim", "-", "--focus", "line 500", stdin=page.encode())
    argued = trimtab("trim", "-", "--arguments", '{"query": "line 500"}', stdin=page.encode())
    unasked = trimtab("trim", "-", "--arguments", '{"query": "line 500"}', "--focus", "", stdin=page.encode())
    assert wanted in asked.text
    assert asked.out == argued.out
    assert wanted not in plain.text
    assert plain.out == unasked.out


def test_the_printed_handle_can_be_read_with_the_printed_command(trimtab: Any, page: str) -> None:
    """Without naming any store, the report's command reads the text back."""
    done = trimtab("trim", "-", stdin=page.encode())
    assert "stored in sqlite:///trimtab.db; read back with: trimtab read trimtab:" in done.err
    words = done.err.split("read back with: trimtab ")[1].split()
    assert trimtab(*words, "--raw").text == page


@pytest.mark.parametrize("by", ["option", "environment", "policy", "pyproject"])
def test_where_texts_are_stored(
    trimtab: Any, tmp_path: Path, page: str, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """The option wins over the environment, that over the policy, that over `trimtab.db` here; reading agrees."""
    (tmp_path / "kept").mkdir()
    places = ["option", "environment", "policy", "pyproject"]
    for place in places[places.index(by) :]:
        if place == "environment":
            monkeypatch.setenv("TRIMTAB_STORE", "sqlite:///kept/environment.db")
        elif place == "policy":
            (tmp_path / "trimtab.toml").write_text('store = "sqlite:///kept/policy.db"\n')
        elif place == "pyproject":
            (tmp_path / "pyproject.toml").write_text('[tool.trimtab]\nstore = "sqlite:///kept/pyproject.db"\n')
    given = ["--store", "sqlite:///kept/option.db"] if by == "option" else []
    done = trimtab("trim", "-", *given, stdin=page.encode())
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [f"{by}.db"]
    assert f"stored in sqlite:///kept/{by}.db" in done.err
    words = done.err.split("read back with: trimtab ")[1].split()
    assert trimtab(*words, "--raw").text == page


def test_a_pyproject_without_a_table_of_ours_is_not_read(trimtab: Any, tmp_path: Path) -> None:
    """Somebody else's pyproject.toml, even a broken one, stops nothing."""
    (tmp_path / "pyproject.toml").write_text("[project\n")
    assert trimtab("trim", "-", stdin=b"x").out == b"x"


def test_what_stores_nothing_leaves_no_file(trimtab: Any, tmp_path: Path) -> None:
    """An output under the limit makes no store, and the report says so."""
    done = trimtab("trim", "-", stdin=b"short")
    assert list(tmp_path.iterdir()) == []
    assert done.err == "5 chars, not above the limit of 20,000: left alone, nothing stored\n"


def test_a_store_in_memory_is_warned_of(trimtab: Any, page: str) -> None:
    """A store that ends with the command is used when asked for, and the report says what that means."""
    done = trimtab("trim", "-", "--store", "memory:", stdin=page.encode())
    assert "nothing can be read back" in done.err


def test_an_output_whose_text_cannot_be_stored_is_whole(trimtab: Any, tmp_path: Path, page: str) -> None:
    """A store that fails: the output comes out whole, the report says why, and the exit code is 1."""
    (tmp_path / "trimtab.db").mkdir()
    done = trimtab("trim", "-", stdin=page.encode())
    assert done.code == 1
    assert done.text == page
    assert "left whole: StoreUnavailable" in done.err
    lines = f"{json.dumps(page)}\n[1]\n".encode()
    done = trimtab("trim", "-", "--as", "jsonl", "--json", stdin=lines)
    assert done.code == 1
    assert [json.loads(line)["error"] is None for line in done.text.split("\n")[:-1]] == [False, True]
    assert "output 1 left whole" in done.err


@pytest.mark.parametrize("by", ["option", "environment", "policy"])
def test_a_store_that_was_named_is_opened_first(
    trimtab: Any, tmp_path: Path, page: str, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """One that cannot be opened is code 2 before anything is printed."""
    url = "sqlite:///no/such/folder.db"
    if by == "environment":
        monkeypatch.setenv("TRIMTAB_STORE", url)
    elif by == "policy":
        (tmp_path / "trimtab.toml").write_text(f'store = "{url}"\n')
    done = trimtab("trim", "-", *(["--store", url] if by == "option" else []), stdin=page.encode())
    assert (done.code, done.out) == (2, b"")
    assert "it cannot be opened; make its folder" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("output", "policy", "why"),
    [
        ([{"id": n, "t": "short"} for n in range(1000)], "", "nothing in it can be moved (2,000 values, all shorter"),
        ({"https://e.org/" + "a" * 30_000: "b" * 600}, "", "can be moved (what is long in it are keys, ids or urls)"),
        ({"image": {"type": "image", "data": "QUJD" * 9000}}, "", "can be moved (what is not media is not)"),
        ("text " * 9000, "read_tool = ''", "left whole, nothing stored, because the policy has no read-back tool"),
    ],
    ids=["short", "identity", "media", "no read-back tool"],
)
def test_what_cannot_be_trimmed_says_why(trimtab: Any, tmp_path: Path, output: Any, policy: str, why: str) -> None:
    """One line on an output above its limit of which nothing was moved: its size, the limit, and why."""
    (tmp_path / "trimtab.toml").write_text(f"limit = 5000\nkeep = 5000\n{policy}\n")
    done = trimtab("trim", "-", stdin=json.dumps(output).encode())
    assert done.code == 0
    assert " chars, above the limit of 5,000: " in done.err
    assert why in done.err
    assert done.err.count("\n") == 1


def test_over_budget_is_told(trimtab: Any) -> None:
    """When everything movable has moved and it is still too large, the report says so; that is no failure."""
    output = [{"id": f"an-identity-of-forty-characters-{n:08}", "text": "word " * 100} for n in range(300)]
    done = trimtab("trim", "-", "--limit", "2000", "--keep", "1000", stdin=json.dumps(output).encode())
    assert done.code == 0
    assert "still above keep (1,000 chars)" in done.err


def test_owner_holds_what_was_stored(trimtab: Any, page: str) -> None:
    """`--owner` is the holder of the texts."""
    trimtab("trim", "-", "--owner", "conversation-7", stdin=page.encode())
    with Host.load(store="sqlite:///trimtab.db", discover=False) as host:
        (blob_id,) = host.store.ids()
        assert host.store.held("conversation-7", [blob_id]) == {blob_id}


def test_long_reports_are_cut(trimtab: Any) -> None:
    """A report names ten texts and counts the others."""
    output = [{"id": n, "text": f"{n} " * 900} for n in range(40)]
    done = trimtab("trim", "-", stdin=json.dumps(output).encode())
    assert "… and 30 other texts" in done.err
    assert len(done.err.split("\n")) < 16


def test_the_help_names_the_defaults_that_hold(trimtab: Any) -> None:
    """The numbers in the help are those of a policy that says nothing."""
    words = trimtab("trim", "--help").text
    assert f"else {Policy().limit:,}" in words
    assert f"else {Policy().keep:,};" in words
    assert (Policy().limit, Policy().keep) == (Budget().limit, Budget().keep)
