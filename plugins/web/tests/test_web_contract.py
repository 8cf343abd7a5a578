"""trimtab-web keeps what every plugin keeps."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from trimtab.testing import PluginContract
from trimtab_web import plugin as web_plugin

RESULT = {"id": "3f2a-1", "title": "One", "url": "https://e.org/1", "content": "text", "score": 0.5}


class TestWeb(PluginContract):
    """Laws of both codecs, on a sample of each kind of shape."""

    plugin: ClassVar[Any] = web_plugin
    samples: ClassVar[Any] = {
        "web_search": [
            [RESULT, {**RESULT, "id": 2}],
            {"web": {"results": [{"title": "t", "link": "u", "description": "d", "extra_snippets": ["e"]}]}},
            json.dumps({"results": [RESULT], "answer": "a"}),
            {"content": [{"type": "text", "text": json.dumps([RESULT], indent=1)}]},
        ],
        "web_fetch": [
            {"url": "https://e.org/1", "title": "One", "content": "text"},
            json.dumps({"data": {"markdown": "m"}}),
            [{"url": "u", "html": "h"}, {"url": "v", "error": "404"}],
        ],
    }
