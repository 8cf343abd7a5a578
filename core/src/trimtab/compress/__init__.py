"""The `compress` tool: its definition, one lenient parser for its arguments, what to tell a model that misused it."""

from __future__ import annotations

from trimtab.compress.checking import Finding, check_tool_definitions
from trimtab.compress.explain import explain
from trimtab.compress.parse import parse_compress_args
from trimtab.compress.results import CompressRange, Diagnostics, Parsed
from trimtab.compress.tools import compress_tools

__all__ = [
    "CompressRange",
    "Diagnostics",
    "Finding",
    "Parsed",
    "check_tool_definitions",
    "compress_tools",
    "explain",
    "parse_compress_args",
]
