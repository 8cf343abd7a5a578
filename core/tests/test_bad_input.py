"""What an application or a model passes that cannot be used: an error that says where it is and what to do."""

from __future__ import annotations

import asyncio
import collections
import datetime
import decimal
import enum
import json
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from trimtab import ALL, Budget, Call, Host, Policy, UnsupportedOutput
from trimtab._json import blob_id, canonical
from trimtab.errors import (
    AmbiguousHandle,
    BadBudget,
    BadPattern,
    CallerError,
    LostBlob,
    NotOurs,
    OutOfRange,
    PolicyError,
    TrimtabError,
    UnknownBlob,
)
from trimtab.types import AllowList

TEXT = "".join(f"{n}: the tram was late\n" for n in range(2_000))
URI = f"trimtab:{blob_id(TEXT)[:16]}"


# A unit that there is not.
WORDS: Any = "words"


class Opaque:
    """An object of the application's whose repr cannot be relied on."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Colour(enum.Enum):
    """An enum that is no string."""

    RED = 1


def circle() -> list[Any]:
    """A list that contains itself two levels down."""
    one: list[Any] = [0]
    one.append({"back": one})
    return one


def nested(levels: int, inside: Any = None) -> Any:
    """So many lists in one another."""
    value = inside
    for _ in range(levels):
        value = [value]
    return value


# What is not JSON: the value, where in it the fault is, what the message says is wrong, and what it says to do.
NOT_JSON: dict[str, tuple[Any, str, str, str]] = {
    "bytes": (b"\xff", "", "bytes is not JSON", "decode it"),
    "bytearray": (bytearray(b"x"), "", "bytearray is not JSON", "base64"),
    "memoryview": (memoryview(b"x"), "", "memoryview is not JSON", "decode it"),
    "nan": (float("nan"), "", "nan is not JSON", "pass None"),
    "infinity": (float("-inf"), "", "-inf is not JSON", "pass None"),
    "circle": (circle(), "[1].back", "contains itself", "copy the part that repeats"),
    "int key": ({"a": 1, 7: 2}, "[7]", "a key of type int", "every key a string"),
    "None key": ({None: 1}, "[None]", "a key of type NoneType", "every key a string"),
    "bool key": ({True: 1}, "[True]", "a key of type bool", "every key a string"),
    "tuple key": ({(1, 2): 1}, "[<tuple>]", "a key of type tuple", "every key a string"),
    "opaque key": ({Opaque(): 1}, "[<Opaque>]", "a key of type Opaque", "every key a string"),
    "tuple": ((1, 2), "", "tuple is not JSON", "list(...)"),
    "set": ({1}, "", "set is not JSON", "list(...)"),
    "frozenset": (frozenset(), "", "frozenset is not JSON", "list(...)"),
    "object": (Opaque(), "", "Opaque is not JSON", "plain data"),
    "Decimal": (decimal.Decimal("1.10"), "", "Decimal is not JSON", "plain data"),
    "datetime": (datetime.datetime(2031, 4, 1), "", "datetime is not JSON", "plain data"),
    "path": (pathlib.PurePosixPath("/srv"), "", "PurePosixPath is not JSON", "plain data"),
    "enum": (Colour.RED, "", "Colour is not JSON", "plain data"),
    "UserDict": (collections.UserDict(a=1), "", "UserDict is not JSON", "plain data"),
    "generator": ((n for n in "ab"), "", "generator is not JSON", "plain data"),
    "class": (dict, "", "type is not JSON", "plain data"),
    "huge int": (-(10**4_300), "", "more than 4,300 digits", "as a string"),
    "split pair": ("ab\ud83d\ude00", "", "surrogate pair", "utf-16"),
    "split pair in a key": ({"\ud83d\ude00": 1}, r"['\ud83d\ude00']", "surrogate pair", "utf-16"),
    "too deep": (nested(600), "[0]…", "deeper than 500", "JSON text"),
}

WRAPPINGS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "alone": (lambda value: value, "$"),
    "in a small output": (lambda value: [{"content": "a"}, {"content": value}], "$[1].content"),
    "in a large output": (lambda value: {"page": TEXT, "odd key": [value]}, "$['odd key'][0]"),
    "after many": (lambda value: [*range(5_000), {"x": value}], "$[5000].x"),
}


@pytest.fixture
def host() -> Iterator[Host]:
    """A host whose owner `chat` holds `TEXT`."""
    with Host.load(discover=False) as loaded:
        loaded.trim("run", TEXT, owner="chat")
        yield loaded


def allowed(host: Host) -> AllowList:
    """What the conversation `chat` may read."""
    return host.allow_list([host.trim("run", TEXT, owner="chat").row], owner="chat")


@pytest.mark.parametrize("name", NOT_JSON)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("tool", ["query", "fs_read"])
def test_what_is_not_json_is_named_with_its_place(host: Host, tool: str, name: str, wrapping: str) -> None:
    """A value that JSON has not got is refused with its path and what to do; nothing is stored, nothing guessed.

    A read-back tool's outputs too, which go whole into the prompt.
    """
    value, inside, wrong, fix = NOT_JSON[name]
    wrap, outside = WRAPPINGS[wrapping]
    before = host.store.stats()
    with pytest.raises(UnsupportedOutput) as caught:
        host.trim(tool, wrap(value))
    assert wrong in str(caught.value)
    assert fix in str(caught.value)
    assert caught.value.path == outside + inside if name != "too deep" else caught.value.path.startswith(outside)
    assert f"(@ {caught.value.path})" in str(caught.value)
    assert len(str(caught.value)) < 300
    assert host.store.stats() == before


@pytest.mark.parametrize("name", NOT_JSON)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_it_passes_whole_where_the_policy_says_so(name: str, wrapping: str) -> None:
    """With `unsupported = "whole"` the application gets its own object back, with the error beside it."""
    output = WRAPPINGS[wrapping][0](NOT_JSON[name][0])
    with Host.load(policy=Policy(unsupported="whole"), discover=False) as lenient:
        for trimmed in (
            lenient.trim("query", output),
            lenient.trim_batch([Call("query", output)])[0],
            asyncio.run(lenient.atrim("query", output)),
            lenient.trim("query", output),
        ):
            assert trimmed.value is output
            assert trimmed.row is output
            assert not trimmed.changed
            assert isinstance(trimmed.error, UnsupportedOutput)
        assert lenient.store.stats().blobs == 0
        assert lenient.trim("query", TEXT).changed


def test_a_refused_output_stores_nothing_of_its_batch(host: Host) -> None:
    """One output that is not JSON: the error comes before anything of the whole batch is stored."""
    before = host.store.stats()
    calls = [Call("a", "other " * 9_000), Call("b", {"x": b""}), Call("c", "another " * 9_000)]
    with pytest.raises(UnsupportedOutput):
        host.trim_batch(calls, owner="chat")
    with pytest.raises(UnsupportedOutput):
        asyncio.run(host.atrim_batch(calls, owner="chat"))
    assert host.store.stats() == before


class Name(str):
    """A string of the application's own."""


class Level(enum.IntEnum):
    """A number of the application's own."""

    HIGH = 3


class Kind(str, enum.Enum):  # noqa: UP042 - not `StrEnum`, whose `str()` is its value
    """A string enum whose `str()` is not its value."""

    LOG = "log"


def test_what_json_writes_is_taken() -> None:
    """Subclasses of JSON's own types, shared parts and half pairs in a moved text are JSON, as `json` writes them."""
    shared = ["once"]
    output: Any = collections.OrderedDict(
        {Kind.LOG: Kind.LOG, "n": Level.HIGH, "d": collections.Counter("aab"), "twice": [shared, shared]}
    )
    half = {"text": "\ud83d and \ude00 apart, " * 2_000, Kind.LOG: Name("long " * 9_000)}
    with Host.load(discover=False) as host:
        assert host.trim("query", output).text == json.dumps(output, separators=(",", ":"))
        assert host.trim("query", nested(499, "x")).text == "[" * 499 + '"x"' + "]" * 499
        trimmed = host.trim("query", half)
        assert trimmed.changed
        assert canonical(host.inflate(json.loads(trimmed.row_text))) == canonical(half)


# Arguments of the host's methods


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda h: h.trim(None, TEXT), CallerError, "name must be a string"),
        (lambda h: h.trim("t", TEXT, owner=ALL), CallerError, "name the conversation"),
        (lambda h: h.trim("t", TEXT, owner=""), CallerError, "non-empty string"),
        (lambda h: h.trim("t", TEXT, owner=7), CallerError, "non-empty string"),
        (
            lambda h: h.trim("t", TEXT, budget=Budget(unit="tokens", counter="nope")),
            PolicyError,
            "unknown token counter",
        ),
        (lambda h: h.trim("t", TEXT, budget=600), CallerError, "budget must be a Budget, as in"),
        (lambda h: h.trim("t", TEXT, budget={}), CallerError, "budget must be a Budget, as in"),
        (lambda h: h.trim_batch([Call("t", TEXT)], budget="600"), CallerError, "budget must be a Budget, as in"),
        (lambda h: h.trim_request({"messages": []}, budget=600), CallerError, "budget must be a Budget, as in"),
        (lambda h: h.trim("t", TEXT, focus=3), CallerError, "focus must be a string"),
        (lambda h: h.trim_batch([Call("t", TEXT, focus=[WORDS])]), CallerError, "focus must be a string"),
        (lambda h: h.trim_batch(Call("t", TEXT)), CallerError, "a batch is a list of Call(tool, output), not Call"),
        (lambda h: h.trim_batch([TEXT]), CallerError, "a batch is a list of Call(tool, output), not of str"),
        (lambda h: h.hold(ALL, []), CallerError, "ALL is for reading"),
        (lambda h: h.hold("x", ["f" * 32]), LostBlob, "is not held here"),
        (lambda h: h.release(ALL), CallerError, "ALL is for reading"),
        (lambda h: h.read(URI, allow=None), CallerError, "allow_list"),
        (lambda h: h.read(URI, allow={blob_id(TEXT)}), CallerError, "allow_list"),
        (lambda h: h.read(URI, allow=allowed(h), line=1, char=1), CallerError, "one of line, char and row"),
        (lambda h: h.read(URI, allow=allowed(h), line=0), OutOfRange, "ask for 1 to 2000"),
        (lambda h: h.read(URI, allow=allowed(h), line=2_001), OutOfRange, "ask for 1 to 2000"),
        (lambda h: h.read(URI, allow=allowed(h), line=True), OutOfRange, "ask for 1 to"),
        (lambda h: h.read(URI, allow=allowed(h), line="1"), OutOfRange, "ask for 1 to"),
        (lambda h: h.read(URI, allow=allowed(h), char=len(TEXT) + 1), OutOfRange, f"ask for 1 to {len(TEXT)}"),
        (lambda h: h.read(URI, allow=allowed(h), count=0), OutOfRange, "count 0 is out of range"),
        (lambda h: h.read(URI, allow=allowed(h), row=1), OutOfRange, "row 1"),
        (lambda h: h.read(None, allow=allowed(h)), NotOurs, "is no uri of a marker"),
        (lambda h: h.read(f"{URI}x", allow=allowed(h)), NotOurs, "is no uri of a marker"),
        (lambda h: h.read(f"trimtab:{'0' * 16}", allow=allowed(h)), UnknownBlob, "use a uri from a marker"),
        (lambda h: h.read(f"trimtab:{'0' * 16}", allow=ALL), UnknownBlob, "use a uri from a marker"),
        (lambda h: h.grep(URI, "", allow=allowed(h)), BadPattern, "empty"),
        (lambda h: h.grep(URI, "(unclosed", allow=allowed(h)), BadPattern, "escape special"),
        (lambda h: h.grep(URI, None, allow=allowed(h)), BadPattern, "empty"),
        (lambda h: h.run_read_tool("ls", {}, allow=allowed(h)), CallerError, "fs_read, fs_search"),
        (lambda h: h.read_tools("smtp"), CallerError, "unknown protocol 'smtp'; known: ai-sdk"),
        (lambda _: Host.load(store="nope:x", discover=False), PolicyError, "no store has the scheme"),
        (lambda _: Host.load(store="texts.db", discover=False), PolicyError, "not a store URL"),
        (lambda _: Budget(limit=100), BadBudget, "512"),
        (lambda _: Budget(keep=30_000), BadBudget, "keep must lie between 512 and limit (20000)"),
        (lambda _: Budget(unit=WORDS), BadBudget, "'chars' or 'tokens'"),
        (lambda _: Budget(limit=True), BadBudget, "whole number"),
        (lambda _: Budget(cap=9), BadBudget, "cap must be at least"),
        (lambda _: Budget(batch=9), BadBudget, "batch must be at least"),
    ],
)
def test_a_wrong_argument_says_what_to_pass(
    host: Host, call: Callable[[Host], object], error: type[TrimtabError], says: str
) -> None:
    """Each wrong argument has an error of ours that says what is right; the store stays as it was."""
    before = host.store.stats()
    with pytest.raises(error) as caught:
        call(host)
    assert says in str(caught.value)
    assert host.store.stats() == before


def test_two_texts_of_one_handle_are_told_apart(host: Host) -> None:
    """Where two allowed texts begin with the same handle, the error gives both full ids, each of which can be read."""
    mine = blob_id(TEXT)
    other = mine[:16] + "0" * 16
    for allow in (AllowList(held={mine, other}), AllowList(held={mine}, lost={other})):
        with pytest.raises(AmbiguousHandle) as caught:
            host.read(URI, allow=allow)
        assert set(caught.value.ids) == {mine, other}
        assert f"trimtab:{mine}" in str(caught.value)
        answer = host.run_read_tool("fs_read", {"uri": URI}, allow=allow)
        assert answer["error"]["kind"] == "AmbiguousHandle"
        assert host.read(f"trimtab:{mine}", allow=allow).text == TEXT[: len(host.read(URI, allow=ALL).text)]


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        [],
        "trimtab:0123456789abcdef",
        {},
        {"uri": None},
        {"uri": 5},
        {"uri": {"uri": URI}},
        {"uri": URI, "line": [1]},
        {"uri": URI, "line": 1.5},
        {"uri": URI, "line": True},
        {"uri": URI, "line": "one"},
        {"uri": URI, "line": -3},
        {"uri": URI, "line": 10**30},
        {"uri": URI, "count": float("inf")},
        {"uri": URI, "char": float("nan")},
        {"uri": URI, "line": "9" * 5_000},
        {"uri": "\ud800", "line": 1},
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ["fs_read", "fs_search"])
def test_what_a_model_gets_wrong_is_answered(host: Host, name: str, arguments: Any) -> None:
    """A model's wrong arguments are an answer with an error in it, which says what is right; nothing raises."""
    answer = host.run_read_tool(name, arguments, allow=allowed(host))
    assert set(answer) == {"error"}
    assert set(answer["error"]) == {"kind", "message"}
    assert len(canonical(answer)) < 500


def test_a_missing_text_is_told_from_an_unknown_one(host: Host) -> None:
    """A text that a row names and the store has not got is lost; one that no row names is unknown, whoever has it."""
    host.trim("run", TEXT[::-1], owner="other")
    row = host.trim("run", TEXT, owner="chat").row
    host.release("chat")
    allow = host.allow_list([row], owner="chat")
    with pytest.raises(LostBlob, match="run the tool again") as caught:
        host.read(URI, allow=allow)
    assert caught.value.blob_id == blob_id(TEXT)
    with pytest.raises(LostBlob):
        host.inflate(row, owner="chat")
    hers, nobodys = (f"trimtab:{one[:16]}" for one in (blob_id(TEXT[::-1]), blob_id("x")))
    messages = set()
    for uri in (hers, nobodys):
        with pytest.raises(UnknownBlob) as told:
            host.read(uri, allow=allow)
        messages.add(str(told.value).replace(uri, "URI"))
    assert len(messages) == 1
