"""Where the bulk text of web_search and web_fetch outputs is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trimtab.codecs import Codec, codec_for
from trimtab_web.results import WebPage, WebResult

__all__ = ["web_fetch", "web_search"]

_RESULTS = codec_for(list[WebResult])
_PAGES = codec_for(list[WebPage])
_PAGE = codec_for(WebPage)

# Where services put their results: a pointer to a list. Each that is there and fits counts.
_RESULT_LISTS = (
    *("", "/results", "/data", "/items", "/hits", "/pages", "/documents"),
    *("/organic", "/organic_results", "/news", "/news_results", "/web"),
    *("/web/results", "/news/results", "/data/results", "/data/web", "/data/news"),
)
_PAGE_LISTS = ("", "/results", "/data", "/pages", "/documents")
_PAGE_PLACES = ("", "/data", "/result", "/page")


def web_search(output: object) -> Iterable[str] | None:
    """Pointers of the texts of search results.

    Shapes: a list of `WebResult`; an object that holds one (under `results`, `data`, `items`, `organic`, `web.results`
    and the like, more than one too), its `answer` then being a text as well. None for anything else: an error object, a
    content list, a list in which one element is no result or none has a text.
    """
    found = _merged(output, [(place, _RESULTS) for place in _RESULT_LISTS])
    if found is not None and isinstance(output, dict) and isinstance(output.get("answer"), str):
        found.append("/answer")
    return found


def web_fetch(output: object) -> Iterable[str] | None:
    """Pointers of the texts of fetched pages.

    Shapes: a `WebPage`, or an object that holds one under `data`, `result` or `page`; a list of `WebResult` or of
    `WebPage`, or an object that holds one under `results`, `data`, `pages` or `documents`. None for anything else: an
    error object, a content list, a list in which one element is no page.
    """
    lists = [(place, codec) for place in _PAGE_LISTS for codec in (_RESULTS, _PAGES)]
    return _merged(output, [*((place, _PAGE) for place in _PAGE_PLACES), *lists])


def _merged(output: object, places: Sequence[tuple[str, Codec]]) -> list[str] | None:
    """What the codecs find at their places, each pointer once; None where none of them knows what is there."""
    found: dict[str, None] | None = None
    for place, codec in places:
        pointers = _there(output, place, codec)
        if pointers is not None:
            found = {**(found or {}), **dict.fromkeys(f"{place}{pointer}" for pointer in pointers)}
    return None if found is None else list(found)


def _there(output: object, place: str, codec: Codec) -> Iterable[str] | None:
    """What a codec finds at a place; None too where the place is missing, or no text of what stands there is known."""
    for name in place.split("/")[1:]:
        if not isinstance(output, dict) or name not in output:
            return None
        output = output[name]
    pointers = codec(output)
    found = None if pointers is None else list(pointers)
    return None if output and not found else found
