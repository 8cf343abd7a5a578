"""What is drawn with rich: consoles, numbers in words, and progress that shows only when work takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final, TextIO

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from trimtab.cli.streams import colours, is_terminal, printable

__all__ = ["console", "counted", "last_line", "one_line", "percent", "progress", "put", "saying", "styled", "table"]

# Seconds of work after which progress is shown.
PATIENCE: Final = 1.0

# Columns to write in where there is no terminal to ask: wide enough that no table is folded.
_WIDE: Final = 160


def console(stream: TextIO) -> Console:
    """Draws on a stream; plain text where it is no terminal. No markup is read, whatever stands in a text."""
    return Console(
        file=stream,
        width=None if is_terminal(stream) else _WIDE,
        no_color=not colours(stream),
        highlight=False,
        markup=False,
        emoji=False,
    )


def put(screen: Console, drawing: Table | Tree) -> None:
    """Draw a table or tree; where it goes to no terminal, without the blanks that fill up its lines."""
    if screen.is_terminal:
        screen.print(drawing)
        return
    with screen.capture() as drawn:
        screen.print(drawing)
    for line in drawn.get().split("\n")[:-1]:
        screen.file.write(line.rstrip(" ") + "\n")


def saying(*parts: str | tuple[str, str]) -> None:
    """A line on standard error: words, or pairs of words and a style."""
    console(sys.stderr).print(styled(*parts), soft_wrap=True)


def styled(*parts: str | tuple[str, str]) -> Text:
    """Words, or pairs of words and a style, as one line that steers no terminal."""
    return Text.assemble(
        *(printable(one) if isinstance(one, str) else (printable(one[0]), one[1]) for one in parts), no_wrap=False
    )


def table(*heads: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table; columns named in `right` are set to the right."""
    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for head in heads:
        made.add_column(head, justify="right" if head in right else "left", overflow="fold")
    return made


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 text`, `1,234 texts`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(before: int, after: int) -> str:
    """By how much something became smaller, as in `-75 %`."""
    return f"-{100 * (before - after) / before:.0f} %" if 0 <= after < before else "unchanged"


def one_line(text: str, width: int) -> str:
    """The beginning of a text on one line of at most `width` columns, newlines as a sign."""
    line = Text(_flat(text[: width + 1]))
    line.truncate(width, overflow="ellipsis")
    return line.plain


def last_line(text: str, width: int) -> str:
    """The end of a text on one line of at most `width` columns."""
    line = _flat(text[-width:])
    while cell_len(line) > width:
        line = line[1:]
    return line


def _flat(text: str) -> str:
    return printable(text.replace("\r\n", "⏎").replace("\n", "⏎").replace("\t", " "))


@contextmanager
def progress(what: str, total: int | None = None, *, printing: bool = False) -> Iterator[Callable[[int], None]]:
    """Shows on a terminal how far work is that takes longer than a second; gives a function to be told what is done.

    Args:
        what: the work, as in "trimming".
        total: steps to do; None: it only shows that work goes on.
        printing: the work prints to standard output: on a terminal that shows how far it is.
    """
    if not is_terminal(sys.stderr) or (printing and is_terminal(sys.stdout)):
        yield lambda done: None
        return
    columns = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
    if total is not None:
        columns.insert(2, MofNCompleteColumn())
    bar = Progress(*columns, console=console(sys.stderr), transient=True, redirect_stdout=False, redirect_stderr=False)
    task = bar.add_task(what, total=total)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done: bar.update(task, completed=done)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()
