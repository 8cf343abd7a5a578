"""Summarizers by name: the built-in ones and the plugins', made with the options that the policy has for them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

from trimtab.discovery import Registry
from trimtab.errors import CallerError, PluginError, PolicyError, TrimtabError
from trimtab.policy import Policy
from trimtab.telemetry import log

__all__ = ["summarizer_named", "warn_of_unknown"]

_DEFAULT: Final = "extractive"
_LINKS: Final = "links"  # of a chain: other summarizers, which a policy can only name


def warn_of_unknown(policy: Policy, registry: Registry) -> None:
    """Say in the log which summarizers a policy names that no plugin has: else nobody knows until one is asked for."""
    for unknown in registry.unknown_in(policy):
        log.warning("the policy names what no plugin has: %s", unknown)


def summarizer_named(policy: Policy, registry: Registry, name: str | None, options: Mapping[str, Any]) -> Any:
    """A new summarizer; see `Host.summarizer`."""
    return _made(policy, registry, policy.summarizer or _DEFAULT if name is None else name, options, ())


def _made(policy: Policy, registry: Registry, name: str, options: Mapping[str, Any], above: tuple[str, ...]) -> Any:
    """`above`: the chains whose link it is."""
    if name in above:
        raise PolicyError(f"summarizers: {' > '.join((*above, name))}: a chain cannot be a link of its own")
    factory = registry.summarizers.get(name)
    if factory is None:
        raise PolicyError(registry.unknown_summarizer(name))
    given = {**policy.summarizers.get(name, {}), **options}
    if isinstance(given.get(_LINKS), list | tuple):
        given[_LINKS] = [
            _made(policy, registry, link, {}, (*above, name)) if isinstance(link, str) else link
            for link in given[_LINKS]
        ]
    _check(name, factory, given)
    try:
        made = factory(**given)
    except TrimtabError:  # a wrong option, or an extra that is not installed, says so itself
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"summarizer {name!r}: its factory raised {type(error).__name__}: {error!s:.200}") from error
    if not callable(made):
        raise PluginError(f"summarizer {name!r}: its factory gave {type(made).__name__}, which cannot be called")
    if inspect.isclass(made):
        raise PluginError(f"summarizer {name!r}: its factory gave the class {made.__name__}, not one made of it")
    return made


def _check(name: str, factory: Any, given: Mapping[str, Any]) -> None:
    """Raises CallerError: the factory does not take these options, or needs others too."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # written in C: it says itself what it takes
        return
    try:
        signature.bind(**given)
    except TypeError as error:
        raise CallerError(
            f"summarizer {name!r}: {error}; its factory takes {signature}, by name, and gives the summarizer; "
            f"options stand in [summarizers.{name}] of the policy"
        ) from error
