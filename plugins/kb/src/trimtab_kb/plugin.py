"""What trimtab-kb registers (entry point `kb` of the group `trimtab`)."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab import hookimpl
from trimtab.codecs import Codec
from trimtab_kb.codecs import kb_search

__all__ = ["trimtab_codecs"]


@hookimpl
def trimtab_codecs() -> Iterable[tuple[str, Codec]]:
    """The codec of kb_search."""
    return [("kb_search", kb_search)]
