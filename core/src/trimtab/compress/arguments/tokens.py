"""The marks in a text at which a document, a call, a thought or a comment begins or ends."""

from __future__ import annotations

import re
from typing import Final

from trimtab.compress.arguments.buried import STRING
from trimtab.compress.arguments.standing import PYTHON
from trimtab.lenient.thoughts import TAG

__all__ = ["CLOSERS", "FENCE", "FIELD_ENDS", "NO_BRACE", "TAGS", "TOKEN", "VALUE_ENDS"]

_NAME: Final = "[A-Za-z_][A-Za-z0-9_.:-]*"
_SPECIAL: Final = "(?:｜DSML｜)?"  # DeepSeek's mark inside its tags
_FIELDS: Final = (
    "content",
    "ranges",
    "topic",
    "startId",
    "endId",
    "startRef",
    "endRef",
    "start_id",
    "end_id",
    "start_ref",
    "end_ref",
    "summary",
    "summaryMaxChars",
    "summary_max_chars",
)

TOKEN: Final = re.compile(
    f"(?P<tag>{TAG.pattern})"
    "|(?P<channel><\\|channel\\|>[ \\t]*analysis\\b|<\\|channel>thought\\b)"
    # What opens a comment stands by itself: inside a path or a word, or in quotes, it is a glob.
    "|(?P<comment>(?<![^ \\t\\r\\n,;{}\\[\\]()>=])/\\*|<!--)"
    f"|<{_SPECIAL}(?:function|invoke)(?:=|[ \\t]+name=[\"']?)(?P<function>{_NAME})[\"']?[^>\\n]{{0,80}}>"
    f"|<{_SPECIAL}parameter(?:=|[ \\t]+name=[\"']?)(?P<parameter>{_NAME})[\"']?[^>\\n]{{0,80}}>"
    f"|<arg_key>[ \\t\\r\\n]*(?P<argument>{_NAME})[ \\t\\r\\n]*</arg_key>[ \\t\\r\\n]*<arg_value>"
    f"|<(?P<own>(?:acp_)?compress)>|<(?P<field>{'|'.join(_FIELDS)})>"
    "|(?P<mark>\\[(?:TOOL_CALLS|ARGS|CALL_ID|TOOL_CONTENT)\\])"
    f"|(?P<python>{PYTHON.pattern})"
    f"|(?P<end></{_SPECIAL}(?:function|invoke|tool_call|(?:acp_)?compress)>)"
    f"|(?P<string>{STRING.pattern})"
    "|(?P<open>[\\[{｛［])",
)
"""Each mark, in the group of its kind."""

CLOSERS: Final = {
    "/*": re.compile("\\*/(?![A-Za-z0-9_*./])"),
    "<!--": re.compile("-->"),
    "<|channel|>": re.compile("<\\|(?=(?:end|start|channel|call)\\|>)"),
    "<|channel>": re.compile("<channel\\|>"),
}
"""What closes a comment or a channel of thoughts."""

VALUE_ENDS: Final = re.compile(f"</{_SPECIAL}parameter>|</arg_value>")
"""What ends the value of a parameter."""

FIELD_ENDS: Final = {name: re.compile(f"</{name}>") for name in _FIELDS}
"""What ends a field whose name is the tag's own."""

NO_BRACE: Final = re.compile("[\"']?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[\"']?[ \\t\\r\\n]*:[ \\t\\r\\n]*[\"'\\[{]")
"""A key at which a text without its opening brace begins."""

FENCE: Final = re.compile("(?:`{3,}|~{3,})[A-Za-z0-9_+-]*[ \\t\\r\\n]*")
TAGS: Final = re.compile("<[^<>\\n]{1,80}>|\\[[A-Z_]+\\]|(?:`{3,}|~{3,})[A-Za-z0-9_+-]*")
"""Any tag, mark or fence around a call."""
