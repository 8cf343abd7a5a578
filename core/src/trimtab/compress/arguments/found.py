"""What one parse has found so far."""

from __future__ import annotations

from typing import Final

from trimtab.compress.arguments.entries import Defaults, Entry, entry_of, range_or_reason
from trimtab.compress.arguments.parts import entries_in
from trimtab.compress.arguments.repairs import REPEATED_KEY
from trimtab.compress.arguments.results import CompressRange, Kind
from trimtab.lenient.repairs import GIVEN_UP
from trimtab.lenient.repeated import Repeated
from trimtab.types import Json

__all__ = ["Found"]

_REASONS: Final = 100  # kept of a call with very many bad entries; all of them are counted


class Found:
    """Ranges, faults and repairs, in the order of the text."""

    def __init__(self, call_id: str | None) -> None:
        self.call_id = call_id
        self.ranges: list[CompressRange] = []
        self.invalid = 0
        self.reasons: list[str] = []
        self.repairs: dict[str, None] = {}
        self.keys: tuple[str, ...] = ()
        self.cut = False
        self.defaults: Defaults = (None, None)
        self.content_type: str | None = None  # what stands in the place of the array that is being read
        self.fault_type: str | None = None
        self.fault_keys: tuple[str, ...] = ()
        self._fault: Kind | None = None

    def kind(self) -> Kind:
        """The kind of the whole: what the text is, not how it was read."""
        if self.cut and GIVEN_UP not in self.repairs:
            return "truncated"
        if self.ranges:
            return "ok"
        return "no-valid-ranges" if self.invalid else self._fault or "malformed-json"

    def fail(self, kind: Kind, value: dict[str, Json] | None = None, what: str | None = None) -> None:
        """Take note of why there may be no ranges; the first cause counts. `value`: what has no content, `what`: what
        it is instead of arguments, where it says so.
        """
        if self._fault is None:
            self._fault = kind
            self.fault_type = self.content_type if value is None else what
            self.fault_keys = tuple(value or ())

    def count(self) -> int:
        """How many entries were seen that are not half-written."""
        return len(self.ranges) + self.invalid

    def has_reasons(self) -> bool:
        """Whether there are as many reasons as are kept."""
        return len(self.reasons) >= _REASONS

    def add(self, entry: Entry) -> None:
        """Take a range, or the reason why an entry is none."""
        if isinstance(entry, CompressRange):
            self.ranges.append(entry)
            return
        if not self.has_reasons():
            self.reasons.append(f"entry {self.count()}: {entry}")
        self.invalid += 1

    def add_bad(self, item: Json) -> None:
        """Count what is no entry; the reason is looked for only where it is kept."""
        if self.has_reasons():
            self.invalid += 1
        else:
            self.add(entry_of(item, self.defaults, self.call_id))

    def take(self, item: dict[str, Json], *, left_open: bool = False) -> None:
        """Take the entry that an object is, or the entries that it was before the brackets between them were lost; the
        last is none where the text ended inside it.
        """
        if type(item) is not Repeated:
            if not left_open:
                self.add(range_or_reason(item, self.defaults, self.call_id))
            return
        self.repairs[REPEATED_KEY] = None
        parts = entries_in(item)
        for part in parts[: len(parts) - left_open]:
            self.add(range_or_reason(part, self.defaults, self.call_id))
