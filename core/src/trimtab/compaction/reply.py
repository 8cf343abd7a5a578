"""Reads what a summarizer replied, leniently: `parse_summary`."""

from __future__ import annotations

__all__ = ["parse_summary"]


def parse_summary(reply: str | None) -> str | None:
    """The summary in a reply; None: there is none."""
    return reply.strip(" \t\r\n") or None if isinstance(reply, str) else None
