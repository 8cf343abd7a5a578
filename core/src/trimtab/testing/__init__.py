"""Contract suites: tests that a plugin's or a store's own package imports and runs.

They need `trimtab[testing]` (pytest, Hypothesis). `trimtab.testing.laws` and `trimtab.testing.samples` need neither:
they check the laws as plain functions.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from trimtab.errors import MissingExtra

if TYPE_CHECKING:
    from trimtab.testing.codecs import CodecContract
    from trimtab.testing.plugins import PluginContract
    from trimtab.testing.stores import StoreContract
    from trimtab.testing.summarizers import SummarizerContract
    from trimtab.testing.wire import WireContract

__all__ = ["CodecContract", "PluginContract", "StoreContract", "SummarizerContract", "WireContract"]

_SUITES = {
    "CodecContract": "trimtab.testing.codecs",
    "PluginContract": "trimtab.testing.plugins",
    "StoreContract": "trimtab.testing.stores",
    "SummarizerContract": "trimtab.testing.summarizers",
    "WireContract": "trimtab.testing.wire",
}


def __getattr__(name: str) -> Any:
    """A suite, imported when it is first asked for. Raises MissingExtra without pytest or Hypothesis."""
    if name not in _SUITES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import hypothesis  # noqa: F401  # only to say early what is missing
        import pytest
    except ImportError as error:
        raise MissingExtra("trimtab.testing", extra="trimtab[testing]") from error
    if _SUITES[name] not in sys.modules:
        # Before the suite is imported: otherwise its failures say no more than "AssertionError".
        pytest.register_assert_rewrite(_SUITES[name])
    return getattr(import_module(_SUITES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
