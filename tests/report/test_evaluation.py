"""The measures on a console and as drawings: what they say, on a terminal, in a pipe, in light and dark."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from bot.classifier.model import Identity
from bot.evaluation.measures import Sampling, compare, evaluate
from bot.report import evaluation as outputs
from bot.report.evaluation import print_evaluation
from bot.report.evaluation_plots import plots
from bot.report.svg import Drawing
from tests.evaluation.factories import cells

LABELS = {"a.good": "TTTTFFFF", "b.bad": "TTFFTTFF", "c.one": "FFFFFFFF"}
OURS = {"a.good": "TTTTFFFF", "b.bad": "FFTTFFTT", "c.one": "FFFFFFFF"}
THEIRS = {"a.good": "FFFFFFFF", "b.bad": "TTFFTTFF", "c.one": "FFFFFFFT"}
IDENTITY = Identity(backend="openai", model="<model>\x1b[31m & a very long name of it indeed", prompt="p", samples=5)
SAMPLING = Sampling(100, 1)
SVG = "{http://www.w3.org/2000/svg}"


def output(compared: bool = False, labels: dict[str, str] = LABELS) -> outputs.EvaluateOutput:
    ours, theirs = (cells(labels, {name: each[name] for name in labels}) for each in (OURS, THEIRS))
    found: Any = None
    if compared:
        evaluation, comparison = compare(ours, theirs, SAMPLING, 10)
        found = outputs.against("other.json", comparison, IDENTITY, 10)
    else:
        evaluation = evaluate(ours, SAMPLING, 10)
    return outputs.EvaluateOutput.of(evaluation, IDENTITY, "1.0.0", [], SAMPLING, 10, found)


def shown(item: outputs.EvaluateOutput, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, force_terminal=terminal, width=200, color_system="standard" if terminal else None,
        highlight=False, soft_wrap=True, markup=False,
    )  # fmt: skip
    print_evaluation(item, console)
    return stream.getvalue()


def test_a_pipe_gets_one_line_for_each_capability() -> None:
    text = shown(output(compared=True), terminal=False)
    assert "a.good\t1.00\t[1.00, 1.00]\t4/8\t1.00\t0.50\t1.00\t1.00\t0.000\t0.000\n" in text
    assert "b.bad\t-1.00\t[-1.00, -1.00]\t4/8\t0.00\t0.50\t0.00\t0.00\t1.000\t1.000\n" in text
    assert "a.good\t1.00\t0.00\t+1.00\t[+1.00, +1.00]\tyes\n" in text
    assert "  c.one: 0 of 8 TRUE, accuracy 1.00\n" in text
    assert "Against other.json: macro phi -0.500" in text
    assert "\x1b" not in text


def test_a_terminal_gets_tables_and_colour_and_nothing_of_a_name_moves_its_cursor() -> None:
    text = shown(output(compared=True), terminal=True)
    assert re.search(r"\x1b\[31mb\.bad", text)  # worse than chance: red
    assert re.search(r"\x1b\[32ma\.good", text)  # better than the other: green
    assert "\t" not in text
    assert "<model>\ufffd[31m" in text


def test_one_capability_without_a_phi_says_so() -> None:
    text = shown(output(compared=True, labels={"c.one": "FFFFFFFF"}), terminal=False)
    assert text.startswith("no capability has a phi: 0 capabilities, 8 queries\n")
    assert "Against other.json: no capability has a phi\n" in text
    assert "phi\t95 %" not in text


@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize(
    "labels", [LABELS, {"c.one": "FFFFFFFF"}, {"b.bad": "TTFFTTFF"}], ids=["all", "none", "negative"]
)
def test_drawings_are_whole_and_all_of_it_is_inside(compared: bool, labels: dict[str, str]) -> None:
    item = output(compared, labels)
    drawn = plots(item)
    assert drawn == plots(item)
    assert set(drawn) == {"reliability.svg", "capabilities.svg"}
    for text in drawn.values():
        root = ElementTree.fromstring(text)
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        for element in root.iter():
            for names, most in ((("x", "x1", "x2", "cx"), width), (("y", "y1", "y2", "cy"), height)):
                assert all(0 <= float(element.attrib[name]) <= most for name in names if name in element.attrib)
            for point in element.attrib.get("points", "").split():
                x, y = map(float, point.split(","))
                assert 0 <= x <= width
                assert 0 <= y <= height
        for name in {element.attrib["class"] for element in root.iter() if "class" in element.attrib}:
            assert f".{name} {{" in text
        assert "prefers-color-scheme: dark" in text
        assert "\x1b" not in text
    words = [element.text or "" for element in ElementTree.fromstring(drawn["capabilities.svg"]).iter(f"{SVG}text")]
    assert all(any(name in word for word in words) for name in labels)
    assert ("macro phi" in words) is (labels != {"c.one": "FFFFFFFF"})


def test_bars_are_as_long_as_phi_says() -> None:
    root = ElementTree.fromstring(plots(output(labels={"a.good": "TTTTFFFF", "b.bad": "TTFFTTFF"}))["capabilities.svg"])
    bars = [element for element in root.iter(f"{SVG}rect") if element.attrib["class"] == "ours"]
    good, bad, macro = (float(element.attrib["width"]) for element in bars)
    assert good == bad == 200.0  # half of the axis from −1 to 1
    assert macro == 0.0
    assert float(bars[1].attrib["x"]) + bad == float(bars[0].attrib["x"])


def test_foreign_words_are_text_and_never_markup() -> None:
    drawing = Drawing(10, 10, "<script>")
    drawing.text(1, 2, '</text><script>alert("1")</script>')
    root = ElementTree.fromstring(drawing.xml)
    assert not list(root.iter(f"{SVG}script"))


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours (WCAG 2)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_are_legible_on_light_and_on_dark_ground() -> None:
    text = plots(output())["reliability.svg"]
    for part in text.split("@media", 1):
        colours = dict(re.findall(r"^\.?(\S+) \{[^#\n]*(#[0-9a-f]{6})", part, re.MULTILINE))
        ground = colours.pop("ground")
        colours.pop("grid")
        assert len(colours) == 8
        assert all(contrast(colour, ground) >= 4.5 for colour in colours.values()), colours
