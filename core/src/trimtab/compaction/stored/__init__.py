"""What a fold leaves: the record, the memo of a turn, the archive, and what they name."""

from __future__ import annotations
