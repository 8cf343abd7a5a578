"""Printing for a person: with rich on a terminal that shows colours, else plain lines of at most 100 columns."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import Any, Literal

from attrs import frozen

from trimtab.cli import streams

__all__ = ["Screen", "Table"]

_COLUMNS = 100


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

    def line(self, text: str) -> None:
        """One line, as it is."""
        self._print(text)

    def said(self, who: str, what: str, *, style: str = "bold") -> None:
        """What somebody said, wrapped, with the name on the left."""
        width = self._rich.width if self._rich else _COLUMNS
        first, *rest = textwrap.wrap(streams.printable(what), min(width, 110) - 9) or [""]
        self._print(f"{who:<8}", style, end=" ")
        self._print(first)
        for line in rest:
            self._print(f"{'':9}{line}")

    def verdict(self, text: str, *, good: bool) -> None:
        """The last line."""
        self._print(text, "bold green" if good else "bold red")

    def table(self, table: Table) -> None:
        """A table, after an empty line."""
        self._print("")
        self._print(table.title, "bold", end="")
        self._print(f": {table.about}" if table.about else "")
        if self._rich:
            self._rich.print(_rich_table(table))
        else:
            for line in _plain_table(table):
                print(line)

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

    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0), pad_edge=False)
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


def _plain_table(table: Table) -> list[str]:
    heads = [head.lstrip(">") for head in table.heads]
    rows = [heads, *table.rows, *([table.total] if table.total else [])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    room = _COLUMNS - sum(width + 2 for width in widths[:-1])
    lines: list[str] = []
    for row in rows:
        *cells, last = row
        padded = [
            f"{cell:>{width}}" if head.startswith(">") else f"{cell:<{width}}"
            for cell, width, head in zip(cells, widths, table.heads, strict=False)
        ]
        if table.heads[-1].startswith(">"):
            last = f"{last:>{widths[-1]}}"
        for number, piece in enumerate(textwrap.wrap(last, room, drop_whitespace=False) or [""]):
            begin = padded if number == 0 else [" " * width for width in widths[:-1]]
            lines.append("  ".join([*begin, piece]).rstrip(" "))
        if row is heads:
            lines.append("  ".join("-" * width for width in [*widths[:-1], min(widths[-1], room)]))
    return [streams.printable(line) for line in lines]
