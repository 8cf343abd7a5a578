"""Summarizers: what writes the summary that stands in the place of folded turns.

A factory takes the summarizer's own options by name, all of them, and gives a summarizer: `extractive()` takes none,
`openai(model="…", base_url="…")` those of `OpenAISummarizer`. Nothing is imported before a factory is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from trimtab.compaction.summarizers.anthropic import AnthropicSummarizer
    from trimtab.compaction.summarizers.callable import CallableSummarizer
    from trimtab.compaction.summarizers.chain import ChainSummarizer
    from trimtab.compaction.summarizers.extractive import ExtractiveSummarizer
    from trimtab.compaction.summarizers.openai import OpenAISummarizer

__all__ = [
    "BUILTIN_SUMMARIZERS",
    "AnthropicSummarizer",
    "CallableSummarizer",
    "ChainSummarizer",
    "ExtractiveSummarizer",
    "OpenAISummarizer",
]

_CLASSES: Final = {
    "anthropic": "AnthropicSummarizer",
    "callable": "CallableSummarizer",
    "chain": "ChainSummarizer",
    "extractive": "ExtractiveSummarizer",
    "openai": "OpenAISummarizer",
}


def _factory(name: str) -> Callable[..., Any]:
    def factory(**options: Any) -> Any:
        return _class(name)(**options)

    factory.__name__ = factory.__qualname__ = name
    return factory


def _class(name: str) -> Any:
    return getattr(import_module(f"trimtab.compaction.summarizers.{name}"), _CLASSES[name])


BUILTIN_SUMMARIZERS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {name: _factory(name) for name in _CLASSES}
)
"""What core answers to `trimtab_summarizers()`."""


def __getattr__(name: str) -> Any:
    for module, known in _CLASSES.items():
        if known == name:
            return _class(module)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
