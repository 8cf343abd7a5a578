"""Where the code of a Markdown text stands."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.markdown import code_ranges, is_escaped

# What it is, and a text in which X stands for a place in code and o for one in text.
CASES = [
    ("no code", "o [o] o"),
    ("a fence", "o\n```\nX\n```\no"),
    ("a fence with an info string", "```py title=X\nX\n```\no"),
    ("a fence of tildes", "~~~\nX ``` X\n~~~ X ~~~\nX\n~~~\no"),
    ("a long fence holds shorter ones", "`````\n```\nX\n```\nX\n`````\no"),
    ("a longer fence closes", "```\nX\n`````\no"),
    ("a fence with an info string does not close", "```\nX\n```py\nX\n```\no"),
    ("the other kind does not close", "```\nX\n~~~\nX\n```\no"),
    ("a fence that is never closed", "o\n```\nX\n\nX"),
    ("CRLF", "o\r\n```\r\nX\r\n```\r\no"),
    ("an indented fence", "o\n   ```\n   X\n   ```\no"),
    ("a fence in nested lists", "- o\n  1. o\n\n       ```\n       X\n       ```\n     o"),
    ("a fence right in an item", "1. ```\n   X\n   ```\n   o\n2. o"),
    ("a fence in a quote", "> ```\n> X\n> ```\n> o"),
    ("a quote ends its fence", "> ```\n> X\n\no"),
    ("a quote mark does not close a fence outside", "```\nX\n> ```\nX\n```\no"),
    ("two backticks are no fence", "``\no\n\no"),
    ("backticks after the backticks: a span, not a fence", "``` X ```\no"),
    ("tildes after the tildes: a fence", "~~~ X ~~~\nX"),
    ("a span", "o `X` o"),
    ("a span of two backticks holds one", "o ``X`X`` o"),
    ("a span over a line's end", "o `X\nX` o"),
    ("an unequal run closes nothing", "o `o`` o"),
    ("a span ends with its paragraph", "o `o\n\no` o"),
    ("a span ends with its item", "- o `o\n- o` o"),
    ("a span ends before a heading", "o `o\n# o` o"),
    ("a heading is a block of its own", "# o `o\no` o"),
    ("a span ends before a quote", "o `o\n> o` o"),
    ("an escaped backtick opens nothing", "o \\`o` o"),
    ("an escaped backslash escapes nothing", "o \\\\`X` o"),
    ("the rest of an escaped run opens", "o \\``X` o"),
    ("a backslash in a span is a character", "o `X\\` o"),
    ("an indented block", "o\n\n    X\n\n    X\n\no"),
    ("a tab", "\tX\no"),
    ("at the start", "    X"),
    ("after a heading", "# o\n    X"),
    ("indented lines of a paragraph are text", "o\n    o"),
    ("indented lines of a list are text", "- o\n\n    o\n\n    o"),
    ("a list that ended", "- o\n\no\n\n    X"),
    ("three blanks are no indent", "o\n\n   o"),
]


@pytest.mark.parametrize("text", [text for _, text in CASES], ids=[name for name, _ in CASES])
def test_what_is_code(text: str) -> None:
    """Exactly what a reader of Markdown sees as code is code."""
    ranges = code_ranges(text)
    for found in re.finditer("[Xo]", text):
        inside = any(start <= found.start() < end for start, end in ranges)
        assert inside == (found[0] == "X"), text[: found.end()]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*"`~->#. \t\n\r\\1a", "```", "~~~", "    ", "\n\n"]), max_size=60).map("".join))
def test_ranges_are_in_order(text: str) -> None:
    """Ranges ascend, are not empty, do not meet, and lie in the text."""
    at = 0
    for start, end in code_ranges(text):
        assert at <= start < end <= len(text)
        at = end


PIECES = [
    "w",
    "w",
    "`",
    "``",
    "\\`",
    "\n",
    "\n\n",
    "\n```\n",
    "\n~~~~\n",
    "\n````py\n",
    "\n\n    w\n\n",
    "\n# ",
    "\n> ",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_it_agrees_with_a_markdown_parser(pieces: list[str]) -> None:
    """For documents without lists, code is what an implementation of CommonMark shows as code."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    text = "".join(piece.replace("w", f" w{number}. ") for number, piece in enumerate(pieces))
    shown = []
    tokens = parser.parse(text)
    for token in tokens:
        tokens.extend(token.children or ())
        if token.type in ("fence", "code_block", "code_inline"):
            shown += re.findall("w[0-9]+", token.info + token.content)
    ours = [word for start, end in code_ranges(text) for word in re.findall("w[0-9]+", text[start:end])]
    assert sorted(ours) == sorted(shown)


@pytest.mark.parametrize(("text", "escaped"), [("x", False), ("\\x", True), ("\\\\x", False), ("a\\\\\\x", True)])
def test_what_a_backslash_escapes(text: str, escaped: bool) -> None:
    """An odd number of backslashes before a character makes it an ordinary one."""
    assert is_escaped(text, len(text) - 1) is escaped


@pytest.mark.parametrize(
    "text",
    [
        "> " * 20_000,
        "- " * 20_000,
        "-  " * 20_000 + "x",
        "1) " * 20_000,
        " " * 50_000 + "x",
        "    " * 9_000,
        "\\" * 50_000,
    ],
    ids=["quotes", "bullets", "wide bullets", "numbers", "blanks", "indents", "backslashes"],
)
def test_long_lines_end(text: str) -> None:
    """No line makes the patterns try their parts in every way: a line of thousands of signs is read at once."""
    assert code_ranges(f"{text}\n`x`")[-1:] == [(len(text) + 1, len(text) + 4)]
