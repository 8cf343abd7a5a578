"""Checks the citations of an answer against what web_search and web_fetch gave.

A model cites a result as `[cite:<id>]`, with the result's id or its url. Results with the same url are one source.
What counts as a marker, and what a bare `[N]` means, is told by `trimtab.citing.check_citations`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from trimtab.citing import Citable, CitationCheck, CitedAnswer, Lookup
from trimtab.types import Citation

__all__ = ["WEB", "Citable", "CitationCheck", "CitedAnswer", "Lookup", "check_citations", "render_citations"]


def _same(one: Citation) -> Hashable:
    return one.url or (None, one.id)


WEB: Final = Citable(tools=("web_search", "web_fetch"), same=_same)
"""What can be cited of web lookups. Pass it as `also` to another plugin's check, where an answer cites both."""

check_citations: Final = WEB.check
"""As `trimtab.citing.Citable.check`: which results an answer cites, which ids no result has, what it leaves out."""

render_citations: Final = WEB.render
"""As `trimtab.citing.Citable.render`: the answer with display numbers, and the check."""
