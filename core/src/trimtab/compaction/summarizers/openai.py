"""`openai`: a model behind OpenAI's Chat Completions, or any server that speaks them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from attrs import field, frozen

from trimtab.compaction.summarizers.instructions import SYSTEM, prompt_of
from trimtab.compaction.summarizers.vendors import client_of, known_window, replied, spoken
from trimtab.compaction.types import SummaryRequest
from trimtab.errors import MissingExtra
from trimtab.types import Json
from trimtab.wire.nodes import items, text

__all__ = ["OpenAISummarizer"]

# Tokens that models take in, by the beginning of their names: https://platform.openai.com/docs/models
_WINDOWS: Final = {
    "gpt-3.5-turbo": 16_385,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 272_000,
    "o3": 200_000,
    "o4-mini": 200_000,
}
_WITHHELD: Final = "content_filter"


@frozen(kw_only=True, eq=False)
class OpenAISummarizer:
    """Asks a model by one request without tools; its reply may have as many tokens as the request's budget.

    Attributes:
        model: the model's name, as the server knows it.
        base_url: of a compatible server; None: OpenAI's, or what the environment says.
        api_key: None: what the environment says.
        is_async: whether to ask by an async client; with `client` that decides.
        client: an `openai.OpenAI` or `openai.AsyncOpenAI` of the application's own; None: one is made.
        window: tokens that the model takes in; None: by its name, where that is known.
        length: the request's field for the most tokens of a reply; OpenAI's own reasoning models take
            `max_completion_tokens`, which counts their thinking too.
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
    length: str = "max_tokens"
    options: Mapping[str, Any] = field(factory=dict, repr=False)
    _asked: Any = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        asked = self.client
        if asked is None:
            asked = client_of(_makers()[self.is_async], "openai", base_url=self.base_url, api_key=self.api_key)
        object.__setattr__(self, "_asked", asked)
        if self.window is None:
            object.__setattr__(self, "window", known_window(self.model, _WINDOWS))

    def __call__(self, request: SummaryRequest) -> str | Awaitable[str | None] | None:
        """What the model says; None where it refuses. Raises what the library raises."""
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt_of(request)}]
        fields: dict[str, Any] = {self.length: request.budget, "extra_body": dict(self.options)}
        return replied(self._asked.chat.completions.create(model=self.model, messages=messages, **fields), _read)

    def close(self) -> Any:
        """Close the client, if it was made here; of an async one to be awaited."""
        return self._asked.close() if self.client is None else None


def _makers() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The library's clients, sync and async."""
    try:
        from openai import AsyncOpenAI, OpenAI
    except ModuleNotFoundError as error:
        raise MissingExtra("the summarizer 'openai'", extra="trimtab[openai]") from error
    return OpenAI, AsyncOpenAI


def _read(response: Json) -> str | None:
    choices = items(getattr(response, "choices", None))
    withheld = bool(choices) and text(choices[0], "finish_reason") == _WITHHELD
    return None if withheld else spoken("openai-chat", response)
