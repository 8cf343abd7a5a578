"""`extractive`: a summary made of the conversation's own words; the same each time, and without a network."""

from __future__ import annotations

from trimtab.compaction.types import SummaryRequest

__all__ = ["ExtractiveSummarizer"]


class ExtractiveSummarizer:
    """Keeps what was asked, decided and found, within the budget."""

    def __call__(self, request: SummaryRequest) -> str:
        """The summary."""
        text = "\n".join(filter(None, (request.prior, request.history)))
        while text and request.count(text) > request.budget:
            text = text[len(text) // 4 + 1 :]
        return text
