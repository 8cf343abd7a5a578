"""A model that shortens its own history: its tools, the reader of their arguments, the state, and `CompressSession`."""

from __future__ import annotations

from trimtab.compress.apply import Fold
from trimtab.compress.arguments.explain import explain
from trimtab.compress.arguments.parse import parse_compress_args
from trimtab.compress.arguments.results import CompressRange, Diagnostics, Parsed
from trimtab.compress.config import CompressConfig
from trimtab.compress.definitions.checking import Finding, check_tool_definitions
from trimtab.compress.definitions.tools import compress_tools
from trimtab.compress.functions import Applied, apply_calls, remind, render, report, search_folded
from trimtab.compress.outcome import Outcome
from trimtab.compress.ranges import Refusal
from trimtab.compress.rebuild import rebuild_state
from trimtab.compress.search import Hit
from trimtab.compress.session import CompressSession
from trimtab.compress.state import Block, CompressState
from trimtab.compress.status import Status
from trimtab.compress.stored import dump_state, load_state
from trimtab.compress.turns import Turn
from trimtab.wire.histories import Answer

__all__ = [
    "Answer",
    "Applied",
    "Block",
    "CompressConfig",
    "CompressRange",
    "CompressSession",
    "CompressState",
    "Diagnostics",
    "Finding",
    "Fold",
    "Hit",
    "Outcome",
    "Parsed",
    "Refusal",
    "Status",
    "Turn",
    "apply_calls",
    "check_tool_definitions",
    "compress_tools",
    "dump_state",
    "explain",
    "load_state",
    "parse_compress_args",
    "rebuild_state",
    "remind",
    "render",
    "report",
    "search_folded",
]
