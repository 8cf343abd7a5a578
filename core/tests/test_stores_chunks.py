"""How texts are spelt in bytes: bounded chunks, and no damage that goes unseen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab._json import blob_id, utf8
from trimtab.blobs.chunks import CHUNK, pack, read_head
from trimtab.errors import CallerError, DamagedBlob
from trimtab.testing.texts import stored_texts

_LONG = "".join(f"line {n} é€😀\ud800\n" for n in range(30_000))


def _read(name: str, head: object, frames: list[object]) -> str:
    return read_head(name, head).whole(frames)


@pytest.mark.parametrize(
    "text", ["", "a" * CHUNK, "a" * (CHUNK + 1), "é" * CHUNK, "😀" * CHUNK, "a" + "\ud800" * CHUNK, _LONG]
)
def test_chunks_are_bounded_and_cut_at_code_points(text: str) -> None:
    """Each frame holds whole code points, at most 256 kB of them; together they are the text."""
    packed = pack(blob_id(text), text)
    head = read_head(blob_id(text), packed.head)
    pieces = [head.text(n, frame) for n, frame in enumerate(packed.frames)]
    assert "".join(pieces) == text
    assert all(0 < len(utf8(piece)) <= CHUNK <= 256_000 for piece in pieces)
    assert packed.size == head.marks.size
    assert (packed.size.chars, packed.size.bytes) == (len(text), len(utf8(text)))


def test_wide_chars_do_not_make_small_chunks() -> None:
    """A text of wide chars is not cut into many more chunks than its bytes need."""
    text = "€" * 1_000_000
    assert len(pack(blob_id(text), text).frames) <= 3_000_000 / CHUNK * 1.2 + 1


@given(stored_texts())
@settings(max_examples=100, deadline=None)
def test_the_same_text_has_the_same_bytes(text: str) -> None:
    """Packing is a function of the text."""
    assert pack(blob_id(text), text) == pack(blob_id(text), text)


def test_a_text_is_packed_under_its_own_id_only() -> None:
    """A wrong id is found before anything is stored under it."""
    with pytest.raises(CallerError, match="has another id"):
        pack(blob_id("one"), "two")


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_altered_byte_is_served(data: st.DataObject) -> None:
    """Whatever byte of the head or of a frame is changed, or wherever one is cut, reading says so."""
    text = data.draw(stored_texts().filter(len))
    packed = pack(blob_id(text), text)
    parts = [packed.head, *packed.frames]
    which = data.draw(st.integers(0, len(parts) - 1))
    at = data.draw(st.integers(0, len(parts[which]) - 1))
    part = parts[which]
    changed = part[at] ^ data.draw(st.integers(1, 255))
    parts[which] = data.draw(
        st.sampled_from([part[:at], part[:at] + bytes([changed]) + part[at + 1 :], part[:at] + b"\0" + part[at:]])
    )
    with pytest.raises(DamagedBlob):
        _read(blob_id(text), parts[0], list(parts[1:]))


def test_frames_that_changed_places_are_noticed() -> None:
    """A sound frame where another belongs, a missing one, one too many: damage, in a page too."""
    packed = pack(blob_id(_LONG), _LONG)
    one, two, *rest = packed.frames
    for frames in ([two, one, *rest], [one, one, *rest], [two, *rest], [*packed.frames, one], [one, None, *rest]):
        with pytest.raises(DamagedBlob):
            _read(blob_id(_LONG), packed.head, list(frames))
    with pytest.raises(DamagedBlob, match="part 1"):
        read_head(blob_id(_LONG), packed.head).text(0, two)


def test_another_texts_head_is_noticed() -> None:
    """The head belongs to its id."""
    packed = pack(blob_id("one"), "one")
    with pytest.raises(DamagedBlob, match="index"):
        read_head(blob_id("two"), packed.head)


def test_bytes_of_another_type_are_damage() -> None:
    """What a database gives back for an altered row may be no bytes at all."""
    packed = pack(blob_id("one"), "one")
    for wrong in (None, "text", 3):
        with pytest.raises(DamagedBlob):
            read_head(blob_id("one"), wrong)
        with pytest.raises(DamagedBlob):
            _read(blob_id("one"), packed.head, [wrong])
