"""What a plugin may cost when it is loaded: every command waits for all of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What only trimming, storing and reading need.
HEAVY = "asyncio,cattrs,cyclopts,msgspec,opentelemetry,regex,rich,sqlite3,trimtab.host"


@pytest.mark.parametrize(
    "module", ["trimtab.discovery", *(f"trimtab_{name}.plugin" for name in ("fs", "kb", "mcp", "web"))]
)
def test_a_plugin_loads_without_what_only_its_work_needs(module: str) -> None:
    """Importing a plugin's entry point imports neither the host nor the libraries that only its tools need."""
    if "_" in module:
        pytest.importorskip(module.partition(".")[0])
    script = (
        "import importlib, sys; importlib.import_module(sys.argv[1]); "
        "print(*sorted(set(sys.argv[2].split(',')) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script, module, HEAVY], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
