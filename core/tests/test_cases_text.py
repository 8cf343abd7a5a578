"""The kinds of fault behind the reported cases that lie in the text itself: what must not be cut, what not shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from trimtab import ALL, Budget, Host, Page
from trimtab._json import blob_id

# ECMA-48 sequences, longest kinds first; written apart from the product's own.
SEQUENCE = re.compile(r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-9;:?<=>]*[ -/]*[@-~]|[ -/]*[0-~])")
MARKER = re.compile(r"<omitted chars (\d+)-(\d+) of (\d+); full text: ([\w.-]+) trimtab:([0-9a-f]{16})>")


@pytest.fixture
def host() -> Iterator[Host]:
    """A host with no plugin of others."""
    with Host.load(discover=False) as loaded:
        yield loaded


def cuts(host: Host, text: str, budget: Budget) -> list[tuple[int, int]]:
    """The omitted ranges of a text trimmed as the output of a command; checks that it comes back whole."""
    trimmed = host.trim("run", text, budget=budget)
    assert trimmed.changed
    assert len(trimmed.text) <= budget.keep
    row = json.loads(trimmed.row_text)
    assert host.inflate(row) == text
    (ref,) = row["$persistedToolOutput"]["blobRefs"]
    assert ref["blobId"] == blob_id(text)
    return [tuple(pair) for pair in ref["cuts"]]


TERMINALS = {
    "redrawn bar": "".join(f"\x1b[2K\x1b[1Gunpacking layer {n} of 900" for n in range(900)),
    "colours": "".join(f"\x1b[38;2;{n % 256};10;20mline\x1b[0m" for n in range(900)),
    "links": "".join(f"\x1b]8;;https://ci.example/jobs/{n}\x07job\x1b]8;;\x1b\\ " for n in range(500)),
    "title": "".join(f"\x1b]0;step {n}\x1b\\step\x1b(B" for n in range(900)),
    "private": "\x1b[?25l" + "".join(f"\x1b[{n};1H\x1b[Jrow\x1b[?2026h" for n in range(700)),
    "back to back": "\x1b[1m\x1b[31m\x1b[0m" * 900,
}


@pytest.mark.parametrize("name", TERMINALS)
@pytest.mark.parametrize("keep", range(600, 640, 3))
def test_no_cut_lies_inside_an_escape_sequence(host: Host, name: str, keep: int) -> None:
    """Wherever the budget makes the edges fall, every sequence is shown whole or not at all; the blob has raw bytes."""
    text = TERMINALS[name] + "\n\x1b[31mERROR: no space\x1b[0m\n"
    inside = {at for found in SEQUENCE.finditer(text) for at in range(found.start() + 1, found.end())}
    for first, last in cuts(host, text, Budget(limit=keep, keep=keep)):
        assert first - 1 not in inside
        assert last not in inside
    assert host.trim("run", text, budget=Budget(limit=keep, keep=keep)).text.endswith(
        "\x1b[31mERROR: no space\x1b[0m\n"
    )


CLUSTERS = {
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "skin": "\U0001f44d\U0001f3fd",
    "flags": "\U0001f1eb\U0001f1ee\U0001f1f8\U0001f1ea|",
    "accents": "e\u0301\u0323",
    "keycap": "7\ufe0f\u20e3",
    "crlf": "\r\n",
}


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("keep", range(600, 612))
def test_no_cut_lies_inside_a_character(host: Host, name: str, keep: int) -> None:
    """What a reader sees as one character (and a CRLF) is never split by an edge."""
    unit = CLUSTERS[name]
    ends = {0, 2, 4} if name == "flags" else {0}
    for first, last in cuts(host, unit * 2_000, Budget(limit=keep, keep=keep)):
        assert (first - 1) % len(unit) in ends
        assert last % len(unit) in ends


@pytest.mark.parametrize(
    "text",
    [
        "N\x00U\x00L\x00 in UTF-16 read as bytes\x00\n" * 200,
        "half a pair \ud83d here\n" * 200,
        "the other half \udca9 there " * 200,
        "\x00" * 4_000,
    ],
)
@pytest.mark.parametrize("form", ["text", "field"])
def test_what_cannot_be_shown_is_replaced_in_the_prompt_only(host: Host, text: str, form: str) -> None:
    """NUL and lone surrogates show as U+FFFD, one for one; the stored text and what is opened again have them."""
    output = text if form == "text" else {"file": "a.bin", "text": text}
    trimmed = host.trim("read_file", output, budget=Budget(limit=900, keep=600))
    assert re.search("[\x00\ud800-\udfff]", trimmed.text) is None
    assert "\ufffd" in trimmed.text or text == "\x00" * 4_000
    assert "\\u0000" not in trimmed.text
    assert trimmed.text.encode()
    assert host.inflate(json.loads(trimmed.row_text)) == output
    assert host.store.get(blob_id(text)) == text


def pages(host: Host, text: str, start: str, count: int | None) -> list[Page]:
    """Every page of a stored text, from its beginning on."""
    blob = blob_id(text)
    host.store.put({blob: text}, owner="reader")
    uri, place, read = f"trimtab:{blob}", {start: 1}, []
    while place:
        read.append(host.read(uri, allow=ALL, count=count if start in place else None, **place))
        page = read[-1]
        assert page.truncated == (page.next_char is not None)
        if start == "line" and page.next_line is not None:
            place = {"line": page.next_line}
        else:
            place = {"char": page.next_char} if page.next_char else {}
        assert len(read) <= len(text) + 1
    return read


TEXTS = {
    "blank line at an edge": "first\n\nthird\n",
    "no newline at the end": "first\nsecond",
    "only newlines": "\n" * 7,
    "crlf": "one\r\n\r\ntwo\r\n",
    "other line ends": "a\u2028b\x0bc\x85d\x1ce\re\nf\n",
    "one endless line": "x" * 30_000,
    "an endless line between": "short\n" + "y" * 30_000 + "\nshort\n",
    "escapes": '\\"\n' * 9_000,
    "empty": "",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("start", ["line", "char"])
@pytest.mark.parametrize("count", [1, 2, None])
def test_pages_joined_are_the_text(host: Host, name: str, start: str, count: int | None) -> None:
    """Pages are exact slices: blank lines at an edge, line ends and endless lines included; each moves forward."""
    text = TEXTS[name]
    if start == "char" and count is not None and len(text) > 1_000:
        count = 7_001
    read = pages(host, text, start, count)
    assert "".join(page.text for page in read) == text
    assert all(page.text for page in read) or text == ""
    assert not read[-1].truncated
    ends = [0] + [page.end_char for page in read]
    assert [page.start_char for page in read] == [end + 1 for end in ends[:-1]]


@pytest.mark.parametrize(
    ("text", "lines"), [("x\ny\n", 2), ("x\ny", 2), ("", 0), ("\n", 1), ("x\r\ny\r\n", 2), ("x\ry", 1), ("\n\n", 2)]
)
def test_a_newline_ends_a_line_and_begins_none(host: Host, text: str, lines: int) -> None:
    """Only a newline ends a line; one at the very end does not begin another."""
    assert pages(host, text, "line", None)[-1].total_lines == lines


def test_a_page_that_stops_inside_a_line_says_so(host: Host) -> None:
    """One line longer than a page: it has `next_char`, no `next_line`, and is truncated, whatever `count` was."""
    page = pages(host, TEXTS["one endless line"], "line", 1)[0]
    assert page.truncated
    assert (page.next_line, page.next_char) == (None, page.end_char + 1)
    assert page.total_lines == 1
