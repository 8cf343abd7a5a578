"""Checks the citations of an answer against what the tools gave: `[cite:<id>]`, and a bare `[N]` where it is clear.

Which tools' outputs count, and when two of their results are one source, is a `Citable` of a plugin's. Everything is
worked out from the outputs or their rows, which give the same; nothing else is stored.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence

from attrs import field, frozen

from trimtab.citations import citations
from trimtab.errors import CallerError
from trimtab.markdown import code_ranges, is_escaped
from trimtab.policy import Policy
from trimtab.types import Citation, Json

__all__ = ["Citable", "CitationCheck", "CitedAnswer", "Lookup", "check_citations", "render_citations"]

_MCP = "mcp__"
_MARKER = re.compile(r"\[cite:|\[([1-9][0-9]{0,5})\]")
# An id that nothing holds: up to the closing bracket, pairs of brackets in it included.
_UNKNOWN = re.compile(r"((?:[^\[\]\n]|\[[^\[\]\n]*\])+)\]")
# What makes a bracketed number a part of a link, by what follows.
_LINKED = re.compile(r"\]?\(")
_BLANKS = re.compile("[ \t]*")
_NUMERIC = re.compile("[0-9]+")
# Blanks that may stand around a known id; and how long one may be.
_PADDING = 8
_LONGEST = 2_000


def _names(names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise CallerError("tools must be a list of tool names, not a string")
    return frozenset(names)


@frozen(kw_only=True)
class Lookup:
    """One tool call whose output an answer may cite.

    Args:
        tool: the tool's name, as the model sees it.
        output: the row that was stored (`t.row`), or what the tool gave. The row is the safer one: an output that only
            looks like a row is read as one.
        server: the MCP server that it came from; None: the application's own tool.
        arguments: of the call; needed for meta-tools only.
    """

    tool: str
    output: Json = field(repr=False)
    server: str | None = None
    arguments: Json = field(default=None, repr=False)


@frozen(kw_only=True)
class Citable:
    """What can be cited of some tools.

    Args:
        tools: their exact names.
        same: what two results have in common when they are one source.
        names: what a result may be cited by beside its id.
    """

    tools: frozenset[str] = field(converter=_names)
    same: Callable[[Citation], Hashable]
    names: Callable[[Citation], Iterable[str]] = field(default=lambda one: (one.url,))

    def check(
        self,
        answer: str,
        lookups: Iterable[Lookup],
        *,
        also: Iterable[Citable] = (),
        own_servers: Collection[str] = (),
        policy: Policy | None = None,
    ) -> CitationCheck:
        """Which of these tools' results an answer cites, which ids it cites that none has, and which it leaves out.

        Args:
            answer: Markdown.
            lookups: the turn's tool calls with their outputs or rows, in order. Other tools' are not counted, nor are
                those of a foreign MCP server, whatever the tool is called there.
            also: what else may be cited, as another plugin's `Citable`.
            own_servers: MCP servers whose tools are the application's own.
            policy: its meta-tools count as the tools that they call.

        Raises:
            EnvelopeError: a damaged row.
        """
        return check_citations(answer, lookups, [self, *also], own_servers=own_servers, policy=policy)

    def render(
        self,
        answer: str,
        lookups: Iterable[Lookup],
        *,
        also: Iterable[Citable] = (),
        own_servers: Collection[str] = (),
        policy: Policy | None = None,
    ) -> CitedAnswer:
        """The answer with display numbers for its markers, and the check, whose `cited` is the list of sources.

        Arguments and errors as for `check`.
        """
        return render_citations(answer, lookups, [self, *also], own_servers=own_servers, policy=policy)


@frozen(kw_only=True)
class CitationCheck:
    """Which sources an answer cites.

    Attributes:
        cited: the sources that it cites, in the order of their first citation: `cited[n - 1]` has display number n.
        unknown: ids that it cites and that no output holds, each once, in order.
        uncited: the sources that it does not cite, in the order of the outputs.
        numbers: the display number of each id that leads to a cited source (where a source has none, of its url), and
            of what else the answer names one by.
    """

    cited: tuple[Citation, ...]
    unknown: tuple[str, ...]
    uncited: tuple[Citation, ...]
    numbers: Mapping[str, int]


@frozen(kw_only=True)
class CitedAnswer:
    """An answer with display numbers: `text` with `[n]` for each known marker, and the check; `check.cited` is the list
    of sources that goes below it."""

    text: str
    check: CitationCheck


def check_citations(
    answer: str,
    lookups: Iterable[Lookup],
    citables: Sequence[Citable],
    *,
    own_servers: Collection[str] = (),
    policy: Policy | None = None,
) -> CitationCheck:
    """What an answer cites, what it should not, and what it leaves out.

    A marker is `[cite:<id>]`, with the id of a result (or its url, or another name that the plugin gives it). A bare
    `[N]` is one only where exactly one lookup counts: then N is the id of a result where their ids are numbers, and
    else the 1-based place of a result. Everywhere else, and where N leads to nothing, `[N]` is text. So are markers in
    code, after a backslash, and `[N]` that is part of a link.

    Results that are one source are cited as the first of them. An id that two results have is the first one's.

    Args:
        answer: Markdown.
        lookups: in the order in which the model saw their outputs.
        citables: of the plugins whose tools count. An output of another tool does not.
        own_servers: MCP servers of the application's own. A tool of any other server is not counted, whatever its name:
            neither one with `server` set, nor one named `mcp__<server>__<tool>`.
        policy: its meta-tools count as the tools that they call.

    Raises:
        EnvelopeError: a damaged row.
    """
    return _Answer.read(answer, _registry(lookups, citables, own_servers, policy)).check()


def render_citations(
    answer: str,
    lookups: Iterable[Lookup],
    citables: Sequence[Citable],
    *,
    own_servers: Collection[str] = (),
    policy: Policy | None = None,
) -> CitedAnswer:
    """The answer with a display number, `[1]`, `[2]` …, in the place of each marker whose source is known.

    Numbers follow the order of first appearance. Markers of one source that follow one another, with nothing but blanks
    between, become one. A marker that nothing holds, and all other text, stays as it is. Arguments and errors as for
    `check_citations`.
    """
    read = _Answer.read(answer, _registry(lookups, citables, own_servers, policy))
    return CitedAnswer(text=read.numbered(), check=read.check())


@frozen
class _Registry:
    """What can be cited: the sources, by id (or url, where a result has none), by any name, and by a bare number."""

    sources: tuple[Citation, ...]
    ids: Mapping[str, int]
    names: Mapping[str, int]
    numbers: Mapping[str, int]
    longest: int
    """Code points of the longest name that a marker may hold."""


def _registry(
    lookups: Iterable[Lookup], citables: Sequence[Citable], own_servers: Collection[str], policy: Policy | None
) -> _Registry:
    if isinstance(own_servers, str):
        raise CallerError("own_servers must be a list of server names, not a string")
    sources: list[Citation] = []
    results: list[int] = []  # for each result, the place of its source
    ids: dict[str, int] = {}
    names: dict[str, int] = {}
    merged: dict[Hashable, int] = {}
    counted = 0
    for lookup in lookups:
        kind = _kind(lookup, citables, own_servers, policy)
        if kind is None:
            continue
        counted += 1
        for one in citations([lookup.output]):
            place = merged.setdefault((kind.tools, kind.same(one)), len(sources))
            if place == len(sources):
                sources.append(one)
            results.append(place)
            first, *more = [name for name in (one.id, *kind.names(one)) if name] or [""]
            ids.setdefault(first, place)
            for name in more:
                names.setdefault(name, place)
    ids.pop("", None)
    numbered = {name: place for name, place in ids.items() if _NUMERIC.fullmatch(name)}
    places = {str(number): place for number, place in enumerate(results, start=1)}
    numbers = (numbered or places) if counted == 1 else {}
    names |= ids
    longest = min(max(map(len, names), default=0), _LONGEST)
    return _Registry(tuple(sources), ids, names, numbers, longest)


def _kind(
    lookup: Lookup, citables: Sequence[Citable], own_servers: Collection[str], policy: Policy | None
) -> Citable | None:
    """The kind of source that a lookup offers; None: none of these, or another party's."""
    tool = lookup.tool if policy is None else policy.inner_call(lookup.tool, lookup.arguments)[0]
    if lookup.server is not None and lookup.server not in own_servers:
        return None
    for kind in citables:
        if tool in kind.tools:
            return kind
        if any(tool == f"{_MCP}{server}__{name}" for server in own_servers for name in kind.tools):
            return kind
    return None


@frozen
class _Marker:
    """A marker in the answer: where it stands, and which source it cites (None: the name leads to nothing)."""

    start: int
    end: int
    name: str
    source: int | None
    bare: bool = False


@frozen
class _Answer:
    """An answer with its markers in order."""

    text: str
    registry: _Registry
    markers: tuple[_Marker, ...]

    @classmethod
    def read(cls, text: str, registry: _Registry) -> _Answer:
        return cls(text, registry, tuple(_markers(text, registry)))

    def display(self) -> dict[int, int]:
        """Display numbers by source, in order."""
        order = dict.fromkeys(one.source for one in self.markers if one.source is not None)
        return {source: number for number, source in enumerate(order, start=1)}

    def check(self) -> CitationCheck:
        display = self.display()
        sources = self.registry.sources
        named = [(one.name, one.source) for one in self.markers if one.source is not None and not one.bare]
        return CitationCheck(
            cited=tuple(sources[one] for one in display),
            unknown=tuple(dict.fromkeys(one.name for one in self.markers if one.source is None)),
            uncited=tuple(one for place, one in enumerate(sources) if place not in display),
            numbers={name: display[place] for name, place in [*self.registry.ids.items(), *named] if place in display},
        )

    def numbered(self) -> str:
        display = self.display()
        pieces: list[str] = []
        at = 0
        last: _Marker | None = None
        for one in self.markers:
            if one.source is None:
                last = None
                continue
            between = self.text[at : one.start]
            if last is not None and last.source == one.source and _BLANKS.fullmatch(between):
                at = one.end
                continue
            pieces += (between, f"[{display[one.source]}]")
            at, last = one.end, one
        return "".join([*pieces, self.text[at:]])


def _markers(text: str, registry: _Registry) -> Iterator[_Marker]:
    code = code_ranges(text)
    starts = [start for start, _ in code]
    at = 0
    while found := _MARKER.search(text, at):
        start, end = found.span()
        before = bisect_right(starts, start) - 1
        if before >= 0 and start < code[before][1]:
            at = code[before][1]
            continue
        one = None
        if not is_escaped(text, start):
            one = _by_id(text, start, end, registry) if found[1] is None else _by_number(text, found, at, registry)
        if one is not None:
            yield one
        at = end if one is None else one.end


def _by_id(text: str, start: int, after: int, registry: _Registry) -> _Marker | None:
    """The marker `[cite:<id>]` that begins at `start`. A known id may hold anything, an unknown one no line's end."""
    end = text.find("]", after)
    while 0 <= end <= after + registry.longest + _PADDING:
        for name in (text[after:end], text[after:end].strip(" \t")):
            if name in registry.names:
                return _Marker(start, end + 1, name, registry.names[name])
        end = text.find("]", end + 1)
    unknown = _UNKNOWN.match(text, after)
    name = "" if unknown is None else unknown[1].strip(" \t")
    return _Marker(start, unknown.end(), name, None) if unknown is not None and name else None


def _by_number(text: str, found: re.Match[str], at: int, registry: _Registry) -> _Marker | None:
    """The marker `[N]`, unless it is a part of a link or its definition, or leads to nothing.

    `at`: where the marker before it ended, if it stands directly before.
    """
    start, end = found.span()
    reference = start > at and text[start - 1] in "]!"
    defines = text.startswith(":", end) and (start == 0 or text[start - 1] == "\n")
    if reference or defines or _LINKED.match(text, end) or found[1] not in registry.numbers:
        return None
    return _Marker(start, end, found[1], registry.numbers[found[1]], bare=True)
