"""Sets the demo up, lets the agent answer two questions, has the laws checked and the outcome shown."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from trimtab import Host
from trimtab.cli import streams
from trimtab.cli.demo.agent import Agent, Outcome
from trimtab.cli.demo.citing import cited
from trimtab.cli.demo.database import Database
from trimtab.cli.demo.evidence import CONVERSATION, DATABASE, POLICY, STRANGER, Evidence, Request, store_url
from trimtab.cli.demo.knowledge import chunks
from trimtab.cli.demo.laws import check_laws
from trimtab.cli.demo.model import FIRST_QUESTION, SECOND_QUESTION
from trimtab.cli.demo.pages import documentation, fetch, hostile_page, serve
from trimtab.cli.demo.report import Report, show
from trimtab.cli.demo.tools import Toolbox
from trimtab.errors import CallerError
from trimtab.testing.independent import blob_id_of

__all__ = ["perform"]

_PLUGINS = {"fs": "trimtab-fs", "kb": "trimtab-kb", "web": "trimtab-web"}


def perform(keep_dir: Path | None, as_json: bool, load: Callable[..., Host]) -> int:
    """As `trimtab.cli.demo.run`."""
    with _folder(keep_dir) as folder, load(store=store_url(folder), policy=POLICY) as host:
        if fault := _missing(host):
            streams.say(f"trimtab demo needs {fault}")
            return 2
        report = _played(host, folder, load)
        show(report, as_json=as_json, kept=keep_dir)
        return 0 if report.ok else 1


def _missing(host: Host) -> str:
    """The plugins that the demo needs and that did not load, and what to do; nothing when all are there."""
    missing = {plugin: name for plugin, name in _PLUGINS.items() if plugin not in {one.name for one in host.plugins}}
    if broken := [name for plugin, name in missing.items() if plugin in {one.name for one in host.broken}]:
        return f"{', '.join(broken)}, which did not load: `trimtab plugins` says why"
    return f"{', '.join(missing.values())}: pip install {' '.join(missing.values())}" if missing else ""


@contextmanager
def _folder(keep_dir: Path | None) -> Iterator[Path]:
    if keep_dir is None:
        with TemporaryDirectory(prefix="trimtab-demo-") as name:
            yield Path(name)
        return
    if (keep_dir / DATABASE).exists():
        raise CallerError(f"{keep_dir} holds the {DATABASE} of another run: give another folder, or delete it")
    keep_dir.mkdir(parents=True, exist_ok=True)
    yield keep_dir


def _played(host: Host, folder: Path, load: Callable[..., Host]) -> Report:
    """Two questions and their answers, then the checks."""
    secret = Path(pickle.__file__).read_text(encoding="utf-8")
    host.trim("python_help", secret, owner=STRANGER)
    secret_id = blob_id_of(secret)
    site = {**documentation(), "/forum/first-callback.html": hostile_page(secret_id, POLICY.read_tool)}
    outcomes: list[Outcome] = []
    sent: list[bytes] = []
    with serve(site) as address, Database(folder / DATABASE) as database:
        toolbox = Toolbox(host, [fetch(address + path) for path in site], chunks())
        agent = Agent(
            conversation=CONVERSATION,
            host=host,
            database=database,
            toolbox=toolbox,
            on_request=sent.append,
            on_outcome=outcomes.append,
        )
        answers = {question: agent.ask(question) for question in (FIRST_QUESTION, SECOND_QUESTION)}

        originals = {one.trimmed.row_text: one.output for one in outcomes}
        untrimmed = list(database.requests(CONVERSATION, toolbox.definitions(), originals.__getitem__))
    requests = [
        Request(body=body, shared=_shared(before, body), untrimmed=len(full))
        for body, before, full in zip(sent, [b"", *sent], untrimmed, strict=False)
    ]
    evidence = Evidence(
        host=host,
        load=load,
        folder=folder,
        outcomes=outcomes,
        requests=requests,
        secret=secret,
        secret_id=secret_id,
    )
    return Report(
        evidence=evidence,
        answers=answers,
        citations=[cited(answer, outcomes) for answer in answers.values()],
        laws=list(check_laws(evidence)),
    )


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes two requests begin with in common."""
    shorter = min(len(one), len(other))
    return next((n for n in range(shorter) if one[n] != other[n]), shorter)
