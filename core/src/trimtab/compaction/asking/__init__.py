"""From messages to a summary: written as a text, asked for in portions, and read from the reply."""

from __future__ import annotations
