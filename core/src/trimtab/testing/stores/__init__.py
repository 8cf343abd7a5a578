"""`StoreContract`: what every blob store keeps, as tests that a store's own package imports and runs.

::

    from trimtab.testing import StoreContract
    from my_package import MyStore

    class TestMyStore(StoreContract):
        def make_store(self, tmp_path):
            return MyStore(tmp_path / "texts")
"""

from __future__ import annotations

from trimtab.testing.stores.holding import HoldingClaims
from trimtab.testing.stores.reading import ReadingClaims
from trimtab.testing.stores.trimming import TrimmingClaims

__all__ = ["StoreContract"]


class StoreContract(ReadingClaims, HoldingClaims, TrimmingClaims):
    """Tests of a store.

    Derive from it and override `make_store`; `reopen` too if the data outlives the store object. `examples`: how many
    texts each property is tried with.
    """
