"""What users may import: the names that `__all__` promises are the names that are there."""

from __future__ import annotations

import ast
import importlib
import types
from pathlib import Path

import pytest

import trimtab

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [ROOT / "core" / "src", *sorted((ROOT / "plugins").glob("*/src"))]

PROMISED = {
    "ALL",
    "Budget",
    "Call",
    "Citation",
    "Host",
    "Page",
    "Policy",
    "Trimmed",
    "TrimtabError",
    "UnsupportedOutput",
    "hookimpl",
}


def public_modules() -> list[str]:
    """Every module of ours without an underscore in its name."""
    names = []
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            words = path.relative_to(source).with_suffix("").parts
            words = words[:-1] if words[-1] == "__init__" else words
            if not any(word.startswith("_") for word in words):
                names.append(".".join(words))
    return names


def defined(module: str) -> set[str]:
    """Names of the public functions and classes that a module defines itself."""
    path = Path(str(importlib.import_module(module).__file__))
    body = ast.parse(path.read_text(encoding="utf-8")).body
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in body if isinstance(node, kinds) and not node.name.startswith("_")}


def test_the_top_level_is_what_the_documentation_promises() -> None:
    """`trimtab` has the documented names, and no public name that it does not list."""
    there = {
        name
        for name in dir(trimtab)
        if not name.startswith("_")
        and not isinstance(getattr(trimtab, name), types.ModuleType)
        and name != "annotations"
    }
    assert PROMISED - set(trimtab.__all__) == set()
    assert set(trimtab.__all__) == there | {"__version__"}
    assert list(trimtab.__all__) == sorted(trimtab.__all__)


@pytest.mark.parametrize("module", public_modules())
def test_a_public_module_lists_its_names(module: str) -> None:
    """A public module's `__all__` holds only what exists, once, and no function or class of its own is forgotten.

    That it is sorted is checked by ruff (RUF022: constants, classes, functions).
    """
    loaded = importlib.import_module(module)
    own = defined(module)
    listed = getattr(loaded, "__all__", None)
    assert listed is not None or not own, f"{module} has no __all__; it defines {sorted(own)}"
    names = list(listed or ())
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(loaded, name)] == []
    assert own - set(names) == set()


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_types_are_shipped(source: Path) -> None:
    """Each distribution tells type checkers that it is typed."""
    (package,) = (path for path in source.iterdir() if (path / "__init__.py").exists())
    assert (package / "py.typed").is_file()
