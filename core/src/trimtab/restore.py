"""A host that is given its own rendering back counts as given the original: which texts are renderings, and of what.

Nothing is taken for a rendering by its looks. A bulk text is one if the store holds, for this owner, a text whose
slices, with markers that name it between them, are exactly that string.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from trimtab._json import Escape, blob_id, escape
from trimtab.codecs.find import BulkText, Found, splice
from trimtab.codecs.leaves import any_string_holds
from trimtab.excerpt.build import claimed, proves
from trimtab.marker import might_hold_marker, signs
from trimtab.pointer import Path, resolve
from trimtab.types import Json

__all__ = ["LEAST_EXCERPT", "Original", "claimed_handles", "may_hold_rendering", "originals", "restored", "still_bulk"]

LEAST_EXCERPT: Final = 62
"""Chars of the shortest marker with a handle: no excerpt is shorter."""

# Chars. A page may quote one excerpt of a long text a thousand times, and each would be measured as that text.
_MOST_REPEATED: Final = 1 << 24

# Other encoders' spellings: PHP's (`json_encode`, without and with JSON_UNESCAPED_UNICODE), Go's (`encoding/json`),
# Gson's. Each begins from one of ours and escapes some characters more.
_SLASHES: Final = {"/": "\\/"}
_HTML: Final = {ch: f"\\u{ord(ch):04x}" for ch in "<>&\u2028\u2029"}
_FOREIGN: Final[tuple[tuple[Escape, Mapping[str, str]], ...]] = (
    ("ascii", _SLASHES),
    ("utf8", _SLASHES),
    ("utf8", _HTML),
    ("utf8", {**_HTML, "=": "\\u003d", "'": "\\u0027"}),
)


@frozen
class Original:
    """A bulk text that is proven to be a rendering, and the text that it renders."""

    bulk: BulkText
    text: str

    def sources(self) -> Iterator[str]:
        """How the text may have been spelt in JSON text by encoders that are none of ours, where they differ."""
        if self.bulk.span is not None:
            for base, more in _FOREIGN:
                ours = escape(self.text, base)
                spelt = ours.translate({ord(ch): as_escape for ch, as_escape in more.items()})
                if spelt != ours:
                    yield spelt


def may_hold_rendering(output: Json, reader: str) -> bool:
    """Whether markers with this read-back tool may stand anywhere in the output: a fast look, no claim."""
    return any_string_holds(output, *signs(reader))


def claimed_handles(found: Found, reader: str) -> dict[str, set[int]]:
    """Handles of markers in bulk texts that may be renderings of ours, each with the lengths that the markers say.

    Claims: `originals` proves them.
    """
    totals: dict[str, set[int]] = {}
    for one in _claims(found, reader):
        for handle, ours in claimed(one.text).items():
            totals.setdefault(handle, set()).add(ours[0].total)
    return totals


def originals(found: Found, reader: str, texts: Mapping[str, Sequence[tuple[str, str]]]) -> list[Original]:
    """The bulk texts that are proven to be renderings; none where the same ones would repeat too much.

    Args:
        texts: for each handle, the (blob id, text) pairs that the store holds for this owner.
    """
    proven: list[Original] = []
    for bulk in _claims(found, reader):
        held = ((*pair, ours) for handle, ours in claimed(bulk.text).items() for pair in texts.get(handle, ()))
        text = next((text for stored_id, text, ours in held if proves(bulk.text, text, stored_id, ours)), None)
        if text is not None:
            proven.append(Original(bulk, text))
    return [] if _repeated(proven) > _MOST_REPEATED else proven


def still_bulk(proven: Sequence[Original], found: Found) -> list[Original]:
    """Those whose text is bulk text in its place too, in the output put together: a name could not be shortened again.

    Args:
        found: what was found in the output with the originals.
    """
    places = {one.path for one in found.texts}
    texts = {(one.path, one.text) for one in found.texts if one.span is not None}
    return [
        one
        for one in proven
        if (one.bulk.path in places if one.bulk.span is None else (one.bulk.path, one.text) in texts)
    ]


def _repeated(proven: Sequence[Original]) -> int:
    """Chars of the originals that stood in the output before."""
    texts = [one.text for one in proven]
    return sum(map(len, texts)) - sum(map(len, set(texts)))


def restored(output: Json, proven: Sequence[Original], held: frozenset[str]) -> Json:
    """The output with the original in the place of each rendering.

    Inside JSON text it is spelt as it was: as the source that the store holds beside it, where an encoder that we know
    spelt it, else by one of our spellings. Which of the two cannot be told where everything shown of the JSON text is
    ASCII: then it is `ascii`. A text spelt by any other encoder comes back in one of ours: as JSON it is the same, and
    so is its text, but its row says another `esc`, and a budget may find it shorter than it was.

    Args:
        held: those of the blob ids of `Original.sources` that the store holds for this owner.
    """
    sources = [next((it for it in one.sources() if held and blob_id(it) in held), None) for one in proven]
    untold = [one for one, source in zip(proven, sources, strict=True) if source is None and one.bulk.span is not None]
    ascii_paths = _ascii_paths(output, proven, untold)
    changes = []
    for one, source in zip(proven, sources, strict=True):
        if one.bulk.span is None:
            source = one.text
        elif source is None:
            told = not one.bulk.text.isascii()  # then its own excerpt shows how it was spelt
            is_ascii = one.bulk.esc == "ascii" if told else one.bulk.path in ascii_paths
            source = escape(one.text, "ascii" if is_ascii else "utf8")
        changes.append((one.bulk, source))
    return splice(output, changes) if changes else output


def _ascii_paths(output: Json, proven: Sequence[Original], untold: Sequence[Original]) -> set[Path]:
    """JSON texts that are ASCII throughout, whatever of them is no rendering, and of which no rendering is UTF-8."""
    if not untold:
        return set()
    utf8 = {one.bulk.path for one in untold if not one.bulk.text.isascii() and one.bulk.esc != "ascii"}
    paths = {one.bulk.path for one in untold} - utf8
    around = splice(output, [(one.bulk, "") for one in proven if one.bulk.path in paths])
    return {path for path in paths if resolve(around, path).isascii()}


def _claims(found: Found, reader: str) -> Iterator[BulkText]:
    """Texts with a marker that names the read-back tool, and something besides: a bare marker stays as it is."""
    return (one for one in found.texts if "\n" in one.text and might_hold_marker(one.text, reader))
