"""How many tokens messages take: text by the counter, media at a fixed price, never base64 as text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from attrs import frozen

from trimtab._json import canonical
from trimtab.compaction.measuring.media import is_medium, payloads_in
from trimtab.compaction.settings import FoldSettings
from trimtab.compress.refs.identity import texts_in
from trimtab.errors import UnsupportedOutput
from trimtab.pointer import replace
from trimtab.tokens import Checked
from trimtab.types import Json
from trimtab.wire.histories import Message, Part
from trimtab.wire.nodes import member

__all__ = ["Estimator", "Measured"]

_TEXTS: Final = ("text", "input_text", "output_text")

_LEAST_SCALE: Final = 0.2  # an estimate is never so far off: what was counted was something else


class Estimator:
    """Estimates messages; each text in them is counted once, since a history is measured before every step."""

    def __init__(self, settings: FoldSettings) -> None:
        self._settings = settings
        self._counter = Checked(settings.counter)
        self._known: dict[str, int] = {}

    def message(self, message: Message) -> int:
        """Tokens of one message."""
        return sum(map(self._part, message.parts))

    def messages(self, messages: Iterable[Message]) -> int:
        """Tokens of several."""
        return sum(map(self.message, messages))

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self._counter.count(text)

    def _text(self, text: str) -> int:
        tokens = self._known.get(text)
        if tokens is None:
            tokens = self._known[text] = self.text(text)
        return tokens

    @cached_property
    def beside(self) -> int:
        """Tokens of what a request says beside its messages: tools and system prompt."""
        return sum(map(self.value, (self._settings.tools, self._settings.system)))

    def _part(self, part: Part) -> int:
        if part.kind == "text":
            return self._text(part.text)
        if part.kind == "call":
            return self._text(part.name) + self.value(part.value)
        if part.kind == "thinking":
            return sum(map(self._text, texts_in(part)))
        return 0 if part.kind == "aside" else self.value(part.value)

    def value(self, value: Json) -> int:
        """Tokens of a text, a list of blocks, or any JSON."""
        if value is None:
            return 0
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple):
            return sum(map(self.value, value))
        said = member(value, "text")
        if isinstance(said, str) and member(value, "type") in _TEXTS:
            return self._text(said)
        return self._object(value)

    def _object(self, value: Json) -> int:
        """Tokens of a block: a medium has one price, whatever it holds; anything else is its JSON."""
        payloads = payloads_in(value)
        media = self._settings.media
        try:
            said = self._text(canonical(replace(value, dict.fromkeys(payloads, "")) if payloads else value))
        except UnsupportedOutput:  # an SDK's object, whose members cannot be told
            said = media
        return max(media, said) if is_medium(value) else said + media * len(payloads)


@frozen(kw_only=True)
class Measured:
    """Tokens of a prompt. `scale`: so many times its estimate they are, where the provider has counted."""

    tokens: int
    scale: float = 1.0

    @classmethod
    def from_count(cls, counted: int, estimated: int, since: int) -> Measured:
        """From what the provider counted, the estimate of the same, and that of what came since.

        A count that is far below the estimate was of a smaller prompt, of which was folded more: it is not believed.
        """
        if counted < _LEAST_SCALE * estimated:
            return cls(tokens=estimated + since)
        return cls(tokens=counted + since, scale=counted / max(1, estimated))

    def of(self, estimate: int) -> int:
        """What an estimate of some of its messages is likely to be, as the provider counts."""
        return round(estimate * self.scale)
