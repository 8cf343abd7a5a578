"""The policy: budgets, tools and plugins of one application. `trimtab.toml`, or `[tool.trimtab]` in pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import attrs
from attrs import Attribute, field, frozen
from attrs.validators import optional

from trimtab.budget import KEEP, LIMIT, Budget
from trimtab.codecs.declare import pointers
from trimtab.errors import BadBudget, PointerError, PolicyError
from trimtab.focus import query_of
from trimtab.marker import TOOL_NAME
from trimtab.pointer import follow, parse_pattern, resolve
from trimtab.types import Codec, Json

__all__ = ["McpPolicy", "MetaTool", "PluginPolicy", "Policy", "ToolPolicy"]


def _kind(*kinds: type, optional: bool = False) -> Any:
    names = " or ".join(
        "a whole number" if kind is int else {str: "a string", bool: "true or false"}[kind] for kind in kinds
    )

    def check(_: object, attribute: Attribute[Any], value: object) -> None:
        if (optional and value is None) or (
            isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        ):
            return
        raise PolicyError(f"{attribute.name} must be {names}, not {value!r:.80}")

    return check


def _one_of(*allowed: str) -> Any:
    def check(_: object, attribute: Attribute[Any], value: object) -> None:
        if value not in allowed:
            raise PolicyError(f"{attribute.name} must be one of {', '.join(map(repr, allowed))}, not {value!r:.80}")

    return check


def _frozen_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _strings(_: object, attribute: Attribute[Any], value: object) -> None:
    if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
        raise PolicyError(f"{attribute.name} must be a list of strings, not {value!r:.80}")


def _tool_name(_: object, attribute: Attribute[Any], value: object) -> None:
    if not isinstance(value, str) or (value and TOOL_NAME.fullmatch(value) is None):
        raise PolicyError(
            f"{attribute.name} must be a tool name ([A-Za-z0-9_.-], 1 to 64 chars) or '', not {value!r:.80}"
        )


def _pointer(_: object, attribute: Attribute[Any], value: object) -> None:
    try:
        parse_pattern(str(value))
    except PointerError as error:
        raise PolicyError(f"{attribute.name}: {error}") from error


@frozen(kw_only=True)
class ToolPolicy:
    """What holds for one tool, or for those a glob names.

    Args:
        limit, keep, cap: as in `Budget`; None: the policy's.
        bulk: patterns of the bulk texts, as in `["/issues/*/body"]`.
        codec: `module:name` of a codec, or the name of the plugin whose codec is used.
        focus: pointer into the call's arguments to the text that excerpts should answer; "" turns focus off.
        exempt: treat it as a read-back tool: whole in prompts, slim in rows.
    """

    limit: int | None = field(default=None, validator=_kind(int, optional=True))
    keep: int | None = field(default=None, validator=_kind(int, optional=True))
    cap: int | None = field(default=None, validator=_kind(int, optional=True))
    bulk: tuple[str, ...] | None = field(default=None, converter=_frozen_list, validator=optional(_strings))
    codec: str | None = field(default=None, validator=_kind(str, optional=True))
    focus: str | None = field(default=None, validator=[_kind(str, optional=True), optional(_pointer)])
    exempt: bool = field(default=False, validator=_kind(bool))

    def declared_codec(self) -> Codec | None:
        """The codec of `bulk`, or the imported one of `codec`; None when neither is set (or a plugin is named).

        Raises:
            PolicyError: a pattern is malformed, or the codec cannot be imported.
        """
        if self.bulk is not None:
            try:
                return pointers(self.bulk)
            except PointerError as error:
                raise PolicyError(f"bulk: {error}") from error
        if self.codec is None or ":" not in self.codec:
            return None
        module, _, name = self.codec.partition(":")
        try:
            codec: Codec = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise PolicyError(f"codec {self.codec!r} cannot be imported: {error}") from error
        if not callable(codec):
            raise PolicyError(f"codec {self.codec!r} is not callable")
        return codec


@frozen(kw_only=True)
class MetaTool:
    """A tool that calls another: pointers into its arguments to the inner tool's name and arguments."""

    name: str = field(validator=[_kind(str), _pointer])
    arguments: str = field(validator=[_kind(str), _pointer])


@frozen(kw_only=True)
class PluginPolicy:
    """Which plugins load, by entry-point name: `only` these (None: all), never those in `block`."""

    only: tuple[str, ...] | None = field(default=None, converter=_frozen_list, validator=optional(_strings))
    block: tuple[str, ...] = field(default=(), converter=_frozen_list, validator=_strings)

    def allows(self, name: str) -> bool:
        """Whether the entry point of this name may load."""
        return (self.only is None or name in self.only) and name not in self.block


@frozen(kw_only=True)
class McpPolicy:
    """For the MCP proxy: which tools are trimmed (globs), and which are listed only when asked for."""

    tools: tuple[str, ...] | None = field(default=None, converter=_frozen_list, validator=optional(_strings))
    defer: tuple[str, ...] = field(default=(), converter=_frozen_list, validator=_strings)


def _plugins(value: object) -> PluginPolicy:
    built: PluginPolicy = _build(PluginPolicy, value, "plugins")
    return built


def _mcp(value: object) -> McpPolicy:
    built: McpPolicy = _build(McpPolicy, value, "mcp")
    return built


def _tables(kind: type, value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise PolicyError(f"{place}: expected tables, not {value!r:.80}")
    return {str(name): _build(kind, one, f"{place}.{name}") for name, one in value.items()}


def _tools(value: object) -> Mapping[str, ToolPolicy]:
    return _tables(ToolPolicy, value, "tools")


def _options(value: object) -> dict[str, dict[str, Any]]:
    if not isinstance(value, Mapping):
        raise PolicyError(f"summarizers: expected tables, not {value!r:.80}")
    for name, one in value.items():
        if not isinstance(one, Mapping):
            raise PolicyError(f"summarizers.{name}: expected a table of its options, not {one!r:.80}")
    return {str(name): dict(one) for name, one in value.items()}


def _meta(value: object) -> Mapping[str, MetaTool]:
    return _tables(MetaTool, value, "meta")


@frozen(kw_only=True)
class Policy:
    """Everything an application decides. Made in code, or read by `Policy.load`.

    Args:
        limit, keep, unit, counter, batch, cap: the budget of every tool (see `Budget`).
        store: store URL for `Host.load`; None: `memory:`.
        read_tool: name of the read-back tool, which the application offers (`host.read_tools`); "": it offers none.
        search_tool: name of the search tool that goes with it; "": none.
        read_aliases: other names under which the model sees them.
        without_read_back: "whole": nothing is trimmed when there is no read-back tool; "trim": it is.
        unsupported: "error": an output that is not JSON raises; "whole": it passes as it is.
        summarizer: name of the summarizer that `host.summarizer()` makes, for folds; None: `extractive`.
        summarizers: options of summarizers, by name.
        tools: by exact name or glob; the later table wins, whole.
        meta: tools that call other tools, by name.

    Raises:
        PolicyError: a value of the wrong type, or numbers that contradict one another.
    """

    limit: int = field(default=LIMIT, validator=_kind(int))
    keep: int = field(default=KEEP, validator=_kind(int))
    unit: Literal["chars", "tokens"] = field(default="chars", validator=_one_of("chars", "tokens"))
    counter: str = field(default="estimate", validator=_kind(str))
    batch: int | None = field(default=None, validator=_kind(int, optional=True))
    cap: int | None = field(default=None, validator=_kind(int, optional=True))
    store: str | None = field(default=None, validator=_kind(str, optional=True))
    read_tool: str = field(default="fs_read", validator=_tool_name)
    search_tool: str = field(default="fs_search", validator=_tool_name)
    read_aliases: tuple[str, ...] = field(default=(), converter=_frozen_list, validator=_strings)
    without_read_back: Literal["whole", "trim"] = field(default="whole", validator=_one_of("whole", "trim"))
    unsupported: Literal["error", "whole"] = field(default="error", validator=_one_of("error", "whole"))
    summarizer: str | None = field(default=None, validator=_kind(str, optional=True))
    summarizers: Mapping[str, Mapping[str, Any]] = field(factory=dict, converter=_options, repr=False)
    tools: Mapping[str, ToolPolicy] = field(factory=dict, converter=_tools)
    meta: Mapping[str, MetaTool] = field(factory=dict, converter=_meta)
    plugins: PluginPolicy = field(factory=PluginPolicy, converter=_plugins)
    mcp: McpPolicy = field(factory=McpPolicy, converter=_mcp)

    def __attrs_post_init__(self) -> None:
        try:
            self.budget()
        except BadBudget as error:
            raise PolicyError(str(error)) from error
        if self.keep > self.limit and self.keep != KEEP:
            raise PolicyError(f"keep ({self.keep}) is above limit ({self.limit}); set both")
        for name, own in self.tools.items():
            try:
                self._budget(own)
                own.declared_codec()
            except (BadBudget, PolicyError) as error:
                raise PolicyError(f"tools.{name}: {error}") from error

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Policy:
        """Read a TOML file: its `[tool.trimtab]` table where it has one (pyproject.toml), else all of it.

        Raises:
            PolicyError: unreadable, not TOML, an unknown key (the nearest right one is named), a wrong value.
        """
        name = str(path)
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise PolicyError(f"{name}: cannot read the policy: {why}") from error
        inner = table.get("tool", {}).get("trimtab") if isinstance(table.get("tool"), dict) else None
        if inner is None:
            inner = {} if Path(path).name == "pyproject.toml" else table
        try:
            return cls.from_mapping(inner)
        except (PolicyError, BadBudget) as error:
            raise PolicyError(f"{name}: {error}") from error

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> Policy:
        """A policy from a mapping with TOML's shape. Raises PolicyError as `load`."""
        policy: Policy = _build(cls, table, "")
        return policy

    def for_tool(self, tool: str) -> ToolPolicy | None:
        """The last table whose name or glob fits the tool."""
        fitting = [one for name, one in self.tools.items() if name == tool or fnmatchcase(tool, name)]
        return fitting[-1] if fitting else None

    def budget(self, tool: str | None = None) -> Budget:
        """The budget of a tool. A tool's `limit` under the general `keep` brings `keep` down with it."""
        return self._budget(None if tool is None else self.for_tool(tool))

    def _budget(self, own: ToolPolicy | None) -> Budget:
        limit = own.limit if own and own.limit is not None else self.limit
        keep = own.keep if own and own.keep is not None else min(self.keep, limit)
        return Budget(
            unit=self.unit,
            limit=max(limit, keep) if own and own.limit is None else limit,
            keep=keep,
            batch=self.batch,
            cap=own.cap if own and own.cap is not None else self.cap,
            counter=self.counter,
        )

    def is_read_tool(self, tool: str) -> bool:
        """Whether a tool reads back: exempt in prompts and batches. By name only."""
        own = self.for_tool(tool)
        return tool in self.read_names or (own is not None and own.exempt)

    @property
    def read_names(self) -> tuple[str, ...]:
        """Every name under which the model sees the read-back and search tools; without the one there is no other."""
        own = (self.read_tool, self.search_tool) if self.read_tool else ()
        return tuple(name for name in (*own, *self.read_aliases) if name)

    def reader(self) -> str | None:
        """The name for the markers, or None where there is no read-back tool."""
        return self.read_tool or None

    def trims(self) -> bool:
        """Whether anything is trimmed at all: there is a read-back tool, or the policy trims without one."""
        return bool(self.read_tool) or self.without_read_back == "trim"

    def inner_call(self, tool: str, arguments: Json) -> tuple[str, Json]:
        """Tool name and arguments that codec and focus see: those of the inner call where the tool is a meta-tool."""
        meta = self.meta.get(tool)
        if meta is None:
            return tool, arguments
        name = _pointed(arguments, meta.name)
        return (name, _pointed(arguments, meta.arguments)) if isinstance(name, str) and name else (tool, arguments)

    def focus_of(self, tool: str, arguments: Json) -> str | None:
        """What the excerpts of a call's output should answer, from its own arguments; None: nothing in particular."""
        own = self.for_tool(tool)
        if own is None or own.focus is None:
            return query_of(arguments)
        pointed = _pointed(arguments, own.focus) if own.focus else None
        return pointed if isinstance(pointed, str) and pointed else None


def _pointed(arguments: Json, pointer: str) -> Json:
    """What a pointer leads to in the arguments, or None: a call may leave any argument out."""
    try:
        return resolve(arguments, follow(arguments, pointer))
    except PointerError:
        return None


def _build(kind: Any, table: object, place: str) -> Any:
    """One policy object from a table; an unknown key is an error that names the nearest right one."""
    if isinstance(table, kind):
        return table
    where = f"{place}: " if place else ""
    if not isinstance(table, Mapping):
        raise PolicyError(f"{where}expected a table, not {table!r:.80}")
    known = [one.name for one in attrs.fields(kind)]
    for key in table:
        if key not in known:
            near = get_close_matches(str(key), known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            raise PolicyError(f"{where}unknown key {key!r:.80}; {hint}")
    for one in attrs.fields(kind):
        if one.default is attrs.NOTHING and one.name not in table:
            raise PolicyError(f"{where}the key {one.name!r} is missing")
    try:
        return kind(**table)
    except (TypeError, PolicyError, BadBudget) as error:
        raise PolicyError(f"{where}{error}") from error
