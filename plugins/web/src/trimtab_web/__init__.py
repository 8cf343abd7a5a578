"""trimtab for web_search and web_fetch: result types, codecs, checked citations.

Installed, it is found by `Host.load()`. For the citations of an answer::

    from trimtab_web import Lookup, check_citations

    check = check_citations(answer, [Lookup(tool="web_search", output=row)])
    if check.unknown:
        ...  # ids that no output holds: the model made them up
"""

from __future__ import annotations

from trimtab_web.citations import WEB, Citable, CitationCheck, CitedAnswer, Lookup, check_citations, render_citations
from trimtab_web.results import WebPage, WebResult

__all__ = [
    "WEB",
    "Citable",
    "CitationCheck",
    "CitedAnswer",
    "Lookup",
    "WebPage",
    "WebResult",
    "check_citations",
    "render_citations",
]
