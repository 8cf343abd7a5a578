"""Prints a digest of what the lenient parser reads in damaged calls, for other interpreters to be held to."""

from __future__ import annotations

import hashlib
import random

from trimtab.compress import parse_compress_args

_CALLS = (
    (
        '{"content": [{"startId": "m00001", "endId": "m00002", "summary": "It\'s \\"done\\"\\nok", "topic": "t"}, '
        '{"startId": "m3", "endId": "m4", "summary": "Second /* c */ one"}]}'
    ),
    "{'content':[{'startId':'m1','endId':'m2','summary':'a b c'}], // why\n }",
)
_DAMAGE = "{}[]\",:'\\\n /*#`<>-abm0129“”‘’，："


def digest(number: int = 3_000) -> str:
    """The same for the same release, under every Python."""
    draw = random.Random(7)
    seen = hashlib.sha256()
    for _ in range(number):
        chars = list(draw.choice(_CALLS))
        for _ in range(draw.randrange(4)):
            at = draw.randrange(len(chars))
            how = draw.random()
            if how < 0.4:
                chars[at] = draw.choice(_DAMAGE)
            elif how < 0.7:
                chars.insert(at, draw.choice(_DAMAGE))
            else:
                del chars[at]
        seen.update(repr(parse_compress_args("".join(chars))).encode())
    return seen.hexdigest()


if __name__ == "__main__":
    print(digest())  # noqa: T201
