"""Store URLs: `memory:`, `sqlite:///relative.db`, `sqlite:////absolute.db`, `file:///folder`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias
from urllib.parse import unquote

from trimtab.errors import PolicyError
from trimtab.types import BlobStore

__all__ = ["BUILTIN_STORES", "StoreFactory", "open_store", "parse_store_url"]

StoreFactory: TypeAlias = Callable[[str], BlobStore]
"""Opens the store that a URL names. Raises PolicyError for a URL it cannot read, StoreUnavailable."""

_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]*):")
_DRIVE = re.compile(r"/[A-Za-z]:[/\\]")
_FORMS = "`memory:`, `sqlite:///relative.db`, `sqlite:////absolute.db`, `file:///folder`"


def parse_store_url(url: str) -> tuple[str, str]:
    """The scheme of a store URL, and the path behind it.

    As with SQLAlchemy, three slashes of `sqlite:` come before a relative path and four before an absolute one; what
    follows is taken as it stands. `file:` is the usual file URL: an absolute path, `%20` for a blank. A Windows
    path may follow the three slashes of either. Of another scheme's URL, what follows the colon.

    Raises:
        PolicyError: no scheme, or a path that the scheme does not take.
    """
    found = _SCHEME.match(url)
    if found is None or "\0" in url:
        raise PolicyError(f"not a store URL: {url[:200]!r}; write one of {_FORMS}")
    scheme, rest = found[1], url[found.end() :]
    if scheme == "memory" and rest.strip("/"):
        raise PolicyError(
            f"`memory:` takes no path: {url[:200]!r}; for a file write `sqlite:///{rest.strip('/')[:100]}`"
        )
    if scheme not in ("sqlite", "file"):
        return scheme, "" if scheme == "memory" else rest
    if not rest.startswith("///") or len(rest) == 3:
        raise PolicyError(f"no path in the store URL {url[:200]!r}; write one of {_FORMS}")
    if scheme == "sqlite":
        return scheme, rest[3:]
    path = unquote(rest[2:])
    if "\0" in path:
        raise PolicyError(f"the store URL {url[:200]!r} has a NUL in its path; give another path")
    return scheme, path[1:] if _DRIVE.match(path) else path


def open_store(url: str, stores: Mapping[str, StoreFactory] | None = None) -> BlobStore:
    """Open the store that a URL names, with the factory of its scheme (`stores`; None: the built-in ones).

    Raises:
        PolicyError: the URL cannot be read, or no factory has its scheme; the message lists the known ones.
        StoreUnavailable: the store cannot be opened.
    """
    known = BUILTIN_STORES if stores is None else stores
    scheme, _ = parse_store_url(url)
    factory = known.get(scheme)
    if factory is None:
        listed = ", ".join(f"`{name}:`" for name in sorted(known))
        raise PolicyError(
            f"no store has the scheme of {url[:200]!r}; known: {listed}; install the plugin that brings `{scheme}:`, "
            f"or write one of {_FORMS}"
        )
    return factory(url)


def _memory(url: str) -> BlobStore:
    from trimtab.blobs.memory import MemoryStore

    parse_store_url(url)
    return MemoryStore()


def _sqlite(url: str) -> BlobStore:
    from trimtab.blobs.sqlite import SqliteStore

    return SqliteStore(parse_store_url(url)[1])


def _files(url: str) -> BlobStore:
    from trimtab.blobs.files import FileStore

    return FileStore(parse_store_url(url)[1])


# Each imports its store when it is asked for: a host in memory loads neither sqlite3 nor zstd.
BUILTIN_STORES: Final[Mapping[str, StoreFactory]] = MappingProxyType(
    {"file": _files, "memory": _memory, "sqlite": _sqlite}
)
