"""Messages that were said, fit to be sent again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from trimtab.errors import UnsupportedOutput
from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.arguments import INVALID, as_object
from trimtab.wire.nodes import changed, member
from trimtab.wire.sites import CallSite, Site
from trimtab.wire.types import RawCall

__all__ = ["fitted", "is_blank"]

_BLANK = " \t\r\n"


def fitted(
    natives: Sequence[Json],
    calls: Iterable[RawCall],
    sites: Callable[[Json], Iterator[Site]],
    id_at: Callable[[Path], Path | None],
) -> list[Json]:
    """The messages, with an object for arguments that no provider takes, and an id for each call that came without.

    Args:
        natives: messages of the assistant, new ones.
        calls: their calls as they were given out, each with an id.
        sites: where a list of messages has calls.
        id_at: where the id of a call belongs, by the path of its arguments; None: the wire does without.
    """
    given = list(natives)
    left = iter(calls)
    changes: dict[Path, Json] = {}
    for site in sites(given):
        if not isinstance(site, CallSite) or site.hidden:
            continue
        call = next((one for one in left if one.name == site.name and site.call_id in ("", one.call_id)), None)
        if site.by_provider:
            continue
        if not site.stands(site.raw):
            changes[site.path] = _fit(site)
        where = id_at(site.path)
        if not site.call_id and call is not None and where is not None:
            changes[where] = call.call_id
    return list(changed(given, changes))


def _fit(site: CallSite) -> Json:
    """An object in the place of arguments that no provider takes."""
    try:
        return site.spell(as_object(site.raw))
    except UnsupportedOutput:  # an object that is no JSON: infinite numbers, say
        return site.spell({INVALID: f"({type(site.raw).__name__})"})


def is_blank(block: Json) -> bool:
    """Whether a block has nothing but a text, with nothing in it: providers refuse to take those back."""
    said = member(block, "text")
    return isinstance(said, str) and not said.strip(_BLANK)
