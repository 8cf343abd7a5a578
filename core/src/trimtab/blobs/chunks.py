"""How the stores that keep bytes spell a text: a head and zstd frames of at most 128 kB of text each.

The head says where each chunk begins, so that a page of a long text is read from the one or two frames it lies in,
and it keeps each frame's own content checksum, so that frames that were altered, cut or changed places are
noticed. A digest binds the head to its blob id. Nothing that fails a check is served: `DamagedBlob`.

    head   = version, chars, lines, bytes, number of chunks; one mark per chunk; digest (16 bytes)
    mark   = chars before, newlines before, bytes of text, bytes of frame, checksum (4 bytes)
    digest = first half of the SHA-256 of the blob id and all of the head before it

Integers are little-endian. https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1 ends a frame with the low four
bytes of the XXH64 of its content.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from collections.abc import Iterable, Iterator

from attrs import frozen

from trimtab._json import utf8
from trimtab.blobs.paging import Marks, count_lines
from trimtab.errors import CallerError, DamagedBlob
from trimtab.types import BlobSize

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["CHUNK", "Chunked", "Packed", "pack", "read_head"]

# Bytes of text in a frame. A page costs one or two of these; larger ones compress hardly better (measured: 2 %).
CHUNK = 128_000

_OPTIONS: dict[int, int] = {zstd.CompressionParameter.compression_level: 3, zstd.CompressionParameter.checksum_flag: 1}
_VERSION = 1
_TOTALS = struct.Struct("<BQQQI")
_MARK = struct.Struct("<QQII4s")
_DIGEST = 16


@frozen(kw_only=True)
class Packed:
    """A text as it is stored: its head and its frames."""

    head: bytes
    frames: tuple[bytes, ...]
    size: BlobSize

    @property
    def stored(self) -> int:
        """Bytes of head and frames."""
        return len(self.head) + sum(map(len, self.frames))


def pack(blob_id: str, text: str) -> Packed:
    """Spell a text for storing.

    Raises:
        CallerError: `blob_id` is not this text's id.
    """
    compressor = zstd.ZstdCompressor(options=_OPTIONS)
    whole = hashlib.sha256()
    frames, marks = [], []
    chars = newlines = size = 0
    for raw, length in _pieces(text):
        whole.update(raw)
        frame = compressor.compress(raw, mode=zstd.ZstdCompressor.FLUSH_FRAME)
        marks.append(_MARK.pack(chars, newlines, len(raw), len(frame), frame[-4:]))
        frames.append(frame)
        chars += length
        newlines += raw.count(b"\n")
        size += len(raw)
    if whole.hexdigest()[:32] != blob_id:
        raise CallerError(
            f"the text put as {blob_id} has another id: the first 32 hex digits of the SHA-256 of its UTF-8"
        )
    lines = count_lines(newlines, text[-1:])
    body = _TOTALS.pack(_VERSION, chars, lines, size, len(frames)) + b"".join(marks)
    return Packed(
        head=body + _digest(blob_id, body),
        frames=tuple(frames),
        size=BlobSize(chars=chars, lines=lines, bytes=size),
    )


def _pieces(text: str) -> Iterator[tuple[bytes, int]]:
    """The UTF-8 of the text in pieces cut at code points, each with its number of code points."""
    at, take = 0, CHUNK
    while at < len(text):
        part = text[at : at + take]
        raw, chars = utf8(part), len(part)
        if len(raw) > CHUNK:
            end = CHUNK
            while raw[end] & 0xC0 == 0x80:
                end -= 1
            raw = raw[:end]
            chars = len(raw.decode("utf-8", "surrogatepass"))
        yield raw, chars
        at += chars
        # Where a char is several bytes, not to encode several times what fits.
        take = min(CHUNK, chars + chars // 8 + 1)


def _digest(blob_id: str, body: bytes) -> bytes:
    return hashlib.sha256(blob_id.encode() + body).digest()[:_DIGEST]


@frozen(kw_only=True)
class Chunked:
    """The head of a stored text, checked. `frames[n]`: bytes of frame `n`."""

    blob_id: str
    marks: Marks
    frames: tuple[int, ...]
    _raws: tuple[int, ...]
    _checks: tuple[bytes, ...]

    def fault(self, n: int, what: str) -> DamagedBlob:
        """The error about chunk `n`."""
        return DamagedBlob(self.blob_id, f"part {n + 1} of {len(self.frames)} {what}")

    def raw(self, n: int, frame: object) -> bytes:
        """The UTF-8 in frame `n`. Raises DamagedBlob."""
        if n >= len(self.frames) or not isinstance(frame, bytes):
            raise self.fault(n, "is missing or too many")
        if len(frame) != self.frames[n]:
            raise self.fault(n, f"has {len(frame)} bytes instead of {self.frames[n]}")
        if frame[-4:] != self._checks[n]:
            raise self.fault(n, "is not the one that was stored")
        reader = zstd.ZstdDecompressor()
        try:
            raw = reader.decompress(frame, max_length=self._raws[n] + 1)
        except zstd.ZstdError as error:
            raise self.fault(n, "does not match its checksum") from error
        if len(raw) != self._raws[n] or not reader.eof or reader.unused_data:
            raise self.fault(n, "does not hold what was stored")
        return raw

    def text(self, n: int, frame: object) -> str:
        """The text in frame `n`. Raises DamagedBlob."""
        return self.raw(n, frame).decode("utf-8", "surrogatepass")

    def whole(self, frames: Iterable[object]) -> str:
        """The text of all frames, which match the blob id. Raises DamagedBlob."""
        seen = hashlib.sha256()
        parts = []
        for n, frame in enumerate(frames):
            raw = self.raw(n, frame)
            seen.update(raw)
            parts.append(raw.decode("utf-8", "surrogatepass"))
        if len(parts) != len(self.frames) or seen.hexdigest()[:32] != self.blob_id:
            raise DamagedBlob(self.blob_id, "the stored bytes do not match the id")
        return "".join(parts)

    def same(self, frames: Iterable[object], text: str) -> bool:
        """Whether the frames hold exactly this text. Raises DamagedBlob."""
        if self.marks.size.chars != len(text):
            return False
        bounds = (*self.marks.chars, len(text))
        seen = 0
        for n, frame in enumerate(frames):
            if self.raw(n, frame) != utf8(text[bounds[n] : bounds[n + 1]]):
                return False
            seen += 1
        return seen == len(self.frames)


def read_head(blob_id: str, head: object) -> Chunked:
    """Read a stored head. Raises DamagedBlob."""
    if not isinstance(head, bytes) or len(head) < _TOTALS.size + _DIGEST:
        raise DamagedBlob(blob_id, "its index is cut short")
    body, digest = head[:-_DIGEST], head[-_DIGEST:]
    if digest != _digest(blob_id, body):
        raise DamagedBlob(blob_id, "its index does not match its checksum")
    version, chars, lines, size, count = _TOTALS.unpack_from(body)
    if version != _VERSION or len(body) != _TOTALS.size + count * _MARK.size:
        raise DamagedBlob(blob_id, f"its index has version {version}; this release of trimtab reads {_VERSION}")
    columns = tuple(zip(*_MARK.iter_unpack(body[_TOTALS.size :]), strict=True)) or ((),) * 5
    return Chunked(
        blob_id=blob_id,
        marks=Marks(size=BlobSize(chars=chars, lines=lines, bytes=size), chars=columns[0], ends=columns[1]),
        raws=columns[2],
        frames=columns[3],
        checks=columns[4],
    )
