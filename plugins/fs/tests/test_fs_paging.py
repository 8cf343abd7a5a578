"""Reading files and attachments page by page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import ALL, Host, Policy
from trimtab_fs import FsTools, policy_with_fs

Read = Callable[..., Any]


@cache
def host(limit: int = 20_000, unit: str = "chars") -> Host:
    """A host whose pages take at most `limit`."""
    table = {"limit": limit, "keep": min(limit, 512 if unit == "chars" else 128), "unit": unit}
    return Host.load(policy=policy_with_fs(Policy.from_mapping(table)), discover=False)


def attached(content: str | bytes, limit: int = 20_000, unit: str = "chars") -> Read:
    """`read_file` of the one attachment `a`, with the arguments given."""
    tools = FsTools(host(limit, unit), attachments={"a": content})
    return lambda **place: tools.run("read_file", {"filename": "a", **place}, allow=ALL)


def pages(read: Read, unit: str, **more: Any) -> Iterator[Any]:
    """Every page, each begun where the one before said."""
    place: dict[str, Any] = {unit: 1}
    while True:
        page = read(**place, **more)
        assert "error" not in page, page
        yield page
        if "next_line" in page:
            place = {"line": page["next_line"]}
        elif "next_char" in page:
            place = {"char": page["next_char"]}
        else:
            return


def shown(text: str) -> str:
    """What a page shows of a text: NUL and lone surrogates as U+FFFD."""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", text)


def rendered(page: Any) -> str:
    """A page as it stands in a prompt."""
    return json.dumps(page, ensure_ascii=False, separators=(",", ":"))


PIECES = st.one_of(
    st.sampled_from(["a", "word ", "\n", "\r\n", "\r", "\t", '"', "\\", "\0", "\x1b[31m", "\u2028", "\x85", "\ufeff"]),
    st.sampled_from(["é", "漢字", "😀", "\ud800", "x" * 700, "line\n" * 90, "\n" * 400, '"' * 300]),
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, limit=st.integers(512, 1_500), unit=st.sampled_from(["line", "char"]), count=st.integers(0, 40))
def test_pages_joined_equal_the_text(text: str, limit: int, unit: str, count: int) -> None:
    """Of any text, at any limit: pages joined are the text, each moves forward, each fits."""
    joined = ""
    for page in pages(attached(text, limit), unit, **({"count": count} if count else {})):
        assert page["text"] or not text
        assert len(rendered(page)) <= limit
        joined += page["text"]
    assert joined == shown(text)


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, limit=st.integers(512, 1_500), unit=st.sampled_from(["line", "char"]))
def test_numbers_number_the_same_pages(text: str, limit: int, unit: str) -> None:
    """With numbers, each line of a page stands after its own number, and paging is as right as without."""
    lines = text.split("\n")
    joined = ""
    for page in pages(attached(text, limit), unit, numbers=True):
        assert len(rendered(page)) <= limit
        for piece in page["text"].split("\n")[: page["text"].count("\n") + (not page["text"].endswith("\n"))]:
            if text:
                number, tab, line = piece.partition("\t")
                assert tab
                assert line in shown(lines[int(number) - 1])
        joined += re.sub(r"(?<![^\n])[0-9]+\t", "", page["text"])
    assert joined == shown(text)


@settings(max_examples=30, deadline=None)
@given(text=TEXTS, limit=st.integers(128, 400))
def test_pages_fit_limits_in_tokens(text: str, limit: int) -> None:
    """A limit in tokens is kept as well."""
    counter = host(limit, "tokens").registry.token_counters["estimate"]()
    joined = ""
    for page in pages(attached(text, limit, "tokens"), "line"):
        assert counter.count(rendered(page)) <= limit
        joined += page["text"]
    assert joined == shown(text)


@settings(max_examples=60, deadline=None)
@given(
    text=TEXTS.filter(lambda text: "\ud800" not in text and "\0" not in text), unit=st.sampled_from(["line", "char"])
)
def test_bytes_and_texts_page_alike(text: str, unit: str) -> None:
    """The UTF-8 of a text has the pages of the text."""
    assert list(pages(attached(text.encode(), 600), unit)) == list(pages(attached(text, 600), unit))


def test_one_endless_line_is_read_by_char() -> None:
    """A line longer than a page says where to go on, and is read to its end."""
    text = "".join(f"{number}," for number in range(4_000))
    first = attached(text, 2_000)(line=1)
    assert "next_line" not in first
    assert first["next_char"] == len(first["text"]) + 1
    assert "".join(page["text"] for page in pages(attached(text, 2_000), "line")) == text


def test_line_ends_are_kept() -> None:
    """Only a newline ends a line; CR, U+2028 and NEL stay where they are."""
    page = attached("a\r\nb\rc\u2028d\x85e\n")()
    assert page == {"text": "a\r\nb\rc\u2028d\x85e\n", "start_line": 1, "end_line": 2, "total_lines": 2}


def test_a_page_of_lines_in_the_middle() -> None:
    """`line` and `count` give just these lines, and the answer says where to go on."""
    text = "".join(f"line {number}\n" for number in range(1, 101))
    page = attached(text)(line=40, count=2, numbers=True)
    assert page == {
        "text": "40\tline 40\n41\tline 41\n",
        "start_line": 40,
        "end_line": 41,
        "total_lines": 100,
        "next_line": 42,
    }


def test_a_page_that_begins_inside_a_line_has_its_number() -> None:
    """By char with numbers: the first piece has the number of the line that it is in."""
    page = attached("first\nsecond\nthird\n")(char=9, count=8, numbers=True)
    assert page["text"] == "2\tcond\n3\tthi"
    assert (page["start_char"], page["end_char"], page["next_char"]) == (9, 16, 17)


@pytest.mark.parametrize(
    ("place", "total"),
    [({"line": 4}, "3"), ({"char": 7}, "6"), ({"line": 0}, "3"), ({"char": -1}, "6")],
)
def test_past_the_end_is_an_error_with_totals(place: dict[str, int], total: str) -> None:
    """A place that is not in the text is answered with how much there is."""
    error = attached("a\nb\nc\n")(**place)["error"]
    assert error["kind"] == "OutOfRange"
    assert f"the text has {total}" in error["message"]


def test_an_empty_text_has_one_empty_page() -> None:
    """An empty file is no error."""
    assert attached("")() == {"text": "", "start_line": 0, "end_line": 0, "total_lines": 0}
    assert attached(b"")() == attached("")()
    assert attached("")(line=2)["error"]["kind"] == "OutOfRange"


@pytest.mark.parametrize("number", ["3", 3.0, " 3 "])
def test_numbers_as_models_write_them(number: object) -> None:
    """A whole number may come as a string or a float."""
    assert attached("a\nb\nc\n")(line=number)["text"] == "c\n"


@pytest.mark.parametrize("place", [{"line": "x"}, {"line": True}, {"count": 1.5}, {"line": 1, "char": 1}, {"row": 1}])
def test_a_place_that_is_none_is_answered(place: dict[str, object]) -> None:
    """What a model got wrong comes back as an error that it can act on."""
    assert attached("a\n")(**place)["error"]["kind"] == "CallerError"


def test_a_file_pages_like_its_text(tmp_path: Path) -> None:
    """`fs_read` of a file, by line and by char, over several chunks of the file."""
    text = "".join(f"{number}: héllo 漢字 😀\r\n" for number in range(20_000)) + "x" * 5_000
    (tmp_path / "long.txt").write_bytes(text.encode())
    tools = FsTools(host(), folders=[tmp_path])

    def read(**place: Any) -> Any:
        return tools.run("fs_read", {"path": "long.txt", **place}, allow=ALL)

    for unit in ("line", "char"):
        assert "".join(page["text"] for page in pages(read, unit)) == text


def test_blobs_page_like_files() -> None:
    """`fs_read` of a `trimtab:` uri goes to the host, with numbers too."""
    text = "".join(f"line {number}\n" for number in range(1, 5_001))
    tools = FsTools(host())
    trimmed = host().trim("shell", text, owner="paging")
    allow = host().allow_list([trimmed.row], owner="paging")
    uri = re.search("trimtab:[0-9a-f]{16}", trimmed.text)
    assert uri is not None
    page = tools.run("fs_read", {"path": uri[0], "line": 3_000, "count": 1, "numbers": True}, allow=allow)
    assert page["text"] == "3000\tline 3000\n"
    assert tools.run("fs_read", {"path": f"<{uri[0]}>"}, allow=allow)["start_line"] == 1
    other = host().allow_list([], owner="paging")
    assert tools.run("fs_read", {"path": uri[0]}, allow=other)["error"]["kind"] == "UnknownBlob"
