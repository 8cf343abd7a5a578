"""Any sequence of turns, compress calls, forks, restarts and changes: nothing is lost, refs hold, bytes stay."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from trimtab._json import canonical
from trimtab.compress import CompressSession, CompressState, dump_state, load_state, rebuild_state
from trimtab.compress.board import Board
from trimtab.compress.folded import block_text, nudge_text
from trimtab.compress.state import numbers_of
from trimtab.testing.compressing import GO_ON, SIZES, WORD, Talk, through_json
from trimtab.testing.replies import FLAVOURS, RESPONSES, Called, Reply
from trimtab.types import Json

SETTINGS = settings(
    max_examples=6, stateful_step_count=18, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False
)


class _Sent:
    """A request that was sent, and what it was made of."""

    def __init__(self, text: str, board: Board, state: CompressState, found: set[str]) -> None:
        self.text = text
        self.marks = state.marks
        self.rows = [
            (one.number, number, set() if number else set(WORD.findall(canonical(row.native))) - found)
            for one, number, row in zip(board.seen, board.block_at, board.rows, strict=True)
        ]

    def kept(self, now: _Sent) -> str:
        """What the next request has to begin with."""
        if self.marks == now.marks:
            return self.text
        calls = {mark.message for mark in now.marks}
        end = 0
        for (number, block, words), (_, block_now, _) in zip(self.rows, now.rows, strict=False):
            if block != block_now or number in calls:
                break
            end = max([end, *(self.text.index(word) + len(word) for word in words)])
        return self.text[:end]


class Machine(Talk):
    """What applications and clients do to a conversation, and what holds after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.before: list[Json] = []
        self.sent: _Sent | None = None
        self.names: dict[str, int] = {}
        self.forked = False

    def began_anew(self, *, with_state: bool) -> None:
        """Other objects stand for the history; without the state, what only that knew is lost."""
        self.before = list(self.session.messages)
        if self.shape.grows and self.session.turn is not None:  # results come into the message with the calls
            self.before.pop()
        if not with_state:
            self.names = self.names if self.replayable else {}
            self.sent = None
        super().began_anew(with_state=with_state)

    @rule(
        data=st.data(),
        how=st.sampled_from(("sync", "state", "messages")),
        goes_on=st.sampled_from(("not", "newly", "alike", "long", "naming")),
    )
    def fork(self, data: st.DataObject, how: str, goes_on: str) -> None:
        """The history is cut and goes on differently; or with words that were said there, too."""
        history = self.session.messages
        cut = self.whole_before(data.draw(st.integers(1, len(history)), "cut at"))
        kept, rows = history[:cut], self.session.state.seen[cut:]
        if goes_on == "newly":
            kept.append(self.shape.user_text(self.text(40)))
        elif goes_on == "alike":
            kept.append(self.shape.user_text(GO_ON))
        elif goes_on == "long":
            kept += self.shape.said(RESPONSES[self.flavour](Reply(text=self.text(40))))
            kept += [self.shape.user_text(GO_ON), self.shape.user_text(self.text(10))]
        elif goes_on == "naming":
            kept.append(self.shape.user_text(f"{self.text(0)} as in {', '.join(one.ref for one in rows)}"))
            self.replayable = self.replayable and not rows
        if how != "messages" and self.may_be_hidden(cut):
            self.replayable = False
        if rows and canonical(self.shape.user_text(GO_ON)) == canonical(history[-1]) and goes_on in ("alike", "long"):
            self.replayable = False  # as if a client had changed what stood before
        self.forked = True
        issued = self.session.state.issued
        if how == "sync":
            self.session.sync(kept)
        else:
            state = load_state(through_json(dump_state(self.session.state))) if how == "state" else None
            self.session = CompressSession(self.protocol, config=self.config, messages=kept, state=state)
        self.began_anew(with_state=how != "messages")
        self.sent = None
        if goes_on == "naming" and rows and how != "messages":
            assert self.session.state.seen[-1].number > issued

    def whole_before(self, cut: int) -> int:
        """The nearest place up to this one where no call waits; at least one message is left."""
        history = self.session.messages
        while cut > 1 and self.protocol.check_pairs(history[:cut]):
            cut -= 1
        return cut

    def may_be_hidden(self, cut: int) -> bool:
        """Whether what is cut off could also be calls of ours with their results, which some clients do not show."""
        gone = self.now().rows[cut:]
        return any(part.name in self.config.tools for row in gone for part in row.of("call"))

    @rule(data=st.data(), naming=st.booleans())
    def front_is_dropped(self, data: st.DataObject, naming: bool) -> None:
        """A client puts a summary of its own in the place of the oldest messages."""
        history = self.session.messages
        begin = data.draw(st.integers(1, max(1, len(history) - 1)), "begin at")
        while begin < len(history) and (
            self.protocol.check_pairs(history[begin:]) or self.shape.role(history[begin]) != "user"
        ):
            begin += 1
        if begin >= len(history) or self.protocol.check_pairs(history[:begin]):
            return
        if sum(one.chars for one in self.session.state.seen[begin:]) < 200:  # what is left could be said anew
            return
        said = f"{self.text(3_000 + 40 * self.words)} {'as in m00001 and b1' if naming else ''}"
        before = self.session.state
        self.session.sync([self.shape.user_text(said), *history[begin:]])
        after = self.session.state
        assert after.seen[1:] == before.seen[begin:]
        assert after.seen[0].number == after.issued == before.issued + 1
        assert (after.blocks, after.marks) == (before.blocks, before.marks)
        self.changed_behind_its_back()

    def changed_behind_its_back(self) -> None:
        self.replayable, self.before, self.sent = False, list(self.session.messages), None

    @rule()
    def compress_calls_are_hidden(self) -> None:
        """A client does not keep our calls and their answers."""
        now, history = self.now(), self.session.messages
        gone = set[int]()
        results: dict[int, list[int]] = {}
        for tie in now.ties():
            results.setdefault(tie.call_row, []).append(tie.result_row)
        for at, row in enumerate(now.rows):
            if row.of("call") and all(part.name in self.config.tools for part in row.of("call")):
                gone |= {at, *results[at]}
                if at and all(part.kind == "thinking" for part in now.rows[at - 1].parts):
                    gone.add(at - 1)
        left = [native for at, native in enumerate(history) if at not in gone]
        if not gone or self.protocol.check_pairs(left) or any(row.of("text") for row in (now.rows[at] for at in gone)):
            return
        before = self.session.state
        self.session.sync(left)
        after = self.session.state
        left_seen = [one for at, one in enumerate(before.seen) if at not in gone]
        assert list(after.seen) == left_seen
        assert (after.blocks, after.marks) == (before.blocks, before.marks)
        self.changed_behind_its_back()

    @rule(data=st.data(), how=st.sampled_from(("space", "caching", "ids", "numbers", "letter")))
    def messages_drift(self, data: st.DataObject, how: str) -> None:
        """A client sends messages again with small changes; they are the same messages."""
        history = through_json(self.session.messages)
        if how == "letter" and len(history) < 3:
            return
        inner = how == "letter"  # where there are neighbours that are known for sure
        at = data.draw(st.integers(inner, len(history) - 1 - inner), "message")
        if how in ("space", "letter"):
            changed = drifted(history[at], how)
            if changed is None:
                return
            history[at] = changed
            self.sized = False
            self.replayable = self.replayable and "acp_compress" not in json.dumps(history)
        elif how == "caching":
            history[at] = cached(history[at], self.flavour)
        else:
            self.sized = self.sized and how == "ids"
            spelt = json.dumps(history)
            old, new = ("2.0", "2") if how == "numbers" else ("call-", "other-")
            history = json.loads(spelt.replace(old, new))
        before = self.session.state
        self.session.sync(history)
        after = self.session.state
        assert [one.number for one in after.seen] == [one.number for one in before.seen]
        assert (after.blocks, after.marks) == (before.blocks, before.marks)
        self.before, self.sent = list(self.session.messages), None

    @rule(data=st.data(), size=SIZES)
    def host_keeps_the_history(self, data: st.DataObject, size: int) -> None:
        """An application that has the history itself gives it with calls that wait, then with what they returned."""
        entry = self.entry("m00001", data.draw(st.sampled_from(self.session.state.seen), "to").ref, "s" * 60)
        own = Called(call_id="own", name=self.config.compress, arguments={"content": [entry]})
        words = self.text(size)
        if data.draw(st.booleans(), "in words, too"):
            words = f"{words}\n<acp_compress>{json.dumps({'content': [entry]})}</acp_compress>"
        reply = Reply(text=words, calls=(*self.tool_calls(data, data.draw(st.integers(0, 1), "others")), own))
        response = RESPONSES[self.flavour](reply)
        history, said = self.session.messages, self.shape.said(response)
        turn = self.session.sync([*history, *said])
        assert turn is not None
        answers = [*turn.answers, *(self.answer(call.call_id, call.name, data) for call in turn.calls)]
        state = self.session.state
        texts = map(self.shape.user_text, turn.texts)
        self.session.sync([*history, *self.shape.answered(said, answers), *texts])
        assert self.session.state.marks == state.marks
        assert self.session.state.blocks == state.blocks
        self.before = list(self.session.messages)

    @rule(stored=st.booleans())
    def restart(self, stored: bool) -> None:
        """Another session goes on with what the application has, in memory or from its database."""
        state, messages = self.session.state, self.session.messages
        if stored:
            state, messages = load_state(through_json(dump_state(state))), through_json(messages)
            assert state == self.session.state
        self.session = CompressSession(self.protocol, config=self.config, messages=messages, state=state)
        assert self.session.state is state
        self.began_anew(with_state=True)

    @invariant()
    def history_is_kept(self) -> None:
        """`messages` only grows; what was there is the same object."""
        messages = self.session.messages
        assert len(messages) >= len(self.before)
        for at, (now, before) in enumerate(zip(messages, self.before, strict=False)):
            assert now is before, at
        self.before = messages

    @invariant()
    def refs_hold(self) -> None:
        """A message keeps its number; no other gets it, as long as something can name it."""
        state, now = self.session.state, self.now()
        assert len(state.seen) == len(now.rows)
        numbers = [one.number for one in state.seen]
        assert len(set(numbers)) == len(numbers)
        assert max(numbers, default=0) <= state.issued
        names = {}
        for one, row in zip(state.seen, now.rows, strict=True):
            for word in set(WORD.findall(canonical(row.native))) - self.found:
                names[word] = one.number
        for word, number in names.items():
            assert self.names.get(word, number) == number, word
        new = {number: word for word, number in names.items() if word not in self.names}
        reused = {word: number for word, number in self.names.items() if number in new}
        if reused:
            assert self.forked
            assert not reused.keys() & names.keys()
        self.names = names if self.forked else self.names | names
        self.forked = False

    @invariant()
    def everything_is_somewhere(self) -> None:
        """Each message is visible, or in exactly one active block, or a call of ours that has done its work."""
        request, now, state = self.session.request(), self.now(), self.session.state
        text = canonical(request)
        shown = set(WORD.findall(text))
        active = Counter(number for block in state.active for number in numbers_of(block.spans))
        assert not active or max(active.values()) == 1
        for one, row in zip(state.seen, now.rows, strict=True):
            words = set(WORD.findall(canonical(row.native))) - self.found
            if active[one.number]:
                assert not words & shown, one.ref
            else:
                assert words <= shown, one.ref
        for block in state.active:
            assert canonical(block_text(block))[1:-1] in text or not self.board().places_of(block)

    @invariant()
    def request_is_legal(self) -> None:
        """What providers refuse is not in it."""
        request = self.session.request()
        assert self.protocol.check_pairs(request) == []
        roles = [self.shape.role(native) for native in request]
        assert roles[0] == "user", roles
        for one, other in pairwise(roles):
            assert one != other or one not in self.shape.alternates, roles
        for native in request:
            assert not is_empty(native), native
        text = canonical(request)
        for nudge, times in Counter(one.text for one in self.session.state.nudges).items():
            assert text.count(canonical(nudge_text(nudge))[1:-1]) <= times

    @invariant()
    def bytes_stay(self) -> None:
        """A request begins as the one before did, up to the first message that was folded, opened or hidden since."""
        sent = _Sent(flat(self.session.request()), self.board(), self.session.state, self.found)
        if self.sent is not None:
            assert sent.text.startswith(self.sent.kept(sent))
        self.sent = sent
        assert flat(self.session.request()) == sent.text

    @invariant()
    def replay_gives_the_same(self) -> None:
        """Rebuilding from the messages comes to the live state, each time the same, and then has nothing to do."""
        messages, state = self.session.messages, self.session.state
        rebuilt = rebuild_state(messages, self.config, protocol=self.protocol)
        assert rebuild_state(messages, self.config, protocol=self.protocol) == rebuilt
        assert rebuild_state(messages, self.config, protocol=self.protocol, state=rebuilt) is rebuilt
        assert rebuild_state(messages, self.config, protocol=self.protocol, state=state) is state
        assert load_state(through_json(dump_state(state))) == state
        if self.replayable:
            found = differences(rebuilt, state, self.sized)
            assert not found, found

    @invariant()
    def what_is_listed_is_taken(self) -> None:
        """Each range that is listed is folded when it is named at once, with a summary of 200 chars."""
        for one in self.session.status.pending:
            copy_of = CompressSession(
                self.protocol, config=self.config, messages=self.session.messages, state=self.session.state
            )
            entry = {"startId": one.start_ref, "endId": one.end_ref, "summary": "s" * 200}
            call = Called(call_id="own", name=self.config.compress, arguments={"content": [entry]})
            turn = copy_of.receive(RESPONSES[self.flavour](Reply(calls=(call,))))
            assert [outcome.ok for outcome in turn.outcomes] == [True], (one, turn.outcomes[0].text)

    @invariant()
    def untouched_is_the_same_object(self) -> None:
        """With no tags, what is sent of the history is the application's own objects."""
        if self.config.tags != "none" or self.shape.alternates:
            return
        own = {id(native) for native in self.session.messages}
        less = [self.shape.without(row, [part.path for part in row.of("call")]) for row in self.now().rows]
        made = {canonical(self.shape.user_text(block_text(block))) for block in self.session.state.active}
        made |= {canonical(native) for native in less if native is not None}
        for native in self.session.request():
            assert id(native) in own or canonical(native) in made or "<context-status>" in canonical(native)


def differences(one: CompressState, other: CompressState, sized: bool) -> list[str]:
    """Where two states differ, but for reminders, which no history has; and for sizes."""
    found = []
    left, right = plain(one, sized), plain(other, sized)
    for name in left:
        pairs = zip_longest(left[name], right[name]) if isinstance(left[name], list) else [(left[name], right[name])]
        found += [f"{name}: {a} | {b}" for a, b in pairs if a != b]
    return found


def plain(state: CompressState, sized: bool) -> dict[str, Any]:
    """A state without the reminders, and without sizes."""
    found = dump_state(state)
    del found["nudges"]
    if not sized:
        found["seen"] = [one[:3] for one in found["seen"]]
        found["blocks"] = [{**one, "chars": 0, "tokens": 0} for one in found["blocks"]]
    return found


def drifted(native: Json, how: str) -> Json:
    """A message with a changed text; None: it has no text that says more than a call."""
    text = json.dumps(native)
    if "acp_compress" in text or '"path' in text or "word qz" not in text:
        return None
    if how == "letter":
        return json.loads(text.replace("word qz", "Word qz", 1))
    for name in ("content", "parts"):
        said = native.get(name)
        if isinstance(said, str):
            return {**native, name: f"{said}\n"}
        for at, block in enumerate(said if isinstance(said, list) else []):
            if isinstance(block.get("text"), str) and block.get("type") in (None, "text", "output_text"):
                return {**native, name: [*said[:at], {**block, "text": f" {block['text']} \n"}, *said[at + 1 :]]}
    return None


def cached(native: Json, flavour: str) -> Json:
    """A message with a cache point, or with another id."""
    if flavour == "bedrock":
        return {**native, "content": [*native["content"], {"cachePoint": {"type": "default"}}]}
    content = native.get("content")
    if flavour == "anthropic" and isinstance(content, list):
        return {**native, "content": [*content[:-1], {**content[-1], "cache_control": {"type": "ephemeral"}}]}
    return {**native, "id": "another"} if flavour == "openai-responses" and "id" in native else native


def is_empty(native: Json) -> bool:
    """Whether a message says nothing, or has a text in which there is nothing."""
    said = [native.get(name) for name in ("content", "parts") if native.get(name)]
    if not said:
        return "tool_calls" not in native and native.get("type") in (None, "message")
    return any(isinstance(one, dict) and one.get("text") == "" for one in said[0] if isinstance(said[0], list))


def flat(request: Sequence[Json]) -> str:
    """A request as a provider's cache sees it: roles and blocks in a row, joined messages as if they were apart."""
    found, last = [], None
    for native in request:
        role = native.get("role")
        if role != last or role is None:
            found.append(f"\n<<{role}>>")
        last = role
        rest = {key: value for key, value in native.items() if key not in ("role", "content", "parts")}
        for name in ("content", "parts"):
            said = native.get(name)
            blocks = said if isinstance(said, list) else [said] if said else []
            for block in blocks:
                is_text = isinstance(block, dict) and block.keys() <= {"type", "text"} and "text" in block
                found.append(
                    f"\n\n{block if isinstance(block, str) else block['text'] if is_text else canonical(block)}"
                )
        found.append(canonical(rest) if rest else "")
    return "".join(found)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_any_conversation(flavour: str) -> None:
    """The invariants of `Machine` hold after every step, on every wire."""
    run_state_machine_as_test(type(f"Machine_{flavour}", (Machine,), {"flavour": flavour}), settings=SETTINGS)
