"""Summarizers: what writes the summary that stands in the place of folded turns.

By name, with options from a policy and with those of plugins: `Host.summarizer`. Libraries of vendors are imported when
a summarizer that needs one is made.
"""

from __future__ import annotations

from trimtab.compaction.summarizers.anthropic import AnthropicSummarizer
from trimtab.compaction.summarizers.callable import CallableSummarizer
from trimtab.compaction.summarizers.chain import ChainSummarizer
from trimtab.compaction.summarizers.extractive import ExtractiveSummarizer
from trimtab.compaction.summarizers.openai import OpenAISummarizer

__all__ = [
    "AnthropicSummarizer",
    "CallableSummarizer",
    "ChainSummarizer",
    "ExtractiveSummarizer",
    "OpenAISummarizer",
]
