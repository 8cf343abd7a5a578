"""Trimming one output: its bounds, media, caps, and renderings that are given back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from trimtab import Budget, Call, Host, Policy
from trimtab.policy import MetaTool, ToolPolicy
from trimtab.testing.corpus import made_text
from trimtab.testing.independent import difference, prompt_text_of, refs_of
from trimtab.testing.spelling import Style, escaped, written
from trimtab.types import Json

LEAST = Budget(limit=512, keep=512)
USUAL = Budget(limit=2_000, keep=1_500)
PAGE = "".join(f"line {n} of <b>a page</b> & https://example.org/{n}\n" for n in range(300))
MIDDLE = PAGE[:9_000] + "naïve “quotes” " * 20 + PAGE[9_000:]


@pytest.fixture
def host() -> Iterator[Host]:
    """A host with the built-in parts."""
    with Host.load(discover=False) as host:
        yield host


# Bounds.


@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize(
    "make",
    [
        lambda size: "x " * (size // 2),
        lambda size: {"text": "y " * ((size - 11) // 2)},
        lambda size: ["\n" * (size // 2)],
        lambda size: json.dumps(["z " * (size // 2)]),
    ],
    ids=["text", "object", "escaped", "json text"],
)
def test_the_limit_is_of_the_prompt_text(host: Host, make: Callable[[int], Json], over: int) -> None:
    """An output of exactly the limit is left alone, escapes counted; one char more, and it is trimmed to `keep`."""
    output = make(3_000)
    size = len(prompt_text_of(output))
    trimmed = host.trim("tool", output, budget=Budget(limit=size - over, keep=1_000))
    assert trimmed.changed is bool(over)
    if over:
        assert len(trimmed.text) <= 1_000
    else:
        assert trimmed.value is output
        assert trimmed.row is output
    assert (trimmed.sizes.before, trimmed.sizes.after) == (size, len(trimmed.text))


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("a " * 127 + "a", False),
        ("a " * 128, True),
        ("a\n" * 85, False),
        ("a\n" * 86 + "a" * 100, True),
        ("\x01" * 43, True),
        ("\x01" * 42, False),
        ("é" * 255, False),
        ("é" * 256, True),
    ],
    ids=lambda value: f"{value[:2]!r}{len(value)}" if isinstance(value, str) else "",
)
def test_a_short_text_is_never_moved(text: str, moved: bool) -> None:
    """Under 256 chars, as escaped in the prompt, nothing could be saved by a marker."""
    output = {"text": text, "frame": ["x" * 100] * 20}
    policy = Policy(tools={"tool": ToolPolicy(bulk=("/text",))})
    with Host.load(policy=policy, discover=False) as host:
        trimmed = host.trim("tool", output, budget=LEAST)
    assert trimmed.over_budget
    assert trimmed.changed is moved
    if moved:
        assert trimmed.value["text"].startswith("<omitted chars 1-")
    else:
        assert trimmed.value is output


@pytest.mark.parametrize("count", [1, 2, 10, 50, 90, 1_000])
def test_any_number_of_results_is_bounded(host: Host, count: int) -> None:
    """As well as one huge page; ids, urls and titles are all there; what stays above `keep` is said."""
    output = [{"id": n, "url": f"https://e.org/{n}", "content": f"{n} {PAGE}{PAGE}"} for n in range(count)]
    trimmed = host.trim("search", output, budget=Budget())
    assert [(one["id"], one["url"]) for one in trimmed.value] == [(one["id"], one["url"]) for one in output]
    assert len(trimmed.text) <= 12_000 or trimmed.over_budget
    assert trimmed.over_budget is (count == 1_000)
    assert difference(host.inflate(trimmed.row), output) is None


def test_texts_under_the_cap_stay_whole(host: Host) -> None:
    """The long ones are cut to the same size; the short ones are left alone."""
    output = {"short": made_text("prose", 600, 1), "long": PAGE, "longer": PAGE * 3}
    trimmed = host.trim("tool", output, budget=Budget(limit=8_000, keep=6_000))
    assert trimmed.value["short"] == output["short"]
    sizes = [len(json.dumps(trimmed.value[key])) for key in ("long", "longer")]
    assert abs(sizes[0] - sizes[1]) < 120
    assert 5_000 < len(trimmed.text) <= 6_000


def test_a_cap_bounds_each_text_of_a_small_output_too(host: Host) -> None:
    """Also under `limit`: a cut-off at the source. Trimmed again, nothing changes."""
    output = {"a": PAGE[:3_000], "b": PAGE[:900], "c": PAGE[:400]}
    budget = Budget(cap=500)
    trimmed = host.trim("tool", output, budget=budget)
    assert [ref["key"] for ref in refs_of(trimmed.row)] == ["/a", "/b"]
    assert all(len(json.dumps(trimmed.value[key])) - 2 <= 500 for key in "abc")
    assert host.trim("tool", trimmed.value, budget=budget).value is trimmed.value
    assert difference(host.inflate(trimmed.row), output) is None


# Media.

PAYLOAD = made_text("solid", 8_000, 5)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": PAYLOAD, "mimeType": "image/png"},
        {"type": "audio", "data": PAYLOAD},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PAYLOAD}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PAYLOAD}"}},
        {"type": "input_audio", "input_audio": {"data": PAYLOAD, "format": "wav"}},
        {"inlineData": {"mimeType": "image/png", "data": PAYLOAD}},
        {"image": {"format": "png", "source": {"bytes": PAYLOAD}}},
        {"mime_type": "application/pdf", "data": PAYLOAD},
        {"type": "resource", "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": PAYLOAD}},
        {"type": "document", "source": {"bytes": PAYLOAD}},
    ],
    ids="-".join,
)
@pytest.mark.parametrize("as_text", [False, True])
def test_media_is_not_text(host: Host, block: Json, as_text: bool) -> None:
    """A payload is neither moved nor counted, alone or beside text that is."""
    for blocks, changes in (([block], False), ([block, {"type": "text", "text": PAGE}], True)):
        output: Json = {"content": blocks}
        given = json.dumps(output) if as_text else output
        trimmed = host.trim("camera", given, budget=USUAL)
        value = json.loads(trimmed.value) if as_text else trimmed.value
        assert value["content"][0] == block
        assert trimmed.changed is changes
        assert not trimmed.over_budget
        assert len(prompt_text_of(value)) - len(PAYLOAD) <= USUAL.keep + (20 if as_text else 0)


@pytest.mark.parametrize("wrap", [lambda text: {"result": text}, lambda text: [{"type": "text", "text": text}]])
def test_media_in_json_inside_a_string(host: Host, wrap: Callable[[str], Json]) -> None:
    """There too it is neither moved nor counted, so that one picture does not push all words out."""
    inner = json.dumps({"content": [{"type": "image", "data": PAYLOAD, "mimeType": "image/png"}], "words": PAGE})
    trimmed = host.trim("camera", wrap(inner), budget=USUAL)
    assert PAYLOAD in trimmed.text
    assert not trimmed.over_budget
    assert USUAL.keep - 300 < len(trimmed.text) - len(PAYLOAD) <= USUAL.keep
    assert difference(host.inflate(trimmed.row), wrap(inner)) is None


@pytest.mark.parametrize(
    "value",
    [
        {"type": "text", "data": PAYLOAD},
        {"url": "https://example.org/" + PAYLOAD},
        {"type": "image", "data": PAGE},
        {"type": "image", "alt": PAGE},
        {"data": PAYLOAD},
        {"type": ["image"], "data": PAYLOAD},
        {"mimeType": "text/plain", "data": PAGE},
    ],
    ids="-".join,
)
def test_what_is_no_media_is_text(host: Host, value: Json) -> None:
    """Long solid strings in other places, and words in a media block, count as text does."""
    trimmed = host.trim("tool", value, budget=USUAL)
    assert trimmed.changed
    assert len(trimmed.text) <= USUAL.keep


# Renderings that are given back.


def smaller(host: Host, output: Json, **more: Any) -> tuple[Any, Any, Any]:
    """An output trimmed, its rendering trimmed to less, and the output trimmed to less."""
    first = host.trim("tool", output, budget=USUAL, owner="me", **more)
    assert first.changed
    again = host.trim("tool", first.value, budget=LEAST, owner="me", **more)
    return first, again, host.trim("tool", output, budget=LEAST, owner="me", **more)


@pytest.mark.parametrize(
    "output",
    [
        PAGE,
        {"text": PAGE},
        [{"id": n, "content": PAGE[n:]} for n in range(4)],
        json.dumps({"text": PAGE}),
        json.dumps({"text": PAGE}, indent=2),
        {"content": [{"type": "text", "text": json.dumps({"text": PAGE})}]},
        {"result": json.dumps([{"text": PAGE}])},
        json.dumps({"text": "前缀" * 3_000}),
        json.dumps({"text": "前缀" * 3_000}, ensure_ascii=False),
        json.dumps({"text": MIDDLE}),
        written({"text": PAGE, "other": MIDDLE}, Style(escapes="slashes")),
        written({"text": PAGE, "other": MIDDLE}, Style(escapes="html", indent=2)),
    ],
    ids=str,
)
def test_a_rendering_given_back_counts_as_its_output(host: Host, output: Json) -> None:
    """Trimmed again it is what it was; trimmed to less, it is its output trimmed to less, row and all."""
    first, again, direct = smaller(host, output)
    assert host.trim("tool", first.value, budget=USUAL, owner="me").value is first.value
    assert difference(again.value, direct.value) is None
    assert difference(again.row, direct.row) is None
    assert difference(host.inflate(again.row, owner="me"), output) is None


@pytest.mark.parametrize(
    ("spell", "exact"),
    [
        (lambda text: escaped(text, "utf8"), True),
        (lambda text: escaped(text, "ascii"), True),
        (lambda text: escaped(text, "slashes"), True),
        (lambda text: escaped(text, "utf8").replace("/", "\\/"), True),
        (lambda text: escaped(text, "html"), True),
        (lambda text: escaped(text, "html").replace("=", "\\u003d").replace("'", "\\u0027"), True),
        (lambda text: escaped(text, "upper"), False),
        (lambda text: escaped(text, "utf8").replace("a", "\\u0061"), False),
    ],
    ids=["canonical", "Python", "PHP", "PHP, unescaped", "Go", "Gson", "upper-case digits", "odd"],
)
def test_which_spellings_come_back(host: Host, spell: Callable[[str], str], exact: bool) -> None:
    """The spelling of JSON text is found again for the encoders that we know; for others the text is, as JSON."""
    text = "ü = <i>'a'</i> & https://e.org/\n" * 300
    output = f'{{"id": "ü/1", "text": "{spell(text)}"}}'
    _, again, direct = smaller(host, output)
    inflated = host.inflate(again.row, owner="me")
    assert json.loads(inflated) == json.loads(output)
    assert json.loads(again.value).keys() == json.loads(direct.value).keys()
    assert len(again.text) <= 512
    if exact:
        assert inflated == output
        assert again.value == direct.value
        assert again.row == direct.row


def test_spelling_that_a_rendering_does_not_tell(host: Host) -> None:
    """Where all that is shown is ASCII, UTF-8 comes back as ASCII escapes: the prompt is the same, the JSON too."""
    output = json.dumps({"text": MIDDLE}, ensure_ascii=False)
    _, again, direct = smaller(host, output)
    assert again.value == direct.value
    assert json.loads(host.inflate(again.row, owner="me")) == json.loads(output)


@pytest.mark.parametrize("keep", [520, 600, 700, 900])
def test_excerpts_of_any_length_are_known_again(host: Host, keep: int) -> None:
    """Also those under 256 chars, in values, in JSON text and beside a codec's texts."""
    for output in (
        [{"n": n, "text": f"{n} {PAGE}"} for n in range(3)],
        json.dumps([{"n": n, "text": f"{n} {PAGE}"} for n in range(3)]),
    ):
        first = host.trim("tool", output, budget=Budget(limit=keep, keep=keep), owner="me")
        again = host.trim("tool", first.value, budget=LEAST, owner="me")
        direct = host.trim("tool", output, budget=LEAST, owner="me")
        assert difference(again.value, direct.value) is None
        assert host.trim("tool", again.value, budget=LEAST, owner="me").value is again.value


def test_a_bare_marker_stays(host: Host) -> None:
    """It is no longer than anything that is left alone, and says all there is to say."""
    output = [{"text": f"{n} {PAGE}"} for n in range(20)]
    first = host.trim("tool", output, budget=Budget(limit=2_200, keep=2_200), owner="me")
    assert all(one["text"].startswith("<omitted chars 1-") for one in first.value)
    again = host.trim("tool", first.value, budget=LEAST, owner="me")
    assert again.value is first.value
    assert again.over_budget


def test_a_rendering_with_more_room_is_left_alone(host: Host) -> None:
    """What is within its limit stays as it was sent, whatever it holds; the store is not even asked."""
    first = host.trim("tool", PAGE, budget=LEAST, owner="me")
    host.store.release("me")
    host.store.collect(0)
    for budget in (LEAST, USUAL, Budget(), Budget(cap=512)):
        assert host.trim("tool", first.value, budget=budget, owner="me").value is first.value


def test_a_rendering_beside_more_text(host: Host) -> None:
    """A rendering as one text of a larger output counts as its original there; a quoted one is somebody's text."""
    first = host.trim("tool", PAGE, budget=USUAL, owner="me")
    output = {"old": first.value, "new": MIDDLE}
    trimmed = host.trim("tool", output, budget=USUAL, owner="me")
    assert host.inflate(trimmed.row, owner="me") == {"old": PAGE, "new": MIDDLE}
    quoted = {"old": f"It said: {first.value}", "new": MIDDLE}
    trimmed = host.trim("tool", quoted, budget=USUAL, owner="me")
    assert host.inflate(trimmed.row, owner="me") == quoted


def test_a_rendering_of_a_name_stays_a_text(host: Host) -> None:
    """Where its original would be identity (a long url among JSON leaves) it could not be shortened again."""
    url = "https://example.org/" + "a/" * 800
    first = host.trim("tool", url, budget=LEAST, owner="me")
    assert first.changed
    output = [first.value, PAGE]
    trimmed = host.trim("tool", output, budget=Budget(limit=1_000, keep=1_000), owner="me")
    assert not trimmed.over_budget
    assert host.inflate(trimmed.row, owner="me") == output


def test_a_rendering_of_another_read_tool_is_text(host: Host) -> None:
    """The name of the read-back tool is part of the rendering."""
    with Host.load(store=host.store, policy=Policy(read_tool="open_text"), discover=False) as other:
        first = other.trim("tool", PAGE, budget=USUAL, owner="me")
        assert "open_text trimtab:" in first.value
    trimmed = host.trim("tool", first.value, budget=LEAST, owner="me")
    assert host.inflate(trimmed.row, owner="me") == first.value


# Surrogates.


def test_a_surrogate_pair_in_two(host: Host) -> None:
    """JSON would merge it: refused where it would stay in the prompt, kept exactly where it is moved."""
    pair = "\ud83d\ude00"
    for output in (pair, {"a": pair}, {"a": ["x" * 3_000, pair]}, {pair: 1}, "x\n" * 300 + pair):
        with pytest.raises(Exception, match="surrogate pair"):
            host.trim("tool", output, budget=Budget(limit=1_000, keep=1_000))
    for output in ("x\n" * 2_000 + pair + "y\n" * 2_000, {"a": "x\n" * 2_000 + pair + "y\n" * 2_000}):
        trimmed = host.trim("tool", output, budget=LEAST)
        assert trimmed.changed
        trimmed.text.encode()
        assert host.inflate(trimmed.row) == output


def test_lone_surrogates_and_nul_are_shown_as_replacements(host: Host) -> None:
    """The prompt is valid UTF-8 without NUL where text was cut; the store has what was there."""
    output = "\ud800\x00a\n" * 2_000
    trimmed = host.trim("tool", output, budget=LEAST)
    assert "\ufffd\ufffda\n" in trimmed.value
    assert "\x00" not in trimmed.value
    trimmed.value.encode()
    assert host.inflate(trimmed.row) == output


# Hosts.


def test_without_a_read_back_tool() -> None:
    """Nothing is trimmed; where the policy trims all the same, markers name no handle, and the row has the text."""
    with Host.load(policy=Policy(read_tool=""), discover=False) as host:
        assert host.trim("tool", PAGE, budget=LEAST).value is PAGE
    with Host.load(policy=Policy(read_tool="", without_read_back="trim"), discover=False) as host:
        trimmed = host.trim("tool", PAGE, budget=LEAST)
        assert len(trimmed.value) <= 512
        assert "trimtab:" not in trimmed.value
        assert host.inflate(trimmed.row) == PAGE


def test_a_meta_tool_is_the_tool_it_calls() -> None:
    """Codec and focus see the inner call; a call that names no tool is its own."""
    meta = {"tool_invoke": MetaTool(name="/name", arguments="/params")}
    policy = Policy(meta=meta, tools={"jira": ToolPolicy(bulk=("/body",))})
    output = {"body": PAGE, "other": PAGE}
    with Host.load(policy=policy, discover=False) as host:
        inner = {"name": "jira", "params": {"query": "line 250"}}
        trimmed = host.trim("tool_invoke", output, arguments=inner, budget=Budget(limit=18_000, keep=18_000))
        assert [ref["key"] for ref in refs_of(trimmed.row)] == ["/body"]
        assert "line 250 of" in trimmed.value["body"]
        assert host.explain(trimmed)["codec"] == "policy"
        trimmed = host.trim("tool_invoke", output, arguments={"name": 3}, budget=USUAL)
        assert [ref["key"] for ref in refs_of(trimmed.row)] == ["/body", "/other"]


def test_async_is_the_same(host: Host) -> None:
    """Each async twin gives what its sync one gives."""
    outputs = [PAGE, {"text": MIDDLE}, json.dumps([{"text": PAGE}])]

    async def work() -> None:
        for output in outputs:
            one = await host.atrim("tool", output, budget=USUAL, owner="a")
            two = host.trim("tool", output, budget=USUAL, owner="b")
            assert (one.text, one.row_text) == (two.text, two.row_text)
            assert await host.arender(one.row, owner="a") == two.value
            assert await host.ainflate(one.row, owner="a") == output
        calls = [Call("tool", output) for output in outputs]
        batch = Budget(limit=2_000, keep=1_500, batch=2_500)
        together = await host.atrim_batch(calls, budget=batch, owner="a")
        assert [one.text for one in together] == [one.text for one in host.trim_batch(calls, budget=batch, owner="b")]

    asyncio.run(work())


def test_threads_share_a_host(host: Host) -> None:
    """Eight threads that trim at once get what one gets."""
    outputs = [{"n": n, "text": f"{n % 5} {PAGE}"} for n in range(40)]
    expected = [host.trim("tool", output, budget=USUAL).text for output in outputs]
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda output: host.trim("tool", output, budget=USUAL).text, outputs))
    assert got == expected
