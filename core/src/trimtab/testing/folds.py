"""Histories to be folded, what providers refuse of one, and doubles: a counter of words, a summarizer that remembers.
The strategy needs Hypothesis.

`refused(protocol, messages)` is written apart from what mends histories, from the vendors' own rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

from attrs import define, field
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from trimtab.compaction import Row, SummaryRequest
from trimtab.testing.conversations import WRITERS, conversations
from trimtab.types import Json
from trimtab.wire import protocols
from trimtab.wire.lookup import shape_of

__all__ = ["RememberingSummarizer", "Words", "damaged_histories", "refused", "rows_of", "worded_row", "worded_turns"]

_ADJACENT = ("anthropic", "bedrock", "gemini", "openai-chat")
_ALTERNATING = ("bedrock", "gemini")
_OPENED_BY_USER = ("anthropic", "bedrock", "gemini", "vllm")
_SAYING = ("content", "parts", "input", "tool_calls", "output", "arguments", "summary", "encrypted_content")


@define
class RememberingSummarizer:
    """Gives a summary of so many words, in which it says how often it was asked; keeps the requests.

    `raising`: what it raises instead, from its `since`-th call on.
    """

    words: int = 12  # a reply of fewer than 50 chars is no summary
    raising: BaseException | None = None
    since: int = 1
    window: int = 1_000_000
    requests: list[SummaryRequest] = field(factory=list, init=False)

    def __call__(self, request: SummaryRequest) -> str:
        """The summary."""
        self.requests.append(request)
        if self.raising is not None and len(self.requests) >= self.since:
            raise self.raising
        return f"Summary {len(self.requests)} of what was said: " + " ".join(["this and that"] * self.words)


class Words:
    """Counts words: with it sizes are exact."""

    name, version = "words", "1"

    def count(self, text: str) -> int:
        """Words of a text."""
        return len(text.split(" ")) - text.endswith(" ") if text else 0


def worded_row(name: str, tokens: int = 100, **more: Any) -> Row:
    """A row of OpenAI's chat of so many words, the first its name: `u1` is the user's, `a1` the assistant's."""
    role = "user" if name.startswith("u") else "assistant"
    return Row(id=name, messages=[{"role": role, "content": f"{name} " + "word " * (tokens - 1)}], **more)


def worded_turns(count: int, tokens: int = 100) -> list[Row]:
    """So many whole turns, `u0`, `a0`, `u1`, …, each row of so many words."""
    return [worded_row(f"{who}{number}", tokens) for number in range(count) for who in "ua"]


def rows_of(natives: Sequence[Json], *, seed: int | None = None, prefix: str = "r") -> list[Row]:
    """Messages as rows: one a row, or with a `seed` now and then several."""
    random = Random(seed)
    rows: list[Row] = []
    left = list(natives)
    while left:
        count = 1 if seed is None else random.randint(1, 3)
        rows.append(Row(id=f"{prefix}{len(rows)}", messages=left[:count]))
        left = left[count:]
    return rows


def damaged_histories(protocol: str) -> SearchStrategy[list[Json]]:
    """Messages of a conversation, cut anywhere, with some lost, doubled or out of their order."""
    return st.builds(
        _damaged,
        conversations(longest=6).map(WRITERS[protocol]).map(lambda request: list(_messages(protocol, request))),
        st.tuples(st.floats(0, 0.5), st.floats(0, 0.3)),
        st.lists(st.tuples(st.sampled_from(["drop", "swap", "double"]), st.integers(0, 40)), max_size=3),
    )


def _messages(protocol: str, request: Json) -> Sequence[Json]:
    return shape_of(protocol, None).place(request)[1]


def _damaged(messages: list[Json], cut: tuple[float, float], damages: list[tuple[str, int]]) -> list[Json]:
    count = len(messages)
    found = messages[int(count * cut[0]) : count - int(count * cut[1])]
    for kind, place in damages:
        if len(found) < 2:
            break
        at = place % (len(found) - 1)
        if kind == "drop":
            del found[at]
        elif kind == "swap":
            found[at], found[at + 1] = found[at + 1], found[at]
        else:
            found.insert(at, found[at])
    return found


def refused(protocol: str, messages: Sequence[Json]) -> list[str]:
    """What a provider would refuse of these messages, a sentence for each."""
    found = [fault.what for fault in protocols[protocol].check_pairs(list(messages))]
    shape = shape_of(protocol, None)
    said = [message for message in shape.read(list(messages)) if message.role != "system"]
    if said and protocol in _OPENED_BY_USER and said[0].role != "user":
        found.append(f"the first message is the {said[0].role}'s")
    if said and said[0].of("result") and not said[0].of("call"):
        found.append("the first message brings results")
    if protocol in _ALTERNATING:
        found += [f"two messages of {one.role} in a row" for one, other in pairwise(said) if one.role == other.role]
    if protocol in _ADJACENT:
        found += _late(protocol, said)
    found += ["an empty message" for message in said if not message.of("result") and not _holds(message.native)]
    return found


def _late(protocol: str, said: Sequence[Json]) -> list[str]:
    """Calls whose results do not come right behind them."""
    found = []
    for at, message in enumerate(said):
        calls = [part for part in message.of("call") if not part.answered]
        if not calls:
            continue
        results = 0
        for other in said[at + 1 :]:
            mine = other.of("result")
            results += len(mine)
            if protocol != "openai-chat" or not mine:
                break
        if results < len(calls):
            found.append(f"{len(calls)} calls, and {results} results right behind them")
    return found


def _holds(native: Json) -> bool:
    """Whether there is anything in a message."""
    return isinstance(native, str) or any(native.get(name) not in (None, "", [], ()) for name in _SAYING)
