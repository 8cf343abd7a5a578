"""What the summarizers of vendors' libraries have in common: a client, a window, and errors that tell no secrets."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

from attrs import Factory, field, frozen

from trimtab.compaction.asking.calling import TOO_LONG
from trimtab.compaction.types import SummaryRequest
from trimtab.errors import CallerError, MissingExtra, SummaryFailed
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

__all__ = ["VendorSummarizer"]

_UNSENDABLE: Final = re.compile("[^!-~]")  # in a header; httpx quotes the whole key where one is in it
_LEAST_KEY: Final = 8  # chars: shorter ones are stand-ins, such as "none", and stand in any sentence
_TOLD: Final = 200  # chars of an error: servers put what they were sent into theirs
_GAPS: Final = re.compile("[ \t\r\n]+")
_NOT_FOUND: Final = 404
# Folds are minutes apart: a connection that is kept is closed by then, or belongs to an event loop that is.
_HEADERS: Final = {"connection": "close"}
_NO_KEY: Final = "none"


@frozen(kw_only=True, eq=False)
class VendorSummarizer(ABC):
    """Asks a model by one request without tools.

    Attributes:
        model: the model's name, as the server knows it.
        base_url: of a compatible server; None: the vendor's, or what the environment says.
        api_key: None: what the environment says; with a `base_url` and no key there "none", as for a local server.
        is_async: whether to ask by an async client; with `client` that decides.
        client: a client of the vendor's library, the application's own; None: one is made.
        window: tokens that the model takes in; None: by its name, where that is known.
        options: more fields of the request's body, such as `temperature`.

    Raises:
        MissingExtra: the library is not installed.
        CallerError: it makes no client of this; the message says why.
    """

    vendor: ClassVar[str]
    protocol: ClassVar[str]
    windows: ClassVar[Mapping[str, int]]

    model: str
    base_url: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    is_async: bool = False
    client: Any = field(default=None, repr=False)
    _window: int | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(factory=dict, repr=False)
    _asked: Any = field(init=False, repr=False, default=Factory(lambda self: self._client(), takes_self=True))

    @property
    def window(self) -> int | None:
        """Tokens that the model takes in: as given, else by the longest beginning of its name that is known."""
        known = [name for name in self.windows if self.model.startswith(name)]
        return self.windows[max(known, key=len)] if self._window is None and known else self._window

    def __call__(self, request: SummaryRequest) -> str | Awaitable[str | None] | None:
        """What the model says; None where it refuses. Raises SummaryFailed: the library raised; it says what."""
        try:
            response = self._respond(request)
            return self._later(response) if inspect.isawaitable(response) else self._read(response)
        except Exception as error:
            raise self._failure(error) from None

    def close(self) -> Any:
        """Close the client, if it was made here; of an async one to be awaited."""
        return self._asked.close() if self.client is None else None

    @staticmethod
    def _most(request: SummaryRequest) -> int:
        """Tokens that a reply may have: as many as are taken. What is cut off earlier would be what is newest."""
        return TOO_LONG * request.budget

    @abstractmethod
    def _makers(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The library's clients, sync and async; the library is imported here."""

    @abstractmethod
    def _respond(self, request: SummaryRequest) -> Any:
        """The response, or what it is to be awaited from."""

    @abstractmethod
    def _is_withheld(self, response: Json) -> bool:
        """Whether the vendor says that the model's answer was refused or cut off for what it says."""

    async def _later(self, response: Awaitable[Any]) -> str | None:
        try:
            return self._read(await response)
        except Exception as error:
            raise self._failure(error) from None

    def _read(self, response: Json) -> str | None:
        """What the assistant says; None: no text. Some servers put an error into a response that is none."""
        if error := getattr(response, "error", None):
            raise SummaryFailed(f"the server replied with an error: {error!s}")
        if self._is_withheld(response):
            return None
        shape = shape_of(self.protocol, None)
        parts = (part for message in shape.read(shape.said(response)) for part in message.of("text"))
        return "\n".join(part.text for part in parts) or None

    def _client(self) -> Any:
        """One that does not try again by itself and has no time limit: both are the fold's business."""
        if self.client is not None:
            return self.client
        try:
            make = self._makers()[self.is_async]
        except ModuleNotFoundError as error:
            raise MissingExtra(f"the summarizer {self.vendor!r}", extra=f"trimtab[{self.vendor}]") from error
        try:
            made = self._made(make)
        except Exception as error:
            raise CallerError(
                f"{self.vendor} makes no client ({type(error).__name__}: {error!s:.200}); "
                f"pass api_key{', base_url' * (self.base_url is None)} or client"
            ) from error
        if any(map(_UNSENDABLE.search, _keys(made))):
            raise CallerError(
                f"the key for {self.vendor} has a char in it that cannot be sent, such as a line break at its end"
            )
        return made

    def _made(self, make: Callable[..., Any]) -> Any:
        """The client. The libraries refuse to make one, or to send, without a key; local servers want none."""
        fields = {"base_url": self.base_url, "max_retries": 0, "timeout": None, "default_headers": _HEADERS}
        if self.base_url is None or self.api_key is not None:
            return make(api_key=self.api_key, **fields)
        try:
            made = make(**fields)
        except Exception:  # of another cause than the key it is raised again below
            return make(api_key=_NO_KEY, **fields)
        is_keyed = any(_keys(made)) or getattr(made, "credentials", None) is not None
        return made if is_keyed else make(api_key=_NO_KEY, **fields)

    def _failure(self, error: Exception) -> SummaryFailed:
        """The error in a few words. It is not the cause: tracebacks and spans would have all of what a server said."""
        said = str(error) if isinstance(error, SummaryFailed) else f"{type(error).__name__}: {error!s}"
        if error.__cause__ is not None:  # "Connection error." alone helps nobody
            said = f"{said:.{_TOLD}} ({type(error.__cause__).__name__}: {error.__cause__!s})"
        for key in _keys(self._asked):
            said = said.replace(key, "…") if len(key) >= _LEAST_KEY else said
        said = f"{_GAPS.sub(' ', said):.{_TOLD}}"
        if getattr(error, "status_code", None) == _NOT_FOUND:
            said += f"; the path was {_path(error)}, see base_url"
        return SummaryFailed(said)


def _path(error: Exception) -> str:
    return str(getattr(getattr(getattr(error, "request", None), "url", None), "path", "?"))


def _keys(client: Any) -> Iterator[str]:
    for name in ("api_key", "auth_token"):
        key = getattr(client, name, None)
        if isinstance(key, str):
            yield key
