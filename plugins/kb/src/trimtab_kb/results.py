"""What kb_search gives, as types: the shapes that the codec knows.

Field names are those of the usual knowledge bases and vector stores. All are optional, since each leaves some out;
unknown fields are allowed and stay as they are. A tool of your own can return such objects as plain dicts:
`attrs.asdict(result, filter=lambda _, value: value is not None)`.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from attrs import frozen

from trimtab.codecs import Bulk

__all__ = ["Chunk", "KbResult", "Part", "Text"]

Text: TypeAlias = Annotated[str | None, Bulk]
"""A text that may be shortened; None: it is missing."""


@frozen(kw_only=True)
class Part:
    """One piece of a text that is given in pieces."""

    text: Annotated[str, Bulk]


@frozen(kw_only=True)
class Chunk:
    """A piece of a document, or what an inner object (`metadata`, `payload`, …) says of it.

    Args:
        id, chunk_id, chunkId: of the chunk, by which it is cited.
        path, document_path, documentPath, file_path, filename, url: of its document.
        title, heading, document_title: of its document, or of the section that it is from.
        score: how well it answers.
        text, content, passage, snippet, body, page_content, pageContent, summary: its text.
    """

    id: str | int | None = None
    chunk_id: str | int | None = None
    chunkId: str | int | None = None
    path: str | None = None
    document_path: str | None = None
    documentPath: str | None = None
    file_path: str | None = None
    filename: str | None = None
    url: str | None = None
    title: str | None = None
    heading: str | None = None
    document_title: str | None = None
    score: float | str | None = None
    text: Text = None
    content: Text | list[Part] = None
    passage: Text = None
    snippet: Text = None
    body: Text = None
    page_content: Text = None
    pageContent: Text = None
    summary: Text = None


@frozen(kw_only=True)
class KbResult(Chunk):
    """One result: a chunk, or a document with the chunks of it that were found.

    Args:
        chunk, node, payload, metadata, document: inner objects that say more of the same chunk, or only its text,
            path or id.
        chunks, passages: of the document.
        type: "text" is a block of a content list, "error" an error; neither is a result.
        error: what went wrong; then it is no result.

    Raises:
        ValueError: it is no result.
    """

    chunk: Chunk | Text = None
    node: Chunk | str | None = None
    payload: Chunk | str | None = None
    metadata: Chunk | str | None = None
    document: Chunk | Text = None
    chunks: list[Chunk] | list[Annotated[str, Bulk]] | None = None
    passages: list[Chunk] | list[Annotated[str, Bulk]] | None = None
    type: str | None = None
    error: str | bool | None = None

    def __attrs_post_init__(self) -> None:
        if self.type in ("text", "error"):
            raise ValueError(f"it has the type {self.type!r}: a block or an error, not a result")
        if self.error not in (None, False):
            raise ValueError("it is an error, not a result")
