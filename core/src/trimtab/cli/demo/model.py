"""The demo's language model: a script that goes by the request alone, as a model does.

It gets the bytes of a request and nothing else. Urls, ids and `trimtab:` handles it finds in the text it is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from trimtab.types import Json

__all__ = ["FIRST_QUESTION", "SECOND_QUESTION", "reply"]

FIRST_QUESTION = "Two asyncio callbacks are due at exactly the same time: which is called first? Cite the page."
SECOND_QUESTION = (
    "Which line of the attached base_events.py queues such a callback? And what do trimtab's documents, which are in "
    "the knowledge base, say about text that was left out?"
)

_PHRASE = "exactly the same time"
_CODE = "heappush"
_HANDLE = re.compile(r"<omitted chars [0-9]+-[0-9]+ of [0-9]+; full text: [\w.-]+ (trimtab:[0-9a-f]+)>")


@frozen
class _Result:
    """A tool result in the prompt: the tool that gave it, what it was asked, the text, the number of its message."""

    tool: str
    arguments: Json
    text: str
    message: int


@frozen
class _Prompt:
    """What the model sees: the last question, and the results before and after it."""

    question: str
    asked_at: int
    results: Sequence[_Result]

    def of(self, tool: str) -> list[_Result]:
        """Results of a tool since the last question."""
        return [one for one in self.results if one.tool == tool and one.message > self.asked_at]

    def latest(self) -> list[_Result]:
        """The results that came with the last message; none when that is a question."""
        last = max((one.message for one in self.results), default=0)
        return [one for one in self.results if one.message == last] if last > self.asked_at else []


def reply(request: bytes) -> list[Json]:
    """The content blocks of the assistant message that answers a request."""
    body = json.loads(request)
    prompt = _seen(body["messages"])
    offered = {tool["name"] for tool in body["tools"]}
    said, calls = next((one for rule in _RULES if (one := rule(prompt)) is not None), (_answer(prompt), []))
    blocks: list[Json] = [{"type": "text", "text": said}]
    for name, arguments in calls:
        if name in offered:
            call_id = f"call-{len(prompt.results) + len(blocks)}"
            blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
    return blocks


def _seen(messages: Sequence[Json]) -> _Prompt:
    calls: dict[str, Json] = {}
    question, asked_at = "", 0
    results: list[_Result] = []
    for number, message in enumerate(messages):
        if isinstance(message["content"], str):
            question, asked_at = message["content"], number
            continue
        for block in message["content"]:
            if block["type"] == "tool_use":
                calls[block["id"]] = block
            elif block["type"] == "tool_result":
                call = calls[block["tool_use_id"]]
                results.append(_Result(call["name"], call["input"], block["content"], number))
    return _Prompt(question, asked_at, results)


_Call = tuple[str, Json]
_Calls = tuple[str, list[_Call]]


def _begin(prompt: _Prompt) -> _Calls | None:
    """A new question: search where it says, else on the web and in the built-in help."""
    if prompt.latest():
        return None
    if attached := re.search(r"attached ([\w.]+)", prompt.question):
        return "I search the file and the knowledge base.", [
            ("fs_search", {"pattern": _CODE, "filename": attached[1]}),
            ("kb_search", {"query": "text left out of a tool output: omitted, can be read back"}),
        ]
    query = "asyncio call_later callbacks scheduled for exactly the same time, called first"
    return "I search the web and look into the help.", [
        ("web_search", {"query": query}),
        ("python_help", {"name": "asyncio"}),
    ]


def _open_pages(prompt: _Prompt) -> _Calls | None:
    """Search results: fetch the first two."""
    found = [one for one in prompt.latest() if one.tool == "web_search"]
    if not found:
        return None
    urls = [item["url"] for item in _items(found[0]) if "url" in item][:2]
    return "I open the first two results.", [("web_fetch", {"url": url}) for url in urls]


def _search_omitted(prompt: _Prompt) -> _Calls | None:
    """Pages with text left out: search it through the first handle that each of them shows, and the source."""
    pages = [one for one in prompt.latest() if one.tool == "web_fetch"]
    uris = [handles[0] for page in pages if (handles := _handles(page.text))]
    if not uris:
        return None
    calls: list[_Call] = [("fs_search", {"pattern": _PHRASE, "path": uri}) for uri in uris]
    calls.append(("fs_search", {"pattern": _PHRASE, "path": "asyncio"}))
    return "What I need was left out: I search the full texts, and the source.", calls


def _read_around(prompt: _Prompt) -> _Calls | None:
    """Lines that match: read the text around the first one, where it was found."""
    calls: list[_Call] = []
    for one in prompt.latest():
        if one.tool != "fs_search" or not (matches := _object(one).get("matches")):
            continue
        place = {"line": max(1, matches[0]["line"] - 8), "count": 14}
        if "filename" in one.arguments:
            calls.append(("read_file", {"filename": one.arguments["filename"], **place}))
        else:
            calls.append(("fs_read", {"path": matches[0].get("path", one.arguments.get("path")), **place}))
    return ("I read around the match.", calls) if calls else None


_RULES: Sequence[Callable[[_Prompt], _Calls | None]] = (_begin, _open_pages, _search_omitted, _read_around)


def _answer(prompt: _Prompt) -> str:
    """What was read back, in a sentence or two, with the ids of its sources."""
    said = []
    for page in prompt.of("fs_read"):
        source = _holding(prompt.of("web_fetch"), page.arguments["path"])
        if source and (found := re.search(rf"[^.]*{_PHRASE}[^.]*\.", " ".join(_text(page).split()))):
            said.append(f"{found[0].strip()} {_cite(source)}")
    for page in prompt.of("read_file"):
        lines = enumerate(_text(page).split("\n"), start=page.arguments["line"])
        said += [f"Line {number} does: `{line.strip()}`." for number, line in lines if _CODE in line]
    for item in [item for result in prompt.of("kb_search") for item in _items(result)][:1]:
        sentences = re.split(r"(?<=[.:])\s+", item["content"])
        on_it = next((one for one in sentences if "read back" in one or "omitted" in one), item["title"])
        said.append(f"trimtab's documents say: {on_it.strip()} {_cite(item['id'])}")
    return " ".join(said) or "I could not find it."


def _holding(results: Sequence[_Result], uri: str) -> str:
    """The id of the source in whose text the prompt shows a handle."""
    return next((item["id"] for one in results for item in _items(one) if f"{uri}>" in item.get("content", "")), "")


def _cite(source: str) -> str:
    return f"[cite:{source}]" if source else ""


def _text(page: _Result) -> str:
    return str(_object(page).get("text", ""))


def _object(result: _Result) -> dict[str, Json]:
    read = _read(result.text)
    return read if isinstance(read, dict) else {}


def _items(result: _Result) -> list[Json]:
    read = _read(result.text)
    return [item for item in read if isinstance(item, dict)] if isinstance(read, list) else []


def _read(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _handles(text: str) -> list[str]:
    found: Iterator[re.Match[str]] = _HANDLE.finditer(text)
    return list(dict.fromkeys(one[1] for one in found))
