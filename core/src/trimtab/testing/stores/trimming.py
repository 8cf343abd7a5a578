"""Claims about a store behind a host: what is trimmed into it keeps the laws."""

from __future__ import annotations

import json
from typing import Final

import pytest

from trimtab.budget import Budget
from trimtab.testing.corpus import made_text
from trimtab.testing.laws import (
    check_content_cannot_steer,
    check_frame_exact,
    check_one_primitive,
    check_readable_back,
    check_same_bytes,
    check_settled,
)
from trimtab.testing.samples import host_with
from trimtab.testing.spelling import Style, written
from trimtab.testing.stores.base import StoreClaims
from trimtab.testing.texts import by_id
from trimtab.types import BlobStore, Json

__all__ = ["TrimmingClaims"]

_SECRET: Final = "a text of another conversation\n" * 100
_BUDGET: Final = Budget(limit=4_000, keep=2_000)
_LESS: Final = Budget(limit=1_000, keep=800)

_OUTPUTS: Final[dict[str, Json]] = {
    "text": made_text("crlf", 9_000, 1),
    "one line": made_text("solid", 9_000, 1),
    "odd text": made_text("planes", 4_000, 1) + made_text("surrogates", 3_000, 1) + made_text("controls", 3_000, 1),
    "results": [{"id": n, "content": made_text("prose", 3_000, n)} for n in range(4)],
    "equal texts": [{"id": n, "content": made_text("lines", 3_000, 1)} for n in range(3)],
    "json text": json.dumps({"body": made_text("cjk", 3_000, 1), "note": made_text("prose", 3_000, 2)}),
    "oddly spelt": written({"body": made_text("url", 3_000, 1), "n": 1}, Style(escapes="odd", repeat_keys=True)),
}


class TrimmingClaims(StoreClaims):
    """Claims about a store behind a host."""

    @pytest.mark.parametrize("name", _OUTPUTS)
    def test_the_laws_hold_over_it(self, store: BlobStore, name: str) -> None:
        """Frame exact, one primitive, same bytes as over another store, readable back, settled, not steered."""
        output = _OUTPUTS[name]
        store.put(by_id(_SECRET), owner="another conversation")
        host = host_with(None, "tool", store)
        check_frame_exact(host, "tool", output, _BUDGET)
        check_one_primitive(host, "tool", output, _BUDGET)
        check_same_bytes([host, host_with(None, "tool")], "tool", output, _BUDGET)
        check_readable_back(host, "tool", output, _BUDGET)
        check_settled(host, "tool", output, _BUDGET, smaller=[_LESS])
        check_content_cannot_steer(host, "tool", output, _BUDGET, secret=_SECRET)
