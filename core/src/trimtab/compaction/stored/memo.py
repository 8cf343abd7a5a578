"""What was folded inside a turn: a memo, which stands for the beginning of a list of messages that goes on growing."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final

from attrs import evolve, frozen

from trimtab._json import decode_or_none, utf8
from trimtab.codecs.leaves import strings
from trimtab.compaction.measuring.usage import tokens_of
from trimtab.compaction.stored.record import (
    SUMMARY_OPENING,
    Blob,
    FoldRecord,
    behind_summary,
    dump_record,
    load_record,
    opened,
    summary_text,
)
from trimtab.compress.refs.identity import key_of, texts_in, texts_of
from trimtab.errors import CallerError
from trimtab.marker import parse, uri
from trimtab.types import Json
from trimtab.wire.histories import Message, Part, Shape, is_prompt

__all__ = [
    "Memo",
    "beside_summary",
    "blobs_named",
    "checked_memo",
    "digest_of",
    "dump_memo",
    "is_summary",
    "load_memo",
    "with_memo",
]

_VERSION: Final = 1
_URI: Final = re.compile("trimtab:[0-9a-f]{16,32}")


@frozen(kw_only=True)
class Memo:
    """What one turn, or several, have folded on their way since the last durable fold.

    Attributes:
        consumed: how many messages of the list the fold stands for, what is kept of them among them.
        digest: of these messages; a list that begins otherwise is another history, and the memo is dropped.
        kept: the places of those that are sent all the same, in order: what the system says, the summary of a durable
            fold, the request that the turn works on.
        fold: what stands in the place of the others; None while nothing is folded. Its `boundary` is "": no row's.
        made_at: how many messages there were when it was folded: what the provider counted before is out of date.
        fruitless: attempts that could not bring the prompt below the trigger.
    """

    consumed: int = 0
    digest: str = ""
    kept: tuple[int, ...] = ()
    fold: FoldRecord | None = None
    made_at: int = 0
    fruitless: int = 0

    @property
    def summary(self) -> str:
        """What the fold says; "" while nothing is folded."""
        return "" if self.fold is None else self.fold.summary

    def counted(self, usage: Json) -> int | None:
        """What to store of the turn's last step as `Row.tokens` (`tokens_of`); None where the turn was folded on its
        way: what the provider counted then is not of these rows.
        """
        return None if self.fold else tokens_of(usage)

    def fits(self, messages: Sequence[Message]) -> bool:
        """Whether these messages begin with those that it stands for."""
        return self.consumed <= len(messages) and digest_of(messages[: self.consumed]) == self.digest


def checked_memo(memo: Memo) -> Memo:
    """The same. Raises CallerError: it is none."""
    if not isinstance(memo, Memo):
        raise CallerError(f"memo must be a trimtab.compaction.Memo (load_memo makes one), not {type(memo).__name__}")
    return memo


def dump_memo(memo: Memo) -> dict[str, Json]:
    """The memo as JSON, to be stored beside the record, for the next turn in another process."""
    said = {"consumed": memo.consumed, "digest": memo.digest, "kept": list(memo.kept)}
    return {"v": _VERSION, **said, "fold": dump_record(memo.fold), "made_at": memo.made_at, "fruitless": memo.fruitless}


def load_memo(value: Json) -> Memo:
    """The memo that `dump_memo` gave; of None, where nothing is stored, an empty one.

    Raises:
        CallerError: it is damaged, or of a later version. Go on without it: then the cache is lost once, nothing else.
    """
    if value is None:
        return Memo()
    memo = opened({**value, "fold": None} if isinstance(value, dict) and "fold" in value else value, Memo, "memo")
    memo = evolve(memo, fold=load_record(value["fold"]))
    kept = sorted({at for at in memo.kept if 0 <= at < memo.consumed})
    if min(memo.consumed, memo.made_at, memo.fruitless) < 0 or list(memo.kept) != kept:
        said = f"consumed {memo.consumed}, kept {memo.kept!r:.80}, made_at {memo.made_at}, fruitless {memo.fruitless}"
        raise CallerError(f"the stored memo is damaged: {said}")
    if (memo.consumed > 0) != (memo.fold is not None):
        raise CallerError(f"the stored memo is damaged: of {memo.consumed} messages and their fold one is missing")
    return memo


def with_memo(shape: Shape, messages: Sequence[Message], memo: Memo, names: Mapping[str, str]) -> list[Message]:
    """The messages as a memo leaves them: what is kept, the summary before the turn's request, the rest.

    `names`: of the tools that read, as of `summary_text`.
    """
    if memo.fold is None:
        return list(messages)
    summary = shape.read([shape.user_text(summary_text(memo.fold, **names))])
    kept = [messages[at] for at in memo.kept]
    requests = [at for at, message in enumerate(kept) if is_prompt(message) and not is_summary(message)]
    place = requests[-1] if requests else len(kept)
    return [*kept[:place], *summary, *kept[place:], *messages[memo.consumed :]]


def is_summary(message: Message) -> bool:
    """Whether it is what a fold serves."""
    return message.role == "user" and any(map(_is_summary, message.parts))


def _is_summary(part: Part) -> bool:
    return part.kind == "text" and part.text.startswith(SUMMARY_OPENING)


def beside_summary(message: Message) -> Message:
    """The same, but for its summary: some providers take what the user says then in one message with it only."""
    at = next(at for at, part in enumerate(message.parts) if _is_summary(part))
    before, summary, after = message.parts[:at], message.parts[at], message.parts[at + 1 :]
    behind = behind_summary(summary.text)
    return evolve(message, parts=(*before, *([evolve(summary, text=behind)] if behind else []), *after))


def digest_of(messages: Sequence[Message]) -> str:
    """What these messages say; "" of none."""
    return sha256(utf8("".join(map(key_of, messages)))).hexdigest() if messages else ""


def blobs_named(messages: Sequence[Message], gone: Container[int]) -> list[Blob]:
    """The texts that the messages at these places name as omitted: by markers in what tools returned, and in summaries
    of folds. Each once, in order. To name one opens nothing.
    """
    found: dict[str, Blob] = {}
    called: dict[str, str] = {}
    for at, message in enumerate(messages):
        called |= {part.call_id: part.name for part in message.of("call")}
        if at not in gone:
            continue
        for part in message.of("result"):
            tool = part.name or called.get(part.call_id, "")
            for text in _strings(part):
                for handle in (marker.handle for marker in parse(text)):
                    if handle is not None:
                        found.setdefault(uri(handle), Blob.of(tool, uri(handle), text))
        if is_summary(message):
            for name in (name for text in texts_of(message) for name in _URI.findall(text)):
                found.setdefault(name, Blob(tool="", uri=name))
    return list(found.values())


def _strings(part: Part) -> Iterator[str]:
    """The texts of a result that may hold markers; of JSON text its strings, each of which has its own."""
    for text in texts_in(part):
        if "trimtab:" in text:
            value = decode_or_none(text) if text[:1] in ("[", "{") else None
            yield from (said for _, said, _ in strings(text if value is None else value, 1))
