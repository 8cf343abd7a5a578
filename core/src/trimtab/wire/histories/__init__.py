"""A conversation as a list of messages, the same view for every wire protocol; what is not changed stays as it came."""

from __future__ import annotations

from trimtab.wire.histories.shape import Shape, Tie
from trimtab.wire.histories.types import Answer, Message, Part, Role, brings_results, is_prompt
from trimtab.wire.histories.units import units

__all__ = ["Answer", "Message", "Part", "Role", "Shape", "Tie", "brings_results", "is_prompt", "units"]
