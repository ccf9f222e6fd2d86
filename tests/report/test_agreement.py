"""Agreement on a console and on the dashboard: what they say, and that nothing of people comes alive."""

from __future__ import annotations

import io
from typing import Any

import pytest
from pydantic import TypeAdapter
from rich.console import Console

from incumbent.ledger.agreement.agreement import Agreement, agreement_of
from incumbent.ledger.agreement.responses import Response, responses_of
from incumbent.report.agreement import AgreementOutput, AgreementReport, agreement_sections, print_agreement
from incumbent.report.dashboard import render_dashboard
from incumbent.report.escaping import printable
from incumbent.report.verdict_text import MarkdownStyle
from tests.agreement.factories import facts, response
from tests.agreement.month import EVENTS
from tests.factories import make_taxonomy
from tests.github.hostile import FEW
from tests.github.test_hostile_text import dead
from tests.report.test_dashboard import make_dashboard, rows, section

MONTH = agreement_of(responses_of(EVENTS))
LEFT_OUT = "Left out, since they did not last: 1 explicit, 0 implicit\n"


def output(agreement: Agreement = MONTH, **more: Any) -> AgreementReport:
    return AgreementReport(agreement=agreement, **{"ledger": True} | more)


def of(*responses: Response) -> AgreementReport:
    return output(agreement_of(responses))


def shown(item: AgreementReport, terminal: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, force_terminal=terminal, width=200, color_system="standard" if terminal else None,
        highlight=False, soft_wrap=True, markup=False,
    )  # fmt: skip
    print_agreement(item, console)
    return stream.getvalue()


def test_a_pipe_gets_one_line_for_each_row() -> None:
    text = shown(output())
    assert text.startswith(
        "50% [24%, 76%] of 10 explicit responses agree; 1 let pass by a merge (3 people); "
        "alpha -0.25 over 3 judged by several\nLeft out, since they did not last: 1 explicit, 1 implicit\n\n"
        "decision\tagrees\tshare\t95 %\tlet pass\tby several\talpha\n"
        "INCLUDE\t3/5\t60%\t[23%, 88%]\t1\t2\t0.00\n"
    )
    assert "\nREPLACE\t0/1\t0%\t[0%, 79%]\t0\t0\t–\n" in text
    assert "\nNEW_COVERAGE\t0/0\t–\t[–]\t1\t0\t–\n" in text
    assert "\n2026-04\t0/1\t0%\t[0%, 79%]\t0\n" in text
    assert "\na\t2/4\t[15%, 85%]\n" in text
    assert text.endswith("\nwhat people said\ttimes\tto override\nToo narrow.\t2\t2\nWe need it.\t1\t1\n")


def test_a_terminal_gets_tables() -> None:
    text = shown(output(), terminal=True)
    assert "\t" not in text
    assert "Too narrow." in text


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (
            output(agreement_of([]), ledger=False),
            "No ledger branch found (`incumbent/ledger`): there are no responses to measure\n",
        ),
        (of(), "No one has answered a verdict or a suggestion\n"),
        (
            of(response(reversed=True)),
            "No one has answered a verdict or a suggestion\n" + LEFT_OUT,
        ),
    ],
)
def test_what_is_not_there_is_said(item: AgreementReport, words: str) -> None:
    assert shown(item) == words


def test_merges_alone_are_no_explicit_agreement() -> None:
    text = shown(of(response(explicit=False)))
    assert text.startswith("Nothing was answered explicitly; 1 let pass by a merge (1 person)\n")
    assert "what people said" not in text
    assert "overridden" not in text


def test_long_lists_are_cut_and_say_so() -> None:
    many = [
        response(subject=str(i), agrees=False, said=f"Reason {i:02}\x1b[31m", facts=facts(new=(f"c{i:02}",)))
        for i in range(12)
    ]
    text = shown(of(*many))
    assert text.count("2 more: see --json\n") == 2
    assert "c09" in text
    assert "c10" not in text
    assert "\x1b" not in text
    assert len(of(*many).agreement.said) == len(of(*many).agreement.overridden) == 12
    body = render_dashboard(make_dashboard(agreement=agreement_of(many)))
    for title in ("Capabilities whose verdicts are overridden (12)", "Reasons that people give (12)"):
        assert len(rows(section(body, title))) == 10
        assert "The first 10; all of them: `incumbent agreement --json`." in section(body, title)


def test_secrets_that_people_wrote_are_not_repeated() -> None:
    token = "ghp_" + "a1B2" * 9
    printed: TypeAdapter[AgreementReport] = TypeAdapter(AgreementOutput)
    report = of(response(said=f"See {token}"))
    assert token not in printed.dump_json(report).decode()
    assert token not in shown(report)


# The dashboard


def test_the_dashboard_tells_of_agreement() -> None:
    body = render_dashboard(make_dashboard(agreement=MONTH))
    people = section(body, "People and verdicts (11 answers)")
    assert rows(people) == [
        ["`INCLUDE`", "3 of 5", "60%", "23% to 88%", "1", "0.00"],
        ["`EXCLUDE`", "1 of 2", "50%", "9% to 91%", "0", "0.00"],
        ["`REPLACE`", "0 of 1", "0%", "0% to 79%", "0", "–"],
        ["`EVICT`", "1 of 2", "50%", "9% to 91%", "0", "–"],
    ]
    assert (
        "By 3 people; bots are not counted. 3 questions were judged by several: Krippendorff's alpha is -0.25. "
        "2 more answers did not last. By route, reason and month: `incumbent agreement`."
    ) in people
    assert rows(section(body, "Capabilities whose verdicts are overridden (2)"))[0] == ["*A*", "2 of 4", "15% to 85%"]
    assert rows(section(body, "Reasons that people give (2)"))[0] == ["`Too narrow.`", "2", "2"]


def test_without_answers_the_dashboard_says_nothing_of_them() -> None:
    without = render_dashboard(make_dashboard())
    assert render_dashboard(make_dashboard(agreement=agreement_of([]))) == without
    assert "People and verdicts" not in without


def test_implicit_answers_and_alike_ones_have_no_share_and_no_alpha() -> None:
    alike = agreement_of([response(), response(by="bob"), response(decision="SWAP", explicit=False)])
    body = render_dashboard(make_dashboard(agreement=alike))
    assert ["`SWAP`", "0 of 0", "–", "–", "1", "–"] in rows(section(body, "People and verdicts"))
    assert "1 question was judged by several: Krippendorff's alpha is not defined. By route" in body


@pytest.mark.parametrize("text", FEW.values(), ids=FEW)
def test_nothing_that_people_wrote_comes_alive(text: str) -> None:
    known = facts(new=("gone.capability",))
    agreement = agreement_of([response(said=text, decision=text, agrees=False, facts=known)])
    style = MarkdownStyle(make_taxonomy("a"))
    for item in agreement_sections(agreement, style):
        dead(item.render(None), None)
    assert any("`gone.capability`" in item.render(None) for item in agreement_sections(agreement, style))
    assert printable(shown(output(agreement))) == shown(output(agreement))
