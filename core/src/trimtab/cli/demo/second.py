"""A second process that makes the requests and rows of a run again, to compare bytes.

It gets the folder with the application's database and the blobs, nothing else; another hash seed and another locale.
The rows it makes from outputs that it puts together itself, over a store in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from attrs import frozen

from trimtab import Call, Host
from trimtab.cli.demo.database import Database
from trimtab.cli.demo.evidence import CONVERSATION, DATABASE, POLICY, store_url
from trimtab.cli.demo.tools import Toolbox
from trimtab.errors import TrimtabError
from trimtab.types import Json

__all__ = ["Second", "ask_second_process", "digest"]

_SEEDS = ("1", "2")


@frozen(kw_only=True)
class Second:
    """Digests that the second process made: of requests by their 1-based number, of rows by call id."""

    seed: str
    requests: dict[int, str]
    rows: dict[str, str]


def digest(data: bytes) -> str:
    """Tells bytes apart."""
    return hashlib.sha256(data).hexdigest()


def ask_second_process(folder: Path) -> Second:
    """Run the second process over a run's folder. Raises TrimtabError with what it said, when it failed."""
    seed = next(one for one in _SEEDS if one != os.environ.get("PYTHONHASHSEED"))
    environ = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
    command = [sys.executable, "-P", "-m", __name__, str(folder)]  # -P: no module of the current folder's
    done = subprocess.run(command, env=environ, capture_output=True, check=False, timeout=60)
    if done.returncode:
        raise TrimtabError(f"the second process failed: {done.stderr.decode('utf-8', 'replace')[-400:]}")
    made = json.loads(done.stdout)
    return Second(seed=seed, requests=dict(enumerate(made["requests"], start=1)), rows=made["rows"])


def _main(folder: Path) -> None:
    with Database(folder / DATABASE) as database, Host.load(store=store_url(folder), policy=POLICY) as host:
        tools = Toolbox(host, [], []).definitions()

        def shown(row_text: str) -> Json:
            return host.render(json.loads(row_text), owner=CONVERSATION)

        requests = [digest(body) for body in database.requests(CONVERSATION, tools, shown)]
        rows = {}
        with Host.load(store="memory:", policy=POLICY) as fresh:
            for _, answering in groupby(database.results(CONVERSATION), key=lambda one: one.message):
                results = list(answering)
                outputs = [host.inflate(json.loads(one.row_text), owner=CONVERSATION) for one in results]
                calls = [
                    Call(one.tool, output, arguments=one.arguments)
                    for one, output in zip(results, outputs, strict=True)
                ]
                for one, trimmed in zip(results, fresh.trim_batch(calls), strict=True):
                    rows[one.call_id] = digest(trimmed.row_text.encode("utf-8"))
    print(json.dumps({"requests": requests, "rows": rows}))


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
