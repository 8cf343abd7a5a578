"""Searching the files of folders, in the order of their paths, within a time limit, from any place on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from attrs import define, field, frozen

from trimtab.errors import CallerError
from trimtab.grep import MOST_MATCHES, Finder, grep
from trimtab.types import Match
from trimtab_fs.below import Folder, Parts, list_folder, open_file
from trimtab_fs.globs import fits, names_hidden
from trimtab_fs.text import Texts

__all__ = ["FileMatch", "Found", "Start", "search_folders"]

Start = tuple[Folder, Parts]
"""A folder (or a file) below an allowed folder."""


@frozen
class FileMatch:
    """A matching line, and the file that it is in."""

    folder: Folder
    parts: Parts
    match: Match


@define
class Found:
    """Matches in order. `stopped`: why the search ended early; then it goes on at `next_file`, 1-based `next_line`.

    `files`: how many were searched. `skipped`: how many could not be (binary, too large, unreadable). `unsearched`: the
    line of `next_file` that was passed over, since it alone took all the time; None: there is none.
    """

    matches: list[FileMatch] = field(factory=list)
    files: int = 0
    skipped: int = 0
    stopped: Literal["time", "matches"] | None = None
    next_file: Start | None = None
    next_line: int = 1
    unsearched: int | None = None

    def stop(self, why: Literal["time", "matches"], file: Start, line: int) -> None:
        """The search ends here."""
        self.stopped, self.next_file, self.next_line = why, file, line


def search_folders(
    starts: Sequence[Start],
    find: Finder,
    texts: Texts,
    *,
    glob: str,
    begin: Start | None,
    line: int,
    seconds: float,
    most: int = MOST_MATCHES,
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """Lines that match in the files below these folders whose path below its allowed folder fits `glob`.

    Args:
        begin: the file to go on at, from 1-based `line` on; None: the first one. What comes before it is not searched.
    """
    end = clock() + seconds
    found = Found()
    for folder, parts, readable in _files(starts, glob, begin):
        here = (folder, parts)
        first = line if begin == here else 1
        if len(found.matches) >= most:
            found.stop("matches", here, first)
            break
        if clock() >= end:
            found.stop("time", here, first)
            break
        if not readable:
            found.skipped += 1
            continue
        if not _search_file(here, find, texts, found, first, most, end, clock):
            break
    return found


def _search_file(
    here: Start,
    find: Finder,
    texts: Texts,
    found: Found,
    line: int,
    most: int,
    end: float,
    clock: Callable[[], float],
) -> bool:
    """Search one file; whether to go on with the next."""
    folder, parts = here
    name = "/".join(parts)
    try:
        with open_file(folder, parts, name) as file:
            text = texts.of_file(file, name, lambda: clock() >= end)
            if text is None:
                found.stop("time", here, line)
                return False
            alone = not found.files  # the other files have had some of the time: then the next search begins here
            result = grep(
                text,
                find,
                line=line,
                most=most - len(found.matches),
                seconds=end - clock(),
                clock=clock,
                may_pass=alone,
            )
    except CallerError:  # named in no answer: the model asked for a folder, not for this file
        found.skipped += 1
        return True
    found.files += 1
    found.matches += [FileMatch(folder, parts, one) for one in result.matches]
    if result.stopped is not None:
        found.stop(result.stopped, here, result.next_line or result.total_lines + 1)
        found.unsearched = result.unsearched
        return False
    return True


def _files(starts: Sequence[Start], glob: str, begin: Start | None) -> Iterator[tuple[Folder, Parts, bool]]:
    """Files in order: those of the first start, sorted by their names, and so on. False: an unreadable folder."""
    hidden = bool(glob) and names_hidden(glob)
    waiting = begin
    for folder, parts in starts:
        lower: Parts = ()
        if waiting is not None:
            if waiting[0] != folder or waiting[1][: len(parts)] != parts:
                continue
            lower, waiting = waiting[1], None
        for below, readable in _walk(folder, parts, hidden, lower):
            if not readable or not glob or fits(glob, below):
                yield folder, below, readable


def _walk(folder: Folder, top: Parts, hidden: bool, lower: Parts) -> Iterator[tuple[Parts, bool]]:
    """Paths of the files below a folder in the order of their parts, from `lower` on; False: an unreadable folder."""
    stack: list[Iterator[tuple[Parts, bool]]] = [iter([(top, True)])]
    while stack:
        path, is_folder = next(stack[-1], (None, False))
        if path is None:
            stack.pop()
        elif path < lower[: len(path)]:
            continue
        elif not is_folder:
            yield path, True
        else:
            try:
                entries = list_folder(folder, path, "/".join(path))
            except CallerError:
                yield path, False
                continue
            shown = [one for one in entries if hidden or not one.name.startswith(".")]
            stack.append(iter([((*path, one.name), one.is_folder) for one in shown]))
