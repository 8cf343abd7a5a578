"""The `output` cases of public bug reports, each at a size at which it is trimmed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import evolve, frozen

from trimtab import ALL, Budget, Host, Policy, Trimmed, UnsupportedOutput
from trimtab._json import blob_id, canonical

# Cases of lists of many short items and of base64: their fault is not one of cutting text.
LATER = {"O-10", "O-11"}

LONG = 64  # no string shorter than this is made longer
LONG_INSIDE = re.compile(r'"((?:[^"\\]|\\.){64,})"')
MANY = 3  # no list shorter than this is made longer
MARKER = re.compile(r"<omitted chars (\d+)-(\d+) of (\d+)(?:; full text: ([\w.-]+) trimtab:([0-9a-f]{16}))?>")


@frozen(kw_only=True)
class Scaled:
    """A case at the smallest size at which the output is trimmed: one factor for its strings, lists and numbers."""

    tool: str
    output: Any
    budget: Budget
    factor: int
    expect: dict[str, Any]
    trimmed: Trimmed

    def at(self, threshold: int, keep: int) -> Budget:
        """Another budget of the case."""
        return Budget(limit=max(threshold, keep) * self.factor, keep=max(keep * self.factor, 512))


def longest(value: Any) -> int:
    """Chars of the longest string in a value."""
    if isinstance(value, str):
        return len(value)
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max(map(longest, children), default=0)


def stretched(value: Any, factor: int, least: int) -> Any:
    """The value with its long strings and its lists repeated `factor` times; JSON text stays JSON text."""
    if isinstance(value, str):
        if len(value) < least:
            return value
        if value[:1] in "{[" and is_json(value):
            return LONG_INSIDE.sub(lambda found: f'"{found[1] * factor}"', value)
        return value * factor
    if isinstance(value, list):
        return [stretched(item, factor, least) for item in value] * (factor if len(value) >= MANY else 1)
    if isinstance(value, dict):
        return {key: stretched(item, factor, least) for key, item in value.items()}
    return value


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def scaled(host: Host, case: dict[str, Any]) -> Scaled:
    """The case, scaled by the smallest factor at which something is trimmed (the least one where nothing may be)."""
    given, expect = case["input"], case["expect"]
    keep = given["head"] + given["tail"]
    least = max(LONG, longest(given["output"]) // 2)
    unchanged = "unchanged" in expect.get("properties", ())
    for factor in range(-(-512 // keep), 64):
        output = stretched(given["output"], factor, least)
        budget = Budget(limit=max(given["threshold"], keep) * factor, keep=keep * factor)
        trimmed = host.trim(given["tool"], output, budget=budget)
        if trimmed.changed or unchanged or longest(given["output"]) < LONG:
            break
    return Scaled(tool=given["tool"], output=output, budget=budget, factor=factor, expect=expect, trimmed=trimmed)


def strings(value: Any) -> Iterator[str]:
    """Every string of a value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from strings(child)


def shape(value: Any) -> Any:
    """Types, keys and their order; of a list, what its items are."""
    if isinstance(value, dict):
        return [(key, shape(child)) for key, child in value.items()]
    return [shape(child) for child in value] if isinstance(value, list) else type(value)


def markers(trimmed: Trimmed) -> list[re.Match[str]]:
    """Every marker of a rendering."""
    return [found for one in strings(trimmed.value) for found in MARKER.finditer(one)]


# What each property of a case means.


def utf8(host: Host, one: Scaled) -> None:
    """What is shown can be sent: no NUL, no lone surrogate."""
    assert "\x00" not in one.trimmed.text
    assert one.trimmed.text.encode("utf-8").decode("utf-8") == one.trimmed.text


def is_still_json(host: Host, one: Scaled) -> None:
    """JSON stays JSON, JSON text included, and its top-level type stays."""
    assert type(json.loads(one.trimmed.row_text)) is type(one.trimmed.row)
    assert type(one.trimmed.value) is type(one.output)
    if not isinstance(one.output, str):
        assert canonical(json.loads(one.trimmed.text)) == one.trimmed.text
    elif is_json(one.output):
        assert type(json.loads(one.trimmed.text)) is type(json.loads(one.output))


def roundtrip(host: Host, one: Scaled) -> None:
    """The row opens to the output."""
    back = host.inflate(json.loads(one.trimmed.row_text))
    assert canonical(back) == canonical(one.output)


def idempotent(host: Host, one: Scaled) -> None:
    """A rendering goes through again untouched."""
    again = host.trim(one.tool, one.trimmed.value, budget=one.budget)
    assert again.text == one.trimmed.text
    assert not again.changed


def deterministic(host: Host, one: Scaled) -> None:
    """Another host, given a copy, renders and stores the same bytes."""
    with Host.load(discover=False) as other:
        again = other.trim(one.tool, json.loads(canonical(one.output)), budget=one.budget)
    assert (again.text, again.row_text) == (one.trimmed.text, one.trimmed.row_text)


def bounded(host: Host, one: Scaled) -> None:
    """It fits into `keep`."""
    assert len(one.trimmed.text) <= one.budget.keep
    assert not one.trimmed.over_budget


def bounded_per_field(host: Host, one: Scaled) -> None:
    """No field is longer than `keep`."""
    assert all(len(text) <= one.budget.keep for text in strings(one.trimmed.value))


def progress(host: Host, one: Scaled) -> None:
    """By line or by char, each page has text, moves on and fits; together they are the omitted text."""
    for found in markers(one.trimmed):
        uri = f"trimtab:{found[5]}"
        for start in ("char", "line"):
            place, pages, arguments = 0, [], {"uri": uri, start: 1}
            while arguments:
                page = host.run_read_tool("fs_read", arguments, allow=ALL)
                assert page["text"]
                assert len(canonical(page)) <= host.policy.limit
                pages.append(page["text"])
                step = next((name for name in ("next_line", "next_char") if name in page), None)
                arguments = {"uri": uri, step.removeprefix("next_"): page[step]} if step else {}
                place, before = sum(map(len, pages)), place
                assert place > before
            assert len("".join(pages)) == int(found[3])


def error_kept(host: Host, one: Scaled) -> None:
    """What says that it is an error is there."""
    flags = {"isError", "is_error", "error", "status"} & set(one.output)
    assert {name: one.trimmed.value[name] for name in flags} == {name: one.output[name] for name in flags}


def schema_shape(host: Host, one: Scaled) -> None:
    """Types, keys and their order are the same."""
    assert shape(one.trimmed.value) == shape(one.output)


def readback_not_trimmed(host: Host, one: Scaled) -> None:
    """A page that was read back passes as the same object."""
    (found,) = markers(one.trimmed)
    page = host.run_read_tool("fs_read", {"uri": f"trimtab:{found[5]}"}, allow=ALL)
    again = host.trim("fs_read", page, budget=evolve(one.budget, limit=one.budget.keep))
    assert again.value is page
    assert not again.changed


def unchanged(host: Host, one: Scaled) -> None:
    """The same object is shown and stored."""
    assert one.trimmed.value is one.output
    assert one.trimmed.row is one.output


def marker_once(host: Host, one: Scaled) -> None:
    """There is one marker in all of it."""
    assert len(markers(one.trimmed)) == 1
    assert one.trimmed.text.count("<omitted ") == 1


PROPERTIES: dict[str, Callable[[Host, Scaled], None]] = {
    "json": is_still_json,
    **{
        check.__name__: check
        for check in (utf8, roundtrip, idempotent, deterministic, bounded, bounded_per_field, progress, error_kept)
    },
    **{check.__name__: check for check in (schema_shape, readback_not_trimmed, unchanged, marker_once)},
}


@pytest.fixture
def host() -> Iterator[Host]:
    """A host with no plugin of others."""
    with Host.load(discover=False) as loaded:
        yield loaded


@pytest.mark.cases("field-reports.jsonl", area="output")
def test_a_case_keeps_its_properties(host: Host, case: dict[str, Any]) -> None:
    """Each property that a case names holds for it; its `keep` strings stay verbatim, its `absent` ones are gone."""
    if case["id"] in LATER or "output" not in case["input"] or "properties" not in case["expect"]:
        pytest.skip("needs lists to be shortened, or is told in words: see the named tests")
    one = scaled(host, case)
    for name in case["expect"]["properties"]:
        PROPERTIES[name](host, one)
    seen = [one.trimmed.text, *strings(one.trimmed.value)]
    assert [text for text in case["expect"].get("keep", ()) if not any(text in shown for shown in seen)] == []
    assert [text for text in case["expect"].get("absent", ()) if any(text in shown for shown in seen)] == []
    for found in markers(one.trimmed):
        assert int(found[1]) <= int(found[2]) <= int(found[3])
        assert found[4] == "fs_read"


@pytest.mark.cases("field-reports.jsonl", id="O-12")
def test_a_second_pass_names_the_original(host: Host, case: dict[str, Any]) -> None:
    """A rendering that goes through a smaller budget is trimmed from the original: one marker, its blob and length."""
    second = case["expect"]["second_pass"]
    one = scaled(host, case)
    smaller = one.at(second["threshold"], second["head"] + second["tail"])
    again = host.trim(one.tool, one.trimmed.value, budget=smaller)
    assert again.text == host.trim(one.tool, one.output, budget=smaller).text
    assert again.changed
    (found,) = markers(again)
    assert (int(found[3]), found[5]) == (len(one.output), blob_id(one.output)[:16])


@pytest.mark.cases("field-reports.jsonl", id="O-37")
def test_bytes_in_place_of_text_are_refused_or_passed_whole(case: dict[str, Any]) -> None:
    """Bytes are not JSON: an error that names the place, or (where the policy says so) the same object back."""
    raw = bytes.fromhex(case["input"]["output"]["bytes_hex"])
    with Host.load(discover=False) as strict, pytest.raises(UnsupportedOutput) as caught:
        strict.trim(case["input"]["tool"], raw)
    assert caught.value.path == "$"
    with Host.load(policy=Policy(unsupported="whole"), discover=False) as lenient:
        assert lenient.trim(case["input"]["tool"], raw).value is raw
