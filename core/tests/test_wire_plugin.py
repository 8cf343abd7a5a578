"""A third party adds a wire protocol by entry point: detected, trimmed, held to the contract; a bad one is reported."""

from __future__ import annotations

import asyncio
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trimtab import Host, hookimpl
from trimtab.cli.recorded import read_recorded
from trimtab.cli.requests import request_protocol
from trimtab.errors import CallerError, PluginError
from trimtab.testing import WireContract
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.wire import ToolResult, detect, protocols

SOURCE = '''
from trimtab import hookimpl
from trimtab.wire import RawCall, ToolResult, protocols

class Mail:
    """Messages are letters: {"letters": [{"call": ..., "args": {...}}, {"answer": ...}]}."""

    name = "mail"

    def detect(self, payload):
        return 1.0 if isinstance(payload, dict) and isinstance(payload.get("letters"), list) else 0.0

    def _letters(self, payload):
        letters = payload["letters"] if self.detect(payload) else []
        return [(n, one) for n, one in enumerate(letters) if isinstance(one, dict)]

    def tool_results(self, request):
        return [
            ToolResult(key=f"/letters/{n}/answer", call_id="", name="post", value=one["answer"])
            for n, one in self._letters(request)
            if "answer" in one
        ]

    def with_results(self, request, values):
        if not values:
            return request
        letters = list(request["letters"])
        for key, value in values.items():
            n = int(key.split("/")[2])
            letters[n] = {**letters[n], "answer": value}
        return {**request, "letters": letters}

    def tool_calls(self, response):
        return [
            RawCall(call_id=f"letter-{n}", name=str(one["call"]), raw_args=one.get("args", {}))
            for n, one in self._letters(response)
            if "call" in one
        ]

    def past_calls(self, request):
        return []

    def with_calls(self, request, arguments):
        return request

    def check_pairs(self, request):
        return []

    def stream(self):
        return protocols["parsed"].stream()

@hookimpl
def trimtab_wire_protocols():
    return [Mail()]
'''
LETTERS = {"letters": [{"call": "post", "args": {}}, {"answer": "a line\n" * 9_000, "stamp": 1}, {"answer": "short"}]}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """`install("mail", source)` puts a distribution with an entry point into the way of imports."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(name: str, source: str) -> None:
        module = f"a_protocol_of_a_test_{name}"
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        info = tmp_path / f"trimtab_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: trimtab-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[trimtab]\n{name} = {module}\n")
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, module, raising=False)

    return put


def test_a_protocol_by_entry_point(install: Callable[[str, str], None]) -> None:
    """It is listed, recognised before the built-in ones where it says more, and its results are trimmed."""
    install("mail", SOURCE)
    with Host.load("memory:") as host:
        assert host.broken == []
        assert list(host.protocols) == [*protocols, "mail"]
        assert detect(LETTERS, host.protocols) == "mail"
        assert detect(LETTERS) is None
        done = host.trim_request(LETTERS)
        assert done.protocol == "mail"
        assert [one.changed for one in done.results] == [True, False]
        assert done.request["letters"][1] == {"answer": done.results[0].value, "stamp": 1}
        assert done.request["letters"][0] is LETTERS["letters"][0]


def test_it_can_be_held_to_the_contract(install: Callable[[str, str], None]) -> None:
    """Six lines check it, and what it gets wrong is found: this one takes any key."""
    install("mail", SOURCE)
    with Host.load("memory:") as host:
        mail = host.protocols["mail"]

    class Checked(WireContract):
        """Six lines."""

        protocol = mail
        requests = responses = (LETTERS,)

    Checked.__test__ = False  # type: ignore[attr-defined]
    tests = [name for name in dir(Checked) if name.startswith("test_")]
    failed = []
    for name in tests:
        try:
            getattr(Checked(), name)()
        except (AssertionError, IndexError, ValueError, pytest.fail.Exception):
            failed.append(name)
    assert failed == ["test_a_wrong_key_is_an_error"]


def test_a_protocol_that_raises_is_named(install: Callable[[str, str], None]) -> None:
    """What a plugin's protocol raises is reported as its fault."""
    install(
        "mail",
        SOURCE.replace(
            "return [\n            ToolResult", "raise KeyError('x')\n        return [\n            ToolResult"
        ),
    )
    with Host.load("memory:") as host, pytest.raises(PluginError, match="wire protocol 'mail' raised KeyError"):
        host.trim_request(LETTERS)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("def check_pairs", "def check_pears", "protocol 'mail' has no check_pairs"),
        ('name = "mail"', "name = 3", "a `name`"),
    ],
)
def test_half_a_protocol_is_not_registered(
    install: Callable[[str, str], None], old: str, new: str, complaint: str
) -> None:
    """One that lacks a method is reported at load, with what it lacks."""
    install("mail", SOURCE.replace(old, new))
    with Host.load("memory:") as host:
        assert "mail" not in host.protocols
        (broken,) = host.broken
        assert complaint in str(broken.cause)


def test_a_taken_name_is_reported(install: Callable[[str, str], None]) -> None:
    """A plugin's protocol with a built-in one's name is not used."""
    install("mail", SOURCE.replace('name = "mail"', 'name = "anthropic"'))
    with Host.load("memory:") as host:
        assert host.protocols["anthropic"] is protocols["anthropic"]
        assert [one.what for one in host.conflicts] == ["wire protocols 'anthropic'"]


class Mine:
    """An application's own plugin with one protocol."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol

    @hookimpl
    def trimtab_wire_protocols(self) -> list[Any]:
        """The protocol."""
        return [self._protocol]


class Broken:
    """The anthropic protocol, but for one method, which does something else."""

    name = "broken"

    def __init__(self, method: str, does: Callable[..., Any]) -> None:
        self._method = method
        self._does = does

    def __getattr__(self, name: str) -> Any:
        return self._does if name == self._method else getattr(protocols["anthropic"], name)


def _raise(error: BaseException) -> Callable[..., Any]:
    def does(*_: Any) -> Any:
        raise error

    return does


def _begin_then_raise(*_: Any) -> Iterator[Any]:
    yield ToolResult(key="/messages/0", call_id="a", name="read", value="x")
    raise LookupError("later")


# What the host asks of a protocol for a request.
ASKED = ("detect", "past_calls", "tool_results", "with_results")
TWICE = ToolResult(key="/a", call_id="", name="", value="x")
BROKEN_WAYS: list[tuple[str, Callable[..., Any], str]] = [
    *((method, _raise(KeyError("x")), "raised KeyError: 'x'") for method in ASKED),
    ("detect", _raise(SystemExit(3)), "raised SystemExit"),
    ("detect", lambda _: None, "gave None for detect"),
    ("detect", lambda _: "1", "gave '1' for detect"),
    ("detect", lambda _: float("nan"), "gave nan for detect"),
    ("detect", lambda _: 7, "gave 7 for detect"),
    ("tool_results", lambda _: None, "raised TypeError"),
    ("tool_results", lambda _: [("/a", "x")], "tool_results must give a list of ToolResult, not of tuple"),
    ("tool_results", _begin_then_raise, "raised LookupError: later"),
    ("tool_results", lambda _: [TWICE, TWICE], "two results with the same key"),
    ("tool_results", lambda _: [ToolResult(key="/a", call_id=3, name="", value="x")], "is no string"),  # type: ignore[arg-type]
    ("past_calls", lambda _: [None], "past_calls must give a list of PastCall, not of NoneType"),
    ("with_results", lambda _: None, "raised TypeError"),
]


@pytest.mark.parametrize(("method", "does", "complaint"), BROKEN_WAYS)
def test_whatever_a_protocol_does_wrong_names_it(method: str, does: Callable[..., Any], complaint: str) -> None:
    """Asked by the host, whatever it raises or gives in a wrong shape is a PluginError with its name."""
    broken = Broken(method, does)
    request = WRITERS["anthropic"](
        [Turn(said="x", calls=(Told(call_id="a", name="read", arguments={}, output="a line\n" * 9_000),))]
    )
    with Host.load("memory:", plugins=[Mine(broken)], discover=False) as host:
        given: list[Any] = ["broken", broken] if method != "detect" else [None]
        for protocol in given:
            for ask in (host.trim_request, lambda *words: asyncio.run(host.atrim_request(*words))):
                with pytest.raises(PluginError, match=f"wire protocol 'broken' .*{re.escape(complaint)}"):
                    ask(request, protocol)


@pytest.mark.parametrize("protocol", [42, [], {}, b"anthropic", object(), "anthropic ", Host, ""])
def test_what_is_no_protocol_is_refused(protocol: Any) -> None:
    """The same words everywhere, with the names that there are."""
    with Host.load("memory:", discover=False) as host:
        for ask in (lambda: host.trim_request(LETTERS, protocol), lambda: host.read_tools(protocol)):
            with pytest.raises(CallerError, match=re.escape(f"unknown protocol {protocol!r:.80}; known: ")):
                ask()


class BrokenStream:
    """A stream reader of which one method does something else."""

    def __init__(self, method: str) -> None:
        self._method = method

    def feed(self, data: bytes) -> None:
        """Take nothing."""
        if self._method == "feed":
            raise RuntimeError(f"{len(data)} bytes too many")

    def close(self) -> Any:
        """Give no calls."""
        return {"close": [None], "later": _begin_then_raise()}.get(self._method, [])


CALLS: list[tuple[str, Callable[..., Any], str]] = [
    *((method, _raise(KeyError("x")), "raised KeyError: 'x'") for method in ("past_calls", "stream", "tool_calls")),
    ("stream", lambda: None, "raised AttributeError"),
    ("stream", lambda: BrokenStream("feed"), "raised RuntimeError: "),
    ("stream", lambda: BrokenStream("close"), "close must give a list of RawCall, not of NoneType"),
    ("stream", lambda: BrokenStream("later"), "raised LookupError: later"),
    ("tool_calls", lambda _: None, "raised TypeError"),
]


@pytest.mark.parametrize(("method", "does", "complaint"), CALLS)
def test_the_command_line_names_it_too(method: str, does: Callable[..., Any], complaint: str) -> None:
    """`trimtab calls` and `trimtab trim` ask through the same guard."""
    known = {"broken": Broken(method, does)}
    data = b'data: {"type":"message_start"}\n\n' if method == "stream" else b'{"type":"message","content":[]}'
    with pytest.raises(PluginError, match=f"wire protocol 'broken' .*{re.escape(complaint)}"):
        read_recorded(data, None, known)


def test_what_trim_takes_for_a_request_is_asked_with_care() -> None:
    """The protocol that raises is named before anything is trimmed."""
    broken = Mine(Broken("detect", _raise(KeyError("x"))))
    with (
        Host.load("memory:", plugins=[broken], discover=False) as host,
        pytest.raises(PluginError, match="wire protocol 'broken' raised KeyError"),
    ):
        request_protocol(host, {"messages": []})
