"""How many tokens messages take: text by the counter, media at a fixed price, never base64 as text."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab._json import canonical
from trimtab.compaction.settings import FoldSettings
from trimtab.compress.identity import texts_of
from trimtab.types import Json
from trimtab.wire.histories import Message

__all__ = ["Estimator"]


class Estimator:
    """Estimates messages, each once: what was counted is remembered as long as the message is the same object."""

    def __init__(self, settings: FoldSettings) -> None:
        self._settings = settings
        self._known: dict[int, tuple[Message, int]] = {}

    def message(self, message: Message) -> int:
        """Tokens of one message."""
        known = self._known.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        texts = sum(map(self._settings.counter.count, texts_of(message)))
        tokens = texts + self._settings.media * len(message.of("other"))
        self._known[id(message)] = (message, tokens)
        return tokens

    def messages(self, messages: Iterable[Message]) -> int:
        """Tokens of several."""
        return sum(map(self.message, messages))

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self._settings.counter.count(text)

    @property
    def beside(self) -> int:
        """Tokens of what a request says beside its messages: tools and system prompt."""
        return sum(_tokens_of(self._settings, one) for one in (self._settings.tools, self._settings.system) if one)


def _tokens_of(settings: FoldSettings, value: Json) -> int:
    return settings.counter.count(value if isinstance(value, str) else canonical(value))
