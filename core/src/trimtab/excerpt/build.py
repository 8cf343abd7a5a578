"""The excerpt of a text: which ranges are shown within a cap, and the string that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from attrs import define

from trimtab.excerpt.edges import head_stop, tail_start
from trimtab.marker import HANDLE_DIGITS, MARKER_MAX, Marker, longest_line, parse
from trimtab.marker import line as marker_line
from trimtab.measure import Spelling, fit_from_end, fit_from_start, shown

__all__ = ["Cuts", "Excerpt", "bare", "build", "claimed", "cut", "proves"]

Cuts = tuple[tuple[int, int], ...]
"""Omitted ranges of a text: 1-based, inclusive, in code points, ascending."""

Ranges = list[tuple[int, int]]

# Passages that answer the focus take at most this share of what a cap leaves beside its first marker.
_PASSAGE_SHARE = (1, 2)


@define  # not frozen: one is made for each text, and freezing takes three times as long
class Excerpt:
    """What stands in a bulk text's place: the string (not yet spelt), and what it omits."""

    text: str
    cuts: Cuts


def bare(total: int, tool: str | None, blob_id: str) -> Excerpt:
    """The marker alone: nothing of the text is shown."""
    return Excerpt(marker_line(1, total, total, tool, blob_id), ((1, total),))


def build(text: str, cuts: Cuts, tool: str | None, blob_id: str) -> Excerpt:
    """The excerpt with exactly these ranges omitted, one marker per gap, each on a line of its own."""
    pieces: list[str] = []
    at = 0
    for first, last in cuts:
        pieces.append(shown(text[at : first - 1]))
        pieces.append(_line(text, first, last, tool, blob_id))
        at = last
    pieces.append(shown(text[at:]))
    return Excerpt("".join(pieces), cuts)


def _line(text: str, first: int, last: int, tool: str | None, blob_id: str) -> str:
    """The marker of one gap, with a newline on a side only where text stands there that does not bring one."""
    before = "\n" if first > 1 and text[first - 2] != "\n" else ""
    after = "\n" if last < len(text) and text[last] != "\n" else ""
    return f"{before}{marker_line(first, last, len(text), tool, blob_id)}{after}"


def cut(
    text: str,
    cap: int,
    spelling: Spelling,
    tool: str | None,
    blob_id: str,
    passages: Callable[[], Iterable[tuple[int, int]]] | None = None,
) -> Excerpt:
    """The excerpt that takes at most `cap` chars of `t.text`, markers included.

    Head one third, tail two thirds; passages (ranges that answer the focus, best first) take their part before. A gap
    not longer than its marker line is shown instead. Where the cap has no room for a marker and some text, it is the
    bare marker.
    """
    total = len(text)
    gap = longest_line(total, tool) + 2 * spelling.newline  # the most it takes
    room = cap - gap
    kept: Ranges = []
    if passages is not None and room > 0:
        kept, room = _take(text, passages(), room, gap, spelling)
    cuts = _cuts(text, room, kept, gap, spelling, tool, blob_id)
    if not cuts:
        # What is shown takes less than what was there (NUL, lone surrogates, odd escapes in JSON text), and would fit:
        # but then nothing would say that it is not the text. So it gets one gap, just worth its marker.
        cuts = _cuts(text, spelling.length(shown(text)) - 2 * gap - 1, [], gap, spelling, tool, blob_id)
    return build(text, cuts, tool, blob_id)


def _cuts(text: str, room: int, kept: Ranges, gap: int, spelling: Spelling, tool: str | None, blob_id: str) -> Cuts:
    """What is omitted when head and tail take `room` beside the kept ranges; nothing where it all fits."""
    total = len(text)
    if room <= 0:
        return ((1, total),)
    head = head_stop(text, 0, fit_from_start(text, 0, total, room // 3, spelling))
    tail = tail_start(text, fit_from_end(text, head, total, room - room // 3, spelling), total)
    if not kept and tail - head > gap:  # the usual case: one gap, longer than any marker line
        return ((head + 1, tail),)

    def line(first: int, last: int) -> str:
        return _line(text, first, last, tool, blob_id)

    ranges = _join(text, [(0, head), *kept, (tail, total)], line, spelling)
    return tuple((left[1] + 1, right[0]) for left, right in pairwise(ranges))


def _take(
    text: str, passages: Iterable[tuple[int, int]], room: int, gap: int, spelling: Spelling
) -> tuple[Ranges, int]:
    """Passages that fit into their share of the room, and the room that is left for head and tail."""
    share = room * _PASSAGE_SHARE[0] // _PASSAGE_SHARE[1]
    kept: Ranges = []
    for start, stop in passages:
        left = share - gap  # each passage opens one more gap
        if left <= gap:
            break
        fits = fit_from_start(text, start, stop, left, spelling)
        if fits < stop:
            if kept:
                continue
            fits = head_stop(text, start, fits)
        if fits <= start:
            continue
        cost = spelling.length(shown(text[start:fits])) + gap
        share -= cost
        room -= cost
        kept.append((start, fits))
    return kept, room


def _join(text: str, ranges: Ranges, line: Callable[[int, int], str], spelling: Spelling) -> Ranges:
    """Ranges in order, overlapping ones merged, and those whose gap is not longer than its marker line."""
    ordered = sorted(ranges)
    joined = [ordered[0]]
    for start, stop in ordered[1:]:
        last_start, last_stop = joined[-1]
        if start <= last_stop or _not_worth(text, last_stop, start, line, spelling):
            joined[-1] = (last_start, max(stop, last_stop))
        else:
            joined.append((start, stop))
    return joined


def _not_worth(text: str, start: int, stop: int, line: Callable[[int, int], str], spelling: Spelling) -> bool:
    """Whether the text between takes no more than the line that would stand for it."""
    if stop - start > MARKER_MAX + 2 * spelling.newline:
        return False
    room = spelling.length(line(start + 1, stop))
    return stop - start <= room and spelling.length(shown(text[start:stop])) <= room


def claimed(excerpt: str) -> dict[str, list[Marker]]:
    """Handles of the texts that this may be a rendering of, with their markers: what those say adds up to its length.

    A claim, for `proves` to decide. It keeps what quotes many renderings (the log of a conversation) from having each
    text of theirs read.
    """
    markers: dict[str, list[Marker]] = {}
    for marker in parse(excerpt):
        if marker.handle is not None:
            markers.setdefault(marker.handle, []).append(marker)
    return {handle: ours for handle, ours in markers.items() if _adds_up(len(excerpt), ours)}


def _adds_up(length: int, ours: Sequence[Marker]) -> bool:
    total = left = ours[0].total
    at = 0
    for marker in ours:
        if marker.total != total or not at < marker.first <= marker.last <= total:
            return False
        at = marker.last
        left -= marker.last - marker.first + 1
        length -= len(marker_line(marker.first, marker.last, total, marker.tool, marker.handle or ""))
    return left <= length <= left + 2 * len(ours)  # a newline may stand on each side of a marker


def proves(excerpt: str, text: str, blob_id: str, claims: Iterable[Marker] | None = None) -> bool:
    """Whether `excerpt` is exactly a rendering of `text`: its slices, with markers that name it between them.

    Args:
        claims: the markers with its handle, where `claimed` found them: what names thousands of handles is parsed once.
    """
    handle = blob_id[:HANDLE_DIGITS]
    ours: Sequence[Marker] = [
        marker
        for marker in (parse(excerpt) if claims is None else claims)
        if marker.handle == handle and marker.total == len(text)
    ]
    at = 0
    for marker in ours:
        if not at < marker.first <= marker.last <= len(text):
            return False
        at = marker.last
    cuts = tuple((marker.first, marker.last) for marker in ours)
    return bool(cuts) and build(text, cuts, ours[0].tool, blob_id).text == excerpt
