"""Where the bulk text of web_search and web_fetch outputs is."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab.codecs import codec_for, merged, text_field, within
from trimtab_web.results import WebPage, WebResult

__all__ = ["web_fetch", "web_search"]

_RESULTS = codec_for(list[WebResult])

# Where services put their results: pointers to lists.
_FOUND = within(
    _RESULTS,
    [
        *("", "/results", "/data", "/items", "/hits", "/pages", "/documents"),
        *("/organic", "/organic_results", "/news", "/news_results", "/web"),
        *("/web/results", "/news/results", "/data/results", "/data/web", "/data/news"),
    ],
)
_ANSWER = text_field("/answer")

_PAGE_LISTS = ["", "/results", "/data", "/pages", "/documents"]
_FETCHED = merged(
    [
        within(codec_for(WebPage), ["", "/data", "/result", "/page"]),
        within(_RESULTS, _PAGE_LISTS),
        within(codec_for(list[WebPage]), _PAGE_LISTS),
    ]
)


def web_search(output: object) -> Iterable[str] | None:
    """Pointers of the texts of search results.

    Shapes: a list of `WebResult`; an object that holds one (under `results`, `data`, `items`, `organic`, `web.results`
    and the like, more than one too), its `answer` then being a text as well. None for anything else: an error object, a
    content list, a list in which one element is no result or none has a text.
    """
    found = _FOUND(output)
    return None if found is None else [*found, *(_ANSWER(output) or ())]


def web_fetch(output: object) -> Iterable[str] | None:
    """Pointers of the texts of fetched pages.

    Shapes: a `WebPage`, or an object that holds one under `data`, `result` or `page`; a list of `WebResult` or of
    `WebPage`, or an object that holds one under `results`, `data`, `pages` or `documents`. None for anything else: an
    error object, a content list, a list in which one element is no page.
    """
    return _FETCHED(output)
