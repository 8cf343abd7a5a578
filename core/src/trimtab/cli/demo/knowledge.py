"""The demo's knowledge base: trimtab's own documents, cut at their headings."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

import trimtab

__all__ = ["Chunk", "chunks", "documents"]


@frozen
class Chunk:
    """One section of a document: the document's path, the heading over the section, its text."""

    path: str
    title: str
    text: str


def documents() -> dict[str, str]:
    """Path to text of the documents: those packed into an installed trimtab, else those of the checkout around it.

    Raises:
        FileNotFoundError: neither is there.
    """
    package = Path(trimtab.__file__).resolve().parent
    checkout = package.parents[2]
    for root in (package / "_docs", checkout if (checkout / "core" / "pyproject.toml").is_file() else None):
        if root is not None and root.is_dir():
            paths = sorted([*root.glob("*.md"), *root.glob("docs/*.md")])
            return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    raise FileNotFoundError("trimtab's documents are not here: install trimtab from a wheel or a checkout")


def chunks() -> list[Chunk]:
    """Every section of every document, in order."""
    return [chunk for path, text in documents().items() for chunk in _sections(path, text)]


def _sections(path: str, text: str) -> list[Chunk]:
    found: list[Chunk] = []
    lines: list[str] = []
    title, in_code = path, False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code:
            found.append(Chunk(path, title, "\n".join(lines)))
            title, lines = line.strip("# "), []
        lines.append(line)
    found.append(Chunk(path, title, "\n".join(lines)))
    return [one for one in found if one.text.strip("\n ")]
