"""`trimtab check-codec`: the laws on somebody's own codec and samples."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

MODULE = '''
def has_texts(found):
    return isinstance(found, list) and all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in found)


def good(output):
    """Descriptions of issues."""
    issues = output.get("issues") if isinstance(output, dict) else None
    return [f"/issues/{number}/text" for number in range(len(issues))] if has_texts(issues) else None


def by_length(output):
    pointers = good(output)
    if pointers is None:
        return None
    return [pointer for pointer, one in zip(pointers, output["issues"]) if len(one["text"]) > 20]


def raising(output):
    return [f"/issues/{number}/text" for number in range(len(output["issues"]))]


def nowhere(output):
    return None if good(output) is None else ["/issues/9/text"]


def a_number(output):
    return None if good(output) is None else ["/issues/0"]


def no_slash(output):
    return None if good(output) is None else ["issues/0/text"]


def no_pointers(output):
    return None if good(output) is None else [3]


def failing(output):
    return None if good(output) is None else [output["missing"]]


def rows(output):
    return [f"/{number}/text" for number in range(len(output))] if has_texts(output) else None


class Codecs:
    good = staticmethod(good)


not_callable = 3
'''
SAMPLES = [
    {"issues": [{"key": "A-1", "text": "It fails when the disk is full."}, {"key": "A-2", "text": "short"}]},
    {"issues": [{"key": "A-3", "text": "Another one, somewhat longer than the others."}]},
]


@pytest.fixture
def check(trimtab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Checks a codec of MODULE, a module in the current folder, on samples."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "codecs_of_a_test", raising=False)
    (tmp_path / "codecs_of_a_test.py").write_text(MODULE, encoding="utf-8")

    def run(name: str, samples: Any = SAMPLES, *words: str) -> Any:
        (tmp_path / "samples.json").write_text(json.dumps(samples), encoding="utf-8")
        return trimtab("check-codec", f"codecs_of_a_test:{name}", "samples.json", *words)

    return run


@pytest.mark.parametrize("name", ["good", "Codecs.good"])
def test_a_codec_that_keeps_the_laws(check: Any, name: str) -> None:
    """Every law has a line, every sample a column, and the exit code is 0."""
    done = check(name)
    assert done.code == 0
    for law in ("frame exact", "readable back", "bounded", "content cannot steer"):
        assert law in done.text
    assert "sample 0" in done.text
    assert "sample 1" in done.text
    assert "✗" not in done.text
    assert "every law holds" in done.text


def test_a_codec_that_looks_at_lengths(check: Any) -> None:
    """A broken law is marked, told with the sample that breaks it, and the exit code is 1."""
    done = check("by_length")
    assert done.code == 1
    assert "✗" in done.text
    assert "law 7 (settled): its pointers depend on the texts" in done.text
    assert "(sample 0, " in done.text
    assert " checks of " in done.err


def test_a_codec_that_raises_for_foreign_shapes(check: Any) -> None:
    """A codec that raises where it should give None breaks law 5."""
    done = check("raising")
    assert done.code == 1
    assert "law 5 (whole on failure): it raises TypeError for None" in done.text


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("nowhere", "'/issues/9/text' leads nowhere"),
        ("a_number", "'/issues/0' leads to something that is not a string"),
        ("no_slash", "'issues/0/text' is no JSON Pointer"),
        ("no_pointers", "3 is no JSON Pointer"),
        ("failing", "it raises KeyError: 'missing'"),
    ],
)
def test_one_fault_is_told_once(check: Any, name: str, fault: str) -> None:
    """A pointer that cannot be followed is one line, not one for each law that could then not be checked."""
    done = check(name)
    assert done.code == 1
    (line,) = [line for line in done.text.split("\n") if line.startswith("law ")][1:]
    assert line.startswith(f"law 5 (whole on failure): {fault}")
    assert line.endswith("(sample 0, and 1 more)")
    assert done.err.startswith("the laws without a mark could not be checked: mend that first\n2 checks of ")


def test_findings_for_programs(check: Any) -> None:
    """`--json` lists every check with its law, sample and what broke."""
    done = check("by_length", SAMPLES, "--json")
    assert done.code == 1
    findings = done.json
    assert {one["law"] for one in findings} == set(range(1, 9))
    assert all(one["ok"] == (one["what"] is None) for one in findings)


def test_a_list_that_is_one_output(check: Any) -> None:
    """A list that the codec knows as a whole, and none of whose elements it knows, is one sample."""
    done = check("rows", [{"text": "one result"}, {"text": "another"}])
    assert done.code == 0
    assert "taken as one sample" in done.err
    assert "sample 1" not in done.text


def test_many_samples_are_counted(check: Any) -> None:
    """Of more samples than fit into a table it is told how many break a law."""
    done = check("by_length", [SAMPLES[0]] * 11)
    assert "sample 10" not in done.text.split("\n")[0]
    assert "✗ in 11 samples" in done.text


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("missing", "has no attribute 'missing'"),
        ("not_callable", "is of type int, not a codec"),
    ],
)
def test_what_is_no_codec(check: Any, name: str, complaint: str) -> None:
    """A name that leads to no function is code 2."""
    done = check(name)
    assert done.code == 2
    assert complaint in done.err


def test_no_samples(check: Any) -> None:
    """An empty list is code 2, and says what to give."""
    done = check("good", [])
    assert done.code == 2
    assert "give at least one output of the tool" in done.err


def test_a_module_that_fails_to_import(trimtab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the module raises is told in one line."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "broken_module_of_a_test.py").write_text("raise RuntimeError('at import')")
    (tmp_path / "samples.json").write_text("[1]")
    done = trimtab("check-codec", "broken_module_of_a_test:codec", "samples.json")
    assert done.code == 2
    assert "RuntimeError: at import" in done.err
