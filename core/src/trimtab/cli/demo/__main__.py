"""`python -m trimtab.cli.demo`: the demo where the command line's own dependencies are not installed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from trimtab.cli import streams
from trimtab.cli.demo import run
from trimtab.errors import CallerError, TrimtabError


def main() -> int:
    """Run the demo with the options of `sys.argv`, and give its exit code."""
    parser = argparse.ArgumentParser("python -m trimtab.cli.demo", description="Run an agent with trimtab in it.")
    parser.add_argument("--keep-dir", type=Path, help="keep the database and the blobs in this folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    options = parser.parse_args()
    streams.prepare()
    try:
        return run(keep_dir=options.keep_dir, json=options.json)
    except TrimtabError as error:
        streams.say(f"trimtab: {error}")
        return 2 if isinstance(error, CallerError) else 1


if __name__ == "__main__":
    sys.exit(main())
