"""The `compress` tool: one lenient parser for its arguments, and what to tell a model whose call was unusable."""

from __future__ import annotations

from trimtab.compress.explain import explain
from trimtab.compress.parse import parse_compress_args
from trimtab.compress.results import CompressRange, Diagnostics, Parsed

__all__ = ["CompressRange", "Diagnostics", "Parsed", "explain", "parse_compress_args"]
