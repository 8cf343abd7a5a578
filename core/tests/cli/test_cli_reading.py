"""`trimtab read` and `grep`: stored texts, page by page and line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trimtab._json import blob_id


@pytest.fixture
def uri(trimtab: Any, page: str) -> str:
    """The uri of `page`, stored in the default store."""
    assert trimtab("trim", "-", stdin=page.encode()).code == 0
    return f"trimtab:{blob_id(page)[:16]}"


def following(err: str) -> list[str]:
    """The words of the command for the next page; none at the end."""
    return err.split("next: trimtab ")[1].split() if "next: " in err else []


@pytest.mark.parametrize("begin", [[], ["--char", "1"], ["--count", "77"]], ids=str)
def test_pages_joined_are_the_text(trimtab: Any, uri: str, page: str, begin: list[str]) -> None:
    """Following the printed commands reads the whole text, each part once."""
    words = ["read", uri, *begin]
    text = ""
    for _ in range(40):
        done = trimtab(*words)
        assert done.code == 0
        text += done.text
        words = following(done.err)
        if not words:
            break
    assert text == page


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        (["--line", "3", "--count", "2"], 3, 4),
        (["--line", "1000"], 1000, 1000),
        (["--line", "999", "--count", "50"], 999, 1000),
    ],
    ids=str,
)
def test_lines_are_read_by_number(trimtab: Any, uri: str, page: str, words: list[str], first: int, last: int) -> None:
    """`--line` and `--count` give exactly those lines, and the report says which."""
    done = trimtab("read", uri, *words)
    assert done.text == "".join(page.split("\n")[n - 1] + "\n" for n in range(first, last + 1))
    assert (f"lines {first:,}-{last:,}" if first < last else f"line {first:,}") + " of 1,000, chars " in done.err


def test_characters_are_read_by_number(trimtab: Any, uri: str, page: str) -> None:
    """`--char` and `--count` give exactly those characters."""
    done = trimtab("read", uri, "--char", "101", "--count", "50")
    assert done.text == page[100:150]
    assert following(done.err)[-2:] == ["--char", "151"]


def test_a_handle_alone_or_a_whole_id_will_do(trimtab: Any, uri: str, page: str) -> None:
    """The digits of a uri name the text too, all 32 of them as well."""
    expected = trimtab("read", uri).text
    assert trimtab("read", uri.removeprefix("trimtab:")).text == expected
    assert trimtab("read", f"trimtab:{blob_id(page)}").text == expected


@pytest.mark.parametrize(
    ("words", "start", "stop"),
    [([], 0, None), (["--char", "11", "--count", "30000"], 10, 30010), (["--char", "40001"], 40000, None)],
    ids=str,
)
def test_raw_has_no_pages(trimtab: Any, words: list[str], start: int, stop: int | None) -> None:
    """`--raw` prints exact bytes, beyond any limit, and nothing else."""
    text = "αβγ\r\n\x1b[31m\u2028" * 6000
    trimtab("trim", "-", stdin=text.encode())
    done = trimtab("read", blob_id(text), "--raw", *words)
    assert done.out == text[start:stop].encode()
    assert done.err == ""


def test_raw_writes_what_utf8_cannot(trimtab: Any) -> None:
    """NUL and lone surrogates: `read` shows U+FFFD, `--raw` the bytes that the store keeps."""
    text = "a\0b\ud800c" * 6000
    spelt = "a\\u0000b\\ud800c" * 6000
    trimtab("trim", "-", stdin=f'"{spelt}"'.encode())
    assert trimtab("read", blob_id(text), "--count", "1").text.startswith("a\ufffdb\ufffdca")
    assert trimtab("read", blob_id(text), "--raw").out == text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--line", "1001"], "line 1001 is out of range: the text has 1000"),
        (["--char", "0"], "char 0 is out of range"),
        (["--line", "1", "--char", "1"], "give one of line, char and row"),
        (["--row", "1"], "row 1 is out of range"),
        (["--count", "0"], "count 0 is out of range"),
    ],
    ids=str,
)
def test_a_wrong_place_says_what_there_is(trimtab: Any, uri: str, words: list[str], complaint: str) -> None:
    """A place beyond the text is code 2 and says how much there is."""
    for raw in ([], ["--raw"]):
        done = trimtab("read", uri, *words, *raw)
        assert (done.code, done.out) == (2, b"")
        assert complaint in done.err


@pytest.mark.parametrize("command", [["read"], ["grep"]])
def test_a_uri_that_leads_nowhere(trimtab: Any, uri: str, command: list[str]) -> None:
    """Not ours, or not in this store: code 2, and the store that was asked is named."""
    pattern = ["x"] if command == ["grep"] else []
    assert "is no uri of a marker" in trimtab(*command, "https://example.org", *pattern).err
    done = trimtab(*command, "trimtab:0000000000000000", *pattern)
    assert done.code == 2
    assert "store sqlite:///trimtab.db has no text trimtab:0000000000000000" in done.err


def test_reading_makes_no_store(trimtab: Any, tmp_path: Path) -> None:
    """A command that reads leaves no database behind where there was none."""
    for words in (["read", "trimtab:0000000000000000"], ["store", "stats"], ["store", "verify"], ["store", "collect"]):
        done = trimtab(*words)
        assert done.code == 2
        assert "there is no store at trimtab.db" in done.err
    assert trimtab("store", "stats", "--store", f"file://{tmp_path}/nowhere").code == 2
    assert list(tmp_path.iterdir()) == []


def test_grep_prints_line_char_and_text(trimtab: Any, uri: str, page: str) -> None:
    """Each matching line with its number and the place of the match, which `read --char` finds again."""
    done = trimtab("grep", uri, "topic 500")
    lines = done.text.split("\n")[:-1]
    assert done.code == 0
    assert lines
    for line in lines:
        number, char, text = line.split(":", 2)
        assert page.split("\n")[int(number) - 1] == text
        assert page[int(char) - 1 :].startswith("topic 500")
    assert done.err == "1 line of 1,000 matches\n"


def test_grep_finds_more_than_one_call_of_a_model_would(trimtab: Any, uri: str) -> None:
    """Beyond the hundred matches of a search it goes on by itself."""
    pytest.importorskip("regex")
    done = trimtab("grep", uri, "topic [0-9]+$")
    assert done.text.count("\n") == 1000
    assert "1,000 lines of 1,000 match" in done.err
    assert trimtab("grep", uri, "topic", "--line", "901").text.count("\n") == 100


def test_grep_without_a_match_is_code_1(trimtab: Any, uri: str) -> None:
    """As grep does: nothing printed, code 1, and the count on standard error."""
    done = trimtab("grep", uri, "no such words")
    assert (done.code, done.out) == (1, b"")
    assert done.err == "0 lines of 1,000 match\n"


def test_grep_refuses_a_pattern_that_does_not_compile(trimtab: Any, uri: str) -> None:
    """A malformed pattern is code 2."""
    pytest.importorskip("regex")
    done = trimtab("grep", uri, "(")
    assert done.code == 2
    assert "is not a regular expression" in done.err


def test_grep_says_when_one_line_takes_too_long(trimtab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that cannot finish on a line is an error that names the line, not an endless loop."""
    pytest.importorskip("regex")
    text = "short\n" + "a" * 30_000 + "b\n"
    trimtab("trim", "-", stdin=text.encode())
    monkeypatch.setattr("trimtab.grep.SECONDS", 0.05)
    monkeypatch.setattr("trimtab.grep.grep.__kwdefaults__", {**_defaults(), "seconds": 0.05})
    done = trimtab("grep", blob_id(text), "^(a|aa)+$")
    assert done.code == 2
    assert "line 2 alone takes longer" in done.err


def _defaults() -> dict[str, Any]:
    from trimtab.grep import grep

    return dict(grep.__kwdefaults__ or {})
