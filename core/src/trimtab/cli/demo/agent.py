"""The agent's loop, with trimtab in it. Whoever embeds trimtab writes something like `Agent.ask`."""

from __future__ import annotations

import json
from collections.abc import Callable

from attrs import field, frozen

from trimtab import Call, Host, Trimmed
from trimtab.cli.demo.database import Database, StoredResult
from trimtab.cli.demo.model import reply
from trimtab.cli.demo.tools import Toolbox
from trimtab.types import Json

__all__ = ["Agent", "Outcome"]

_MOST_STEPS = 20


@frozen(kw_only=True)
class Outcome:
    """One tool call, what the tool gave, what became of it. `batch`: number of the message that called."""

    call_id: str
    tool: str
    arguments: Json
    output: Json = field(repr=False)
    trimmed: Trimmed = field(repr=False)
    batch: int


@frozen(kw_only=True)
class Agent:
    """One conversation: its host, database and tools, and whom to tell of every step.

    `on_request` is called with the bytes of each request to the model, `on_outcome` with every tool result.
    """

    conversation: str
    host: Host
    database: Database
    toolbox: Toolbox
    on_request: Callable[[bytes], None]
    on_outcome: Callable[[Outcome], None]

    def ask(self, question: str) -> str:
        """Answer a question: ask the model, run what it calls, until it calls nothing more."""
        self._say("user", question)
        for _ in range(_MOST_STEPS):
            *_, request = self.database.requests(self.conversation, self.toolbox.definitions(), self._shown)
            self.on_request(request)
            answer = reply(request)
            message = self._say("assistant", answer)
            calls = [block for block in answer if block["type"] == "tool_use"]
            if not calls:
                return str(answer[0]["text"])
            self._run(message, calls)
        raise RuntimeError(f"the model still calls tools after {_MOST_STEPS} steps")

    def _shown(self, row_text: str) -> Json:
        return self.host.render(json.loads(row_text), owner=self.conversation)

    def _run(self, message: int, calls: list[Json]) -> None:
        """Run the calls of one assistant message; trim what they give; save the rows."""
        allow = self.host.allow_list(self.database.rows(self.conversation), owner=self.conversation)
        outputs = [self.toolbox.run(call["name"], call["input"], allow) for call in calls]
        trimmed = self.host.trim_batch(
            [Call(call["name"], output, arguments=call["input"]) for call, output in zip(calls, outputs, strict=True)],
            owner=self.conversation,
        )
        results = []
        for call, output, one in zip(calls, outputs, trimmed, strict=True):
            results.append(StoredResult(message, call["id"], call["name"], call["input"], one.row_text))
            self.on_outcome(
                Outcome(
                    call_id=call["id"],
                    tool=call["name"],
                    arguments=call["input"],
                    output=output,
                    trimmed=one,
                    batch=message,
                )
            )
        self.database.add_results(results)

    def _say(self, role: str, content: Json) -> int:
        return self.database.add_message(self.conversation, role, content)
