"""`CompressSession`: a conversation whose model shortens its own history, for an application's loop.

::

    session = CompressSession("anthropic", config=CompressConfig(window=200_000))
    session.say("Port the parser.")
    while True:
        response = client.messages.create(**session.request({"model": ..., "tools": [*mine, *session.tools()]}))
        turn = session.receive(response)
        if turn.should_stop or not turn.waits:
            break
        session.answer([Answer(call_id=call.call_id, name=call.name, value=run(call)) for call in turn.calls])

The application stores `session.messages` (the whole history, nothing folded) and `dump_state(session.state)`; both
given to a new session, it goes on as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from operator import is_

from attrs import evolve, frozen

from trimtab.compress.board import Board
from trimtab.compress.config import CompressConfig
from trimtab.compress.definitions.tools import compress_tools
from trimtab.compress.nudge import due
from trimtab.compress.own import waiting_calls
from trimtab.compress.rebuild import replay
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.observe import observe
from trimtab.compress.shown import shown, shown_tokens
from trimtab.compress.state import CompressState
from trimtab.compress.status import Status, status_of
from trimtab.compress.turns import OpenTurn, Turn, ids_of
from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire import RawCall, Stream, WireProtocol, protocols
from trimtab.wire.histories import Answer
from trimtab.wire.lookup import shape_of
from trimtab.wire.nodes import is_object, member
from trimtab.wire.types import SpeakingStream

__all__ = ["CompressSession", "Turn"]


@frozen(kw_only=True)
class _Sent:
    """The newest request's messages, and what they were made of."""

    now: Conversation
    state: CompressState
    tokens: int | None
    messages: list[Json]

    def is_of(self, now: Conversation, state: CompressState, tokens: int | None) -> bool:
        """Whether nothing has changed since."""
        return self.now is now and self.state is state and self.tokens == tokens


class CompressSession:
    """One conversation. Not thread-safe: a conversation has one turn at a time. A method that raises changes nothing.

    Attributes:
        protocol, config: as given.
        state: what is folded, to be stored after every turn.
        turn: the newest: what `receive` or `sync` gave last; None before.
    """

    def __init__(
        self,
        protocol: str | WireProtocol,
        *,
        config: CompressConfig | None = None,
        messages: Sequence[Json] = (),
        state: CompressState | None = None,
    ) -> None:
        """Begin a conversation, or go on with one.

        Args:
            protocol: its name, or the protocol itself.
            config: None: the defaults, with no reminders.
            messages: the history so far, whole.
            state: what `session.state` was; None: it is rebuilt from the messages.

        Raises:
            CallerError: an unknown protocol, or one that has no conversations; a state or a configuration that is none.
        """
        if not isinstance(config, CompressConfig | None) or not isinstance(state, CompressState | None):
            raise CallerError("config is a CompressConfig, state a CompressState: a stored one is read by `load_state`")
        self._shape = shape_of(protocol, None)
        self.protocol = protocols[protocol] if isinstance(protocol, str) else protocol
        self.config = config or CompressConfig()
        self.state = state or CompressState()
        self._given: list[Json] = []
        self._synced: list[Json] | None = None  # what `sync` took last, while nothing else has come
        self._messages: list[Json] = []
        self._now = Conversation.read(self._shape, self._messages)
        self._open = OpenTurn((), self._now, range(0))
        self._sent: _Sent | None = None
        self.turn: Turn | None = self.sync(messages)

    @property
    def messages(self) -> list[Json]:
        """The whole history in the protocol's own shape, to be stored; nothing of it is folded."""
        return list(self._messages)

    def say(self, text: str) -> None:
        """The user says something: a text. What is more than that goes to `add`.

        Raises:
            CallerError: it is no text; calls of the last response wait for their answers.
        """
        if not isinstance(text, str):
            raise CallerError(f"what the user says is a text, not {type(text).__name__}; a whole message goes to `add`")
        self.add([self._shape.user_text(text)])

    def add(self, natives: Iterable[Json]) -> None:
        """More messages, in the protocol's own shape.

        Raises:
            CallerError: calls of the last response wait for their answers.
        """
        self._refuse_waiting()
        with self._all_or_nothing():
            self._synced = None
            self._extend(list(natives))

    def sync(self, messages: Sequence[Json]) -> Turn | None:
        """The history as the application has it now, whole: for applications that keep it themselves, or change it.

        Calls of our tools in it that have results are replayed as they went. Where it ends with calls that wait, these
        are the turn: our own are answered, as by `receive`; the application either answers the others and asks for the
        next request, or says it all in its own history and gives that here again. None: no calls wait. The same
        objects once more are the same turn.

        Raises:
            CallerError: it is no list.
        """
        if not isinstance(messages, list | tuple):
            raise CallerError(f"messages are the list of them, not {type(messages).__name__}")
        for known in (self._given, self._synced):
            if known is not None and len(messages) == len(known) and all(map(is_, messages, known)):
                return self.turn if messages else None
        same = sum(1 for _ in takewhile(bool, map(is_, messages, self._given)))
        with self._all_or_nothing():
            self._given = list(messages)
            self._messages = [*self._messages[:same], *self._sendable(messages[same:])]
            self._look()
            waiting = waiting_calls(self._now, self.config)
            self.state = replay(self.state, self._now, self.config, waiting.places)
            if waiting.places:
                self.turn = self._begin(waiting.calls, waiting.rows)
            else:
                self.turn, self._open = None, OpenTurn((), self._now, range(0))
            self._synced = list(messages)
        return self.turn

    def tools(self) -> list[Json]:
        """The definitions of our tools in the protocol's schema. Raises CallerError: one without tool definitions."""
        config = self.config
        made = compress_tools(
            self.protocol.name,
            compress=config.compress or "compress",
            decompress=config.decompress,
            search=config.search,
        )
        return made if config.compress else made[1:]

    def request(self, request: Json = None, *, tokens: int | None = None) -> Json:
        """The next request: the given one with the history as it is to be shown.

        Args:
            request: what else the request says (model, tools, a system prompt that stands beside the messages). None:
                only the list of messages is wanted.
            tokens: that the last request took, as the provider counted; None: they are estimated.

        Raises:
            CallerError: calls wait for their answers; the request has messages that are not the session's.
        """
        self._refuse_waiting()
        self._refuse_foreign(request)
        sent = self._sent
        if sent is None or not sent.is_of(self._now, self.state, tokens):
            with self._all_or_nothing():
                sent = self._sent = self._render(tokens)
        return list(sent.messages) if request is None else self._shape.write(request, sent.messages)

    def _render(self, tokens: int | None) -> _Sent:
        """What to send now, with a reminder where one is due."""
        board = Board(self.state, self._now, self.config)
        if self.config.window is not None:
            nudge = due(board, self.state, shown_tokens(board) if tokens is None else tokens)
            if nudge is not None:
                self.state = evolve(self.state, nudges=(*self.state.nudges, nudge))
        messages = shown(self.state, self._now, self.config, board)
        return _Sent(now=self._now, state=self.state, tokens=tokens, messages=messages)

    def receive(self, response: Json) -> Turn:
        """The model's answer, whole: it joins the history, and its calls of our tools are answered.

        Raises:
            CallerError: calls wait for their answers; it is an error, or no response.
        """
        natives, calls = self._shape.said(response), self.protocol.tool_calls(response)
        if not natives and not calls and (not is_object(response) or member(response, "error") is not None):
            raise CallerError(f"this is no response of {self.protocol.name} with a message in it; nothing was taken in")
        return self._receive(natives, calls)

    def receive_stream(self, reader: Stream) -> Turn:
        """As `receive`, from a stream reader (`session.protocol.stream()`) that was fed all there was.

        Raises:
            CallerError: calls wait for their answers; the reader does not keep messages.
        """
        if not isinstance(reader, SpeakingStream):
            raise CallerError(f"{type(reader).__name__} does not keep the message: pass it whole to `receive`")
        calls = reader.close()
        return self._receive(reader.said(), calls)

    def answer(self, answers: Iterable[Answer]) -> None:
        """What the application's tools returned to the calls of the last response.

        Raises:
            CallerError: an answer to no such call, or none to one of them.
        """
        with self._all_or_nothing():
            self._synced = None
            self._open = self._open.taking(answers)
            self._settle()

    @property
    def status(self) -> Status:
        """What is folded, saved and pending."""
        return status_of(Board(self.state, self._now, self.config), self.state)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """What raises in it (a token counter, a message that cannot be read) leaves the session as it was."""
        before = {**vars(self), "_given": list(self._given), "_messages": list(self._messages)}
        try:
            yield
        except BaseException:
            vars(self).update(before)
            raise

    def _receive(self, natives: Sequence[Json], calls: Sequence[RawCall]) -> Turn:
        self._refuse_waiting()
        with self._all_or_nothing():
            self._synced = None
            begin = len(self._now.rows)
            self._extend(natives)
            self.turn = self._begin(calls, range(begin, len(self._now.rows)))
        return self.turn

    def _begin(self, calls: Sequence[RawCall], rows: range) -> Turn:
        """The calls in these rows are the turn; where all are our own, it is over at once."""
        self._open = OpenTurn(calls, self._now, rows)
        self.state, turn = self._open.answer_own(self.state, self._now, self.config, rows)
        if not turn.calls:
            self._settle()
        return turn

    def _settle(self) -> None:
        """All calls are answered: the answers join the history, in the messages of the calls or behind them."""
        done, self._open = self._open, OpenTurn((), self._now, range(0))
        begin, end = _span(self._now, done.rows)
        said = self._messages[begin:end]
        filled = self._shape.fill(said, done.results())
        if filled is not None:
            self._messages[begin:end] = filled
            self._given[begin:end] = filled
        more = self._shape.results(done.results(), said) if filled is None else []
        self._extend([*more, *map(self._shape.user_text, done.texts())])

    def _refuse_waiting(self) -> None:
        if waiting := self._open.waiting():
            raise CallerError(
                f"the calls {ids_of(waiting.values())} wait for their answers: pass them to `answer` first"
            )

    def _refuse_foreign(self, request: Json) -> None:
        """Messages in a request would be replaced: none may be lost that way."""
        given = () if request is None else self._shape.place(request)[1]
        own = (self._given, self._messages)
        if given and not any(len(given) == len(one) and all(map(_same, given, one)) for one in own):
            raise CallerError(
                "the request has messages of its own, which are not the session's: give these to `add` or `sync` first"
            )

    def _extend(self, natives: Sequence[Json]) -> None:
        """The history goes on."""
        self._given += natives
        self._messages += self._sendable(natives)
        self._look()

    def _sendable(self, natives: Sequence[Json]) -> list[Json]:
        """The messages with an object in the place of call arguments that no provider would take again."""
        return list(self.protocol.with_calls(list(natives), {}))

    def _look(self) -> None:
        """Read what the history is now."""
        self._now = Conversation.read(self._shape, self._messages, self._now)
        self.state = observe(self.state, self._now, self.config)


def _span(now: Conversation, rows: range) -> tuple[int, int]:
    """Where these rows are among all messages."""
    places = [place for place, message in enumerate(now.messages) if message.role != "system"]
    return (places[rows[0]], places[rows[-1]] + 1) if rows else (len(now.messages), len(now.messages))


def _same(left: Json, right: Json) -> bool:
    return left is right or bool(left == right)
