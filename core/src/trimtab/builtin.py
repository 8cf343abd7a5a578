"""The parts that come with trimtab, registered through the same hooks as everybody's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from trimtab.blobs.open import BUILTIN_STORES
from trimtab.errors import CallerError
from trimtab.hookspecs import hookimpl
from trimtab.tokens import BUILTIN_COUNTERS
from trimtab.types import BlobStore, TokenCounter
from trimtab.wire import WireProtocol, protocols

__all__ = ["trimtab_blob_stores", "trimtab_summarizers", "trimtab_token_counters", "trimtab_wire_protocols"]

_SUMMARIZERS: Final = {
    "anthropic": "AnthropicSummarizer",
    "callable": "CallableSummarizer",
    "chain": "ChainSummarizer",
    "extractive": "ExtractiveSummarizer",
    "openai": "OpenAISummarizer",
}


@hookimpl
def trimtab_blob_stores() -> Mapping[str, Callable[[str], BlobStore]]:
    """`memory:`, `sqlite:`, `file:`."""
    return BUILTIN_STORES


@hookimpl
def trimtab_summarizers() -> Mapping[str, Callable[..., Any]]:
    """`extractive`, `callable`, `openai`, `anthropic`, `chain`."""
    return {name: partial(_summarizer, name) for name in _SUMMARIZERS}


def _summarizer(name: str, **options: Any) -> Any:
    # Here and not above: whoever loads plugins does not wait for all that folding needs.
    from trimtab.compaction import summarizers

    try:
        return getattr(summarizers, _SUMMARIZERS[name])(**options)
    except TypeError as error:
        raise CallerError(
            f"summarizer {name!r}: {error}; its options stand in [summarizers.{name}] of the policy"
        ) from error


@hookimpl
def trimtab_token_counters() -> Mapping[str, Callable[[], TokenCounter]]:
    """The estimator, and the exact counters of the extra `tokens`."""
    return BUILTIN_COUNTERS


@hookimpl
def trimtab_wire_protocols() -> Iterable[WireProtocol]:
    """OpenAI's two, Anthropic's, Gemini's, Bedrock's, vLLM's, the AI SDK's, and `parsed`."""
    return protocols.values()
