"""Codecs made of codecs: at several places, of several shapes."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.codecs import entities, merged, text_field, within
from trimtab.errors import PointerError
from trimtab.testing import CodecContract
from trimtab.types import Codec

ITEM = {"text": "t"}
TEXTS = within(entities("/*/text"), ["", "/results", "/data/hits"])


def listed(codec: Codec, output: Any) -> list[str] | None:
    """What the codec points at, as a list; None stays None."""
    pointers = codec(output)
    return None if pointers is None else list(pointers)


@pytest.mark.parametrize(
    ("output", "pointers"),
    [
        ([ITEM, ITEM], ["/0/text", "/1/text"]),
        ([], []),
        ({"results": [ITEM]}, ["/results/0/text"]),
        ({"data": {"hits": [ITEM]}, "results": [ITEM]}, ["/results/0/text", "/data/hits/0/text"]),
        ({"results": [], "data": {"hits": [ITEM]}}, ["/data/hits/0/text"]),
        ({"results": []}, []),
        ({"results": "none"}, None),
        ({"results": [{"body": "b"}]}, None),
        ({"data": None}, None),
        ("text", None),
        (None, None),
    ],
)
def test_within_looks_at_every_place(output: Any, pointers: list[str] | None) -> None:
    """The places that are there and fit count, in their order; an empty one fits, one with unknown texts does not."""
    assert listed(TEXTS, output) == pointers


def test_within_does_not_count_what_it_finds_nothing_in() -> None:
    """A codec that accepts a place without pointing at any text there leaves the place to others."""
    easy = within(lambda _: [], ["", "/results"])
    assert listed(easy, {"results": [1]}) is None
    assert listed(easy, {}) == []


@pytest.mark.parametrize("places", ["/results", ["results"], ["/a~2"]])
def test_a_place_must_be_a_pointer(places: Any) -> None:
    """A malformed place is named when the codec is made."""
    with pytest.raises(PointerError):
        within(entities("/*/text"), places)


@pytest.mark.parametrize(
    ("output", "pointers"),
    [
        ({"text": "t", "note": "n"}, ["/text", "/note"]),
        ({"note": "n"}, ["/note"]),
        ({"text": "t", "note": 1}, ["/text"]),
        ({"other": "t"}, None),
        ("text", None),
    ],
)
def test_merged_points_at_everything(output: Any, pointers: list[str] | None) -> None:
    """What any of the codecs finds counts, once; None only where all say None."""
    assert listed(merged([text_field("/text"), text_field("/note"), text_field("/text")]), output) == pointers


class TestCombined(CodecContract):
    """A codec of both kinds keeps the laws."""

    codec = merged([TEXTS, within(text_field("/answer"), [""])])
    samples = ({"results": [ITEM, ITEM], "answer": "a"}, [ITEM], {"data": {"hits": [ITEM]}})
