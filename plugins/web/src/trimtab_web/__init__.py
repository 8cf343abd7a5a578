"""trimtab for web_search and web_fetch: result types, codecs, checked citations.

Installed, it is found by `Host.load()`. For the citations of an answer::

    from trimtab_web import Lookup, check_citations

    check = check_citations(answer, [Lookup(tool="web_search", output=row)])
    if check.unknown:
        ...  # ids that no output holds: the model made them up
"""

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from trimtab_web.citations import (
        WEB,
        Citable,
        CitationCheck,
        CitedAnswer,
        Lookup,
        check_citations,
        render_citations,
    )
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

# Imported when first asked for: a host that loads the plugin needs the codecs only.
_RESULTS = {"WebPage", "WebResult"}


if not typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = "results" if name in _RESULTS else "citations"
        return getattr(importlib.import_module(f"trimtab_web.{home}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
