"""Server-sent events: text in pieces to the events that it holds.

The rules are those of https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream, with
two more, since gateways send what the page does not know: an event that the text ends in counts, and a line that is
JSON itself (or `<code>:` and JSON, as older AI SDKs write it) is an event of its own.
"""

from __future__ import annotations

__all__ = ["SseReader"]

# "Otherwise: the field is ignored" is for these too; what is left may be an event that has no `data:` in front.
_IGNORED = ("id", "retry")


class SseReader:
    """Reads text cut anywhere. Lines end with LF, CRLF or CR; the byte order mark is the caller's to drop."""

    def __init__(self) -> None:
        self._line: list[str] = []  # pieces of the line that has not ended
        self._after_cr = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, text: str) -> list[tuple[str, str]]:
        """The events that end in this piece: name (`""` without one) and data, whose lines are joined with LF."""
        if not text:
            return []
        if self._after_cr and text[0] == "\n":
            text = text[1:]  # the second half of a CRLF
        self._after_cr = text.endswith("\r")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        if len(lines) == 1:
            self._line += lines
            return []
        if self._line:
            lines[0] = "".join([*self._line, lines[0]])
        self._line = [lines.pop()]
        return self._events(lines)

    def close(self) -> list[tuple[str, str]]:
        """The event that the text ended in, if any."""
        line, self._line = "".join(self._line), []
        return self._events([line, ""] if line else [""])

    def _events(self, lines: list[str]) -> list[tuple[str, str]]:
        events: list[tuple[str, str]] = []
        data = self._data
        for line in lines:
            if line.startswith("data:"):
                # "If value starts with a U+0020 SPACE character, remove it from value."
                data.append(line[6:] if line.startswith(" ", 5) else line[5:])
            elif not line:
                if data:
                    events.append((self._name, data[0] if len(data) == 1 else "\n".join(data)))
                    data.clear()
                self._name = ""
            elif line[0] in "{[":
                events.append(("", line))
            elif line[0] != ":":
                self._field(line, events)
        return events

    def _field(self, line: str, events: list[tuple[str, str]]) -> None:
        field, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append("")
        elif colon and len(field) == 1 and field not in _IGNORED:
            events.append((field, value))
