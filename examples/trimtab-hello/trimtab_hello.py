"""trimtab for ticket_search, a made-up tool that returns `{"tickets": [{"id": …, "title": …, "body": …}], "total": …}`.

An output of another shape, as an error object, is not this codec's: trimtab then looks for long strings itself.
"""

from collections.abc import Iterable

from trimtab import hookimpl
from trimtab.codecs import Codec, entities

# Bodies may be shortened. Ids, titles and all else stay.
ticket_search = entities("/tickets/*/body")


@hookimpl
def trimtab_codecs() -> Iterable[tuple[str, Codec]]:
    """The codecs of this package, by tool name or by glob, as in `mcp__tickets__*`."""
    return [("ticket_search", ticket_search)]
