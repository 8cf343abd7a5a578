"""How providers cache prompts and what that costs, as data. The price of one input token that was not cached is 1."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from attrs import frozen

from trimtab.errors import CallerError

__all__ = ["RULES", "CacheRule", "Kind", "rule_for", "rule_named"]

Kind: TypeAlias = Literal["breakpoints", "prefixes"]


@frozen(kw_only=True)
class CacheRule:
    """How one provider caches.

    Attributes:
        name: by which it is chosen.
        about: which models it is for.
        kind: `breakpoints`: what was written up to a mark can be read by a request that has the same up to there.
            `prefixes`: whatever a request begins with, that an earlier one began with too, can be read.
        read, write: price of a token that is read from the cache, and of one that is written to it.
        least: a prefix of fewer tokens is not cached.
        step: `prefixes` are cached in whole steps of so many tokens.
        look_back: so many blocks before a breakpoint are looked at for an earlier one, itself included; None: all.
        ttl: seconds that an entry lasts after it was last used, as far as one can count on; None: not published.
    """

    name: str
    about: str
    kind: Kind
    read: float
    write: float = 1.0
    least: int = 1_024
    step: int = 1
    look_back: int | None = None
    ttl: int | None = None


def _claude(
    name: str, about: str, *, read: float = 0.1, write: float = 1.25, least: int = 1_024, ttl: int = 300
) -> CacheRule:
    return CacheRule(
        name=name, about=about, kind="breakpoints", read=read, write=write, least=least, look_back=20, ttl=ttl
    )


def _openai(name: str, about: str, read: float) -> CacheRule:
    return CacheRule(name=name, about=about, kind="prefixes", read=read, step=128, ttl=300)


# As published in November 2026. Prices are shares of the model's own price, so they outlive the prices themselves.
_ROWS: Final = (
    # https://platform.claude.com/docs/en/build-with-claude/prompt-caching: 1,024 tokens for most models, 2,048 and
    # 4,096 for some, 512 for the newest; 20 blocks are looked at; what is written for an hour costs twice the price.
    # https://platform.claude.com/docs/en/about-claude/pricing: what is read costs a tenth, of some models less.
    _claude("anthropic", "Claude, kept for 5 minutes"),
    _claude("anthropic-2k", "Claude models that cache from 2,048 tokens", least=2_048),
    _claude("anthropic-4k", "Claude models that cache from 4,096 tokens", least=4_096),
    _claude("anthropic-5.5", "Claude Opus 5.5, Sonnet 5.5", read=0.05),
    _claude("anthropic-5.1", "Claude Fable 5.1, Mythos 5.1", read=0.025),
    _claude("anthropic-1h", "Claude, kept for an hour", write=2.0, ttl=3_600),
    # https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
    _claude("bedrock", "Claude on Bedrock"),
    # https://developers.openai.com/api/docs/guides/prompt-caching: from GPT-5.6 on the end of the newest message is a
    # breakpoint of its own accord, and all earlier ones are looked at.
    CacheRule(
        name="openai", about="GPT-5.6 and later", kind="breakpoints", read=0.1, write=1.25, least=1_024, ttl=1_800
    ),
    # https://developers.openai.com/cookbook/examples/prompt_caching_201 and https://developers.openai.com/api/docs/pricing
    _openai("gpt-5", "GPT-5 to 5.5", 0.1),
    _openai("gpt-4.1", "GPT-4.1, o3, o4-mini", 0.25),
    _openai("gpt-4o", "GPT-4o, o1", 0.5),
    # https://ai.google.dev/gemini-api/docs/caching (implicit caching) and https://ai.google.dev/gemini-api/docs/pricing
    CacheRule(name="gemini", about="Gemini 3 and later, implicit", kind="prefixes", read=0.1, least=4_096),
    CacheRule(name="gemini-2.5", about="Gemini 2.5, implicit", kind="prefixes", read=0.1, least=2_048),
    # https://api-docs.deepseek.com/guides/kv_cache: what is kept ends where a request ends; writing is free.
    # https://api-docs.deepseek.com/quick_start/pricing
    CacheRule(name="deepseek", about="DeepSeek Flash", kind="breakpoints", read=0.02, least=0),
    # https://docs.vllm.ai/en/latest/design/prefix_caching.html: blocks of 16 tokens. Units are tokens to be computed.
    CacheRule(name="vllm", about="vLLM: tokens to compute", kind="prefixes", read=0.0, least=0, step=16),
)

RULES: Final[Mapping[str, CacheRule]] = MappingProxyType({rule.name: rule for rule in _ROWS})
"""The rules by name, in the order in which they are shown."""

_USUAL: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "bedrock": "bedrock",
    "gemini": "gemini",
    "vllm": "vllm",
}
_ELSE: Final = "openai"


def rule_named(name: str) -> CacheRule:
    """A rule of `RULES`. Raises CallerError: there is none of that name."""
    if name not in RULES:
        raise CallerError(f"no cache rule {name!r:.80}; there are {', '.join(RULES)}")
    return RULES[name]


def rule_for(protocol: str) -> CacheRule:
    """The rule that fits a protocol best, by its name."""
    return RULES[_USUAL.get(protocol, _ELSE)]
