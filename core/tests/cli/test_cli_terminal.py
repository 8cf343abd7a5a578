"""What is different on a terminal: nothing in a text steers it, and long work shows that it goes on."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from rich.cells import cell_len

from trimtab.cli import screen, streams


def test_a_text_cannot_steer_a_terminal(trimtab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal control characters are shown as pictures and the last line is ended; elsewhere bytes are exact."""
    data = "a\x1b[2J\x07\r\nb\rc\x9b\x7f\tend".encode()
    assert trimtab("trim", "-", stdin=data).out == data
    monkeypatch.setattr(streams, "is_terminal", lambda stream: True)
    assert trimtab("trim", "-", stdin=data).text == "a␛[2J␇\r\nb␍c\\x9b␡\tend\n"
    assert trimtab("trim", "-", "--row", stdin=data).text == '"a\\u001b[2J\\u0007\\r\\nb\\rc\\x9b␡\\tend"\n'


def test_a_message_cannot_steer_a_terminal(trimtab: Any) -> None:
    """Names and values in messages are shown with pictures too."""
    assert "␛[31m" in trimtab("show", "\x1b[31m.json").err
    assert "\x1b" not in trimtab("\x1b[31mcommand").err


@pytest.mark.parametrize("terminal", [True, False])
def test_short_work_shows_no_progress(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Work that is done within a second shows nothing, on a terminal as elsewhere."""
    monkeypatch.setattr(screen, "is_terminal", lambda stream: terminal)
    with screen.progress("working", 3) as tell:
        for done in range(4):
            tell(done)
    assert capsys.readouterr() == ("", "")


def test_long_work_shows_progress_on_standard_error_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal the work's name is shown once its time is up, and standard output gets nothing."""
    monkeypatch.setattr(screen, "is_terminal", lambda stream: True)

    class AtOnce:
        """A timer whose time is up when it starts."""

        daemon = False

        def __init__(self, seconds: float, start: Any) -> None:
            self.start = start

        def cancel(self) -> None:
            """Nothing is left to cancel."""

        def join(self) -> None:
            """It has ended."""

    monkeypatch.setattr(screen, "Timer", AtOnce)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with screen.progress("working hard", 3) as tell:
        tell(2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "working hard" in err


def test_no_progress_where_the_output_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that prints to a terminal shows by that how far it is: no bar is drawn into its lines."""
    monkeypatch.setattr(screen, "is_terminal", lambda stream: True)
    monkeypatch.setattr(screen, "Progress", None)
    with screen.progress("printing", 3, printing=True) as tell:
        tell(1)
    monkeypatch.setattr(screen, "is_terminal", lambda stream: stream is sys.stdout)
    with screen.progress("piped", 3) as tell:
        tell(1)


@pytest.mark.parametrize(
    ("before", "after", "said"), [(100, 25, "-75 %"), (100, 100, "unchanged"), (0, 0, "unchanged"), (3, 9, "unchanged")]
)
def test_percent(before: int, after: int, said: str) -> None:
    """A share is told only where something became smaller."""
    assert screen.percent(before, after) == said


@pytest.mark.parametrize(("width", "text"), [(10, "漢字漢字漢字漢字"), (5, "abcdefghij"), (3, "ab"), (10, "a\r\nb\tc")])
def test_a_line_fits_its_columns(width: int, text: str) -> None:
    """Beginnings and ends are cut by columns, wide characters counted as two, newlines shown."""
    for line in (screen.one_line(text, width), screen.last_line(text, width)):
        assert cell_len(line) <= width
        assert "\n" not in line
