"""Stop reasons of all providers: which say that the model was stopped before it had finished."""

from __future__ import annotations

from trimtab.types import Json

__all__ = ["is_cut"]

# Stop reasons after which arguments may be cut off, all protocols together: a length limit, a filter, a failure.
# Compared in lower case without separators, since gateways translate one provider's words into another's.
_CUT = frozenset(
    {
        "abort",
        "aborted",
        "blocklist",
        "cancelled",
        "contentfilter",
        "contentfiltered",
        "error",
        "failed",
        "guardrailintervened",
        "imagesafety",
        "incomplete",
        "language",
        "length",
        "malformedfunctioncall",
        "malformedmodeloutput",
        "malformedtooluse",
        "maxoutputtokens",
        "maxtokens",
        "modelcontextwindowexceeded",
        "modellength",
        "prohibitedcontent",
        "recitation",
        "refusal",
        "safety",
        "spii",
    }
)
_SEPARATORS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "_- ")


def is_cut(reason: Json) -> bool:
    """Whether a stop reason says that the model was stopped before it had finished."""
    return isinstance(reason, str) and reason.translate(_SEPARATORS) in _CUT
