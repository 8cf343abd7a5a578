"""`trimtab show`, `render`, `inflate`: what a stored row holds, shows, and stands for."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from trimtab._json import canonical
from trimtab.cli.inputs import read_rows, read_text
from trimtab.cli.options import File, Flat, Folder, Places
from trimtab.cli.places import STORE_VARIABLE, open_host
from trimtab.cli.screen import console, counted, progress, put, styled, table
from trimtab.cli.skeleton import drawn
from trimtab.cli.streams import emit, say
from trimtab.envelope import ROW_KEY, BlobRef, is_row_shaped, read
from trimtab.errors import CallerError, LostBlob, StoreError
from trimtab.host import Host
from trimtab.marker import uri
from trimtab.older import OldRow, read_old, render_old
from trimtab.trim import prompt_text
from trimtab.types import ALL, Json

__all__ = ["inflate", "render", "show"]

# Stored texts that are listed without `--all`.
_MOST: Final = 20

# How the spelling of a text inside JSON text is called.
_IN_JSON: Final = {"utf8": "in JSON text", "ascii": "in JSON text, ASCII", "raw": "in JSON text, its own spelling"}

# Ends that the file of an older row's text may have.
_OLD_ENDS: Final = ("", ".txt")


def show(file: File, /, *, all: bool = False, json: bool = False, debug: bool = False) -> int:
    """Show a stored row: its tool and sizes, its skeleton as a tree, and the texts it refers to.

    Needs no store. Rows of older generations are shown too; of JSON lines, every row. JSON that is no row is shown as
    what it is.

    Args:
        file: A file with a row, as `t.row_text` or `trimtab trim --row` gives it, or - for standard input.
        all: Show every element of every list and every stored text, not the first 20.
        json: As JSON, for programs: sizes, and for each text where it stands and what of it is omitted.
        debug: Show where an error was raised.
    """
    screen = console(sys.stdout)
    with _warnings():
        for number, row in enumerate(read_rows(file)):
            if json:
                emit(f"{canonical(_as_data(row))}\n")
                continue
            if number:
                screen.print()
            _draw(screen, row, everything=all)
    return 0


def render(file: File, /, *, places: Flat = None) -> int:
    """Print what a stored row puts into the prompt.

    A text is printed as it is, any other value as JSON on one line. JSON that is no row is an output that was left
    whole: its value is printed. What is not JSON is refused. A store is needed only for rows of read-back tools, whose
    texts the prompt shows whole.

    Args:
        file: A file with a row, or JSON lines of rows, or - for standard input.
    """
    rows = read_rows(file)
    needs_store = any(ref.whole for row in rows for ref in _refs(row))
    with _warnings(), _host(places, needs_store) as host:
        _print_values(rows, lambda row: host.render(row, owner=ALL))
    return 0


def inflate(file: File, /, *, old_blobs: Folder = None, places: Flat = None) -> int:
    """Print the output that a stored row stands for.

    A text is printed byte for byte as the tool gave it; any other value as JSON on one line, in trimtab's spelling:
    equal to the output, but indentation and the spelling of numbers and escapes are not kept. JSON that is no row is an
    output that was left whole: its value is printed. What is not JSON is refused.

    Args:
        file: A file with a row, or JSON lines of rows, or - for standard input.
        old_blobs: For rows of older generations: the folder with their texts, each in a file named by its id, with or
            without .txt.
    """
    rows = read_rows(file)
    needs_store = any(True for row in rows for _ in _refs(row))
    texts = None if old_blobs is None else _old_texts(old_blobs)
    with _warnings(), _host(places, needs_store) as host:
        _print_values(rows, lambda row: _inflated(host, row, texts))
    return 0


def _inflated(host: Host, row: Json, texts: Callable[[str], str] | None) -> Json:
    if texts is None and read_old(row) is not None:
        raise CallerError(
            "this row is of an older generation, whose texts are files: name their folder with --old-blobs"
        )
    try:
        return host.inflate(row, owner=ALL, old_blob=texts)
    except LostBlob as error:
        raise StoreError(
            f"this store has not got the text trimtab:{error.blob_id}; name the one that it was put into with --store, "
            f"or in {STORE_VARIABLE}; if it was collected, run the tool again"
        ) from error


def _old_texts(folder: Path) -> Callable[[str], str]:
    if not folder.is_dir():
        raise CallerError(f"--old-blobs: {folder} is no folder")

    def text(name: str) -> str:
        for end in _OLD_ENDS:
            if (path := folder / f"{name}{end}").is_file():
                return read_text(str(path))
        raise StoreError(f"{folder} has no file {name} or {name}.txt, which this row names; name another --old-blobs")

    return text


@contextmanager
def _host(places: Places | None, needs_store: bool) -> Iterator[Host]:
    """A host on the store; where no row needs one, on an empty one in memory."""
    if needs_store:
        host, _ = open_host(places or Places())
    else:
        host = Host.load(store="memory:", discover=False)
    with host:
        yield host


def _print_values(rows: list[Json], value_of: Callable[[Json], Json]) -> None:
    many = len(rows) > 1
    with progress("reading rows", len(rows) if many else None, printing=True) as tell:
        for number, row in enumerate(rows, 1):
            value = value_of(row)
            if many:
                emit(f"{canonical(value)}\n")
            else:
                emit(value if isinstance(value, str) else f"{canonical(value)}\n")
            tell(number)


@contextmanager
def _warnings() -> Iterator[None]:
    """Show what the library warns of (a row that a later release wrote), instead of dropping it."""

    class _Saying(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(f"trimtab: {record.getMessage()}")

    handler = _Saying(logging.WARNING)
    log = logging.getLogger("trimtab")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _refs(row: Json) -> tuple[BlobRef, ...]:
    envelope = read(row)
    return () if envelope is None else envelope.refs


def _draw(screen: Console, row: Json, *, everything: bool) -> None:
    envelope = read(row)
    old = None if envelope is not None else read_old(row)
    if envelope is not None:
        value, refs = envelope.skeleton, envelope.refs
        what = f"row of {envelope.tool}"
        stored = sum(ref.total_chars for ref in refs)
        rest = f": {_size(value)} in the prompt, {stored:,} in {counted(len(refs), 'stored text')}"
    elif old is not None:
        value, refs = render_old(old), ()
        what = "row of an older generation"
        rest = f" ({old.shape}): {_size(value)} in the prompt, {counted(len(old.blobs), 'text')} in files"
    else:
        value, refs = row, ()
        what = "a row of a later version" if is_row_shaped(row) else "not a row"
        rest = f": {_size(value)}, shown as {'it is' if is_row_shaped(row) else 'what it is, an output left whole'}"
    screen.print(styled((what, "bold"), rest))
    put(screen, drawn(value, refs, width=screen.width, everything=everything))
    if refs:
        screen.print()
        most = len(refs) if everything else _MOST
        put(screen, _ref_table(refs[:most]))
        if len(refs) > most:
            screen.print(styled((f"… {counted(len(refs) - most, 'more text')} (--all shows them)", "dim")))
    if old is not None:
        screen.print()
        put(screen, _old_table(old))


def _size(value: Json) -> str:
    return counted(len(prompt_text(value)), "char")


def _omitted(ref: BlobRef) -> int:
    return sum(last - first + 1 for first, last in ref.cuts or ())


def _place(ref: BlobRef) -> str:
    key = ref.key or "(the output)"
    return key if ref.span is None else f"{key} {ref.span[0]}-{ref.span[1]}"


def _kind(ref: BlobRef) -> str:
    if ref.json:
        return "JSON" if ref.total_items is None else f"JSON, {counted(ref.total_items, 'element')}"
    kinds = ["whole in the prompt"] if ref.whole else []
    if ref.esc is not None:
        kinds.append(_IN_JSON[ref.esc])
    return ", ".join(kinds)


def _ref_table(refs: tuple[BlobRef, ...]) -> Table:
    kinds = ("kind",) if any(map(_kind, refs)) else ()
    made = table("text", "chars", "omitted", "gaps", "read with", *kinds, right=("chars", "omitted", "gaps"))
    for ref in refs:
        made.add_row(
            styled((_place(ref), "bold")),
            f"{ref.total_chars:,}",
            f"{_omitted(ref):,}" if not ref.json else f"{counted(_omitted(ref), 'element')}",
            f"{len(ref.cuts or ()):,}",
            styled((uri(ref.blob_id), "cyan")),
            *(_kind(ref) for _ in kinds),
        )
    return made


def _old_table(old: OldRow) -> Table:
    made = table("text", "id", "units", "shown", right=("units", "shown"))
    for blob in old.blobs:
        shown = len(blob.head) + len(blob.tail)
        made.add_row(styled((blob.key or "(the text)", "bold")), styled(blob.id), f"{blob.total:,}", f"{shown:,}")
    return made


def _as_data(row: Json) -> Json:
    envelope = read(row)
    old = None if envelope is not None else read_old(row)
    if envelope is not None:
        return {
            "kind": "row",
            "tool": envelope.tool,
            "prompt_chars": len(prompt_text(envelope.skeleton)),
            "stored_chars": sum(ref.total_chars for ref in envelope.refs),
            "texts": [{**ref.to_json(), "uri": uri(ref.blob_id), "omitted": _omitted(ref)} for ref in envelope.refs],
        }
    if old is not None:
        texts = [{"key": one.key, "id": one.id, "units": one.total} for one in old.blobs]
        return {"kind": "older row", "prompt_chars": len(prompt_text(render_old(old))), "texts": texts}
    kind = "later row" if is_row_shaped(row) and isinstance(row[ROW_KEY], dict) and "v" in row[ROW_KEY] else "output"
    return {"kind": kind, "prompt_chars": len(prompt_text(row)), "texts": []}
