"""The demo's tools: those that an application writes give whole outputs and know nothing of trimming; those that read
files, attachments and what was left out come from trimtab-fs."""

from __future__ import annotations

import asyncio.base_events
import hashlib
import json
import pydoc
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from trimtab import Host
from trimtab.cli.demo.knowledge import Chunk
from trimtab.cli.demo.pages import Page, fetch
from trimtab.cli.demo.ranking import ranked
from trimtab.types import AllowList, Json

__all__ = ["ATTACHMENTS", "LIBRARY", "Toolbox"]

ATTACHMENTS: Final[Mapping[str, Path]] = {"base_events.py": Path(asyncio.base_events.__file__)}
LIBRARY: Final = Path(asyncio.base_events.__file__).parents[1]

_SEARCH_EXTRACT = 8_000  # chars of a page that a search result carries
_MOST_PAGES, _MOST_CHUNKS = 6, 8


class Toolbox:
    """Runs the calls of one conversation.

    Args:
        host: answers the calls of the read tools.
        site: the pages that `web_search` knows.
        knowledge: what `kb_search` searches.
    """

    def __init__(self, host: Host, site: Sequence[Page], knowledge: Sequence[Chunk]) -> None:
        from trimtab_fs import FsTools  # a plugin: the demo says so itself where it is not installed

        self._files = FsTools(host, folders=[LIBRARY], attachments=ATTACHMENTS)
        self._site = site
        self._knowledge = knowledge

    def definitions(self) -> list[Json]:
        """The tool list of every request."""
        own = [
            _definition("web_search", "Search the web.", "query"),
            _definition("web_fetch", "Fetch a web page.", "url"),
            _definition("kb_search", "Search the knowledge base.", "query"),
            _definition("python_help", "The built-in help on a module.", "name"),
        ]
        return [*own, *self._files.definitions("anthropic")]

    def run(self, tool: str, arguments: Json, allow: AllowList) -> Json:
        """The output of one call. What the model got wrong is in the output, as an error."""
        if tool == "web_search":
            return self.web_search(arguments["query"])
        if tool == "web_fetch":
            return self.web_fetch(arguments["url"])
        if tool == "kb_search":
            return self.kb_search(arguments["query"])
        if tool == "python_help":
            return self.python_help(arguments["name"])
        return self._files.run(tool, arguments, allow=allow)

    def web_search(self, query: str) -> Json:
        """Results as JSON text, which is how they come from a server."""
        best = [self._site[number] for number in ranked(query, [page.text for page in self._site], _MOST_PAGES)]
        prefix = _prefix("web_search", query)
        found = [
            {"id": f"{prefix}-{n}", "url": page.url, "title": page.title, "content": page.text[:_SEARCH_EXTRACT]}
            for n, page in enumerate(best, start=1)
        ]
        return json.dumps(found, ensure_ascii=False, indent=1)

    def python_help(self, name: str) -> Json:
        """What `help()` prints about a module: a text, not JSON, of a tool that no plugin knows."""
        with warnings.catch_warnings():  # pydoc looks at every name of a module, the deprecated ones too
            warnings.simplefilter("ignore")
            return pydoc.plain(pydoc.render_doc(name))

    def web_fetch(self, url: str) -> Json:
        """The whole page."""
        try:
            page = fetch(url)
        except OSError as error:
            return {"error": {"message": str(error)}}
        return [{"id": f"{_prefix('web_fetch', url)}-1", "url": page.url, "title": page.title, "content": page.text}]

    def kb_search(self, query: str) -> Json:
        """The sections that answer best, whole."""
        texts = [f"{chunk.title}\n{chunk.text}" for chunk in self._knowledge]
        best = ranked(query, texts, _MOST_CHUNKS)
        return [
            {
                "id": f"kb-{number + 1}",
                "path": self._knowledge[number].path,
                "title": self._knowledge[number].title,
                "content": self._knowledge[number].text,
            }
            for number in best
        ]


def _prefix(tool: str, asked: str) -> str:
    """Begins the ids of one lookup's results."""
    return hashlib.sha256(f"{tool} {asked}".encode()).hexdigest()[:8]


def _definition(name: str, text: str, parameter: str) -> Json:
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    return {"name": name, "description": text, "input_schema": schema}
