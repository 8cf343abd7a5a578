"""The parts that come with trimtab, registered through the same hooks as everybody's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trimtab.blobs.open import BUILTIN_STORES
from trimtab.hookspecs import hookimpl
from trimtab.tokens import BUILTIN_COUNTERS
from trimtab.types import BlobStore, TokenCounter

__all__ = ["trimtab_blob_stores", "trimtab_token_counters"]


@hookimpl
def trimtab_blob_stores() -> Mapping[str, Callable[[str], BlobStore]]:
    """`memory:`, `sqlite:`, `file:`."""
    return BUILTIN_STORES


@hookimpl
def trimtab_token_counters() -> Mapping[str, Callable[[], TokenCounter]]:
    """The estimator, and the exact counters of the extra `tokens`."""
    return BUILTIN_COUNTERS
