"""Wire protocols: where a provider's requests and responses have tool calls and tool results.

``protocols["anthropic"].tool_results(request)`` finds them; a payload is kept but for what is replaced in it. Streams
are read by ``protocols[name].stream()``: `feed` it what came, `close` gives the calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from trimtab.types import Json
from trimtab.wire.ai_sdk import AI_SDK
from trimtab.wire.anthropic import ANTHROPIC
from trimtab.wire.bedrock import BEDROCK
from trimtab.wire.chat import OPENAI_CHAT, VLLM
from trimtab.wire.gemini import GEMINI
from trimtab.wire.guard import guarded
from trimtab.wire.parsed import PARSED
from trimtab.wire.responses import OPENAI_RESPONSES
from trimtab.wire.types import Fault, PastCall, RawCall, SpeakingStream, Stream, ToolResult, WireProtocol, synthetic_id

__all__ = [
    "Fault",
    "PastCall",
    "RawCall",
    "SpeakingStream",
    "Stream",
    "ToolResult",
    "WireProtocol",
    "detect",
    "protocols",
    "synthetic_id",
]

protocols: Final[Mapping[str, WireProtocol]] = MappingProxyType(
    {one.name: one for one in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI, BEDROCK, VLLM, AI_SDK, PARSED)}
)
"""The built-in protocols by name, read-only. `host.protocols` has those of plugins too."""


def detect(payload: Json, among: Mapping[str, WireProtocol] = protocols) -> str | None:
    """The name of the protocol that a request, a response or a decoded stream event is written in; None: no one's.

    Where a payload could be of several (a history of plain text), the first in the order of `among` is named.

    Raises:
        PluginError: a plugin's protocol raised, or gave no number from 0 to 1; the message names it.
    """
    scores = {name: guarded(one).detect(payload) for name, one in among.items()}
    best = max(scores.values(), default=0.0)
    return next(name for name, score in scores.items() if score == best) if best > 0 else None
