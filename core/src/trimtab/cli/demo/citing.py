"""Whether what the model cited was ever given to it, as the plugins check it."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from trimtab.cli.demo.agent import Outcome

__all__ = ["Cited", "cited"]


@frozen(kw_only=True)
class Cited:
    """What one answer cites: titles of the sources that a tool gave, ids that none gave."""

    known: tuple[str, ...]
    unknown: tuple[str, ...]


def cited(answer: str, outcomes: Iterable[Outcome]) -> Cited:
    """Check the citations of an answer against the rows of its conversation."""
    from trimtab_kb import KB  # plugins: the demo says so itself where they are not installed
    from trimtab_web import Lookup, check_citations

    lookups = [Lookup(tool=one.tool, output=one.trimmed.row) for one in outcomes]
    check = check_citations(answer, lookups, also=[KB])
    return Cited(known=tuple(one.title for one in check.cited), unknown=check.unknown)
