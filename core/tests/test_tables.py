"""The frozen tables: where a text is never cut, what words are made of, which letters are one letter."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.tables import UNICODE_VERSION, fold, frozen, is_joined, unspaced_class, variants, whole_before, word_class

GENERATOR = Path(__file__).parent.parent / "tools" / "make_tables.py"
EVERY = [chr(point) for point in range(sys.maxunicode + 1)]

# What people see as one character, in several code points each.
WHOLE = {
    "decomposed accent": "e\u0301",
    "many marks": "a" + "\u0300\u0323\u0336" * 5,
    "enclosing keycap": "1\ufe0f\u20e3",
    "emoji presentation": "\u2764\ufe0f",
    "skin tone": "\U0001f44d\U0001f3fd",
    "family": "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "astronaut with a skin tone": "\U0001f468\U0001f3ff\u200d\U0001f680",
    "flag": "\U0001f1eb\U0001f1f7",
    "flag of Scotland": "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "Hangul in three jamo": "\u1112\u1161\u11ab",
    "Devanagari vowel sign": "\u0915\u093f",
    "Devanagari with ZWNJ": "\u0915\u094d\u200c",
    "Thai vowel and tone": "\u0e01\u0e35\u0e49",
    "Thai AM": "\u0e19\u0e33",
    "halfwidth kana with its sound mark": "\uff76\uff9e",
    "kana with a combining sound mark": "\u304b\u3099",
    "ideograph with a variation": "\u845b\U000e0100",
    "Arabic with a vowel": "\u0628\u064e",
    "Hebrew with points": "\u05e9\u05c1\u05b8",
    "CRLF": "\r\n",
}

APART = [
    "ab",
    "a ",
    " \u4e2d",
    "\u4e2d\u6587",
    "\n\r",
    "\n\n",
    "\u1112\ud55c",
    "\U0001f600\U0001f600",
    "a\ud800",
    "\udfff\ud800",
]


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_one_character_is_never_cut(text: str) -> None:
    """No cut falls inside a character of several code points, and one falls on either side of it."""
    around = f"x{text}x"
    assert [pos for pos in range(len(around) + 1) if is_joined(around, pos)] == list(range(2, len(text) + 1))


@pytest.mark.parametrize("text", APART)
def test_two_characters_are_cut(text: str) -> None:
    """Characters that only stand beside each other are told apart; lone surrogates are characters."""
    assert not is_joined(text, 1)


def test_ends_are_no_cut() -> None:
    """Nothing is joined at the ends of a text or beyond them, whatever stands there."""
    for text in ("", "\u0301", "\u200d", "\U0001f1eb"):
        assert not any(is_joined(text, pos) for pos in (-1, 0, len(text), len(text) + 1))


@pytest.mark.parametrize(
    ("text", "pos", "expected"),
    [
        ("ab", 1, 1),
        ("ab", 2, 2),
        ("a\r\nb", 2, 1),
        ("ae\u0301b", 2, 1),
        ("a" + "\u0301" * 90, 60, 60),
        ("\u0301" * 9, 4, 0),
    ],
)
def test_a_cut_gives_way_to_a_character(text: str, pos: int, expected: int) -> None:
    """It goes back to the beginning of what people see as one character, unless that is too far."""
    assert whole_before(text, pos) == expected


def test_after_a_joiner_nothing_is_cut() -> None:
    """A zero-width joiner holds whatever follows it, ASCII too."""
    assert is_joined("\u200da", 1)
    assert is_joined("\u200d\u4e2d", 1)


def test_ascii_is_joined_in_crlf_only() -> None:
    """Of all pairs of ASCII characters, CRLF alone is one."""
    points = EVERY[:128]
    assert [a + b for a in points for b in points if is_joined(a + b, 1)] == ["\r\n"]


@pytest.mark.parametrize("before", ["", "x", "\u200d", "\U0001f600"])
def test_flags_are_pairs_from_the_start_of_their_run(before: str) -> None:
    """In a run of flag letters each second gap is inside a flag, however long the run."""
    text = before + "\U0001f1eb\U0001f1f7" * 32 + "\U0001f1eb"
    inside = [is_joined(text, len(before) + letters) for letters in range(1, 65)]
    assert inside == [True, False] * 32


def test_a_text_of_flags_alone_costs_linear_time() -> None:
    """The look-back is bounded: far into an endless run it still answers."""
    text = "\U0001f1eb" * 100_000
    assert sum(is_joined(text, pos) for pos in range(99_000, 100_000)) <= 1_000


@settings(deadline=None)
@given(st.lists(st.sampled_from([*WHOLE.values(), "a", " ", "\n", "\u4e2d", "\u0301", "\U0001f1ec"]), max_size=30))
def test_agrees_with_grapheme_clusters(parts: list[str]) -> None:
    """No cut falls inside an extended grapheme cluster of Unicode's rules (UAX 29)."""
    regex = pytest.importorskip("regex")
    text = "".join(parts)
    for cluster in regex.finditer(r"\X", text):
        assert all(is_joined(text, pos) for pos in range(cluster.start() + 1, cluster.end()))


def test_tables_are_frozen() -> None:
    """Another table means other bytes in renderings: this digest changes with a major release only."""
    data = f"{frozen.NEVER_BEFORE}\n{frozen.WORD}\n{frozen.UNSPACED}\n{frozen.FOLDS}"
    assert UNICODE_VERSION == "15.1.0"
    digest = hashlib.sha256(data.encode()).hexdigest()
    assert digest == "efb415d96d3acba9ff2f73f52632c7e7df0390da141c33ab462874ff4bb12297"


@pytest.mark.skipif(unicodedata.unidata_version != UNICODE_VERSION, reason="this Python has another Unicode version")
def test_tables_are_what_the_generator_writes() -> None:
    """Run under a Python of the frozen version, the generator would change nothing."""
    done = subprocess.run([sys.executable, str(GENERATOR), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_words_are_letters_digits_and_marks() -> None:
    """No code point is in both word classes, and those in one are no blanks, points or symbols."""
    spaced, unspaced = re.compile(f"[{word_class()}]"), re.compile(f"[{unspaced_class()}]")
    found = [set(pattern.findall("".join(EVERY))) for pattern in (spaced, unspaced)]
    assert not found[0] & found[1]
    for ch in found[0] | found[1]:
        assert unicodedata.category(ch)[0] in "LNM" or unicodedata.category(ch) == "Cn", hex(ord(ch))


@pytest.mark.parametrize("ch", "aZ09\u00e9\u00df\u0416\u03c9\u0627\u05d0\u0915\u0301\u00b2")
def test_spaced_words_are_made_of(ch: str) -> None:
    """Latin, Greek, Cyrillic, Arabic, Hebrew and Indic letters, digits and marks are word characters."""
    assert re.fullmatch(f"[{word_class()}]", ch)


@pytest.mark.parametrize("ch", "\u4e2d\u3042\u30a2\ud55c\u0e01\u0e35\u0e81\u1780\u1000\u3105\U00020000")
def test_unspaced_words_are_made_of(ch: str) -> None:
    """Han, kana, Hangul, Thai, Lao, Khmer and Myanmar go by pairs of characters."""
    assert re.fullmatch(f"[{unspaced_class()}]", ch)


@pytest.mark.parametrize("ch", " _-.'\u2019\n\t\u3000\u3002\uff0c\u30fb\u0964\u060c\u200c\u00d7\ud800\U0001f600")
def test_other_characters_are_in_no_word(ch: str) -> None:
    """Blanks, points, joiners, symbols, emoji and surrogates end a word."""
    assert not re.fullmatch(f"[{word_class()}{unspaced_class()}]", ch)


def test_fold_keeps_every_place() -> None:
    """Folding keeps the length, is done after once, and forgets nothing but case."""
    whole = "".join(EVERY)
    folded = fold(whole)
    assert len(folded) == len(whole)
    assert fold(folded) == folded
    for ch, other in zip(whole, folded, strict=True):
        assert ch == other or ch.casefold() == other.casefold(), hex(ord(ch))


def test_variants_are_those_that_fold_alike() -> None:
    """A character's variants are exactly those that fold to the same, itself among them, in order."""
    alike: dict[str, str] = {}
    for ch in EVERY:
        alike[fold(ch)] = alike.get(fold(ch), "") + ch
    assert all(variants(ch) == alike[fold(ch)] for ch in EVERY)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("STRASSE", "strasse"),
        ("STRA\u1e9eE", "stra\u00dfe"),
        ("\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03bf\u03c2", "\u03bf\u03b4\u03bf\u03c3 \u03bf\u03b4\u03bf\u03c3"),
        ("\u0416\u0434\u0430\u0422\u042c", "\u0436\u0434\u0430\u0442\u044c"),
        ("\u212a \u017f", "k s"),
        ("I\u0130\u0131", "i\u0130\u0131"),
        ("\u01c4\u01c5\u01c6", "\u01c6\u01c6\u01c6"),
        ("\u4e2d\u6587 123", "\u4e2d\u6587 123"),
    ],
)
def test_fold_of(text: str, folded: str) -> None:
    """Case goes in every script that has it; the dotted and the dotless i of Turkish stay themselves."""
    assert fold(text) == folded
