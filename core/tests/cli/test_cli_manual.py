"""The reference in docs is what the help says."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from trimtab.cli.commands import COMMANDS
from trimtab.cli.manual import manual

ROOT = Path(__file__).resolve().parents[3]


def test_the_reference_is_up_to_date() -> None:
    """docs/cli.md is what `python -m trimtab.cli.manual` writes with the pinned cyclopts."""
    reference = ROOT / "docs" / "cli.md"
    if not reference.is_file():
        pytest.skip("not in a checkout")
    pinned = re.search(r"^cyclopts==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    if pinned is None or pinned[1] != version("cyclopts"):
        pytest.skip("another cyclopts than the pinned one may write help in another way")
    assert reference.read_text(encoding="utf-8") == manual()


def test_options_are_written_alike() -> None:
    """No option has a `--no-…` or shows Python's spelling of a default, and what takes a value says of what kind."""
    text = manual()
    for spelling in ("--no-", "[default:", "STR`", "None"):
        assert spelling not in text


def test_the_reference_has_every_command() -> None:
    """Every command and every command of a command has a chapter."""
    text = manual()
    for name, target in COMMANDS.items():
        for inner in target if isinstance(target, dict) else [""]:
            assert f"## trimtab {name} {inner}".rstrip(" ") + "\n" in text
