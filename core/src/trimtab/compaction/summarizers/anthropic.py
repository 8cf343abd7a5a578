"""`anthropic`: a model behind Anthropic's Messages, or any server that speaks them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from attrs import field, frozen

from trimtab.compaction.summarizers.instructions import SYSTEM, prompt_of
from trimtab.compaction.summarizers.vendors import client_of, known_window, replied, spoken
from trimtab.compaction.types import SummaryRequest
from trimtab.errors import MissingExtra
from trimtab.types import Json
from trimtab.wire.nodes import text

__all__ = ["AnthropicSummarizer"]

# Tokens that models take in, by the beginning of their names: https://docs.anthropic.com/en/docs/about-claude/models
_WINDOWS: Final = {"claude-": 200_000}
_WITHHELD: Final = "refusal"


@frozen(kw_only=True, eq=False)
class AnthropicSummarizer:
    """Asks a model by one request without tools; its reply may have as many tokens as the request's budget.

    Attributes:
        model: the model's name, as the server knows it.
        base_url: of a compatible server; None: Anthropic's, or what the environment says.
        api_key: None: what the environment says.
        is_async: whether to ask by an async client; with `client` that decides.
        client: an `anthropic.Anthropic` or `anthropic.AsyncAnthropic` of the application's own, or one for a cloud;
            None: one is made.
        window: tokens that the model takes in; None: by its name, where that is known.
        options: more fields of the request's body, such as `temperature`.

    Raises:
        MissingExtra: the library is not installed.
        CallerError: it makes no client of this; the message says why.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    is_async: bool = False
    client: Any = field(default=None, repr=False)
    window: int | None = None
    options: Mapping[str, Any] = field(factory=dict, repr=False)
    _asked: Any = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        asked = self.client
        if asked is None:
            asked = client_of(_makers()[self.is_async], "anthropic", base_url=self.base_url, api_key=self.api_key)
        object.__setattr__(self, "_asked", asked)
        if self.window is None:
            object.__setattr__(self, "window", known_window(self.model, _WINDOWS))

    def __call__(self, request: SummaryRequest) -> str | Awaitable[str | None] | None:
        """What the model says; None where it refuses. Raises what the library raises."""
        messages = [{"role": "user", "content": prompt_of(request)}]
        fields = {"max_tokens": request.budget, "extra_body": dict(self.options)}
        response = self._asked.messages.create(model=self.model, system=SYSTEM, messages=messages, **fields)
        return replied(response, _read)

    def close(self) -> Any:
        """Close the client, if it was made here; of an async one to be awaited."""
        return self._asked.close() if self.client is None else None


def _makers() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The library's clients, sync and async."""
    try:
        from anthropic import Anthropic, AsyncAnthropic
    except ModuleNotFoundError as error:
        raise MissingExtra("the summarizer 'anthropic'", extra="trimtab[anthropic]") from error
    return Anthropic, AsyncAnthropic


def _read(response: Json) -> str | None:
    return None if text(response, "stop_reason") == _WITHHELD else spoken("anthropic", response)
