"""The building plan: which part of core may import which, and which part owns which library."""

from __future__ import annotations

import ast
import graphlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from attrs import frozen

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "core" / "src"
PLUGINS = sorted((ROOT / "plugins").glob("*/src"))
LONGEST = 420

# From the ground up. A part is a file or a folder of core/src/trimtab and may import only from lower floors;
# inside one folder files may import one another. `trimtab` is the package's own `__init__`.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "version"),
    ("tables", "types"),
    ("_json",),
    ("convert", "lenient", "markdown", "marker", "measure", "pointer", "telemetry", "tokens"),
    ("budget", "envelope", "focus"),
    ("codecs", "excerpt"),
    ("blobs", "grep", "older", "policy", "render", "restore", "trim"),
    ("citations", "readback", "trimmed"),
    ("citing",),
    ("answers",),
    ("wire",),
    ("compress",),
    ("compaction",),
    ("hookspecs",),
    ("builtin",),
    ("discovery",),
    ("host",),
    ("trimtab",),
    ("adapters", "replay", "testing"),
    ("cli",),
    ("__main__",),
)

# Which parts may import a third-party library. `adapters` are about other people's libraries and may import any.
OWNERS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("compaction",),
    "attrs": tuple(part for floor in FLOORS for part in floor if part != "errors"),
    "backports": ("blobs",),
    "cattrs": ("convert",),
    "compression": ("blobs",),
    "cyclopts": ("cli",),
    "hypothesis": ("testing",),
    "jsonpointer": ("pointer",),
    "jsonschema_rs": ("compress",),
    "matplotlib": ("replay",),
    "msgspec": ("_json",),
    "openai": ("compaction",),
    "opentelemetry": ("telemetry", "testing"),
    "pluggy": ("builtin", "discovery", "hookspecs", "host"),
    "pytest": ("testing",),
    "regex": ("grep",),
    "rich": ("cli",),
    "splintr": ("tokens",),
    # The demo is an application: it uses the plugins as one would, and says what to install where they are missing.
    "trimtab_fs": ("cli",),
    "trimtab_kb": ("cli",),
    "trimtab_web": ("cli",),
}


@frozen(kw_only=True)
class Import:
    """One imported name: the module it is taken from, the 1-based line, and whether importing the file runs it."""

    module: str
    name: str | None
    line: int
    at_import: bool


def part_of(module: str) -> str:
    """The part of core that a module belongs to: `trimtab.codecs.entities` to `codecs`."""
    return module.split(".")[1] if "." in module else module


def imports(source: str) -> Iterator[Import]:
    """Every import of a file, wherever it stands."""

    def walk(node: ast.AST, at_import: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            lazy = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            typing_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(module=alias.name, name=None, line=child.lineno, at_import=at_import)
            elif isinstance(child, ast.ImportFrom):
                module = "." * child.level + (child.module or "")
                for alias in child.names:
                    yield Import(module=module, name=alias.name, line=child.lineno, at_import=at_import)
            yield from walk(child, at_import and not lazy and not typing_only)

    yield from walk(ast.parse(source), True)


def targets(found: Import, modules: Mapping[str, str]) -> list[str]:
    """The modules of ours that an import takes; a name taken from a folder may be a file of it."""
    inner = f"{found.module}.{found.name}"
    if inner in modules:
        return [inner, found.module] if found.module == "trimtab" else [inner]
    return [found.module]


def floor_faults(modules: Mapping[str, str]) -> list[str]:
    """What breaks the plan in these files of core (module name to source), a sentence for each."""
    height = {part: number for number, floor in enumerate(FLOORS) for part in floor}
    faults = []
    for module, source in sorted(modules.items()):
        part = part_of(module)
        if part not in height:
            faults.append(f"{module} has no floor: add {part!r} to FLOORS in tests/test_floors.py")
            continue
        for found in imports(source):
            place = f"{module}:{found.line}"
            if found.module.startswith("."):
                faults.append(f"{place} imports relatively; write `from trimtab.x import y`")
            elif found.module.split(".")[0] == "trimtab":
                for target in map(part_of, targets(found, modules)):
                    if target not in height:
                        faults.append(f"{place} imports {target!r}, which has no floor in tests/test_floors.py")
                    elif target != part and height[target] >= height[part]:
                        faults.append(f"{place} imports {target!r}, which is not on a lower floor than {part!r}")
            else:
                faults += library_faults(found.module.split(".")[0], part, place)
    return faults


def library_faults(library: str, part: str, place: str) -> list[str]:
    """What is wrong with importing a library, not one of ours, in a part of core."""
    if library in OWNERS:
        if part in (*OWNERS[library], "adapters"):
            return []
        return [f"{place} imports {library}, which only {', '.join(OWNERS[library])} may import"]
    if library in sys.stdlib_module_names or part == "adapters":
        return []
    return [f"{place} imports {library}, which has no owner: add it to OWNERS in tests/test_floors.py"]


def circle(modules: Mapping[str, str]) -> list[str]:
    """The modules of one import circle, in order; empty when there is none. Imports inside functions do not count."""
    graph = {
        module: {
            target
            for found in imports(source)
            if found.at_import
            for target in targets(found, modules)
            if target in modules
        }
        for module, source in modules.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def plugin_faults(modules: Mapping[str, str]) -> list[str]:
    """What a plugin imports that is not public: private names of core, or another plugin of ours."""
    faults = []
    for module, source in sorted(modules.items()):
        own = module.split(".")[0]
        for found in imports(source):
            taken = [*found.module.split("."), *([found.name] if found.name else [])]
            place = f"{module}:{found.line}"
            if found.module.startswith("."):
                faults.append(f"{place} imports relatively; write `from {own}.x import y`")
            elif taken[0] == "trimtab" and any(word.startswith("_") for word in taken):
                faults.append(f"{place} imports {'.'.join(taken)}, which is private to core")
            elif taken[0].startswith("trimtab_") and taken[0] != own:
                faults.append(f"{place} imports {taken[0]}, another plugin")
    return faults


def read(folder: Path) -> dict[str, str]:
    """Module name to source, of every Python file below a `src` folder."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        words = path.relative_to(folder).with_suffix("").parts
        found[".".join(words[:-1] if words[-1] == "__init__" else words)] = path.read_text(encoding="utf-8")
    return found


def test_core_is_built_from_the_ground_up() -> None:
    """Every file of core imports only from lower floors, and libraries only where they are owned."""
    assert floor_faults(read(CORE)) == []


def test_core_has_no_import_circle() -> None:
    """No file of core needs itself to be imported."""
    assert circle(read(CORE)) == []


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.parent.name)
def test_a_plugin_imports_only_what_is_public(folder: Path) -> None:
    """Our own plugins could have been written by anyone: nothing private of core, nothing of another plugin."""
    modules = read(folder)
    assert plugin_faults(modules) == []
    assert circle(modules) == []


def test_no_source_file_is_long() -> None:
    """A file that has outgrown its purpose is split."""
    paths = [ROOT / "dev.py", *(path for folder in (CORE, *PLUGINS) for path in sorted(folder.rglob("*.py")))]
    lines = {str(path.relative_to(ROOT)): path.read_bytes().count(b"\n") for path in paths}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("trimtab.errors", "from trimtab.types import Json", "'types', which is not on a lower floor than 'errors'"),
        (
            "trimtab.trim",
            "def f():\n    from trimtab.host import Host",
            "trim:2 imports 'host', which is not on a lower",
        ),
        ("trimtab.focus", "from trimtab.budget import Budget", "'budget', which is not on a lower floor than 'focus'"),
        ("trimtab.blobs.memory", "from trimtab import types", "imports 'trimtab', which is not on a lower floor"),
        ("trimtab.blobs.memory", "from trimtab.trim import trim", "'trim', which is not on a lower floor than 'blobs'"),
        ("trimtab.blobs.memory", "from .sqlite import connect", "imports relatively"),
        ("trimtab.trim", "import trimtab.gadgets", "imports 'gadgets', which has no floor in tests/test_floors.py"),
        ("trimtab.gadgets", "", "has no floor: add 'gadgets' to FLOORS in tests/test_floors.py"),
        ("trimtab.trim", "import msgspec.json", "imports msgspec, which only _json may import"),
        (
            "trimtab.host",
            "from opentelemetry import trace",
            "imports opentelemetry, which only telemetry",
        ),
        ("trimtab.errors", "from attrs import frozen", "imports attrs, which only"),
        ("trimtab.host", "import requests", "imports requests, which has no owner: add it to OWNERS"),
    ],
)
def test_a_broken_floor_is_seen(module: str, source: str, complaint: str) -> None:
    """The checker can fail: each kind of fault is found and named."""
    whole = {**dict.fromkeys(("trimtab", "trimtab.types", "trimtab.trim"), ""), module: source}
    (fault,) = floor_faults(whole)
    assert complaint in fault


def test_a_circle_is_seen() -> None:
    """The circle finder can fail; an import inside a function closes no circle."""
    first, second = "trimtab.codecs.a", "trimtab.codecs.b"
    back = "from trimtab.codecs.a import x"
    assert set(circle({first: "from trimtab.codecs import b", second: back})) == {first, second}
    assert circle({first: "from trimtab.codecs import b", second: f"def f():\n    {back}"}) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("from trimtab._json import canonical", "imports trimtab._json.canonical, which is private"),
        ("from trimtab.trim import _cut", "imports trimtab.trim._cut, which is private"),
        ("def f():\n    import trimtab_kb.plugin", "imports trimtab_kb, another plugin"),
        ("from .results import WebResult", "imports relatively"),
    ],
)
def test_a_plugin_that_reaches_inside_is_seen(source: str, complaint: str) -> None:
    """The plugin check can fail."""
    (fault,) = plugin_faults({"trimtab_web.plugin": source})
    assert complaint in fault
