"""The measures on a console: what they say, on a terminal and in a pipe."""

from __future__ import annotations

import io
import re
from typing import Any

from rich.console import Console

from incumbent.classifier.evaluation.measures import Sampling, compare, evaluate
from incumbent.classifier.model import Identity
from incumbent.report import evaluation as outputs
from incumbent.report.evaluation import print_evaluation
from tests.evaluation.factories import cells

LABELS = {"a.good": "TTTTFFFF", "b.bad": "TTFFTTFF", "c.one": "FFFFFFFF"}
OURS = {"a.good": "TTTTFFFF", "b.bad": "FFTTFFTT", "c.one": "FFFFFFFF"}
THEIRS = {"a.good": "FFFFFFFF", "b.bad": "TTFFTTFF", "c.one": "FFFFFFFT"}
IDENTITY = Identity(backend="openai", model="<model>\x1b[31m & a very long name of it indeed", prompt="p", samples=5)
SAMPLING = Sampling(100, 1)


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
