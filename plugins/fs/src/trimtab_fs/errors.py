"""What can be wrong with a file or an attachment that a model asks for.

::

    CallerError
    ├── AccessDenied        outside the allowed folders, a symbolic link, `..`, no permission
    ├── NotFound            no such file in an allowed folder
    ├── NotAFile            a folder, a device, a pipe, a socket (has `.is_folder`)
    ├── Binary              not text: neither UTF-8 nor UTF-16 with a byte order mark
    ├── TooLarge            more bytes than the tools were told to read
    ├── Unreadable          the system could not read it, or it changed meanwhile
    └── UnknownAttachment   no attachment of this conversation has that handle (has `.handles`)

Messages name what the model asked for and no other path.
"""

from __future__ import annotations

from collections.abc import Iterable

from trimtab.errors import CallerError

__all__ = ["AccessDenied", "Binary", "NotAFile", "NotFound", "TooLarge", "UnknownAttachment", "Unreadable"]

_MOST_LISTED = 30
_LONGEST_LISTED = 100


class AccessDenied(CallerError):
    """A path that may not be read; whether there is anything is not said."""


class NotFound(CallerError):
    """A path in an allowed folder that leads to nothing."""


class NotAFile(CallerError):
    """A folder (`is_folder`), or something that is read without end: a device, a pipe, a socket."""

    def __init__(self, asked: str, *, is_folder: bool) -> None:
        what = "a folder; give a file in it, or search it" if is_folder else "a device, a pipe or a socket, not a file"
        super().__init__(f"{asked!r:.80} is {what}")
        self.is_folder = is_folder


class Binary(CallerError):
    """Bytes that are no text in an encoding that is certain; they are never guessed at."""


class TooLarge(CallerError):
    """More bytes than the tools were told to read."""


class Unreadable(CallerError):
    """The system could not read it, or it changed while it was read."""


class UnknownAttachment(CallerError):
    """No attachment has that handle; `handles` are those there are."""

    def __init__(self, asked: str, handles: Iterable[str]) -> None:
        self.handles = tuple(handles)
        shown = [f"{one:.{_LONGEST_LISTED}}" for one in self.handles[:_MOST_LISTED]]
        more = f" and {len(self.handles) - len(shown)} more" if len(self.handles) > len(shown) else ""
        there = f"the attachments are: {', '.join(shown)}{more}" if shown else "this conversation has no attachments"
        super().__init__(f"there is no attachment {asked!r:.80}; {there}")
