"""Texts to store: strategies, and how `put` takes them."""

from __future__ import annotations

import hashlib

from hypothesis import strategies as st

__all__ = ["by_id", "id_of", "stored_texts"]

# Places where a store can lose or change a char: line ends, NUL, what looks like a line end to some, chars of one to
# four bytes, surrogates alone, and as a pair of code points that is not the char it would encode.
_PIECES = ("\n", "\r\n", "\r", "\0", "\u2028", "\x85", "\x1c", "\ufeff", "a", "é", "€", "😀", "\ud835", "\ud83d\ude00")


def stored_texts() -> st.SearchStrategy[str]:
    """Texts of every plane, rich in what is easily lost."""
    anything = st.text(st.characters(exclude_categories=()), max_size=200)
    return anything | st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


def id_of(text: str) -> str:
    """The blob id, spelt out: a contract does not take the product's word for it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def by_id(*texts: str) -> dict[str, str]:
    """The texts by their blob ids, as `put` takes them."""
    return {id_of(text): text for text in texts}
