"""Loading plugins. Each is loaded, registered, checked and called alone, in the order of their names.

One that raises (or calls `sys.exit`) is kept as data, and nothing of it is registered; the others stay. Nothing is
loaded at import, and no manager is shared: not between hosts, and not between plugins, whose names and equality could
reach one another there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from typing import TYPE_CHECKING, Any

import pluggy
from attrs import define, field, frozen

import trimtab.builtin
import trimtab.hookspecs
from trimtab.errors import BrokenPlugin
from trimtab.hookspecs import ENTRY_POINT_GROUP, PROJECT
from trimtab.types import BlobStore, Codec, TokenCounter
from trimtab.wire import WireProtocol
from trimtab.wire.guard import METHODS

if TYPE_CHECKING:
    from trimtab.policy import PluginPolicy, Policy

__all__ = ["Broken", "Conflict", "NamedCodec", "Plugin", "Registry", "load"]

_BUILTIN = "trimtab"
_HOOKS = tuple(name for name in trimtab.hookspecs.__all__ if name.startswith("trimtab_"))


@frozen(kw_only=True)
class Plugin:
    """A plugin that loaded: its entry-point name, distribution, version, and what it registered, by hook."""

    name: str
    distribution: str
    version: str
    provides: Mapping[str, tuple[str, ...]]


@frozen(kw_only=True)
class Broken:
    """A plugin that did not load. `cause` is what it raised; nothing of it is registered."""

    name: str
    distribution: str
    version: str
    cause: BaseException


@frozen(kw_only=True)
class Conflict:
    """Two plugins that register the same thing: the first is used, unless the policy chooses."""

    what: str
    used: str
    unused: str


@frozen
class NamedCodec:
    """A codec, the pattern it was registered under, and its plugin's name."""

    pattern: str
    codec: Codec = field(repr=False)
    plugin: str

    @property
    def is_glob(self) -> bool:
        """Whether the pattern is a glob, not a tool's name."""
        return any(sign in self.pattern for sign in "*?[")


@define
class Registry:
    """What the plugins of one host registered."""

    plugins: list[Plugin] = field(factory=list)
    broken: list[Broken] = field(factory=list)
    conflicts: list[Conflict] = field(factory=list)
    codecs: list[NamedCodec] = field(factory=list)
    wire_protocols: dict[str, WireProtocol] = field(factory=dict)
    summarizers: dict[str, Callable[..., Any]] = field(factory=dict)
    blob_stores: dict[str, Callable[[str], BlobStore]] = field(factory=dict)
    token_counters: dict[str, Callable[[], TokenCounter]] = field(factory=dict)
    commands: dict[str, Callable[..., Any]] = field(factory=dict)
    _owners: dict[tuple[str, str], str] = field(factory=dict)

    def codecs_for(self, tool: str) -> list[NamedCodec]:
        """Codecs that fit a tool, in the order they are tried: exact names, then globs, the longest first."""
        exact = [one for one in self.codecs if not one.is_glob and one.pattern == tool]
        globs = [one for one in self.codecs if one.is_glob and fnmatchcase(tool, one.pattern)]
        return exact + sorted(globs, key=lambda one: -len(one.pattern))

    def unknown_summarizer(self, name: str) -> str:
        """What is said of a summarizer that no plugin has: its name, and the one that was meant, or all there are."""
        near = get_close_matches(name, self.summarizers, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(self.summarizers))}"
        return f"no summarizer {name!r:.80}; {hint}"

    def unknown_in(self, policy: Policy) -> list[str]:
        """Of each summarizer that a policy names, as its own, as a link or with options, and no plugin has: a sentence.

        Names are no fault before they are used: a plugin may be missing where nothing is folded.
        """
        named = {} if policy.summarizer is None else {policy.summarizer: "summarizer"}
        for name, options in policy.summarizers.items():
            named.setdefault(name, f"summarizers.{name}")
            links = options.get("links")
            for link in links if isinstance(links, list | tuple) else ():
                if isinstance(link, str):
                    named.setdefault(link, f"summarizers.{name}.links")
        return [
            f"{place}: {self.unknown_summarizer(name)}" for name, place in named.items() if name not in self.summarizers
        ]


@frozen
class _Candidate:
    """Something to register: how to get the plugin object, and where it comes from."""

    name: str
    distribution: str
    version: str
    load: Callable[[], object]


def load(
    policy: PluginPolicy | None = None,
    *,
    discover: bool = True,
    extra: Iterable[object] = (),
    found: Sequence[EntryPoint] | None = None,
) -> Registry:
    """Everything that the built-in parts, `extra` plugin objects and (with `discover`) entry points register.

    Args:
        policy: which entry points may load; None: all.
        extra: plugin objects of the application's own, registered after the built-in parts.
        found: entry points to use instead of the installed ones, for tests.
    """
    registry = Registry()
    _add(registry, _Candidate(_BUILTIN, PROJECT, _version(), lambda: trimtab.builtin))
    seen = {_BUILTIN: PROJECT}
    for index, plugin in enumerate(extra):
        name = _own_name(plugin)
        name = name if name not in seen else f"{type(plugin).__name__}-{index}"
        seen[name] = "(application)"
        _add(registry, _Candidate(name, "(application)", "", lambda plugin=plugin: plugin))  # type: ignore[misc]
    for candidate in _candidates(_installed(registry) if found is None else found) if discover else ():
        if policy is not None and not policy.allows(candidate.name):
            continue
        if candidate.name in seen:
            _break(
                registry, candidate, BrokenPlugin(f"{seen[candidate.name]} has the same entry-point name; block one")
            )
            continue
        seen[candidate.name] = candidate.distribution
        _add(registry, candidate)
    return registry


def _own_name(plugin: object) -> str:
    """A module's or a class's name; of an object that has none, or cannot say it, its class's."""
    try:
        name = getattr(plugin, "__name__", None)
    except (Exception, SystemExit):  # a property: what else is wrong with the plugin, loading it will show
        name = None
    return name if isinstance(name, str) and name else type(plugin).__name__


def _version() -> str:
    from trimtab.version import __version__

    return __version__


def _candidates(points: Iterable[EntryPoint]) -> list[_Candidate]:
    """Entry points in the order of their names, then distributions: never the file system's order."""
    candidates = [
        _Candidate(one.name, _metadata(one.dist, "Name"), _metadata(one.dist, "Version"), one.load) for one in points
    ]
    return sorted(candidates, key=lambda one: (one.name, one.distribution))


def _installed(registry: Registry) -> Iterable[EntryPoint]:
    """The entry points of our group. One malformed `entry_points.txt` spoils the usual call for all distributions."""
    try:
        return entry_points(group=ENTRY_POINT_GROUP)
    except Exception:  # then each distribution is asked alone, and what is wrong is kept if it is about us
        return [point for one in distributions() for point in _points_of(registry, one)]


def _points_of(registry: Registry, distribution: Distribution) -> list[EntryPoint]:
    try:
        return [one for one in distribution.entry_points if one.group == ENTRY_POINT_GROUP]
    except Exception as error:
        if f"[{ENTRY_POINT_GROUP}]" in (distribution.read_text("entry_points.txt") or ""):
            name, version = (_metadata(distribution, field) for field in ("Name", "Version"))
            cause = BrokenPlugin(f"entry_points.txt cannot be read: {error!s:.200}")
            cause.__cause__ = error
            _break(registry, _Candidate("?", name, version, lambda: None), cause)
        return []


def _metadata(distribution: Distribution | None, field: str) -> str:
    """A field of the metadata, "?" where it is missing."""
    if distribution is None or field not in distribution.metadata:
        return "?"
    return str(distribution.metadata[field])


def _break(registry: Registry, candidate: _Candidate, cause: BaseException) -> None:
    registry.broken.append(
        Broken(name=candidate.name, distribution=candidate.distribution, version=candidate.version, cause=cause)
    )


def _add(registry: Registry, candidate: _Candidate) -> None:
    """Load, register, check and call one plugin; whatever goes wrong, the registry holds all of it or nothing."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(trimtab.hookspecs)
    try:
        plugin = candidate.load()
        if inspect.isclass(plugin):
            plugin = plugin()
        hash(plugin)
        manager.register(plugin, name=candidate.name)
        _check_hooks(manager, plugin)
        provided = _collect(manager, plugin)
    except (Exception, SystemExit) as error:
        _break(registry, candidate, error)
        return
    summary = _merge(registry, candidate.name, provided)
    registry.plugins.append(
        Plugin(name=candidate.name, distribution=candidate.distribution, version=candidate.version, provides=summary)
    )


def _check_hooks(manager: pluggy.PluginManager, plugin: object) -> None:
    """A hook that we do not have is a spelling mistake, unless marked optional; one without a mark was forgotten."""
    marked = {caller.name for caller in manager.get_hookcallers(plugin) or ()}
    for name in _HOOKS:
        if name not in marked and inspect.isroutine(getattr(plugin, name, None)):
            raise BrokenPlugin(f"{name} is not marked: write @hookimpl, from trimtab, above it")
    for caller in manager.get_hookcallers(plugin) or ():
        if caller.has_spec():
            continue
        if any(one.plugin is plugin and not one.optionalhook for one in caller.get_hookimpls()):
            near = get_close_matches(caller.name, _HOOKS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"hooks: {', '.join(_HOOKS)}"
            raise BrokenPlugin(f"unknown hook {caller.name}; {hint}")


def _collect(manager: pluggy.PluginManager, plugin: object) -> dict[str, Any]:
    """Call the plugin's hooks, it alone, and check what they give."""
    provided: dict[str, Any] = {}
    for name in _HOOKS:
        for one in getattr(manager.hook, name).get_hookimpls():
            if one.plugin is plugin:
                provided[name] = _checked(name, one.function())
    return provided


def _checked(hook: str, given: Any) -> Any:
    lists = hook in ("trimtab_codecs", "trimtab_wire_protocols")
    if lists and not isinstance(given, Iterable):
        raise BrokenPlugin(f"{hook} must give a list, not {given!r:.120}")
    if hook == "trimtab_codecs":
        pairs = list(given)
        for pair in pairs:
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) and callable(pair[1])):
                raise BrokenPlugin(f"{hook} must give (tool name, codec) pairs, not {pair!r:.120}")
        return pairs
    if hook == "trimtab_wire_protocols":
        protocols = list(given)
        for one in protocols:
            if not isinstance(getattr(one, "name", None), str):
                raise BrokenPlugin(f"{hook}: a protocol has a `name`, {one!r:.120} has none")
            missing = [name for name in METHODS if not callable(getattr(one, name, None))]
            if missing:
                raise BrokenPlugin(f"{hook}: protocol {one.name!r} has no {', '.join(missing)}")
        return protocols
    if not isinstance(given, Mapping) or not all(isinstance(k, str) and callable(v) for k, v in given.items()):
        raise BrokenPlugin(f"{hook} must give a mapping of name to callable, not {given!r:.120}")
    return dict(given)


def _merge(registry: Registry, plugin: str, provided: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    summary: dict[str, tuple[str, ...]] = {}
    for pattern, codec in provided.get("trimtab_codecs", ()):
        _claim(registry, "codec", pattern, plugin)
        registry.codecs.append(NamedCodec(pattern, codec, plugin))
        summary["codecs"] = (*summary.get("codecs", ()), pattern)
    protocols = {one.name: one for one in provided.get("trimtab_wire_protocols", ())}
    for kind, table, new in (
        ("wire protocols", registry.wire_protocols, protocols),
        ("summarizers", registry.summarizers, provided.get("trimtab_summarizers", {})),
        ("blob stores", registry.blob_stores, provided.get("trimtab_blob_stores", {})),
        ("token counters", registry.token_counters, provided.get("trimtab_token_counters", {})),
        ("commands", registry.commands, provided.get("trimtab_commands", {})),
    ):
        for name, value in new.items():
            if _claim(registry, kind, name, plugin):
                table[name] = value
        if new:
            summary[kind] = tuple(new)
    return summary


def _claim(registry: Registry, kind: str, name: str, plugin: str) -> bool:
    """Whether this plugin is the first to register a name; a later one is reported."""
    first = registry._owners.setdefault((kind, name), plugin)
    if first == plugin:
        return True
    registry.conflicts.append(Conflict(what=f"{kind} {name!r}", used=first, unused=plugin))
    return False
