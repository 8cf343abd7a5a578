"""Finds the documents in a text: between prose, in fences and tags, beside thoughts and examples that are no calls."""

from __future__ import annotations

import re
from typing import Final

from attrs import field, frozen

from trimtab.compress.names import ENVELOPE, KNOWN, SPACES, names_compress, plain
from trimtab.lenient import repairs as names
from trimtab.lenient.document import Cut, Document, put_cut
from trimtab.lenient.tree import read
from trimtab.types import Json

__all__ = ["Text", "begins_inside", "documents", "read_one"]

_SKIPPED: Final = {
    "think": "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis",
    "quoted": "example|examples|tool_response|tool_result|tool_output|blockquote",
}
_TOKEN: Final = re.compile(
    f"(?P<skip><(?:{_SKIPPED['think']}|{_SKIPPED['quoted']})>|\\[THINK\\]|<\\|channel\\|>[ \\t]*analysis\\b|/\\*|<!--)"
    f"|(?P<orphan></(?:{_SKIPPED['think']})>|\\[/THINK\\])"
    "|<(?:function|invoke)(?:=|[ \\t]+name=[\"']?)(?P<function>[A-Za-z_][A-Za-z0-9_.:-]*)[\"']?[^>\\n]{0,80}>"
    "|<parameter(?:=|[ \\t]+name=[\"']?)(?P<parameter>[A-Za-z_][A-Za-z0-9_.-]*)[\"']?[^>\\n]{0,80}>"
    "|<arg_key>[ \\t\\r\\n]*(?P<argument>[A-Za-z_][A-Za-z0-9_.-]*)[ \\t\\r\\n]*</arg_key>[ \\t\\r\\n]*<arg_value>"
    "|(?P<mark>\\[(?:TOOL_CALLS|ARGS|CALL_ID|TOOL_CONTENT)\\])"
    "|(?P<python>\\[?\\bcompress[ \\t]*\\((?=[ \\t\\r\\n]*(?:content|ranges|start_?[rR]ef)[ \\t]*=))"
    "|(?P<end></(?:function|invoke|tool_call)>)"
    '|(?P<string>(?:(?<=[\\n>\\]])|(?<=compress)|(?<=\\n[ \\t]))\ufeff?"(?=[ \\t]*(?:\\\\[nrt])*[\\[{]))'
    "|(?P<open>[\\[{｛［])",
)
_VALUE_ENDS: Final = re.compile("</parameter>|</arg_value>")
_CALLED: Final = re.compile(
    "(?:\\[TOOL_CALLS\\][ \\t]*|tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?|to=|<\\|tool_call_begin\\|>"
    "|<tool_call>[ \\t\\r\\n]*|Action:[ \\t]*)(?P<name>[A-Za-z_][A-Za-z0-9_.:-]*)"
)
_EXAMPLE: Final = re.compile(
    "(?:[Ee]xamples?|e\\.g\\.|[Ff]or instance|[Ss]chema|[Ee]xpected (?:shape|format))"
    "[^{}\\n]{0,60}\\n?(?:```[A-Za-z0-9]*\\n)?[ \\t\\r\\n]*\\Z"
)
_ASIDE: Final = re.compile("[ \\t]*(?://|#|>|--)")
_NO_BRACE: Final = re.compile("[\"']?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[\"']?[ \\t\\r\\n]*:[ \\t\\r\\n]*[\"'\\[{]")
_FENCE: Final = re.compile("(?:`{3,}|~{3,})[A-Za-z0-9_+-]*[ \\t\\r\\n]*")
_DOCUMENTS: Final = 5_000  # more than that, and it is no call that anyone meant
_RETRIES: Final = 3
_RETRIED_CHARS: Final = 100_000
_SHORT_GAP: Final = 16
_GAPS: Final = SPACES + ",;"
_LOOK_BACK: Final = 200


@frozen(kw_only=True)
class Text:
    """What a text holds. `plain`: nothing stands around its documents. `cut`: it ends inside something."""

    documents: list[Document]
    plain: bool
    cut: bool
    repairs: dict[str, None] = field(factory=dict)


def read_one(text: str, start: int) -> Document:
    """The document at this index; a string that the text ends inside stands in it as a `Cut`."""
    document = read(text, start, known=KNOWN)
    if document.cut is not None and document.open:
        put_cut(document, Cut(document.cut))
    return document


def documents(text: str, first: Document | None = None) -> Text:
    """Every document of a text that can be a call's arguments, in order. `first`: the one that begins it, if known."""
    at = begins_inside(text)
    if at:
        found = read_one("{" + text[at - 1 :], 0)
        return Text(documents=[found], plain=True, cut=not found.finished, repairs={names.MISSING_BRACKET: None})
    return _Search(text, first).run()


def begins_inside(text: str) -> int:
    """The 1-based index at which a text without its opening brace begins with a known key; 0: it does not."""
    fence = _FENCE.match(text)
    bare = _NO_BRACE.match(text, fence.end() if fence else 0)
    return bare.start() + 1 if bare is not None and plain(bare["name"]) in KNOWN else 0


class _Search:
    """One walk over a text, from document to document."""

    def __init__(self, text: str, first: Document | None) -> None:
        self.text = text
        self.first = first
        self.found: list[Document] = []
        self.repairs: dict[str, None] = {}
        self.cut = False
        self.last = 0  # behind the last document
        self.retries = 0
        self.count = 0
        self.function: str | None = None
        self.values: dict[str, Json] = {}
        self.prose = False

    def run(self) -> Text:
        text, pos = self.text, 0
        while (token := _TOKEN.search(text, pos)) is not None:
            if self.count > _DOCUMENTS:
                self.repairs[names.GIVEN_UP] = None
                self.last = len(text)
                break
            kind = token.lastgroup
            if kind == "open":
                pos = self._document(token.start())
            elif kind == "string":
                pos = self._string(token.end() - 1)
            elif kind == "mark":
                pos = token.end()
            elif kind == "python":
                pos = self._python(token.end())
            elif kind == "skip":
                pos = self._past(token)
            elif kind == "orphan":
                self._forget(token.end())
                pos = token.end()
            elif kind == "function":
                self.function = token["function"]
                pos = self.last = token.end()
            elif kind == "end":
                self._close_function(token.start(), token.end())
                pos = token.end()
            else:
                pos = self._parameter(token["parameter"] or token["argument"], token)
        if self.values:
            self._close_function(len(text), len(text))
        self._note_around(len(text))
        return Text(documents=self.found, plain=not self.prose, cut=self.cut, repairs=self.repairs)

    def _past(self, token: re.Match[str]) -> int:
        """Behind a comment, a thought or an example."""
        text, opened = self.text, token[0]
        closers = {"/*": "*/", "<!--": "-->", "[THINK]": "[/THINK]"}
        closer = closers.get(opened, f"</{opened[1:]}")
        if opened.startswith("<|"):
            after = re.compile("<\\|(?:end|start|channel|call)\\|>").search(text, token.end())
            end = after.start() if after else -1
        else:
            at = text.find(closer, token.end())
            end = at + len(closer) if at >= 0 else -1
        self._note_around(token.start())
        if end < 0:
            self.cut = True
            end = len(text)
        self.last = end
        return end

    def _forget(self, end: int) -> None:
        """All that came before belongs to a thought whose beginning was not in the text."""
        self.found.clear()
        self.values.clear()
        self.function = None
        self.cut = False
        self.last = end

    def _note_around(self, end: int) -> None:
        """Take note of other text between the last document and this index."""
        between = self.text[self.last : end].strip(SPACES + "`~,;")
        if between:
            self.prose = True
        if "```" in self.text[self.last : end] or "~~~" in self.text[self.last : end]:
            self.repairs[names.FENCE] = None

    def _document(self, start: int) -> int:
        """Read the document at this index; where to go on."""
        self.count += 1
        document = self.first if self.first is not None and not start else read_one(self.text, start)
        doubtful = not document.finished and not self._is_known(document)
        if doubtful and self.retries < _RETRIES and len(self.text) - start <= _RETRIED_CHARS:
            self.retries += 1
            return start + 1
        prose = self._is_prose(document)
        if not prose and self._is_call(document):
            self._note_around(start)
            self.found.append(document)
        self.cut = self.cut or (not document.finished and (not prose or not start))
        self.last = document.end
        return document.end

    def _is_prose(self, document: Document) -> bool:
        value = document.value
        if isinstance(value, dict):
            return not any(plain(key) in KNOWN or isinstance(item, dict | list) for key, item in value.items())
        return not any(isinstance(item, dict) for item in value)

    def _string(self, start: int) -> int:
        """A text that holds JSON, in quotes on lines of its own or between tags."""
        document = read_one(self.text, start)
        behind = self.text[document.end : document.end + 1]
        if not isinstance(document.value, str) or not (behind in ("", "<", "\x00") or behind in SPACES):
            return start + 1
        self._note_around(start)
        self.found.append(document)
        self.cut = self.cut or not document.finished
        self.last = document.end
        return document.end

    def _is_known(self, document: Document) -> bool:
        """Whether the document begins as arguments or an envelope do, or as an array of objects."""
        value = document.value
        if isinstance(value, dict):
            return any(plain(key) in KNOWN or plain(key) in ENVELOPE for key in value)
        return any(isinstance(item, dict) for item in value)

    def _python(self, start: int) -> int:
        """A call in Python's form: its keyword arguments, up to the closing parenthesis."""
        document = read_one("{" + self.text[start:], 0)
        self._note_around(start)
        self.found.append(document)
        self.cut = self.cut or not document.finished
        self.last = start + document.end - 1
        return self.last

    def _is_call(self, document: Document) -> bool:
        """Whether the document stands where a call can stand: not in a quotation, an example, another tool's call."""
        text, start, end = self.text, document.start, document.end
        if start - self.last < _SHORT_GAP and not text[self.last : start].strip(_GAPS) and self.function is None:
            return True
        before = text[max(self.last, start - _LOOK_BACK) : start]
        line = before[before.rfind("\n") + 1 :]
        if _ASIDE.match(line) or _EXAMPLE.search(before):
            return False
        called = [found["name"] for found in _CALLED.finditer(text, self.last, start)]
        name = called[-1] if called else self.function
        if name is not None and name != "function" and not names_compress(name):
            return False
        if before[-1:] in ("`", '"', "'", "“", "‘") and before[-2:] != "``" and text[end : end + 1] in tuple("`\"'”’"):
            return not (text[: start - 1].strip(SPACES) or text[end + 1 :].strip(SPACES))
        return True

    def _parameter(self, name: str, token: re.Match[str]) -> int:
        """One argument between tags, as text."""
        text, start = self.text, token.end()
        found = _VALUE_ENDS.search(text, start)
        called = list(_CALLED.finditer(text, self.last, token.start()))
        if called:
            self.function = called[-1]["name"]
        value = text[start : found.start() if found else len(text)]
        self.values[name] = value.strip("\r\n") if found else Cut(value)
        self.cut = self.cut or found is None
        self.last = found.end() if found else len(text)
        return self.last

    def _close_function(self, start: int, end: int) -> None:
        """The call between tags ends: its arguments are a document."""
        if self.values and (self.function is None or names_compress(self.function)):
            values = dict(self.values)
            self.found.append(
                Document(
                    value=values,
                    start=start,
                    end=end,
                    finished=not self.cut,
                    open=(values,) if self.cut else (),
                    cut=None,
                    last_key="",
                    repairs=(),
                )
            )
        self.values.clear()
        self.function = None
        self.last = end
