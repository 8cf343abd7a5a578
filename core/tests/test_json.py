"""Canonical JSON, the door for outputs, and JSON text as a source: compared with Python's own `json`."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab._json import MAX_DEPTH, blob_id, canonical, check, decode, escape, utf8
from trimtab.codecs.jsontext import elements, scan
from trimtab.errors import UnsupportedOutput
from trimtab.pointer import resolve
from trimtab.testing.independent import blob_id_of, difference, prompt_text_of, spelt
from trimtab.testing.strategies import json_texts, json_values, scalars, texts
from trimtab.types import Json

quick = settings(
    max_examples=120, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def nested(levels: int, inner: Json = 0) -> Json:
    """A list in a list in a list."""
    for _ in range(levels):
        inner = [inner]
    return inner


class Word(str):
    """A string of somebody's own."""

    __slots__ = ()


class Number(IntEnum):
    """An int of somebody's own."""

    ONE = 1


@quick
@given(json_values())
def test_canonical_is_what_json_dumps_writes(value: Json) -> None:
    """Compact, insertion order, non-ASCII as itself; a lone surrogate as its escape."""
    assert canonical([value]) == prompt_text_of([value])
    canonical(value).encode()


@quick
@given(json_values())
def test_canonical_text_reads_back_as_the_value(value: Json) -> None:
    """`json.loads` and our own decoder give the value again, numbers of every size included."""
    assert difference(json.loads(canonical(value)), value) is None
    assert difference(decode(canonical(value)), value) is None


@quick
@given(scalars())
def test_canonical_scalars(value: Json) -> None:
    """The same for scalars alone, of which odd ones are many."""
    assert canonical([value]) == prompt_text_of([value])
    assert difference(json.loads(canonical([value])), [value]) is None


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        1e15,
        1e16,
        1e17,
        123456789012345680.0,
        1e-4,
        9.999e-5,
        1e-5,
        5e-324,
        1.7976931348623157e308,
        -0.0,
        100.0,
        2**53 + 1,
        2**64,
        -(2**63) - 1,
        10**4299,
        True,
        OrderedDict(b=1, a=2),
        {Word("key"): Word("value")},
        [Number.ONE],
        "\x7f\x80\u2028\u2029\ufeff",
        "\U0010ffff",
        nested(MAX_DEPTH),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_numbers_and_subclasses(value: Json) -> None:
    """What encoders spell in different ways is spelt as Python's `json` does."""
    assert canonical(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cycle() -> Json:
    """A list that holds itself."""
    value: list[Json] = [1]
    value.append({"again": value})
    return value


@pytest.mark.parametrize(
    ("make", "path", "says"),
    [
        (lambda: [0, 1, 2, {"content": b"x"}], "$[3].content", "bytes"),
        (lambda: {"a": [float("nan")]}, "$.a[0]", "nan"),
        (lambda: {"a": float("-inf")}, "$.a", "-inf"),
        (cycle, "$[1].again", "contains itself"),
        (lambda: {"a": {1: "x"}}, "$.a[1]", "key of type int"),
        (lambda: {None: 1}, "$[None]", "key of type NoneType"),
        (lambda: {"a b": object()}, "$['a b']", "object"),
        (lambda: [(1, 2)], "$[0]", "tuple"),
        (lambda: {"s": {1, 2}}, "$.s", "set"),
        (lambda: 1j, "$", "complex"),
        (lambda: {"n": 10**4300}, "$.n", "4,300 digits"),
        (lambda: ["ok", "\ud83d\ude00"], "$[1]", "surrogate pair"),
        (lambda: {"\ud83d\ude00": 1}, "$['\\ud83d\\ude00']", "surrogate pair"),
        (lambda: nested(MAX_DEPTH + 1), "", "deeper than"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_json_is_refused_with_its_place(make: Callable[[], Json], path: str, says: str) -> None:
    """The error names the path, says what stands there and what to do."""
    with pytest.raises(UnsupportedOutput) as caught:
        canonical(make())
    assert path in (caught.value.path, "")
    assert says in str(caught.value)
    assert f"@ {caught.value.path}" in str(caught.value)
    assert caught.value.fix in str(caught.value)


def test_an_error_quotes_no_document() -> None:
    """However large the output and its keys, the message stays short."""
    with pytest.raises(UnsupportedOutput) as caught:
        canonical({"k" * 100_000: {"x" * 100_000 + "!": [b"y" * 1_000_000]}})
    assert len(str(caught.value)) < 1_000


@quick
@given(json_values())
def test_the_door_lets_json_in(value: Json) -> None:
    """`check` refuses no JSON value, and its sum is no more than the canonical length."""
    assert check(value)[0] <= len(canonical(value))


@quick
@given(texts())
def test_spellings(text: str) -> None:
    """Both spellings are those of Python's `json`, and both read back."""
    assert escape(text, "utf8") == spelt(text, "utf8")
    assert escape(text, "ascii") == json.dumps(text)[1:-1]
    for how in ("utf8", "ascii"):
        assert json.loads(f'"{escape(text, how)}"') == text


@quick
@given(texts() | st.text(st.characters(exclude_categories=()), max_size=50))
def test_ids(text: str) -> None:
    """A blob id is the first 32 hex digits of the SHA-256 of the UTF-8, whatever the text holds."""
    assert blob_id(text) == blob_id_of(text)
    assert utf8(text).decode("utf-8", "surrogatepass") == text


def test_the_id_of_a_long_text() -> None:
    """A text that is hashed in blocks has the id that it has as a whole."""
    for text in ("é" * 700_000, "ab\ud800" * 300_000, "x" * (1 << 18), "x" * ((1 << 18) + 1)):
        assert blob_id(text) == blob_id_of(text)


# JSON text as a source.

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def loaded(text: str) -> tuple[bool, Json]:
    """Whether Python's `json` reads the text as an array or object, and the value."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False, None
    return isinstance(value, dict | list), value


def check_scan(text: str) -> None:
    """`scan` reads exactly what `json.loads` reads, and knows where every long string stands."""
    good, value = loaded(text)
    source = scan(text)
    assert (source is not None) == good, text[:300]
    if source is None:
        return
    assert difference(source.value, value) is None
    spans = {(one.start, one.end) for one in source.strings}
    values = {
        found.span(1) for found in _STRING.finditer(text) if len(found[1]) >= 256 and not is_key(text, found.end())
    }
    assert values <= spans
    assert not any(is_key(text, end + 1) for _, end in spans)
    hidden = {id(one) for one in source.shadowed()}
    for one in source.strings:
        assert text[one.start - 1] == text[one.end] == '"'
        assert json.loads(text[one.start - 1 : one.end + 1]) == one.text
        if id(one) not in hidden:
            assert resolve(source.value, one.path) == one.text
            assert source.at(one.path) == one


def is_key(text: str, end: int) -> bool:
    """Whether the string that ends here is followed by a colon."""
    return text[end:].lstrip(" \t\r\n").startswith(":")


@quick
@given(json_texts())
def test_scan_reads_what_json_reads(text: str) -> None:
    """Odd escapes, number spellings, repeated keys, indentation, BOM: the same value, every long string located."""
    check_scan(text)


@quick
@given(json_texts(json_values(longest=300, deepest=3)), st.data())
def test_scan_refuses_what_json_refuses(text: str, data: st.DataObject) -> None:
    """One character changed, added or taken away: both read it still, or neither."""
    at = data.draw(st.integers(0, max(len(text) - 1, 0)))
    new = data.draw(
        st.sampled_from(['"', "\\", ",", ":", "{", "}", "[", "]", "0", "-", ".", "e", " ", "\n", "\x00", "u", ""])
    )
    over = data.draw(st.integers(0, 1))
    check_scan(text[:at] + new + text[at + over :])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "[",
        "]",
        "{",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1]x",
        "[1] []",
        '{"a":1,}',
        '{"a" 1}',
        '{"a":}',
        "{a:1}",
        "{'a':1}",
        '{"a":1,,"b":2}',
        "[01]",
        "[+1]",
        "[.5]",
        "[1.]",
        "[1e]",
        "[1e+]",
        "[--1]",
        "[-]",
        "[0x10]",
        "[١]",
        "[1_000]",
        "[-0]",
        "[0.0]",
        "[1E400]",
        "[-1E400]",
        "[NaN]",
        "[Infinity]",
        "[-Infinity]",
        "[-NaN]",
        "[nan]",
        "[nul]",
        "[nullx]",
        "[True]",
        '["\t"]',
        '["\x7f"]',
        '["\\x41"]',
        '["\\u12"]',
        '["\\u12G4"]',
        '["\\u+123"]',
        '["\\ud800"]',
        '["\\ud83d\\ude00"]',
        '["\\ude00\\ud83d"]',
        '["\\"]',
        '["a',
        "[1]\u00a0",
        "\u00a0[1]",
        "\x0c[1]",
        "\ufeff[1]",
        "\ufeff\ufeff[1]",
        " \ufeff[1]",
        "\ufeff [1] \r\n\t",
        "[1]\ufeff",
        "// x\n[1]",
        "[1] // x",
        '{"a":{"a":1},"a":{"b":2}}',
        '{"":[{}],"":{}}',
        "[" * 500 + "]" * 500,
        "1",
        '"[1]"',
        "null",
    ],
    ids=lambda text: repr(text)[:40],
)
def test_scan_and_json_agree(text: str) -> None:
    """What is JSON and what is not, to the letter."""
    check_scan(text)


@pytest.mark.parametrize("spelt", ["a" * 300, "\\u0061" * 50, "\\u0061" * 300, "\\/" * 140])
@pytest.mark.parametrize("order", ["key first", "value first"])
def test_a_long_key_is_not_taken_for_an_equal_text(spelt: str, order: str) -> None:
    """A key that reads as some text elsewhere is a key, however both are spelt."""
    decoded = json.loads(f'"{spelt}"')
    members = [f'"{spelt}": 1', f'"text": {json.dumps(decoded)}']
    check_scan("{" + ", ".join(members if order == "key first" else members[::-1]) + "}")
    check_scan("[{" + ", ".join(members) + f'}}, "{spelt}", {json.dumps(decoded)}]')


def test_deep_json_text_is_plain_text() -> None:
    """Nesting beyond the bound is no JSON to us: nothing recurses, nothing raises."""
    assert scan("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    for deep in (MAX_DEPTH + 1, 5_000, 200_000):
        assert scan("[" * deep + "1" + "]" * deep) is None
        assert scan('{"a":' * deep + "1" + "}" * deep) is None


def test_endless_numbers_in_json_text() -> None:
    """A number with more digits than Python converts is no reason to fail: its text is kept anyway."""
    for number in ("9" * 5_000, "-" + "9" * 5_000, "1." + "9" * 5_000, "1E" + "9" * 300):
        source = scan(f"[{number}]")
        assert source is not None
        assert isinstance(source.value[0], float)


def test_strings_under_repeated_keys() -> None:
    """A path leads to the last of repeated members, as in `json.loads`; the others are known as shadowed."""
    one, two, three = "1" * 300, "2 " * 200, "3\n" * 300
    text = json.dumps({"a": [one], "b": two})[:-1] + f', "a": [{json.dumps(three)}]}}'
    source = scan(text)
    assert source is not None
    assert [found.text for found in source.strings] == [one, two, three]
    assert [found.text for found in source.shadowed()] == [one]
    located = source.at(("a", 0))
    assert located is not None
    assert located.text == three


@quick
@given(json_texts())
def test_elements_of_json_text(text: str) -> None:
    """The spans of the outermost elements or members hold, in order, all that the value holds."""
    value = json.loads(text.removeprefix("\ufeff"))
    pieces = [text[start:end] for start, end in elements(text)]
    if isinstance(value, list):
        assert difference([json.loads(one) for one in pieces], value) is None
    else:
        assert difference(json.loads("{" + ",".join(pieces) + "}"), value) is None


@pytest.mark.parametrize("text", ["", "[1", '{"a":1', "[1,]", "{]"])
def test_elements_of_anything_else(text: str) -> None:
    """It is an error that can be caught as ValueError."""
    with pytest.raises(ValueError, match=r"array|ends|comma|key|value"):
        elements(text)


def test_decoding_what_the_fast_decoder_refuses() -> None:
    """Lone surrogates, deep nesting and huge ints are read as `json.loads` reads them; what is not JSON raises."""
    cases: list[Any] = ["\ud800", nested(300), 10**4000, [1e400], "\ufeffx"]
    for value in cases:
        text = json.dumps(value)
        assert difference(decode(text), json.loads(text)) is None
    with pytest.raises(json.JSONDecodeError):
        decode("[1,]")
