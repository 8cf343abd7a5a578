"""Packs the project's documents into the distribution: the demo's knowledge base is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Documents(BuildHookInterface[Any]):
    """Puts README, changelog and `docs/*.md` of the checkout beside the package's modules, as `trimtab/_docs`.

    A source distribution has them in its `src` already, and an editable install reads the checkout's.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds; `version` is `editable` for an install for editing."""
        checkout = Path(self.root).parent
        if version == "editable" or not (checkout / "dev.py").is_file():
            return
        folder = "src/trimtab/_docs" if self.target_name == "sdist" else "trimtab/_docs"
        for path in sorted([*checkout.glob("*.md"), *checkout.glob("docs/*.md")]):
            build_data["force_include"][str(path)] = f"{folder}/{path.relative_to(checkout).as_posix()}"
