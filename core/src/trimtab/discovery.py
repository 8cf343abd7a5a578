"""Loading plugins. Each is loaded, registered, checked and called alone, in the order of their names.

One that raises (or calls `sys.exit`) is unregistered and kept as data; the others stay. Nothing is loaded at import,
and there is no global manager: each host has its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

import pluggy
from attrs import define, field, frozen

from trimtab import builtin, hookspecs
from trimtab.errors import BrokenPlugin
from trimtab.hookspecs import ENTRY_POINT_GROUP, PROJECT
from trimtab.types import BlobStore, Codec, TokenCounter

if TYPE_CHECKING:
    from trimtab.policy import PluginPolicy

__all__ = ["Broken", "Conflict", "NamedCodec", "Plugin", "Registry", "load"]

_BUILTIN = "trimtab"
_HOOKS = tuple(name for name in hookspecs.__all__ if name.startswith("trimtab_"))


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
    wire_protocols: dict[str, Any] = field(factory=dict)
    summarizers: dict[str, Callable[..., Any]] = field(factory=dict)
    blob_stores: dict[str, Callable[[str], BlobStore]] = field(factory=dict)
    token_counters: dict[str, Callable[[], TokenCounter]] = field(factory=dict)
    commands: dict[str, Callable[..., Any]] = field(factory=dict)
    _owners: dict[tuple[str, str], str] = field(factory=dict)

    def codecs_for(self, tool: str) -> list[NamedCodec]:
        """Codecs that fit a tool, in the order they are tried: exact names, then globs."""
        exact = [one for one in self.codecs if not one.is_glob and one.pattern == tool]
        return exact + [one for one in self.codecs if one.is_glob and fnmatchcase(tool, one.pattern)]


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
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    _add(manager, registry, _Candidate(_BUILTIN, PROJECT, _version(), lambda: builtin))
    for index, plugin in enumerate(extra):
        name = getattr(plugin, "__name__", None) or f"{type(plugin).__name__}-{index}"
        _add(manager, registry, _Candidate(str(name), "(application)", "", lambda plugin=plugin: plugin))  # type: ignore[misc]
    seen: dict[str, str] = {}
    for candidate in _candidates(found) if discover else ():
        if policy is not None and not policy.allows(candidate.name):
            continue
        if candidate.name in seen:
            _break(
                registry, candidate, BrokenPlugin(f"{seen[candidate.name]} has the same entry-point name; block one")
            )
            continue
        seen[candidate.name] = candidate.distribution
        _add(manager, registry, candidate)
    return registry


def _version() -> str:
    from trimtab.version import __version__

    return __version__


def _candidates(found: Sequence[EntryPoint] | None) -> list[_Candidate]:
    """Installed entry points in the order of their names, then distributions: never the file system's order."""
    points = entry_points(group=ENTRY_POINT_GROUP) if found is None else found
    candidates = [
        _Candidate(one.name, one.dist.name if one.dist else "?", one.dist.version if one.dist else "?", one.load)
        for one in points
    ]
    return sorted(candidates, key=lambda one: (one.name, one.distribution))


def _break(registry: Registry, candidate: _Candidate, cause: BaseException) -> None:
    registry.broken.append(
        Broken(name=candidate.name, distribution=candidate.distribution, version=candidate.version, cause=cause)
    )


def _add(manager: pluggy.PluginManager, registry: Registry, candidate: _Candidate) -> None:
    """Load, register, check and call one plugin; whatever goes wrong, the registry holds all of it or nothing."""
    plugin: object = None
    try:
        plugin = candidate.load()
        if inspect.isclass(plugin):
            plugin = plugin()
        hash(plugin)
        if manager.register(plugin, name=candidate.name) is None:
            raise BrokenPlugin(f"the name {candidate.name!r} is blocked")
        _check_hooks(manager, plugin)
        provided = _collect(manager, plugin)
    except (Exception, SystemExit) as error:
        # Not by `manager.unregister(plugin)`: a plugin that failed half-way may be known under its name only.
        if manager.has_plugin(candidate.name):
            manager.unregister(name=candidate.name)
        _break(registry, candidate, error)
        return
    summary = _merge(registry, candidate.name, provided)
    registry.plugins.append(
        Plugin(name=candidate.name, distribution=candidate.distribution, version=candidate.version, provides=summary)
    )


def _check_hooks(manager: pluggy.PluginManager, plugin: object) -> None:
    """A hook that we do not have is a spelling mistake, unless marked optional."""
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
