"""The README's example and policy are run as they stand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from trimtab import Host, Policy

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The first fenced block in a language."""
    found = re.search(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_example_runs_and_has_twelve_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python example works as printed, in at most twelve lines of code."""
    code = block("python")
    assert len([line for line in code.split("\n") if line.strip()]) <= 12
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    first, second, third = capsys.readouterr().out.rstrip("\n").split("\n")
    assert first == "Sizes(before=233542, after=11782)"
    assert [second, third] == ["Line 500 of a long page.", "Line 501 of a long page."]
    assert block("text").split("\n")[2] in str(Host.load(discover=False).trim("web_search", names["results"]).value)


def test_the_examples_of_the_plugins_run() -> None:
    """Every Python example of the page about the plugins works as printed."""
    for name in ("tools.md", "compress-args.md", "replay.md"):
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        for code in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
            exec(compile(code, name, "exec"), {})


def test_the_policy_is_accepted() -> None:
    """The TOML example is a policy that trimtab accepts."""
    policy = Policy.from_mapping(tomllib.loads(block("toml")))
    assert policy.tools["jira_search"].bulk == ("/issues/*/fields/description",)


def test_the_two_commands_stand_on_the_first_screen() -> None:
    """Within the first 25 lines stand the command that runs the demo and the one that runs the tests."""
    first_screen = README.split("\n")[:25]
    for command in ("python3 dev.py demo", "python3 dev.py test"):
        assert any(command in line for line in first_screen), command


def test_every_link_leads_somewhere() -> None:
    """Each relative link of the README and of the docs names a file that exists."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
