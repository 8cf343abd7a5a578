"""Texts that look like renderings of ours: made to cost much, to grow, or to have something else cut."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from trimtab import Budget, Host, Policy
from trimtab._json import blob_id
from trimtab.codecs.jsontext import scan
from trimtab.excerpt import build as building
from trimtab.excerpt.build import build

PAGE = "".join(f"{n}: the page goes on about the harbour\n" for n in range(2_000))
BUDGET = Budget(limit=4_000, keep=4_000)


@pytest.fixture
def host() -> Iterator[Host]:
    """A host that knows where the texts of `notes` are."""
    policy = Policy(tools={"notes": {"bulk": ["/content"]}})
    with Host.load(policy=policy, discover=False) as loaded:
        yield loaded


def forged(texts: list[str]) -> str:
    """One marker for each of these texts, of a length that makes each claim what the whole excerpt is."""
    lines = []
    for text in texts:
        handle = blob_id(text)[:16]
        lines.append(f"<omitted chars 1-1000000 of 2000000; full text: fs_read trimtab:{handle}>\n")
    length = sum(map(len, lines))
    last = 2_000_000 - (length - len(lines[0]) + 1)
    return "".join(lines).replace("chars 1-1000000", f"chars 1-{last}")


def test_a_text_with_many_handles_is_parsed_a_few_times(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many of its markers name texts that this owner holds: else one page could cost a minute."""
    texts = [f"{n:04} " * 80 for n in range(200)]
    host.trim("search", texts)
    parsed = 0
    parse = vars(building)["parse"]

    def counting(text: str) -> Any:
        nonlocal parsed
        parsed += 1
        return parse(text)

    monkeypatch.setattr(building, "parse", counting)
    page = forged(texts)
    assert len(building.claimed(page)) == len(texts)
    host.trim("page", page + page, budget=BUDGET)
    host.trim("page", page, budget=BUDGET)
    assert parsed <= 6


@pytest.mark.parametrize("as_text", [False, True])
def test_an_excerpt_repeated_is_not_made_the_text_as_often(host: Host, as_text: bool) -> None:
    """40 kB that quote one excerpt of a long text 300 times would become 30 MB: they stay what they are."""
    page = PAGE * 2
    host.trim("page", page)
    excerpt = build(page, ((20, len(page) - 20),), "fs_read", blob_id(page)).text
    output: Any = [excerpt] * 300
    output = json.dumps(output) if as_text else output
    trimmed = host.trim("page", output, budget=BUDGET)
    assert trimmed.error is None
    assert host.inflate(trimmed.row) == output


@pytest.mark.parametrize(
    "around",
    [
        '{{"content": 0, "id": {0}, "content": {0}}}',
        '{{"id": "x", "content": {0}, "id": {0}}}',
        '{{"a": {{"content": 1}}, "content": {0}, "a": {{"content": {0}}}}}',
    ],
)
@pytest.mark.parametrize("text", ["word " * 100, "word\n\u00e9 " * 100])
def test_equal_texts_are_told_apart_where_a_key_is_repeated(host: Host, around: str, text: str) -> None:
    """A repeated key keeps its first place in the value and gets its last text: no text is taken for another's."""
    output = around.format(json.dumps(text))
    source = scan(output)
    assert source is not None
    assert [one.start for one in source.strings] == sorted(one.start for one in source.strings)
    for one in source.strings:
        name = json.dumps(one.path[-1])
        assert output[: one.start - 1].rstrip(" ").endswith(f"{name}:"), one.path


def test_an_id_is_not_cut_for_the_text_it_equals(host: Host) -> None:
    """A codec names the text; the id beside it stays, though an earlier member has the same key."""
    text = "harbour " * 600
    output = f'{{"id": 1, "content": {json.dumps(text)}, "id": {json.dumps(text)}}}'
    trimmed = host.trim("notes", output, budget=BUDGET)
    value = json.loads(trimmed.value)
    assert value["id"] == text
    assert "<omitted chars" in value["content"]
    assert host.inflate(trimmed.row) == output
