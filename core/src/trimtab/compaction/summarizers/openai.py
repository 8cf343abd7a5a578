"""`openai`: a model behind OpenAI's Chat Completions, or any server that speaks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from attrs import frozen

from trimtab.compaction.summarizers.instructions import SYSTEM, prompt_of
from trimtab.compaction.summarizers.vendors import VendorSummarizer
from trimtab.compaction.types import SummaryRequest
from trimtab.types import Json
from trimtab.wire.nodes import items, text

__all__ = ["OpenAISummarizer"]

_WITHHELD: Final = "content_filter"


@frozen(kw_only=True, eq=False)
class OpenAISummarizer(VendorSummarizer):
    """Asks a model by an `openai.OpenAI` or `openai.AsyncOpenAI`; what it takes beside: see `VendorSummarizer`.

    Attributes:
        limit_field: the request's field for the most tokens of a reply; OpenAI's own reasoning models take
            `max_completion_tokens`, which counts their thinking too.
    """

    vendor = "openai"
    protocol = "openai-chat"
    # Tokens that models take in, by the beginning of their names: https://platform.openai.com/docs/models
    windows: ClassVar = {
        "gpt-3.5-turbo": 16_385,
        "gpt-4o": 128_000,
        "gpt-4.1": 1_047_576,
        "gpt-5": 272_000,
        "o3": 200_000,
        "o4-mini": 200_000,
    }

    limit_field: str = "max_tokens"

    def _makers(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        from openai import AsyncOpenAI, OpenAI

        return OpenAI, AsyncOpenAI

    def _respond(self, request: SummaryRequest) -> Any:
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt_of(request)}]
        fields: dict[str, Any] = {self.limit_field: self._most(request), "extra_body": dict(self.options)}
        return self._asked.chat.completions.create(model=self.model, messages=messages, **fields)

    def _is_withheld(self, response: Json) -> bool:
        choices = items(getattr(response, "choices", None))
        return bool(choices) and text(choices[0], "finish_reason") == _WITHHELD
