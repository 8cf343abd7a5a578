"""Renders a fixed, varied corpus and prints a digest per output, for `test_same_bytes.py`.

    python core/tests/render_corpus.py [--store URL] [--block NAME,NAME] [--backwards] [--write]

`--block`: modules that cannot be imported, as where an extra is not installed. `--backwards`: the other way round, so
that every output comes after other calls. `--write`: writes the golden file instead of printing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import locale
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

GOLDEN = Path(__file__).resolve().parent / "golden" / "same_bytes.json"


class Blocked(MetaPathFinder):
    """Makes modules look as if they were not installed."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Raises ModuleNotFoundError for a blocked module, and leaves the others to the next finder."""
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r} (blocked)", name=name)
        return None


def results(kind: str, count: int, size: int) -> list[dict[str, Any]]:
    """Search results with a text of one kind."""
    from trimtab.testing.corpus import made_text

    return [
        {
            "id": f"r-{n}",
            "url": f"https://e.org/{n}",
            "n": 2**53 + n,
            "content": made_text(kind, size, n),
            "score": 1e-7,
        }
        for n in range(count)
    ]


def corpus() -> Iterator[tuple[str, str, Any, dict[str, Any]]]:
    """Name, tool, output, and how it is trimmed."""
    from trimtab import Budget
    from trimtab.testing.corpus import TEXT_KINDS, made_text
    from trimtab.testing.spelling import Style, written

    small, usual = Budget(limit=700, keep=600), Budget(limit=4_000, keep=3_000)
    tokens = Budget(unit="tokens", limit=900, keep=700)
    for kind in sorted(TEXT_KINDS):
        text = made_text(kind, 9_000, 7)
        yield f"text {kind}", "page", text, {"budget": usual}
        yield f"text {kind}, focus", "page", text, {"budget": usual, "focus": "cache prefix line 17 前缀 naïve"}
        yield f"text {kind}, small", "page", text, {"budget": small}
        yield f"text {kind}, tokens", "page", text, {"budget": tokens}
        yield f"results {kind}", "search", results(kind, 5, 2_000), {"budget": usual}
        yield f"results {kind}, tokens", "search", results(kind, 5, 2_000), {"budget": tokens}
        yield f"results {kind}, cap", "search", results(kind, 2, 700), {"budget": Budget(cap=300)}
        for escapes in ("utf8", "ascii", "slashes", "upper", "html", "odd"):
            style = Style(escapes=escapes, indent=2, bom=True, odd_numbers=True, repeat_keys=True, seed=3)
            yield f"json text {kind}, {escapes}", "get", written(results(kind, 3, 1_500), style), {"budget": usual}
    page = made_text("prose", 30_000, 1)
    yield "unknown tool", "x", {"a/b": {"~": [page, {"": page[::-1]}]}, "n": [1.5, None, True]}, {"budget": Budget()}
    yield "block", "mcp__x__y", {"content": [{"type": "text", "text": json.dumps({"t": page})}]}, {"budget": usual}
    yield "read back", "fs_read", {"text": page, "start_line": 1, "total_lines": 400}, {}
    yield "over budget", "x", ["x" * 200 + page[:400]] * 40, {"budget": small}


def digests(store: str, backwards: bool) -> dict[str, str]:
    """The digest of each output's prompt text and row, by name, in the order of the corpus."""
    from trimtab import Host, Policy, hookimpl
    from trimtab.codecs import entities

    class Search:
        """A plugin with one codec."""

        @hookimpl
        def trimtab_codecs(self) -> list[Any]:
            """For `search` and `get`."""
            return [("search", entities("/*/content")), ("g*", entities("/*/content"))]

    cases = list(corpus())
    found: dict[str, str] = {}
    with Host.load(store=store, policy=Policy(), plugins=[Search()], discover=False) as host:
        for name, tool, output, how in reversed(cases) if backwards else cases:
            trimmed = host.trim(tool, output, **how)
            if trimmed.error is not None:
                raise SystemExit(f"{name}: {trimmed.error}")
            found[name] = hashlib.sha256(f"{trimmed.text}\0{trimmed.row_text}".encode()).hexdigest()[:16]
    return {name: found[name] for name, *_ in cases}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", default="memory:")
    parser.add_argument("--block", default="")
    parser.add_argument("--backwards", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(arguments)
    sys.meta_path.insert(0, Blocked([name for name in asked.block.split(",") if name]))
    with suppress(locale.Error):  # where this machine has not got it, its name in the environment is all there is
        locale.setlocale(locale.LC_ALL, "")
    found = json.dumps(digests(asked.store, asked.backwards), indent=0, ensure_ascii=True)
    if asked.write:
        GOLDEN.write_text(f"{found}\n", encoding="utf-8", newline="\n")
    else:
        sys.stdout.write(found)


if __name__ == "__main__":
    main()
