"""A ref as a model writes it: `m00012`, `M12`, `[b3]`."""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen

__all__ = ["Ref", "parse_ref"]

_REF: Final = re.compile("[\\[(<#`\"' \\t]*+([mMbB])[ \\t_-]*+([0-9]{1,15})[\\])>`\"' \\t]*+\\Z")


@frozen
class Ref:
    """A ref that was read: `kind` is `m` for a message, `b` for a block."""

    kind: str
    number: int


def parse_ref(text: str) -> Ref | None:
    """The ref that a text spells, whatever its zeros, case and brackets; None: it is none."""
    found = _REF.match(text)
    return Ref("m" if found[1] in "mM" else "b", int(found[2])) if found else None
