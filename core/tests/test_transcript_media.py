"""Media in transcripts: blocks are named, and payloads in any spelling; what only looks like one stays."""

from __future__ import annotations

import base64
import json
import re
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.codecs.leaves import MEDIA_KEYS, MEDIA_TYPES
from trimtab.compaction.asking.transcript import transcript
from trimtab.compaction.measuring.media import is_medium, payloads_in, without_payloads
from trimtab.wire.histories import Message, Part
from trimtab.wire.lookup import shape_of

RANDOM: Final = Random(3)
RAW: Final = RANDOM.randbytes(4_000)
DATA: Final = base64.b64encode(RAW).decode()
URL_SAFE: Final = base64.urlsafe_b64encode(RAW).decode()


def lines(text: str, width: int, between: str = "\n") -> str:
    """A text in lines of a width."""
    return between.join(text[at : at + width] for at in range(0, len(text), width))


PAYLOADS: Final = {
    "on one line": DATA,
    "url-safe": URL_SAFE,
    "in lines of 40": lines(DATA, 40),
    "in lines of 128": lines(DATA, 128),
    "in indented lines": lines(DATA, 76, "\n    "),
    "url-safe in lines": lines(URL_SAFE, 76),
    "in a list of JSON": json.dumps([DATA[at : at + 76] for at in range(0, len(DATA), 76)]),
    "in strings of code": lines(DATA, 76, '" +\n    "'),
    "in JSON in JSON": json.dumps(json.dumps(lines(DATA, 76))),
    "with escaped slashes": DATA.replace("/", "\\/"),
    "of zeros": base64.b64encode(b"\0" * 3_000).decode(),
    "a data url in capitals": f"DATA:image/PNG;BASE64,{DATA}",
    "in a url": f"https://example.com/cb?token={URL_SAFE}",
    "hex": RAW.hex(),
    "hex with blanks": RAW.hex(" "),
}

DIGESTS: Final = "\n".join(f"{RANDOM.getrandbits(256):064x}" for _ in range(9))
TEXTS: Final = {
    "a long name": "a" + "SomeLongIdentifierName" * 12,
    "a name with a number": "_".join(["alpha", "beta", "gamma", "v2"] * 16),
    "a protein": "".join(RANDOM.choice("ACDEFGHIKLMNPQRSTVWY") for _ in range(600)),
    "a number": "".join(RANDOM.choice("0123456789") for _ in range(900)),
    "a path": "src/components/dashboard2/widgets/charts/" * 8 + "index/Main/View/Item",
    "paths in lines": "\n".join(f"/srv/data/projects/customer/exports/year2026/day{n:02}/file" for n in range(8)),
    "a url of words": "https://example.com/" + "-".join(["this", "is", "a", "very", "long", "slug", "v2"] * 9),
    "a url of pieces": "https://example.com/" + "/".join(f"Ab{n}x" for n in range(90)),
    "digests in lines": DIGESTS,
    "a digest": f"{RANDOM.getrandbits(512):0128x}",
    "Chinese": "用户" * 400,
    "code on one line": "function(e,t){var n=e.a,r=t.b;return n?r:function(){return e}}" * 20,
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_is_named_however_it_is_spelt(name: str) -> None:
    """Base64 and hex, whole, in lines, quoted or escaped, are named with their size; what stands around them stays."""
    said = without_payloads(f"before {PAYLOADS[name]} after")
    assert said.startswith("before ")
    assert said.endswith("after")
    assert re.search("\\[[a-zA-Z/0-9]+, [0-9,]+ chars\\]", said)
    assert len(said) < 100


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_word_is_no_payload(name: str) -> None:
    """Names, paths, urls, sequences and digests stay, however long they are."""
    assert without_payloads(TEXTS[name]) == TEXTS[name]


@given(st.binary(min_size=400, max_size=1_200), st.integers(40, 200), st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_run_of_random_bytes_is_left(raw: bytes, width: int, is_url_safe: bool) -> None:
    """Of bytes in base64, in lines of any width from 40, no 200 chars in a row are left."""
    encode = base64.urlsafe_b64encode if is_url_safe else base64.b64encode
    raw = Random(raw).randbytes(len(raw))  # bytes as of an image; Hypothesis likes zeros, which are a case above
    said = without_payloads(lines(encode(raw).decode(), width))
    assert len(said) < 200 + width


def test_media_are_named_and_never_spelt_out() -> None:
    """Images, documents and base64, in texts, arguments, results and JSON, are named in a transcript."""
    data = base64.b64encode(Random(1).randbytes(6_000)).decode()
    wrapped = "\n".join(data[at : at + 76] for at in range(0, len(data), 76))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    saved = {"type": "text", "text": "saved"}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": f"{wrapped} data:image/gif;base64,{data}"}, image]},
        {"role": "user", "content": [{"type": "document", "title": "terms.pdf", "source": {"data": data}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "save", "input": {"bytes": data}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [image, saved]}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "load", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": f'{{"blob":"{data}"}}'}]},
    ]
    said = transcript(shape_of("anthropic", None).read(messages))
    assert re.search("[A-Za-z0-9+/]{100}", said) is None
    assert len(said) < 800
    for name in ("[image]", "[image/gif, ", "[document: terms.pdf]", "saved", "[base64, "):
        assert name in said


@pytest.mark.parametrize("text", ["-" * 500, "data:text/plain,hi", "a/" * 300, "https://example.com/" + "abc/" * 90])
def test_what_only_looks_like_a_payload_stays(text: str) -> None:
    """Rulers, short data urls and long paths are text."""
    assert without_payloads(text) == text


@pytest.mark.parametrize("kind", sorted(MEDIA_TYPES))
def test_a_medium_is_one_everywhere(kind: str) -> None:
    """A block of each type is a medium, its base64 a payload, and a transcript names it, also without a MIME type."""
    block = {"type": kind, "data": DATA, "name": "a.bin"}
    assert is_medium(block)
    assert payloads_in(block) == [("data",)]
    said = transcript([Message(role="user", native=None, parts=(Part(kind="other", path=(), value=block),))])
    assert said == f"User: [{kind}: a.bin]"


@pytest.mark.parametrize("name", sorted(MEDIA_KEYS))
def test_a_medium_may_go_by_the_name_of_what_it_holds(name: str) -> None:
    """As Gemini and Bedrock have it: an object under the name; a text of that name is none."""
    assert is_medium({name: {"bytes": DATA}})
    assert not is_medium({name: "sunset"})
    assert payloads_in({name: {"data": DATA}}) == [(name, "data")]
