"""The JSON Schema of rows says what core writes and reads, and is shipped with it."""

from __future__ import annotations

import json
import runpy
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab import Budget, Host, Policy
from trimtab.envelope import _ENVELOPE_FIELDS, _REF_FIELDS, ROW_KEY
from trimtab.testing.strategies import budgets, json_texts, json_values, texts

jsonschema = pytest.importorskip("jsonschema", reason="the lowest dependencies of core have no validator")

HERE = Path(__file__).parent
SCHEMA = json.loads((files("trimtab") / "envelope.schema.json").read_bytes())
VALID = jsonschema.Draft202012Validator(SCHEMA)
DAMAGE = runpy.run_path(str(HERE / "test_envelope_damage.py"))
ROWS = sorted(path for path in (HERE / "golden").glob("*/*/row.json") if path.parent.parent.name != "older")


def faults(row: Any) -> list[str]:
    """What the schema says is wrong with a row."""
    return [f"{'/'.join(map(str, one.absolute_path))}: {one.message}" for one in VALID.iter_errors(row)]


def test_the_schema_is_one() -> None:
    """It is a valid schema of draft 2020-12."""
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_names_the_fields_that_are_read() -> None:
    """Fields that are not known leave a row alone: reader and schema know the same ones."""
    body = SCHEMA["properties"][ROW_KEY]
    assert set(body["properties"]) == _ENVELOPE_FIELDS
    assert set(SCHEMA["$defs"]["ref"]["properties"]) == _REF_FIELDS


@pytest.mark.parametrize("path", ROWS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_golden_rows_are_valid(path: Path) -> None:
    """Every golden row of version 3 fits the schema; what was never moved is no row."""
    row = json.loads(path.read_bytes())
    if isinstance(row, dict) and ROW_KEY in row:
        assert faults(row) == []
    else:
        assert faults(row) != []


@pytest.mark.parametrize("name", DAMAGE["DAMAGES"])
def test_the_schema_sees_damage(name: str) -> None:
    """What the reader calls damaged the schema refuses, except where only the meaning is wrong."""
    row, _ = DAMAGE["damaged"](name)
    seen = len(DAMAGE["DAMAGES"][name]) == 3
    assert bool(faults(row)) == seen


@pytest.mark.parametrize("name", DAMAGE["LATER"])
def test_the_schema_refuses_later_rows(name: str) -> None:
    """A row of a later version does not fit the schema of this one."""
    assert faults(DAMAGE["changed"](*DAMAGE["LATER"][name])) != []


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    output=st.one_of(texts(), json_values(), json_texts()),
    budget=budgets(),
    tool=st.sampled_from(["run", "fs_read", "", "näme/~1"]),
    reader=st.sampled_from(["fs_read", ""]),
)
def test_what_is_written_is_valid(output: Any, budget: Budget, tool: str, reader: str) -> None:
    """Whatever is trimmed, its row is the output itself or fits the schema, also when it was JSON text in between."""
    policy = Policy(read_tool=reader, without_read_back="trim", unsupported="whole")
    with Host.load(policy=policy, discover=False) as host:
        trimmed = host.trim(tool, output, budget=budget)
        if trimmed.envelope is not None:
            assert faults(trimmed.row) == []
            assert faults(json.loads(trimmed.row_text)) == []
        else:
            assert trimmed.row is output
