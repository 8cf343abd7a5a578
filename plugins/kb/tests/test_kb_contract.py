"""trimtab-kb keeps what every plugin keeps."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from trimtab.testing import PluginContract
from trimtab_kb import plugin as kb_plugin

CHUNK = {"chunk_id": "c-1", "path": "docs/a.md", "heading": "Caching", "score": 0.83, "text": "text"}


class TestKb(PluginContract):
    """Laws of the codec, on a sample of each kind of shape."""

    plugin: ClassVar[Any] = kb_plugin
    samples: ClassVar[Any] = {
        "kb_search": [
            [CHUNK, {**CHUNK, "chunk_id": 2}],
            {"matches": [{"id": "i", "score": 1.10, "metadata": {"text": "t", "source": "a.md"}}]},
            [{"path": "p", "chunks": [{"id": 1, "text": "t"}], "passages": ["x"]}],
            json.dumps({"results": [CHUNK]}),
            {"content": [{"type": "text", "text": json.dumps([CHUNK], indent=1)}]},
        ]
    }
