"""The report of an import on a console, of whatever it speaks: nothing in it moves a cursor."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

import pytest
from rich.console import Console

from incumbent.consolidator.verdict import Decision, Reason, Route, Ruling, Verdict
from incumbent.curator.prune import Suggestion
from incumbent.curator.roles import EvictionKind, Grounds
from incumbent.errors import Problem
from incumbent.intake.query import Query
from incumbent.pipeline.import_plan import Bundle, ImportedAgent, Origin
from incumbent.pipeline.submission import Submission
from incumbent.rater.model import RelationalFacts
from incumbent.report.console import Printer
from incumbent.report.imports import CustomerShareOutput, ImportOutput, print_import
from incumbent.report.output import CapabilityStatus, JudgedQuery
from tests.factories import make_taxonomy
from tests.github.hostile import FEW

TAXONOMY = make_taxonomy("a", "b")
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def agent(
    customer: str = "acme", agent: str = "desk", folder: str = "agents/desk", queries: int = 2, undeclared: int = 0
) -> Bundle:
    """The set of an agent, some of whose queries are ``undeclared``."""
    found = tuple(Query(id=f"q{number}", turns=("hi",), file="f", line=None) for number in range(queries))
    spoken = [ImportedAgent(shown=None if place < undeclared else folder) for place in range(queries)]
    return Bundle(
        submission=Submission(customer=customer, agent=agent, folder="", queries=found),
        origins={query.id: Origin(eval_set="old.csv", spoken=each) for query, each in zip(found, spoken, strict=True)},
    )


def report(**more: Any) -> ImportOutput:
    """An import of two queries into an empty set of ten slots, with nothing to remark."""
    entries = (
        "updated",
        "unchanged",
        "evicted",
        "waiting",
        "archived",
        "gone",
        "left_out",
        "needed_person",
        "attempts",
    )
    others = ("verdicts", "short", "uncovered", "suggestions", "concentrated", "notes")
    defaults: dict[str, Any] = {
        **dict.fromkeys((*entries, *others), ()),
        "agents": [agent()],
        "added": ["e1", "e2"],
        "size": 2,
        "ceiling": 10,
        "cost": 4.5,
        "over_ceiling": 0,
        "refused": None,
        "files": {},
        "customer_share": 0.5,
        "dry_run": False,
        "usage": None,
        "contradictions": {},
        "unfamiliar": {},
    }
    return ImportOutput.model_validate(defaults | more)


def verdict(id: str, text: str = "a question") -> JudgedQuery:
    facts = RelationalFacts(
        exercised=True,
        competent=(),
        new_capabilities=(),
        new_combinations=(),
        wins={},
        max_similarity=0.9,
        most_similar="e1",
        top_score=0.0,
    )
    ruling = Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.CLONE,))
    return JudgedQuery(
        verdict=Verdict(id=id, ruling=ruling, displaces=(), alternate_of=(), facts=facts),
        query=Query(id=id, turns=(text,), file="f", line=2),
        why="Nearly the same text as e1.",
    )


def suggestion(id: str) -> Suggestion:
    return Suggestion(
        id=id,
        grounds=Grounds(kind=EvictionKind.REDUNDANT, yields_to=(), content="0", taxonomy_major=1),
        remaining={},
    )


def printed(output: ImportOutput, terminal: bool = False) -> str:
    stream = io.StringIO()
    print_import(
        output,
        TAXONOMY,
        Printer(console=Console(file=stream, force_terminal=terminal, width=200)),
    )
    return stream.getvalue()


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "Imported 2 queries: 2 added, 0 updated, 0 unchanged\n"),
        ({"dry_run": True, "agents": [agent(queries=1)]}, "Would import 1 query: "),
        ({"evicted": ["e3"], "waiting": ["e4"]}, "0 unchanged, 2 left as they are"),
        ({"evicted": ["e3"]}, "e3 was evicted, and stays so"),
        ({"archived": ["e5"]}, "0 unchanged, 1 archived\n"),
        (
            {"archived": ["e5", "e6"], "files": {"eval_sets/acme/desk/archived.yaml": "write"}},
            "The set can do without 2 queries; archived in eval_sets/acme/desk/archived.yaml\n",
        ),
        ({"archived": ["e5"]}, "The set can do without 1 query; archived in eval sets that hold them already\n"),
        ({"waiting": ["e4"]}, "e4 waits for a slot"),
        ({"gone": ["e5"]}, "e5 is no longer in its file"),
        ({"attempts": ["e1"]}, "e1 argues with the classifier"),
        ({"unfamiliar": {"e1": "code"}}, "e1: the classifier cannot judge this kind of text: it is code or data."),
        (
            {"contradictions": {"e1": {"expected": ["look"], "likeliest": [], "probability": 0.1}}},
            "e1: the eval set expects look; the classifier expected no tool call.",
        ),
        ({"agents": [agent()]}, "acme / desk: 2 queries; specification in agents/desk\n"),
        ({"agents": [agent(undeclared=2)]}, "2 queries; no specification, so that nothing is"),
        ({"agents": [agent(undeclared=1)]}, "specification in agents/desk; 1 of them have no specification"),
        ({}, "Regression set: 2 of 10 slots taken, 8 free; total cost 4.5\n"),
        ({"ceiling": 2}, "2 of 2 slots taken: what is admitted waits until an entry goes; total cost 4.5\n"),
        (
            {"ceiling": 1, "over_ceiling": 1},
            "1 over the ceiling: what is admitted waits until 2 have gone; total cost 4.5\n",
        ),
        ({"suggestions": [suggestion("e1")]}, "Could go without losing anything (1): `incumbent prune`\n"),
        ({"refused": 2}, "2 suggestions left out: people refused\n"),
        ({"suggestions": [suggestion("e1")], "over_ceiling": 1}, "back under its ceiling\n"),
        ({"suggestions": [suggestion("e1")], "over_ceiling": 3}, "still 2 over its ceiling"),
        ({"left_out": ["e2"], "verdicts": [verdict("e2")]}, "e2\ta question\tCLONE\tNearly the same text as e1.\n"),
        ({"needed_person": ["e2"], "verdicts": [verdict("e2")]}, "Needed review (1)"),
        ({"uncovered": ["b"]}, "Covered by no entry (1)\ncapability\tid\nB\tb\n"),
        (
            {
                "short": [
                    CapabilityStatus(
                        id="a",
                        champion="e1",
                        champion_score=0.9,
                        coverers=["e1"],
                        floor=2,
                        floor_met=False,
                        on_trial=False,
                    )
                ]
            },
            "Below their floor (1)\ncapability\tcoverers\tfloor\nA\t1\t2\n",
        ),
        ({"concentrated": [CustomerShareOutput(customer="acme", entries=9, share=0.9)]}, "acme\t9\t90%\n"),
        (
            {"notes": [Problem(file="x.json", line=None, message="odd", fix="mend it")]},
            "Remarks\n  x.json: odd\n",
        ),
        ({"notes": [Problem(file="x.json", line=3, message="odd", fix="mend it")]}, "  x.json:3: odd\n"),
    ],
)
def test_the_report_says_it(more: dict[str, Any], text: str) -> None:
    assert text in printed(report(**more))


def test_what_is_not_there_has_no_section() -> None:
    assert len(printed(report()).splitlines()) == 3


def test_a_terminal_gets_tables() -> None:
    shown = printed(report(left_out=["e2"], verdicts=[verdict("e2")]), terminal=True)
    assert "\t" not in shown
    assert "Nearly the same text as e1." in shown


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("name", FEW)
def test_nothing_from_outside_moves_a_cursor(name: str, terminal: bool) -> None:
    text = FEW[name]
    output = report(
        agents=[agent(customer=text, agent=text, folder=text)],
        left_out=["e2"],
        verdicts=[verdict("e2", text)],
        concentrated=[CustomerShareOutput(customer=text, entries=9, share=0.9)],
        notes=[Problem(file="x", line=1, message=text, fix=text)],
        suggestions=[suggestion("e1")],
        evicted=["e3"],
    )
    shown = printed(output, terminal)
    signs = {sign for sign in shown if unicodedata.category(sign) in UNSEEN} - {"\n", "\t"}
    assert signs <= ({"\x1b"} if terminal else set())
    if not terminal:
        assert len(shown.splitlines()) == len(printed(report(**{**dict(output), "agents": [agent()]})).splitlines())
