"""Where a command finds its policy and its store.

Policy: `--policy`, else `./trimtab.toml`, else the table `[tool.trimtab]` of `./pyproject.toml`, else the defaults.
Store: `--store`, else the environment's `TRIMTAB_STORE`, else the policy's `store`, else `trimtab.db` in this folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from trimtab.blobs.open import StoreFactory, open_store, parse_store_url
from trimtab.errors import CallerError, StoreUnavailable
from trimtab.types import BlobStore

if TYPE_CHECKING:
    from trimtab.cli.options import Places
    from trimtab.host import Host
    from trimtab.policy import Policy

__all__ = ["DEFAULT_STORE", "STORE_VARIABLE", "find_policy", "load_policy", "open_host"]

DEFAULT_STORE: Final = "sqlite:///trimtab.db"
STORE_VARIABLE: Final = "TRIMTAB_STORE"

_TABLE: Final = b"tool.trimtab"


def find_policy() -> str | None:
    """The policy file of this folder, or None."""
    if os.path.isfile("trimtab.toml"):
        return "trimtab.toml"
    try:
        with open("pyproject.toml", "rb") as file:
            return "pyproject.toml" if _TABLE in file.read() else None
    except OSError:
        return None


def load_policy(path: str | None) -> tuple[Policy, str | None]:
    """The policy, and the file it was read from.

    Raises:
        PolicyError: unreadable, or something in it is wrong.
    """
    from trimtab.policy import Policy

    found = path if path is not None else find_policy()
    return (Policy() if found is None else Policy.load(found)), found


def open_host(places: Places, *, reading: bool = True) -> tuple[Host, str]:
    """A host with plugins, policy and store, and the store's URL.

    Args:
        reading: the store must be there already. Otherwise one that was named is opened at once, and the usual one of
            this folder when a text is first stored, and not before.

    Raises:
        PolicyError: the policy or the store's URL cannot be read.
        StoreUnavailable: the store cannot be opened for reading.
        CallerError: there is no store to read, or the one that was named cannot be opened for writing.
    """
    from trimtab.host import Host

    policy, _ = load_policy(places.policy)
    named = places.store or os.environ.get(STORE_VARIABLE) or policy.store
    url = named or DEFAULT_STORE
    if reading:
        _must_exist(url)
        return Host.load(store=url, policy=policy), url
    when_used = _WhenUsed(url)
    host = Host.load(store=cast("BlobStore", when_used), policy=policy)
    when_used.stores = host.registry.blob_stores
    if named:
        try:
            when_used.open()
        except StoreUnavailable as error:  # before anything is trimmed and printed
            host.close()
            raise CallerError(str(error)) from error
    return host, url


def _must_exist(url: str) -> None:
    scheme, path = parse_store_url(url)
    if scheme == "memory":
        raise CallerError("a store in memory ends with the command that wrote it; name another one with --store")
    if scheme in ("sqlite", "file") and not os.path.exists(path):
        raise CallerError(
            f"there is no store at {path}; name the one that the text was put into with --store, or in "
            f"{STORE_VARIABLE}, or call this in the folder where `trimtab trim` was called"
        )


class _WhenUsed:
    """A store that is opened at its first use: a command that stores nothing leaves no file behind."""

    def __init__(self, url: str) -> None:
        self.stores: Mapping[str, StoreFactory] = {}
        self._url = url
        self._opened: BlobStore | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.open(), name)

    def open(self) -> BlobStore:
        """The store, opened. Raises PolicyError, StoreUnavailable."""
        if self._opened is None:
            self._opened = open_store(self._url, self.stores)
        return self._opened

    def close(self) -> None:
        """Close the store, if it was opened."""
        if self._opened is not None:
            self._opened.close()
