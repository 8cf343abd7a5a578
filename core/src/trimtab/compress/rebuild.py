"""The state of a conversation from its messages alone: its compress and decompress calls, replayed in order.

A call whose answer is in the history is replayed as it went: one that was taken is taken again whatever the settings
are now, one that was refused is refused. Only a call without an answer of ours is judged anew.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Final, Literal

from attrs import evolve, field, frozen

from trimtab.compress.board import Board
from trimtab.compress.calls import Asked, Past, digest_of, fold, open_block
from trimtab.compress.config import CompressConfig
from trimtab.compress.receipts import DONE, FAILED, OPENED, refused_in
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.observe import observe
from trimtab.compress.state import CompressState, Mark
from trimtab.errors import CallerError
from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire import RawCall, WireProtocol, detect, protocols
from trimtab.wire.histories import Message, Shape
from trimtab.wire.triggers import TRIGGERS, spoken

__all__ = ["Own", "Waiting", "own_calls", "rebuild_state", "replay", "shape_of", "waiting_calls"]

_HEAD: Final = 200  # chars in which an answer shows that it is ours


def rebuild_state(
    messages: Json,
    config: CompressConfig | None = None,
    *,
    protocol: str | WireProtocol | None = None,
    state: CompressState | None = None,
) -> CompressState:
    """The state that live running would have come to, from a history of any wire protocol.

    Args:
        messages: a request, or its list of messages.
        config: as it was in live running.
        protocol: its name or itself; None: found out.
        state: what is known already; only what it has not seen is replayed. Where that is all, it is given back itself.

    Reminders that were shown are not in a history; they are in no rebuilt state.

    Raises:
        CallerError: an unknown protocol, one that cannot be found out, or one that has no conversations.
    """
    now = Conversation.read(shape_of(protocol, messages), messages)
    return replay(state or CompressState(), now, config or CompressConfig())


def shape_of(protocol: str | WireProtocol | None, request: Json) -> Shape:
    """How a protocol writes conversations. Raises CallerError."""
    if protocol is None:
        protocol = detect(request)
        if protocol is None:
            raise CallerError(f"the protocol of the request cannot be told; name one of {', '.join(protocols)}")
    if isinstance(protocol, str):
        if protocol not in protocols:
            raise CallerError(f"unknown protocol {protocol!r:.80}; known: {', '.join(protocols)}")
        protocol = protocols[protocol]
    shape = getattr(protocol, "history", None)
    if not isinstance(shape, Shape):
        raise CallerError(f"the protocol {protocol.name!r:.80} cannot read conversations: it has no `history`")
    return shape


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
    while end and _only_results(now.rows[end - 1]):
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


def _only_results(message: Message) -> bool:
    return message.role != "assistant" and bool(message.parts) and all(part.kind == "result" for part in message.parts)


def replay(
    state: CompressState, now: Conversation, config: CompressConfig, but: Container[tuple[int, Path]] = ()
) -> CompressState:
    """The state with every call of ours that it has no mark of; the same object where there is none.

    `but`: calls that are left out, by row and `Part.at`.
    """
    state = observe(state, now, config)
    known = {(mark.message, mark.place) for mark in state.marks}
    todo = [
        own
        for own in own_calls(state, now, config, range(len(now.rows)))
        if own.tool != config.search
        and (own.asked.message, own.asked.place) not in known
        and (own.asked.row, own.at) not in but
    ]
    if not todo:
        return state
    board = Board(state, now, config)
    answers = _answers(board)
    marks: list[Mark] = list(state.marks)
    for own in todo:
        past = Past() if own.spoken else answers.get((own.asked.row, own.at), Past())
        if _is_back(board, marks, own, past):
            continue
        carry_out = fold if own.tool == config.compress else open_block
        marks.append(carry_out(board, own.asked, past).mark)
    return evolve(state, blocks=board.blocks_now(), marks=tuple(marks))


def _is_back(board: Board, marks: list[Mark], own: Own, past: Past) -> bool:
    """Whether a client took the call out of sight and shows it again; then its mark and its blocks are of this one."""
    if past.how == "judge" or all(mark.message in board.place for mark in marks):
        return False
    tool: Literal["compress", "decompress"] = "compress" if own.tool == board.config.compress else "decompress"
    wanted = (tool, digest_of(own.asked, tool), past.how == "taken")
    for at, mark in enumerate(marks):
        if mark.message not in board.place and (mark.tool, mark.digest, mark.ok) == wanted:
            marks[at] = evolve(mark, message=own.asked.message, place=own.asked.place)
            for number in mark.blocks if tool == "compress" else ():
                board.blocks[number] = evolve(board.blocks[number], made_by=own.asked.message)
            return True
    return False


def _answers(board: Board) -> dict[tuple[int, Path], Past]:
    """What the answers in the history say of their calls, as far as they are ours.

    A host may put words of its own before what a failed call was told.
    """
    found: dict[tuple[int, Path], Past] = {}
    for tie in board.ties:
        text = _first_text(tie.value)
        if text.startswith((DONE, OPENED)):
            found[tie.call_row, tie.call_at] = Past(how="taken", left=refused_in(text))
        elif FAILED in text[:_HEAD] or tie.is_error:
            found[tie.call_row, tie.call_at] = Past(how="refused")
    return found


def _first_text(value: Json) -> str:
    """The beginning of what a tool returned, in whatever blocks the wire has it."""
    for _ in range(4):
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, dict) and value:
            value = next((value[name] for name in ("text", "output", "content", "value") if name in value), None)
        else:
            break
    return ""
