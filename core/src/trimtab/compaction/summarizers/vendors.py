"""What the summarizers of vendors' libraries have in common."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire import WireProtocol
from trimtab.wire.lookup import shape_of

__all__ = ["client_of", "known_window", "replied", "spoken"]


def client_of(make: Callable[..., Any], name: str, *, base_url: str | None, api_key: str | None) -> Any:
    """A client that does not try again by itself and has no time limit: both are the fold's business.

    Raises:
        CallerError: the library does not take these.
    """
    try:
        return make(base_url=base_url, api_key=api_key, max_retries=0, timeout=None)
    except Exception as error:
        raise CallerError(
            f"{name} makes no client ({type(error).__name__}: {error!s:.200}); pass api_key, base_url or client"
        ) from error


def known_window(model: str, windows: Mapping[str, int]) -> int | None:
    """Tokens that a model takes in, by the longest beginning of its name in a table; None: not known."""
    found = [name for name in windows if model.startswith(name)]
    return windows[max(found, key=len)] if found else None


def replied(response: Any, read: Callable[[Any], str | None]) -> str | Awaitable[str | None] | None:
    """The text of a response, or of one that is still to be awaited."""

    async def later() -> str | None:
        return read(await response)

    return later() if inspect.isawaitable(response) else read(response)


def spoken(protocol: str | WireProtocol, response: Json) -> str | None:
    """What the assistant says in a whole response; None: no text."""
    shape = shape_of(protocol, None)
    parts = (part for message in shape.read(shape.said(response)) for part in message.of("text"))
    return "\n".join(part.text for part in parts) or None
