"""`callable`: the application's own function as a summarizer."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Any

from attrs import field, frozen

from trimtab.compaction.types import Summarize, SummaryRequest
from trimtab.errors import CallerError

__all__ = ["CallableSummarizer"]


def _checked(instance: object, attribute: Any, function: Any) -> None:
    if not callable(function) or inspect.isclass(function):
        raise CallerError("callable takes `function`: it is called with a SummaryRequest and gives a text")


@frozen(kw_only=True)
class CallableSummarizer:
    """Calls a function, sync or async, with the request. A plain function will do in its place; this adds a window.

    Attributes:
        function: takes a `SummaryRequest`; its reply is read by `parse_summary`.
        window: tokens that it takes in at once; None: as many as the conversation's model.

    Raises:
        CallerError: `function` cannot be called, or is a class.
    """

    function: Summarize = field(validator=_checked)
    window: int | None = None

    def __call__(self, request: SummaryRequest) -> str | Awaitable[str | None] | None:
        """What the function gives."""
        return self.function(request)
