"""Contract suites: tests that a plugin's or a store's own package imports and runs. Needs `trimtab[testing]`."""

from __future__ import annotations

from trimtab.errors import MissingExtra

try:
    import hypothesis  # noqa: F401 (only to say early what is missing)
    import pytest
except ImportError as error:
    raise MissingExtra("trimtab.testing", extra="trimtab[testing]") from error

# Before the suites are imported: otherwise their failures say no more than "AssertionError".
pytest.register_assert_rewrite("trimtab.testing.stores")

from trimtab.testing.stores import StoreContract  # noqa: E402 (see above)

__all__ = ["StoreContract"]
