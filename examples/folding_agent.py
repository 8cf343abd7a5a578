"""An agent of 200 turns in a window of 12,000 tokens: folds between turns and inside them, a restart in the middle.

At the end it is asked for a number that it was never shown: it is read back from what was folded and trimmed away.
"""

from __future__ import annotations

import json
import re
import tempfile
from typing import Any, cast

from trimtab import Host, Policy, compaction
from trimtab.compaction import DurableCompactor, FoldSettings, LoopCompactor, Row

SETTINGS, ME, EVENTS = FoldSettings(windows=12_000), "conversation-1", list[Any]()


def read_log(server: int, part: int) -> str:
    """The tool: a log with one order number in its middle."""
    lines = "".join(f"12:{line % 60:02} GET /cart 200 in {line} ms\n" for line in range(60))
    return f"log of server-{server}, part {part}\n{lines}order 8861-{server}-{part}\n{lines}"


def model(prompt: list[Any]) -> tuple[str, dict[str, Any]] | str:
    """Stands for a provider: checks logs part by part, and finds its way through what it is told can be read."""
    text = "\n".join(block["text"] for one in prompt for block in one["content"] if block["type"] == "text")
    server, parts, _ = re.findall(r"Check server-(\d+), (\d+) parts|(Which order)", text)[-1]
    last = prompt[-1]["content"][0].get("content", "")
    if server:
        part = int((re.findall(r"log of server-\d+, part (\d+)", last) or [0])[0])
        return "It answers." if part == int(parts) else ("read_log", {"server": int(server), "part": part + 1})
    if order := re.search(r"order (8861-\d+-\d+)", last):
        return f"The order on server-7 was {order[1]}."
    if listed := re.search(r"read_log (trimtab:\w+) log of server-7,", last):
        return "fs_search", {"uri": listed[1], "pattern": "order"}
    tried = [block["input"]["uri"] for one in prompt for block in one["content"] if block.get("name") == "fs_search"]
    lists = [uri for uri in re.findall(r"listed in (trimtab:\w+)", text) if uri not in tried]
    return "fs_search", {"uri": lists[0], "pattern": "server-7,"}


def turn(host: Host, rows: list[Row], record: Any, memo: Any, said: str) -> tuple[Any, Any, str]:
    """One turn: what the user says, the steps, the answer. Gives record and memo, to be stored, and the answer."""
    rows.append(Row(id=f"u{len(rows)}", messages=[{"role": "user", "content": [{"type": "text", "text": said}]}]))
    kept: dict[str, Any] = {"on_event": EVENTS.append, "store": host.store, "owner": ME}
    served = DurableCompactor("anthropic", SETTINGS, **kept).serve(rows, record, memo)
    loop, new, outputs = LoopCompactor("anthropic", SETTINGS, **kept), list[Any](), list[Any]()
    stepped = loop.step(served.messages, memo=served.memo)
    while not isinstance(call := model(stepped.messages), str):
        name, arguments = call
        allow = host.allow_list([*served.retained.outputs, *stepped.retained.outputs, *outputs], owner=ME)
        is_ours = name in host.policy.read_names
        output = host.run_read_tool(name, arguments, allow=allow) if is_ours else read_log(**arguments)
        trimmed = host.trim(name, output, owner=ME)
        outputs.append(trimmed.row)
        use = {"type": "tool_use", "id": f"c{len(rows)}-{len(new)}", "name": name, "input": arguments}
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": trimmed.text}
        new += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        stepped = loop.step([*served.messages, *new])
    new.append({"role": "assistant", "content": [{"type": "text", "text": call}]})
    rows.append(Row(id=f"a{len(rows)}", messages=new, outputs=outputs))
    return served.record, stepped.memo, call


def restarted(rows: list[Row], record: Any, memo: Any) -> tuple[list[Row], Any, Any]:
    """All that an application stores, written out and read again, as if by another process."""
    listed = [compaction.dump_row(row) for row in rows]
    stored = json.dumps([listed, compaction.dump_record(record), compaction.dump_memo(memo)])
    listed, kept, left = json.loads(stored)
    return [compaction.load_row(row) for row in listed], compaction.load_record(kept), compaction.load_memo(left)


def main() -> None:
    """Two hundred turns: some with one step, some with thirty."""
    rows, record, memo = list[Row](), cast("Any", None), cast("Any", None)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, 201):
            said = f"Check server-{number}, {1 if number % 40 else 30} parts." if number < 200 else "Which order?"
            if number == 101:
                rows, record, memo = restarted(rows, record, memo)
            with Host.load(store=f"sqlite:///{folder}/trimtab.db", policy=Policy(limit=2_000, keep=1_200)) as host:
                record, memo, answer = turn(host, rows, record, memo, said)
    for done in {event.lane: event for event in EVENTS if event.kind == "done"}.values():
        print(f"{done.lane}: from {done.before:,} to {done.after:,} tokens")
    print(f"{len(rows)} rows. {answer}")


if __name__ == "__main__":
    main()
