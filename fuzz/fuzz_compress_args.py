"""Coverage-guided search for inputs that break the compress-argument parser or the lenient JSON reader.

Run for at least ten minutes after a change of either, on Linux (atheris has wheels for it)::

    python fuzz/fuzz_compress_args.py -max_total_time=600 -max_len=4096 fuzz/corpus

Nothing may raise; an input of 4 kB may not take long; what comes out must be valid Unicode that stands in the input;
the quick lane and the scanner must agree; and the events of the tokenizer may not depend on how the text was cut.
"""

from __future__ import annotations

import sys
import time

import atheris

with atheris.instrument_imports(include=["trimtab"]):
    from trimtab.compress import explain, parse_compress_args
    from trimtab.compress.arguments.names import KNOWN
    from trimtab.lenient import END, NEED_DATA, Event, Tokenizer, loads
    from trimtab.lenient.tree import read, read_slowly

WORDS = (
    '{"content":[{"startRef":"m00001","endRef":"m00002","summary":"',
    '"},{"startRef":"m3","endRef":"m4","summary":"',
    '"}]}',
    "{'content':[{'startId':'m1','endId':'b2','summary':'",
    "'}]}",
    "```json\n",
    "<think>",
    "</think>",
    "<tool_call>",
    "<function=compress><parameter=content>",
    "</parameter>",
    "[TOOL_CALLS]compress",
    '{"name":"compress","arguments":"{\\"content\\":[',
    "m00001–m00002 topic\nbody\n",
    '"""',
    "// x\n",
    "/*",
    "“",
    "”",
    "，",
    "：",
    "\\u",
    "\\ud83d",
    '\\"',
    "undefined",
    "True",
    "=>",
    '","summary":"',
    '", "b" and',
)
SLOW_SECONDS = 1.0


def events(text: str, step: int) -> list[Event]:
    """The events of a text that is fed so many chars at a time."""
    tokenizer = Tokenizer()
    told: list[Event] = []
    for begin in range(0, len(text), step):
        tokenizer.feed(text[begin : begin + step])
        while isinstance(event := tokenizer.next_event(), Event):
            told.append(event)
        assert event is NEED_DATA or event is END
    tokenizer.close()
    while isinstance(event := tokenizer.next_event(), Event):
        told.append(event)
    assert event is END
    return told


def spelt(data: bytes) -> str:
    """A text from bytes: those above 127 that are no UTF-8 stand for words of the grammar."""
    return "".join(
        WORDS[ord(char) % len(WORDS)] if "\udc80" <= char <= "\udcff" else char
        for char in data.decode("utf-8", "surrogateescape")
    )


def one(data: bytes) -> None:
    """Check all laws on one input."""
    began = time.process_time()
    parse_compress_args(data)
    text = spelt(data)
    parsed = parse_compress_args(text)
    explain(parsed.diagnostics).encode()
    assert parsed.diagnostics.ok is bool(parsed.ranges)
    for found in parsed.ranges:
        f"{found.start_ref}{found.end_ref}{found.summary}{found.topic}".encode()
    repr(loads(text))
    for start in {max(text.find("{"), 0), max(text.find("["), 0)}:
        quick, slow = read(text, start, known=KNOWN), read_slowly(text, start, known=KNOWN)
        assert repr(quick.value) == repr(slow.value), (quick, slow)
        assert (quick.end, quick.finished, quick.cut) == (slow.end, slow.finished, slow.cut), (quick, slow)
    if len(text) < 600:
        assert events(text, len(text) + 1) == events(text, 1)
    assert time.process_time() - began < SLOW_SECONDS, "slow"


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
