"""`trimtab plugins`, and the commands that plugins bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

WORKING = """
from trimtab import hookimpl

@hookimpl
def trimtab_codecs():
    yield "jira_search", lambda output: None

@hookimpl
def trimtab_commands():
    def hello(name: str = "you", *, code: int = 0):
        '''Say hello.'''
        print(f"hello {name}")
        return code

    def shout():
        return "a result"

    def fail():
        raise KeyError("what it was")

    return {"hello": hello, "shout": shout, "fail": fail, "trim": hello}
"""
MISSPELT = """
from trimtab import hookimpl

@hookimpl
def trimtab_codec():
    return []
"""
RIVAL = """
from trimtab import hookimpl

@hookimpl
def trimtab_codecs():
    yield "jira_search", lambda output: None
"""


def named(found: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The entry of this name."""
    (one,) = [entry for entry in found if entry["name"] == name]
    return one


def test_what_loaded_is_listed(trimtab: Any, installed: Any) -> None:
    """Name, distribution, version and what it provides, for people and for programs."""
    installed("jira", WORKING, version="2.5")
    shown = named(trimtab("plugins", "--json").json["plugins"], "jira")
    assert (shown["distribution"], shown["version"]) == ("trimtab-jira", "2.5")
    assert shown["provides"]["codecs"] == ["jira_search"]
    text = trimtab("plugins").text
    assert "jira  trimtab-jira 2.5\n  codecs    jira_search\n" in text


@pytest.mark.parametrize(
    ("source", "why", "advice"),
    [
        (
            "import a_module_that_is_nowhere.at_all",
            "ModuleNotFoundError: No module named 'a_module_that_is_nowhere'.",
            "the package that has the module 'a_module_that_is_nowhere'",
        ),
        ("from trimtab import no_such_name", "cannot import name 'no_such_name'", "does not fit what is installed"),
        (MISSPELT, "unknown hook trimtab_codec; did you mean trimtab_codecs?", "mend it as the message says"),
        ("raise ValueError('a bad day')", "ValueError: a bad day.", "tell its author what `trimtab plugins --debug`"),
        ("import sys; sys.exit(3)", "It called sys.exit(3) while it was loaded.", "Update it"),
        ("raise ValueError('\\x1b[2J\\nline')", "ValueError: ␛[2J line.", "Update it"),
    ],
    ids=["dependency", "version", "hook", "error", "exit", "terminal"],
)
def test_what_broke_is_told_with_what_to_do(trimtab: Any, installed: Any, source: str, why: str, advice: str) -> None:
    """A paragraph for each broken plugin: where it is from, why it broke, what to do; and the exit code is 1."""
    installed("jira", source)
    done = trimtab("plugins")
    assert done.code == 1
    assert "\nbroken: jira  trimtab-jira 1.0\n" in done.text
    paragraph = " ".join(done.text.split("broken: jira")[1].split("\n\n")[0].split())
    assert why in paragraph
    assert advice in paragraph
    assert paragraph.endswith('Until then, keep it out: [tool.trimtab.plugins] block = ["jira"].')
    shown = trimtab("plugins", "--json")
    assert shown.code == 1
    assert named(shown.json["broken"], "jira")["advice"] in paragraph


def test_debug_shows_what_a_plugin_raised(trimtab: Any, installed: Any) -> None:
    """`--debug` has the traceback of a broken plugin."""
    installed("jira", "raise ValueError('a bad day')")
    assert "Traceback" not in trimtab("plugins").text
    assert "a_plugin_of_a_test_jira.py" in trimtab("plugins", "--debug").text


@pytest.mark.parametrize("source", ["def broken(:", "import a_module_that_is_nowhere", "1 / 0"])
def test_a_traceback_begins_at_the_plugin(trimtab: Any, installed: Any, source: str) -> None:
    """Frames of Python's importing are left out; what the plugin's author can mend stays."""
    installed("jira", source)
    text = trimtab("plugins", "--debug").text
    assert "importlib" not in text
    assert "a_plugin_of_a_test_jira.py" in text
    assert source in text


@pytest.mark.parametrize("there", [True, False])
def test_counters_of_an_extra_that_is_missing_are_marked(
    trimtab: Any, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """The exact counters say what they need, for people and for programs, where it is not installed."""
    monkeypatch.setattr("trimtab.cli.plugins.find_spec", lambda name: object() if there else None)
    assert ("o200k (needs trimtab[tokens]), cl100k (needs trimtab[tokens])" in trimtab("plugins").text) != there
    assert "estimate," in trimtab("plugins").text
    needs = named(trimtab("plugins", "--json").json["plugins"], "trimtab")["needs"]
    assert needs == ({} if there else dict.fromkeys(("o200k", "cl100k"), "trimtab[tokens]"))


def test_a_broken_plugin_stops_no_other_command(trimtab: Any, installed: Any, page: str) -> None:
    """Trimming goes on; an unknown command points to `trimtab plugins`."""
    installed("jira", "raise ValueError('a bad day')")
    assert trimtab("trim", "-", stdin=page.encode()).code == 0
    assert "did not load: see `trimtab plugins`" in trimtab("hello").err


@pytest.mark.parametrize("file", ["trimtab.toml", "pyproject.toml"])
def test_a_blocked_plugin_is_not_loaded(trimtab: Any, installed: Any, tmp_path: Path, file: str) -> None:
    """The advice works: with the table in the policy the plugin is left out."""
    installed("jira", "raise ValueError('a bad day')")
    (tmp_path / file).write_text('[tool.trimtab.plugins]\nblock = ["jira"]\n')
    assert "jira" not in trimtab("plugins").text
    assert "jira" not in trimtab("plugins", "--policy", file).text


def test_two_codecs_for_one_tool_are_a_conflict(trimtab: Any, installed: Any, tmp_path: Path) -> None:
    """A conflict says which is used and how to choose; it is no failure."""
    installed("jira", WORKING)
    installed("other", RIVAL)
    conflicts = trimtab("plugins", "--json").json["conflicts"]
    assert {"what": "codec 'jira_search'", "used": "jira", "unused": "other"} in conflicts
    text = " ".join(trimtab("plugins").text.split())
    assert "conflict: codec 'jira_search' jira is used, other is not." in text
    table = '[tool.trimtab.tools."jira_search"] codec = "other"'
    assert table in text
    (tmp_path / "trimtab.toml").write_text(table.replace("] ", "]\n"))
    assert trimtab("trim", "-", "--tool", "jira_search", stdin=b"text").code == 0


def test_commands_of_plugins_run(trimtab: Any, installed: Any) -> None:
    """A plugin's command takes options, its result is an exit code or something to print, and help lists it."""
    installed("jira", WORKING)
    assert trimtab("hello", "--name", "Ann").out == b"hello Ann\n"
    assert trimtab("hello", "--code", "7").code == 7
    assert trimtab("shout").out == b"a result\n"
    assert "Say hello." in trimtab("--help").text
    assert "Say hello." in trimtab("hello", "--help").text
    failed = trimtab("fail")
    assert failed.code == 1
    assert "KeyError: 'what it was'" in failed.err


def test_a_plugin_never_hides_a_command_of_ours(trimtab: Any, installed: Any) -> None:
    """A command with the name of one of ours is not used, and `plugins` says so."""
    installed("jira", WORKING)
    assert trimtab("trim", "-", stdin=b"text").out == b"text"
    assert "conflict: command 'trim'" in trimtab("plugins").text


def test_a_summarizer_that_nobody_has_is_shown(trimtab: Any, tmp_path: Path) -> None:
    """A check before a deployment finds a name that no plugin has: it is shown, and the exit code is 1."""
    policy = tmp_path / "policy.toml"
    policy.write_text('summarizer = "extractive"\n', encoding="utf-8")
    assert trimtab("plugins", "--policy", str(policy)).code == 0
    policy.write_text('summarizer = "extractiv"\n', encoding="utf-8")
    ran = trimtab("plugins", "--policy", str(policy))
    assert ran.code == 1
    assert "no summarizer 'extractiv'; did you mean 'extractive'?" in ran.text
    assert "1 unknown" in ran.text
    assert len(trimtab("plugins", "--json", "--policy", str(policy)).json["unknown"]) == 1
