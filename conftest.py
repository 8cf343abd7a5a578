"""What the tests of all packages share: where shared cases lie, and how a test runs once for each."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent
CASES = Path(os.environ.get("TRIMTAB_CASES") or ROOT.parent / "shared")


def _case_file(name: str) -> Path:
    """A case file, which lies in the cases folder or in its folder `cases`."""
    return next((path for path in (CASES / name, CASES / "cases" / name) if path.is_file()), CASES / name)


def _long_values(value: Any) -> Any:
    """The same value with each string `py:<expression>` replaced by what the expression gives."""
    if isinstance(value, str) and value.startswith("py:"):
        return eval(value.removeprefix("py:"), {"__builtins__": {"range": range}})
    if isinstance(value, list):
        return [_long_values(item) for item in value]
    if isinstance(value, dict):
        return {key: _long_values(item) for key, item in value.items()}
    return value


def _matches(case: dict[str, Any], fields: dict[str, Any]) -> bool:
    return all(
        case.get(name) in (wanted if isinstance(wanted, tuple) else (wanted,)) for name, wanted in fields.items()
    )


@pytest.fixture(scope="session")
def cases_dir() -> Path:
    """The folder with shared cases: `TRIMTAB_CASES`, or a folder `shared` beside the checkout."""
    if not CASES.is_dir():
        pytest.skip(f"no shared cases: {CASES} is no folder; set TRIMTAB_CASES")
    return CASES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test marked `cases(file, **fields)` once per matching case, a dict given as argument `case`.

    A field's wanted value may be a tuple of values. Long values (`py:…`) are spelt out. Without the file
    the test is skipped; a mark that matches no case is an error.
    """
    mark = metafunc.definition.get_closest_marker("cases")
    if mark is None:
        return
    (name,) = mark.args
    path = _case_file(name)
    if not path.is_file():
        skip = pytest.mark.skip(reason=f"no shared cases: {path} is no file; set TRIMTAB_CASES")
        metafunc.parametrize("case", [pytest.param({}, marks=skip, id="none")])
        return
    with path.open(encoding="utf-8", newline="\n") as lines:
        cases = [case for case in map(json.loads, lines) if _matches(case, mark.kwargs)]
    if not cases:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: no case of {name} has {mark.kwargs}")
    metafunc.parametrize("case", [pytest.param(_long_values(case), id=case["id"]) for case in cases])
