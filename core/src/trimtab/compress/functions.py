"""Compression without a session: a state goes in, what was asked comes out, nothing is held.

All take a request of any wire protocol, or its list of messages, whole and unfolded. `state` is what is known; a
message that it has not seen is taken in first. For one request after another `CompressSession` does the same in less
time, since it reads each message once.
"""

from __future__ import annotations

from attrs import evolve, field, frozen

from trimtab.compress.board import Board
from trimtab.compress.config import CompressConfig
from trimtab.compress.nudge import due
from trimtab.compress.own import waiting_calls
from trimtab.compress.rebuild import conversation_of, replay
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.observe import observe
from trimtab.compress.search import Hit, search
from trimtab.compress.shown import shown, shown_tokens
from trimtab.compress.state import CompressState
from trimtab.compress.status import Status, status_of
from trimtab.compress.turns import OpenTurn, Turn
from trimtab.types import Json
from trimtab.wire import WireProtocol

__all__ = ["Applied", "apply_calls", "remind", "render", "report", "search_folded"]


@frozen(kw_only=True)
class Applied:
    """The state after the calls at the end of a history, and the turn that they are; None: none waits there."""

    state: CompressState
    turn: Turn | None = field(repr=False)


def apply_calls(
    messages: Json,
    config: CompressConfig | None = None,
    *,
    protocol: str | WireProtocol | None = None,
    state: CompressState | None = None,
) -> Applied:
    """Apply the compress and decompress calls with which a history ends.

    The turn says what became of them: put `turn.answers` into the history in your own form, or raise an outcome's
    `error`. A call that was refused leaves refs and blocks as they were. Calls before these that the state has no mark
    of are replayed first.

    Raises:
        CallerError: the protocol is unknown, cannot be found out, or has no conversations.
    """
    known, now, config = _known(messages, config, protocol, state)
    waiting = waiting_calls(now, config)
    known = replay(known, now, config, waiting.places)
    if not waiting.places:
        return Applied(state=known, turn=None)
    known, turn = OpenTurn(waiting.calls, now, waiting.rows).answer_own(known, now, config, waiting.rows)
    return Applied(state=known, turn=turn)


def render(
    messages: Json,
    config: CompressConfig | None = None,
    *,
    protocol: str | WireProtocol | None = None,
    state: CompressState | None = None,
) -> Json:
    """The request as it is to be sent: blocks in the place of folded messages, refs, the reminders of the state.

    Raises:
        CallerError: as `apply_calls`.
    """
    known, now, config = _known(messages, config, protocol, state)
    return now.shape.write(messages, shown(known, now, config))


def remind(
    messages: Json,
    config: CompressConfig,
    *,
    protocol: str | WireProtocol | None = None,
    state: CompressState | None = None,
    tokens: int | None = None,
) -> CompressState:
    """The state with a reminder below the last message, if one is due; `render` shows it from then on.

    Args:
        tokens: that the last request took, as the provider counted; None: they are estimated.

    Raises:
        CallerError: as `apply_calls`.
    """
    board, known = _board(messages, config, protocol, state)
    nudge = due(board, known, shown_tokens(board) if tokens is None else tokens)
    return known if nudge is None else evolve(known, nudges=(*known.nudges, nudge))


def search_folded(
    messages: Json,
    query: str,
    config: CompressConfig | None = None,
    *,
    protocol: str | WireProtocol | None = None,
    state: CompressState | None = None,
    limit: int = 8,
) -> list[Hit]:
    """The passages of folded messages that answer a query, best first, at most `limit` (and 50).

    Raises:
        CallerError: as `apply_calls`.
    """
    return search(_board(messages, config, protocol, state)[0], query, limit)


def report(
    messages: Json,
    config: CompressConfig | None = None,
    *,
    protocol: str | WireProtocol | None = None,
    state: CompressState | None = None,
) -> Status:
    """What is folded, saved and pending.

    Raises:
        CallerError: as `apply_calls`.
    """
    return status_of(*_board(messages, config, protocol, state))


def _board(
    messages: Json, config: CompressConfig | None, protocol: str | WireProtocol | None, state: CompressState | None
) -> tuple[Board, CompressState]:
    known, now, config = _known(messages, config, protocol, state)
    return Board(known, now, config), known


def _known(
    messages: Json, config: CompressConfig | None, protocol: str | WireProtocol | None, state: CompressState | None
) -> tuple[CompressState, Conversation, CompressConfig]:
    """The state with every message taken in, the conversation, and the configuration."""
    config = config or CompressConfig()
    now = conversation_of(messages, protocol)
    return observe(state or CompressState(), now, config), now, config
