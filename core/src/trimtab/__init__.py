"""trimtab keeps an agent's context small without losing anything.

It trims tool outputs along their structure, keeps the full text in a content-addressed store that the model can read
back from, and renders the same bytes every time::

    from trimtab import Host

    with Host.load(store="sqlite:///trimtab.db") as host:
        t = host.trim("web_search", output, arguments={"query": "prefix caching"}, owner="conversation-1")
        prompt, row = t.value, t.row_text
"""

from __future__ import annotations

import importlib
import typing

from trimtab.version import __version__

if typing.TYPE_CHECKING:
    from trimtab.budget import Budget
    from trimtab.errors import TrimtabError, UnsupportedOutput
    from trimtab.hookspecs import hookimpl
    from trimtab.host import Host
    from trimtab.policy import Policy
    from trimtab.trimmed import Trimmed
    from trimtab.types import ALL, Call, Citation, Page

__all__ = [
    "ALL",
    "Budget",
    "Call",
    "Citation",
    "Host",
    "Page",
    "Policy",
    "Trimmed",
    "TrimtabError",
    "UnsupportedOutput",
    "__version__",
    "hookimpl",
]

# Imported when first asked for: `trimtab --version` and a plugin that needs only `hookimpl` do not wait for the host.
_HOMES = {
    "ALL": "types",
    "Budget": "budget",
    "Call": "types",
    "Citation": "types",
    "Host": "host",
    "Page": "types",
    "Policy": "policy",
    "Trimmed": "trimmed",
    "TrimtabError": "errors",
    "UnsupportedOutput": "errors",
    "hookimpl": "hookspecs",
}


if not typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"trimtab.{_HOMES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
