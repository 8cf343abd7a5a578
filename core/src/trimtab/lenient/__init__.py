"""Lenient JSON: reads what models write for JSON, and says what it mended.

`loads(text)` gives the value and the names of the repairs. `Tokenizer` reads a text as it comes in and gives events
with their places, and with whether the text closed them or ended inside them.
"""

from __future__ import annotations

from trimtab.lenient.events import END, NEED_DATA, Event, Tokenizer
from trimtab.lenient.load import loads

__all__ = ["END", "NEED_DATA", "Event", "Tokenizer", "loads"]
