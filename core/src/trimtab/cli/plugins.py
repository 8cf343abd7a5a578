"""`trimtab plugins`: what loaded, from where, what it provides; what did not, why, and what to do about it.

The command and its help are `trimtab.cli.listing`. This imports neither cyclopts nor rich, and the policy only where
there is one: it answers before they could.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from trimtab.cli import streams
from trimtab.cli.commands import RESERVED
from trimtab.cli.places import find_policy
from trimtab.discovery import Broken, Conflict, Plugin, Registry, load
from trimtab.tokens import VOCABULARIES
from trimtab.version import __version__

if TYPE_CHECKING:
    from traceback import TracebackException

    from trimtab.policy import Policy

__all__ = ["advice", "tell"]

_INDENT = "  "

# The module that the exact token counters import, and the extra that installs it.
_EXACT: Final = "splintr"
_EXTRA: Final = "trimtab[tokens]"

# What stands in the path of the frames between us and a plugin's own module.
_IMPORTING: Final = ("<frozen importlib", "/importlib/")


def tell(*, json: bool = False, policy: str | None = None, debug: bool = False) -> int:
    """Print what `trimtab plugins` prints, and give its exit code.

    Raises:
        PolicyError: the policy cannot be read.
    """
    allowed = _policy(policy)
    registry = load(None if allowed is None else allowed.plugins)
    conflicts = [*registry.conflicts, *_taken(registry.plugins)]
    unknown = [] if allowed is None else registry.unknown_in(allowed)
    if json:
        from json import dumps

        print(dumps(_as_data(registry, conflicts, unknown), ensure_ascii=False, indent=2))
    else:
        for line in _lines(registry, conflicts, unknown, debug):
            print(line)
    return 1 if registry.broken or unknown else 0


def _policy(given: str | None) -> Policy | None:
    """The policy; None where there is none: all plugins may load."""
    path = given if given is not None else find_policy()
    if path is None:
        return None
    from trimtab.policy import Policy

    return Policy.load(path)


def _taken(plugins: Sequence[Plugin]) -> list[Conflict]:
    """Commands of plugins that have the name of one of ours."""
    return [
        Conflict(what=f"command {name!r}", used="trimtab", unused=one.name)
        for one in plugins
        for name in one.provides.get("commands", ())
        if name in RESERVED
    ]


def _as_data(registry: Registry, conflicts: Sequence[Conflict], unknown: Sequence[str]) -> dict[str, Any]:
    return {
        "version": __version__,
        "plugins": [
            {
                "name": one.name,
                "distribution": one.distribution,
                "version": one.version,
                "provides": {kind: list(names) for kind, names in one.provides.items()},
                "needs": _needs(one),
            }
            for one in registry.plugins
        ],
        "conflicts": [{"what": one.what, "used": one.used, "unused": one.unused} for one in conflicts],
        "broken": [
            {
                "name": one.name,
                "distribution": one.distribution,
                "version": one.version,
                "error": type(one.cause).__name__,
                "message": str(one.cause),
                "advice": advice(one),
            }
            for one in registry.broken
        ],
        "unknown": list(unknown),
    }


def _lines(registry: Registry, conflicts: Sequence[Conflict], unknown: Sequence[str], debug: bool) -> Iterator[str]:
    paint = _Paint(streams.colours(sys.stdout))
    width = _width()
    for plugin in registry.plugins:
        yield from _loaded(plugin, paint, width)
    for conflict in conflicts:
        yield ""
        yield paint("33;1", f"conflict: {conflict.what}")
        yield from _wrapped(_chosen(conflict), width)
    for broken in registry.broken:
        yield ""
        yield paint("31;1", f"broken: {broken.name}") + f"  {_origin(broken)}"
        yield from _wrapped(f"{_sentence(_cause(broken.cause))} {advice(broken)}", width)
        if debug:
            yield from (_INDENT + line for line in _traceback(broken.cause))
    for one in unknown:
        yield ""
        yield paint("31;1", "unknown: in the policy")
        yield from _wrapped(one, width)
    yield ""
    yield _summary(registry, len(conflicts), len(unknown))


def _loaded(plugin: Plugin, paint: _Paint, width: int) -> Iterator[str]:
    yield paint("32;1", plugin.name) + f"  {_origin(plugin)}"
    column = max(map(len, plugin.provides), default=0)
    needs = _needs(plugin)
    for kind, provided in plugin.provides.items():
        names = [f"{name} (needs {needs[name]})" if name in needs else name for name in provided]
        head = f"{_INDENT}{kind:<{column}}  "
        listed = textwrap.wrap(
            streams.printable(", ".join(names)), width - len(head), break_long_words=False, break_on_hyphens=False
        )
        for number, line in enumerate(listed):
            yield (paint("2", head) if number == 0 else " " * len(head)) + line
    if not plugin.provides:
        yield f"{_INDENT}provides nothing"


def _needs(plugin: Plugin) -> dict[str, str]:
    """Of what the built-in plugin provides, what cannot be used as trimtab is installed, and the extra it needs."""
    if plugin.name != "trimtab" or find_spec(_EXACT) is not None:
        return {}
    return {name: _EXTRA for name in plugin.provides.get("token counters", ()) if name in VOCABULARIES}


def _traceback(cause: BaseException) -> list[str]:
    """The lines of a traceback, from the plugin's own module on: Python's importing of it says nothing."""
    from traceback import TracebackException

    told = TracebackException.from_exception(cause)
    _leave_out_importing(told)
    return "".join(told.format()).rstrip("\n").split("\n")


def _leave_out_importing(told: TracebackException | None) -> None:
    while told is not None:
        told.stack[:] = [frame for frame in told.stack if not _is_importing(frame.filename)]
        _leave_out_importing(told.__cause__)
        told = told.__context__


def _is_importing(file: str) -> bool:
    return any(part in file.replace("\\", "/") for part in _IMPORTING)


def _origin(one: Plugin | Broken) -> str:
    return streams.printable(f"{one.distribution} {one.version}".rstrip(" "))


def _chosen(conflict: Conflict) -> str:
    text = f"{conflict.used} is used, {conflict.unused} is not."
    if conflict.what.startswith("codec "):
        tool = conflict.what.removeprefix("codec ").replace("'", '"')
        table = f"[tool.trimtab.tools.{tool}]"
        return f'{text} To use the other, say so in the policy: {table} codec = "{conflict.unused}".'
    if conflict.used == "trimtab":
        return f"{text} Ask its author for another name."
    return f"{text} To use the other, block the first: {_block(conflict.used)}."


def _block(name: str) -> str:
    return f'[tool.trimtab.plugins] block = ["{name}"]'


def _cause(cause: BaseException) -> str:
    """What a plugin raised, in a line."""
    if isinstance(cause, SystemExit):
        return f"It called sys.exit({cause.code!r:.80}) while it was loaded"
    text = " ".join(streams.printable(str(cause)).split())[:400]
    return f"{type(cause).__name__}: {text}" if text else type(cause).__name__


def advice(broken: Broken) -> str:
    """What to do about a plugin that did not load."""
    cause, name = broken.cause, broken.distribution
    if isinstance(cause, ModuleNotFoundError) and cause.name:
        top = cause.name.partition(".")[0]
        first = f"Install what it needs: pip install --upgrade '{name}', or the package that has the module {top!r}"
    elif isinstance(cause, ImportError | AttributeError):
        first = f"It does not fit what is installed: pip install --upgrade '{name}' trimtab"
    elif type(cause).__name__ == "BrokenPlugin":
        first = f"Update it (pip install --upgrade '{name}') or mend it as the message says"
    else:
        first = f"Update it (pip install --upgrade '{name}'), or tell its author what `trimtab plugins --debug` shows"
    return f"{first}. Until then, keep it out: {_block(broken.name)}."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _summary(registry: Registry, conflicts: int, unknown: int) -> str:
    counts = [f"{len(registry.plugins)} loaded"]
    if conflicts:
        counts.append(f"{conflicts} {'conflict' if conflicts == 1 else 'conflicts'}")
    if registry.broken:
        counts.append(f"{len(registry.broken)} broken")
    if unknown:
        counts.append(f"{unknown} unknown")
    return f"trimtab {__version__}: {', '.join(counts)}"


def _width() -> int:
    """Columns to write in: the terminal's, at most 100."""
    try:
        return max(40, min(os.get_terminal_size(sys.stdout.fileno()).columns, 100))
    except (OSError, ValueError):  # no terminal
        return 100


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in textwrap.wrap(text, width - len(_INDENT), break_long_words=False, break_on_hyphens=False):
        yield _INDENT + line


class _Paint:
    """Colours by their SGR codes, or nothing at all."""

    def __init__(self, on: bool) -> None:
        self._on = on

    def __call__(self, codes: str, text: str) -> str:
        text = streams.printable(text)
        return f"\x1b[{codes}m{text}\x1b[0m" if self._on else text
