"""What trimtab-web registers (entry point `web` of the group `trimtab`)."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab import hookimpl
from trimtab.codecs import Codec
from trimtab_web.codecs import web_fetch, web_search

__all__ = ["trimtab_codecs"]


@hookimpl
def trimtab_codecs() -> Iterable[tuple[str, Codec]]:
    """The codecs of web_search and web_fetch."""
    return [("web_search", web_search), ("web_fetch", web_fetch)]
