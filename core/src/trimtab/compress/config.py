"""How compression is set up for a conversation. Every number is in chars or tokens, as its name says."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, TypeAlias

from attrs import field, frozen

from trimtab.errors import CallerError
from trimtab.tokens import Estimate
from trimtab.types import TokenCounter

__all__ = ["CompressConfig", "Tags"]

Tags: TypeAlias = Literal["all", "text", "none"]


def _names(names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise CallerError(f"protected_tools are several names, not one text {names!r:.80}")
    found = frozenset(names)
    if not all(isinstance(name, str) for name in found):
        raise CallerError("protected_tools are names of tools, all of them texts")
    return found


@frozen(kw_only=True)
class CompressConfig:
    """What a conversation's compression goes by. The same one must be used for live running and for a rebuild.

    Attributes:
        compress, decompress, search: the names of the three tools as the model sees them; "" for one that is not
            offered.
        min_chars: a call must name at least so many chars that can be folded, as they are shown. Ranges that begin or
            end with a block are exempt: they make blocks denser.
        min_summary, max_summary: chars of a summary; an entry's own `summary_max_chars` takes the place of the latter.
        keep_recent: so many of the newest messages are never folded.
        keep_first_prompt: whether the first message of the user is never folded.
        protected_tools: messages with calls or results of these tools are never folded.
        tags: where the model is shown a message's ref: below the text of messages and of tool results (`all`), below
            the text of messages alone (`text`), or nowhere (`none`).
        window: tokens that the model takes in; None: unknown, and then nothing is ever urged.
        growth: the model is reminded after so many tokens more than when it was last reminded.
        pressure, emergency: the shares of the window from which it is reminded sooner, and each time.
        stop_after: so many failures in a row end the loop (`should_stop`), as does the same failing call twice.
        counter: counts tokens; `trimtab.tokens.Exact("o200k")` does so exactly.
    """

    compress: str = "compress"
    decompress: str = "decompress"
    search: str = "search_context"
    min_chars: int = 5_000
    min_summary: int = 50
    max_summary: int = 20_000
    keep_recent: int = 4
    keep_first_prompt: bool = False
    protected_tools: frozenset[str] = field(default=(), converter=_names)
    tags: Tags = "all"
    window: int | None = None
    growth: int = 50_000
    pressure: float = 0.75
    emergency: float = 0.95
    stop_after: int = 8
    counter: TokenCounter = field(factory=Estimate, repr=False)

    def __attrs_post_init__(self) -> None:
        for name, least in (("min_chars", 0), ("min_summary", 1), ("keep_recent", 0), ("growth", 1), ("stop_after", 1)):
            _whole(name, getattr(self, name), least)
        _whole("max_summary", self.max_summary, self.min_summary)
        if not isinstance(self.counter, TokenCounter):
            given = f"{self.counter!r:.80}"
            raise CallerError(f'counter is an object that counts, as trimtab.tokens.Exact("o200k") is, not {given}')
        if self.window is not None:
            _whole("window", self.window, 1)
        if self.tags not in ("all", "text", "none"):
            raise CallerError(f"tags must be 'all', 'text' or 'none', not {self.tags!r:.80}")
        shares = (self.pressure, self.emergency)
        if (
            not all(isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one) for one in shares)
            or not 0 < shares[0] <= shares[1]
        ):
            raise CallerError(
                f"pressure and emergency are shares of the window, 0 < pressure <= emergency, not {shares}"
            )
        names = (self.compress, self.decompress, self.search)
        if not all(isinstance(name, str) for name in names):
            raise CallerError("compress, decompress and search are names of tools; one that is not offered is ''")
        offered = [name for name in names if name]
        if len(set(offered)) < len(offered):
            raise CallerError(f"the tools need different names, not {', '.join(offered)}")

    @property
    def tools(self) -> frozenset[str]:
        """The names of our tools, as far as they are offered."""
        return frozenset([self.compress, self.decompress, self.search]) - {""}


def _whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise CallerError(f"{name} must be a whole number from {least}, not {value!r:.80}")
