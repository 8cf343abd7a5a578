"""The contract suites themselves: they pass for what keeps the contract, fail for what does not, and say what is
missing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import pytest

from trimtab import Host, hookimpl
from trimtab.codecs import entities, text_field
from trimtab.testing import CodecContract, PluginContract, StoreContract
from trimtab.testing.laws import LAWS, BrokenLaw, check_frame_exact, check_readable_back
from trimtab.testing.samples import check_codec, host_with, variants
from trimtab.types import Codec, Json

ISSUES: Json = {"issues": [{"key": "A-1", "body": "It fails.\nOften."}]}
PAGES: Json = {"page": 3, "text": "Some text."}


class Good:
    """A plugin with a codec for a name and one for a glob."""

    @hookimpl
    def trimtab_codecs(self) -> Iterable[tuple[str, Codec]]:
        """Codecs of two tools."""
        return [("issues", entities("/issues/*/body")), ("read_*", text_field("/text"))]


class TestGoodPlugin(PluginContract):
    """The suite passes for a plugin object that keeps the contract."""

    plugin = Good()
    samples: ClassVar[Mapping[str, Any]] = {"issues": [ISSUES], "read_page": [PAGES, json.dumps(PAGES)]}


class Raising:
    """Fails when its hook is called."""

    @hookimpl
    def trimtab_codecs(self) -> Iterable[tuple[str, Codec]]:
        """Nothing."""
        raise RuntimeError("no codecs today")


class Misspelt:
    """Has a hook that does not exist."""

    @hookimpl
    def trimtab_codec(self) -> Iterable[tuple[str, Codec]]:
        """Never called."""
        return []


class Taken:
    """Registers a store scheme that the built-in parts have."""

    @hookimpl
    def trimtab_blob_stores(self) -> Mapping[str, Any]:
        """One more `memory:`."""
        return {"memory": lambda url: None}


class Empty:
    """Registers nothing."""


class BadCodec:
    """Its codec looks at lengths."""

    @hookimpl
    def trimtab_codecs(self) -> Iterable[tuple[str, Codec]]:
        """A codec that knows short texts only."""
        return [("page", lambda output: ["/text"] if isinstance(output, dict) and len(output["text"]) < 99 else None)]


class Unasked:
    """Has a codec that no sample reaches."""

    @hookimpl
    def trimtab_codecs(self) -> Iterable[tuple[str, Codec]]:
        """A codec for another tool."""
        return [("other", text_field("/text"))]


@pytest.mark.parametrize(
    ("plugin", "claim"),
    [
        (Raising(), "test_it_loads_alone"),
        (Misspelt(), "test_it_loads_alone"),
        (Taken(), "test_it_takes_no_name_that_is_taken"),
        (Empty(), "test_it_provides_something"),
        (BadCodec(), "test_its_codecs_keep_the_laws"),
        (Unasked(), "test_every_codec_has_samples"),
        ("no-such-entry-point", "test_it_loads_alone"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_bad_plugin_fails(plugin: object, claim: str) -> None:
    """Each fault fails the claim that is about it."""
    made = type("Made", (PluginContract,), {"plugin": plugin, "samples": {"page": [PAGES], "issues": [ISSUES]}})
    suite = made()
    with suite.load() as host, pytest.raises(AssertionError):
        getattr(suite, claim)(host)


def test_a_bad_codec_fails() -> None:
    """The law that it breaks fails, and says for which sample and how; the codec may be a plain function."""

    def looks(output: Json) -> list[str] | None:
        return ["/text"] if isinstance(output, dict) and len(output.get("text", "")) < 99 else None

    made = type("Made", (CodecContract,), {"codec": looks, "samples": (PAGES,)})
    with pytest.raises(AssertionError, match=r"sample 0, grown: .* depend on the texts"):
        made().test_the_law_holds(7)
    made().test_the_law_holds(2)
    with pytest.raises(AssertionError, match="must be the codec under test"):
        type("Made", (CodecContract,), {"samples": (PAGES,)})().test_the_law_holds(1)


def test_every_law_is_checked_on_every_variant() -> None:
    """The sample as it is, and with its texts grown, emptied and made hostile: long enough to be trimmed."""
    codec = entities("/issues/*/body")
    outputs = dict(variants(codec, ISSUES))
    assert list(outputs) == ["", ", grown", ", emptied", ", hostile"]
    assert len(outputs[", grown"]["issues"][0]["body"]) > 2_000
    assert "trimtab:" in outputs[", hostile"]["issues"][0]["body"]
    assert ISSUES["issues"][0]["body"] == "It fails.\nOften."
    findings = check_codec(codec, [ISSUES])
    assert {one.law for one in findings} == set(LAWS)
    assert {one.sample.split(", keep")[0] for one in findings} >= {"sample 0", "sample 0, grown", "sample 0, hostile"}


def test_a_broken_row_is_found() -> None:
    """The checks do not take the product's word: a store that gives another text breaks the laws about it."""
    with host_with(text_field("/text"), "page") as host:
        output = {"text": "some text\n" * 300}
        check_frame_exact(host, "page", output)
        check_readable_back(host, "page", output)
        wrong = Wrong(host)
        for law, check in ((1, check_frame_exact), (4, check_readable_back)):
            with pytest.raises(BrokenLaw) as caught:
                check(wrong, "page", {"text": "some text\n" * 3_000})  # type: ignore[arg-type]
            assert caught.value.law == law


class Wrong:
    """A host whose store gives texts without their last char."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.store = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def get(self, blob_id: str) -> str:
        """A text that is not what was stored."""
        return self._host.store.get(blob_id)[:-1]


def blocked(code: str, *modules: str) -> str:
    """What a process prints in which these modules are not installed."""
    script = f"import sys\nsys.modules.update(dict.fromkeys({modules!r}))\n{code}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("missing", ["pytest", "hypothesis"])
@pytest.mark.parametrize("suite", ["CodecContract", "PluginContract", "StoreContract"])
def test_what_is_missing_is_said(missing: str, suite: str) -> None:
    """Without pytest or Hypothesis a suite says what to install."""
    said = blocked(f"from trimtab.testing import {suite}", missing)
    assert "MissingExtra: trimtab.testing needs" in said
    assert "trimtab[testing]" in said


def test_the_laws_need_nothing_else() -> None:
    """`check_codec` and the laws run where only trimtab is installed, as the command line does."""
    code = (
        "from trimtab.codecs import text_field\n"
        "from trimtab.testing.samples import check_codec\n"
        "print(all(one.ok for one in check_codec(text_field('/text'), [{'text': 'x'}])))"
    )
    assert blocked(code, "pytest", "hypothesis") == "True\n"


def test_the_suites_are_what_is_promised() -> None:
    """The names that third parties import; anything else is not there."""
    import trimtab.testing as testing

    assert dir(testing) == sorted(testing.__all__)
    assert {CodecContract, PluginContract, StoreContract} <= {getattr(testing, name) for name in testing.__all__}
    with pytest.raises(AttributeError):
        testing.NoSuchContract  # noqa: B018
