"""The archive: folded messages word for word, as texts for the store, to be searched and read back.

A medium is a text of its own, a `data:` url: base64 with its type. The texts are a function of the messages, so what
was folded twice, by whatever way, is stored once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, field, frozen

from trimtab._json import blob_id, canonical
from trimtab.codecs.leaves import MIME_KEYS
from trimtab.compaction.asking.transcript import LABELS
from trimtab.compaction.chosen import Protocol, shape_named
from trimtab.compaction.measuring.estimate import Estimator
from trimtab.compaction.measuring.media import payloads_in
from trimtab.compaction.settings import Budgets
from trimtab.compaction.stored.record import NEWEST, Archived, FoldRecord, Index, index_text
from trimtab.compaction.types import listed_messages
from trimtab.envelope import BlobRef, Envelope
from trimtab.errors import CallerError, UnsupportedOutput
from trimtab.marker import uri
from trimtab.pointer import Path, replace
from trimtab.telemetry import log
from trimtab.types import BlobStore, Json
from trimtab.wire.histories import Message, Part
from trimtab.wire.nodes import items, member

__all__ = ["Archive", "Archiver", "archive_of", "archive_row", "archived"]

_TOOL: Final = "archive"
_NAMES: Final = 4  # the trigger is at least so many times what the names of omitted texts take
_TEXTS: Final = ("text", "input_text", "output_text")
_UNKNOWN: Final = "application/octet-stream"
# What blocks of a kind hold that name only a format: https://docs.aws.amazon.com/bedrock/latest/APIReference (image,
# document, video, audio), https://platform.openai.com/docs/api-reference/chat/create (input_audio).
_FAMILIES: Final = {
    "image": "image",
    "video": "video",
    "audio": "audio",
    "input_audio": "audio",
    "document": "application",
}


@frozen(kw_only=True)
class Archive:
    """Texts by blob id, to be put into the store; and what each is, for a record."""

    blobs: Mapping[str, str] = field(repr=False)
    entries: tuple[Archived, ...]


def archive_of(protocol: Protocol, messages: Iterable[Json]) -> Archive:
    """The archive of messages as they are sent: one text of what was said, one of each medium. Thinking is left out.

    For what is folded by other means than a compactor's. Raises CallerError: an unknown protocol; no list of messages.
    """
    return _archive(shape_named(protocol).read(listed_messages(messages)))


def _archive(messages: Iterable[Message]) -> Archive:
    media: dict[str, Archived] = {}
    blobs: dict[str, str] = {}

    def keep(kind: str, text: str) -> str:
        name = blob_id(text)
        blobs[name] = text
        media[name] = Archived(id=name, chars=len(text), kind=kind)
        return uri(name)

    writer = _Writer(keep)
    said = "\n\n".join(filter(None, map(writer.message, messages)))
    entries = list(media.values())
    if said:
        name = blob_id(said)
        blobs[name] = said
        entries.insert(0, Archived(id=name, chars=len(said), kind="messages"))
    return Archive(blobs=blobs, entries=tuple(entries))


class Archiver:
    """Where a compactor archives what it folds; without a store, nowhere."""

    def __init__(self, store: BlobStore | None, owner: str | None, read_tool: str) -> None:
        """Raises CallerError: a store without an owner or a tool that reads it; what is no store."""
        if store is not None and (not isinstance(owner, str) or not owner or not read_tool):
            raise CallerError("an archive needs an owner (owner=) and a tool that reads it (read_tool=)")
        if store is not None and not callable(getattr(store, "put", None)):
            raise CallerError(f"store is a blob store, such as host.store, not {type(store).__name__}")
        self._store = store
        self._owner = owner or ""

    def archived(
        self, record: FoldRecord, messages: Sequence[Message], budgets: Budgets, estimator: Estimator
    ) -> tuple[FoldRecord, dict[str, str]]:
        """The record with the archive of these messages too, and the texts for the store by their ids.

        Where it has too many texts to name them one by one it has an index, written again when that lacks as many.
        Without a store it has the newest names that leave room for what is said.
        """
        if self._store is None:
            return _bounded(record, budgets, estimator), {}
        new = _archive(messages)
        record = evolve(record, archive=tuple(dict.fromkeys([*record.archive, *new.entries])))
        blobs, archive = len(record.blobs), len(record.archive)
        listed = (0, 0) if record.index is None else (record.index.blobs, record.index.archive)
        if blobs - listed[0] <= NEWEST and archive - listed[1] <= NEWEST:
            return record, dict(new.blobs)
        # Not at each fold: the indexes would come to the square of what they list.
        text = index_text(record)
        index = Index(id=blob_id(text), chars=len(text), kind="index", blobs=blobs, archive=archive)
        return evolve(record, index=index), {**new.blobs, index.id: text}

    def put(self, texts: Mapping[str, str]) -> None:
        """Write them. Raises what the store raises."""
        if texts and self._store is not None:
            try:
                self._store.put(texts, owner=self._owner)
            except StopIteration as error:  # no future of asyncio's takes this
                raise RuntimeError("the store raised StopIteration") from error


def _bounded(record: FoldRecord, budgets: Budgets, estimator: Estimator) -> FoldRecord:
    """With the newest names that fit a part of the trigger, and no index, which has no place without a store. The
    summary would else grow with every text that was ever omitted.
    """
    room, end = budgets.trigger // _NAMES, len(record.blobs)
    while end and (room := room - estimator.text(f"{record.blobs[end - 1].uri}, ")) >= 0:
        end -= 1
    if end:
        log.warning("%d omitted texts are not named any more, for want of room: give the compactor a store", end)
    return evolve(record, blobs=record.blobs[end:], index=None)


def archived(record: FoldRecord) -> list[Archived]:
    """All that the archive has of a fold."""
    return [*record.archive, *([] if record.index is None else [record.index])]


def archive_row(entries: Iterable[Archived]) -> Json:
    """A row that names these texts, for `host.allow_list`: an envelope as that of a tool's output."""
    listed = list(entries)
    refs = [BlobRef(key=f"/{at}", blob_id=one.id, total_chars=one.chars) for at, one in enumerate(listed)]
    skeleton: list[Json] = [uri(one.id) for one in listed]
    return Envelope(tool=_TOOL, skeleton=skeleton, refs=tuple(refs)).to_row()


class _Writer:
    """Writes messages as text; media are handed to `keep`, which gives the uri that stands in their place."""

    def __init__(self, keep: Callable[[str, str], str]) -> None:
        self._keep = keep
        self._names: dict[str, str] = {}  # of tools, by the ids of their calls

    def message(self, message: Message) -> str:
        """Who says what, a part a paragraph; "" where nothing is said."""
        parts = list(filter(None, map(self._part, message.parts)))
        return f"{LABELS[message.role]}:\n" + "\n".join(parts) if parts else ""

    def _part(self, part: Part) -> str:
        if part.kind == "text":
            return part.text
        if part.kind == "call":
            self._names[part.call_id] = part.name
            return f"[called {part.name or 'a tool'}] {self._value(part.value)}"
        if part.kind == "result":
            failed = " failed" if part.is_error else ""
            name = part.name or self._names.get(part.call_id) or "the tool"
            return f"[{name}{failed} returned]\n{self._value(part.value)}"
        return self._value(part.value) if part.kind == "other" else ""

    def _value(self, value: Json) -> str:
        """A text as it is, texts of blocks each on a line, anything else as JSON without its media."""
        if isinstance(value, str):
            return value
        if items(value) and all(isinstance(member(one, "type"), str) or _is_text(one) for one in items(value)):
            return "\n".join(self._block(one) for one in items(value))
        return self._block(value)

    def _block(self, block: Json) -> str:
        if _is_text(block):
            return str(member(block, "text"))
        changes: dict[Path, Json] = {path: self._medium(block, path) for path in payloads_in(block)}
        try:
            return canonical(replace(block, changes) if changes else block)
        except UnsupportedOutput:  # an SDK's object
            return f"[{type(block).__name__}]"

    def _medium(self, block: Json, path: Path) -> str:
        way = list(_way(block, path))
        payload = str(way[-1])
        if payload.startswith("data:"):
            return self._keep(payload[len("data:") :].split(";", 1)[0].split(",", 1)[0] or _UNKNOWN, payload)
        kind = _kind(way[:-1], path)
        return self._keep(kind, f"data:{kind};base64,{payload}")


def _is_text(block: Json) -> bool:
    """Whether a block is a text: by its type, or since it has nothing else (Bedrock's)."""
    if not isinstance(member(block, "text"), str):
        return False
    return member(block, "type") in _TEXTS or (isinstance(block, dict) and len(block) == 1)


def _way(block: Json, path: Path) -> Iterator[Json]:
    """The containers on a path, and what is at its end."""
    yield block
    for step in path:
        block = block[step]
        yield block


def _kind(containers: Sequence[Json], path: Path) -> str:
    """The MIME type of a payload, by the nearest container that says it."""
    for container in reversed(containers):
        for name in MIME_KEYS:
            if isinstance(found := member(container, name), str) and found:
                return found
        if isinstance(form := member(container, "format"), str) and form:
            names = [*reversed(path), member(containers[0], "type")]
            family = next((_FAMILIES[one] for one in names if isinstance(one, str) and one in _FAMILIES), None)
            if family:
                return f"{family}/{form}"
    return _UNKNOWN
