"""trimtab for files: working fs_read, read_file and search tools::

from trimtab import Host
from trimtab_fs import FsTools, policy_with_fs

host = Host.load(store="sqlite:///trimtab.db", policy=policy_with_fs())
tools = FsTools(host, folders=["docs"], attachments={"notes.md": Path("uploads/17")})
definitions = tools.definitions("anthropic")
output = tools.run("fs_read", {"path": "guide.md", "line": 1}, allow=host.allow_list(rows))
"""

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from trimtab_fs.policy import policy_with_fs
    from trimtab_fs.tools import FsTools

__all__ = ["FsTools", "policy_with_fs"]

# Imported when first asked for: a host that loads the plugin needs the codecs only.
_HOMES = {"FsTools": "tools", "policy_with_fs": "policy"}

if not typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"trimtab_fs.{_HOMES[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
