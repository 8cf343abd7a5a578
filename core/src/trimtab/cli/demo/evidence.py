"""What one run of the demo leaves to be checked and shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from trimtab import Host, Policy
from trimtab.cli.demo.agent import Outcome
from trimtab.policy import ToolPolicy
from trimtab.types import Json

__all__ = [
    "BLOBS",
    "CONVERSATION",
    "DATABASE",
    "POLICY",
    "STRANGER",
    "Evidence",
    "Request",
    "sources_of",
    "store_url",
]

# `read_file` is a read-back tool here, as `trimtab_fs.policy_with_fs` makes it: its pages are whole in prompts.
POLICY = Policy(batch=20_000, tools={"read_file": ToolPolicy(exempt=True)})
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


def sources_of(host: Host, value: Json) -> list[tuple[str, str, str]]:
    """Id, url and title of every source that an output or a row offers, in order."""
    return [(one.id, one.url, one.title) for one in host.citations([value])]


def store_url(folder: Path) -> str:
    """The URL of the blob store in a run's folder."""
    return f"sqlite:///{(folder / BLOBS).resolve().as_posix()}"
