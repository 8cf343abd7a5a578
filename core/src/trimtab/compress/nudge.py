"""Reminders: when the model is told that it can compress, and in which words.

Never each turn: below a share of the window only after much new text, nearer to its end sooner. A reminder names real
refs, all of which pass the gates; with nothing to compress there is none. Once shown it stays where it is.
"""

from __future__ import annotations

from typing import Final

from trimtab.compress.board import Board
from trimtab.compress.listing import Listed, compressible, example_call, listed_text
from trimtab.compress.state import Band, CompressState, Nudge

__all__ = ["due"]

_WINDOW_SHARE: Final = 4  # a window's growth gate is at most this part of it
_GATES: Final[dict[Band, int]] = {"growth": 1, "pressure": 2, "emergency": 8}  # divides the growth gate
_PATIENCE: Final = 2  # failures in a row after which the next reminder takes twice as long

_WORDS: Final[dict[Band, str]] = {
    "growth": "If parts of it are settled, compress them.",
    "pressure": "Compress what is settled before you go on.",
    "emergency": "Compress what you can now: the next answers may be cut off.",
}


def due(board: Board, state: CompressState, tokens: int) -> Nudge | None:
    """The reminder to show below the last message, if one is due.

    Args:
        board: the conversation as it is now.
        tokens: that the next request will take, as the provider counted last or as estimated.
    """
    config = board.config
    if not config.compress or config.window is None or not board.rows:
        return None
    band = _band(tokens / config.window, config.pressure, config.emergency)
    gate = max(1, min(config.growth, config.window // _WINDOW_SHARE) // _GATES[band])
    if state.failures > _PATIENCE:
        gate *= 2
    elif _ignored(state):
        gate = max(1, gate // 2)
    if _growth(board, state) < gate:
        return None
    listed = compressible(board, len(board.rows))
    if not listed:
        return None
    return Nudge(after=board.seen[-1].number, text=_text(band, tokens, config.window, listed), band=band, tokens=tokens)


def _band(share: float, pressure: float, emergency: float) -> Band:
    return "emergency" if share >= emergency else "pressure" if share >= pressure else "growth"


def _ignored(state: CompressState) -> bool:
    """Whether no call came since the last reminder."""
    if not state.nudges:
        return False
    return not state.marks or state.marks[-1].message <= state.nudges[-1].after


def _growth(board: Board, state: CompressState) -> int:
    """Tokens of the messages since the last reminder or the last call, whether that was taken or not."""
    anchors = [state.nudges[-1].after] if state.nudges else []
    anchors += [state.marks[-1].message] if state.marks else []
    newest = max(anchors, default=0)  # which may be out of sight by now
    return sum(
        one.tokens for one, block in zip(board.seen, board.block_at, strict=True) if one.number > newest and not block
    )


def _text(band: Band, tokens: int, window: int, listed: list[Listed]) -> str:
    return (
        f"The conversation takes about {tokens:,} of {window:,} tokens. {_WORDS[band]}\n"
        f"{listed_text(listed)}\n"
        f"For example: {example_call(listed[0])}\n"
        "This is an automatic note, not from the user."
    )
