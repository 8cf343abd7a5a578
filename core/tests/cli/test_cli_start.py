"""The door of the command line: quick answers, one line for an error, exit codes, streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trimtab import __version__

# Runs a command line and says on the last line of standard error which of some modules it has imported.
WATCHED = """
import sys
from trimtab.cli.start import main
code = main(sys.argv[2:])
print("imported:", *sorted(set(sys.argv[1].split(",")) & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


def python(*words: str, cwd: Path, env: dict[str, str] | None = None, stdin: bytes = b"") -> Any:
    """Run this Python with these words to its end."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "kept_out"),
    [
        (["--version"], "cyclopts,rich,attrs,pluggy,msgspec,trimtab.host"),
        (["plugins"], "cyclopts,rich,cattrs,asyncio,sqlite3"),
        (["plugins", "--json"], "cyclopts,rich,cattrs,asyncio,sqlite3"),
    ],
    ids=["version", "plugins", "plugins as JSON"],
)
def test_quick_answers_import_little(words: list[str], kept_out: str, tmp_path: Path) -> None:
    """`--version` and `plugins` answer without importing what the other commands need."""
    done = python("-c", WATCHED, kept_out, *words, cwd=tmp_path)
    # 1: some installed plugin is broken, which is not what this is about.
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr.decode().splitlines()[-1] == "imported:"
    assert __version__ in done.stdout.decode()


def test_python_m_trimtab_is_the_command(tmp_path: Path) -> None:
    """`python -m trimtab` runs the command line, and its exit code is the process's."""
    assert python("-m", "trimtab", "--version", cwd=tmp_path).stdout == f"trimtab {__version__}\n".encode()
    done = python("-m", "trimtab", "show", "missing.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(b"trimtab: missing.json cannot be read")


def test_without_the_extra_it_says_what_to_install(trimtab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cyclopts every other command names the extra; `--version` and `plugins` work all the same."""
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    done = trimtab("trim", "-", stdin=b"text")
    assert (done.code, done.out) == (2, b"")
    assert "pip install 'trimtab[cli]'" in done.err
    assert trimtab("--version").code == 0
    assert "token counters" in trimtab("plugins").text


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["trim", "-", "--limitt", "3"], "unknown option --limitt; did you mean --limit? see `trimtab trim --help`"),
        (["trim", "--foo"], "unknown option --foo; see `trimtab trim --help`"),
        (["trim", "--frobnicate", "big.json"], "unknown option --frobnicate; see `trimtab trim --help`"),
        (["trim", "-", "--no-row"], "unknown option --no-row; did you mean --row?"),
        (["trim", "-x", "-"], "unknown option -x;"),
        (["trim", "--policie=x.toml", "-"], "unknown option --policie; did you mean --policy?"),
        (["store", "stats", "--jsn"], "unknown option --jsn; did you mean --json? see `trimtab store stats --help`"),
        (["store", "--json"], "unknown option --json; options stand behind a command: stats, release, collect"),
        (["--policy", "x.toml"], "unknown option --policy; options stand behind a command: demo, trim, "),
        (["plugins", "--all"], "unknown option --all"),
        (["trim", "big.json", "app.log"], "one file at a time: 'app.log' is one too many; see `trimtab trim --help`"),
        (["store", "stats", "now"], "`trimtab store stats` takes no arguments: 'now' is too much"),
        (["read", "a", "b"], "`trimtab read` takes URI: 'b' is too much"),
        (["grep", "a", "b", "c"], "`trimtab grep` takes URI and PATTERN: 'c' is too much"),
        (["grep", "a", "-v"], "unknown option -v"),
        (["trim", "-", "--limit", "many"], 'unable to convert "many" into int'),
        (["trim", "-", "--unit", "words"], 'Choose from: "chars", "tokens"'),
        (["trim"], "FILE requires an argument"),
        (["trimm", "-"], "unknown command 'trimm'; did you mean trim? commands: demo, trim, "),
        (["nonsense"], "unknown command 'nonsense'; commands: demo, trim, "),
        (["nonsense"], ", check-codec, store"),
        (["help", "trimm"], "unknown command 'trimm'; did you mean trim?"),
        (["store", "stat"], "unknown command 'stat'; did you mean stats? commands: stats, release, collect, verify; "),
        (["trim", "-", "--limit", "100"], "limit must be at least 512 chars, not 100"),
        (["trim", "-", "--keep", "5"], "keep must lie between 512 and limit"),
        (["trim", "-", "--row", "--json"], "give --row or --json, not both"),
        (["trim", "-", "--arguments", "{"], "--arguments is not JSON"),
        (["trim", "-", "--store", "postgres://x"], "no store has the scheme"),
        (
            ["trim", "-", "--policy", "nowhere.toml"],
            "nowhere.toml: cannot read the policy: No such file or directory\n",
        ),
        (["read", "trimtab:3f2a9c1b7d04e5f6"], "there is no store at trimtab.db"),
        (["show", "nowhere.json"], "cannot be read: No such file or directory; give a file, or - for standard input"),
        (["check-codec", "json", "x.json"], "is not MODULE:NAME"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_code_2(trimtab: Any, words: list[str], complaint: str) -> None:
    """What the caller can mend is one line on standard error, which says how, nothing on standard output, code 2."""
    done = trimtab(*words, stdin=b"text")
    assert (done.code, done.out) == (2, b"")
    assert complaint in done.err
    assert done.err.startswith("trimtab: ")
    assert done.err.count("\n") == 1


def test_values_that_look_like_options(trimtab: Any, tmp_path: Path) -> None:
    """What an option takes may begin with a hyphen where it can be no option; behind `--` any file or pattern may."""
    (tmp_path / "--foo").write_bytes(b"the file")
    assert trimtab("trim", "--", "--foo").out == b"the file"
    assert trimtab("trim", "--tool", "t", "--", "--foo").out == b"the file"
    assert trimtab("trim", "-", "--limit", "-5", stdin=b"x").err.startswith("trimtab: limit must be at least 512")
    assert trimtab("trim", "-", "--focus=--foo", stdin=b"x").out == b"x"


def test_debug_shows_where_an_error_was_raised(trimtab: Any) -> None:
    """A traceback is shown when it is asked for, and never otherwise; the exit code is the same."""
    plain, debug = trimtab("show", "nowhere.json"), trimtab("show", "nowhere.json", "--debug")
    assert "Traceback" not in plain.err
    assert "Traceback" in debug.err
    assert "CallerError" in debug.err
    assert plain.code == debug.code == 2


def test_debug_behind_two_dashes_is_an_argument(trimtab: Any) -> None:
    """What follows `--` is no option."""
    assert "Traceback" not in trimtab("show", "--", "--debug").err


def test_ctrl_c_ends_quietly_with_130(trimtab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a command works: code 130, no traceback."""

    def interrupted(name: str) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr("trimtab.cli.inputs.read_bytes", interrupted)
    done = trimtab("trim", "-")
    assert (done.code, done.out, done.err) == (130, b"", "")


def test_a_fault_of_ours_is_told_as_one(trimtab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that is none of trimtab's errors is one line too, and asks for --debug."""

    def broken(name: str) -> bytes:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("trimtab.cli.inputs.read_bytes", broken)
    done = trimtab("trim", "-")
    assert done.code == 1
    assert done.err == "trimtab: ZeroDivisionError: by zero: this is a fault of trimtab's; run it again with --debug\n"


def test_a_closed_pipe_is_silent(tmp_path: Path, page: str) -> None:
    """When the reader of a pipe has gone, the command ends with 141 and says nothing."""
    (tmp_path / "page.txt").write_text(page, encoding="utf-8", newline="\n")
    words = [sys.executable, "-m", "trimtab", "trim", "page.txt", "--limit", "50000", "--keep", "40000"]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(words, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert done.returncode == 141
    assert done.stderr == b""


def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    """Under an ASCII locale text comes out as UTF-8, line ends as they were; a lone surrogate cannot stop it."""
    locale = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    text = "naïve 漢字 😀\r\n\u2028end"
    done = python("-m", "trimtab", "trim", "-", cwd=tmp_path, env=locale, stdin=text.encode())
    assert (done.returncode, done.stdout) == (0, text.encode())
    done = python("-m", "trimtab", "trim", "-", cwd=tmp_path, env=locale, stdin=b'"a \\ud800 z"')
    assert (done.returncode, done.stdout) == (0, b"a \\ud800 z")


def test_nothing_is_coloured_away_from_a_terminal(trimtab: Any, page: str) -> None:
    """Without a terminal neither output nor report holds an escape sequence."""
    done = trimtab("trim", "-", stdin=page.encode())
    shown = trimtab("show", "-", stdin=trimtab("trim", "-", "--row", stdin=page.encode()).out)
    plugins = trimtab("plugins")
    assert not any("\x1b" in one for one in (done.text, done.err, shown.text, plugins.text))


def test_no_color_holds_on_a_terminal_too(trimtab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`NO_COLOR` wins over what the terminal can."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in trimtab("plugins").text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in trimtab("plugins").text


def test_help_names_every_command(trimtab: Any) -> None:
    """Without words, and with --help, the commands are listed with what they are for."""
    plain, asked = trimtab(), trimtab("--help")
    assert plain.code == asked.code == 0
    for name in ("demo", "trim", "show", "render", "inflate", "read", "grep", "plugins", "check-codec", "store"):
        assert f"│ {name} " in asked.text
    assert "Trim tool outputs" in plain.text


def test_help_is_a_word_too(trimtab: Any) -> None:
    """`trimtab help` is `--help`, of a command too."""
    assert trimtab("help").out == trimtab("--help").out
    assert trimtab("help", "trim").out == trimtab("trim", "--help").out
    assert trimtab("help", "store", "release").out == trimtab("store", "release", "--help").out


def test_help_is_shown_under_a_policy_that_cannot_be_read(trimtab: Any, tmp_path: Path) -> None:
    """A policy that is wrong is told, and stops no help."""
    (tmp_path / "trimtab.toml").write_text("limmit = 3\n")
    done = trimtab("--help")
    assert done.code == 0
    assert "did you mean 'limit'?" in done.err
    assert trimtab("trim", "-", stdin=b"x").code == 2


def test_json_reports_are_one_value(trimtab: Any, page: str) -> None:
    """What is printed for programs is JSON and nothing else."""
    trimtab("trim", "-", stdin=page.encode())
    for words in (["plugins"], ["store", "stats"], ["store", "verify"], ["store", "collect", "--dry-run"]):
        assert isinstance(json.loads(trimtab(*words, "--json").out), dict)
