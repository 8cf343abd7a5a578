"""What is wrong with a command line, in one line that says where its help is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from cyclopts import App, ArgumentCollection, CycloptsError, Parameter, UnknownCommandError
from cyclopts.exceptions import UnusedCliTokensError

from trimtab.cli.commands import COMMANDS
from trimtab.errors import CallerError

__all__ = ["PLAIN", "check_options", "complaint"]

PLAIN: Final = Parameter(negative=(), show_default=False)
"""How all commands spell their options: no `--no-…`; what a default is stands in the words of the help."""

# How alike a misspelt word must be to the one it may mean, as difflib counts.
_NEAR: Final = 0.75


def check_options(app: App, words: Sequence[str]) -> None:
    """Check that words which look like options are options of the command.

    An argument may be `-`, so a misspelt option would be taken for a file. Behind `--` nothing is an option.

    Raises:
        CallerError: one is not; the nearest right one is named.
    """
    chain, command = _command(app, words)
    if command is None:
        return
    end = words.index("--") if "--" in words else len(words)
    asked = list(words[len(chain) : end])
    if not any(_is_option(word) for word in asked):
        return
    arguments = _arguments(command)
    values = {name: argument.token_count()[0] for argument in arguments for name in argument.names if name[:1] == "-"}
    known = [*values, *command.help_flags, *command.version_flags]
    after = 0
    for word in asked:
        name, equals, _ = word.partition("=")
        if _is_option(word) and name in known:
            after = 0 if equals else values.get(name, 0)
        elif _is_option(word) and not after:
            raise CallerError(_unknown(name, known, chain))
        else:
            after = max(0, after - 1)


def complaint(error: CycloptsError, app: App, words: Sequence[str], commands: Iterable[str]) -> str:
    """What cyclopts found wrong, told for people.

    Args:
        commands: the names of all commands, those of plugins included.
    """
    chain, command = _command(app, words)
    if isinstance(error, UnknownCommandError):
        return _unknown_command(str((error.unused_tokens or [""])[0]), chain, commands)
    if isinstance(error, UnusedCliTokensError) and command is not None and error.unused_tokens:
        return f"{_left_over(command, str(error.unused_tokens[0]), chain)}; {_help(chain)}"
    text = " ".join(str(error).split()).removesuffix(".")
    return f"{text}; {_help(error.command_chain or ())}"


def _command(app: App, words: Sequence[str]) -> tuple[tuple[str, ...], App | None]:
    """The names that lead to a command of ours, and the command; None where they lead to none."""
    table: Mapping[str, object] = COMMANDS
    chain: list[str] = []
    for word in words:
        if word not in table:
            break
        chain.append(word)
        app = app[word]
        inner = table[word]
        if not isinstance(inner, Mapping):
            return tuple(chain), app
        table = inner
    return tuple(chain), None


def _arguments(command: App) -> ArgumentCollection:
    return command.assemble_argument_collection(default_parameter=PLAIN)


def _is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-"


def _help(chain: Iterable[str]) -> str:
    return f"see `{' '.join(['trimtab', *chain, '--help'])}`"


def _near(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, list(known), n=1, cutoff=_NEAR)
    return f"; did you mean {near[0]}?" if near else ""


def _unknown(name: str, known: Sequence[str], chain: Sequence[str]) -> str:
    near = _near(name, known)
    return f"unknown option {name:.80}{near or ';'} {_help(chain)}"


def _unknown_command(word: str, chain: Sequence[str], commands: Iterable[str]) -> str:
    inner = COMMANDS.get(chain[0]) if chain else None
    listed = list(inner if isinstance(inner, Mapping) else commands)
    if _is_option(word):
        return f"unknown option {word:.80}; options stand behind a command: {', '.join(listed)}; {_help(chain)}"
    near = _near(word, listed)
    return f"unknown command {word!r:.80}{near or ';'} commands: {', '.join(listed)}; {_help(chain)}"


def _left_over(command: App, word: str, chain: Sequence[str]) -> str:
    """What to say of an argument more than a command takes."""
    taken = [argument.names[0] for argument in _arguments(command) if argument.names[0][:1] not in ("-", "*")]
    if taken == ["FILE"]:
        return f"one file at a time: {word!r:.80} is one too many"
    takes = " and ".join(taken) if taken else "no arguments"
    return f"`{' '.join(['trimtab', *chain])}` takes {takes}: {word!r:.80} is too much"
