"""The host: what an application holds. Everything pure is below; here it meets the store, sync and async."""

from __future__ import annotations

from trimtab.host.host import Host

__all__ = ["Host"]
