"""Rows and attachments: what is passed wrongly is refused when they are made, and their `repr` is short."""

from __future__ import annotations

from typing import Any, Final

import pytest

from trimtab.compaction import Attachment, Row, SummaryRequest
from trimtab.errors import CallerError

WRONG: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "an id that is a number": ({"id": 3}, "id of Row must be a text"),
    "an empty id": ({"id": ""}, "id of Row must be a text"),
    "no messages": ({"messages": None}, "are lists, not one NoneType"),
    "one message": ({"messages": {"role": "user"}}, "are lists, not one dict"),
    "a text": ({"messages": "hello"}, "are lists, not one str"),
    "bytes": ({"messages": b"hello"}, "are lists, not one bytes"),
    "no outputs": ({"outputs": None}, "are lists, not one NoneType"),
    "an attachment that is a dict": ({"attachments": [{"id": "1"}]}, "a list of Attachment, not of dict"),
    "attachments that are a number": ({"attachments": 7}, "a list of Attachment, not of int"),
    "attachments that are a text": ({"attachments": "a.txt"}, "a list of Attachment, not of str"),
    "no attachments": ({"attachments": None}, "a list of Attachment, not of NoneType"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_row_says_what_is_wrong(name: str) -> None:
    """What cannot be used is refused at once, by name, with what it has to be."""
    given, message = WRONG[name]
    with pytest.raises(CallerError, match=message):
        Row(**({"id": "a", "messages": []} | given))


@pytest.mark.parametrize("given", [{"id": 1, "name": "a.txt"}, {"id": "1", "name": None}, {"id": "1", "name": ""}])
def test_an_attachment_has_an_id_and_a_name(given: dict[str, Any]) -> None:
    """A file without a name could not be named in a prompt."""
    with pytest.raises(CallerError, match="of Attachment must be a text with something in it"):
        Attachment(**given)


def test_any_iterable_is_a_list() -> None:
    """Generators are taken, once."""
    row = Row(id="a", messages=({"role": "user"} for _ in range(2)), attachments=iter([Attachment(id="1", name="a")]))
    assert (len(row.messages), len(row.attachments)) == (2, 1)


def test_a_repr_holds_no_history() -> None:
    """Neither a row nor a request to a summarizer writes the conversation into a log."""
    secret = "secret " * 100
    row = Row(id="a", messages=[{"role": "user", "content": secret}], outputs=[secret])
    request = SummaryRequest(history=secret, prior=secret, budget=100, count=len)
    assert "secret" not in f"{row!r}{request!r}"
