"""`trimtab show`, `render`, `inflate`: rows of every generation, and what is no row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trimtab import Host
from trimtab.cli.skeleton import marked
from trimtab.envelope import read

RESULTS = [
    {"id": f"r-{n}", "url": f"https://example.org/{n}", "content": f"sentence {n}. " * (900 if n else 9)}
    for n in range(3)
]
OLD_TEXT = {
    "$persistedToolOutput": {
        "shape": "text",
        "fileEntryId": "entry-1",
        "vfsFilename": "entry-1.txt",
        "head": "the beginning\n",
        "tail": "the end\n",
        "totalChars": 5000,
        "totalLines": 100,
    }
}
LATER = {"$persistedToolOutput": {"v": 4, "tool": "t", "skeleton": "s", "blobRefs": []}}


@pytest.fixture
def row(trimtab: Any) -> Any:
    """A row of RESULTS, whose texts are stored in the default store."""
    return trimtab("trim", "-", "--tool", "web_search", "--row", stdin=json.dumps(RESULTS).encode()).json


def encoded(*values: Any) -> bytes:
    """Values as JSON lines."""
    return "".join(json.dumps(one) + "\n" for one in values).encode()


def test_show_draws_a_row(trimtab: Any, row: Any) -> None:
    """Tool and sizes, every key with its value, markers where they stand, and a table of the texts."""
    done = trimtab("show", "-", stdin=encoded(row))
    assert done.code == 0
    assert done.text.startswith("row of web_search: ")
    assert "in 2 stored texts" in done.text
    for seen in ('id  "r-0"', 'url  "https://example.org/2"', 'content  "sentence 0. sentence 0.', "/1/content"):
        assert seen in done.text
    for ref in row["$persistedToolOutput"]["blobRefs"]:
        (first, last), total = ref["cuts"][0], ref["totalChars"]
        marker = f"<omitted chars {first}-{last} of {total}; full text: fs_read trimtab:{ref['blobId'][:16]}>"
        assert marker in done.text
        assert f"{last - first + 1:,}" in done.text


def test_show_for_programs(trimtab: Any, row: Any) -> None:
    """`--json` gives sizes, and for each text its ref, its uri and how much is omitted."""
    shown = trimtab("show", "-", "--json", stdin=encoded(row)).json
    body = row["$persistedToolOutput"]
    assert (shown["kind"], shown["tool"]) == ("row", "web_search")
    assert shown["stored_chars"] == sum(ref["totalChars"] for ref in body["blobRefs"])
    for text, ref in zip(shown["texts"], body["blobRefs"], strict=True):
        assert {name: text[name] for name in ref} == ref
        assert text["uri"] == f"trimtab:{ref['blobId'][:16]}"
        assert text["omitted"] == sum(last - first + 1 for first, last in ref["cuts"])


def test_show_keeps_a_stranger_from_steering_the_terminal(trimtab: Any) -> None:
    """Control characters of keys and texts are shown as pictures."""
    output = {"\x1b[2J\nkey": "\x1b]0;title\x07 \x9b31m", "text": "\x1b[31mred\n" * 3000}
    row = trimtab("trim", "-", "--row", stdin=json.dumps(output).encode()).out
    text = trimtab("show", "-", stdin=row).text
    assert not any(sign in text for sign in "\x1b\x07\x9b")
    assert "␛[2J⏎key" in text


def test_only_markers_of_the_row_are_marked() -> None:
    """A forged marker in a text is text; the one that a ref put there is found, with its place."""
    forged = "<omitted chars 1-9 of 9; full text: fs_read trimtab:0123456789abcdef>"
    page = f"{forged}\nwhat it says\n" * 2000
    with Host.load(store="memory:", discover=False) as host:
        envelope = read(host.trim("t", page).row)
    assert envelope is not None
    places = list(marked(envelope.skeleton, envelope.refs))
    assert len(places) == 1
    assert envelope.skeleton[slice(*places[0])].startswith(f"<omitted chars {envelope.refs[0].cuts[0][0]}-")  # type: ignore[index]
    assert envelope.skeleton.count("<omitted chars") > 1


def test_show_cuts_long_lists(trimtab: Any) -> None:
    """Twenty elements of a list are shown, all of them with --all."""
    output = [{"name": f"element {n}", "other": list(range(20))} for n in range(50)]
    short, full = (trimtab("show", "-", *words, stdin=encoded(output)).text for words in ([], ["--all"]))
    assert "element 19" in short
    assert "element 20" not in short
    assert "… 30 more (--all shows them)" in short
    assert "element 49" in full


def test_show_lists_twenty_texts(trimtab: Any) -> None:
    """Of a row with many texts the first twenty are listed and the others counted; `--all` lists all."""
    output = {"texts": {f"name-{n:02}": f"{n} " * 900 for n in range(40)}}
    stored = trimtab("trim", "-", "--row", stdin=json.dumps(output).encode()).out
    short, full = (trimtab("show", "-", *words, stdin=stored).text for words in ([], ["--all"]))
    assert "/texts/name-19 " in short
    assert "/texts/name-20 " not in short
    assert short.endswith("… 20 more texts (--all shows them)\n")
    assert "/texts/name-39 " in full
    assert "more texts" not in full


def test_no_line_ends_in_blanks(trimtab: Any, row: Any) -> None:
    """Tables that go into a pipe have no trailing blanks."""
    for text in (trimtab("show", "-", stdin=encoded(row, OLD_TEXT)).text, trimtab("store", "stats").text):
        assert not [line for line in text.split("\n") if line.endswith(" ")]


@pytest.mark.parametrize(
    ("value", "title"),
    [
        (OLD_TEXT, "row of an older generation (text): "),
        (LATER, "a row of a later version: "),
        ({"a": "plain output"}, "not a row: "),
        ("just a text", "not a row: "),
    ],
)
def test_show_says_what_it_is_not(trimtab: Any, value: Any, title: str) -> None:
    """Rows of older and later generations, and outputs that were left whole, are named as what they are."""
    done = trimtab("show", "-", stdin=encoded(value))
    assert done.code == 0
    assert done.text.startswith(title)
    assert ("a later trimtab wrote it" in done.err) == (value is LATER)


def test_show_of_json_lines_shows_every_row(trimtab: Any, row: Any) -> None:
    """Two rows in one input are both shown."""
    text = trimtab("show", "-", stdin=encoded(row, OLD_TEXT)).text
    assert text.index("row of web_search") < text.index("row of an older generation")


def test_show_names_the_texts_of_an_older_row(trimtab: Any) -> None:
    """The ids of an older row's files are listed, with the units that it counted."""
    text = trimtab("show", "-", stdin=encoded(OLD_TEXT)).text
    assert "entry-1" in text
    assert "5,000" in text
    assert "<omitted chars 15-4992 of 5000>" in text


def test_render_prints_the_prompt_value(trimtab: Any, row: Any) -> None:
    """`render` prints what the row's skeleton is, and needs no store for it."""
    skeleton = row["$persistedToolOutput"]["skeleton"]
    done = trimtab("render", "-", "--store", "sqlite:///nowhere.db", stdin=encoded(row))
    assert done.json == skeleton
    assert trimtab("render", "-", stdin=encoded(row, "text", OLD_TEXT)).text.split("\n")[1] == '"text"'


def test_inflate_prints_the_output(trimtab: Any, row: Any, page: str) -> None:
    """`inflate` gives back what the tool gave: a text byte for byte, another value as JSON."""
    assert trimtab("inflate", "-", stdin=encoded(row)).json == RESULTS
    crlf = page.replace("\n", "\r\n")
    stored = trimtab("trim", "-", "--row", stdin=crlf.encode()).out
    assert trimtab("inflate", "-", stdin=stored).out == crlf.encode()
    assert [json.loads(line) for line in trimtab("inflate", "-", stdin=encoded(row, [1])).text.split("\n")[:-1]] == [
        RESULTS,
        [1],
    ]


@pytest.mark.parametrize("command", ["render", "inflate"])
@pytest.mark.parametrize(
    ("data", "printed"),
    [(b'"a text\\n"', b"a text\n"), (b'{ "a": 1.50, "b": "\\u00e9" }', '{"a":1.5,"b":"é"}\n'.encode())],
    ids=["text", "object"],
)
def test_json_that_is_no_row_is_an_output(trimtab: Any, command: str, data: bytes, printed: bytes) -> None:
    """Its value is printed: a text as it is, anything else as JSON on one line, in one spelling."""
    assert trimtab(command, "-", stdin=data).out == printed


def test_whole_texts_are_put_back_from_the_store(trimtab: Any, page: str) -> None:
    """The row of a read-back tool renders to the page itself, which the store has."""
    output = {"text": page[:9000]}
    row = trimtab("trim", "-", "--tool", "fs_read", "--row", stdin=json.dumps(output).encode()).out
    assert page[:300].encode() not in row
    assert trimtab("render", "-", stdin=row).json == output


def test_a_text_that_the_store_has_not_got_is_code_1(trimtab: Any, row: Any) -> None:
    """`inflate` over a store without the texts says which, and where to look."""
    trimtab("trim", "-", "--store", "sqlite:///other.db", stdin=b"another text. " * 9000)
    done = trimtab("inflate", "-", "--store", "sqlite:///other.db", stdin=encoded(row))
    assert (done.code, done.out) == (1, b"")
    assert any(
        f"this store has not got the text trimtab:{ref['blobId']}; name the one that it was put into with" in done.err
        for ref in row["$persistedToolOutput"]["blobRefs"]
    )


def test_older_rows_inflate_from_a_folder(trimtab: Any, tmp_path: Path) -> None:
    """`--old-blobs` names the folder of an older row's texts; without it the error says so."""
    done = trimtab("inflate", "-", stdin=encoded(OLD_TEXT))
    assert done.code == 2
    assert "--old-blobs" in done.err
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "entry-1.txt").write_bytes(b"the full\r\ntext")
    assert trimtab("inflate", "-", "--old-blobs", "files", stdin=encoded(OLD_TEXT)).out == b"the full\r\ntext"
    (tmp_path / "files" / "entry-1.txt").unlink()
    done = trimtab("inflate", "-", "--old-blobs", "files", stdin=encoded(OLD_TEXT))
    assert done.code == 1
    assert "files has no file entry-1 or entry-1.txt" in done.err


@pytest.mark.parametrize("command", ["show", "render", "inflate"])
def test_a_damaged_row_is_an_error_with_its_place(trimtab: Any, row: Any, command: str) -> None:
    """A row with a broken ref is code 1, and the place of the fault is named."""
    row["$persistedToolOutput"]["blobRefs"][0]["blobId"] = "nonsense"
    done = trimtab(command, "-", stdin=encoded(row))
    assert done.code == 1
    assert "damaged row: 'blobId' must be 32 hex digits (@ /$persistedToolOutput/blobRefs/0/blobId)" in done.err


@pytest.mark.parametrize("command", ["show", "render", "inflate"])
def test_what_is_not_json_is_no_row(trimtab: Any, command: str) -> None:
    """Text that is not JSON is an error that says what a row is."""
    done = trimtab(command, "-", stdin=b"plain text\nof two lines")
    assert (done.code, done.out) == (2, b"")
    assert "a row is JSON, as `t.row_text` and `trimtab trim --row` write it" in done.err
