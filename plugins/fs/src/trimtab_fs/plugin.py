"""What trimtab-fs registers: where the text is in the outputs of its tools."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab import hookimpl
from trimtab.codecs import Codec, entities, text_field
from trimtab_fs.names import READ_FILE

__all__ = ["trimtab_codecs"]


@hookimpl
def trimtab_codecs() -> Iterable[tuple[str, Codec]]:
    """The text of a page, and the lines that a search found."""
    yield "fs_read", text_field("/text")
    yield "fs_search", entities("/matches/*/text")
    yield READ_FILE, text_field("/text")
