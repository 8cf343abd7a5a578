"""Tool outputs as real tools give them, made up from a seed: search results, source files, logs, rows, documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeVar

from attrs import field, frozen

from trimtab.types import Json

__all__ = ["TOOLS", "Made", "Tool", "pick", "sentence", "upto"]

T = TypeVar("T")

_NOUNS: Final = (
    "invoice", "ledger", "session", "cursor", "payload", "shard", "lease", "batch", "webhook", "quota", "replica",
    "checkpoint", "retry queue", "rate limit", "connection pool", "idempotency key", "migration", "scheduler",
)  # fmt: skip
_VERBS: Final = ("drops", "repeats", "rejects", "delays", "copies", "loses", "locks", "expires", "rewrites", "ignores")
_WHEN: Final = (
    "after a failover", "under load", "when two workers start together", "on the first request of a day",
    "once the cache is cold", "whenever the clock steps back", "if the client retries", "during a deploy",
)  # fmt: skip
_SITES: Final = ("docs.example.com", "forum.example.org", "blog.example.net", "wiki.example.edu")
_FOLDERS: Final = ("src/billing", "src/queue", "src/api", "tests/queue", "deploy")


@frozen(kw_only=True)
class Made:
    """One call: its arguments, what it returned, whether that is an error."""

    arguments: dict[str, Json]
    output: str = field(repr=False)
    failed: bool = False


@frozen(kw_only=True)
class Tool:
    """A tool of the made-up agent. `call`: makes a call, given how large outputs are; 1 is usual."""

    name: str
    about: str
    parameter: str
    call: Callable[[Random, float], Made] = field(repr=False)


def upto(random: Random, count: int) -> int:
    """A whole number from 0, below `count`. Only `Random.random` gives the same numbers in every version of Python."""
    return int(random.random() * count)


def pick(random: Random, many: Sequence[T]) -> T:
    """One of several."""
    return many[upto(random, len(many))]


def _some(random: Random, least: int, below: int, size: float) -> int:
    """A number from `least`, below `below`, times the size of outputs; at least 1."""
    return max(1, int((least + upto(random, below - least)) * size))


def sentence(random: Random) -> str:
    """A sentence about what the agent looks into."""
    return f"The {pick(random, _NOUNS)} {pick(random, _VERBS)} the {pick(random, _NOUNS)} {pick(random, _WHEN)}."


def _paragraph(random: Random, sentences: int) -> str:
    return " ".join(sentence(random) for _ in range(sentences))


def _hexadecimal(random: Random, digits: int) -> str:
    return "".join(pick(random, "0123456789abcdef") for _ in range(digits))


def _path(random: Random) -> str:
    return f"{pick(random, _FOLDERS)}/{pick(random, _NOUNS).replace(' ', '_')}.py"


def _web_search(random: Random, size: float) -> Made:
    results = [
        {
            "id": f"{_hexadecimal(random, 8)}-{at}",
            "url": f"https://{pick(random, _SITES)}/{_hexadecimal(random, 6)}/{pick(random, _NOUNS).replace(' ', '-')}",
            "title": sentence(random)[:-1],
            "content": "\n\n".join(_paragraph(random, 6) for _ in range(_some(random, 2, 16, size))),
        }
        for at in range(3 + upto(random, 5))
    ]
    query = f"{pick(random, _NOUNS)} {pick(random, _WHEN)}"
    return Made(arguments={"query": query}, output=json.dumps(results, ensure_ascii=False))


def _read_file(random: Random, size: float) -> Made:
    lines = ["from __future__ import annotations", "", ""]
    for at in range(_some(random, 4, 64, size)):
        name = pick(random, _NOUNS).replace(" ", "_")
        lines += [
            f"def {pick(random, _VERBS)}_{name}_{at}(rows: list[Row], limit: int = {upto(random, 900)}) -> int:",
            f'    """{sentence(random)}"""',
            "    kept = [row for row in rows if row['state'] != 'gone'][:limit]",
            f"    return sum(int(row['{name}']) for row in kept) + {upto(random, 10_000)}",
            "",
            "",
        ]
    return Made(arguments={"path": _path(random)}, output="\n".join(lines))


def _shell(random: Random, size: float) -> Made:
    minute = upto(random, 30)
    lines = [
        f"12:{minute + at // 60:02}:{at % 60:02}.{upto(random, 1000):03} INFO worker-{upto(random, 8)} "
        f"req={_hexadecimal(random, 12)} {sentence(random)}"
        for at in range(_some(random, 20, 520, size))
    ]
    failed = upto(random, 4) == 0
    if failed:
        lines += [
            f"FAILED {_path(random)}::test_{upto(random, 90)} - AssertionError: {sentence(random)}",
            "exit code 1",
        ]
    else:
        lines.append(f"{upto(random, 400) + 10} passed in {upto(random, 90)}.{upto(random, 100):02}s")
    return Made(arguments={"command": f"pytest {pick(random, _FOLDERS)} -q"}, output="\n".join(lines), failed=failed)


def _query(random: Random, size: float) -> Made:
    rows = [
        {
            "id": 10**15 + upto(random, 10**9),
            "state": pick(random, ("open", "paid", "gone", "held")),
            "amount": round(random.random() * 5_000, 2),
            "trace": _hexadecimal(random, 32),
            "note": _paragraph(random, 1 + upto(random, 12)),
        }
        for _ in range(_some(random, 3, 60, size))
    ]
    sql = f"select * from {pick(random, _NOUNS).replace(' ', '_')} where state <> 'gone'"
    return Made(arguments={"sql": sql}, output=json.dumps({"rows": rows, "more": False}))


def _kb_search(random: Random, size: float) -> Made:
    hits = [
        {"id": f"kb-{upto(random, 5_000)}", "score": round(random.random(), 3), "text": _paragraph(random, 8)}
        for _ in range(_some(random, 2, 8, size))
    ]
    return Made(arguments={"query": sentence(random)}, output=json.dumps(hits))


TOOLS: Final = (
    Tool(name="web_search", about="Search the web.", parameter="query", call=_web_search),
    Tool(name="read_file", about="Read a file of the repository.", parameter="path", call=_read_file),
    Tool(name="shell", about="Run a command and give its output.", parameter="command", call=_shell),
    Tool(name="sql", about="Ask the database.", parameter="sql", call=_query),
    Tool(name="kb_search", about="Search the team's knowledge base.", parameter="query", call=_kb_search),
)
"""What the made-up agent can do."""
