"""A review and a classification on a console: what asks people first, excluded last and cut."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from rich.console import Console

from incumbent.curator.suggestions import Swap
from incumbent.github.facts import classified_of
from incumbent.pipeline.review import Review, judge
from incumbent.report.classify import print_classified
from incumbent.report.console import Printer
from incumbent.report.review_console import print_text
from incumbent.report.review_markdown import render_markdown
from tests.factories import make_entry
from tests.github.scenes import make_analysis, make_platform, make_query


def reviewed(count: int = 15) -> Review:
    """One query that is new and many that repeat it."""
    asked = [make_query(f"q{number:02}", {"a": 0.9}, f"What is number {number}?") for number in range(count)]
    analysis = make_analysis([*asked, make_query("weak", {"d": 0.55}, "Who, perhaps?")]).judged
    return judge(make_platform(), [classified_of(facts) for facts in analysis.submissions], analysis.identity)


def printed(terminal: bool, everything: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=90, color_system=None)
    print_text(reviewed(), Printer(everything, console), "incumbent admit 'my set'")
    return stream.getvalue()


def test_a_terminal_shows_what_needs_people_first_and_cuts_what_is_excluded() -> None:
    out, review = printed(terminal=True), reviewed()
    places = [out.index(title) for title in ("Needs you (", "Excluded (") if title in out]
    assert places == sorted(places)
    assert f"Excluded ({len(review.plan.excluded)})" in out
    assert f"{len(review.plan.excluded) - 10} more: --all" in out
    assert "more: --all" not in printed(terminal=True, everything=True)
    assert all(len(line.rstrip()) <= 90 for line in out.splitlines())


def test_the_command_that_accepts_can_be_copied() -> None:
    waiting = [verdict.id for verdict in reviewed().plan.waiting_for_review]
    accepts = " ".join(f"--accept {id}" for id in waiting)
    assert waiting
    assert f"incumbent admit 'my set' {accepts}\n" in printed(terminal=True)


def full(*in_line: str, scores: Mapping[str, float] = MappingProxyType({"a": 0.95, "b": 0.95, "e": 0.95})) -> Review:
    """A query with merit for which there is no slot, beside entries that wait with the same merit."""
    platform = make_platform(ceiling=6)
    waiting = {id: make_entry(id, scores) for id in in_line}
    platform = replace(platform, regression_set=replace(platform.regression_set, waiting=waiting))
    facts = make_analysis([make_query("q", {"a": 0.99, "b": 0.99, "d": 0.95})]).judged
    return judge(platform, [classified_of(item) for item in facts.submissions], facts.identity)


def test_at_the_ceiling_a_review_says_what_a_new_query_would_free() -> None:
    review = full()
    assert review.swaps == (Swap(admit="q", remove=("ra1", "rb1")),)
    stream = io.StringIO()
    print_text(review, Printer(console=Console(file=stream, width=90)), "incumbent admit set")
    for text in (stream.getvalue(), render_markdown(review)):
        assert "ossible swap: admit" in text
    # What adds most has the first choice; of equals it is what waits already.
    same = {"a": 0.99, "b": 0.99, "e": 0.95}
    assert full("w").swaps == (Swap(admit="q", remove=("ra1", "rb1")),)
    assert full("w", scores=same).swaps == (Swap(admit="q", remove=("ra2", "rb2"), rests_on=("w",)),)
    assert reviewed().swaps == ()


def test_the_command_to_copy_names_what_enters_together() -> None:
    asked = [make_query(f"q{place}", {"d": 0.6}, text) for place, text in enumerate(["Which is it?", "Move all."])]
    facts = make_analysis([*asked, make_query("other", {"e": 0.7}, "Draw it.")]).judged
    platform = make_platform(novelty=1, honesty_floor=0.9)
    review = judge(platform, [classified_of(item) for item in facts.submissions], facts.identity)
    assert review.together(["q0", "q1", "other"]) == ("q0", "other")


def test_a_pipe_gets_one_verdict_a_line() -> None:
    rows = [line.split("\t") for line in printed(terminal=False).splitlines() if "\t" in line]
    (header,) = [row for row in rows if row[0] == "outcome"]
    verdicts = [row for row in rows if len(row) == len(header) and row is not header]
    review = reviewed()
    plan = review.plan
    sections = (plan.waiting_for_review, plan.admitted, plan.waiting_for_slot, plan.excluded)
    assert [row[1] for row in verdicts] == [verdict.id for section in sections for verdict in section]


def test_a_classification_is_one_capability_a_line() -> None:
    review = reviewed(12)
    result = review.results[0]
    for terminal in (False, True):
        stream = io.StringIO()
        out = Printer(console=Console(file=stream, force_terminal=terminal, width=90, color_system=None))
        print_classified(result, tuple(review.queries.values()), review.platform.taxonomy, out)
        shown = stream.getvalue()
        assert ("3 more: --all" in shown) is terminal
        assert ("q00\ta\t0.90\t" in shown) is not terminal
        assert "0.90" in shown


def test_a_query_that_exercises_nothing_is_said_to() -> None:
    analysis = make_analysis([make_query("none", {})]).judged
    review = judge(make_platform(), [classified_of(facts) for facts in analysis.submissions], analysis.identity)
    for terminal, text in ((True, "exercises no capability"), (False, "none\t\t\t\n")):
        stream = io.StringIO()
        out = Printer(console=Console(file=stream, force_terminal=terminal, width=90, color_system=None))
        print_classified(review.results[0], tuple(review.queries.values()), review.platform.taxonomy, out)
        assert text in stream.getvalue()
