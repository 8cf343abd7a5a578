"""`FsTools`: the tools themselves."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, TypeAlias

from trimtab import Host
from trimtab.answers import (
    TIME_UP,
    asks_to_search,
    error_output,
    fitting_matches,
    place_of,
    read_output,
    search_output,
    text_argument,
    uri_argument,
    whole_number,
)
from trimtab.errors import CallerError, PolicyError, TrimtabError
from trimtab.grep import SECONDS, Finder, finder, grep
from trimtab.measure import shown
from trimtab.readback import Room
from trimtab.telemetry import log, span
from trimtab.types import AllowList, Everything, Json, TextSource
from trimtab_fs.below import Folder, Parts, kind_of, open_attachment, open_file, parts_of
from trimtab_fs.definitions import read_definition, read_file_definition, search_definition
from trimtab_fs.errors import AccessDenied, NotFound, UnknownAttachment
from trimtab_fs.names import READ_FILE
from trimtab_fs.search import Found, Start, search_folders
from trimtab_fs.text import Late, Texts, never

__all__ = ["Attachment", "FsTools"]

Attachment: TypeAlias = str | bytes | os.PathLike[str]
"""A text (str), a file's bytes, or a file of the application's own (a path object)."""

Tool = Literal["read", "read_file", "search"]

_LARGEST = 1 << 30
_URI = "trimtab:"


class FsTools:
    """The tools `fs_read`, `fs_search` and (with `attachments`) `read_file` of one conversation.

    Their outputs are whole in prompts and slim in rows because the host's policy says so: `fs_read` and `fs_search` are
    its `read_tool` and `search_tool`, and `policy_with_fs` makes `read_file` exempt. What a model got wrong is an
    output with an `error`, which says what to do and names no path but the one that was asked for.

    Args:
        host: serves `trimtab:` uris, and its policy has the tools' names and the limit that pages fit.
        folders: what lies below them may be read, without following symbolic links. Relative paths are looked for in
            each, in this order.
        attachments: by handle, which is how the conversation names them; looked up at each call, so that the
            application may add to the mapping. A str is a text; a path object is a file, which may lie anywhere.
        largest: bytes of the largest file that is read.
        seconds: time limit of one search.

    Raises:
        CallerError: a folder that does not exist.
        PolicyError: attachments, and `read_file` is not exempt in the host's policy, or means another tool there.
    """

    def __init__(
        self,
        host: Host,
        *,
        folders: Iterable[str | os.PathLike[str]] = (),
        attachments: Mapping[str, Attachment] | None = None,
        largest: int = _LARGEST,
        seconds: float = SECONDS,
    ) -> None:
        if isinstance(folders, str | os.PathLike):
            raise CallerError('folders is a list of folders, as in ["docs"]')
        if attachments is not None:
            if READ_FILE in host.policy.read_names:
                raise PolicyError(f"{READ_FILE} reads attachments: give the policy's read tools another name")
            if not host.policy.is_read_tool(READ_FILE):
                raise PolicyError(f"{READ_FILE} must be exempt: load the host with policy=policy_with_fs(policy)")
        self._host = host
        self._folders = tuple(Folder.at(one) for one in folders)
        self._attachments = attachments
        self._texts = Texts(largest)
        self._seconds = seconds

    def definitions(self, protocol: str) -> list[Json]:
        """Definitions of the tools in a protocol's schema, for the request's tool list, in place of `host.read_tools`.

        Raises:
            CallerError: an unknown protocol.
        """
        policy = self._host.policy
        attached = self._attachments is not None
        offered = policy.read_names  # without a read tool, no search tool either
        tools = [read_definition(protocol, policy.read_tool)] if policy.read_tool in offered else []
        tools += [read_file_definition(protocol)] if attached else []
        if policy.search_tool in offered:
            tools.append(search_definition(protocol, policy.search_tool, attachments=attached))
        return tools

    def run(self, name: str, arguments: Json, *, allow: AllowList | Everything) -> Json:
        """Answer a model's call. `allow` is for `trimtab:` uris: what the conversation's rows name.

        Raises:
            CallerError: `name` is none of these tools.
        """
        tool = self._tool(name, arguments)
        if tool != "read_file" and _is_uri(arguments):
            return self._host.run_read_tool(name, arguments, allow=allow)
        with span("trimtab.read", {"gen_ai.tool.name": name}):
            try:
                return self._search(name, arguments) if tool == "search" else self._read(tool, name, arguments)
            except TrimtabError as error:
                if isinstance(error, AccessDenied):
                    log.warning("%s: refused: %s", name, error)
                return error_output(error)

    async def arun(self, name: str, arguments: Json, *, allow: AllowList | Everything) -> Json:
        """As `run`, in a worker thread."""
        return await asyncio.to_thread(self.run, name, arguments, allow=allow)

    def _tool(self, name: str, arguments: Json) -> Tool:
        policy = self._host.policy
        if name == READ_FILE and self._attachments is not None:
            return "read_file"
        if name not in policy.read_names:
            known = [*policy.read_names, *([READ_FILE] if self._attachments is not None else [])]
            raise CallerError(f"{name!r:.80} is not one of these tools; they are {', '.join(known) or 'none'}")
        return "search" if asks_to_search(policy, name, arguments) else "read"

    def _read(self, tool: Tool, name: str, arguments: Json) -> Json:
        place = place_of(arguments)
        if place.row is not None:
            raise CallerError("rows are elements of a stored list; give `line` or `char`")
        if tool == "read_file":
            opened = self._attachment(_named(arguments, "filename", "path"))
        else:
            opened = self._file(_named(arguments, "path", "uri", "filename"))
        with opened as source:
            assert source is not None  # nothing was late
            return read_output(source, place, self._host.room(name))

    def _search(self, name: str, arguments: Json) -> Json:
        find = finder(_named(arguments, "pattern"))
        line = max(whole_number(arguments, "line") or 1, 1)
        filename = None if self._attachments is None else text_argument(arguments, "filename")
        path = text_argument(arguments, "path", "uri") or "."
        end = time.monotonic() + self._seconds

        def late() -> bool:
            return time.monotonic() >= end

        if filename is None and (starts := self._folders_at(path)):
            return self._search_folders(name, arguments, starts, find, line)
        with self._file(path, late) if filename is None else self._attachment(filename, late) as source:
            if source is None:
                return {"matches": [], "next_line": line, "stopped": TIME_UP}
            return search_output(grep(source, find, line=line, seconds=end - time.monotonic()), self._host.room(name))

    def _search_folders(self, name: str, arguments: Json, starts: list[Start], find: Finder, line: int) -> Json:
        file = text_argument(arguments, "file")
        begin = None if file is None else self._first(file)
        if begin is not None and not any(begin[0] == one and begin[1][: len(parts)] == parts for one, parts in starts):
            raise CallerError(f"`file` {file!r:.80} is not in the folder that is searched; give next_file as it was")
        glob = text_argument(arguments, "glob") or ""
        found = search_folders(starts, find, self._texts, glob=glob, begin=begin, line=line, seconds=self._seconds)
        return self._found_output(found, self._host.room(name))

    def _found_output(self, found: Found, room: Room) -> Json:
        matches = [
            {"path": self._name(one.folder, one.parts), "line": one.match.line, "char": one.match.char}
            | {"text": shown(one.match.text)}
            for one in found.matches
        ]
        kept = fitting_matches(matches, room)
        output: dict[str, Json] = {"matches": kept, "files": found.files}
        if found.skipped:
            output["skipped"] = found.skipped
        if len(kept) < len(matches):
            output |= {"next_file": matches[len(kept)]["path"], "next_line": matches[len(kept)]["line"]}
        elif found.next_file is not None:
            output |= {"next_file": self._name(*found.next_file), "next_line": found.next_line}
            if found.stopped == "time":
                output["stopped"] = TIME_UP
            if found.unsearched is not None:
                output["unsearched_line"] = found.unsearched
        return output

    # Where a path leads

    def _candidates(self, path: str) -> list[Start]:
        """The places that a path may mean: in each folder, in order. Raises AccessDenied: in none."""
        if not self._folders:
            raise AccessDenied("there are no files to read here; give a trimtab: uri from a marker")
        parts = parts_of(path)
        if not os.path.isabs(path):
            return [(folder, parts) for folder in self._folders]
        places = [(folder, below) for folder in self._folders if (below := folder.inside(path)) is not None]
        if not places:
            raise AccessDenied(f"{path!r:.80} is not in an allowed folder; give a path as a search shows it")
        return places

    def _first(self, path: str) -> Start:
        """The first place that a path leads to. Raises what the first one that may be there has against it."""
        fault: CallerError | None = None
        for folder, parts in self._candidates(path):
            try:
                kind_of(folder, parts, path)
            except CallerError as error:
                fault = error if fault is None or isinstance(fault, NotFound) else fault
            else:
                return folder, parts
        assert fault is not None  # there is at least one candidate
        raise fault

    def _folders_at(self, path: str) -> list[Start]:
        """The folders that a path means, `.` all that are allowed; none when it is a file."""
        candidates = self._candidates(path)
        if not os.path.isabs(path) and not candidates[0][1]:
            return candidates
        folder, parts = self._first(path)
        return [(folder, parts)] if kind_of(folder, parts, path) == "folder" else []

    def _name(self, folder: Folder, parts: Parts) -> str:
        """What a model calls a file: its path below its folder, where that leads to it and not into another folder."""
        relative = "/".join(parts)
        if len(self._folders) > 1:
            try:
                leads_here = self._first(relative) == (folder, parts)
            except CallerError:  # it is gone since
                leads_here = True
            if not leads_here:
                return os.path.join(folder.given, *parts)
        return relative

    # What stands there

    @contextmanager
    def _file(self, path: str, late: Late = never) -> Iterator[TextSource | None]:
        folder, parts = self._first(path)
        with open_file(folder, parts, path) as file:
            yield self._texts.of_file(file, path, late)

    @contextmanager
    def _attachment(self, handle: str, late: Late = never) -> Iterator[TextSource | None]:
        attached = {} if self._attachments is None else self._attachments
        if handle not in attached:
            raise UnknownAttachment(handle, attached)
        held = attached[handle]
        if isinstance(held, str):
            yield self._texts.of_text(held)
        elif isinstance(held, bytes):
            yield self._texts.of_bytes(held, handle, late)
        else:
            with open_attachment(held, handle) as file:
                yield self._texts.of_file(file, handle, late)


def _is_uri(arguments: Json) -> bool:
    uri = uri_argument(arguments) if isinstance(arguments, Mapping) else None
    return uri is not None and uri.startswith(_URI)


def _named(arguments: Json, *names: str) -> str:
    found = text_argument(arguments, *names)
    if found is None:
        raise CallerError(f"`{names[0]}` is missing: it must be a string with something in it")
    return found
