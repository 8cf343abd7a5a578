"""What compression of a long conversation costs: reading it, folding, showing it, rebuilding its state."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compress import CompressConfig, CompressSession, CompressState, rebuild_state
from trimtab.compress.board import Board
from trimtab.compress.outcome import Asked, answer_compress
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.observe import observe
from trimtab.compress.shown import shown
from trimtab.wire.lookup import shape_of

MANY = 10_000
CONFIG = CompressConfig(window=100_000_000)
FOLDED_EVERY = 50  # steps


def conversation(count: int, *, calls: bool) -> list[Any]:
    """So many messages of an agent that reads files; with `calls` it folds all but the newest every fifty steps."""
    messages: list[Any] = [{"role": "user", "content": "Port the parser."}]
    folded = 1
    step = 0
    while len(messages) < count:
        step += 1
        if calls and step % FOLDED_EVERY == 0:
            last = len(messages) - 10
            entry = {
                "startId": f"m{folded + 1:05}",
                "endId": f"m{last:05}",
                "summary": f"Files up to number {step} were read; none of them names the parser. " * 5,
            }
            folded = last
            name, arguments, said = "compress", {"content": [entry]}, "Compressed:\n"
        else:
            name, arguments, said = (
                "read_file",
                {"path": f"src/part{step}.py"},
                f"# part {step}\n" + "value = read()\n" * 20,
            )
        call = {"type": "tool_use", "id": f"call_{step}", "name": name, "input": arguments}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": f"Step {step}."}, call]})
        result = {"type": "tool_result", "tool_use_id": f"call_{step}", "content": said}
        messages.append({"role": "user", "content": [result]})
    return messages[:count]


@pytest.fixture(scope="module")
def plain() -> list[Any]:
    """Nothing folded yet."""
    return conversation(MANY, calls=False)


@pytest.fixture(scope="module")
def folding() -> list[Any]:
    """With its compress calls."""
    return conversation(MANY, calls=True)


def test_read(compare: Any, plain: list[Any]) -> None:
    """Reading 10,000 messages and giving them refs."""
    shape = shape_of("anthropic", None)

    def work() -> None:
        observe(CompressState(), Conversation.read(shape, plain), CONFIG)

    compare.seconds("compress: read 10,000 messages, give refs", work, goal=1_000, rounds=3)


def test_apply(compare: Any, plain: list[Any]) -> None:
    """One call that folds nearly all of them."""
    shape = shape_of("anthropic", None)
    now = Conversation.read(shape, plain)
    state = observe(CompressState(), now, CONFIG)
    entry = {"startId": "m00002", "endId": f"m{MANY - 20:05}", "summary": "All of it was read. " * 10}
    asked = Asked(row=MANY - 1, message=MANY, place=0, call_id=None, raw_args={"content": [entry]})

    def work() -> None:
        assert answer_compress(Board(state, now, CONFIG), (), asked).ok

    compare.seconds("compress: apply to 10,000 messages", work, goal=1_000, rounds=3)


def test_render(compare: Any, plain: list[Any]) -> None:
    """All of them with refs, none folded."""
    now = Conversation.read(shape_of("anthropic", None), plain)
    state = observe(CompressState(), now, CONFIG)
    compare.seconds("compress: render 10,000 messages", lambda: shown(state, now, CONFIG), goal=1_000, rounds=3)


def test_rebuild(compare: Any, folding: list[Any]) -> None:
    """A hundred compress calls replayed, the reading of all messages included."""
    assert len(rebuild_state(folding, CONFIG, protocol="anthropic").blocks) == MANY // 2 // FOLDED_EVERY
    work = lambda: rebuild_state(folding, CONFIG, protocol="anthropic")  # noqa: E731
    compare.seconds("compress: rebuild from 10,000 messages", work, goal=1_000, rounds=3)


def test_linear(compare: Any, folding: list[Any]) -> None:
    """Four times the messages take at most eight times as long: linear, but for what the collector of cycles adds."""
    many = conversation(4 * MANY, calls=True)
    compare.ratio(
        "compress: rebuild 40,000 against 10,000 messages",
        lambda: rebuild_state(many, CONFIG, protocol="anthropic"),
        lambda: rebuild_state(folding, CONFIG, protocol="anthropic"),
        goal=8,
        rounds=3,
    )


def test_unchanged(compare: Any, folding: list[Any]) -> None:
    """A turn that changes nothing: the history given again, the request asked for again."""
    session = CompressSession("anthropic", config=CONFIG, messages=folding)
    session.request({"model": "m"}, tokens=1)

    def work() -> None:
        session.sync(folding)
        session.request({"model": "m"}, tokens=1)

    compare.seconds("compress: a turn that changes nothing, 10,000 messages", work, goal=5, rounds=10)
