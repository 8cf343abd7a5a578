"""Checks the citations of an answer against what kb_search gave.

A model cites a chunk as `[cite:<id>]`, with the chunk's id. Ids need to differ within one document only: where two
documents have a chunk of the same id, the id alone means the first of them, and `[cite:<path>#<id>]` either. The path
alone means the first chunk of the document. What counts as a marker, and what a bare `[N]` means, is told by
`trimtab.citing.check_citations`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Final

from trimtab import citing
from trimtab.citing import Citable, CitationCheck, CitedAnswer, Lookup
from trimtab.policy import Policy
from trimtab.types import Citation

__all__ = ["KB", "Citable", "CitationCheck", "CitedAnswer", "Lookup", "check_citations", "render_citations"]


def _same(one: Citation) -> Hashable:
    return one.url, one.id


def _names(one: Citation) -> Iterable[str]:
    return (f"{one.url}#{one.id}", one.url) if one.url and one.id else (one.url,)


KB: Final = Citable(tools=("kb_search",), same=_same, names=_names)
"""What can be cited of kb_search: chunks (`Citation.id`) of documents (`Citation.url` is the path). Pass it as `also`
to another plugin's check, where an answer cites both."""


def check_citations(
    answer: str,
    lookups: Iterable[Lookup],
    *,
    also: Iterable[Citable] = (),
    own_servers: Collection[str] = (),
    policy: Policy | None = None,
) -> CitationCheck:
    """Which chunks an answer cites, which ids it cites that no chunk has, and which chunks it leaves out.

    Args:
        answer: Markdown.
        lookups: the turn's tool calls with their outputs or rows, in order. Other tools' are not counted, nor are those
            of a foreign MCP server, whatever the tool is called there.
        also: what else may be cited, as another plugin's `WEB`.
        own_servers: MCP servers whose tools are the application's own.
        policy: its meta-tools count as the tools that they call.

    Raises:
        EnvelopeError: a damaged row.
    """
    return citing.check_citations(answer, lookups, [KB, *also], own_servers=own_servers, policy=policy)


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
    return citing.render_citations(answer, lookups, [KB, *also], own_servers=own_servers, policy=policy)
