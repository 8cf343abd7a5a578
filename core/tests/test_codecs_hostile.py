"""Codecs that change what they are shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from trimtab import Budget, Host, hookimpl
from trimtab.types import Codec, Json

OUTPUT: Json = {"id": 7, "content": "word " * 2_000, "notes": [{"text": "more words " * 500}]}
BUDGET = Budget(limit=3_000, keep=3_000)


def shortens(output: Any) -> list[str]:
    """Puts another text in the place of one."""
    output["content"] = "gone"
    return ["/notes/0/text"]


def renames(output: Any) -> list[str]:
    """Changes an identity field."""
    output["id"] = {1, 2}
    return ["/content"]


def empties(output: Any) -> list[str]:
    """Takes everything out."""
    output.clear()
    return []


def changes_inside(output: Any) -> list[str]:
    """Changes containers inside."""
    output["notes"][0]["text"] = "gone"
    output["notes"].append("new")
    return ["/content"]


class Plugin:
    """Registers one codec for the tool `notes`."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    @hookimpl
    def trimtab_codecs(self) -> list[tuple[str, Codec]]:
        """The codec."""
        return [("notes", self._codec)]


@pytest.mark.parametrize("codec", [shortens, renames, empties, changes_inside], ids=lambda codec: codec.__name__)
@pytest.mark.parametrize("spell", [lambda output: output, json.dumps], ids=["value", "JSON text"])
def test_what_a_codec_changes_is_not_the_output(codec: Codec, spell: Callable[[Json], Json]) -> None:
    """A codec is shown containers of its own: whatever it does to them, the output and its row stay what they were."""
    output = spell(deepcopy(OUTPUT))
    with Host.load(plugins=[Plugin(codec)], discover=False) as host:
        trimmed = host.trim("notes", output, budget=BUDGET)
        assert trimmed.error is None
        assert output == spell(OUTPUT)
        assert host.inflate(json.loads(trimmed.row_text)) == spell(OUTPUT)
