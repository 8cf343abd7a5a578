"""Files and bytes as text that is read page by page, and never guessed at.

UTF-8, or UTF-16 where a byte order mark says so (the mark is then no part of the text; a UTF-8 mark is, so that the
text is the bytes). Whatever does not decode is `Binary`. A text is read once from end to end to find where its
chunks and lines begin, 128 kB at a time; after that a page costs the one or two chunks that it lies in.
"""

from __future__ import annotations

import codecs
import io
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import BinaryIO, Final, TypeAlias

from trimtab.blobs.paging import Marks, PagedText, count_lines, mark, paged
from trimtab.types import BlobSize
from trimtab_fs.errors import Binary, TooLarge, Unreadable

__all__ = ["CHUNK", "FileIndex", "Late", "Texts", "never"]

CHUNK: Final = 1 << 17
_LOOKED_AT: Final = 8_192  # bytes that are searched for a NUL
_REMEMBERED: Final = 32

Late: TypeAlias = Callable[[], bool]
"""Whether the time for making an index is up."""


def never() -> bool:
    """There is no hurry."""
    return False


class FileIndex:
    """Where the chunks of one text begin. Made step by step, as far as it was needed."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        file.seek(0)
        self._encoding, self._at = _encoding(file.read(_LOOKED_AT), name)
        self._offsets: list[int] = []
        self._chars: list[int] = []
        self._ends: list[int] = []
        self._total = self._newlines = 0
        self._last = ""
        self._marks: Marks | None = None
        self._lock = threading.Lock()

    def text(self, file: BinaryIO, name: str, late: Late = never) -> PagedText | None:
        """The text, read from the file. None when `late()` came before its end was seen; the next call goes on there.

        Raises:
            Binary: bytes that are not text.
        """
        with self._lock:
            while self._marks is None:
                if late():
                    return None
                self._step(file, name)
            return PagedText(self._marks, lambda n: self._chunk(file, name, n))

    def _step(self, file: BinaryIO, name: str) -> None:
        file.seek(self._at)
        raw = file.read(CHUNK)
        decoder = codecs.getincrementaldecoder(self._encoding)()
        try:
            text = decoder.decode(raw, len(raw) < CHUNK)
        except UnicodeDecodeError as error:
            place = self._at + error.start + 1
            raise Binary(f"{name!r:.80} is not text: byte {place} is not {self._encoding.upper()}") from error
        if self._encoding != "utf-8" and not self._offsets and "\0" in text[: _LOOKED_AT // 2]:
            raise Binary(f"{name!r:.80} is binary: its first {_LOOKED_AT} bytes hold a NUL")
        if text:
            self._offsets.append(self._at)
            self._chars.append(self._total)
            self._ends.append(self._newlines)
            self._total += len(text)
            self._newlines += text.count("\n")
            self._last = text[-1]
            self._at += len(raw) - len(decoder.getstate()[0])
        if len(raw) < CHUNK:
            self._marks = Marks(
                size=BlobSize(chars=self._total, lines=count_lines(self._newlines, self._last), bytes=self._at),
                chars=tuple(self._chars),
                ends=tuple(self._ends),
            )
            self._offsets.append(self._at)
            self._chars.append(self._total)

    def _chunk(self, file: BinaryIO, name: str, n: int) -> str:
        file.seek(self._offsets[n])
        raw = file.read(self._offsets[n + 1] - self._offsets[n])
        try:
            chunk = raw.decode(self._encoding)
        except UnicodeDecodeError:
            chunk = ""
        if len(chunk) != self._chars[n + 1] - self._chars[n]:
            raise Unreadable(f"{name!r:.80} changed while it was read; read it again")
        return chunk


def _encoding(head: bytes, name: str) -> tuple[str, int]:
    """The encoding that the first bytes show, and how many of them are its mark. Raises Binary."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise Binary(f"{name!r:.80} is UTF-32, which is not read here; convert it to UTF-8")
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le", len(codecs.BOM_UTF16_LE)
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be", len(codecs.BOM_UTF16_BE)
    if b"\0" in head:
        raise Binary(f"{name!r:.80} is binary: its first {_LOOKED_AT} bytes hold a NUL")
    return "utf-8", 0


class Texts:
    """Texts to read from, and the indexes of the last ones read. May be used from several threads at once.

    Args:
        largest: bytes of the largest file that is read.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._indexes: OrderedDict[object, tuple[FileIndex | Marks, object]] = OrderedDict()
        self._lock = threading.Lock()

    def of_file(self, file: BinaryIO, name: str, late: Late = never) -> PagedText | None:
        """The text of an open file, which errors call `name`; None when `late()` came before its end was seen.

        Raises:
            Binary, TooLarge: see there.
        """
        status = os.fstat(file.fileno())
        if status.st_size > self._largest:
            raise TooLarge(f"{name!r:.80} has {status.st_size} bytes; files of up to {self._largest} are read here")
        key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return self._indexed(key, file, name, None, late)

    def of_bytes(self, data: bytes, name: str, late: Late = never) -> PagedText | None:
        """As `of_file`."""
        if len(data) > self._largest:
            raise TooLarge(f"{name!r:.80} has {len(data)} bytes; texts of up to {self._largest} are read here")
        return self._indexed(id(data), io.BytesIO(data), name, data, late)

    def of_text(self, text: str) -> PagedText:
        """A text in memory."""
        found = self._recall(id(text))
        marks = found if isinstance(found, Marks) else mark(text)
        self._remember(id(text), marks, text)
        return paged(text, marks)

    def _indexed(self, key: object, file: BinaryIO, name: str, alive: object, late: Late) -> PagedText | None:
        found = self._recall(key)
        index = found if isinstance(found, FileIndex) else FileIndex(file, name)
        self._remember(key, index, alive)
        return index.text(file, name, late)

    def _recall(self, key: object) -> FileIndex | Marks | None:
        with self._lock:
            found = self._indexes.get(key)
            return None if found is None else found[0]

    def _remember(self, key: object, index: FileIndex | Marks, alive: object) -> None:
        """`alive` is kept with its index: as long as it is, nothing else has its `id`."""
        with self._lock:
            self._indexes[key] = (index, alive)
            self._indexes.move_to_end(key)
            while len(self._indexes) > _REMEMBERED:
                self._indexes.popitem(last=False)
