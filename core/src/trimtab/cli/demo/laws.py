"""The eight laws, checked on everything that happened in a run of the demo.

What a row must say is worked out by `trimtab.testing.independent`, which shares no code with what trims.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from attrs import field, frozen

from trimtab import Budget, Host, TrimtabError
from trimtab.cli.demo.agent import Outcome
from trimtab.cli.demo.evidence import CONVERSATION, POLICY, Evidence, sources_of
from trimtab.cli.demo.second import ask_second_process, digest
from trimtab.errors import UnknownBlob
from trimtab.testing.independent import at, difference, excerpt_of, prompt_text_of, rebuilt, refs_of, spelt
from trimtab.testing.laws import (
    LAWS,
    BrokenLaw,
    check_content_cannot_steer,
    check_settled,
    check_whole_on_failure,
)
from trimtab.types import AllowList, BlobStore, Json

__all__ = ["Checked", "check_laws"]

_SMALLER = Budget(limit=4_000, keep=3_000)


@frozen(kw_only=True)
class Checked:
    """What was checked of one law, in a sentence, and what breaks it: each fault names its output."""

    law: int
    said: str
    faults: list[str] = field(factory=list)

    @property
    def name(self) -> str:
        """The law's name."""
        return LAWS[self.law]


def check_laws(evidence: Evidence) -> Iterator[Checked]:
    """Check law after law."""
    for law, check in _CHECKS.items():
        faults: list[str] = []
        try:
            said = check(evidence, faults)
        except TrimtabError as error:
            said = "could not be checked"
            faults.append(f"{type(error).__name__}: {error}")
        yield Checked(law=law, said=said, faults=faults)


@contextmanager
def _of(one: Outcome, faults: list[str]) -> Iterator[Callable[[str], None]]:
    """Checks of one output: gives what notes a fault of it, and notes what is raised."""

    def note(what: str) -> None:
        faults.append(f"{one.tool} ({one.call_id}): {what}")

    try:
        yield note
    except BrokenLaw as broken:
        note(broken.what)
    except (TrimtabError, LookupError, TypeError, ValueError) as error:
        note(f"{type(error).__name__}: {error}")


def _frame_exact(evidence: Evidence, faults: list[str]) -> str:
    """Outside the moved texts a row is the output; in their place stand slices and markers; sources are the same."""
    host = evidence.host
    sources = 0
    for one in evidence.outcomes:
        with _of(one, faults) as note:
            row = one.trimmed.row
            there = sources_of(host, one.output)
            sources += len(there)
            for lane, value in (("row", row), ("prompt", one.trimmed.value)):
                if sources_of(host, value) != there:
                    note(f"ids, urls or titles of the {lane} are not those of the output")
            if differs := difference(rebuilt(row, host.store.get), one.output):
                note(f"the output is not its row with the texts put back: {differs}")
            for what in _wrong_excerpts(host, one):
                note(what)
    return f"{len(evidence.outcomes)} outputs; id, url and title of {sources} sources as the tools gave them"


def _wrong_excerpts(host: Host, one: Outcome) -> Iterator[str]:
    for ref in refs_of(one.trimmed.row):
        if ref.get("json") or ref.get("whole"):
            continue
        there = at(one.trimmed.value, ref["key"])
        there = there[slice(*ref["span"])] if "span" in ref else there
        text = host.store.get(ref["blobId"])
        if differs := difference(there, spelt(excerpt_of(text, ref["cuts"], POLICY.reader()), ref.get("esc"))):
            yield f"the excerpt at {ref['key']!r} is not slices and markers: {differs}"


def _one_primitive(evidence: Evidence, faults: list[str]) -> str:
    """What the database's row renders to is what the model was sent when the tool had just run."""
    for one in evidence.outcomes:
        with _of(one, faults) as note:
            if differs := difference(evidence.host.render(_row(one), owner=CONVERSATION), one.trimmed.value):
                note(f"the stored row renders to something else: {differs}")
            if prompt_text_of(one.trimmed.value) != one.trimmed.text:
                note("the text for the prompt is not the value for the prompt")
    return "each stored row renders to what the prompt held from the start"


def _same_bytes(evidence: Evidence, faults: list[str]) -> str:
    """Each request begins with the one before, and another process makes the same requests and rows."""
    for number, (before, now) in enumerate(zip(evidence.requests, evidence.requests[1:], strict=False), start=2):
        if now.shared < len(before.body) - len(b"]}"):
            faults.append(f"request {number} does not begin with request {number - 1}: byte {now.shared} differs")
    second = ask_second_process(evidence.folder)
    for number, request in enumerate(evidence.requests, start=1):
        if digest(request.body) != second.requests.get(number):
            faults.append(f"request {number}: another process renders other bytes")
    for one in evidence.outcomes:
        with _of(one, faults) as note:
            if digest(one.trimmed.row_text.encode("utf-8")) != second.rows.get(one.call_id):
                note("another process trims the output to another row")
    return f"another process (hash seed {second.seed}, locale C) makes the same bytes"


def _readable_back(evidence: Evidence, faults: list[str]) -> str:
    """Each row inflates to its output, and each omitted char is read page by page with the model's own tool."""
    host = evidence.host
    allow = host.allow_list([_row(one) for one in evidence.outcomes], owner=CONVERSATION)
    chars = pages = 0
    for one in evidence.outcomes:
        with _of(one, faults) as note:
            if differs := difference(host.inflate(_row(one), owner=CONVERSATION), one.output):
                note(f"the inflated row is not the output: {differs}")
            for ref in refs_of(one.trimmed.row):
                text = host.store.get(ref["blobId"])
                for first, last in ref.get("cuts", ()):
                    read = list(_read_pages(host, f"trimtab:{ref['blobId'][:16]}", first, last, allow))
                    chars, pages = chars + last - first + 1, pages + len(read)
                    if differs := difference("".join(read), text[first - 1 : last]):
                        note(f"chars {first}-{last} at {ref['key']!r} are not read back: {differs}")
    return f"every row inflates; {chars:,} omitted chars read back in {pages} pages"


def _read_pages(host: Host, uri: str, first: int, last: int, allow: AllowList) -> Iterator[str]:
    """The texts of the pages that a model gets which reads from one char to another."""
    here: int | None = first
    while here is not None and here <= last:
        page = host.run_read_tool(POLICY.read_tool, {"uri": uri, "char": here, "count": last - here + 1}, allow=allow)
        yield page.get("text", f"<{page.get('error')}>")
        here = page.get("next_char")


def _whole_on_failure(evidence: Evidence, faults: list[str]) -> str:
    """Over stores that fail at every call they may get, an output stays whole, also later."""
    hosts: list[Host] = []

    def over(store: BlobStore) -> Host:
        hosts.append(evidence.load(store=store, policy=POLICY))
        return hosts[-1]

    one = max(evidence.outcomes, key=lambda outcome: outcome.trimmed.sizes.before)
    with _of(one, faults):
        check_whole_on_failure(over, one.tool, one.output, POLICY.budget(one.tool))
    return f"{len(hosts)} failing stores: the output of {one.tool} stays whole, later too"


def _bounded(evidence: Evidence, faults: list[str]) -> str:
    """No result above its budget, no batch above its share."""
    batches: dict[int, int] = {}
    for one in evidence.outcomes:
        budget, size = POLICY.budget(one.tool), len(one.trimmed.text)
        most = budget.keep if one.trimmed.changed else budget.limit
        with _of(one, faults) as note:
            if size > most and not one.trimmed.over_budget:
                note(f"{size:,} chars in the prompt, {most:,} are allowed ({one.trimmed.error or 'no error told'})")
        if not POLICY.is_read_tool(one.tool):
            batches[one.batch] = batches.get(one.batch, 0) + size
    for message, size in batches.items():
        if size > (POLICY.batch or size):
            calls = ", ".join(f"{one.tool} ({one.call_id})" for one in evidence.outcomes if one.batch == message)
            faults.append(f"{calls}: together {size:,} chars in the prompt, {POLICY.batch:,} are allowed")
    return f"an output cut to {POLICY.keep:,} chars at most, those of a step to {POLICY.batch:,}"


def _settled(evidence: Evidence, faults: list[str]) -> str:
    """A rendering is shorter, is left alone by its own budget, and gives way to the original for a smaller one."""
    host = evidence.host
    changed = [one for one in evidence.outcomes if one.trimmed.changed]
    for one in changed:
        with _of(one, faults):
            used = host.explain(one.trimmed)
            budget = Budget(limit=used["budget"]["limit"], keep=used["budget"]["keep"])
            focus = used["focus"] or ""
            check_settled(host, one.tool, one.output, budget, smaller=[_SMALLER], focus=focus, owner=CONVERSATION)
    return f"{len(changed)} renderings trimmed again stay; to less: the original is cut"


def _content_cannot_steer(evidence: Evidence, faults: list[str]) -> str:
    """A page names a text of another conversation; the model falls for it; nothing opens."""
    handle = f"trimtab:{evidence.secret_id[:16]}"
    fooled = [one for one in evidence.outcomes if one.arguments.get("path") == handle]
    hostile = [one for one in evidence.outcomes if one.tool == "web_fetch" and handle in prompt_text_of(one.output)]
    if not fooled or not hostile:
        faults.append("the model was not led to the forged handle, so nothing was checked")
    for one in fooled:
        with _of(one, faults) as note:
            if one.output.get("error", {}).get("kind") != UnknownBlob.__name__:
                note("the text of another conversation was opened")
    for one in hostile:
        with _of(one, faults) as note:
            if not one.trimmed.changed:
                note("a page that shows a marker was not trimmed")
            budget = POLICY.budget(one.tool)
            check_content_cannot_steer(
                evidence.host, one.tool, one.output, budget, secret=evidence.secret, owner=CONVERSATION
            )
    plain = (line for line in evidence.secret.split("\n") if '"' not in line and "\\" not in line)
    longest = max(plain, key=len).encode("utf-8")
    for number, request in enumerate(evidence.requests, start=1):
        if longest in request.body:
            faults.append(f"request {number} holds text of another conversation")
    return "a page names another conversation's text, the model tries: refused"


def _row(one: Outcome) -> Json:
    """The row as the database gives it back."""
    return json.loads(one.trimmed.row_text)


_CHECKS: Final[Mapping[int, Callable[[Evidence, list[str]], str]]] = {
    1: _frame_exact,
    2: _one_primitive,
    3: _same_bytes,
    4: _readable_back,
    5: _whole_on_failure,
    6: _bounded,
    7: _settled,
    8: _content_cannot_steer,
}
