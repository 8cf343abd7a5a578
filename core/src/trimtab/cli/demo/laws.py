"""The eight laws, checked on everything that happened in a run of the demo.

What a row must say is worked out by `trimtab.testing.independent`, which shares no code with what trims.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from attrs import field, frozen

from trimtab import Budget, TrimtabError
from trimtab.cli.demo.agent import Outcome
from trimtab.cli.demo.evidence import CONVERSATION, POLICY, Evidence, budget_of, sources_of
from trimtab.cli.demo.second import ask_second_process, digest
from trimtab.testing.independent import at, difference, excerpt_of, prompt_text_of, rebuilt, refs_of, spelt
from trimtab.testing.laws import (
    LAWS,
    BrokenLaw,
    check_content_cannot_steer,
    check_settled,
    check_whole_on_failure,
)
from trimtab.types import AllowList, Json

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
        except (TrimtabError, BrokenLaw) as error:
            said = "could not be checked"
            faults.append(f"{type(error).__name__}: {error}")
        yield Checked(law=law, said=said, faults=faults)


def _name(outcome: Outcome) -> str:
    return f"{outcome.tool} ({outcome.call_id})"


def _frame_exact(evidence: Evidence, faults: list[str]) -> str:
    """Outside the moved texts a row is the output; in their place stand slices and markers; sources are the same."""
    host = evidence.host
    sources = 0
    for one in evidence.outcomes:
        row = one.trimmed.row
        if differs := difference(rebuilt(row, host.store.get), one.output):
            faults.append(f"{_name(one)}: the output is not its row with the texts put back: {differs}")
        faults += [f"{_name(one)}: {what}" for what in _wrong_excerpts(evidence, one)]
        there = sources_of(host, one.output)
        sources += len(there)
        for lane, value in (("row", row), ("prompt", one.trimmed.value)):
            if sources_of(host, value) != there:
                faults.append(f"{_name(one)}: ids, urls or titles of the {lane} are not those of the output")
    return f"{len(evidence.outcomes)} outputs; id, url and title of {sources} sources as the tools gave them"


def _wrong_excerpts(evidence: Evidence, one: Outcome) -> Iterator[str]:
    for ref in refs_of(one.trimmed.row):
        if ref.get("json") or ref.get("whole"):
            continue
        there = at(one.trimmed.value, ref["key"])
        there = there[slice(*ref["span"])] if "span" in ref else there
        text = evidence.host.store.get(ref["blobId"])
        made = spelt(excerpt_of(text, ref["cuts"], evidence.host.policy.reader()), ref.get("esc"))
        if differs := difference(there, made):
            yield f"the excerpt at {ref['key']!r} is not slices and markers: {differs}"


def _one_primitive(evidence: Evidence, faults: list[str]) -> str:
    """What the database's row renders to is what the model was sent when the tool had just run."""
    for one in evidence.outcomes:
        if differs := difference(evidence.host.render(_row(one), owner=CONVERSATION), one.trimmed.value):
            faults.append(f"{_name(one)}: the stored row renders to something else: {differs}")
        if prompt_text_of(one.trimmed.value) != one.trimmed.text:
            faults.append(f"{_name(one)}: the text for the prompt is not the value for the prompt")
    return "each row of the database renders to what the prompt held when the tool had just run"


def _same_bytes(evidence: Evidence, faults: list[str]) -> str:
    """Each request begins with the one before, and another process makes the same requests and rows."""
    for number, (before, now) in enumerate(zip(evidence.requests, evidence.requests[1:], strict=False), start=2):
        if now.shared < len(before.body) - len(b"]}"):
            faults.append(f"request {number} does not begin with request {number - 1}: byte {now.shared} differs")
    second = ask_second_process(evidence.folder)
    for number, one in enumerate(evidence.requests, start=1):
        if digest(one.body) != second.requests.get(number):
            faults.append(f"request {number}: another process renders other bytes")
    for outcome in evidence.outcomes:
        if digest(outcome.trimmed.row_text.encode("utf-8")) != second.rows.get(outcome.call_id):
            faults.append(f"{_name(outcome)}: another process trims the output to another row")
    return f"a second process (hash seed {second.seed}, locale C) made {len(second.requests)} requests, byte for byte"


def _readable_back(evidence: Evidence, faults: list[str]) -> str:
    """Each row inflates to its output, and each omitted char is read page by page with the model's own tool."""
    host = evidence.host
    allow = host.allow_list(evidence.rows(), owner=CONVERSATION)
    chars = pages = 0
    for one in evidence.outcomes:
        if differs := difference(host.inflate(_row(one), owner=CONVERSATION), one.output):
            faults.append(f"{_name(one)}: the inflated row is not the output: {differs}")
        for ref in refs_of(one.trimmed.row):
            text = host.store.get(ref["blobId"])
            for first, last in ref.get("cuts", ()):
                read = list(_read_pages(evidence, f"trimtab:{ref['blobId'][:16]}", first, last, allow))
                chars, pages = chars + last - first + 1, pages + len(read)
                if differs := difference("".join(read), text[first - 1 : last]):
                    faults.append(f"{_name(one)}: chars {first}-{last} at {ref['key']!r} are not read back: {differs}")
    return f"all rows inflate to their outputs; {chars:,} omitted chars read through {POLICY.read_tool}, {pages} pages"


def _read_pages(evidence: Evidence, uri: str, first: int, last: int, allow: AllowList) -> Iterator[str]:
    """The texts of the pages that a model gets which reads from one char to another."""
    at_char: int | None = first
    while at_char is not None and at_char <= last:
        wanted = {"uri": uri, "char": at_char, "count": last - at_char + 1}
        page = evidence.host.run_read_tool(POLICY.read_tool, wanted, allow=allow)
        yield page.get("text", f"<{page.get('error')}>")
        at_char = page.get("next_char")


def _whole_on_failure(evidence: Evidence, faults: list[str]) -> str:
    """Over stores that fail at every call they may get, an output stays whole, also later."""
    one = max(evidence.outcomes, key=lambda outcome: outcome.trimmed.sizes.before)
    hosts = []

    def over(store: object) -> object:
        hosts.append(evidence.load(store=store, policy=POLICY))
        return hosts[-1]

    try:
        check_whole_on_failure(over, one.tool, one.output, budget_of(evidence.host, one))  # type: ignore[arg-type]
    except BrokenLaw as broken:
        faults.append(f"{_name(one)}: {broken.what}")
    return f"{len(hosts)} hosts whose stores fail: {one.tool} stays whole, and is not trimmed later either"


def _bounded(evidence: Evidence, faults: list[str]) -> str:
    """No result above its budget, no batch above its share."""
    batches: dict[int, int] = {}
    for one in evidence.outcomes:
        budget, size = budget_of(evidence.host, one), len(one.trimmed.text)
        most = budget.keep if one.trimmed.changed else budget.limit
        if size > most and not one.trimmed.over_budget:
            faults.append(f"{_name(one)}: {size:,} chars in the prompt, {most:,} are allowed")
        if not POLICY.is_read_tool(one.tool):
            batches[one.batch] = batches.get(one.batch, 0) + size
    for message, size in batches.items():
        if size > (POLICY.batch or size):
            calls = ", ".join(_name(one) for one in evidence.outcomes if one.batch == message)
            faults.append(f"{calls}: together {size:,} chars in the prompt, {POLICY.batch:,} are allowed")
    return f"at most {POLICY.keep:,} chars of an output, {POLICY.batch:,} of what answers one message"


def _settled(evidence: Evidence, faults: list[str]) -> str:
    """A rendering is shorter, is left alone by its own budget, and gives way to the original for a smaller one."""
    changed = [one for one in evidence.outcomes if one.trimmed.changed]
    for one in changed:
        focus = evidence.host.explain(one.trimmed)["focus"] or ""
        used = budget_of(evidence.host, one)
        try:
            check_settled(
                evidence.host, one.tool, one.output, used, smaller=[_SMALLER], focus=focus, owner=CONVERSATION
            )
        except BrokenLaw as broken:
            faults.append(f"{_name(one)}: {broken.what}")
    return f"{len(changed)} renderings trimmed again: unchanged; trimmed to less: the original is cut, not they"


def _content_cannot_steer(evidence: Evidence, faults: list[str]) -> str:
    """A page names a text of another conversation; the model falls for it; nothing opens."""
    handle = f"trimtab:{evidence.secret_id[:16]}"
    fooled = [one for one in evidence.outcomes if one.arguments.get("uri") == handle]
    hostile = [one for one in evidence.outcomes if one.tool == "web_fetch" and handle in prompt_text_of(one.output)]
    if not fooled or not hostile:
        faults.append("the model was not led to the forged handle, so nothing was checked")
    for one in fooled:
        if not isinstance(one.output, dict) or one.output.get("error", {}).get("kind") != "UnknownBlob":
            faults.append(f"{_name(one)}: the text of another conversation was opened")
    for one in hostile:
        if not one.trimmed.changed:
            faults.append(f"{_name(one)}: a page that shows a marker was not trimmed")
        try:
            budget = budget_of(evidence.host, one)
            check_content_cannot_steer(
                evidence.host, one.tool, one.output, budget, secret=evidence.secret, owner=CONVERSATION
            )
        except BrokenLaw as broken:
            faults.append(f"{_name(one)}: {broken.what}")
    middle = evidence.secret[len(evidence.secret) // 2 :][:200]
    if any(json.dumps(middle, ensure_ascii=False)[1:-1].encode("utf-8") in one.body for one in evidence.requests):
        faults.append("a request holds text of another conversation")
    return "a page forged a marker with a real handle of another conversation's; the model tried it; nothing opened"


def _row(outcome: Outcome) -> Json:
    return json.loads(outcome.trimmed.row_text)


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
