"""Where the bulk text of kb_search outputs is."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab.codecs import codec_for, within
from trimtab_kb.results import KbResult

__all__ = ["kb_search"]

# Where knowledge bases put their results: pointers to lists.
_FOUND = within(
    codec_for(list[KbResult]),
    [
        *("", "/results", "/chunks", "/hits", "/matches", "/passages", "/documents", "/items", "/nodes"),
        *("/data", "/result", "/source_nodes", "/sources", "/data/results", "/data/chunks", "/result/points"),
    ],
)


def kb_search(output: object) -> Iterable[str] | None:
    """Pointers of the texts of the chunks that a search found.

    Shapes: a list of `KbResult`, or an object that holds one (under `results`, `chunks`, `hits`, `matches`, `passages`
    and the like, more than one too). None for anything else: an error object, a content list, a list in which one
    element is no result or none has a text.
    """
    return _FOUND(output)
