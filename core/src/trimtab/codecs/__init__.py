"""Codecs: where an output's bulk text is. Core does the rest.

A codec is `codec(output) -> Iterable[str] | None`: RFC 6901 pointers of the strings that may be shortened, or None when
the output has not got this codec's shape. It looks at shape, never at lengths or wording, so that it gives the same
pointers for a rendering of the output.
"""

from __future__ import annotations

from trimtab.codecs.combine import merged, within
from trimtab.codecs.declare import entities, pointers, text_field
from trimtab.codecs.typed import Bulk, codec_for
from trimtab.types import Codec

__all__ = ["Bulk", "Codec", "codec_for", "entities", "merged", "pointers", "text_field", "within"]
