"""What trimtab would have sent: tool outputs trimmed, the model's own compress calls shown, older messages folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from attrs import evolve, field, frozen

from trimtab._json import blob_id, canonical
from trimtab.compaction.durable import DurableCompactor, Served
from trimtab.compaction.loop import LoopCompactor, Stepped
from trimtab.compaction.repair import Repair
from trimtab.compaction.settings import FoldSettings
from trimtab.compaction.stored.memo import Memo
from trimtab.compaction.stored.record import FoldRecord
from trimtab.compaction.types import Event, Row, Summarize
from trimtab.compress.config import CompressConfig
from trimtab.compress.own import own_calls
from trimtab.compress.rebuild import replay
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.observe import observe
from trimtab.compress.shown import shown
from trimtab.compress.state import CompressState
from trimtab.errors import CallerError
from trimtab.host import Host
from trimtab.replay.measuring import beside
from trimtab.replay.sessions import Session
from trimtab.trimmed import Trimmed
from trimtab.types import Json
from trimtab.wire import ToolResult
from trimtab.wire.histories import Shape, is_prompt

__all__ = ["Lanes", "Sent", "ServeSettings", "Server"]

Lanes: TypeAlias = Literal["both", "durable", "loop"]

_OWNER: Final = "replay"
_FILE_TOOL: Final = ""  # what was recorded says nothing of attached files


@frozen(kw_only=True)
class ServeSettings:
    """How a session is served.

    Attributes:
        trim: whether tool outputs are trimmed, by the host's policy.
        folds: of the model; `tools` and `system` are each request's own. With no window known nothing is folded.
        lanes: which folds there are: between turns, inside a turn, both.
        compress: the model's compress and decompress tools.
        summarizer: writes the summaries of folds; None: the extractive one, which asks no model and always writes the
            same.

    Raises:
        CallerError: an unknown lane, or a window that leaves no room for a prompt.
    """

    trim: bool = True
    folds: FoldSettings = field(factory=lambda: FoldSettings(windows=None))
    lanes: Lanes = "both"
    compress: CompressConfig = field(factory=CompressConfig)
    summarizer: Summarize | None = field(default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.lanes not in get_args(Lanes):
            raise CallerError(f"lanes must be one of {', '.join(get_args(Lanes))}, not {self.lanes!r:.80}")
        windows = [one for one in self.folds.windows if one is not None]
        if windows and self.folds.budgets() is None:
            named = " or ".join(f"{one!r:.80}" for one in windows)
            raise CallerError(f"a window of {named} tokens leaves no room for a prompt; give a larger one")

    def folds_of(self, request: Json) -> FoldSettings:
        """The settings of folds for one request."""
        tools, system = beside(request)
        return evolve(self.folds, tools=tools, system=system)


@frozen(kw_only=True)
class Sent:
    """A request as trimtab would have sent it, the folds that were due before it, and what folding mended in it."""

    request: Json = field(repr=False)
    events: tuple[Event, ...] = ()
    repairs: tuple[Repair, ...] = ()


class Server:
    """Serves one session, request by request."""

    def __init__(self, host: Host, session: Session, settings: ServeSettings) -> None:
        """`host`: trims; it keeps the texts for the owner `replay`."""
        self._host = host
        self._settings = settings
        self._protocol = session.protocol
        self._shape = session.shape
        self._compress = _Compressed(self._shape, settings.compress) if _compresses(session, settings) else None
        tool = host.policy.read_tool
        self._readers: dict[str, Any] = {"read_tool": tool, "file_tool": _FILE_TOOL}
        if tool:
            self._readers |= {"store": host.store, "owner": _OWNER}
        self._natives: Sequence[Json] = ()
        self._ids: list[str] = []
        self._turn: list[str] = []
        self._base: list[Json] = []
        self._record: FoldRecord | None = None
        self._memo = Memo()

    def serve(self, request: Json) -> Sent:
        """The next request of the session."""
        changed: dict[str, Trimmed] = {}
        if self._settings.trim:
            trimmed = self._host.trim_request(request, self._protocol, owner=_OWNER)
            request = trimmed.request
            changed = {key: one for key, one in zip(trimmed.keys, trimmed.results, strict=True) if one.changed}
        if self._compress is not None:
            whole, request = request, self._compress.shown(request)
            changed = self._still_shown(changed, whole, request)
        if self._settings.folds.budgets() is None:
            return Sent(request=request)
        return self._folded(request, changed)

    def _still_shown(self, changed: Mapping[str, Trimmed], whole: Json, shown: Json) -> dict[str, Trimmed]:
        """Trimmed outputs by their results' keys in what is shown; of what the model folded nothing."""
        if not changed:
            return {}
        left = self._protocol.tool_results(shown)
        keys: dict[str, str] = {}
        for one in self._protocol.tool_results(whole):  # in their order: ids repeat, or are missing
            if len(keys) < len(left) and _is_shown(one, left[len(keys)]):
                keys[one.key] = left[len(keys)].key
        return {keys[key]: one for key, one in changed.items() if key in keys}

    def _folded(self, request: Json, changed: Mapping[str, Trimmed]) -> Sent:
        path, natives = self._shape.place(request)
        ids = self._named(natives)
        folds = self._settings.folds_of(request)
        made: list[Served | Stepped] = []
        if self._begins_turn(natives, ids):
            made += self._next_turn(natives, ids, _by_place(changed, len(path)), folds)
        current = [*self._base, *natives[len(self._turn) :]]
        if self._settings.lanes != "durable":
            compactor = LoopCompactor(self._shape, folds, self._settings.summarizer, **self._readers)
            stepped = compactor.step(current, None, self._memo)
            self._memo, current = stepped.memo, stepped.messages
            made.append(stepped)
        return Sent(
            request=self._shape.write(request, current),
            events=tuple(one.event for one in made if one.event is not None),
            repairs=tuple(repair for one in made for repair in one.repairs),
        )

    def _named(self, natives: Sequence[Json]) -> list[str]:
        """An id for each message, which says where it stands and what it says."""
        before = self._natives
        self._ids = [
            self._ids[at] if at < len(before) and before[at] is native else f"{at}-{blob_id(canonical(native))}"
            for at, native in enumerate(natives)
        ]
        self._natives = natives
        return self._ids

    def _begins_turn(self, natives: Sequence[Json], ids: Sequence[str]) -> bool:
        """Whether the user has said something since the running turn began, or what stood there then is not there."""
        upto = len(self._turn)
        return not upto or ids[:upto] != self._turn or any(map(is_prompt, self._shape.read(natives[upto:])))

    def _next_turn(
        self, natives: Sequence[Json], ids: list[str], outputs: Mapping[int, list[Json]], folds: FoldSettings
    ) -> list[Served]:
        """A turn begins, or the history is another one than before; what was folded inside a turn is handed on."""
        self._turn, self._base = ids, list(natives)
        if self._settings.lanes == "loop":
            self._memo = evolve(self._memo, fruitless=0)
            return []
        rows = [
            Row(id=one, messages=(native,), outputs=tuple(outputs.get(at, ())))
            for at, (one, native) in enumerate(zip(ids, natives, strict=True))
        ]
        compactor = DurableCompactor(self._shape, folds, self._settings.summarizer, **self._readers)
        served = compactor.serve(rows, self._record, self._memo)
        self._record, self._base, self._memo = served.record, served.messages, served.memo
        return [served]


def _is_shown(result: ToolResult, shown: ToolResult) -> bool:
    """Whether it is the same result; what is shown may have a ref behind its text."""
    same = (result.call_id, result.name) == (shown.call_id, shown.name)
    return same and canonical(shown.value).startswith(canonical(result.value).rstrip('"]}'))


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


def _by_place(changed: Mapping[str, Trimmed], depth: int) -> dict[int, list[Json]]:
    """What an application would store of a request's outputs, by the place of their message.

    `depth`: how many members lead to the list of messages.
    """
    found: dict[int, list[Json]] = {}
    for key, one in changed.items():
        found.setdefault(int(key.split("/")[1 + depth]), []).append(one.row)
    return found
