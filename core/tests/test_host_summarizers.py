"""Summarizers by name: the built-in ones and the plugins', with the options of the policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from trimtab import Host, Policy, hookimpl
from trimtab.compaction import DurableCompactor, FoldSettings, Row, SummaryRequest
from trimtab.compaction.summarizers import ChainSummarizer, ExtractiveSummarizer
from trimtab.errors import CallerError, PluginError, PolicyError, TrimtabError

ROWS = [
    Row(id="1", messages=[{"role": "user", "content": "Port the parser. " * 900}]),
    Row(id="2", messages=[{"role": "assistant", "content": "It is in parser.py. " * 900}]),
    Row(id="3", messages=[{"role": "user", "content": "Now its tests."}]),
]


def mine(model: str = "small", *, size: int = 1) -> Callable[[SummaryRequest], str]:
    """A factory with options; what it makes says which it was given."""
    return lambda request: f"Summary by {model}, size {size}: the parser is to be ported, it is in parser.py."


def failing() -> Any:
    """A factory that raises."""
    raise OSError("no such model")


class Plugin:
    """A plugin with a summarizer that works, and some that do not."""

    @hookimpl
    def trimtab_summarizers(self) -> Mapping[str, Callable[..., Any]]:
        """All of them."""
        return {
            "mine": mine,
            "failing": failing,
            "useless": lambda: 5,
            "classy": lambda: ExtractiveSummarizer,
            "bare": ExtractiveSummarizer(),
        }


def host(policy: Policy | None = None) -> Host:
    """A host with the plugin."""
    return Host.load(policy=policy, plugins=[Plugin()], discover=False)


def test_the_policy_names_the_summarizer_and_its_options(tmp_path: Path) -> None:
    """What trimtab.toml says is what a fold is written by, a plugin's summarizer too."""
    path = tmp_path / "trimtab.toml"
    path.write_text('summarizer = "mine"\n[summarizers.mine]\nmodel = "large"\nsize = 3\n', encoding="utf-8")
    summarizer = host(Policy.load(path)).summarizer()
    served = DurableCompactor("openai-chat", FoldSettings(windows=8_000), summarizer).serve(ROWS)
    assert served.record is not None
    assert served.record.summary.startswith("Summary by large, size 3:")


def test_without_a_policy_it_is_the_extractive_one() -> None:
    """The default needs no network."""
    assert isinstance(host().summarizer(), ExtractiveSummarizer)


def test_options_of_the_call_go_before_those_of_the_policy() -> None:
    """An option is taken from the call, else from the policy, else from the factory."""
    made = host(Policy(summarizers={"mine": {"model": "large", "size": 3}})).summarizer("mine", size=4)
    assert made(None).startswith("Summary by large, size 4:")


def test_links_of_a_chain_are_made_by_name() -> None:
    """A policy can name fallbacks: each link has its own options."""
    policy = Policy(
        summarizer="chain", summarizers={"chain": {"links": ["mine", "extractive"]}, "mine": {"model": "large"}}
    )
    chain = host(policy).summarizer()
    assert isinstance(chain, ChainSummarizer)
    assert chain.links[0](None).startswith("Summary by large")  # type: ignore[arg-type, union-attr]
    assert isinstance(chain.links[1], ExtractiveSummarizer)


WRONG: dict[str, tuple[Policy, str | None, dict[str, Any], type[TrimtabError], str]] = {
    "unknown": (Policy(), "mime", {}, PolicyError, "no summarizer 'mime'; did you mean 'mine'?"),
    "unknown in the policy": (Policy(summarizer="zzz"), None, {}, PolicyError, "no summarizer 'zzz'; known: anthropic"),
    "an unknown link": (Policy(), "chain", {"links": ["zzz"]}, PolicyError, "no summarizer 'zzz'"),
    "a chain in itself": (
        Policy(summarizers={"chain": {"links": ["mine", "chain"]}}),
        "chain",
        {},
        PolicyError,
        "chain > chain: a chain cannot be a link of its own",
    ),
    "an option that it does not take": (
        Policy(),
        "mine",
        {"modell": "x"},
        CallerError,
        "'modell'; its factory .*model",
    ),
    "a built-in one's": (Policy(), "extractive", {"model": "x"}, CallerError, "'extractive'.*'model'"),
    "an option that is missing": (Policy(), "openai", {}, CallerError, "'openai'.*'model'"),
    "a factory that raises": (Policy(), "failing", {}, PluginError, "'failing': its factory raised OSError: no such"),
    "a factory that makes nothing": (Policy(), "useless", {}, PluginError, "'useless': its factory gave int"),
    "no factory": (Policy(), "bare", {}, CallerError, r"'request'; its factory .* by name, and gives the summarizer"),
    "a factory of classes": (Policy(), "classy", {}, PluginError, "'classy': its factory gave the class Extractive"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_made_says_why(name: str) -> None:
    """Each fault is the caller's or the plugin's, and names the summarizer."""
    policy, summarizer, options, kind, words = WRONG[name]
    with pytest.raises(kind, match=words):
        host(policy).summarizer(summarizer, **options)


UNKNOWN: dict[str, tuple[Policy, list[str]]] = {
    "the one that is meant": (Policy(summarizer="mime"), ["summarizer: no summarizer 'mime'; did you mean 'mine'?"]),
    "options": (
        Policy(summarizers={"extractiv": {}}),
        ["summarizers.extractiv: no summarizer 'extractiv'; did you mean 'extractive'?"],
    ),
    "links": (
        Policy(summarizer="chain", summarizers={"chain": {"links": ["mine", "openia", "zzz", 5]}}),
        [
            "summarizers.chain.links: no summarizer 'openia'; did you mean 'openai'?",
            "summarizers.chain.links: no summarizer 'zzz'; known: anthropic, bare, callable, chain",
        ],
    ),
    "nothing": (Policy(summarizer="mine", summarizers={"chain": {"links": "mine"}, "mine": {"model": "x"}}), []),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_name_that_nobody_has_is_said_at_the_start(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """A host says which summarizers its policy names and no plugin has, and loads all the same."""
    policy, told = UNKNOWN[name]
    with host(policy) as loaded:
        assert loaded.trim("read", "short").text == "short"
    warnings = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert len(warnings) == len(told)
    for warning, words in zip(warnings, told, strict=True):
        assert f"the policy names what no plugin has: {words}" in warning


def test_the_policy_of_the_page_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What docs/summarizers.md writes into trimtab.toml loads, and makes the chain that it says."""
    pytest.importorskip("openai")
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):  # the server of the page is a local one, which wants none
        monkeypatch.delenv(name, raising=False)
    page = (Path(__file__).resolve().parents[2] / "docs" / "summarizers.md").read_text(encoding="utf-8")
    path = tmp_path / "trimtab.toml"
    path.write_text(page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    chain = host(Policy.load(path)).summarizer()
    assert [type(one).__name__ for one in chain.links] == ["OpenAISummarizer", "ExtractiveSummarizer"]
    assert (chain.timeout, chain.window, chain.links[0].model) == (30, 128_000, "small-1")
