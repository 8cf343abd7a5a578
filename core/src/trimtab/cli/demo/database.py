"""The application's own database: the messages of its conversations. Of a tool's output it holds the row, never more.

A request to the model is put together from here and from nowhere else, so it is the same whichever process does it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType

from attrs import frozen

from trimtab.types import Json

__all__ = ["Database", "StoredResult", "as_text"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY, conversation TEXT NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS results (
    call_id TEXT PRIMARY KEY, message INTEGER NOT NULL REFERENCES messages, tool TEXT NOT NULL,
    arguments TEXT NOT NULL, row TEXT NOT NULL
);
"""


@frozen
class StoredResult:
    """A tool result as the database holds it; `row_text` is `Trimmed.row_text`, `message` the one that called."""

    message: int
    call_id: str
    tool: str
    arguments: Json
    row_text: str


class Database:
    """Messages in the shapes of one wire protocol (here Anthropic's), tool results apart from them."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(_SCHEMA)

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def add_message(self, conversation: str, role: str, content: Json) -> int:
        """Save what the user or the model said; gives the message's number."""
        insert = "INSERT INTO messages (conversation, role, content) VALUES (?, ?, ?)"
        done = self._connection.execute(insert, (conversation, role, json.dumps(content)))
        return int(done.lastrowid or 0)

    def add_results(self, results: Sequence[StoredResult]) -> None:
        """Save the results that answer one assistant message, all or none."""
        insert = "INSERT INTO results (message, call_id, tool, arguments, row) VALUES (?, ?, ?, ?, ?)"
        rows = [(one.message, one.call_id, one.tool, json.dumps(one.arguments), one.row_text) for one in results]
        with closing(self._connection.cursor()) as cursor:
            cursor.execute("BEGIN")
            cursor.executemany(insert, rows)
            cursor.execute("COMMIT")

    def results(self, conversation: str) -> list[StoredResult]:
        """Every tool result of a conversation, in order."""
        select = (
            "SELECT message, call_id, tool, arguments, row FROM results JOIN messages ON number = message "
            "WHERE conversation = ? ORDER BY results.rowid"
        )
        found = self._connection.execute(select, (conversation,))
        return [StoredResult(message, call, tool, json.loads(said), row) for message, call, tool, said, row in found]

    def rows(self, conversation: str) -> list[Json]:
        """The rows of every tool result, for `Host.allow_list`."""
        return [json.loads(one.row_text) for one in self.results(conversation)]

    def requests(self, conversation: str, tools: Sequence[Json], show: Callable[[str], Json]) -> Iterator[bytes]:
        """The requests that led to each answer of the model's, and the one that asks for the next.

        Args:
            tools: the tool list of every request.
            show: gives what the prompt shows of a row's text, as `Host.render` does of a row.
        """
        results: dict[int, list[Json]] = {}
        for one in self.results(conversation):
            value = show(one.row_text)
            block = {"type": "tool_result", "tool_use_id": one.call_id, "content": as_text(value)}
            results.setdefault(one.message, []).append(block)
        messages: list[Json] = []
        select = "SELECT number, role, content FROM messages WHERE conversation = ? ORDER BY number"
        for number, role, content in self._connection.execute(select, (conversation,)):
            if role == "assistant":
                yield _request(tools, messages)
            messages.append({"role": role, "content": json.loads(content)})
            if number in results:
                messages.append({"role": "user", "content": results[number]})
        yield _request(tools, messages)


def as_text(value: Json) -> str:
    """A tool's output as the text of a prompt: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _request(tools: Sequence[Json], messages: Sequence[Json]) -> bytes:
    body = {"model": "scripted", "tools": tools, "messages": messages}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
