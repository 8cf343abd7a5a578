"""Checks the citations of an answer against what kb_search gave.

A model cites a chunk as `[cite:<id>]`, with the chunk's id. Ids need to differ within one document only: where two
documents have a chunk of the same id, the id alone means the first of them, and `[cite:<path>#<id>]` either. The path
alone means the first chunk of the document. What counts as a marker, and what a bare `[N]` means, is told by
`trimtab.citing.check_citations`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from trimtab.citing import Citable, CitationCheck, CitedAnswer, Lookup
from trimtab.types import Citation

__all__ = ["KB", "Citable", "CitationCheck", "CitedAnswer", "Lookup", "check_citations", "render_citations"]


def _same(one: Citation) -> Hashable:
    return one.url, one.id


def _names(one: Citation) -> Iterable[str]:
    return (f"{one.url}#{one.id}", one.url) if one.url and one.id else (one.url,)


KB: Final = Citable(tools=("kb_search",), same=_same, names=_names)
"""What can be cited of kb_search: chunks (`Citation.id`) of documents (`Citation.url` is the path). Pass it as `also`
to another plugin's check, where an answer cites both."""

check_citations: Final = KB.check
"""As `trimtab.citing.Citable.check`: which chunks an answer cites, which ids no chunk has, what it leaves out."""

render_citations: Final = KB.render
"""As `trimtab.citing.Citable.render`: the answer with display numbers, and the check."""
