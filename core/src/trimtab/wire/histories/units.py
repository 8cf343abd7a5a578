"""Which messages belong together, so that a provider takes them only together."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.wire.histories.types import Message

__all__ = ["units"]


def units(rows: Sequence[Message], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """For each message the first of those that must be folded together or not at all.

    A call and its result, also where the provider runs the tool; reasoning and the item that it led to, which a
    provider asks for behind it.

    Args:
        rows: the messages.
        pairs: where a call is, and where its result is.
    """
    unit = list(range(len(rows)))

    def root(at: int) -> int:
        while unit[at] != at:
            unit[at] = unit[unit[at]]
            at = unit[at]
        return at

    ties = list(pairs)
    partners: dict[str, int] = {}
    for at, row in enumerate(rows):
        ties += [(partners.setdefault(part.call_id, at), at) for part in row.of("other") if part.call_id]
        if at + 1 < len(rows) and row.parts and all(part.kind == "thinking" and not part.path for part in row.parts):
            ties.append((at, at + 1))
    for one, other in ties:
        low, high = sorted((root(one), root(other)))
        unit[high] = low
    return [root(at) for at in range(len(rows))]
