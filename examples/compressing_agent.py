"""An agent whose model folds its own history: a scripted model, real compression, a restart in the middle.

Run it: ``python examples/compressing_agent.py``
"""

from __future__ import annotations

import json
from typing import Any

from trimtab.compress import Answer, CompressConfig, CompressSession, dump_state, load_state

CONFIG = CompressConfig(window=20_000, growth=2_000)


def model(request: dict[str, Any]) -> dict[str, Any]:
    """Stands for a provider: reads files one by one, and folds what it is told can be folded."""
    seen = json.dumps(request["messages"])
    step = request["step"]
    reminder = request["messages"][-1]["content"][-1].get("text", "")
    if "<context-status>" in reminder:
        start, end = reminder.split("- ")[1].split(":")[0].split(" to ")
        summary = (
            f"The files up to number {step - 1} were read. The parser is in parser.py, line 42; nothing else matters."
        )
        arguments: dict[str, Any] = {"content": [{"startId": start, "endId": end, "summary": summary}]}
        return reply("compress", f"fold_{step}", arguments)
    print(f"step {step:>2}: {len(request['messages']):>3} messages, {len(seen):>6,} chars")
    if step == 30:
        return {"role": "assistant", "content": [{"type": "text", "text": "Ported."}], "stop_reason": "end_turn"}
    return reply("read_file", f"read_{step}", {"path": f"src/part{step}.py"})


def reply(name: str, call_id: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A response with one tool call, as Anthropic writes it."""
    call = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    return {"role": "assistant", "content": [call], "stop_reason": "tool_use"}


def read_file(path: str) -> str:
    """The tool."""
    return f"# {path}\n" + "value = read(stream)\n" * 60


def main() -> None:
    """Run the conversation, store it in the middle, go on with what was stored."""
    session = CompressSession("anthropic", config=CONFIG)
    session.say("Port the parser.")
    step = 0
    while True:
        step += 1
        while True:
            turn = session.receive(model({**session.request({"messages": []}), "step": step}))
            if turn.calls or not turn.waits:
                break
            print(f"         {turn.outcomes[0].text.splitlines()[1]}")
        if not turn.waits:
            break
        session.answer(
            [
                Answer(call_id=call.call_id, name=call.name, value=read_file(call.raw_args["path"]))
                for call in turn.calls
            ]
        )
        if step == 15:
            stored = json.dumps([session.messages, dump_state(session.state)])
            messages, state = json.loads(stored)
            session = CompressSession("anthropic", config=CONFIG, messages=messages, state=load_state(state))
            print("         stored, and opened again")
    status = session.status
    print(f"{status.folded} of {status.messages} messages folded: {status.tokens:,} tokens, shown as {status.shown:,}")


if __name__ == "__main__":
    main()
