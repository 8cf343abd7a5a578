"""The parts that come with trimtab, registered through the same hooks as everybody's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from trimtab.blobs.open import BUILTIN_STORES
from trimtab.hookspecs import hookimpl
from trimtab.tokens import BUILTIN_COUNTERS
from trimtab.types import BlobStore, TokenCounter
from trimtab.wire import WireProtocol, protocols

__all__ = ["trimtab_blob_stores", "trimtab_summarizers", "trimtab_token_counters", "trimtab_wire_protocols"]


@hookimpl
def trimtab_blob_stores() -> Mapping[str, Callable[[str], BlobStore]]:
    """`memory:`, `sqlite:`, `file:`."""
    return BUILTIN_STORES


@hookimpl
def trimtab_summarizers() -> Mapping[str, Callable[..., Any]]:
    """`extractive`, `callable`, `openai`, `anthropic`, `chain`."""
    from trimtab.compaction.summarizers import BUILTIN_SUMMARIZERS  # who only loads plugins does not wait for them

    return BUILTIN_SUMMARIZERS


@hookimpl
def trimtab_token_counters() -> Mapping[str, Callable[[], TokenCounter]]:
    """The estimator, and the exact counters of the extra `tokens`."""
    return BUILTIN_COUNTERS


@hookimpl
def trimtab_wire_protocols() -> Iterable[WireProtocol]:
    """OpenAI's two, Anthropic's, Gemini's, Bedrock's, vLLM's, the AI SDK's, and `parsed`."""
    return protocols.values()
