"""Finds the documents in a text: between prose, in fences and tags, beside thoughts and examples that are no calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from attrs import evolve, field, frozen

from trimtab.compress.arguments.buried import OBJECT, first_inside, is_known, is_prose, says_cut
from trimtab.compress.arguments.calls import slots_of
from trimtab.compress.arguments.entries import is_entry
from trimtab.compress.arguments.names import ARGUMENTS, KEYWORDS, KNOWN, SPACES, names_compress, plain
from trimtab.compress.arguments.quoted import ENDS_ALONE, read_string
from trimtab.compress.arguments.standing import ANSWER, CALLED, EXAMPLE, Lines, is_other, is_quotation
from trimtab.compress.arguments.tokens import CLOSERS, FENCE, FIELD_ENDS, NO_BRACE, TAGS, TOKEN, VALUE_ENDS
from trimtab.lenient import repairs as names
from trimtab.lenient.between import closer_of
from trimtab.lenient.document import Cut, Document, put_cut
from trimtab.lenient.thoughts import Tag, Tags, is_named, read_tag
from trimtab.lenient.tree import read, read_members
from trimtab.types import Json

__all__ = ["Text", "begins_inside", "documents", "read_one"]

_WORD: Final = re.compile("[A-Za-z0-9][ \\t]{1,3}\\Z")
_CLOSING: Final = frozenset("}]｝］")
_QUOTES: Final = frozenset("\"'")
_LINE_START: Final = re.compile("(?:\\A|[\n>`\\]])[ \\t]*\\Z")
_BEGUN: Final = re.compile("[{｛][ \\t\\r\\n]*(?:\\Z|[\"'“])")
_DOCUMENTS: Final = 5_000  # more than that, and it is no call that anyone meant
_VALUES: Final = 500  # between tags; of so many none is looked into for closing tags in its strings
_VAIN_CHARS: Final = 60_000  # read for nothing: from then on what is in prose must begin with a key of a call
_CHECK_CHARS: Final = 500  # what looking into a comment costs at least
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


def read_one(text: str, start: int, *, inside: bool = False) -> Document:
    """The document at this index, or the members of one whose brace is missing (`inside`); a string that the text ends
    inside stands in it as a `Cut`.
    """
    document = (read_members if inside else read)(text, start, known=KNOWN)
    if document.cut is not None and document.open:
        put_cut(document, Cut(document.cut))
    return document


def documents(text: str, first: Document | None = None) -> Text:
    """Every document of a text that can be a call's arguments, in order. `first`: the one that begins it, if known."""
    at = begins_inside(text)
    if at:
        found = read_one(text, at - 1, inside=True)
        if len(found.open) == 1 and found.cut is None and text.rstrip(SPACES)[-1:] in _CLOSING:
            # Its other brace is missing, too.
            repairs = tuple(repair for repair in found.repairs if repair != names.UNFINISHED)
            found = evolve(found, finished=True, open=(), repairs=repairs)
        searched = None if slots_of(found.value) or is_entry(found.value) else _Search(text, first).run()
        if searched is None or not any(map(is_known, searched.documents)):
            return Text(documents=[found], plain=True, cut=not found.finished)
        return searched  # it began with a label
    return _Search(text, first).run()


def begins_inside(text: str) -> int:
    """The 1-based index at which a text without its opening brace begins with a known key; 0: it does not."""
    fence = FENCE.match(text)
    bare = NO_BRACE.match(text, fence.end() if fence else 0)
    if bare is None or plain(bare["name"]) not in KNOWN:
        return 0
    # Without quotes it is a label.
    return 0 if plain(bare["name"]) in ARGUMENTS and text[bare.start()] not in _QUOTES else bare.start() + 1


class _Search:
    """One walk over a text, from document to document."""

    def __init__(self, text: str, first: Document | None) -> None:
        self.text = text
        self.first = first
        self.found: list[Document] = []
        self.repairs: dict[str, None] = {}
        self.cut = False
        self.last = 0  # behind the last document
        self.count = 0
        self.vain = 0
        self.empty: Document | None = None  # with nothing in it
        self.inside = 0  # where, among brackets of prose, the next document can begin
        self.function: str | None = None
        self.begun = 0  # where its call begins
        self.values: dict[str, Json] = {}
        self.prose = False
        self.lines = Lines(text)
        self.tags = Tags(text)
        self.unclosed: set[str] = set()  # of comments
        self.thought = False
        self.named: list[tuple[Tag, int]] = []  # tags that a sentence speaks of, and what was found before each
        self.orphan = 0  # what was found before the last tag that closes a thought without a beginning

    def run(self) -> Text:
        text, pos = self.text, 0
        while (token := TOKEN.search(text, pos)) is not None:
            if self.count > _DOCUMENTS:
                self.repairs[names.GIVEN_UP] = None
                self.last = len(text)
                break
            pos = _TAKES[token.lastgroup or ""](self, token)
        if self.values:
            self._close_function(len(text), len(text))
        self._drop_thought()
        if self.empty is not None and not self.found and self._is_all(self.empty):
            self.found.append(self.empty)
        self._note_around(len(text))
        return Text(documents=self.found, plain=not self.prose, cut=self.cut, repairs=self.repairs)

    def _is_all(self, document: Document) -> bool:
        """Whether there is nothing else in the text, but for a call's tags and name."""
        rest = f"{self.text[: document.start]} {self.text[document.end :]}"
        words = TAGS.sub("", rest).strip(_GAPS + "`~(){}[]")
        return not words or names_compress(words)

    def _mark(self, token: re.Match[str]) -> int:
        return token.end()

    def _tag(self, token: re.Match[str]) -> int:
        """A tag of a thought or a quotation."""
        tag = read_tag(self.text, token)
        if tag is None:
            return token.end()
        if tag.closes:
            self._closed(tag)
            return tag.end
        if tag.named:
            self.named.append((tag, len(self.found)))
            return tag.end
        self.thought = self.thought or tag.thought
        return self._past(tag.start, self.tags.end_of(tag))

    def _channel(self, token: re.Match[str]) -> int:
        found = CLOSERS[token[0][: token[0].index(">") + 1]].search(self.text, token.end())
        return self._past(token.start(), found.start() if found else -1)

    def _comment(self, token: re.Match[str]) -> int:
        """A comment. One that is not closed is none, nor is one in a sentence that a later line seems to close: `/*` is
        also how all files of a folder are called.
        """
        opened = token[0]
        found = None if opened in self.unclosed else CLOSERS[opened].search(self.text, token.end())
        if found is None:
            self.unclosed.add(opened)
            return token.end()
        start, begin, end = token.start(), token.end(), found.start()
        in_sentence = _WORD.search(self.text, max(0, start - 4), start) and self.text.find("\n", begin, end) >= 0
        if in_sentence or self._is_in_call(begin, end):
            return begin
        return self._past(token.start(), found.end())

    def _is_in_call(self, start: int, closer: int) -> bool:
        """Whether what seems to end a comment stands in a string of a call that begins behind the comment's opening."""
        opened = OBJECT.search(self.text, start, closer)
        if opened is None or self.vain > len(self.text) + _VAIN_CHARS:
            return False
        document = read_one(self.text, opened.start())
        self.vain += document.end - start + _CHECK_CHARS
        return document.finished and document.end > closer and is_known(document)

    def _past(self, start: int, end: int) -> int:
        """Behind a comment, a thought or an example; -1: the text ends inside it."""
        self._note_around(start)
        if end < 0:
            self.cut = True
            end = len(self.text)
        self.last = end
        self.lines.begin(end)
        return end

    def _closed(self, tag: Tag) -> None:
        """A tag closes what only seemed to be spoken of, or a thought whose beginning is not in the text."""
        if tag.named:
            return
        while self.named:
            opener, before = self.named.pop()
            if opener.thought is tag.thought:
                del self.found[before:]
                self._begin_anew(tag.end)
                return
        if tag.thought:
            self.orphan = len(self.found)
            self._begin_anew(tag.end)

    def _begin_anew(self, end: int) -> None:
        self.values.clear()
        self.function = None
        self.last = end
        self.lines.begin(end)

    def _drop_thought(self) -> None:
        """Forget the calls in a thought whose beginning a server's template wrote, so that it is not in the text.

        A call behind the closing tag shows that those before it were drafts. Where none follows, they are drafts when
        the text begins with prose, as thoughts do. A text that begins with the call itself, or has had its thought
        already, has a closing tag too many.
        """
        if not self.orphan:
            return
        lead = TAGS.sub("", self.text[: self.found[0].start])
        if any(map(is_known, self.found[self.orphan :])) or (not self.thought and lead.strip(_GAPS + "`~")):
            del self.found[: self.orphan]

    def _note_around(self, end: int) -> None:
        """Take note of other text between the last document and this index."""
        between = self.text[self.last : end]
        if "```" in between or "~~~" in between:
            self.repairs[names.FENCE] = None
            between = FENCE.sub("", between)
        if between.strip(_GAPS + "`~"):
            self.prose = True

    def _open(self, token: re.Match[str]) -> int:
        """Read the document at this index; where to go on."""
        start = token.start()
        if start < self.inside:
            return token.end()
        self.count += 1
        document = self.first if self.first is not None and not start else read_one(self.text, start)
        if not document.finished or document.repairs:
            inside = first_inside(self.text, document, known_only=self.vain > _VAIN_CHARS)
            if inside > start and self.vain <= _VAIN_CHARS + len(self.text):
                self.vain += document.end - start
                self.inside = inside
                return token.end()
        prose = is_prose(document)
        if prose:
            if not self.lines.is_aside(start, document.end) and document.finished and not document.value:
                self.empty = document
        elif self._is_call(start, document.end):
            self._note_around(start)
            self.found.append(document)
        self.cut = self.cut or ((not prose or self._begins_call(start)) and says_cut(document))
        self.last = document.end
        return document.end

    def _begins_call(self, start: int) -> bool:
        """Whether what begins here, and is prose as far as it goes, may have been to be a call."""
        if not start:
            return True
        head = self.text[max(0, start - _LOOK_BACK) : start]
        return _LINE_START.search(head) is not None and _BEGUN.match(self.text, start) is not None

    def _string(self, token: re.Match[str]) -> int:
        """A text that holds JSON, in quotes on lines of its own or between tags."""
        start = token.end() - 1
        document = read_string(self.text, start)
        if not isinstance(document.value, str) or not ENDS_ALONE.match(self.text, document.end):
            return start + 1
        self._take(document, start, document.end)
        return document.end

    def _python(self, token: re.Match[str]) -> int:
        """A call in Python's form: its keyword arguments, up to the closing parenthesis."""
        start = token.end()
        if plain(token["keyword"]) not in KEYWORDS:
            return start
        self.count += 1
        document = read_one(self.text, start, inside=True)
        self._take(document, token.start(), document.end)
        return document.end

    def _take(self, document: Document, start: int, end: int) -> None:
        if self._is_call(start, end):
            self._note_around(start)
            self.found.append(document)
            self.cut = self.cut or not document.finished
        self.last = end

    def _is_call(self, start: int, end: int) -> bool:
        """Whether a call can stand here."""
        text = self.text
        aside = self.lines.is_aside(start, end)
        if start - self.last < _SHORT_GAP and not text[self.last : start].strip(_GAPS) and self.function is None:
            return not aside
        head = text[max(self.last, start - _LOOK_BACK) : start]
        if aside or EXAMPLE.search(head) or ANSWER.search(head):
            return False
        called = [found["name"] for found in CALLED.finditer(text, self.last, start)]
        return not is_other(called[-1] if called else self.function) and not is_quotation(text, start, end)

    def _function(self, token: re.Match[str]) -> int:
        if not is_named(self.text, token.start(), token.end(), False):
            self.function = token["function"]
            self.begun = token.start()
            self.last = token.end()
        return token.end()

    def _parameter(self, token: re.Match[str]) -> int:
        """A parameter of the call, in a tag that names it."""
        if is_named(self.text, token.start(), token.end(), False):
            return token.end()
        called = list(CALLED.finditer(self.text, self.last, token.start()))
        if called:
            self.function = called[-1]["name"]
        if not self.values and self.function is None:
            self.begun = token.start()
        return self._argument(token, token["parameter"] or token["argument"], VALUE_ENDS)

    def _argument(self, token: re.Match[str], name: str, closer: re.Pattern[str]) -> int:
        """One argument between tags, as text."""
        text, start = self.text, token.end()
        self.count += 1
        many = self.count > _VALUES
        found = closer.search(text, start) if many else closer_of(text, start, closer, known=KNOWN)
        value = text[start : found.start() if found else len(text)]
        self.values[name] = value.strip("\r\n") if found else Cut(value)
        self.cut = self.cut or found is None
        self.last = found.end() if found else len(text)
        return self.last

    def _own(self, token: re.Match[str]) -> int:
        """The tag of the call itself."""
        self.function, self.begun = token["own"], token.start()
        return token.end()

    def _field(self, token: re.Match[str]) -> int:
        """A field of the call, in a tag of its own name."""
        if self.function is None or not names_compress(self.function):
            return token.end()
        return self._argument(token, token["field"], FIELD_ENDS[token["field"]])

    def _end(self, token: re.Match[str]) -> int:
        self._close_function(token.start(), token.end())
        return token.end()

    def _close_function(self, start: int, end: int) -> None:
        """The call between tags ends: its arguments are a document."""
        if self.values and not is_other(self.function):
            values = dict(self.values)
            self.found.append(
                Document(
                    value=values,
                    start=self.begun,
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


_TAKES: Final[dict[str, Callable[[_Search, re.Match[str]], int]]] = {
    "tag": _Search._tag,
    "channel": _Search._channel,
    "comment": _Search._comment,
    "function": _Search._function,
    "parameter": _Search._parameter,
    "argument": _Search._parameter,
    "mark": _Search._mark,
    "own": _Search._own,
    "field": _Search._field,
    "python": _Search._python,
    "end": _Search._end,
    "string": _Search._string,
    "open": _Search._open,
}
