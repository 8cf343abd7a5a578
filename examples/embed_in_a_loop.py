"""The smallest agent with trimtab in it. The five lines marked with a star are all that trimtab adds.

The "model" is a function that reads a file, then what was left out of it, then answers. Put a real one in its place.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from trimtab import Host

CONVERSATION = "conversation-1"


def read_file(path: str) -> dict[str, str]:
    """A tool of yours: it returns everything and knows nothing of trimming."""
    return {"path": path, "text": Path(path).read_text(encoding="utf-8")}


def model(prompt: list[dict[str, Any]], tools: list[Any]) -> dict[str, Any]:
    """Stands for a language model: the next call, or the answer."""
    assert [tool["function"]["name"] for tool in tools] == ["fs_read", "fs_search"]
    last = prompt[-1]["content"]
    if prompt[-1]["role"] == "user":
        return {"call": "read_file", "arguments": {"path": argparse.__file__}}
    if marker := re.search(r"<omitted chars (\d+)-\d+ of \d+; full text: fs_read (trimtab:\w+)>", last):
        return {"call": "fs_read", "arguments": {"uri": marker[2], "char": int(marker[1]), "count": 300}}
    return {"answer": f"The part that was left out begins with {json.loads(last)['text'][:40]!r}."}


def main() -> None:
    """Ask one question and print what goes back and forth."""
    with Host.load(store="memory:") as host:  # * sqlite:///trimtab.db keeps texts beyond this process
        tools = host.read_tools("openai-chat")  # * beside your own tools, from the first request on
        rows: list[Any] = []  # what your database would hold of tool outputs
        prompt: list[dict[str, Any]] = [{"role": "user", "content": "What is in the middle of argparse.py?"}]
        while "answer" not in (said := model(prompt, tools)):
            name, arguments = said["call"], said["arguments"]
            if name in host.policy.read_names:
                allow = host.allow_list(rows, owner=CONVERSATION)  # * what this conversation was shown
                output = host.run_read_tool(name, arguments, allow=allow)  # * and may read in full
            else:
                output = read_file(**arguments)
            t = host.trim(name, output, arguments=arguments, owner=CONVERSATION)  # *
            rows.append(t.row)
            prompt.append({"role": "tool", "content": t.text})
            print(f"{name}: {t.sizes.before:,} chars, the model sees {t.sizes.after:,}")
        print(said["answer"])


if __name__ == "__main__":
    main()
