"""`anthropic`: a model behind Anthropic's Messages, or any server that speaks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from attrs import frozen

from trimtab.compaction.summarizers.instructions import SYSTEM, prompt_of
from trimtab.compaction.summarizers.vendors import VendorSummarizer
from trimtab.compaction.types import SummaryRequest
from trimtab.types import Json
from trimtab.wire.nodes import text

__all__ = ["AnthropicSummarizer"]

_WITHHELD: Final = "refusal"


@frozen(kw_only=True, eq=False)
class AnthropicSummarizer(VendorSummarizer):
    """Asks a model by an `anthropic.Anthropic` or `anthropic.AsyncAnthropic`, or one of these for a cloud.

    What it takes: see `VendorSummarizer`.
    """

    vendor = "anthropic"
    protocol = "anthropic"
    # Tokens that models take in, by the beginning of their names: https://docs.anthropic.com/en/docs/about-claude/models
    windows: ClassVar = {"claude-": 200_000}

    def _makers(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        from anthropic import Anthropic, AsyncAnthropic

        return Anthropic, AsyncAnthropic

    def _respond(self, request: SummaryRequest) -> Any:
        messages = [{"role": "user", "content": prompt_of(request)}]
        fields = {"max_tokens": self._most(request), "extra_body": dict(self.options)}
        return self._asked.messages.create(model=self.model, system=SYSTEM, messages=messages, **fields)

    def _is_withheld(self, response: Json) -> bool:
        return text(response, "stop_reason") == _WITHHELD
