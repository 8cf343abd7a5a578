"""What `host.trim` gives back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from attrs import field, frozen

from trimtab._json import canonical
from trimtab.envelope import Envelope
from trimtab.trim import prompt_text
from trimtab.types import Json, TokenCounter

__all__ = ["Sizes", "Trimmed"]


@frozen(kw_only=True, repr=False)
class Sizes:
    """Sizes of the output (`before`) and of `t.value` (`after`) as they go into a prompt. Worked out when asked."""

    _output: Json = field(repr=False)
    _value: Json = field(repr=False)
    _counter: TokenCounter = field(repr=False)

    def __repr__(self) -> str:
        return f"Sizes(before={self.before}, after={self.after})"

    @cached_property
    def before(self) -> int:
        """Chars (code points) of the output."""
        return len(prompt_text(self._output))

    @cached_property
    def after(self) -> int:
        """Chars (code points) of `t.text`."""
        return len(prompt_text(self._value))

    @cached_property
    def tokens_before(self) -> int:
        """Tokens of the output, by the budget's counter."""
        return self._counter.count(prompt_text(self._output))

    @cached_property
    def tokens_after(self) -> int:
        """Tokens of `t.text`, by the budget's counter."""
        return self._counter.count(prompt_text(self._value))


@frozen(kw_only=True)
class Trimmed:
    """A tool output, trimmed or left alone.

    Attributes:
        tool: the tool's name.
        value: for the prompt; same JSON type as the output.
        changed: whether `value` differs from the output.
        over_budget: everything that can move is down to its bare marker, and it is still above `keep`.
        error: why the output was left whole although it is above its budget (a codec or the store failed), or None.
        moved: how many texts were stored.
        share: the part of its batch that the output was trimmed to; None: its own budget.
        explained: what `host.explain` gives, worked out when called.
    """

    tool: str
    value: Json = field(repr=False)
    changed: bool = False
    over_budget: bool = False
    error: Exception | None = None
    moved: int = 0
    share: int | None = None
    _envelope: Callable[[], Envelope | None] = field(default=lambda: None, repr=False, eq=False)
    explained: Callable[[], dict[str, Any]] = field(default=dict, repr=False, eq=False)
    _output: Json = field(repr=False)
    _counter: TokenCounter = field(repr=False)

    @cached_property
    def text(self) -> str:
        """`value` as it goes into a prompt: the string itself, or canonical JSON."""
        return prompt_text(self.value)

    @cached_property
    def envelope(self) -> Envelope | None:
        """What the row holds; None when the row is the output itself."""
        return self._envelope()

    @cached_property
    def row(self) -> Json:
        """For the database: the envelope as JSON; the output itself when nothing moved."""
        return self.value if self.envelope is None else self.envelope.to_row()

    @cached_property
    def row_text(self) -> str:
        """`row` as JSON, always (a string is quoted): `json.loads(t.row_text) == t.row`. For text or json columns."""
        return canonical(self.row)

    @cached_property
    def sizes(self) -> Sizes:
        """Sizes before and after, in chars and tokens."""
        return Sizes(output=self._output, value=self.value, counter=self._counter)
