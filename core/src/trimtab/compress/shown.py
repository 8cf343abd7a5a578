"""What is sent: the history with blocks in the place of folded messages, refs below the rest, and reminders.

A pure function of conversation, state and configuration. What a model has seen stays as it was, byte for byte, up to
the newest change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import evolve

from trimtab.compress.board import Board
from trimtab.compress.config import CompressConfig
from trimtab.compress.folded import block_text, nudge_text, tag, without_copies
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.state import CompressState, Mark
from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories import Message
from trimtab.wire.nodes import changed

__all__ = ["shown", "shown_tokens"]

# Of failed calls the newest two stay in sight: a model that does not see them fails in the same way again.
_FAILURES_SHOWN: Final = 2
_BLANK: Final = " \t\r\n"


def shown(state: CompressState, now: Conversation, config: CompressConfig, board: Board | None = None) -> list[Json]:
    """The messages to send, in the protocol's own shape. `state` has seen the conversation (`observe`)."""
    board = board or Board(state, now, config)
    hidden = _hidden(board, state.marks)
    firsts = {
        board.places_of(board.blocks[number])[0]: number
        for number in board.shown
        if board.places_of(board.blocks[number])
    }
    nudges: defaultdict[int, list[str]] = defaultdict(list)
    for nudge in state.nudges:
        if nudge.after in board.place:
            nudges[board.place[nudge.after]].append(nudge.text)

    def said() -> Iterator[Json]:
        row = -1
        for message in now.messages:
            if message.role == "system":
                yield message.native
                continue
            row += 1
            if row in firsts:
                yield now.shape.user_text(block_text(board.blocks[firsts[row]]))
            if board.block_at[row]:
                continue
            native = _native(board, now, row, message, hidden.get(row, ()))
            if native is not None:
                yield native
            for text in nudges.get(row, ()):
                yield now.shape.user_text(nudge_text(text))

    return now.shape.joined(list(said()))


def _native(board: Board, now: Conversation, row: int, message: Message, gone: Sequence[Path]) -> Json:
    """A visible message with its ref, without its hidden parts; None where nothing is left."""
    native = message.native
    if board.config.tags != "none":
        native, copies = _tagged(board, now, row, message)
        gone = [*gone, *copies]
    return now.shape.without(evolve(message, native=native), gone) if gone else native


def _tagged(board: Board, now: Conversation, row: int, message: Message) -> tuple[Json, list[Path]]:
    """A message with its ref, and texts of it to leave out.

    Models copy the tags that they read. A copy below a text of theirs is not shown, since its numbers are wrong.
    """
    line, results = tag(board.seen[row]), board.config.tags == "all"
    texts = [part for part in message.of("text") if part.text] if message.role == "assistant" else []
    changes: dict[Path, Json] = {}
    copies: list[Path] = []
    for part in texts:
        text = without_copies(part.text)
        if len(text) == len(part.text):
            continue
        if text.strip(_BLANK):
            changes[part.at] = text
        elif part is texts[-1]:
            return changed(message.native, {**changes, part.at: line}), copies
        else:
            copies.append(part.path)
    native = changed(message.native, changes) if changes else message.native
    return now.shape.with_line(message, native, line, results=results), copies


def shown_tokens(board: Board) -> int:
    """About how many tokens the messages take as they are shown."""
    visible = sum(one.tokens for one, block in zip(board.seen, board.block_at, strict=True) if not block)
    return visible + sum(board.config.counter.count(block_text(board.blocks[number])) for number in board.shown)


def _hidden(board: Board, marks: Sequence[Mark]) -> dict[int, list[Path]]:
    """Parts that are not sent, by row: compress calls that have done their work, with their answers, and old failures.

    A successful call is hidden only when a later one has changed the history before it anyway, so it costs no cache. A
    message that has other calls too is left alone: signatures may bind them together.
    """
    done = [mark for mark in marks if mark.tool == "compress" and mark.ok]
    failed = [mark for mark in marks if mark.tool == "compress" and not mark.ok][:-_FAILURES_SHOWN]
    old = [mark for mark in done if mark.message != done[-1].message] + failed
    if not old:
        return {}
    wanted: defaultdict[int, set[int]] = defaultdict(set)
    for mark in old:
        if mark.message in board.place:
            wanted[board.place[mark.message]].add(mark.place)
    ties = {(tie.call_row, tie.call_at): tie for tie in board.ties}
    hidden: defaultdict[int, list[Path]] = defaultdict(list)
    for row, places in wanted.items():
        calls = board.rows[row].of("call")
        answers = [ties.get((row, call.at)) for call in calls]
        if places != set(range(len(calls))) or any(answer is None for answer in answers):
            continue
        for call, answer in zip(calls, answers, strict=True):
            hidden[row].append(call.path)
            if answer is not None:
                results = board.rows[answer.result_row].of("result")
                hidden[answer.result_row] += [part.path for part in results if part.at == answer.result_at]
        _with_thinking(board, row, hidden)
    return hidden


def _with_thinking(board: Board, row: int, hidden: defaultdict[int, list[Path]]) -> None:
    """Reasoning that is a message of its own goes with the call that it led to, where that is the whole message."""
    if () not in hidden[row]:
        return
    at = row - 1
    while at >= 0 and board.unit[at] == board.unit[row] and board.rows[at].of("thinking"):
        hidden[at].append(())
        at -= 1
