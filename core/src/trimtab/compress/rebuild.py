"""The state of a conversation from its messages alone: its compress and decompress calls, replayed in order.

A call whose answer is in the history is replayed as it went: one that was taken is taken again whatever the settings
are now, one that was refused is refused. Only a call without an answer of ours is judged anew.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Mapping
from typing import Final, Literal, TypeAlias

from attrs import evolve

from trimtab.compress.board import Board
from trimtab.compress.calls import Past, digest_of, fold, open_block
from trimtab.compress.config import CompressConfig
from trimtab.compress.own import Own, own_calls
from trimtab.compress.receipts import DONE, FAILED, OPENED, refused_in
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.observe import observe
from trimtab.compress.state import CompressState, Mark
from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire import WireProtocol
from trimtab.wire.lookup import protocol_of, shape_of

__all__ = ["conversation_of", "rebuild_state", "replay"]

_Done: TypeAlias = tuple[str, str, bool]  # of a mark: tool, digest, whether it was taken

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
    return replay(state or CompressState(), conversation_of(messages, protocol), config or CompressConfig())


def conversation_of(request: Json, protocol: str | WireProtocol | None = None) -> Conversation:
    """A request's messages, or a list of them, as they can be sent: a malformed call carries an object.

    `CompressSession` keeps them so, and refs show the sizes of what is kept.

    Raises:
        CallerError: as `rebuild_state`.
    """
    wire = protocol_of(protocol, request)
    shape = shape_of(wire, None)
    return Conversation.read(shape, wire.with_calls(request, {}))


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
    gone: defaultdict[_Done, deque[int]] = defaultdict(deque)
    for at, mark in enumerate(marks):
        if mark.message not in board.place:
            gone[mark.tool, mark.digest, mark.ok].append(at)
    for own in todo:
        past = Past() if own.spoken else answers.get((own.asked.row, own.at), Past())
        if gone and past.how != "judge" and _is_back(board, marks, gone, own, past):
            continue
        carry_out = fold if own.tool == config.compress else open_block
        marks.append(carry_out(board, own.asked, past).mark)
    return evolve(state, blocks=board.blocks_now(), marks=tuple(marks))


def _is_back(board: Board, marks: list[Mark], gone: Mapping[_Done, deque[int]], own: Own, past: Past) -> bool:
    """Whether a client took the call out of sight and shows it again; then its mark and its blocks are of this one.

    `gone`: which marks are of messages that are not there.
    """
    tool: Literal["compress", "decompress"] = "compress" if own.tool == board.config.compress else "decompress"
    alike = gone.get((tool, digest_of(own.asked, tool), past.how == "taken"))
    if not alike:
        return False
    mark = marks[alike[0]]
    marks[alike.popleft()] = evolve(mark, message=own.asked.message, place=own.asked.place)
    for number in mark.blocks if tool == "compress" else ():
        board.blocks[number] = evolve(board.blocks[number], made_by=own.asked.message)
    return True


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
