"""Excerpts: where a text is cut, what is shown, and how long that is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab.excerpt.build import Excerpt, bare, build, cut, proves
from trimtab.excerpt.edges import head_stop, tail_start
from trimtab.measure import Spelling, shown
from trimtab.testing.independent import blob_id_of, excerpt_of
from trimtab.testing.strategies import texts

quick = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
PLAIN = Spelling(None, False)
SPELLINGS = [Spelling(inner, outer) for inner in (None, "utf8", "ascii") for outer in (False, True)]
E_ACUTE = "e\u0301"
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"
THUMB = "\U0001f44d\U0001f3fd"
RED = "\x1b[1;31m"
LINK = "\x1b]8;;https://e.org\x1b\\"


def excerpt(text: str, cap: int, spelling: Spelling = PLAIN, **more: object) -> Excerpt:
    """The excerpt of a text, read back with `fs_read`."""
    return cut(text, cap, spelling, "fs_read", blob_id_of(text), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "stop", "head"),
    [
        ("one\ntwo\nthree four", 12, "one\ntwo\n"),
        ("one two\nthree four", 18, "one two\nthree "),
        ("a\nbcdefgh ij", 11, "a\nbcdefgh "),
        ("ab cd\nefgh ijkl", 9, "ab cd\n"),
        ("ab\ncd efgh ijkl", 9, "ab\ncd "),
        ("abcdefghij", 7, "abcdefg"),
        ("abcdefg\n", 8, "abcdefg\n"),
        ("abc\tdef\u00a0ghi", 9, "abc\tdef\u00a0g"),
        ("abcdef\r\nxyz", 7, "abcdef"),
        ("abcdef\r\nxyz", 8, "abcdef\r\n"),
        ("abcdefg" + E_ACUTE + "xyz", 8, "abcdefg"),
        ("abcdefg" + E_ACUTE + "xyz", 9, "abcdefg" + E_ACUTE),
        ("abcdefg" + FAMILY + "xyz", 10, "abcdefg"),
        ("abcdefg" + FAMILY + "xyz", 8, "abcdefg"),
        ("abcdefg" + THUMB + "xyz", 8, "abcdefg"),
        ("abcd" + FLAG * 3, 5, "abcd"),
        ("abcd" + FLAG * 3, 6, "abcd" + FLAG),
        ("abcd" + FLAG * 3, 7, "abcd" + FLAG),
        ("abcdefg\u2764\ufe0fxyz", 8, "abcdefg"),
        ("abcdefg" + RED + "xyz", 10, "abcdefg"),
        ("abcdefg" + RED + "xyz", 14, "abcdefg" + RED),
        ("abcdefghijklmnopqrst" + LINK + "x", 30, "abcdefghijklmnopqrst"),
        ("abcdefghijklmnopqrst" + LINK + "x", 20 + len(LINK) - 1, "abcdefghijklmnopqrst"),
        ("abcdefg hi \u0301jk", 11, "abcdefg hi"),
        ("a" * 40 + "\u0301" * 80, 100, "a" * 40 + "\u0301" * 60),
        ("", 0, ""),
        ("abc", 0, ""),
    ],
)
def test_where_the_head_ends(text: str, stop: int, head: str) -> None:
    """At a newline in its outer half, else a blank there, else exactly; never inside what belongs together."""
    assert text[: head_stop(text, 0, stop)] == head


@pytest.mark.parametrize(
    ("text", "start", "tail"),
    [
        ("one two\nthree\nfour", 5, "three\nfour"),
        ("one two three four", 5, "three four"),
        ("abcd efghi\nj", 2, "efghi\nj"),
        ("abcdefghij", 3, "defghij"),
        ("xyz\r\nabcdef", 4, "abcdef"),
        ("x\r\nabcdefghijkl", 2, "abcdefghijkl"),
        ("xy\r\n", 3, ""),
        ("xyz" + E_ACUTE + "abcdefg", 4, "abcdefg"),
        ("xyz" + FAMILY + "abcdefghij", 5, "abcdefghij"),
        ("xyz" + THUMB + "abcdefg", 4, "abcdefg"),
        (FLAG * 3 + "abcdefg", 1, FLAG * 2 + "abcdefg"),
        (FLAG * 3 + "abcdefg", 2, FLAG * 2 + "abcdefg"),
        ("xyz" + RED + "abcdefg", 5, "abcdefg"),
        ("abc", 3, ""),
    ],
)
def test_where_the_tail_begins(text: str, start: int, tail: str) -> None:
    """After a newline in its outer half, else after a blank there, else exactly, never inside what belongs together."""
    assert text[tail_start(text, start, len(text)) :] == tail


def splits(text: str, at: int) -> str | None:
    """What a cut at a place would split, by Python's own tables."""
    if not 0 < at < len(text):
        return None
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return "CRLF"
    if unicodedata.category(after) in ("Mn", "Me") or after in "\u200d\ufe0f" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return "a character"
    if before == "\u200d":
        return "a joined character"
    flags = re.search("[\U0001f1e6-\U0001f1ff]+$", text[max(0, at - 256) : at])  # counted back no further
    if flags and len(flags[0]) % 2 and "\U0001f1e6" <= after <= "\U0001f1ff":
        return "a flag"
    if any(found.start() < at < found.end() for found in re.finditer("\x1b\\[[0-?]*[ -/]*[@-~]", text)):
        return "an ANSI sequence"
    return None


@quick
@given(texts(longest=5_000), st.data())
def test_no_edge_splits_what_belongs_together(text: str, data: st.DataObject) -> None:
    """Unless there is no better place within 32 code points, and a newline or blank is only ever snapped inwards."""
    at = data.draw(st.integers(0, len(text)))
    head, tail = head_stop(text, 0, at), tail_start(text, at, len(text))
    assert 0 <= head <= at <= tail <= len(text)
    assert splits(text, head) is None or all(splits(text, n) for n in range(max(0, at - 32), at + 1))
    assert splits(text, tail) is None or all(splits(text, n) for n in range(at, min(len(text), at + 33)))
    assert head >= at // 2 or splits(text, at) is not None
    assert len(text) - tail >= (len(text) - at) // 2 or splits(text, at) is not None


@pytest.mark.parametrize("spelling", SPELLINGS, ids=str)
def test_an_excerpt_is_slices_and_markers_within_its_cap(spelling: Spelling) -> None:
    """Whatever the text and the passages, the excerpt takes at most the cap where it will stand."""

    @quick
    @given(
        texts(), st.integers(160, 3_000), st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 500)), max_size=4)
    )
    def claim(text: str, cap: int, spots: list[tuple[int, int]]) -> None:
        length = spelling.length(shown(text))
        if length <= max(cap, 255):
            return
        passages = [(start, min(start + size, len(text))) for start, size in spots if start < len(text)]
        made = excerpt(text, cap, spelling, passages=(lambda: passages) if passages else None)
        assert made.text == excerpt_of(text, made.cuts, "fs_read")
        assert spelling.length(made.text) <= cap
        for first, last in made.cuts:
            gap = spelling.length(shown(text[first - 1 : last]))
            line = spelling.length(
                f"<omitted chars {first}-{last} of {len(text)}; full text: fs_read trimtab:{'0' * 16}>"
            )
            assert gap > line
        assert proves(made.text, text, blob_id_of(text))

    claim()


@quick
@given(texts(longest=3_000), st.lists(st.integers(1, 3_000), min_size=2, max_size=8, unique=True))
def test_building_and_proving(text: str, places: list[int]) -> None:
    """What is built from cuts proves to be of this text, and of no other; one character more proves nothing."""
    bounds = sorted(place for place in places if place <= len(text))
    cuts = tuple(zip(bounds[::2], bounds[1::2], strict=False))
    cuts = tuple((a, b) for n, (a, b) in enumerate(cuts) if n == 0 or a > cuts[n - 1][1] + 1)
    made = build(text, cuts, "fs_read", blob_id_of(text)).text
    assert made == excerpt_of(text, cuts, "fs_read")
    if cuts:
        assert proves(made, text, blob_id_of(text))
        assert not proves(made + "x", text, blob_id_of(text))
        assert not proves(made, text + "x", blob_id_of(text + "x"))
        assert not proves(made.replace("fs_read", "other", 1), text, blob_id_of(text)) or len(cuts) == 1


def test_one_third_head_two_thirds_tail() -> None:
    """The failing line of a log is usually last: the tail gets twice the head."""
    text = "".join(f"line {n:04}\n" for n in range(1_000))
    (first, last), *rest = excerpt(text, 1_280).cuts
    head, tail = first - 1, len(text) - last
    assert rest == []
    assert 380 <= head <= 400
    assert 770 <= tail <= 800


def test_a_marker_stands_on_a_line_of_its_own() -> None:
    """A newline is added on a side only where text stands there that brings none."""
    text = "x" * 1_000
    assert re.fullmatch(r"x+\n<omitted chars [^\n]*>\nx+", excerpt(text, 400).text)
    text = ("x" * 49 + "\n") * 20
    assert re.fullmatch(r"(x{49}\n)+<omitted chars [^\n]*>\n(x{49}\n)+", excerpt(text, 400).text)
    made = build("ab\ncd", ((4, 4),), "fs_read", "0" * 32)
    assert made.text == f"ab\n<omitted chars 4-4 of 5; full text: fs_read trimtab:{'0' * 16}>\nd"
    made = build("ab\ncd", ((2, 2),), "fs_read", "0" * 32)
    assert made.text == f"a\n<omitted chars 2-2 of 5; full text: fs_read trimtab:{'0' * 16}>\ncd"


def test_nothing_shown_is_the_marker_alone() -> None:
    """Without room for a marker and some text, or without a read-back tool, the line says what it can."""
    made = bare(48_211, "fs_read", "3f2a9c1b7d04e5f6" * 2)
    assert made.text == "<omitted chars 1-48211 of 48211; full text: fs_read trimtab:3f2a9c1b7d04e5f6>"
    assert bare(48_211, None, "3f2a9c1b7d04e5f6" * 2).text == "<omitted chars 1-48211 of 48211>"
    assert excerpt("\x00" * 5_000, 70).cuts == ((1, 5_000),)
    longest = bare(10**12 - 1, "t" * 64, "f" * 32).text
    assert len(longest) < 160


def test_a_gap_shorter_than_its_marker_is_shown() -> None:
    """Nothing is saved by a marker that is longer than what it stands for."""
    text = "a" * 300 + "needle" + "b" * 400
    at = text.index("needle")
    whole = excerpt(text, 700, passages=lambda: [(at, at + 6)])
    assert whole.cuts
    assert all(last - first + 1 > 60 for first, last in whole.cuts)
    near = excerpt("x" * 1_000, 1_000 - 1, passages=lambda: [(400, 500)])
    assert all(last - first + 1 > 60 for first, last in near.cuts)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("\x00" * 600, Spelling(None, True)),
        ("\ud800x" * 400, Spelling("utf8", True)),
        ("x\n" * 800 + "\x00", Spelling(None, True)),
        ("some words " * 100, Spelling("utf8", False)),
    ],
    ids=["NUL", "surrogates", "one NUL", "odd escapes"],
)
def test_what_is_shown_shorter_than_it_is_has_a_gap(text: str, spelling: Spelling) -> None:
    """Where all of it would fit as it is shown, most of it is: one gap, just worth its marker, tells the two apart."""
    fits = spelling.length(shown(text))
    for cap in (fits, fits + 1, fits + 5_000):
        made = excerpt(text, cap, spelling)
        ((first, last),) = made.cuts
        assert spelling.length(made.text) <= cap
        assert 40 < last - first + 1 < len(text) * 3 // 5
        assert made.text == excerpt_of(text, made.cuts, "fs_read")


def test_passages_come_before_head_and_tail() -> None:
    """A passage that answers is shown whole when it fits its share; head and tail share the rest."""
    lines = [f"line {n} of the text\n" for n in range(2_000)]
    lines[1_000] = "the answer is 42\n"
    text = "".join(lines)
    at = text.index("the answer")
    made = excerpt(text, 2_000, passages=lambda: [(at, at + 17)])
    assert "the answer is 42\n" in made.text
    assert len(made.cuts) == 2
    assert made.text.startswith("line 0 ")
    assert made.text.endswith("line 1999 of the text\n")


def test_passages_leave_half_to_head_and_tail() -> None:
    """However many passages answer, head and tail together keep about half of the cap, and the tail twice the head."""
    text = "".join(f"line {n:04} of it\n" for n in range(4_000))
    every = [(at, at + 48) for at in range(16_000, 60_000, 600)]
    cuts = excerpt(text, 4_000, passages=lambda: every).cuts
    head, tail = cuts[0][0] - 1, len(text) - cuts[-1][1]
    assert len(cuts) > 5
    assert 1_700 <= head + tail <= 2_300
    assert 1.8 <= tail / head <= 2.2


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda good, _: good.replace("trimtab:", "trimtab:0", 1)[:-1] + good[-1], "another handle"),
        (lambda good, _: good.upper(), "other letters"),
        (lambda good, _: good.replace("\n<", "<"), "no line of its own"),
        (lambda good, text: good + text[-1], "one character more"),
        (lambda good, _: good.replace("of 4000", "of 4001"), "another total"),
        (lambda good, _: re.sub(r"chars \d+-", "chars 1-", good), "another beginning"),
        (lambda good, _: good + good, "twice"),
        (lambda good, text: text, "the text itself"),
        (lambda good, text: "", "nothing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_almost_a_rendering_proves_nothing(make: Callable[[str, str], str], why: str) -> None:
    """A rendering is exactly slices and markers; anything else is somebody's text."""
    text = "word " * 800
    good = excerpt(text, 700).text
    assert proves(good, text, blob_id_of(text))
    assert not proves(make(good, text), text, blob_id_of(text)), why
