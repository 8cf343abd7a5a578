"""What web_search and web_fetch give, as types: the shapes that the codecs know.

Field names are those of the usual search services and fetchers. All are optional, since each service leaves some out;
unknown fields are allowed and stay as they are. A tool of your own can return such objects as plain dicts:
`attrs.asdict(result, filter=lambda _, value: value is not None)`.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from attrs import define, frozen

from trimtab.codecs import Bulk

__all__ = ["Passages", "Text", "WebPage", "WebResult"]

Text: TypeAlias = Annotated[str | None, Bulk]
"""A text that may be shortened; None: it is missing."""

Passages: TypeAlias = list[Annotated[str, Bulk]] | None
"""Passages, each of which may be shortened; None: they are missing."""


@define(kw_only=True)  # not frozen: one is made for each result that is checked, and freezing takes twice as long
class WebResult:
    """One result: where it is, and what it says.

    Args:
        id: what it is cited by, a string or a whole number.
        url, link, href: where the page is; services call it differently.
        title: of the page.
        content, text, markdown, body, html, rawHtml, raw_content: of the page.
        snippet, description, summary: about the page.
        highlights, snippets, extra_snippets: passages of the page.

    Raises:
        ValueError: it has neither a url nor, with a text, an id or a title: nothing to cite it by.
    """

    id: str | int | None = None
    url: str | None = None
    link: str | None = None
    href: str | None = None
    title: str | None = None
    content: Text = None
    text: Text = None
    markdown: Text = None
    body: Text = None
    html: Text = None
    rawHtml: Text = None
    raw_content: Text = None
    snippet: Text = None
    description: Text = None
    summary: Text = None
    highlights: Passages = None
    snippets: Passages = None
    extra_snippets: Passages = None

    def __attrs_post_init__(self) -> None:
        if not (self.has_url or (self.has_text and not (self.id is None and self.title is None))):
            raise ValueError("a result has a url, or a text with an id or a title")

    @property
    def has_url(self) -> bool:
        """Whether it says where it is."""
        return not (self.url is None and self.link is None and self.href is None)

    @property
    def has_text(self) -> bool:
        """Whether one of its texts is there, empty or not; passages do not count."""
        page = (self.content, self.text, self.markdown, self.body, self.html, self.rawHtml, self.raw_content)
        return any(text is not None for text in (*page, self.snippet, self.description, self.summary))


@frozen(kw_only=True)
class WebPage:
    """One fetched page. Without a url too: the call says which page it is.

    Args:
        url, title: of the page.
        content, text, markdown, body, html, rawHtml, raw_content: of the page.
        description, summary: about the page.
        error: what went wrong; then it is no page.
        type: "text" without a url is a block of a content list, and no page.

    Raises:
        ValueError: it has none of the page's texts, or says that something went wrong.
    """

    url: str | None = None
    title: str | None = None
    content: Text = None
    text: Text = None
    markdown: Text = None
    body: Text = None
    html: Text = None
    rawHtml: Text = None
    raw_content: Text = None
    description: Text = None
    summary: Text = None
    error: Any = None
    type: Any = None

    def __attrs_post_init__(self) -> None:
        texts = (self.content, self.text, self.markdown, self.body, self.html, self.rawHtml, self.raw_content)
        if all(text is None for text in texts):
            raise ValueError("a page has a text")
        if self.error not in (None, False) or self.type == "error":
            raise ValueError("it is an error, not a page")
        if self.type == "text" and self.url is None:
            raise ValueError("it is a block of a content list, not a page")
