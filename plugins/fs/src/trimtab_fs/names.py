"""The names of tools that are this plugin's own; the policy names the read-back and search tools."""

from __future__ import annotations

from typing import Final

__all__ = ["READ_FILE"]

READ_FILE: Final = "read_file"
