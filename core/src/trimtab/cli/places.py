"""Where a command finds its policy and its store.

Policy: `--policy`, else `./trimtab.toml`, else the table `[tool.trimtab]` of `./pyproject.toml`, else the defaults.
Store: `--store`, else the environment's `TRIMTAB_STORE`, else the policy's `store`, else `trimtab.db` in this folder.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from attrs import frozen

from trimtab.errors import CallerError

if TYPE_CHECKING:
    from trimtab.host import Host
    from trimtab.policy import Policy

__all__ = ["DEFAULT_STORE", "STORE_VARIABLE", "Places", "find_policy", "load_policy", "open_host"]

DEFAULT_STORE: Final = "sqlite:///trimtab.db"
STORE_VARIABLE: Final = "TRIMTAB_STORE"

_TABLE: Final = b"tool.trimtab"


@frozen(kw_only=True)
class Places:
    """Options of every command that needs a policy or a store.

    Args:
        store: Store URL, as in sqlite:///trimtab.db or file:///folder. Default: TRIMTAB_STORE, else the policy's, else
            trimtab.db in this folder.
        policy: Policy file. Default: trimtab.toml in this folder, else [tool.trimtab] in pyproject.toml.
        debug: Show where an error was raised.
    """

    store: str | None = None
    policy: str | None = None
    debug: bool = False


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


def store_url(given: str | None, policy: Policy) -> str:
    """The URL of the store that a command uses."""
    return given or os.environ.get(STORE_VARIABLE) or policy.store or DEFAULT_STORE


def open_host(places: Places, *, reading: bool = True) -> tuple[Host, str]:
    """A host with plugins, policy and store, and the store's URL.

    Args:
        reading: the store must be there already; a command that only reads makes none.

    Raises:
        PolicyError, StoreUnavailable: as `Host.load`.
        CallerError: there is no store to read.
    """
    from trimtab.host import Host

    policy, _ = load_policy(places.policy)
    url = store_url(places.store, policy)
    if reading:
        _must_exist(url)
    return Host.load(store=url, policy=policy), url


def _must_exist(url: str) -> None:
    from trimtab.blobs.open import parse_store_url

    scheme, path = parse_store_url(url)
    if scheme == "memory":
        raise CallerError("store memory: holds nothing: it ended with the command that wrote it; give --store")
    if scheme in ("sqlite", "file") and not os.path.exists(path):
        raise CallerError(
            f"there is no store at {path}; give the one that the text was stored in with --store, or in "
            f"{STORE_VARIABLE}, or call this in the folder where `trimtab trim` was called"
        )
