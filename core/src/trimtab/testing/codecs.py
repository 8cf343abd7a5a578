"""`CodecContract`: what every codec keeps, as tests that a codec's own package imports and runs.

from trimtab.testing import CodecContract
from my_package import jira

class TestJira(CodecContract):
    codec = jira
    samples = [{"issues": [{"key": "A-1", "fields": {"description": "It fails ..."}}]}]
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from trimtab.testing.laws import LAWS
from trimtab.testing.samples import Finding, check_codec
from trimtab.types import Codec, Json

__all__ = ["CodecContract"]


class CodecContract:
    """Tests of a codec; derive from it and override `codec` and `samples`.

    Every law is checked on every sample, and on the sample with its bulk texts grown, emptied and made hostile: small
    samples do.

    `codec`: the codec. `samples`: outputs of its tool, as the tool gives them. `tool`: the tool's name.
    """

    codec: ClassVar[Any] = None
    samples: ClassVar[Sequence[Json]] = ()
    tool: ClassVar[str] = "tool"
    _findings: ClassVar[list[Finding]]

    @classmethod
    def findings(cls) -> list[Finding]:
        """What every check of every sample said; worked out once for a class."""
        if "_findings" not in cls.__dict__:
            codec = _plain(cls, "codec")
            assert callable(codec), f"{cls.__name__}.codec must be the codec under test"
            cls._findings = check_codec(codec, list(cls.samples), tool=cls.tool)
        return cls._findings

    @pytest.mark.parametrize("law", LAWS, ids=lambda law: LAWS[law].replace(" ", "-"))
    def test_the_law_holds(self, law: int) -> None:
        """The law holds for every sample."""
        made = [one for one in self.findings() if one.law == law]
        if not made and not all(one.ok for one in self.findings()):
            pytest.skip("not checked, because the codec's pointers cannot be followed: see whole-on-failure")
        assert made
        assert [f"{one.sample}: {one.claim}: {one.what}" for one in made if not one.ok] == []


def _plain(owner: type, name: str) -> Codec:
    """A class attribute as it was written: a function is not bound."""
    there = inspect.getattr_static(owner, name)
    codec: Codec = there.__func__ if isinstance(there, staticmethod) else there
    return codec
