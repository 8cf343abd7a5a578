"""Answers are checked against what lookups gave: markers, numbers, runs, code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab import Policy
from trimtab.citing import Citable, CitationCheck, Lookup, check_citations, render_citations
from trimtab.errors import CallerError, EnvelopeError

FIND = Citable(tools=("find",), same=lambda one: one.url or (None, one.id))


def result(name: str, url: str | None = None) -> dict[str, str]:
    """One result of a lookup."""
    return {"id": name, "url": f"u/{name}" if url is None else url, "title": name, "content": f"text of {name}"}


def found(*results: Any, tool: str = "find", **more: Any) -> Lookup:
    """A lookup with these results."""
    return Lookup(tool=tool, output=list(results), **more)


ABC = found(result("a"), result("b"), result("c"))
D = found(result("d"))


def check(answer: str, *lookups: Lookup, **more: Any) -> CitationCheck:
    """An answer checked against lookups of the tool `find`."""
    return check_citations(answer, lookups, [FIND], **more)


def cited(answer: str, *lookups: Lookup, **more: Any) -> list[str]:
    """Ids of the cited sources, in the order of their display numbers."""
    return [one.id for one in check(answer, *lookups, **more).cited]


def test_a_check_says_everything() -> None:
    """What is cited, what is not known, what is left out, and the numbers in the order of first appearance."""
    made = check("First [cite:c]. Then [cite:x][cite:a], [cite:c] and [cite:y] [cite:x].", ABC, D)
    assert [one.id for one in made.cited] == ["c", "a"]
    assert made.unknown == ("x", "y")
    assert [one.id for one in made.uncited] == ["b", "d"]
    assert made.numbers == {"c": 1, "a": 2}


@pytest.mark.parametrize(
    ("answer", "ids", "unknown"),
    [
        ("", [], ()),
        ("no marker", [], ()),
        ("[cite:a]", ["a"], ()),
        ("[cite: a ]", ["a"], ()),
        ("[cite:A]", [], ("A",)),
        ("[cite:u/b]", ["b"], ()),
        ("[cite:]", [], ()),
        ("[cite: ]", [], ()),
        ("[cite:a", [], ()),
        ("[cite:no\nline end]", [], ()),
        ("[cite:z[1]] [cite:z]", [], ("z[1]", "z")),
        ("[Cite:a] [cite a] (cite:a) cite:a", [], ()),
        ("\\[cite:a] \\\\[cite:b]", ["b"], ()),
        ("**[cite:a]**, _[cite:b]_", ["a", "b"], ()),
        ("[[cite:a]]", ["a"], ()),
        ("| [cite:a] | [cite:b] |", ["a", "b"], ()),
        ("`[cite:x]` [cite:a]", ["a"], ()),
        ("``[cite:x] ` [cite:x]`` [cite:a]", ["a"], ()),
        ("```\n[cite:x]\n```\n[cite:a]", ["a"], ()),
        ("~~~~md\n[cite:x]\n~~~\n[cite:x]\n~~~~\n[cite:a]", ["a"], ()),
        ("```\n[cite:x]", [], ()),
        ("Text.\n\n    [cite:x]\n\n[cite:a]", ["a"], ()),
        ("- Item\n\n    [cite:a]", ["a"], ()),
    ],
)
def test_markers(answer: str, ids: list[str], unknown: tuple[str, ...]) -> None:
    """`[cite:<id>]` is a marker in text, not in code, not behind a backslash; only exact ids and urls are known."""
    made = check(answer, ABC, D)
    assert ([one.id for one in made.cited], made.unknown) == (ids, unknown)


@pytest.mark.parametrize(
    "name", ["a]b", "a[1]", "[", "]", "x]]y[", "a\nb", "two words", "é\U0001f600", "a`b", "cite:a"]
)
def test_any_id_can_be_cited(name: str) -> None:
    """A known id may hold brackets, blanks and anything else."""
    made = check(f"See [cite:{name}].", found(result(name)), D)
    assert ([one.id for one in made.cited], made.unknown) == ([name], ())


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("[2]", ["b"]),
        ("[3][1] [2]", ["c", "a", "b"]),
        ("works[2].", ["b"]),
        ("[1]: it is", []),
        ("As [1]: it is", ["a"]),
        ("[0] [4] [01] [-1] [1.5] [1, 2] [ 1 ] [99999999]", []),
        ("\\[1]", []),
        ("`x[1]`", []),
        ("```\nx[1]\n```", []),
        ("[1](https://e.org) ![1] [[1]](https://e.org) [text][1] [^1]", []),
        ("[1] (in brackets)", ["a"]),
        ("[[1]]", ["a"]),
        ("[cite:c][1]", ["c", "a"]),
        ("[404][1]", ["a"]),
    ],
)
def test_bare_numbers_of_one_lookup(answer: str, ids: list[str]) -> None:
    """With one lookup `[N]` is its N-th result, 1-based, unless it is part of a link; any other number is text."""
    made = check(answer, ABC)
    assert ([one.id for one in made.cited], made.unknown) == (ids, ())


def test_bare_numbers_stay_text_unless_there_is_one_lookup() -> None:
    """With no lookup, or more than one, be they empty or failed, `[N]` is text."""
    failed = Lookup(tool="find", output={"error": "timeout"})
    for lookups in ([], [ABC, D], [ABC, found()], [ABC, failed]):
        made = render_citations("See [1].", lookups, [FIND])
        assert made.text == "See [1]."
        assert (made.check.cited, made.check.unknown) == ((), ())


def test_bare_numbers_are_ids_where_ids_are_numbers() -> None:
    """Results whose ids are numbers are cited by them, not by their places."""
    lookup = found({**result("x"), "id": 2}, {**result("y"), "id": 10})
    assert cited("[2] [10] [1]", lookup) == ["2", "10"]
    assert cited("[cite:10]", lookup, D) == ["10"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("a [cite:b] b [cite:a] c [cite:b]", "a [1] b [2] c [1]"),
        ("[cite:a][cite:a] [cite:a]\t[cite:a]", "[1]"),
        ("[cite:a][1][cite:u/a]", "[1]"),
        ("[cite:a][cite:b][cite:a]", "[1][2][1]"),
        ("[cite:a], [cite:a]", "[1], [1]"),
        ("[cite:a]\n[cite:a]", "[1]\n[1]"),
        ("[cite:a][cite:x][cite:a]", "[1][cite:x][1]"),
        ("[cite:a] `[cite:a]` [cite:a]", "[1] `[cite:a]` [1]"),
        ("[3] then [1]", "[1] then [2]"),
        ("[7] [cite:a]", "[7] [1]"),
    ],
)
def test_rendering(answer: str, text: str) -> None:
    """Known markers become display numbers, runs of one source one; everything else stays as it is."""
    assert render_citations(answer, [ABC], [FIND]).text == text


def test_the_same_url_is_one_source() -> None:
    """A later result with the same url is cited as the first one, by either id."""
    later = found(result("e", "u/b"), result("f"))
    made = render_citations("[cite:e][cite:b] [cite:f]", [ABC, later], [FIND])
    assert made.text == "[1] [2]"
    assert [one.id for one in made.check.cited] == ["b", "f"]
    assert [one.id for one in made.check.uncited] == ["a", "c"]
    assert made.check.numbers == {"b": 1, "e": 1, "f": 2}
    assert cited("[2] [1] [3]", found(result("a"), result("b", "u/a"), result("c"))) == ["a", "c"]


def test_of_two_results_with_one_id_the_first_counts() -> None:
    """An id that two results have means the first; the other can be cited by its url."""
    made = check("[cite:a] [cite:u/2]", found(result("a"), result("a", "u/2")), D)
    assert [one.url for one in made.cited] == ["u/a", "u/2"]
    assert made.numbers == {"a": 1, "u/2": 2}


def test_a_result_without_an_id_is_cited_by_its_url() -> None:
    """Its number is told by its url."""
    made = check("[cite:https://e.org]", found({"url": "https://e.org", "title": "t"}, {"url": "v", "title": "w"}), D)
    assert made.numbers == {"https://e.org": 1}
    assert [one.url for one in made.uncited] == ["v", "u/d"]


@pytest.mark.parametrize(
    ("lookup", "own", "counts"),
    [
        ({"tool": "find"}, (), True),
        ({"tool": "find", "server": "web"}, (), False),
        ({"tool": "find", "server": ""}, (), False),
        ({"tool": "find", "server": "web"}, ("web",), True),
        ({"tool": "find", "server": "web"}, ("other",), False),
        ({"tool": "mcp__web__find"}, (), False),
        ({"tool": "mcp__web__find"}, ("web",), True),
        ({"tool": "mcp__my__web__find"}, ("my__web",), True),
        ({"tool": "mcp__web__find", "server": "web"}, ("web",), True),
        ({"tool": "mcp__web__find", "server": "other"}, ("web",), False),
        ({"tool": "web__find"}, ("web",), False),
        ({"tool": "Find"}, (), False),
        ({"tool": "find_all"}, (), False),
    ],
)
def test_foreign_tools_do_not_count(lookup: dict[str, Any], own: tuple[str, ...], counts: bool) -> None:
    """A tool of the same name on a server that is not the application's own offers nothing, as if it were not there."""
    foreign = Lookup(output=[result("x")], **lookup)
    made = check("[cite:x] [1]", ABC, foreign, own_servers=own)
    assert made.unknown == (() if counts else ("x",))
    assert [one.id for one in made.cited] == (["x"] if counts else ["a"])


def test_meta_tools_count_as_what_they_call() -> None:
    """With a policy, a meta-tool's output is the inner tool's; a foreign inner tool is still foreign."""
    policy = Policy.from_mapping({"meta": {"tool_invoke": {"name": "/name", "arguments": "/params"}}})
    for name, ids in (("find", ["x"]), ("other", []), ("mcp__web__find", [])):
        lookup = found(result("x"), tool="tool_invoke", arguments={"name": name, "params": {}})
        assert cited("[cite:x]", lookup, policy=policy) == ids
        assert cited("[cite:x]", lookup) == []


def test_several_kinds_of_sources() -> None:
    """Kinds do not merge with one another, and count together for bare numbers."""
    read = Citable(tools=["read"], same=lambda one: (one.url, one.id))
    lookups = [found(result("a")), found(result("b", "u/a"), tool="read")]
    made = render_citations("[cite:b] [cite:a] [1]", lookups, [FIND, read])
    assert (made.text, made.check.unknown) == ("[1] [2] [1]", ())


def test_a_string_is_no_list_of_names() -> None:
    """The usual mistake is named instead of being taken letter by letter."""
    with pytest.raises(CallerError, match="own_servers"):
        check("", ABC, own_servers="web")
    with pytest.raises(CallerError, match="tools"):
        Citable(tools="find", same=lambda one: one.id)


def test_a_damaged_row_is_an_error() -> None:
    """A row that cannot be read is not taken for one that offers nothing."""
    with pytest.raises(EnvelopeError):
        check("", Lookup(tool="find", output={"$persistedToolOutput": {"v": 3, "tool": "find", "blobRefs": []}}))


MARKERS = ["[cite:a]", "[cite:b]", "[cite:z]", "[1]", "[2]", "[9]"]
OTHERS = [" ", ", ", "\n", "\n\n", "`", "```\n", "\n~~~\n", "x", "]", "["]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*MARKERS, *OTHERS]), max_size=30))
def test_rendering_changes_nothing_but_markers(pieces: list[str]) -> None:
    """Display numbers put back as ids give an answer with the same citations; text and code stay."""
    answer = "".join(pieces)
    made = render_citations(answer, [ABC, D], [FIND])
    numbers = made.check.numbers
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
    back = made.text
    for name, number in numbers.items():
        back = back.replace(f"[{number}]", f"[cite:{name}]")
    if "[1]" not in pieces and "[2]" not in pieces:
        again = render_citations(back, [ABC, D], [FIND])
        assert again.text == made.text
        assert again.check == made.check
    if not numbers:
        assert made.text == answer
    for fixed in ("x", "`", "~", "\n", "[9]", "[cite:z]"):
        assert made.text.count(fixed) == answer.count(fixed)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.integers(0, 3))
def test_any_answer_can_be_checked(answer: str, lookups: int) -> None:
    """No text of a model's raises, and without a marker nothing is changed."""
    made = render_citations(answer, [ABC, D, ABC][:lookups], [FIND])
    assert made.text == answer or "[" in answer
    assert len(made.check.cited) + len(made.check.uncited) == (0, 3, 4, 4)[lookups]


@settings(max_examples=100, deadline=None)
@given(
    ids=st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=8),
    urls=st.lists(st.sampled_from(["u/1", "u/2", "u/3", ""]), min_size=8, max_size=8),
    order=st.lists(st.integers(0, 7), max_size=12),
)
def test_numbers_are_those_of_first_appearance(ids: list[str], urls: list[str], order: list[int]) -> None:
    """Whatever ids and urls results have: known ids are never unknown, and numbers grow by one in order."""
    results = [{"id": one, "url": url, "title": "t"} for one, url in zip(ids, urls, strict=False)]
    names = [ids[place] for place in order if place < len(ids)]
    answer = "\n\n".join(f"so [cite:{name}]" for name in names)
    made = check(answer, found(*results), D)
    if any(sign in name for name in names for sign in "`\n\r\\~]"):
        return
    assert made.unknown == ()
    numbers = [made.numbers[name] for name in names]
    assert list(dict.fromkeys(numbers)) == list(range(1, len(made.cited) + 1))
    json.dumps(dict(made.numbers))
