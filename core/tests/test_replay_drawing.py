"""The picture of a report: what it is drawn from alone, whole files, the same each time."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib", reason="pictures need trimtab[plot]")

import matplotlib

from trimtab.compaction.settings import FoldSettings
from trimtab.errors import CallerError, MissingExtra
from trimtab.host import Host
from trimtab.policy import Policy
from trimtab.replay import Report, ServeSettings, replay
from trimtab.replay.drawing import draw, format_of
from trimtab.replay.generated import generate

PNG = b"\x89PNG\r\n\x1a\n"


def report(turns: int, window: int | None) -> Report:
    """Of a made-up session."""
    with Host.load("memory:", Policy(limit=2_000, keep=1_200), discover=False) as host:
        return replay(generate(turns, size=0.1), host, ServeSettings(folds=FoldSettings(windows=window)))


@pytest.fixture(scope="module")
def folded() -> Report:
    """With folds of both kinds."""
    return report(6, 12_000)


def test_the_files_are_whole(folded: Report) -> None:
    """A PNG of a size to be looked at, and well-formed SVG with a shape for everything drawn."""
    image = draw(folded, "png")
    assert image.startswith(PNG)
    assert image.endswith(b"IEND\xaeB`\x82")
    assert (int.from_bytes(image[16:20]), int.from_bytes(image[20:24])) == (1_440, 950)
    root = ElementTree.fromstring(draw(folded, "svg"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{http://www.w3.org/2000/svg}path")) > 50


@pytest.mark.parametrize("form", ["png", "svg"])
def test_the_same_report_is_drawn_alike(folded: Report, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, whatever the user's own settings of matplotlib are; and these stay as they were."""
    first = draw(folded, form)
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 30.0)
    monkeypatch.setitem(matplotlib.rcParams, "axes.facecolor", "red")
    assert draw(folded, form) == first
    assert matplotlib.rcParams["font.size"] == 30.0


@pytest.mark.parametrize(("turns", "window"), [(1, None), (1, 1_000_000), (2, 12_000)])
def test_small_reports_are_drawn(turns: int, window: int | None) -> None:
    """A few requests, no folds, a window that is never near."""
    assert draw(report(turns, window), "png").startswith(PNG)


def test_no_picture_tells_when_it_was_made(folded: Report) -> None:
    """Neither the date nor the program's release is in the file."""
    for form in ("png", "svg"):
        data = draw(folded, form)
        assert b"dc:date" not in data
        assert matplotlib.__version__.encode() not in data


@pytest.mark.parametrize(("name", "form"), [("a.png", "png"), ("b/c.SVG", "svg"), ("x.y.svg", "svg")])
def test_the_ending_says_the_format(name: str, form: str) -> None:
    """As is usual."""
    assert format_of(name) == form


@pytest.mark.parametrize("name", ["", "png", "a.pdf", "a.png.txt", "a."])
def test_another_ending_is_refused(name: str) -> None:
    """The error names the two that there are."""
    with pytest.raises(CallerError, match=r"\.png or \.svg"):
        format_of(name)


def test_without_the_library_the_extra_is_named(folded: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setattr("trimtab.replay.drawing.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'trimtab\[plot\]'"):
        draw(folded, "png")
