"""A server on loopback in place of vendors': it gives prepared responses, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field

from trimtab.types import Json

__all__ = ["Server", "serving", "spoken"]


def spoken(vendor: str, text: Json, stop: str = "", **more: Json) -> str:
    """A response of `openai` or `anthropic` with this text; None: nothing said. `more`: of OpenAI's message."""
    if vendor == "openai":
        message: Json = {"role": "assistant", "content": text, "refusal": None, **more}
        choice = {"index": 0, "message": message, "finish_reason": stop or "stop", "logprobs": None}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        return json.dumps(
            {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        )
    content = [] if text is None else [{"type": "text", "text": text}]
    usage = {"input_tokens": 9, "output_tokens": 9}
    head: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
    return json.dumps({**head, "stop_reason": stop or "end_turn", "stop_sequence": None, "usage": usage})


@define
class Server:
    """Gives its replies in turn, the last one for ever.

    Attributes:
        url: where it listens.
        replies: status and body of each.
        seen: path and body of each request.
        answer: makes the body instead.
        held: what it waits for before it sends anything.
        dripping: whether of a body only the first byte is sent.
        asked, left: set when a request has come; when a client has gone before it got its response.
    """

    url: str
    replies: list[tuple[int, str]] = field(factory=list)
    seen: list[tuple[str, dict[str, Any]]] = field(factory=list)
    answer: Callable[[str, dict[str, Any]], str] | None = None
    held: threading.Event | None = None
    dripping: bool = False
    asked: threading.Event = field(factory=threading.Event)
    left: threading.Event = field(factory=threading.Event)

    def reply(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        """The next response."""
        self.seen.append((path, body))
        self.asked.set()
        if self.held is not None:
            self.held.wait()
        if self.answer is not None:
            return 200, self.answer(path, body)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def serving() -> Iterator[Server]:
    """A server that listens."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, text = made.reply(self.path, body)
            data = text.encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[:1] if made.dripping else data)
                if made.dripping and not self.rfile.read(1):
                    made.left.set()
            except OSError:
                made.left.set()

        def log_message(self, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        made = Server(f"http://127.0.0.1:{listening.server_port}")
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        listening.shutdown()
        thread.join()
