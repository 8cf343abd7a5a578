"""A third party adds a wire protocol by entry point: detected, trimmed, held to the contract; a bad one is reported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from trimtab import Host
from trimtab.errors import PluginError
from trimtab.testing import WireContract
from trimtab.wire import detect, protocols

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
