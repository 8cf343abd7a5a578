"""Tools that run at the same time: everything that touches the store has an async twin, with an `a` before its name."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import inspect
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trimtab import Budget, Call, Host

CONVERSATION = "conversation-1"


async def read_file(path: str) -> dict[str, str]:
    """A tool that waits for something."""
    return {"path": path, "text": await asyncio.to_thread(Path(path).read_text, encoding="utf-8")}


async def answer_calls(host: Host, paths: list[str]) -> list[Any]:
    """Run the calls of one assistant message together, and trim what they give to a budget that they share."""
    outputs = await asyncio.gather(*(read_file(path) for path in paths))
    calls = [Call("read_file", output, arguments={"path": path}) for path, output in zip(paths, outputs, strict=True)]
    trimmed = await host.atrim_batch(calls, budget=Budget(batch=15_000), owner=CONVERSATION)
    for path, t in zip(paths, trimmed, strict=True):
        print(f"{Path(path).name}: {t.sizes.before:,} chars, the model sees {t.sizes.after:,}")
    return [t.row for t in trimmed]


async def read_back(host: Host, rows: list[Any]) -> None:
    """Read the middle of every file at the same time, as a model would that got all markers."""
    allow = await host.aallow_list(rows, owner=CONVERSATION)
    uris = [f"trimtab:{blob_id[:16]}" for blob_id in sorted(allow.held)]
    calls = [{"uri": uri, "char": 10_000, "count": 200} for uri in uris]
    pages = await asyncio.gather(*(host.arun_read_tool("fs_read", call, allow=allow) for call in calls))
    for uri, page in zip(uris, pages, strict=True):
        print(f"{uri}: chars {page['start_char']:,} to {page['end_char']:,} of {page['total_chars']:,}")


async def main() -> None:
    """Three files, trimmed together, read back together, put together again together."""
    paths = [str(module.__file__) for module in (ast, dataclasses, inspect)]
    with TemporaryDirectory() as folder, Host.load(store=f"sqlite:///{folder}/trimtab.db") as host:
        rows = await answer_calls(host, paths)
        await read_back(host, rows)
        whole = await asyncio.gather(*(host.ainflate(row, owner=CONVERSATION) for row in rows))
        print(f"nothing lost: {[len(one['text']) for one in whole]} chars are there")


if __name__ == "__main__":
    asyncio.run(main())
