"""Printing for a person: with rich on a terminal that shows colours, else plain lines. All fits 80 columns."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import Any, Literal

from attrs import frozen

from trimtab.cli import streams

__all__ = ["Screen", "Table"]

# Columns where there is no terminal to ask, and those after which lines get hard to read.
_UNKNOWN, _WIDEST = 100, 110


@frozen(kw_only=True)
class Table:
    """A title, a sentence on what to look for, column heads, rows of cells, and the number of a last, summing row.

    A head that begins with `>` stands over numbers, which go to the right. The last column takes what room is left.
    """

    title: str
    about: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: Sequence[str] = ()


class Screen:
    """Standard output."""

    def __init__(self) -> None:
        self._rich: Any = _rich_console()
        columns = self._rich.width if self._rich else get_terminal_size((_UNKNOWN, 0)).columns
        self._columns = min(columns, _WIDEST)

    def said(self, who: str, what: str, *, style: str = "bold") -> None:
        """What somebody said, with the name on the left."""
        first, *rest = self._wrapped(what, self._columns - 9)
        self._print(f"{who:<8}", style, end=" ")
        self._print(first)
        for line in rest:
            self._print(f"{'':9}{line}")

    def paragraph(self, text: str) -> None:
        """A text in lines that fit; an empty one is an empty line."""
        for line in self._wrapped(text, self._columns):
            self._print(line)

    def verdict(self, text: str, *, good: bool) -> None:
        """The last line."""
        self._print(text, "bold green" if good else "bold red")

    def table(self, table: Table) -> None:
        """A table, after an empty line."""
        self._print("")
        self._print(table.title, "bold", end="")
        self._print(f": {table.about}")
        if self._rich:
            self._rich.print(_rich_table(table))
        else:
            for line in _plain_table(table, self._columns):
                print(line)

    def _wrapped(self, text: str, columns: int) -> list[str]:
        return textwrap.wrap(streams.printable(text), columns, break_on_hyphens=False) or [""]

    def _print(self, text: str, style: str = "", end: str = "\n") -> None:
        text = streams.printable(text)
        if self._rich:
            self._rich.print(text, style=style or None, end=end, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, end=end)


def _rich_console() -> Any:
    """A console of rich's; None where rich is not installed or the output is not for its colours."""
    if not streams.colours(sys.stdout):
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(force_terminal=True)


def _rich_table(table: Table) -> Any:
    from rich import box
    from rich.table import Table as RichTable

    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for number, head in enumerate(table.heads):
        justify: Literal["left", "right"] = "right" if head.startswith(">") else "left"
        drawn.add_column(head.lstrip(">"), justify=justify, no_wrap=number < len(table.heads) - 1)
    for row in table.rows:
        drawn.add_row(*(_coloured(cell) for cell in row))
    if table.total:
        drawn.add_row(*table.total, style="bold")
    return drawn


def _coloured(cell: str) -> Any:
    from rich.text import Text

    style = {"ok": "green", "BROKEN": "bold red"}.get(cell, "")
    return Text(streams.printable(cell), style=style)


def _plain_table(table: Table, columns: int) -> list[str]:
    heads = [head.lstrip(">") for head in table.heads]
    rows = [heads, *table.rows, *([table.total] if table.total else [])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    room = max(columns - sum(width + 2 for width in widths[:-1]), 20)
    lines: list[str] = []
    for row in rows:
        *cells, last = row
        padded = [
            f"{cell:>{width}}" if head.startswith(">") else f"{cell:<{width}}"
            for cell, width, head in zip(cells, widths, table.heads, strict=False)
        ]
        if table.heads[-1].startswith(">"):
            last = f"{last:>{widths[-1]}}"
        for number, piece in enumerate(textwrap.wrap(last, room) if last.strip(" ") else [""]):
            begin = padded if number == 0 else [" " * width for width in widths[:-1]]
            lines.append("  ".join([*begin, piece]).rstrip(" "))
        if row is heads:
            lines.append("  ".join("-" * width for width in [*widths[:-1], min(widths[-1], room)]))
    return [streams.printable(line) for line in lines]
