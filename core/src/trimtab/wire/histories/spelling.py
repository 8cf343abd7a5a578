"""What a tool returned, as text."""

from __future__ import annotations

from trimtab._json import canonical
from trimtab.types import Json

__all__ = ["as_text"]


def as_text(value: Json) -> str:
    """A string as it is, anything else as canonical JSON. Raises UnsupportedOutput."""
    return value if isinstance(value, str) else canonical(value)
