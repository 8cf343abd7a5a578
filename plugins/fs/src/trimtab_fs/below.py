"""Opening what lies below an allowed folder, and nothing else.

A path is taken apart into names; `..` is refused, whatever it would lead to. Where the system can open a name relative
to an open folder, each name is opened that way and no link is followed, so that nobody can swap a folder for a link
between the check and the opening. Elsewhere each name is looked at first, and what was opened is compared with what
then stands at the path.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Final, Literal, TypeAlias

from attrs import frozen

from trimtab.errors import CallerError
from trimtab_fs.errors import AccessDenied, NotAFile, NotFound, Unreadable

__all__ = [
    "Entry",
    "Folder",
    "Parts",
    "kind_of",
    "list_by_handles",
    "list_by_paths",
    "list_folder",
    "open_attachment",
    "open_by_handles",
    "open_by_paths",
    "open_file",
    "parts_of",
]

Parts: TypeAlias = tuple[str, ...]
Kind = Literal["file", "folder", "link", "other"]

# Not to wait for the other end of a pipe, not to become a terminal's process, not to hand the file to children.
_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = _READ | getattr(os, "O_DIRECTORY", 0)

# What systems say of a link that was not to be followed: Linux ELOOP, FreeBSD EMLINK, NetBSD EFTYPE.
_LINK_ERRORS: Final = (errno.ELOOP, errno.EMLINK, getattr(errno, "EFTYPE", errno.ELOOP))


@frozen
class Folder:
    """An allowed folder: its absolute path as the application gave it, and with symbolic links resolved."""

    given: str
    real: str

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Folder:
        """Raises CallerError: there is no such folder."""
        given = os.path.abspath(os.fspath(path))
        real = os.path.realpath(given)
        if not os.path.isdir(real):
            raise CallerError(f"{given!r:.200} is not a folder; give folders that exist")
        return cls(given, real)

    def inside(self, path: str) -> Parts | None:
        """The names below this folder that an absolute path leads through; None: it does not lead here.

        By whole names, so that `/data-private` is not inside `/data`.
        """
        parts = _split(path)
        for spelling in (self.given, self.real):
            base = _split(spelling)
            if os.path.isabs(path) and [os.path.normcase(one) for one in parts[: len(base)]] == [
                os.path.normcase(one) for one in base
            ]:
                return tuple(parts[len(base) :])
        return None


@frozen
class Entry:
    """A name in a folder: a file, or a folder."""

    name: str
    is_folder: bool


def _split(path: str) -> list[str]:
    """The names in a path; a drive is one. Empty ones and `.` are left out."""
    drive, rest = os.path.splitdrive(path)
    if os.altsep or os.sep != "/":
        rest = rest.replace(os.sep, "/")
    return [one for one in (drive, *rest.split("/")) if one not in ("", ".")]


def parts_of(path: str) -> Parts:
    """The names in a path that a model gave. Raises AccessDenied: `..`, a NUL, a drive or stream of Windows."""
    parts = _split(path)
    if ".." in parts:
        raise AccessDenied(f"{path!r:.80} leads upwards; give the path without `..`")
    if "\0" in path:
        raise AccessDenied(f"{path!r:.80} holds a NUL; give the path as a search shows it")
    if os.name == "nt" and not os.path.isabs(path) and any(":" in one for one in parts):
        raise AccessDenied(f"{path!r:.80} holds a colon; give the path as a search shows it")
    return tuple(parts)


def _kind(status: os.stat_result) -> Kind:
    reparse = getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    if stat.S_ISLNK(status.st_mode) or reparse:
        return "link"
    return "file" if stat.S_ISREG(status.st_mode) else "folder" if stat.S_ISDIR(status.st_mode) else "other"


def _require(status: os.stat_result, wanted: Kind, asked: str) -> None:
    kind = _kind(status)
    if kind == wanted:
        return
    if kind == "link":
        raise AccessDenied(f"{asked!r:.80} is, or leads through, a symbolic link; links are not followed")
    if wanted == "folder":
        raise NotFound(_missing(asked))
    raise NotAFile(asked, is_folder=kind == "folder")


@contextmanager
def _translated(asked: str, missing: str) -> Iterator[None]:
    """Errors of the system as ours, which name no path but the one that was asked for."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, UnicodeEncodeError) as error:
        raise NotFound(missing) from error
    except PermissionError as error:
        raise AccessDenied(f"{asked!r:.80} may not be read: no permission") from error
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise AccessDenied(
                f"{asked!r:.80} is, or leads through, a symbolic link; links are not followed"
            ) from error
        if error.errno == errno.ENAMETOOLONG:
            raise NotFound(missing) from error
        raise Unreadable(f"{asked!r:.80} could not be read: {os.strerror(error.errno or errno.EIO)}") from error


def _missing(asked: str) -> str:
    return f"there is nothing at {asked!r:.80} in the allowed folders; a search shows what there is"


@contextmanager
def _folder_handle(folder: Folder, parts: Sequence[str], asked: str) -> Iterator[int]:
    """An open handle of a folder below an allowed one, every name on the way opened from the one above."""
    handle = os.open(folder.real, _FOLDER)
    try:
        for part in parts:
            _require(os.stat(part, dir_fd=handle, follow_symlinks=False), "folder", asked)
            inner = os.open(part, _FOLDER | _NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def open_by_handles(folder: Folder, parts: Parts, asked: str) -> int:
    """A descriptor of a regular file, opened name by name."""
    with _folder_handle(folder, parts[:-1], asked) as handle:
        _require(os.stat(parts[-1], dir_fd=handle, follow_symlinks=False), "file", asked)
        return _checked(os.open(parts[-1], _READ | _NOFOLLOW, dir_fd=handle), asked)


def open_by_paths(folder: Folder, parts: Parts, asked: str) -> int:
    """A descriptor of a regular file, by its whole path: every name is looked at, before and after."""
    path = _looked_at(folder, parts, "file", asked)
    descriptor = _checked(os.open(path, _READ | _NOFOLLOW), asked)
    try:
        _looked_at(folder, parts, "file", asked)
        if not os.path.samestat(os.lstat(path), os.fstat(descriptor)):
            raise Unreadable(f"{asked!r:.80} changed while it was opened; read it again")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _checked(descriptor: int, asked: str) -> int:
    """The descriptor, if it is a regular file's; else it is closed."""
    try:
        _require(os.fstat(descriptor), "file", asked)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _looked_at(folder: Folder, parts: Parts, wanted: Kind, asked: str) -> str:
    """The whole path, when no name on the way is a link."""
    path = folder.real
    for index, part in enumerate(parts):
        path = os.path.join(path, part)
        _require(os.lstat(path), wanted if index == len(parts) - 1 else "folder", asked)
    return path


def list_by_handles(folder: Folder, parts: Parts, asked: str) -> list[Entry]:
    """Files and folders in a folder, opened name by name."""
    with _folder_handle(folder, parts, asked) as handle, os.scandir(handle) as found:
        return _entries(found)


def list_by_paths(folder: Folder, parts: Parts, asked: str) -> list[Entry]:
    """Files and folders in a folder, by its whole path."""
    with os.scandir(_looked_at(folder, parts, "folder", asked)) as found:
        return _entries(found)


def _entries(found: Iterator[os.DirEntry[str]]) -> list[Entry]:
    """Sorted by name. Links and what is no file are left out, as are names that no JSON text can carry."""
    entries = []
    for one in found:
        if one.is_file(follow_symlinks=False) or one.is_dir(follow_symlinks=False):
            try:
                one.name.encode()
            except UnicodeEncodeError:
                continue
            entries.append(Entry(one.name, one.is_dir(follow_symlinks=False)))
    return sorted(entries, key=lambda one: one.name)


_BY_HANDLES: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and bool(_NOFOLLOW)
_open: Final[Callable[[Folder, Parts, str], int]] = open_by_handles if _BY_HANDLES else open_by_paths
_list: Final[Callable[[Folder, Parts, str], list[Entry]]] = list_by_handles if _BY_HANDLES else list_by_paths


def open_file(folder: Folder, parts: Parts, asked: str) -> BinaryIO:
    """A regular file below an allowed folder, open for reading; `asked` is what errors call it.

    Raises:
        AccessDenied, NotFound, NotAFile, Unreadable: see there.
    """
    if not parts:
        raise NotAFile(asked, is_folder=True)
    with _translated(asked, _missing(asked)):
        return os.fdopen(_open(folder, parts, asked), "rb")


def list_folder(folder: Folder, parts: Parts, asked: str) -> list[Entry]:
    """Files and folders in a folder below an allowed one, sorted by name. Raises as `open_file`."""
    with _translated(asked, _missing(asked)):
        return _list(folder, parts, asked)


def kind_of(folder: Folder, parts: Parts, asked: str) -> Literal["file", "folder"]:
    """What a path leads to. Raises as `open_file`, also for what is neither."""
    try:
        open_file(folder, parts, asked).close()
    except NotAFile as error:
        if error.is_folder:
            return "folder"
        raise
    return "file"


def open_attachment(path: str | os.PathLike[str], handle: str) -> BinaryIO:
    """A file that the application itself attached: links are followed. Errors call it by its handle.

    Raises:
        AccessDenied, NotFound, NotAFile, Unreadable: see there.
    """
    with _translated(handle, f"attachment {handle!r:.80} is not there any more"):
        _require(os.stat(path), "file", handle)
        return os.fdopen(_checked(os.open(path, _READ), handle), "rb")
