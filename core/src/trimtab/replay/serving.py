"""What trimtab would have sent: tool outputs trimmed, the model's own compress calls shown, older messages folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from trimtab._json import blob_id, canonical
from trimtab.compaction.durable import DurableCompactor
from trimtab.compaction.loop import LoopCompactor, Memo
from trimtab.compaction.record import FoldRecord
from trimtab.compaction.settings import FoldSettings
from trimtab.compaction.types import Event, Row, Summarize, SummaryRequest
from trimtab.compress.config import CompressConfig
from trimtab.compress.conversation import Conversation
from trimtab.compress.rebuild import own_calls, replay
from trimtab.compress.refs import observe
from trimtab.compress.shown import shown
from trimtab.compress.state import CompressState
from trimtab.errors import CallerError
from trimtab.host import Host
from trimtab.replay.measuring import beside
from trimtab.replay.sessions import Session
from trimtab.types import Json, TokenCounter
from trimtab.wire.histories import Shape, is_prompt

__all__ = ["LANES", "Lanes", "ServeSettings", "Served", "Server"]

Lanes: TypeAlias = Literal["both", "durable", "loop"]
LANES: Final[tuple[Lanes, ...]] = ("both", "durable", "loop")

_OWNER: Final = "replay"


def _heads(request: SummaryRequest) -> str:
    """The beginnings of what was said, the newest first, as far as the budget goes."""
    found = [request.prior[: 2 * request.budget]] if request.prior else []
    for entry in reversed(request.history.split("\n\n")):
        if request.count("\n".join([*found, entry[:120]])) > request.budget:
            break
        found.append(entry[:120])
    return "\n".join(found)


@frozen(kw_only=True)
class ServeSettings:
    """How a session is served.

    Attributes:
        trim: whether tool outputs are trimmed, by the host's policy.
        window: tokens that the model takes in; None: nothing is folded.
        share: of the window, from which on a prompt is folded (`FoldSettings.share`).
        lanes: which folds there are: between turns, inside a turn, both.
        compress: the model's compress and decompress tools.
        summarize: writes the summaries of folds; to be replayed alike it must be deterministic.
        counter: counts tokens.
    """

    trim: bool = True
    window: int | None = None
    share: float = 0.8
    lanes: Lanes = "both"
    compress: CompressConfig = field(factory=CompressConfig)
    summarize: Summarize = field(default=_heads, repr=False)
    counter: TokenCounter = field(factory=lambda: CompressConfig().counter, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.lanes not in LANES:
            raise CallerError(f"lanes must be one of {', '.join(LANES)}, not {self.lanes!r:.80}")
        if self.window is not None and self.folds(None).budgets() is None:
            raise CallerError(f"a window of {self.window!r:.80} tokens leaves no room for a prompt; give a larger one")

    def folds(self, request: Json) -> FoldSettings:
        """The settings of folds for one request."""
        tools, system = beside(request)
        return FoldSettings(windows=self.window, share=self.share, tools=tools, system=system, counter=self.counter)


@frozen(kw_only=True)
class Served:
    """A request as trimtab would have sent it, and the folds that were due before it."""

    request: Json = field(repr=False)
    events: tuple[Event, ...]


class Server:
    """Serves one session, request by request."""

    def __init__(self, host: Host, session: Session, settings: ServeSettings) -> None:
        """`host`: trims; it keeps the texts for the owner `replay`."""
        self._host = host
        self._settings = settings
        self._protocol = session.protocol
        self._shape = session.shape
        self._compress = _Compressed(self._shape, settings.compress) if _compresses(session, settings) else None
        self._turn: list[str] = []
        self._base: list[Json] = []
        self._record: FoldRecord | None = None
        self._memo = Memo()

    def serve(self, request: Json) -> Served:
        """The next request of the session."""
        if self._settings.trim:
            request = self._host.trim_request(request, self._protocol, owner=_OWNER).request
        if self._compress is not None:
            request = self._compress.shown(request)
        if self._settings.window is None:
            return Served(request=request, events=())
        natives, events = self._folded(request)
        return Served(request=self._shape.write(request, natives), events=tuple(events))

    def _folded(self, request: Json) -> tuple[Sequence[Json], list[Event]]:
        natives = self._shape.place(request)[1]
        ids = _ids(natives)
        folds = self._settings.folds(request)
        events: list[Event | None] = []
        begin = self._begin(natives)
        if not self._turn or ids[: len(self._turn)] != self._turn or begin >= len(self._turn):
            events.append(self._next_turn(natives, ids, folds))
        current = [*self._base, *natives[len(self._turn) :]]
        if self._settings.lanes != "durable":
            stepped = LoopCompactor(self._shape, folds, self._settings.summarize).step(current, None, self._memo)
            self._memo, current = stepped.memo, stepped.messages
            events.append(stepped.event)
        return current, [event for event in events if event is not None]

    def _begin(self, natives: Sequence[Json]) -> int:
        """Where the running turn begins: at the last prompt of the user's."""
        messages = self._shape.read(list(natives))
        return max((at for at, message in enumerate(messages) if is_prompt(message)), default=0)

    def _next_turn(self, natives: Sequence[Json], ids: list[str], folds: FoldSettings) -> Event | None:
        """A turn begins, or the history is another one than before: what was folded inside a turn is over."""
        self._turn, self._base, self._memo = ids, list(natives), Memo()
        if self._settings.lanes == "loop":
            return None
        rows = [Row(id=one, messages=(native,)) for one, native in zip(ids, natives, strict=True)]
        served = DurableCompactor(self._shape, folds, self._settings.summarize).serve(rows, self._record)
        self._record, self._base = served.record, served.messages
        return served.event


class _Compressed:
    """The conversation as the model's own compress calls have left it."""

    def __init__(self, shape: Shape, config: CompressConfig) -> None:
        self._shape = shape
        self._config = config
        self._state = CompressState()

    def shown(self, request: Json) -> Json:
        now = Conversation.read(self._shape, request)
        self._state = replay(self._state, now, self._config)
        return self._shape.write(request, shown(self._state, now, self._config))


def _compresses(session: Session, settings: ServeSettings) -> bool:
    """Whether the model calls our tools anywhere in the session: then refs are shown from its first request on."""
    for request in reversed(session.requests):
        now = Conversation.read(session.shape, request)
        state = observe(CompressState(), now, settings.compress)
        if next(own_calls(state, now, settings.compress, range(len(now.rows))), None) is not None:
            return True
        if session.derived:
            break
    return False


def _ids(natives: Sequence[Json]) -> list[str]:
    """An id for each message, which says where it stands and what it says."""
    return [f"{at}-{blob_id(canonical(native))}" for at, native in enumerate(natives)]
