"""What one run of the demo leaves to be checked and shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from trimtab import Budget, Host, Policy
from trimtab.cli.demo.agent import Outcome
from trimtab.types import Json

__all__ = [
    "BLOBS",
    "CONVERSATION",
    "DATABASE",
    "POLICY",
    "STRANGER",
    "Evidence",
    "Request",
    "budget_of",
    "sources_of",
    "store_url",
]

POLICY = Policy(batch=20_000)
CONVERSATION, STRANGER = "conversation-1", "conversation-2"
DATABASE, BLOBS = "app.db", "blobs.db"


@frozen(kw_only=True)
class Request:
    """One request to the model, as sent: `shared` bytes at its beginning are those of the request before."""

    body: bytes
    shared: int
    untrimmed: int
    """Bytes that it would have had with whole outputs."""


@frozen(kw_only=True)
class Evidence:
    """Everything of one run. `secret` is a text of another conversation, which a hostile page names."""

    host: Host
    load: Callable[..., Host]
    folder: Path
    outcomes: Sequence[Outcome]
    requests: Sequence[Request]
    secret: str
    secret_id: str

    def rows(self) -> list[Json]:
        """The rows of the conversation, as its database gives them back."""
        return [json.loads(one.trimmed.row_text) for one in self.outcomes]


def budget_of(host: Host, outcome: Outcome) -> Budget:
    """The budget that an output was trimmed to, its share of a batch included."""
    used = host.explain(outcome.trimmed)["budget"]
    return Budget(limit=used["limit"], keep=used["keep"])


def sources_of(host: Host, value: Json) -> list[tuple[str, str, str]]:
    """Id, url and title of every source that an output or a row offers, in order."""
    return [(one.id, one.url, one.title) for one in host.citations([value])]


def store_url(folder: Path) -> str:
    """The URL of the blob store in a run's folder."""
    return f"sqlite:///{(folder / BLOBS).resolve().as_posix()}"
