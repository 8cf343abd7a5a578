"""Checks the citations of an answer against what web_search and web_fetch gave.

A model cites a result as `[cite:<id>]`, with the result's id or its url. Results with the same url are one source.
What counts as a marker, and what a bare `[N]` means, is told by `trimtab.citing.check_citations`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Final

from trimtab import citing
from trimtab.citing import Citable, CitationCheck, CitedAnswer, Lookup
from trimtab.policy import Policy
from trimtab.types import Citation

__all__ = ["WEB", "Citable", "CitationCheck", "CitedAnswer", "Lookup", "check_citations", "render_citations"]


def _same(one: Citation) -> Hashable:
    return one.url or (None, one.id)


WEB: Final = Citable(tools=("web_search", "web_fetch"), same=_same)
"""What can be cited of web lookups. Pass it as `also` to another plugin's check, where an answer cites both."""


def check_citations(
    answer: str,
    lookups: Iterable[Lookup],
    *,
    also: Iterable[Citable] = (),
    own_servers: Collection[str] = (),
    policy: Policy | None = None,
) -> CitationCheck:
    """Which results an answer cites, which ids it cites that no result has, and which results it leaves out.

    Args:
        answer: Markdown.
        lookups: the turn's tool calls with their outputs or rows, in order. Other tools' are not counted, nor are those
            of a foreign MCP server, whatever the tool is called there.
        also: what else may be cited, as another plugin's `KB`.
        own_servers: MCP servers whose tools are the application's own.
        policy: its meta-tools count as the tools that they call.

    Raises:
        EnvelopeError: a damaged row.
    """
    return citing.check_citations(answer, lookups, [WEB, *also], own_servers=own_servers, policy=policy)


def render_citations(
    answer: str,
    lookups: Iterable[Lookup],
    *,
    also: Iterable[Citable] = (),
    own_servers: Collection[str] = (),
    policy: Policy | None = None,
) -> CitedAnswer:
    """The answer with display numbers for its markers, and the check, whose `cited` is the list of sources.

    Arguments and errors as for `check_citations`.
    """
    return citing.render_citations(answer, lookups, [WEB, *also], own_servers=own_servers, policy=policy)
