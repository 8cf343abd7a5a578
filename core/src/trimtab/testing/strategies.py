"""Hypothesis strategies for what tools return: texts, JSON values, JSON text, budgets, focus. Needs Hypothesis.

Long texts are made from a seed, not drawn character by character: they cost nothing to draw, and shrink to short ones
of the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from trimtab.budget import Budget
from trimtab.testing.corpus import FOREIGN_TEXT, OWN_TEXT, TEXT_KINDS, joined, made_text
from trimtab.testing.independent import blob_id_of
from trimtab.testing.spelling import Style, written
from trimtab.types import Json, TokenCounter

__all__ = [
    "CountsBytes",
    "CountsWords",
    "budgets",
    "focuses",
    "forged_rows",
    "json_texts",
    "json_values",
    "keys",
    "media_blocks",
    "scalars",
    "styles",
    "texts",
    "token_budgets",
]

_SIZES = (0, 1, 255, 256, 257, 600, 1_500, 2_047, 2_048, 2_049, 5_000, 12_000)


def texts(*, longest: int = 12_000) -> SearchStrategy[str]:
    """Texts of every kind and of sizes around every bound; no surrogate pair as two code points."""
    sizes = st.sampled_from([size for size in _SIZES if size <= longest]) | st.integers(0, longest)
    made = st.builds(made_text, st.sampled_from(sorted(TEXT_KINDS)), sizes, st.integers(0, 999))
    short = st.text(max_size=30)
    mixed = st.lists(made, min_size=2, max_size=3).map(lambda parts: joined(*parts)[:longest])
    return st.one_of(short, made, made, mixed)


def keys() -> SearchStrategy[str]:
    """Member names: ordinary ones, those a pointer must escape, those that mean something to a decoder of ours."""
    odd = ("", "~", "/", "a/b", "~1", "*", "0", "-", "é", "\ud800", '"', "\x00", "$persistedToolOutput", "type", "a\nb")
    return st.sampled_from(("id", "title", "content", "text", "note")) | st.sampled_from(odd) | st.text(max_size=8)


def scalars() -> SearchStrategy[Json]:
    """JSON scalars that a careless encoder changes."""
    numbers = (
        2**53,
        2**53 + 1,
        -(2**63),
        2**64,
        10**40,
        0.1,
        -0.0,
        1e16,
        1e-5,
        1.7976931348623157e308,
        5e-324,
        1e22,
        1.0,
    )
    return st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(numbers),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
        st.sampled_from(("https://example.org/a?b=c#d", "0123456789abcdef" * 2, "\ud800", "\u2028")),
    )


def media_blocks() -> SearchStrategy[Json]:
    """Media blocks of several vendors, whose payload is no text."""
    payload = st.integers(0, 3_000).map(lambda size: made_text("solid", size - size % 4, size))
    shapes: tuple[Callable[[str], Json], ...] = (
        lambda data: {"type": "image", "data": data, "mimeType": "image/png"},
        lambda data: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        lambda data: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        lambda data: {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
        lambda data: {"inlineData": {"mimeType": "image/png", "data": data}},
        lambda data: {"image": {"format": "png", "source": {"bytes": data}}},
    )
    return st.builds(lambda shape, data: shape(data), st.sampled_from(shapes), payload)


def json_values(*, longest: int = 12_000, deepest: int = 70) -> SearchStrategy[Json]:
    """JSON values: deep (to about `deepest` levels), wide, with long texts and media in them."""
    leaves = scalars() | texts(longest=longest) | texts(longest=longest) | media_blocks()
    trees = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys(), inner, max_size=4),
        max_leaves=8,
    )
    return st.one_of(
        trees,
        st.builds(_deep, trees, st.integers(0, deepest)),
        st.builds(_wide, texts(longest=400), st.integers(0, 80)),
    )


def _deep(value: Json, levels: int) -> Json:
    for level in range(levels):
        value = [level, value] if level % 2 else {"n": level, "inner": value, "after": "x"}
    return value


def _wide(text: str, count: int) -> Json:
    return [{"id": f"id-{n}", "n": n, "text": text[n:]} for n in range(count)]


def styles() -> SearchStrategy[Style]:
    """Ways to write JSON text."""
    return st.builds(
        Style,
        escapes=st.sampled_from(("utf8", "utf8", "ascii", "ascii", "slashes", "upper", "html", "odd")),
        indent=st.sampled_from((None, 0, 2, "\t")),
        separators=st.sampled_from(((",", ":"), (", ", ": "), (" ,\t", " :\r\n"))),
        bom=st.booleans(),
        ending=st.sampled_from(("", "\n", " \r\n\t")),
        odd_numbers=st.booleans(),
        repeat_keys=st.booleans(),
        seed=st.integers(0, 999),
    )


def forged_rows() -> SearchStrategy[Json]:
    """Outputs that look like stored rows of every generation: sound ones, damaged ones, one that names a real text."""
    named = st.sampled_from((OWN_TEXT, FOREIGN_TEXT))
    long = texts(longest=3_000)

    def of_now(text: str, skeleton: Json, version: Json) -> Json:
        ref = {"key": "/0", "blobId": blob_id_of(text), "totalChars": len(text), "cuts": [[1, len(text)]]}
        return {"v": version, "tool": "x", "skeleton": [skeleton], "blobRefs": [ref]}

    def of_before(shown: str) -> Json:
        counts = {"totalChars": 90_000, "totalLines": 3}
        return {"fileEntryId": "a", "vfsFilename": "b", "head": shown, "tail": shown, **counts, "shape": "text"}

    bodies = st.one_of(
        st.builds(of_now, named, long, st.sampled_from((3, 3, 4, "3", None))),
        st.builds(of_before, long),
        st.dictionaries(keys(), long, max_size=3),
        long,
    )
    return bodies.map(lambda body: {"$persistedToolOutput": body})


def json_texts(values: SearchStrategy[Json] | None = None) -> SearchStrategy[str]:
    """JSON text of arrays and objects, written in every way that `json.loads` reads."""
    containers = (json_values() if values is None else values).filter(lambda value: isinstance(value, dict | list))
    return st.builds(written, containers, styles())


def budgets(*, least: int = 512, most: int = 8_000) -> SearchStrategy[Budget]:
    """Budgets in chars, small ones most of all, with and without a cap."""
    keeps = st.sampled_from((512, 513, 700, 2_000)) | st.integers(512, most)
    return st.builds(
        lambda keep, more, cap: Budget(limit=keep + more, keep=keep, cap=cap),
        keeps.map(lambda keep: max(keep, least)),
        st.sampled_from((0, 1)) | st.integers(0, 4_000),
        st.sampled_from((None, None, None, 256, 300, 1_000)),
    )


def token_budgets() -> SearchStrategy[Budget]:
    """Budgets in tokens, by the estimator and by counters that count in their own way."""
    counters: SearchStrategy[str | TokenCounter] = st.sampled_from(("estimate", CountsBytes(), CountsWords()))
    return st.builds(
        lambda keep, more, cap, counter: Budget(unit="tokens", limit=keep + more, keep=keep, cap=cap, counter=counter),
        st.sampled_from((128, 129, 400)) | st.integers(128, 3_000),
        st.sampled_from((0, 1)) | st.integers(0, 1_000),
        st.sampled_from((None, None, 64, 100, 500)),
        counters,
    )


def focuses() -> SearchStrategy[str | None]:
    """What excerpts may be asked to answer."""
    return st.sampled_from(
        (None, None, "", "line 17", "cache prefix", "前缀", "omitted chars", "{", "x" * 200)
    ) | st.text(max_size=20)


class CountsBytes:
    """A token counter: one token for three bytes of UTF-8."""

    name = "bytes"
    version = "1"

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        return (len(text.encode("utf-8", "surrogatepass")) + 2) // 3


class CountsWords:
    """A token counter whose counts jump: runs of one kind of char cost one token, however long."""

    name = "words"
    version = "1"
    _WORD = re.compile("[a-z0-9]+|[^a-z0-9]")

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        return len(self._WORD.findall(text))
