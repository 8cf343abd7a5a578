"""What is passed wrongly to a compactor is refused where it is passed, with the way to do it."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compaction import DurableCompactor, Event, FoldSettings, LoopCompactor, Memo, Row, dump_memo, slide
from trimtab.errors import CallerError

SETTINGS = FoldSettings(windows=4_000)
SAID: Any = {"role": "user", "content": "hello"}
ROWS = [Row(id="1", messages=[SAID])]


async def listen(event: Event) -> None:
    """An async function, which nobody would await."""


DOORS: dict[str, tuple[Any, str]] = {
    "a memo as JSON, to serve": (
        lambda: DurableCompactor("openai-chat", SETTINGS).serve(ROWS, None, dump_memo(Memo())),  # type: ignore[arg-type]
        "load_memo",
    ),
    "a memo as JSON, to step": (
        lambda: LoopCompactor("openai-chat", SETTINGS).step([SAID], memo=dump_memo(Memo())),  # type: ignore[arg-type]
        "load_memo",
    ),
    "no messages": (lambda: LoopCompactor("openai-chat", SETTINGS).step(None), "list of messages"),  # type: ignore[arg-type]
    "one message": (lambda: LoopCompactor("openai-chat", SETTINGS).step(SAID), "list of messages"),
    "settings as a dict": (lambda: DurableCompactor("openai-chat", {"windows": 5}), "FoldSettings"),  # type: ignore[arg-type]
    "settings as a dict, inside": (lambda: LoopCompactor("openai-chat", {"windows": 5}), "FoldSettings"),  # type: ignore[arg-type]
    "a number as settings": (lambda: slide("openai-chat", ROWS, 7), "FoldSettings"),  # type: ignore[arg-type]
    "files as text": (lambda: LoopCompactor("openai-chat", SETTINGS, files="abc"), "Attachment"),  # type: ignore[arg-type]
    "an async listener": (lambda: LoopCompactor("openai-chat", SETTINGS, on_event=listen), "plain function"),  # type: ignore[arg-type]
    "a listener that is none": (lambda: DurableCompactor("openai-chat", SETTINGS, on_event=5), "plain function"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", DOORS)
def test_what_is_passed_wrongly(name: str) -> None:
    """The error is the caller's, and names what is wanted."""
    call, words = DOORS[name]
    with pytest.raises(CallerError, match=words):
        call()
