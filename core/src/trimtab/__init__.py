"""trimtab keeps an agent's context small without losing anything.

It trims tool outputs along their structure, keeps the full text in a content-addressed store that the model can read
back from, and renders the same bytes every time::

    from trimtab import Host

    with Host.load(store="sqlite:///trimtab.db") as host:
        t = host.trim("web_search", output, arguments={"query": "prefix caching"}, owner="conversation-1")
        prompt, row = t.value, t.row_text
"""

from __future__ import annotations

from trimtab.budget import Budget
from trimtab.errors import TrimtabError, UnsupportedOutput
from trimtab.hookspecs import hookimpl
from trimtab.host import Host
from trimtab.policy import Policy
from trimtab.trimmed import Trimmed
from trimtab.types import ALL, Call, Citation, Page
from trimtab.version import __version__

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
