"""From a row back to the prompt value, and to the output. Pure: the host fetches the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from trimtab._json import decode, escape
from trimtab.envelope import BlobRef, Envelope, inside, refs_by_key
from trimtab.errors import EnvelopeError
from trimtab.pointer import locate, replace, replace_spans
from trimtab.types import Json

__all__ = ["inflated", "inflating_ids", "rendered", "rendering_ids"]


def rendering_ids(envelope: Envelope) -> frozenset[str]:
    """The blobs that the rendering needs: those of `whole` refs."""
    return frozenset(blob_id for ref in envelope.refs if ref.whole for blob_id in _needed(ref))


def rendered(envelope: Envelope, texts: Mapping[str, str]) -> Json:
    """The prompt value: the skeleton, the texts of `whole` refs put back."""
    return _put_back(envelope, texts, lambda ref: ref.whole)


def inflating_ids(envelope: Envelope) -> frozenset[str]:
    """The blobs that the output needs."""
    used = [ref for refs in refs_by_key(envelope).values() for ref in inside(refs)]
    return frozenset(blob_id for ref in used for blob_id in _needed(ref))


def inflated(envelope: Envelope, texts: Mapping[str, str]) -> Json:
    """The output: every text put back at its place.

    Raises:
        EnvelopeError: a blob has not got the length that the row says, or a `json` blob is not JSON.
    """
    return _put_back(envelope, texts, lambda _: True)


def _needed(ref: BlobRef) -> Iterable[str]:
    """What is put back: the text, or its source where it is spelt in no way of ours."""
    return (ref.source_id,) if ref.source_id is not None else (ref.blob_id,)


def _put_back(envelope: Envelope, texts: Mapping[str, str], wanted: Callable[[BlobRef], bool]) -> Json:
    changes = {}
    for key, refs in refs_by_key(envelope).items():
        path, there = locate(envelope.skeleton, key)
        used = [ref for ref in inside(refs) if wanted(ref)]
        if not used:
            continue
        if used[0].span is None:
            changes[path] = _plain(used[0], texts)
        else:
            changes[path] = replace_spans(
                there, ((ref.span, _spelt(ref, texts)) for ref in used if ref.span is not None)
            )
    return replace(envelope.skeleton, changes)


def _plain(ref: BlobRef, texts: Mapping[str, str]) -> Json:
    text = _text(ref, texts)
    if not ref.json:
        return text
    try:
        return decode(text)
    except ValueError:
        raise EnvelopeError("the text of a list is not JSON", place=ref.key) from None


def _spelt(ref: BlobRef, texts: Mapping[str, str]) -> str:
    if ref.source_id is not None:
        return texts[ref.source_id]
    text = _text(ref, texts)
    if ref.json:
        return text
    return escape(text, "ascii" if ref.esc == "ascii" else "utf8")


def _text(ref: BlobRef, texts: Mapping[str, str]) -> str:
    text = texts[ref.blob_id]
    if len(text) != ref.total_chars:
        raise EnvelopeError(f"the row says {ref.total_chars} chars, its text has {len(text)}", place=ref.key)
    return text
