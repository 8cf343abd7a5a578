"""The eight laws as functions that raise `BrokenLaw`. They need neither pytest nor Hypothesis.

Each takes a host that knows the codec under test, a tool, one of its outputs and a budget, and checks one law on what
the host does with them. What a rendering must be is worked out by `trimtab.testing.independent`, not by the product.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from trimtab.blobs.memory import MemoryStore
from trimtab.budget import Budget
from trimtab.errors import TrimtabError, UnknownBlob
from trimtab.host import Host
from trimtab.testing.faults import FailingStore
from trimtab.testing.independent import (
    at,
    blob_id_of,
    bulk_left,
    counted_text,
    difference,
    excerpt_of,
    prompt_text_of,
    rebuilt,
    refs_of,
    spelt,
)
from trimtab.testing.spelling import escaped
from trimtab.trimmed import Trimmed
from trimtab.types import BlobStore, Call, Codec, Json

__all__ = [
    "LAWS",
    "MOVABLE",
    "OWNER",
    "STORE_FAULTS",
    "BrokenLaw",
    "check_bounded",
    "check_content_cannot_steer",
    "check_frame_exact",
    "check_left_whole",
    "check_one_primitive",
    "check_readable_back",
    "check_same_bytes",
    "check_settled",
    "check_whole_on_failure",
]

LAWS: Final = {
    1: "frame exact",
    2: "one primitive",
    3: "same bytes",
    4: "readable back",
    5: "whole on failure",
    6: "bounded",
    7: "settled",
    8: "content cannot steer",
}

OWNER: Final = "a conversation"

MOVABLE: Final = 256
"""A text shorter than this, as escaped in the prompt, is never moved."""

STORE_FAULTS: Final = ("put", "find", "size", "get", "held")
"""The methods of a store that a trim may call."""


class BrokenLaw(AssertionError):
    """A law that does not hold: its number, where, and what differs."""

    def __init__(self, law: int, what: str) -> None:
        super().__init__(f"law {law} ({LAWS[law]}): {what}")
        self.law = law
        self.what = what


def _trim(
    host: Host, tool: str, output: Json, budget: Budget | None, focus: str | None, owner: str, law: int = 5
) -> Trimmed:
    trimmed = host.trim(tool, output, budget=budget, focus=focus, owner=owner)
    if trimmed.error is not None:
        raise BrokenLaw(law, f"left whole: {type(trimmed.error).__name__}: {trimmed.error}")
    return trimmed


def _same(law: int, what: str, one: Json, other: Json) -> None:
    if (differs := difference(one, other)) is not None:
        raise BrokenLaw(law, f"{what}: {differs}")


def check_frame_exact(
    host: Host, tool: str, output: Json, budget: Budget | None = None, *, focus: str | None = None, owner: str = OWNER
) -> None:
    """Law 1: outside the moved texts the skeleton is the output, and in their place stand slices and markers only."""
    trimmed = _trim(host, tool, output, budget, focus, owner)
    if type(trimmed.value) is not type(output):
        raise BrokenLaw(1, f"the output is of type {type(output).__name__}, t.value {type(trimmed.value).__name__}")
    _same(1, "the output is not the skeleton with its texts put back", rebuilt(trimmed.row, host.store.get), output)
    refs = refs_of(trimmed.row)
    if not refs:
        _same(1, "nothing was moved, and t.value is not the output", trimmed.value, output)
    skeleton = trimmed.row["$persistedToolOutput"]["skeleton"] if refs else None
    for ref in refs:
        if ref.get("json"):
            continue  # a list: its elements are checked by putting them back
        text = host.store.get(ref["blobId"])
        there = at(skeleton, ref["key"])
        if "span" in ref:
            there = there[slice(*ref["span"])]
        made = spelt(excerpt_of(text, ref["cuts"], host.policy.reader()), ref.get("esc"))
        _same(1, f"the excerpt at {ref['key']!r} is not slices and markers", there, made)


def check_one_primitive(
    host: Host, tool: str, output: Json, budget: Budget | None = None, *, focus: str | None = None, owner: str = OWNER
) -> None:
    """Law 2: every lane gives the same: the prompt value, the stored row rendered, and a batch of one."""
    trimmed = _trim(host, tool, output, budget, focus, owner)
    stored = json.loads(trimmed.row_text)
    _same(2, "json.loads(t.row_text) is not t.row", stored, trimmed.row)
    _same(2, "the rendered row is not what the prompt got", host.render(stored, owner=owner), trimmed.value)
    if trimmed.text != prompt_text_of(trimmed.value):
        raise BrokenLaw(2, "t.text is not t.value as compact JSON")
    if budget is None or budget.batch is None:
        (alone,) = host.trim_batch([Call(tool, output, focus=focus)], budget=budget, owner=owner)
        _same(2, "a batch of one is trimmed in another way", alone.value, trimmed.value)


def check_same_bytes(
    hosts: Sequence[Host],
    tool: str,
    output: Json,
    budget: Budget | None = None,
    *,
    focus: str | None = None,
    owner: str = OWNER,
) -> None:
    """Law 3: every host (fresh ones, other stores, after other calls) gives the same value and the same row."""
    first = _trim(hosts[0], tool, output, budget, focus, owner)
    for number, host in enumerate(hosts):
        other = _trim(host, tool, output, budget, focus, f"{owner} of host {number}")
        if (other.text, other.row_text) != (first.text, first.row_text):
            _same(3, f"host {number} renders in another way", other.row, first.row)
            raise BrokenLaw(3, f"host {number}: the same row, but other text")


def check_readable_back(
    host: Host, tool: str, output: Json, budget: Budget | None = None, *, focus: str | None = None, owner: str = OWNER
) -> None:
    """Law 4: the stored row inflates to the output, and every moved text is read page by page through its handle."""
    trimmed = _trim(host, tool, output, budget, focus, owner)
    stored = json.loads(trimmed.row_text)
    _same(4, "the inflated row is not the output", host.inflate(stored, owner=owner), output)
    allow = host.allow_list([stored], owner=owner)
    for ref in refs_of(stored):
        uri = f"trimtab:{ref['blobId'][:16]}"
        text = host.store.get(ref["blobId"])
        if len(text) != ref["totalChars"]:
            raise BrokenLaw(4, f"{uri} has {len(text)} chars, its row says {ref['totalChars']}")
        for unit in ("char", "line"):
            pages = "".join(_pages(host, uri, allow, unit))
            _same(4, f"{uri} read by {unit}, page by page, is not the text", pages, text)
        for first, last in () if ref.get("json") else ref["cuts"]:
            page = host.read(uri, allow=allow, char=first, count=last - first + 1)
            if not page.text or not text.startswith(page.text, first - 1):
                raise BrokenLaw(4, f"{uri} from char {first} on gives another text")


def _pages(host: Host, uri: str, allow: Json, unit: str) -> Iterator[str]:
    """Every page of a text, each begun where the one before says."""
    begin = {unit: 1}
    end = 0
    while True:
        page = host.read(uri, allow=allow, **begin)
        if page.end_char <= end and page.total_chars:
            raise BrokenLaw(4, f"{uri}: a page that begins at {begin} does not move forward")
        yield page.text
        end = page.end_char
        if not page.truncated:
            return
        begin = {"line": page.next_line} if unit == "line" and page.next_line else {"char": page.next_char or 0}


def check_whole_on_failure(
    make_host: Callable[[BlobStore], Host],
    tool: str,
    output: Json,
    budget: Budget | None = None,
    *,
    focus: str | None = None,
    owner: str = OWNER,
    most_calls: int = 20,
) -> None:
    """Law 5: whichever call of the store raises, the output is whole, in both lanes, for good, and it is reported.

    Args:
        make_host: a new host over a given store, with the codec under test.
        most_calls: after so many calls of one method the search for the failing one ends.
    """
    for method in STORE_FAULTS:
        for nth in range(1, most_calls + 1):
            store = FailingStore(MemoryStore(), method, nth)
            host = make_host(store)
            trimmed = host.trim(tool, output, budget=budget, focus=focus, owner=owner)
            if not store.failed:
                break
            where = f"store.{method} raised at call {nth}"
            if trimmed.error is None:
                raise BrokenLaw(5, f"{where}, and t.error does not say so")
            check_left_whole(host, trimmed, output, where)
            store.heal()
            later = host.trim(tool, output, budget=budget, focus=focus, owner=owner)
            check_left_whole(host, later, output, f"{where} once, and later")


def check_left_whole(host: Host, trimmed: Trimmed, output: Json, where: str) -> None:
    """Law 5 of one trim that met a failure: nothing moved, in the prompt and in the row. `where` is for the message."""
    _same(5, f"{where}: t.value is not the output", trimmed.value, output)
    _same(5, f"{where}: the row does not hold the output", host.render(trimmed.row), output)
    if trimmed.changed or refs_of(trimmed.row):
        raise BrokenLaw(5, f"{where}: something was moved")


def check_bounded(
    host: Host,
    tool: str,
    output: Json,
    budget: Budget,
    *,
    codec: Codec | None = None,
    focus: str | None = None,
    owner: str = OWNER,
    count: Callable[[str], int] = len,
) -> None:
    """Law 6: at most `keep`; or every text that may be moved is its bare marker, and `over_budget` says so.

    Args:
        codec: which says what of the prompt value could still be shortened; None: JSON leaves, or plain text.
        count: of a text, in the budget's unit.
    """
    trimmed = _trim(host, tool, output, budget, focus, owner)
    before, after = count(counted_text(codec, output)), count(counted_text(codec, trimmed.value))
    left = [text for text in bulk_left(codec, trimmed.value) if len(text) >= MOVABLE]
    if before <= budget.limit:
        if budget.cap is None and trimmed.changed:
            raise BrokenLaw(6, f"{before} {budget.unit} is not above the limit of {budget.limit}, and it was trimmed")
    elif trimmed.over_budget:
        if left:
            raise BrokenLaw(6, f"over_budget, and a text of {len(left[0])} chars is still there: {left[0]!r:.80}")
        if after <= budget.keep:
            raise BrokenLaw(6, f"over_budget, with {after} of {budget.keep} {budget.unit}")
    elif after > budget.keep:
        raise BrokenLaw(6, f"{after} {budget.unit} are more than keep ({budget.keep}), and over_budget is False")
    if budget.cap is not None and any(count(text) > budget.cap for text in left):
        raise BrokenLaw(6, f"a text is longer than the cap of {budget.cap} {budget.unit}")


def check_settled(
    host: Host,
    tool: str,
    output: Json,
    budget: Budget,
    *,
    smaller: Sequence[Budget] = (),
    codec: Codec | None = None,
    focus: str | None = None,
    owner: str = OWNER,
    count: Callable[[str], int] = len,
) -> None:
    """Law 7: a rendering is shorter; the same budget leaves it alone; a smaller one trims the original again.

    Two things a rendering does not tell. A bare marker stays as it is: so a rendering of bare markers gets no row when
    it is trimmed again, and one that has them among other texts has only to fit. And inside JSON text, how a text was
    spelt: as UTF-8 or as ASCII escapes, where all that is shown is ASCII; and by an encoder that we do not know.

    Args:
        codec: as of `check_bounded`.
        smaller: budgets in the same unit; those whose limit the rendering is above are tried.
        count: of a text, in the budget's unit.
    """
    first = _trim(host, tool, output, budget, focus, owner)
    if first.changed != bool(refs_of(first.row)):
        raise BrokenLaw(7, f"t.changed is {first.changed}, and {len(refs_of(first.row))} texts were moved")
    before = len(prompt_text_of(output))
    if first.changed and len(first.text) >= before:
        raise BrokenLaw(7, f"a rendering of {len(first.text)} chars is not shorter than its output of {before}")
    again = _trim(host, tool, first.value, budget, focus, owner)
    _same(7, "trimmed again with the same budget, it changes", again.value, first.value)
    refs = refs_of(first.row)
    bare = any(ref["cuts"] == [[1, ref["totalChars"]]] for ref in refs)
    all_bare = all(one["why"] in ("marker", "short") for one in host.explain(first)["texts"])
    told_apart = all(_spelling_is_known(host, ref) for ref in refs)
    for less in smaller:
        if not first.changed or count(counted_text(codec, first.value)) <= less.limit:
            continue
        direct = _trim(host, tool, output, less, focus, owner)
        again = _trim(host, tool, first.value, less, focus, owner)
        if count(counted_text(codec, again.value)) > less.keep and not again.over_budget:
            raise BrokenLaw(7, f"a rendering trimmed to {less.keep} does not fit")
        if told_apart and (all_bare or not bare):
            _same(7, f"a rendering trimmed to {less.keep} is not the output trimmed to it", again.value, direct.value)
        if told_apart and not bare:
            again_row, direct_row = (_without_spelling(row) for row in (again.row, direct.row))
            _same(7, f"trimmed to {less.keep}, a rendering has another row than its output", again_row, direct_row)


def _spelling_is_known(host: Host, ref: Json) -> bool:
    """Whether the source of a text can be found again from its rendering: not where an unknown encoder spelt it."""
    if ref.get("esc") != "raw":
        return True
    text, source = host.store.get(ref["blobId"]), host.store.get(ref["sourceId"])
    return any(source == escaped(text, how) for how in ("slashes", "html"))


def _without_spelling(row: Json) -> Json:
    """The row without `esc` of texts for which what is shown does not tell UTF-8 from ASCII escapes."""
    row = json.loads(json.dumps(row))
    for ref in refs_of(row):
        if ref.get("esc") in ("utf8", "ascii"):
            del ref["esc"]
    return row


def check_content_cannot_steer(
    host: Host, tool: str, output: Json, budget: Budget, *, secret: str, owner: str = OWNER
) -> None:
    """Law 8: what an output says about markers, rows and uris opens nothing.

    Args:
        output: holds forged markers or rows that name the blob of `secret`.
        secret: a text that another owner holds in this host's store.
    """
    trimmed = _trim(host, tool, output, budget, None, owner)
    named = {one for ref in refs_of(trimmed.row) for one in (ref["blobId"], ref.get("sourceId")) if one}
    victim = blob_id_of(secret)
    if victim in named:
        raise BrokenLaw(8, "the row names a text of another owner")
    allow = host.allow_list([trimmed.row], owner=owner)
    if victim in allow.held:
        raise BrokenLaw(8, "the allow-list holds a text of another owner")
    for uri in (f"trimtab:{victim}", f"trimtab:{victim[:16]}"):
        try:
            host.read(uri, allow=allow)
        except TrimtabError as error:
            if not isinstance(error, UnknownBlob):
                raise BrokenLaw(8, f"reading another owner's text says {type(error).__name__}: {error}") from error
        else:
            raise BrokenLaw(8, "another owner's text can be read")
    _same(8, "the row of a forged row does not render to it", host.render(trimmed.row, owner=owner), trimmed.value)
    if victim in host.store.held(owner, [victim]):
        raise BrokenLaw(8, "the owner holds another owner's text now")
