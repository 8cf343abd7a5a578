"""`python -m trimtab` is the command `trimtab`."""

from __future__ import annotations

import sys

from trimtab.cli.start import main

if __name__ == "__main__":
    sys.exit(main())
