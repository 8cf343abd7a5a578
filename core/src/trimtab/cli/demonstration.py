"""`trimtab demo`: the command; what it runs is `trimtab.cli.demo`."""

from __future__ import annotations

from trimtab.cli.options import Folder

__all__ = ["demo"]


def demo(*, keep_dir: Folder = None, json: bool = False, debug: bool = False) -> int:
    """Run an agent with real tools and a scripted model, and check trimtab's laws as it goes.

    Its tools read files of this Python's standard library, a page served on loopback, and a knowledge base of trimtab's
    own documents. Exits with 1 if a law is broken.

    Args:
        keep_dir: Keep the database and the stored texts in this folder. Default: nowhere.
        json: As JSON, for programs.
        debug: Show where an error was raised.
    """
    from trimtab.cli.demo import run

    return run(keep_dir=keep_dir, json=json)
