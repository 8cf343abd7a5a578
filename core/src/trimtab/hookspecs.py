"""The hooks of trimtab. A plugin is a module (or an object) with some of these functions, marked `@hookimpl`, and an
entry point in the group `trimtab` that names it.

Hooks run once, when a host loads; the hot path calls what they returned. Each plugin is called alone: one that raises
is taken out and reported in `host.broken`, the others stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import pluggy

from trimtab.types import BlobStore, Codec, TokenCounter

if TYPE_CHECKING:  # a plugin that needs only `hookimpl` does not wait for the protocols
    from trimtab.wire import WireProtocol

__all__ = [
    "ENTRY_POINT_GROUP",
    "PROJECT",
    "hookimpl",
    "hookspec",
    "trimtab_blob_stores",
    "trimtab_codecs",
    "trimtab_commands",
    "trimtab_summarizers",
    "trimtab_token_counters",
    "trimtab_wire_protocols",
]

PROJECT: Final = "trimtab"
ENTRY_POINT_GROUP: Final = "trimtab"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def trimtab_codecs() -> Iterable[tuple[str, Codec]]:
    """Codecs for tools: pairs of a tool name, or a glob of names (`mcp__*`), and a codec.

    Called once, at load. Of several codecs that fit a tool, exact names come before globs and longer globs before
    shorter ones, then plugins in the order of their names, a plugin's own pairs in the order given. Raising: the plugin
    is reported and none of its codecs are used. Example::

        @hookimpl
        def trimtab_codecs():
            yield "jira_search", entities("/issues/*/fields/description")
    """
    raise NotImplementedError


@hookspec
def trimtab_wire_protocols() -> Iterable[WireProtocol]:
    """Wire protocols: where tool calls, their raw arguments and tool results live, whole and streamed.

    Called once, at load. Each has a `name` that no other may have, and every method of `trimtab.wire.WireProtocol`;
    where two are equally sure of a request, the one that was registered first reads it. Raising: the plugin is reported
    and taken out. A method that raises later, or gives another type than it should, is a `PluginError` that names the
    protocol, for whoever asked. Example::

        @hookimpl
        def trimtab_wire_protocols():
            return [my_protocol]
    """
    raise NotImplementedError


@hookspec
def trimtab_summarizers() -> Mapping[str, Callable[..., Any]]:
    """Summarizers: a mapping of name to factory; the policy's `summarizer` names one.

    A factory takes the summarizer's own options by name (of `openai` the `model`, the `base_url`, ...), works without
    those that it can do without, and gives a `Summarize`: a function, sync or async, of a `SummaryRequest` that gives
    the summary as a text, of at most `budget` tokens. Its attribute `window`, if it has one, says how many tokens it
    takes in.

    Called once, at load; a factory when a fold first needs it. Raising: the plugin is reported and taken out. A
    summarizer that raises later, or gives no summary, is asked once more; then the history is served as it was.
    Example::

        @hookimpl
        def trimtab_summarizers():
            return {"mine": lambda model="small": partial(summarize, model)}
    """
    raise NotImplementedError


@hookspec
def trimtab_blob_stores() -> Mapping[str, Callable[[str], BlobStore]]:
    """Blob stores: a mapping of URL scheme (without the colon) to a factory that takes the whole URL.

    Called once, at load; the factory only for a host whose store URL has that scheme. Raising: the plugin is reported
    and taken out. Example::

        @hookimpl
        def trimtab_blob_stores():
            return {"redis": RedisStore}
    """
    raise NotImplementedError


@hookspec
def trimtab_token_counters() -> Mapping[str, Callable[[], TokenCounter]]:
    """Token counters: a mapping of name to factory; budgets with `unit="tokens"` name one in `counter`.

    Called once, at load; a factory when a budget first needs it. Raising: the plugin is reported and taken out. A
    counter that raises later, or gives anything but a whole number from 0, leaves that output whole.
    """
    raise NotImplementedError


@hookspec
def trimtab_commands() -> Mapping[str, Callable[..., Any]]:
    """Commands of the command line: a mapping of name to a function whose signature and docstring make the help.

    Called once, at load, which the command line does when it starts. A name that exists already is reported and not
    used. Raising: the plugin is reported and taken out.
    """
    raise NotImplementedError
