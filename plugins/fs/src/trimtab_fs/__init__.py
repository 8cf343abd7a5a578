"""trimtab for files: working fs_read, read_file and search tools.

from trimtab import Host
from trimtab_fs import FsTools, policy_with_fs

host = Host.load(store="sqlite:///trimtab.db", policy=policy_with_fs())
tools = FsTools(host, folders=["docs"], attachments={"notes.md": Path("uploads/17")})
definitions = tools.definitions("anthropic")
output = tools.run("fs_read", {"path": "guide.md", "line": 1}, allow=host.allow_list(rows))
"""

from __future__ import annotations

from trimtab_fs.policy import policy_with_fs
from trimtab_fs.tools import FsTools

__all__ = ["FsTools", "policy_with_fs"]
