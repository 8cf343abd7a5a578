"""Writes `trimtab/tables/frozen.py` from the `unicodedata` of the Python that runs this file.

    python core/tools/make_tables.py            # write the file, print the Unicode version it froze
    python core/tools/make_tables.py --check    # write nothing; exit 1 if the file would change

A new Unicode version changes where texts are cut and what a query finds, and with that the bytes of
renderings: run this for a major release only, and say so in the changelog.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src" / "trimtab" / "tables" / "frozen.py"

# Joining code points that `unicodedata` does not tell apart: they have no mark category.
JOINING = (
    (0x0E33, 0x0E33),  # Thai and Lao AM: vowel signs by use, letters by category
    (0x0EB3, 0x0EB3),
    (0x1160, 0x11FF),  # Hangul medial vowels and final consonants
    (0x200C, 0x200D),  # ZWNJ, ZWJ
    (0xD7B0, 0xD7C6),  # Hangul Jamo Extended-B: medial, final
    (0xD7CB, 0xD7FB),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFF9E, 0xFF9F),  # halfwidth kana sound marks
    (0x1F3FB, 0x1F3FF),  # emoji skin tones
    (0xE0020, 0xE007F),  # tags
    (0xE0100, 0xE01EF),  # variation selectors supplement
)

# Blocks whose words are not told apart by blanks, or, as in Korean, carry their endings without one.
UNSPACED_BLOCKS = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul Jamo
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # CJK and Kangxi radicals
    (0x3005, 0x303C),  # ideographic iteration marks and numerals
    (0x3041, 0x318F),  # kana, Bopomofo, Hangul compatibility jamo
    (0x31A0, 0x31FF),  # Bopomofo Extended, Katakana phonetic extensions
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA000, 0xA4CF),  # Yi
    (0xA960, 0xA97F),  # Hangul Jamo Extended-A
    (0xA980, 0xA9FF),  # Javanese, Myanmar Extended-B
    (0xAA60, 0xAA7F),  # Myanmar Extended-A
    (0xAC00, 0xD7FF),  # Hangul syllables, Jamo Extended-B
    (0xF900, 0xFAFF),  # Han compatibility
    (0xFF66, 0xFFDC),  # halfwidth kana and jamo
    (0x1AFF0, 0x1B16F),  # kana supplements
    (0x20000, 0x3FFFD),  # Han supplements
)


def ranges(keep: Callable[[int], bool]) -> list[tuple[int, int]]:
    """Inclusive ranges, ascending and apart, of the code points that `keep` is true for."""
    found: list[tuple[int, int]] = []
    for point in range(sys.maxunicode + 1):
        if not keep(point):
            continue
        if found and found[-1][1] == point - 1:
            found[-1] = (found[-1][0], point)
        else:
            found.append((point, point))
    return found


def within(blocks: Iterable[tuple[int, int]], point: int) -> bool:
    """Whether a code point lies in one of these blocks."""
    return any(first <= point <= last for first, last in blocks)


def category(point: int) -> str:
    """Its general category in the Unicode data that the tables are made from."""
    return unicodedata.category(chr(point))


def is_wordy(point: int) -> bool:
    """Whether it is part of words."""
    return category(point)[0] in "LNM"


def joins(point: int) -> bool:
    """Whether it joins with the character before it."""
    return category(point) in ("Mn", "Mc", "Me") or within(JOINING, point)


def unspaced(point: int) -> bool:
    """Whether its script puts no blanks between words."""
    return is_wordy(point) and within(UNSPACED_BLOCKS, point)


def spaced_word(point: int) -> bool:
    """Whether it is part of words that have blanks between them."""
    return is_wordy(point) and not within(UNSPACED_BLOCKS, point)


def case_pairs() -> list[tuple[int, int]]:
    """(code point, what it folds to), without those that fold to themselves.

    Code points with the same full case folding are one orbit; all fold to the one that is its own
    simple folding. So the sharp s, whose full folding has two letters, folds one to one as well.
    """
    orbits: dict[str, list[str]] = {}
    for point in range(sys.maxunicode + 1):
        if not 0xD800 <= point <= 0xDFFF:
            orbits.setdefault(chr(point).casefold(), []).append(chr(point))
    pairs = []
    for folded, orbit in orbits.items():
        target = folded if folded in orbit else min(orbit, key=lambda ch: (ch.lower() != ch, ch))
        pairs += [(ord(ch), ord(target)) for ch in orbit if ch != target]
    return sorted(pairs)


def case_runs(pairs: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """Runs (first, last, step 1 or 2, distance to the folding)."""
    runs: list[tuple[int, int, int, int]] = []
    for point, target in pairs:
        distance = target - point
        if runs:
            first, last, step, run_distance = runs[-1]
            gap = point - last
            if run_distance == distance and gap in (1, 2) and (first == last or gap == step):
                runs[-1] = (first, point, gap, distance)
                continue
        runs.append((point, point, 1, distance))
    return runs


def spell_ranges(found: list[tuple[int, int]]) -> str:
    """Ranges as words: `41`, `41-5a`."""
    return " ".join(f"{first:x}" if first == last else f"{first:x}-{last:x}" for first, last in found)


def spell_runs(runs: list[tuple[int, int, int, int]]) -> str:
    """Runs as words, each with its step and its distance: `41-5a+20`, `100-12e/2+1`."""
    words = []
    for first, last, step, distance in runs:
        span = f"{first:x}" if first == last else f"{first:x}-{last:x}"
        words.append(f"{span}{'/2' if step == 2 else ''}{distance:+x}")
    return " ".join(words)


def constant(name: str, doc: str, value: str) -> str:
    """A constant of the module: its words, wrapped, and what they are."""
    lines = textwrap.wrap(value, 112, break_on_hyphens=False)
    body = "\n".join(f'    "{line} "' for line in lines[:-1]) + f'\n    "{lines[-1]}"'
    return f'{name} = (\n{body.lstrip(chr(10))}\n)\n"""{doc}"""\n'


def module() -> str:
    """The whole text of the module that holds the tables."""
    return "\n".join(
        (
            f'"""Unicode {unicodedata.unidata_version} as trimtab froze it; written by `core/tools/make_tables.py`.',
            "",
            "Words of hexadecimal code points: `41`, or `41-5a` with both ends. Decoded by `trimtab.tables`.",
            '"""',
            "",
            "from __future__ import annotations",
            "",
            f'UNICODE_VERSION = "{unicodedata.unidata_version}"',
            "",
            constant("NEVER_BEFORE", "Never cut before these.", spell_ranges(ranges(joins))),
            constant("WORD", "Letters, digits and marks of scripts that put blanks between words.",
                     spell_ranges(ranges(spaced_word))),
            constant("UNSPACED", "Letters, digits and marks of scripts that do not.", spell_ranges(ranges(unspaced))),
            constant(
                "FOLDS",
                "Code points and the hexadecimal distance to what each folds to; `/2`: every second one of the range.",
                spell_runs(case_runs(case_pairs())),
            ),
        )
    )  # fmt: skip


def main() -> int:
    """Write the module, or say whether it would change. The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file would change")
    check = parser.parse_args().check
    text = module()
    same = TARGET.exists() and TARGET.read_text(encoding="utf-8") == text
    if not check:
        TARGET.write_text(text, encoding="utf-8")
    outcome = "is the same" if same else "differs" if check else "written"
    print(f"Unicode {unicodedata.unidata_version}: {TARGET.name} {outcome}")
    return 1 if check and not same else 0


if __name__ == "__main__":
    sys.exit(main())
