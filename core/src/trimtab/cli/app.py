"""The commands, as cyclopts knows them. Each command's module is imported when it is called or its help is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from cyclopts import App, CycloptsError, UnknownCommandError

from trimtab.cli.commands import COMMANDS, HELP, RESERVED
from trimtab.cli.places import load_policy
from trimtab.cli.screen import counted
from trimtab.cli.streams import say
from trimtab.cli.usage import PLAIN, check_options, complaint
from trimtab.discovery import Registry, load
from trimtab.errors import CallerError, PolicyError
from trimtab.policy import PluginPolicy
from trimtab.version import __version__

__all__ = ["build", "run"]

_ABOUT = """Keep an agent's context small without losing anything.

A policy is taken from `--policy`, else from `trimtab.toml` here, else from `[tool.trimtab]` in `pyproject.toml`; the
store from `--store`, else from `TRIMTAB_STORE`, else from the policy, else it is `trimtab.db` in this folder.

Exit codes: 0; 1 if something failed, or a check found faults; 2 if what was asked cannot be done (options, input,
policy); 130 after Ctrl-C.
"""
_GROUPS = {"store": "Look after a store."}


def run(words: list[str]) -> int:
    """Run a command line, and give its exit code. What a command raises is raised."""
    if words[:1] == [HELP]:
        words = [*words[1:], "--help"]
    known = bool(words) and words[0] in COMMANDS
    registry = None if known else load(_plugins_allowed())
    app = build(registry, whole=not known)
    check_options(app, words)
    try:
        given = app(list(words), exit_on_error=False, print_error=False)
    except CycloptsError as error:
        commands = [*COMMANDS, *(() if registry is None else registry.commands)]
        text = complaint(error, app, words, dict.fromkeys(commands))
        broken = len(registry.broken) if registry is not None and isinstance(error, UnknownCommandError) else 0
        more = f" ({counted(broken, 'plugin')} did not load: see `trimtab plugins`)" if broken else ""
        raise CallerError(text + more) from error
    return _exit_code(given)


def build(registry: Registry | None = None, *, whole: bool = True) -> App:
    """The command line.

    Args:
        registry: brings the commands of plugins; one whose name is taken is not used (`trimtab plugins` says so).
        whole: import every command, for the help that lists them; otherwise each is imported when it is called.
    """
    app = App(
        name="trimtab",
        help=_ABOUT,
        version=f"trimtab {__version__}",
        default_parameter=PLAIN,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for place, (name, target) in enumerate(COMMANDS.items()):
        if isinstance(target, str):
            if whole:
                app.command(App(name=name, default_command=_function(target), sort_key=place))
            else:
                app.command(target, name=name)
            continue
        inner = App(name=name, help=_GROUPS[name], sort_key=place, default_parameter=PLAIN)
        for inner_place, (inner_name, inner_target) in enumerate(target.items()):
            inner.command(App(name=inner_name, default_command=_function(inner_target), sort_key=inner_place))
        app.command(inner)
    for name, function in ({} if registry is None else registry.commands).items():
        if name not in RESERVED:
            app.command(function, name=name, group="Commands of plugins")
    return app


def _function(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _plugins_allowed() -> PluginPolicy | None:
    """The policy's table of plugins; without a readable policy, all may load: help must always be shown."""
    try:
        return load_policy(None)[0].plugins
    except PolicyError as error:
        say(f"trimtab: {error}")
        return None


def _exit_code(given: Any) -> int:
    """What a command gave: an exit code, or something to print (a plugin's command)."""
    if given is None or given is True:
        return 0
    if isinstance(given, int):
        return int(given)
    sys.stdout.write(f"{given}\n")
    return 0
