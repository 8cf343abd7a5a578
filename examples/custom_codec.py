"""A codec for a tool that trimtab has never seen: say where its long texts are, and the rest is done for you.

The same without a line of Python, in trimtab.toml:

    [tools.tracker_search]
    bulk = ["/issues/*/fields/description", "/issues/*/comments/*/body"]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from trimtab import Budget, Host, hookimpl
from trimtab.codecs import Codec


def tracker(output: Any) -> list[str] | None:
    """JSON Pointers of an answer's long texts; None for what has another shape, such as an error.

    It looks at the shape only, never at lengths or words: it must say the same of a trimmed answer.
    """
    if not isinstance(output, dict) or "issues" not in output:
        return None
    pointers = []
    for number, issue in enumerate(output["issues"]):
        pointers.append(f"/issues/{number}/fields/description")
        pointers += [f"/issues/{number}/comments/{comment}/body" for comment in range(len(issue["comments"]))]
    return pointers


class TrackerPlugin:
    """What an entry point of the group `trimtab` would name; here it is handed to the host."""

    @hookimpl
    def trimtab_codecs(self) -> Iterable[tuple[str, Codec]]:
        """A tool's name, or a glob, with its codec."""
        return [("tracker_search", tracker)]


def answer_of_the_tracker() -> dict[str, Any]:
    """Forty issues, each with a description and two comments."""
    return {
        "total": 40,
        "issues": [
            {
                "key": f"CORE-{number}",
                "fields": {"summary": f"Issue {number}", "description": f"Steps to see issue {number}.\n" * 120},
                "comments": [{"author": name, "body": f"{name} on issue {number}.\n" * 60} for name in ("ann", "bo")],
            }
            for number in range(1, 41)
        ],
    }


def main() -> int:
    """Trim an answer and show that its frame is untouched."""
    output = answer_of_the_tracker()
    with Host.load(store="memory:", plugins=[TrackerPlugin()]) as host:
        t = host.trim("tracker_search", output, budget=Budget(limit=40_000, keep=40_000))
        print(f"{t.sizes.before:,} chars, trimmed to {t.sizes.after:,} by {host.explain(t)['codec']}")
        print(t.value["issues"][0]["fields"]["description"])
        same_keys = [one["key"] for one in t.value["issues"]] == [one["key"] for one in output["issues"]]
        print(f"all keys there: {same_keys}; nothing lost: {host.inflate(t.row) == output}")
    return 0 if same_keys else 1


if __name__ == "__main__":
    sys.exit(main())
