"""`Host`: what an application embeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from trimtab.blobs.open import open_store
from trimtab.budget import Budget
from trimtab.citations import citations
from trimtab.discovery import Broken, Conflict, Plugin, Registry, load
from trimtab.host.engine import Engine, holder
from trimtab.host.reading import grep_steps, read_steps, room_for, run_read_tool_steps
from trimtab.host.requests import TrimmedRequest, trim_request_steps
from trimtab.host.rows import allow_list_steps, inflate_steps, render_steps
from trimtab.host.steps import Steps, arun, run
from trimtab.host.summarizers import summarizer_named, warn_of_unknown
from trimtab.host.tools import read_tools
from trimtab.host.trimming import trim_batch_steps, trim_steps
from trimtab.policy import Policy
from trimtab.readback import Place, Room
from trimtab.trim import prompt_text
from trimtab.trimmed import Trimmed
from trimtab.types import (
    AllowList,
    BlobStore,
    Call,
    Citation,
    Collected,
    Everything,
    GrepResult,
    Json,
    Owner,
    Page,
)
from trimtab.wire import WireProtocol

__all__ = ["Host"]

T = TypeVar("T")


class Host:
    """Trims tool outputs, renders rows, reads back. Made by `Host.load`; a context manager.

    Methods that touch the store have an async twin with an `a` before the name, which runs the store's part in a worker
    thread. A host may be used from several threads at once.

    `owner` is who holds blobs: a conversation or message id of the application's. None stands for the host's own
    default owner, whose blobs are held until `release`.
    """

    def __init__(self, store: BlobStore, policy: Policy, registry: Registry) -> None:
        self._store = store
        self._engine = Engine(policy, registry)

    @classmethod
    def load(
        cls,
        store: str | BlobStore | None = None,
        policy: Policy | None = None,
        *,
        plugins: Iterable[object] = (),
        discover: bool = True,
    ) -> Host:
        """Load plugins and open the store.

        Args:
            store: a URL (`memory:`, `sqlite:///trimtab.db`, `file:///dir`) or a store; None: the policy's, else memory.
            policy: None: the default one.
            plugins: plugin objects of the application's own, registered after the built-in parts.
            discover: whether to load installed plugins (entry points of the group `trimtab`).

        Raises:
            PolicyError: the store URL is malformed or of an unknown scheme.
            StoreUnavailable: the store cannot be opened.
        """
        policy = Policy() if policy is None else policy
        registry = load(policy.plugins, discover=discover, extra=plugins)
        warn_of_unknown(policy, registry)
        store = (policy.store or "memory:") if store is None else store
        opened = open_store(store, registry.blob_stores) if isinstance(store, str) else store
        return cls(opened, policy, registry)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store. Calling it twice is no error."""
        self._store.close()

    # What loaded

    @property
    def policy(self) -> Policy:
        """The policy that the host was loaded with."""
        return self._engine.policy

    @property
    def store(self) -> BlobStore:
        """The blob store."""
        return self._store

    @property
    def registry(self) -> Registry:
        """Everything that plugins registered."""
        return self._engine.registry

    @property
    def plugins(self) -> list[Plugin]:
        """What loaded, the built-in parts first."""
        return list(self._engine.registry.plugins)

    @property
    def broken(self) -> list[Broken]:
        """What did not load, with distribution, version and cause."""
        return list(self._engine.registry.broken)

    @property
    def conflicts(self) -> list[Conflict]:
        """Names that two plugins registered: which is used, and which is not."""
        return list(self._engine.registry.conflicts)

    @property
    def protocols(self) -> Mapping[str, WireProtocol]:
        """Wire protocols by name: the built-in ones and the plugins'."""
        return dict(self._engine.registry.wire_protocols)

    def summarizer(self, name: str | None = None, **options: Any) -> Any:
        """A new summarizer for `DurableCompactor` and `LoopCompactor`, by name; None: the policy's, else `extractive`.

        `options` go before those of the policy's table `summarizers`; links of a chain may be names.

        Raises:
            CallerError, PluginError: no such name or option, or an extra is not installed; its factory failed.
        """
        return summarizer_named(self.policy, self.registry, name, options)

    # Trimming

    def trim(
        self,
        tool: str,
        output: Json,
        *,
        arguments: Json = None,
        focus: str | None = None,
        budget: Budget | None = None,
        owner: Owner | None = None,
    ) -> Trimmed:
        """Trim one tool output and store what was moved.

        Args:
            tool: the tool's name, as the model sees it.
            output: a JSON value or a string.
            arguments: of the call; a meta-tool's say which tool ran, and a `query` in them is what excerpts answer.
            focus: what excerpts should answer; None: from the arguments; "": nothing in particular.
            budget: None: the policy's for this tool.
            owner: who holds the texts.

        A codec or store that fails leaves the output whole, now and in every later call; `t.error` says why.

        Raises:
            UnsupportedOutput: the output is not JSON (unless the policy passes such ones whole).
        """
        return self._run(trim_steps(self._engine, Call(tool, output, arguments=arguments, focus=focus), budget, owner))

    async def atrim(
        self,
        tool: str,
        output: Json,
        *,
        arguments: Json = None,
        focus: str | None = None,
        budget: Budget | None = None,
        owner: Owner | None = None,
    ) -> Trimmed:
        """As `trim`."""
        return await self._arun(
            trim_steps(self._engine, Call(tool, output, arguments=arguments, focus=focus), budget, owner)
        )

    def trim_batch(
        self, calls: Sequence[Call], *, budget: Budget | None = None, owner: Owner | None = None
    ) -> list[Trimmed]:
        """Trim the outputs that answer one assistant message; they share the budget's `batch`. Order does not matter.

        Raises:
            UnsupportedOutput: as `trim`; then nothing of the batch was stored.
        """
        return self._run(trim_batch_steps(self._engine, calls, budget, owner))

    async def atrim_batch(
        self, calls: Sequence[Call], *, budget: Budget | None = None, owner: Owner | None = None
    ) -> list[Trimmed]:
        """As `trim_batch`."""
        return await self._arun(trim_batch_steps(self._engine, calls, budget, owner))

    def trim_request(
        self,
        request: Json,
        protocol: str | WireProtocol | None = None,
        *,
        budget: Budget | None = None,
        owner: Owner | None = None,
    ) -> TrimmedRequest:
        """Trim every tool result of a provider request, and touch nothing else.

        What answers one assistant message shares the budget's `batch`; read-back tools are exempt. A result that this
        host sent before is sent with the same bytes again.

        Args:
            request: the body as JSON data, or its list of messages; it is not changed.
            protocol: a name of `host.protocols`, or a protocol; None: the one that the request looks like.
            budget: None: the policy's for each tool.
            owner: who holds the texts.

        Raises:
            CallerError: an unknown protocol, or a request that looks like none.
            UnsupportedOutput: a result is not JSON (unless the policy passes such ones whole).
            PluginError: a plugin's protocol raised, or gave what it must not; the message names it.
        """
        return self._run(trim_request_steps(self._engine, request, protocol, owner, budget))

    async def atrim_request(
        self,
        request: Json,
        protocol: str | WireProtocol | None = None,
        *,
        budget: Budget | None = None,
        owner: Owner | None = None,
    ) -> TrimmedRequest:
        """As `trim_request`."""
        return await self._arun(trim_request_steps(self._engine, request, protocol, owner, budget))

    def explain(self, trimmed: Trimmed) -> dict[str, Any]:
        """What was kept of an output and why: codec, focus, budget, cap, and for each bulk text what became of it."""
        return trimmed.explained()

    # Rows

    def render(self, row: Json, owner: Owner | None = None) -> Json:
        """The prompt value of a row. Anything that is not an envelope comes back as the same object.

        Raises:
            EnvelopeError: a damaged row.
        """
        return self._run(render_steps(row, owner))

    async def arender(self, row: Json, owner: Owner | None = None) -> Json:
        """As `render`."""
        return await self._arun(render_steps(row, owner))

    def render_text(self, row: Json, owner: Owner | None = None) -> str:
        """What `t.text` was when the row was made: its prompt value as text, for every later request.

        Raises:
            EnvelopeError: a damaged row.
        """
        return prompt_text(self._run(render_steps(row, owner)))

    async def arender_text(self, row: Json, owner: Owner | None = None) -> str:
        """As `render_text`."""
        return prompt_text(await self._arun(render_steps(row, owner)))

    def inflate(self, row: Json, owner: Owner | None = None, old_blob: Callable[[str], str] | None = None) -> Json:
        """The original output of a row. Anything that is not an envelope comes back as the same object.

        Args:
            old_blob: gives the text of a file id, for rows of older generations.

        Raises:
            LostBlob: a text is not held for this owner.
            EnvelopeError: a damaged row.
            CallerError: an older row, and no `old_blob`.
        """
        return self._run(inflate_steps(row, owner, old_blob))

    async def ainflate(
        self, row: Json, owner: Owner | None = None, old_blob: Callable[[str], str] | None = None
    ) -> Json:
        """As `inflate`."""
        return await self._arun(inflate_steps(row, owner, old_blob))

    def citations(self, rows: Iterable[Json]) -> list[Citation]:
        """The sources that rows (or outputs) offer, in order."""
        return citations(rows)

    # Reading back

    def allow_list(self, rows: Iterable[Json], owner: Owner | None = None) -> AllowList:
        """What a conversation may read: the blobs that its rows name, those of the running turn included.

        Raises:
            EnvelopeError, CallerError: a damaged row; no list of rows, or a `Trimmed` in it instead of its `row`.
        """
        return self._run(allow_list_steps(rows, owner))

    async def aallow_list(self, rows: Iterable[Json], owner: Owner | None = None) -> AllowList:
        """As `allow_list`."""
        return await self._arun(allow_list_steps(rows, owner))

    def read(
        self,
        uri: str,
        *,
        allow: AllowList | Everything,
        line: int | None = None,
        char: int | None = None,
        row: int | None = None,
        count: int | None = None,
    ) -> Page:
        """One page of a stored text.

        Args:
            uri: `trimtab:` and 16 to 32 hex digits of a blob id.
            allow: from `allow_list`; `ALL` is for operators.
            line, char, row: where to begin, 1-based; one of them. Rows are elements of a stored list.
            count: how many lines, chars or rows; None: as many as fit the policy's limit.

        Raises:
            NotOurs, UnknownBlob, AmbiguousHandle, LostBlob: the uri leads to nothing that may be read.
            OutOfRange: past the end.
        """
        return self._run(read_steps(self._engine, uri, allow, Place(line=line, char=char, row=row, count=count)))

    async def aread(
        self,
        uri: str,
        *,
        allow: AllowList | Everything,
        line: int | None = None,
        char: int | None = None,
        row: int | None = None,
        count: int | None = None,
    ) -> Page:
        """As `read`."""
        return await self._arun(read_steps(self._engine, uri, allow, Place(line=line, char=char, row=row, count=count)))

    def grep(self, uri: str, pattern: str, *, allow: AllowList | Everything, line: int = 1) -> GrepResult:
        """Lines of a stored text that match a word or a regular expression, from 1-based `line` on.

        Stops after 2 seconds or 100 matches; the result says so and where to go on.

        Raises:
            BadPattern, MissingExtra: the pattern cannot be used. Else as `read`.
        """
        return self._run(grep_steps(uri, pattern, allow, line=line))

    async def agrep(self, uri: str, pattern: str, *, allow: AllowList | Everything, line: int = 1) -> GrepResult:
        """As `grep`."""
        return await self._arun(grep_steps(uri, pattern, allow, line=line))

    def read_tools(self, protocol: str) -> list[Json]:
        """Definitions of the read and search tools in a protocol's schema, for the request's tool list.

        Raises:
            CallerError: an unknown protocol.
        """
        return read_tools(self.policy, protocol)

    def run_read_tool(self, name: str, arguments: Json, *, allow: AllowList | Everything) -> Json:
        """Answer a model's call of a read or search tool. What the model got wrong is in the output, as an error.

        Raises:
            CallerError: `name` is none of the read tools.
        """
        return self._run(run_read_tool_steps(self._engine, name, arguments, allow))

    async def arun_read_tool(self, name: str, arguments: Json, *, allow: AllowList | Everything) -> Json:
        """As `run_read_tool`."""
        return await self._arun(run_read_tool_steps(self._engine, name, arguments, allow))

    def room(self, tool: str) -> Room:
        """What a page that a reading tool gives may take beside its fields, for tools that page texts of their own."""
        return room_for(self._engine, tool)

    # Owners

    def hold(self, owner: str, ids: Iterable[str]) -> None:
        """Hold stored blobs for another owner, as when a conversation is forked.

        Raises:
            LostBlob: one is not stored; then none is held.
        """
        self._store.hold(holder(owner), ids)

    async def ahold(self, owner: str, ids: Iterable[str]) -> None:
        """As `hold`."""
        await self._arun(_once(lambda store: store.hold(holder(owner), ids)))

    def release(self, owner: str) -> None:
        """Let go of everything an owner holds, as when a conversation is deleted. `collect` deletes."""
        self._store.release(holder(owner))

    async def arelease(self, owner: str) -> None:
        """As `release`."""
        await self._arun(_once(lambda store: store.release(holder(owner))))

    def collect(self, grace: float = 3_600.0) -> Collected:
        """Delete blobs that no owner holds and that were last put or held more than `grace` seconds ago."""
        return self._store.collect(grace)

    async def acollect(self, grace: float = 3_600.0) -> Collected:
        """As `collect`."""
        return await self._arun(_once(lambda store: store.collect(grace)))

    def _run(self, steps: Steps[T]) -> T:
        return run(steps, self._store)

    async def _arun(self, steps: Steps[T]) -> T:
        return await arun(steps, self._store)


def _once(ask: Callable[[BlobStore], T]) -> Steps[T]:
    answer: T = yield ask
    return answer
