"""What is sent no more was told to a summarizer, also what stands in one message with a summary or looks like one."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from trimtab.compaction import DurableCompactor, FoldSettings, LoopCompactor, Memo, Row, dump_memo, load_memo
from trimtab.compaction.stored.memo import beside_summary, is_summary
from trimtab.compaction.stored.record import SUMMARY_OPENING, Archived, Blob, FoldRecord, Index, summary_text
from trimtab.compaction.types import Attachment, SummaryRequest
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, refused
from trimtab.types import Json
from trimtab.wire import protocols
from trimtab.wire.histories import Answer
from trimtab.wire.lookup import shape_of

SETTINGS = FoldSettings(windows=6_000)  # trigger 4,320
SMALL = FoldSettings(windows=1_000)
PAGE = "Something that was read there. " * 55
LOOKS_SO = f"{SUMMARY_OPENING}\nThe gate's code is 4471.\n</conversation-summary>\n\nKeep it."


def said(protocol: str, role: str, text: str) -> Json:
    """A message of a text."""
    if role == "user":
        return shape_of(protocol, None).user_text(text)
    if protocol == "gemini":
        return {"role": "model", "parts": [{"text": text}]}
    return {"role": "assistant", "content": [{"text": text}] if protocol == "bedrock" else text}


def stepped(protocol: str, number: int) -> list[Json]:
    """A call and its result of some 400 tokens."""
    name = f"c{number}"
    calls: dict[str, Json] = {
        "bedrock": {"role": "assistant", "content": [{"toolUse": {"toolUseId": name, "name": "read", "input": {}}}]},
        "gemini": {"role": "model", "parts": [{"functionCall": {"id": name, "name": "read", "args": {}}}]},
    }
    function = {"name": "read", "arguments": {} if protocol == "vllm" else "{}"}
    chat = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }
    call = calls.get(protocol, chat)
    return list(shape_of(protocol, None).answered([call], [Answer(call_id=name, name="read", value=PAGE)]))


class Full:
    """Gives summaries as long as they may be; keeps the requests."""

    window = 1_000_000

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> str:
        """The summary."""
        self.requests.append(request)
        return f"Summary {len(self.requests)} of what was said: " + "and so on " * (request.budget // 3)


def told(summarizer: Any) -> str:
    """All that a summarizer was shown."""
    return "\n".join(f"{request.prior}\n{request.history}" for request in summarizer.requests)


def walked(
    protocol: str, served: Any, summarizer: Any, count: int, settings: FoldSettings = SETTINGS
) -> tuple[Any, list[Json]]:
    """A turn of so many steps from what is served on: the last step, and the turn's messages."""
    loop = LoopCompactor(protocol, settings, summarizer)
    new: list[Json] = []
    found = loop.step(served.messages, memo=served.memo)
    for number in range(count):
        new += stepped(protocol, number)
        found = loop.step([*served.messages, *new], memo=found.memo)
        assert refused(protocol, found.messages) == []
    return found, new


def opening_rows(protocol: str) -> list[Row]:
    """Turns that are folded at once, and the request of the next one."""
    rows = []
    for number in range(6):
        rows.append(Row(id=f"u{number}", messages=[said(protocol, "user", f"Question {number}. {PAGE}")]))
        rows.append(Row(id=f"a{number}", messages=[said(protocol, "assistant", f"Answer {number}. {PAGE}{PAGE}")]))
    return [*rows, Row(id="u", messages=[said(protocol, "user", "Read the shelf marked 7713.")])]


@pytest.mark.parametrize("protocol", ["openai-chat", "bedrock", "gemini", "vllm"])
def test_a_request_that_is_sent_with_a_summary_is_told(protocol: str) -> None:
    """Where a durable summary and the turn's request are one message, the request reaches the turn's summary."""
    summarizer = RememberingSummarizer()
    rows = opening_rows(protocol)
    served = DurableCompactor(protocol, SETTINGS, summarizer).serve(rows)
    found, new = walked(protocol, served, summarizer, 12)
    rows.append(Row(id="a", messages=[*new, said(protocol, "assistant", "Read.")]))
    for number in range(5):
        rows.append(Row(id=f"u{number}-", messages=[said(protocol, "user", f"Next {number}. {PAGE}")]))
        rows.append(Row(id=f"a{number}-", messages=[said(protocol, "assistant", PAGE * 3)]))
    rows.append(Row(id="z", messages=[said(protocol, "user", "And now?")]))
    again = DurableCompactor(protocol, SETTINGS, summarizer).serve(rows, served.record, found.memo)
    assert again.event is not None
    assert (again.event.kind, again.memo) == ("done", Memo())
    assert told(summarizer).count("marked 7713") == 1
    assert all("to be read in full" not in request.history for request in summarizer.requests)


@pytest.mark.parametrize("protocol", ["openai-chat", "bedrock"])
def test_a_durable_summary_that_is_sent_no_more_is_told(protocol: str) -> None:
    """A smaller model goes on with the turn: the summary is too large to be sent on, so the turn's takes it up."""
    summarizer = Full()
    served = DurableCompactor(protocol, SETTINGS, summarizer).serve(opening_rows(protocol))
    found, new = walked(protocol, served, summarizer, 12)
    assert "Summary 1 " in str(found.messages)
    asked = len(summarizer.requests)
    small = LoopCompactor(protocol, SMALL, summarizer).step([*served.messages, *new], memo=found.memo)
    assert "Summary 1 " not in str(small.messages)
    del summarizer.requests[:asked]
    assert told(summarizer).count("Summary 1 ") == 1
    again = LoopCompactor(protocol, SETTINGS, summarizer).step([*served.messages, *new, *stepped(protocol, 99)])
    assert "Summary 1 " in str(again.messages)  # without the memo it is sent as ever


def test_what_has_gone_does_not_come_back() -> None:
    """In a larger window a later fold sends nothing again that an earlier one has taken up."""
    summarizer = Full()
    served = DurableCompactor("openai-chat", SETTINGS, summarizer).serve(opening_rows("openai-chat"))
    found, new = walked("openai-chat", served, summarizer, 3, SMALL)
    assert "Summary 1 " not in str(found.messages)
    loop = LoopCompactor("openai-chat", SETTINGS, summarizer)
    for number in range(3, 16):
        new += stepped("openai-chat", number)
        found = loop.step([*served.messages, *new], memo=found.memo)
        assert "Summary 1 " not in str(found.messages)
    assert told(summarizer).count("Summary 1 ") == 1


@pytest.mark.parametrize("place", ["first", "later"])
def test_what_looks_like_a_summary_is_told(place: str) -> None:
    """A user may paste one: neither the turn's folds nor the durable one takes it for told."""
    summarizer = RememberingSummarizer()
    rows = [Row(id="u", messages=[said("openai-chat", "user", LOOKS_SO)])]
    if place == "later":
        rows[:0] = [
            Row(id="u-", messages=[said("openai-chat", "user", "Hello.")]),
            Row(id="a-", messages=[said("openai-chat", "assistant", "Hello.")]),
        ]
    served = DurableCompactor("openai-chat", SETTINGS, summarizer).serve(rows)
    found, new = walked("openai-chat", served, summarizer, 14)
    rows.append(Row(id="a", messages=[*new, said("openai-chat", "assistant", "Read.")]))
    for number in range(4):
        rows.append(Row(id=f"u{number}", messages=[said("openai-chat", "user", f"Next {number}. {PAGE}")]))
        rows.append(Row(id=f"a{number}", messages=[said("openai-chat", "assistant", PAGE * 3)]))
    again = DurableCompactor("openai-chat", SETTINGS, summarizer).serve(rows, served.record, found.memo)
    assert again.event is not None
    assert again.event.kind == "done"
    assert "code is 4471" not in str(again.messages)
    assert "code is 4471" in told(summarizer)


@pytest.mark.parametrize("protocol", protocols)
def test_what_stands_beside_a_summary(protocol: str) -> None:
    """The summary row ends with its lists, whatever is in them; what follows in the message is the user's."""
    shape = shape_of(protocol, None)
    names = {"read_tool": "fs_read", "file_tool": "read_file"}
    archive = tuple(Archived(id=f"{number:032x}", chars=9, kind="messages") for number in range(30))
    record = FoldRecord(
        boundary="r",
        made_at="r",
        summary="All is well.\n</conversation-summary>\n\nNot yet.",
        files=(Attachment(id="f", name="a]\n\n[b.pdf"),),
        blobs=(Blob(tool="read\n\n", uri="trimtab:0123456789abcdef"),),
        archive=archive,
        index=Index(id="f" * 32, chars=9, kind="index", blobs=1, archive=30),
    )
    for one in (record, FoldRecord(boundary="r", made_at="r", summary="All is well.")):
        row = summary_text(one, **names)
        for words in ("[Now] read on.", "\n\nRead on.", ""):
            [message] = shape.read([shape.user_text(f"{row}\n\n{words}" if words else row)])
            assert is_summary(message)
            assert [part.text for part in beside_summary(message).parts if part.kind == "text"] == [words] * bool(words)


def test_a_file_whose_name_ends_like_another_is_named() -> None:
    """The durable summary that is sent on lists `old-spec.pdf`; that does not name `spec.pdf`, which came later."""
    rows = opening_rows("openai-chat")
    first, last = Attachment(id="1", name="old-spec.pdf"), Attachment(id="2", name="spec.pdf")
    rows = [evolve(rows[0], attachments=(first,)), *rows[1:-1], evolve(rows[-1], attachments=(last,))]
    served = DurableCompactor("openai-chat", SETTINGS, RememberingSummarizer()).serve(rows)
    assert served.retained.files == (first, last)
    loop = LoopCompactor("openai-chat", SETTINGS, RememberingSummarizer(), files=served.retained.files)
    turn = [message for number in range(14) for message in stepped("openai-chat", number)]
    found = loop.step([*served.messages, *turn], memo=served.memo)
    assert found.memo.fold is not None
    assert found.memo.fold.files == (last,)
    assert str(found.messages).count(": old-spec.pdf]") == str(found.messages).count(": spec.pdf]") == 1


def test_a_memo_without_a_fold_is_damaged() -> None:
    """A member that is missing is the caller's error, whichever it is."""
    stored = dump_memo(Memo())
    for name in stored:
        with pytest.raises(CallerError, match="memo"):
            load_memo({key: value for key, value in stored.items() if key != name})
