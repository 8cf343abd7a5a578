"""Where bulk text is found: pointers, declared codecs, typed codecs, and the order of the look-up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

import pytest
from attrs import Factory, define, frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab import Budget, Host, Policy, hookimpl
from trimtab.codecs import Bulk, codec_for, entities, pointers, text_field
from trimtab.codecs.find import Found, find
from trimtab.codecs.leaves import is_leaf
from trimtab.errors import CallerError, CodecError, PointerError
from trimtab.pointer import expand, follow, parse_pattern, replace, resolve, to_pointer
from trimtab.policy import PluginPolicy, ToolPolicy
from trimtab.testing import CodecContract
from trimtab.testing.independent import at, difference
from trimtab.testing.strategies import json_values, keys
from trimtab.types import Codec, Json

quick = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
LONG = "some words of a long text\n" * 20
OTHER = "other words of a long text\n" * 20


# Pointers.


def places(value: Json, path: tuple[str | int, ...] = ()) -> Iterable[tuple[tuple[str | int, ...], Json]]:
    """Every place of a value."""
    yield path, value
    for step, child in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places(child, (*path, step))


@quick
@given(json_values(longest=20, deepest=5))
def test_every_place_has_a_pointer(value: Json) -> None:
    """It leads back to the place, by our reader and by another one, whatever the member names hold."""
    for path, there in places(value):
        pointer = to_pointer(path)
        assert follow(value, pointer) == path
        assert at(value, pointer) is there
        assert resolve(value, path) is there


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        ("", ()),
        ("/a", ("a",)),
        ("/", ("",)),
        ("/a~1b", ("a/b",)),
        ("/m~0n", ("m~n",)),
        ("/~01", ("~1",)),
        ("/list/0", ("list", 0)),
        ("/list/1/x", ("list", 1, "x")),
        ("/ ", (" ",)),
        ("/0", ("0",)),
        ("/-", ("-",)),
    ],
)
def test_where_a_pointer_leads(pointer: str, path: tuple[str | int, ...]) -> None:
    """As RFC 6901 says; a number is an index in a list and a name in an object."""
    value = {"a": 1, "": 2, "a/b": 3, "m~n": 4, "~1": 5, "list": [6, {"x": 7}], " ": 8, "0": 9, "-": 10}
    assert follow(value, pointer) == path
    assert to_pointer(path) == pointer


@pytest.mark.parametrize(
    "pointer",
    [
        "a",
        "/b",
        "/list/2",
        "/list/-",
        "/list/-1",
        "/list/01",
        "/list/+1",
        "/list/1e0",
        "/list/x",
        "/list/١",
        "/a/b",
        "/a~2",
        "/a~",
    ],
)
def test_a_pointer_that_leads_nowhere(pointer: str) -> None:
    """Is an error that quotes the pointer, not the document."""
    with pytest.raises(PointerError) as caught:
        follow({"a": "secret" * 1_000, "list": [1, 2]}, pointer)
    assert len(str(caught.value)) < 300


@quick
@given(json_values(longest=20, deepest=5), st.data())
def test_replacing_copies_only_the_way(value: Json, data: st.DataObject) -> None:
    """What is off the way is the same object; the original is untouched; the order of keys stays."""
    every = [path for path, there in places(value) if isinstance(there, str)]
    chosen = data.draw(st.lists(st.sampled_from(every), max_size=3, unique=True)) if every else []
    before = json.dumps(value)
    changed = replace(value, dict.fromkeys(chosen, "new"))
    assert json.dumps(value) == before
    on_the_way = {path[:n] for path in chosen for n in range(len(path) + 1)}
    for path, there in places(value):
        if path in chosen:
            assert resolve(changed, path) == "new"
        elif path not in on_the_way and path[:-1] in on_the_way | {()}:
            assert resolve(changed, path) is there
        elif isinstance(there, dict):
            assert list(resolve(changed, path)) == list(there)


@pytest.mark.parametrize(
    ("value", "pattern", "paths"),
    [
        ([{"c": 1}, {"c": 2}], "/*/c", [(0, "c"), (1, "c")]),
        ({"b": {"c": 1}, "a": {"c": 2}}, "/*/c", [("b", "c"), ("a", "c")]),
        ({"*": 1}, "/*", [("*",)]),
        ([[1, 2], [3]], "/*/*", [(0, 0), (0, 1), (1, 0)]),
        ([], "/*/c", []),
        ({}, "/*", []),
        ("text", "", [()]),
        ([{"c": 1}, {}], "/*/c", None),
        ([{"c": 1}, 3], "/*/c", None),
        ("text", "/*", None),
        ({"a": 1}, "/b", None),
        ([1], "/1", None),
    ],
)
def test_what_a_pattern_names(value: Json, pattern: str, paths: list[Any] | None) -> None:
    """Every place in document order; None where one of them is missing, so that the shape is another."""
    assert expand(value, parse_pattern(pattern)) == paths


# Declared codecs.


@pytest.mark.parametrize(
    ("codec", "output", "given"),
    [
        (entities("/*/content"), [{"content": "a"}, {"content": ""}], ["/0/content", "/1/content"]),
        (entities("/results/*/text"), {"results": [{"text": "a"}]}, ["/results/0/text"]),
        (entities("/*/content"), [], []),
        (entities("/*/content"), [{"content": "a"}, {"content": None}], None),
        (entities("/*/content"), [{"content": "a"}, "b"], None),
        (entities("/*/content"), {"error": "no"}, None),
        (entities("/*/content"), "text", None),
        (text_field("/text"), {"text": "a", "more": 1}, ["/text"]),
        (text_field("/text"), {"text": 3}, None),
        (text_field("/a~1b"), {"a/b": "x"}, ["/a~1b"]),
        (text_field(""), "text", [""]),
        (text_field("/text"), {"kind": "error"}, None),
        (pointers(["/a/*/b", "/note"]), {"a": [{"b": "x"}], "note": "y"}, ["/a/0/b", "/note"]),
        (pointers(["/a/*/b", "/note"]), {"note": "y"}, ["/note"]),
        (pointers(["/a/*/b", "/note"]), {"a": [{"b": 1}], "note": "y"}, ["/note"]),
        (pointers(["/a/*/b", "/note"]), {"else": "y"}, None),
    ],
)
def test_what_a_declared_codec_gives(codec: Codec, output: Json, given: list[str] | None) -> None:
    """Pointers of its texts when the output has its shape, else None."""
    found = codec(output)
    assert (None if found is None else list(found)) == given


@pytest.mark.parametrize(
    "make",
    [
        lambda: entities("/content"),
        lambda: entities("*/content"),
        lambda: text_field("/*/text"),
        lambda: text_field("text"),
        lambda: pointers([]),
        lambda: pointers("/a"),
        lambda: pointers(["a"]),
        lambda: pointers(["/a~2"]),
    ],
)
def test_a_codec_declared_wrongly(make: Any) -> None:
    """Is refused when it is declared, with a hint."""
    with pytest.raises(PointerError):
        make()


# Typed codecs.


@frozen
class Part:
    """One part of a page."""

    heading: str
    text: Annotated[str, Bulk]


@define
class Page:
    """A page of a web tool."""

    url: str
    content: Annotated[str, Bulk]
    score: float = 0.0
    parts: list[Part] = Factory(list)
    summary: Annotated[str | None, Bulk] = None
    by_lang: dict[str, Annotated[str, Bulk]] = Factory(dict)


@pytest.mark.parametrize(
    ("output", "given"),
    [
        ([{"url": "u", "content": "c"}], ["/0/content"]),
        ([{"content": "c", "extra": LONG, "url": "u"}], ["/0/content"]),
        ([{"url": "u", "parts": [{"heading": "h", "text": "t"}], "content": "c"}], ["/0/parts/0/text", "/0/content"]),
        ([{"url": "u", "content": "c", "summary": "s", "score": 1}], ["/0/content", "/0/summary"]),
        ([{"url": "u", "content": "c", "summary": None}], ["/0/content"]),
        (
            [{"url": "u", "content": "c", "by_lang": {"d/e": "x", "": "y"}}],
            ["/0/content", "/0/by_lang/d~1e", "/0/by_lang/"],
        ),
        ([], []),
        ([{"url": "u"}], None),
        ([{"url": 3, "content": "c"}], None),
        ([{"url": "u", "content": 3}], None),
        ([{"url": "u", "content": "c", "score": "1.0"}], None),
        ([{"url": "u", "content": "c", "score": True}], None),
        ([{"url": "u", "content": "c", "parts": [{"heading": "h"}]}], None),
        ({"url": "u", "content": "c"}, None),
        ("text", None),
        (None, None),
        ({"error": "no"}, None),
    ],
)
def test_what_a_typed_codec_gives(output: Json, given: list[str] | None) -> None:
    """Pointers of the marked fields when the output has the type, strictly, unknown fields allowed; else None."""
    found = codec_for(list[Page])(output)
    assert (None if found is None else list(found)) == given


def test_a_type_without_marks_is_no_codec() -> None:
    """It would say that nothing is bulk text, and nobody would notice; nor may a mark stand on something else."""

    @frozen
    class Bare:
        text: str

    @frozen
    class Wrong:
        count: Annotated[int, Bulk]

    for shape in (list[Bare], Wrong, dict[str, Wrong], str):
        with pytest.raises(CallerError):
            codec_for(shape)


class TestEntities(CodecContract):
    """`entities` keeps the contract."""

    codec = entities("/*/content")
    samples = (
        [{"id": 1, "content": "Some text.\nMore."}],
        [{"content": ""}, {"content": "é\u2028"}],
        [],
    )


class TestTextField(CodecContract):
    """`text_field` keeps the contract, on values and on JSON text."""

    codec = text_field("/text")
    samples = (
        {"text": "Some text.", "path": "/a"},
        json.dumps({"path": "x", "text": "ÿ" * 400}),
    )


class TestPointers(CodecContract):
    """`pointers` keeps the contract."""

    codec = pointers(["/issues/*/fields/description", "/note"])
    samples = (
        {"issues": [{"fields": {"description": "It fails."}}], "note": "n"},
        {"note": "only"},
    )


class TestTyped(CodecContract):
    """`codec_for` keeps the contract."""

    codec = codec_for(list[Page])
    samples = ([{"url": "u", "content": "c", "parts": [{"heading": "h", "text": "t"}], "by_lang": {"de": "x"}}],)


class TestWrongCodecs:
    """The contract can fail: each broken codec is found, under the law it breaks."""

    @pytest.mark.parametrize(
        ("codec", "law"),
        [
            (lambda output: ["/text"] if isinstance(output, dict) and len(output["text"]) < 500 else None, 7),
            (lambda output: output["text"] and ["/text"], 5),
            (lambda output: ["/nothing"] if isinstance(output, dict) and "text" in output else None, 5),
            (lambda output: ["/n"] if isinstance(output, dict) and "text" in output else None, 5),
            (lambda output: output.pop("text", None) and ["/text"] if isinstance(output, dict) else None, 3),
            (lambda output: None, 1),
        ],
        ids=["looks at lengths", "raises", "leads nowhere", "no string", "changes its argument", "knows nothing"],
    )
    def test_it_is_found(self, codec: Any, law: int) -> None:
        """The finding names the law."""
        from trimtab.testing.samples import check_codec

        findings = check_codec(codec, [{"text": "some text", "n": 3}])
        assert law in {one.law for one in findings if not one.ok}

    def test_a_good_one_is_not(self) -> None:
        """Nothing is found against a codec that keeps the laws; without samples there is nothing to say."""
        from trimtab.testing.samples import check_codec

        assert all(one.ok for one in check_codec(text_field("/text"), [{"text": "some text", "n": 3}]))
        with pytest.raises(ValueError, match="no samples"):
            check_codec(text_field("/text"), [])


# Looking up.


def keys_of(found: Found) -> list[tuple[str, tuple[int, int] | None]]:
    """Where the bulk texts stand."""
    return [(to_pointer(one.path), one.span) for one in found.texts]


def look(output: Json, *codecs: Codec) -> Found:
    """The bulk texts of an output for which these codecs are tried."""
    return find("tool", output, [(f"codec {n}", codec) for n, codec in enumerate(codecs)])


@pytest.mark.parametrize(
    ("text", "leaf"),
    [
        ("x y" * 85, False),
        ("x y" * 86, True),
        ("x" * 2_047, False),
        ("x" * 2_048, True),
        ("https://example.org/" + "a" * 2_027, False),
        ("é" * 256, True),
        ("x" * 255 + "\t", True),
        ("x" * 255 + "\u00a0", True),
        ("x" * 255 + "\x7f", True),
        ("x" * 255 + "\x00", True),
        ("\n" * 256, True),
        ("", False),
    ],
    ids=lambda value: f"{value[-4:]!r}{len(value)}" if isinstance(value, str) else "",
)
def test_what_a_json_leaf_is(text: str, leaf: bool) -> None:
    """From 256 chars; printable ASCII without white space is a name for something, and counts only from 2,048."""
    assert is_leaf(text) is leaf
    assert [one.text for one in look([text]).texts] == ([text] if leaf else [])


def test_without_a_codec_json_leaves_then_text() -> None:
    """An unknown tool's values and JSON text go by their leaves; other text is one bulk text."""
    assert keys_of(look({"a": LONG, "b": {"c": [LONG]}})) == [("/a", None), ("/b/c/0", None)]
    assert look({"a": LONG}).codec == "json leaves"
    text = json.dumps({"a": LONG})
    assert keys_of(look(text)) == [("", (7, 7 + len(json.dumps(LONG)) - 2))]
    assert look(LONG).codec == "text"
    assert keys_of(look(LONG)) == [("", None)]
    assert keys_of(look("[1, 2")) == [("", None)]
    assert keys_of(look("[1, 2]")) == []


def test_codecs_are_tried_in_order() -> None:
    """The first that knows the shape counts; falling through is on None only; an empty answer is an answer."""
    output = {"a": LONG, "b": LONG}
    assert keys_of(look(output, text_field("/c"), text_field("/b"), text_field("/a"))) == [("/b", None)]
    assert keys_of(look(output, lambda _: [], text_field("/a"))) == []
    assert keys_of(look(output, lambda _: None)) == [("/a", None), ("/b", None)]


def test_a_codec_is_shown_json_text_decoded() -> None:
    """JSON text, and the JSON in the only text block of a content list; its pointers become spans."""
    text = json.dumps([{"content": LONG}], indent=1)
    shapes: list[Json] = [
        text,
        "\ufeff" + text,
        {"content": [{"type": "text", "text": text}]},
        [{"type": "text", "text": text}, {"type": "image", "data": "x", "mimeType": "image/png"}],
        [{"text": text}],
    ]
    for shape in shapes:
        found = look(shape, entities("/*/content"))
        assert found.codec == "codec 0"
        (one,) = found.texts
        assert one.text == LONG
        assert one.span is not None
        there = resolve(shape, one.path)
        assert json.loads(f'"{there[one.span[0] : one.span[1]]}"') == LONG


def test_two_text_blocks_are_not_decoded() -> None:
    """With two text blocks there is no telling which one the codec means."""
    text = json.dumps([{"content": LONG}])
    found = look({"content": [{"type": "text", "text": text}, {"type": "text", "text": text}]}, entities("/*/content"))
    assert found.codec == "json leaves"
    assert [to_pointer(one.path) for one in found.texts] == ["/content/0/text", "/content/1/text"]


def test_json_inside_a_bulk_string_goes_by_leaves() -> None:
    """One level: what is JSON inside that is plain text."""
    inner = json.dumps({"deep": LONG, "n": 1})
    middle = json.dumps({"inner": inner, "text": OTHER})
    found = look({"payload": middle})
    assert [one.text for one in found.texts] == [inner, OTHER]
    assert [to_pointer(one.path) for one in found.texts] == ["/payload", "/payload"]


def test_repeated_keys() -> None:
    """A pointer means the last of them; the hidden ones reach the prompt too, so they are bulk text as leaves are."""
    text = f'{{"text": {json.dumps(LONG)}, "text": {json.dumps(OTHER)}}}'
    assert [one.text for one in look(text, text_field("/text")).texts] == [LONG, OTHER]
    assert [one.text for one in look(text).texts] == [LONG, OTHER]


@pytest.mark.parametrize(
    ("spelt", "esc"),
    [
        (json.dumps(LONG)[1:-1], "utf8"),
        ("é" * 300, "utf8"),
        (json.dumps("é" * 300)[1:-1], "ascii"),
        ("\\u00E9" * 300, "raw"),
        ("a\\/b " * 80, "raw"),
        ("\\ud800 " * 150, "utf8"),
        ("\\u0000 " * 150, "utf8"),
        ("\\u007f " * 150, "ascii"),
        ("\x7f " * 150, "utf8"),
        ("\\ud83d\\ude00" * 300, "ascii"),
        ("\\uD83D\\uDE00" * 300, "raw"),
    ],
    ids=lambda value: value[:12],
)
def test_how_a_text_is_spelt(spelt: str, esc: str) -> None:
    """By the first of `utf8` and `ascii` that gives the source back exactly, else its source is kept."""
    (one,) = look(f'["{spelt}"]').texts
    assert one.esc == esc
    assert one.source == (spelt if esc == "raw" else None)
    assert one.text == json.loads(f'"{spelt}"')


def test_the_order_is_the_documents() -> None:
    """Bulk texts come as a reader meets them, in whatever order the codec names them."""
    output = {"z": LONG, "a": [LONG, LONG], "m": LONG}
    found = look(output, lambda _: ["/m", "/a/1", "/z", "/a/0"])
    assert keys_of(found) == [("/z", None), ("/a/0", None), ("/a/1", None), ("/m", None)]
    assert len(look(output, lambda _: ["/m", "/m"]).texts) == 1


@pytest.mark.parametrize(
    ("pointed", "says"),
    [
        (["/missing"], "leads nowhere"),
        (["/n"], "not a string"),
        (["/o"], "not a string"),
        (["o"], "not a JSON Pointer"),
        ([3], "not a JSON Pointer"),
        ([None], "not a JSON Pointer"),
        (3, "raised TypeError"),
    ],
)
def test_a_codec_that_points_wrongly(pointed: Any, says: str) -> None:
    """Is at fault, by name and place."""
    with pytest.raises(CodecError, match=says) as caught:
        look({"n": 1, "o": {}, "text": LONG}, lambda _: pointed)
    assert caught.value.tool == "tool"


class Patterns:
    """A plugin with a codec for each of some patterns; each codec points at the field of its pattern's first letter."""

    def __init__(self, *patterns: str) -> None:
        self.patterns = patterns

    @hookimpl
    def trimtab_codecs(self) -> Iterable[tuple[str, Codec]]:
        """The codecs."""
        return [(pattern, text_field(f"/{n}")) for n, pattern in enumerate(self.patterns)]


@pytest.mark.parametrize(
    ("tool", "policy", "moved"),
    [
        ("web_search", {}, ["/1"]),
        ("web_fetch", {}, ["/0"]),
        ("other", {}, ["/0", "/1", "/2"]),
        ("web_search", {"web_search": ToolPolicy(bulk=("/2",))}, ["/2"]),
        ("web_search", {"web_*": ToolPolicy(bulk=("/2",))}, ["/2"]),
        ("web_search", {"web_*": ToolPolicy(bulk=("/2",)), "*": ToolPolicy(bulk=("/0",))}, ["/0"]),
        ("web_search", {"web_search": ToolPolicy(bulk=("/absent",))}, ["/1"]),
        ("web_search", {"web_search": ToolPolicy(codec="trimtab.testing.nothing:here")}, None),
        ("Web_Search", {}, ["/0", "/1", "/2"]),
    ],
    ids=str,
)
def test_policy_then_exact_name_then_glob(tool: str, policy: dict[str, ToolPolicy], moved: list[str] | None) -> None:
    """The policy's table that fits last; then plugins' codecs, exact names before globs; then leaves."""
    output = {str(n): f"{n} {LONG}" for n in range(3)}
    if moved is None:
        with pytest.raises(CallerError):
            Policy(tools=policy)
        return
    made = Policy(tools=policy, plugins=PluginPolicy())
    with Host.load(policy=made, plugins=[Patterns("web_*", "web_search")], discover=False) as host:
        trimmed = host.trim(tool, output, budget=Budget(limit=512, keep=512))
        row = json.loads(trimmed.row_text)
        assert [ref["key"] for ref in row["$persistedToolOutput"]["blobRefs"]] == moved
        assert difference(host.inflate(row), output) is None


@quick
@given(keys(), st.sampled_from([LONG, OTHER]))
def test_any_member_name_can_hold_bulk_text(name: str, text: str) -> None:
    """Whatever has to be escaped in a pointer, the row finds its place again."""
    output = {name: text * 3, "plain": {name: [text * 2]}}
    with Host.load(discover=False) as host:
        trimmed = host.trim("tool", output, budget=Budget(limit=512, keep=512))
        assert trimmed.changed
        assert difference(host.inflate(json.loads(trimmed.row_text)), output) is None
