"""`trimtab status`, `trimtab rebuild`: what a recorded conversation's compress calls have come to."""

from __future__ import annotations

import sys
from typing import Annotated

from attrs import asdict, frozen
from cyclopts import Parameter

from trimtab._json import canonical
from trimtab.cli.inputs import read_conversation, read_json
from trimtab.cli.options import Count, File, Name
from trimtab.cli.places import load_policy
from trimtab.cli.screen import console, counted, one_line, percent, put, saying, styled, table
from trimtab.cli.streams import emit, listed
from trimtab.compress import Block, CompressConfig, Status, dump_state, load_state
from trimtab.compress.board import Board
from trimtab.compress.rebuild import conversation_of, replay
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.shown import shown
from trimtab.compress.state import CompressState
from trimtab.compress.status import status_of
from trimtab.discovery import load
from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire import detect

__all__ = ["FlatSettings", "Settings", "rebuild", "status"]

_COLUMNS = 60


@frozen(kw_only=True)
class Settings:
    """Options of commands about a conversation: as it was set up.

    Args:
        protocol: The wire protocol, such as openai-chat. Default: the one that it looks like.
        state: A stored state to go on from. Default: the conversation is replayed from its beginning.
        compress_tool: Name of the compress tool. Default: compress.
        decompress_tool: Name of the decompress tool. Default: decompress.
        keep_recent: So many of the newest messages are never folded. Default: 4.
        min_chars: Chars that a call must name at least. Default: 5000.
        protect: A tool whose calls and results are never folded; give it several times for several.
        policy: Policy file, which says which plugins may load. Default: trimtab.toml in this folder, else
            [tool.trimtab] in pyproject.toml.
        debug: Show where an error was raised.
    """

    protocol: Name = None
    state: Annotated[str | None, Parameter(metavar="FILE")] = None
    compress_tool: Name = None
    decompress_tool: Name = None
    keep_recent: Count = None
    min_chars: Count = None
    protect: Annotated[tuple[str, ...], Parameter(metavar="TOOL", negative=())] = ()
    policy: Annotated[str | None, Parameter(metavar="FILE")] = None
    debug: bool = False


FlatSettings = Annotated[Settings | None, Parameter(name="*")]


@frozen(kw_only=True)
class _Replayed:
    """A conversation with the state that its calls have come to."""

    request: Json
    now: Conversation
    state: CompressState
    config: CompressConfig


def status(file: File, /, *, json: bool = False, settings: FlatSettings = None) -> int:
    """Show what is folded in a recorded conversation, what that saves, and what could be folded now.

    The conversation is a request of any wire protocol, its list of messages, or JSON lines with a message each. Its
    calls of the compress and decompress tools are replayed as they went.

    Args:
        file: A file, or - for standard input.
        json: Print one object.
    """
    found = _replayed(file, settings or Settings())
    report = status_of(Board(found.state, found.now, found.config), found.state)
    if json:
        emit(f"{canonical(listed(asdict(report)))}\n")
        return 0
    _show(report)
    return 0


def rebuild(file: File, /, *, request: bool = False, settings: FlatSettings = None) -> int:
    """Print the compression state of a recorded conversation, rebuilt from its messages.

    It is one JSON object, as `dump_state` gives it and `load_state` reads it. What was found goes to standard error.

    Args:
        file: A file, or - for standard input: a request, its list of messages, or JSON lines with a message each.
        request: Print the conversation as it would be sent instead, with blocks in the place of folded messages.
    """
    found = _replayed(file, settings or Settings())
    if request:
        messages = shown(found.state, found.now, found.config)
        emit(f"{canonical(found.now.shape.write(found.request, messages))}\n")
    else:
        emit(f"{canonical(dump_state(found.state))}\n")
    marks = found.state.marks
    failed = sum(not mark.ok for mark in marks)
    blocks = counted(len(found.state.active), "block")
    messages_found = counted(len(found.now.rows), "message")
    saying(
        (f"{messages_found}, {counted(len(marks), 'call')} replayed, {failed} of them in vain, {blocks} shown", "green")
    )
    return 0


def _replayed(file: str, settings: Settings) -> _Replayed:
    request = read_conversation(file)
    known = load(load_policy(settings.policy)[0].plugins).wire_protocols
    name = settings.protocol or detect(request, known)
    if name is None or name not in known:
        what = "this looks like no wire protocol" if name is None else f"unknown protocol {name!r:.80}"
        raise CallerError(f"{what}; name one with --protocol: {', '.join(known)}")
    config = _config(settings)
    now = conversation_of(request, known[name])
    if not now.rows:
        raise CallerError(f"{file} has no messages as {name} writes them; name the protocol with --protocol")
    before = CompressState() if settings.state is None else load_state(read_json(settings.state))
    return _Replayed(request=request, now=now, state=replay(before, now, config), config=config)


def _config(settings: Settings) -> CompressConfig:
    usual = CompressConfig()
    return CompressConfig(
        compress=usual.compress if settings.compress_tool is None else settings.compress_tool,
        decompress=usual.decompress if settings.decompress_tool is None else settings.decompress_tool,
        keep_recent=usual.keep_recent if settings.keep_recent is None else settings.keep_recent,
        min_chars=usual.min_chars if settings.min_chars is None else settings.min_chars,
        protected_tools=settings.protect,
    )


def _show(report: Status) -> None:
    screen = console(sys.stdout)
    folded = f", {report.folded:,} of them folded" if report.folded else ", none of them folded"
    screen.print(styled((counted(report.messages, "message"), "bold"), folded), soft_wrap=True)
    saved = percent(report.tokens, report.shown)
    screen.print(
        styled(f"about {report.tokens:,} tokens, shown as {report.shown:,} (", (saved, "green"), ")"), soft_wrap=True
    )
    if report.failures:
        which = "call" if report.failures == 1 else f"{report.failures} calls"
        screen.print(
            styled((f"the last {which} of the compress and decompress tools failed", "yellow")), soft_wrap=True
        )
    if report.blocks:
        rows = table("block", "tier", "messages", "tokens", "summary", right=("tier", "tokens"))
        for block in report.blocks:
            about = one_line(block.topic or block.summary, _COLUMNS)
            rows.add_row(block.ref, str(block.tier), _messages(block), f"{block.tokens:,}", about)
        screen.print()
        put(screen, rows)
    screen.print()
    if not report.pending:
        screen.print(styled("Nothing can be folded now."), soft_wrap=True)
        return
    rows = table("can be folded now", "chars", "tokens", right=("chars", "tokens"))
    for one in report.pending:
        rows.add_row(f"{one.start_ref} to {one.end_ref}", f"{one.chars:,}", f"{one.tokens:,}")
    put(screen, rows)


def _messages(block: Block) -> str:
    first, last = block.spans[0][0], block.spans[-1][1]
    return f"m{first:05} to m{last:05}" + (f" in {len(block.spans)} runs" if len(block.spans) > 1 else "")
