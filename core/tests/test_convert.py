"""Shapes by attrs types: strict about JSON's types, open about fields, and what `codec_for` makes of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from attrs import frozen

from trimtab.codecs import Bulk, codec_for
from trimtab.convert import ShapeError, structure
from trimtab.errors import CallerError


@frozen(kw_only=True)
class Part:
    """A piece of a text."""

    text: Annotated[str, Bulk]


@frozen(kw_only=True)
class Note:
    """Everything that a result type may have."""

    id: str | int
    kind: Literal["note"] | None = None
    body: Annotated[str, Bulk] | list[Part] | None = None
    about: dict[str, Annotated[str, Bulk]] | None = None
    replies: list[Note] | None = None
    score: float = 0.0


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (3, float),
        (None, str | None),
        (None, str | int | None),
        ([], list[Note]),
        ({}, dict[str, Note]),
        ([{"id": 1, "unknown": []}], list[Note]),
        ({"id": "x", "body": [{"text": ""}]}, Note),
        ({"a": {"b": [1]}}, dict[str, dict[str, list[int]]]),
    ],
)
def test_a_value_fits(value: Any, shape: Any) -> None:
    """Values of the very types fit, with unknown fields; a whole number fits a float."""
    structure(value, shape)


@pytest.mark.parametrize(("shape", "made"), [(list[int], [1, 2]), (tuple[int, ...], (1, 2))])
def test_a_sequence_is_made_as_its_type(shape: Any, made: Any) -> None:
    """A list from JSON becomes a tuple where the type is one."""
    assert structure([1, 2], shape) == made


@pytest.mark.parametrize(
    ("value", "shape", "place"),
    [
        ("3", int, "$"),
        (True, int, "$"),
        (1, bool, "$"),
        (True, str | int | None, "$"),
        (1.5, str | int, "$"),
        (None, str | int, "$"),
        ("text", list[str], "$"),
        ({"a": 1}, list[str], "$"),
        (["a"], dict[str, str], "$"),
        ("id", Note, "$"),
        (["id"], Note, "$"),
        ({}, Note, "$"),
        ({"id": 1, "body": "x", "about": "x"}, Note, "$.about"),
        ({"id": 1, "body": [{"text": 1}]}, Note, "$.body"),
        ([{"id": 1}, {"id": 2, "replies": ["id"]}], list[Note], "$[1].replies[0]"),
    ],
)
def test_a_value_does_not_fit(value: Any, shape: Any, place: str) -> None:
    """Nothing is coerced, neither scalars nor containers, and the error names the place."""
    with pytest.raises(ShapeError, match=r"@ \$") as caught:
        structure(value, shape)
    assert f"@ {place}" in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "output", "pointers"),
    [
        (Note, {"id": 1}, []),
        (Note, {"body": "x", "id": 1}, ["/body"]),
        (Note, {"id": 1, "body": [{"text": "x"}, {"text": "y"}]}, ["/body/0/text", "/body/1/text"]),
        (Note, {"id": 1, "about": {"a/b": "x"}, "body": None}, ["/about/a~1b"]),
        (list[Note], [{"id": 1, "replies": [{"id": 2, "body": "x"}]}], ["/0/replies/0/body"]),
        (dict[str, Part], {"b": {"text": "x"}, "a": {"text": "y"}}, ["/b/text", "/a/text"]),
        (Note | list[Note], [{"id": 1, "body": "x"}], ["/0/body"]),
        (Note, {"id": 1, "kind": "other"}, None),
        (Note, "id", None),
        (list[Note], {"id": 1}, None),
    ],
)
def test_a_typed_codec_points_at_what_is_marked(shape: Any, output: Any, pointers: list[str] | None) -> None:
    """`codec_for` gives the marked strings in the order of the output, and None where the shape is another."""
    found = codec_for(shape)(output)
    assert (None if found is None else list(found)) == pointers


@pytest.mark.parametrize("shape", [list[str], dict[str, int], list[Annotated[int, Bulk]]])
def test_a_type_without_bulk_text_is_refused(shape: Any) -> None:
    """A type in which no string is marked makes no codec."""
    with pytest.raises(CallerError, match="Bulk"):
        codec_for(shape)
