"""Which calls of a conversation are of our tools, and which calls at its end wait for their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import field, frozen

from trimtab.compress.calls import Asked
from trimtab.compress.config import CompressConfig
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.state import CompressState
from trimtab.pointer import Path
from trimtab.wire import RawCall
from trimtab.wire.histories import Message, Shape, brings_results
from trimtab.wire.triggers import TRIGGERS, spoken

__all__ = ["Own", "Waiting", "own_calls", "waiting_calls"]


@frozen(kw_only=True)
class Own:
    """A call of one of our tools: where it stands, the tool's name, `Part.at`; `spoken`: in tags in a text."""

    asked: Asked
    tool: str
    at: Path
    spoken: bool = False


def own_calls(state: CompressState, now: Conversation, config: CompressConfig, rows: Iterable[int]) -> Iterator[Own]:
    """The calls of our tools in these rows, in order: those that the wire has, then those in a text."""
    tools = config.tools
    for row in rows:
        message = now.rows[row]
        if message.role != "assistant":
            continue
        calls = message.of("call")
        for place, part in enumerate(calls):
            if part.name in tools and not part.by_provider:
                asked = Asked(
                    row=row,
                    message=state.seen[row].number,
                    place=place,
                    call_id=part.call_id or None,
                    raw_args=part.value,
                    complete=part.complete,
                )
                yield Own(asked=asked, tool=part.name, at=part.at)
        for place, call in enumerate(_in_texts(message, now.shape, config), len(calls)):
            if call.name not in tools:
                continue
            asked = Asked(
                row=row,
                message=state.seen[row].number,
                place=place,
                call_id=None,
                raw_args=call.raw_args,
                complete=call.complete,
            )
            yield Own(asked=asked, tool=call.name, at=(), spoken=True)


def _in_texts(message: Message, shape: Shape, config: CompressConfig) -> list[RawCall]:
    """The calls in the texts of a message; those between our own tags are of the compress tool, whatever its name."""
    ours = dict.fromkeys(TRIGGERS, config.compress)
    tags = {tag: ours.get(tag, tool) for tag, tool in shape.tags.items() if ours.get(tag, True)}
    return [call for part in message.of("text") for call in spoken(part.text, tags)]


@frozen(kw_only=True)
class Waiting:
    """The calls at the end of a conversation that have no result yet: the rows of their turn, and `(row, Part.at)`.

    `places` also has the rows whose text holds calls, as `(row, ())`; `calls` has not got these.
    """

    rows: range
    calls: tuple[RawCall, ...] = field(repr=False)
    places: frozenset[tuple[int, Path]]


def waiting_calls(now: Conversation, config: CompressConfig) -> Waiting:
    """The calls that wait: those of the last messages of the assistant, with nothing behind them but other results."""
    end = len(now.rows)
    while end and brings_results(now.rows[end - 1]):
        end -= 1
    begin = end
    while begin and now.rows[begin - 1].role == "assistant":
        begin -= 1
    done = {(tie.call_row + begin, tie.call_at) for tie in now.shape.ties([row.native for row in now.rows[begin:]])}
    found = [
        (row, part)
        for row in range(begin, end)
        for part in now.rows[row].of("call")
        if not part.answered and (row, part.at) not in done
    ]
    said = frozenset([(row, ()) for row in range(begin, end) if _speaks(now.rows[row], now.shape, config)])
    waits = bool(found) or end == len(now.rows)
    return Waiting(
        rows=range(begin, end),
        calls=tuple(
            [
                RawCall(call_id=part.call_id, name=part.name, raw_args=part.value, complete=part.complete)
                for _, part in found
            ]
        ),
        places=frozenset([(row, part.at) for row, part in found]) | (said if waits else frozenset()),
    )


def _speaks(message: Message, shape: Shape, config: CompressConfig) -> bool:
    return any(call.name in config.tools for call in _in_texts(message, shape, config))
