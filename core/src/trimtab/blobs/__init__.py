"""Where full texts live: the built-in stores and the URLs that name them."""

from __future__ import annotations

from trimtab.blobs.open import BUILTIN_STORES, StoreFactory, open_store, parse_store_url

__all__ = ["BUILTIN_STORES", "StoreFactory", "open_store", "parse_store_url"]
