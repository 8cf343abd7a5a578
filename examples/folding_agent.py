"""An agent of 200 turns in a window of 12,000 tokens: folds between turns and inside them, a restart in the middle.

At the end it is asked for a number that it was never shown: it is read back from what was folded and trimmed away.
"""

from __future__ import annotations

import json
import re
import tempfile
from typing import Any, cast

from attrs import asdict

from trimtab import Host, Policy
from trimtab.compaction import DurableCompactor, Event, FoldSettings, LoopCompactor, Row, dump_record, load_record

SETTINGS, ME, EVENTS = FoldSettings(windows=12_000), "conversation-1", list[Event]()


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
    return "fs_search", {"uri": re.findall(r"listed in (trimtab:\w+)", text)[-1], "pattern": "server-7,"}


def turn(host: Host, rows: list[Row], record: Any, said: str) -> tuple[Any, str]:
    """One turn: what the user says, the steps, the answer. Gives the record to be stored, and the answer."""
    rows.append(Row(id=f"u{len(rows)}", messages=[{"role": "user", "content": [{"type": "text", "text": said}]}]))
    lane = DurableCompactor("anthropic", SETTINGS, on_event=EVENTS.append, store=host.store, owner=ME)
    served, loop = lane.serve(rows, record), LoopCompactor("anthropic", SETTINGS, on_event=EVENTS.append)
    new, outputs = list[Any](), list[Any]()
    while not isinstance(call := model(loop.step([*served.messages, *new]).messages), str):
        name, arguments = call
        allow = host.allow_list([*served.retained.outputs, *outputs], owner=ME)
        is_ours = name in host.policy.read_names
        output = host.run_read_tool(name, arguments, allow=allow) if is_ours else read_log(**arguments)
        trimmed = host.trim(name, output, owner=ME)
        outputs.append(trimmed.row)
        use = {"type": "tool_use", "id": f"c{len(rows)}-{len(new)}", "name": name, "input": arguments}
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": trimmed.text}
        new += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    new.append({"role": "assistant", "content": [{"type": "text", "text": call}]})
    rows.append(Row(id=f"a{len(rows)}", messages=new, outputs=outputs))
    return served.record, call


def main() -> None:
    """After 100 turns all that an application stores is written out and read again, as if by another process."""
    rows, record = list[Row](), cast("Any", None)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, 201):
            said = f"Check server-{number}, {1 if number % 40 else 30} parts."
            if number == 101:
                listed, kept = json.loads(json.dumps([[asdict(row) for row in rows], dump_record(record)]))
                rows, record = [Row(**row) for row in listed], load_record(kept)
            with Host.load(store=f"sqlite:///{folder}/trimtab.db", policy=Policy(limit=2_000, keep=1_200)) as host:
                record, answer = turn(host, rows, record, said if number < 200 else "Which order?")
    for done in [event for event in EVENTS if event.kind == "done"][-2:]:
        print(f"{done.lane}: from {done.before:,} to {done.after:,} tokens")
    print(f"{len(rows)} rows. {answer}")


if __name__ == "__main__":
    main()
