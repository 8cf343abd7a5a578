"""What every store checks at its door: blob ids, handles, owners, times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from trimtab.errors import CallerError

__all__ = ["admit", "check_grace", "check_owner", "ids_of", "is_handle", "is_id"]

# Lower case only: an id is a key, and one text must not have two.
_ID = re.compile("[0-9a-f]{32}")
_HANDLE = re.compile("[0-9a-f]{16,32}")


def is_id(blob_id: str) -> bool:
    """Whether it has the form of a blob id. What has not is in no store, so asking for it is a lost blob."""
    return _ID.fullmatch(blob_id) is not None


def ids_of(ids: Iterable[str]) -> list[str]:
    """Those that have the form of a blob id, each once, in order."""
    return list(dict.fromkeys(filter(is_id, ids)))


def is_handle(handle: str) -> bool:
    """Whether it has the form of a handle: 16 to 32 hex digits."""
    return _HANDLE.fullmatch(handle) is not None


def check_owner(owner: object) -> str:
    """Any string is an owner. Raises CallerError for anything else, `ALL` too: it only reads."""
    if not isinstance(owner, str):
        raise CallerError(f"an owner is a string, not {type(owner).__name__}; pass a conversation's or message's id")
    return owner


def check_grace(grace: float) -> float:
    """Seconds, 0 or more. Raises CallerError."""
    if not grace >= 0:
        raise CallerError(f"grace is a number of seconds, 0 or more, not {grace}")
    return grace


def admit(blobs: Mapping[str, str], owner: object) -> dict[str, str]:
    """What may be put, read from the mapping once. Raises CallerError before anything is stored."""
    check_owner(owner)
    texts = dict(blobs.items())
    for blob_id, text in texts.items():
        if not isinstance(blob_id, str) or not is_id(blob_id):
            raise CallerError(f"not a blob id: {str(blob_id)[:40]!r}; a blob id is 32 hex digits in lower case")
        if not isinstance(text, str):
            raise CallerError(f"only text can be stored: {blob_id} is {type(text).__name__}, not str")
    return texts
