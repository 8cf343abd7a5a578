"""The part of the scanner that steps over what is no JSON: comments and fences."""

from __future__ import annotations

import re
from typing import Final

from trimtab.lenient import repairs as names
from trimtab.lenient.quoted import QuotedText

__all__ = ["Asides"]

_FENCE: Final = re.compile("(`{3,}|~{3,})[A-Za-z0-9_+-]*+[ \\t\\r]*+(?=[\\n\\[{}\\]]|\\Z)")


class Asides(QuotedText):
    """Reads comments and fences."""

    def _aside(self, i: int) -> bool:
        """Step over a comment or a fence that begins here; False: neither does."""
        if self._comment_begins(i):
            return True
        found = _FENCE.match(self.text, i)
        if found is None:
            return False
        self.repairs[names.FENCE] = None
        self.pos = found.end()
        return True

    def _comment_begins(self, i: int) -> bool:
        text = self.text
        if text.startswith(("//", "#"), i):
            self._comment_end = "\n"
        elif text.startswith("/*", i):
            self._comment_end = "*/"
        elif text.startswith("<!--", i):
            self._comment_end = "-->"
        else:
            return False
        self.repairs[names.COMMENT] = None
        self.pos = i + 2 - text.startswith("#", i)
        self._resume, self._state = self._state, self.COMMENT
        return True

    def _in_comment(self) -> bool:
        text = self.text
        at = text.find(self._comment_end, self.pos)
        if at >= 0:
            self.pos = at + len(self._comment_end)
            self._state = self._resume
            return True
        if not self.closed:
            self.pos = max(self.pos, len(text) - len(self._comment_end) + 1)
            return False
        self.pos = len(text)
        self._state = self._resume
        return True
