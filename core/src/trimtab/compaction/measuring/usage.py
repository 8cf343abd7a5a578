"""What a provider says that a request took, as one number."""

from __future__ import annotations

from typing import Final

from trimtab.compaction.settings import tokens_in
from trimtab.types import Json
from trimtab.wire.nodes import member

__all__ = ["tokens_of"]

# What a request took in, by each vendor's name for it, with what is cached and counted beside it:
# https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching (tracking cache performance),
# https://platform.openai.com/docs/api-reference/chat/object, https://platform.openai.com/docs/api-reference/responses,
# https://ai.google.dev/api/generate-content#UsageMetadata,
# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html.
# OpenAI's cached tokens are a part of the prompt's; Anthropic's and Bedrock's come on top.
_INPUTS: Final[tuple[tuple[str, ...], ...]] = (
    ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
    ("prompt_tokens",),
    ("promptTokenCount",),
    ("prompt_token_count",),
    ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
    ("promptTokens",),
)
_OUTPUTS: Final = (
    "output_tokens",
    "completion_tokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "outputTokens",
    "completionTokens",
)
_PLACES: Final = ("usage", "usageMetadata", "usage_metadata")


def tokens_of(usage: Json) -> int | None:
    """Tokens that a request and its answer took together: what the next request has at least.

    Args:
        usage: a number, a provider's usage object (OpenAI's, Anthropic's, Gemini's, Bedrock's, the AI SDK's; as data or
            as an SDK's object), or the response that has it.

    Returns:
        None: it does not say what went in. What came out alone would tell far too little.
    """
    usage = next((inner for name in _PLACES if (inner := member(usage, name)) is not None), usage)
    if isinstance(usage, int | float):
        return tokens_in(usage)
    for first, *more in _INPUTS:
        taken = tokens_in(member(usage, first))
        if taken is not None:
            taken += sum(tokens_in(member(usage, name)) or 0 for name in more)
            given = next((count for name in _OUTPUTS if (count := tokens_in(member(usage, name))) is not None), 0)
            return taken + given
    return None
