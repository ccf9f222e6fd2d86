"""The comment asks about at most `limits.questions` queries of one eval set; the rest is folded."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from incumbent.curator.store import RegressionSet
from incumbent.github.facts import classified_of
from incumbent.pipeline.review import Review, judge
from incumbent.report.review_json import ReviewOutput
from incumbent.report.review_markdown import render_markdown
from incumbent.report.tables import Detail
from tests.factories import make_entry
from tests.github.scenes import make_analysis, make_platform, make_query


def review(most: int) -> Review:
    """A review of an eval set of three queries that are too uncertain to enter; the third is the surest."""
    platform = make_platform(honesty_floor=0.9)
    limits = platform.config.limits.model_copy(update={"questions": most})
    known = RegressionSet({"r1": make_entry("r1", {"a": 0.9}, text="known")}, {}, {})
    platform = replace(platform, config=platform.config.model_copy(update={"limits": limits}), regression_set=known)
    queries = [
        make_query(f"q{place}", {name: 0.6 + place / 100}, text=f"query {name} " * 5)
        for place, name in enumerate("bcd", 1)
    ]
    analysis = make_analysis(queries=queries)
    return judge(platform, [classified_of(facts) for facts in analysis.judged.submissions], analysis.judged.identity)


def asked(text: str) -> tuple[str, str]:
    """The part of the comment that asks at once, and what is folded below it."""
    section = text.partition("#### Needs you (3)")[2].partition("\n#### ")[0]
    at_once, _, folded = section.partition("<details>")
    return at_once, folded.partition("</details>")[0]


@pytest.mark.parametrize(
    ("most", "at_once", "later"),
    [(3, ["q3", "q2", "q1"], []), (2, ["q3", "q2"], ["q1"]), (1, ["q3"], ["q2", "q1"])],
)
def test_the_best_are_asked_and_the_rest_is_folded(most: int, at_once: list[str], later: list[str]) -> None:
    found = review(most)
    first, folded = asked(render_markdown(found))
    assert re.findall(r"(?m)^\| \*\*`(\w+)`", first) == at_once
    assert re.findall(r"(?m)^\| \*\*`(\w+)`", folded) == later
    assert f"`/incumbent accept {' '.join(at_once)}`" in first
    if later:
        need = "1 more query needs you" if len(later) == 1 else f"{len(later)} more queries need you"
        assert f"<summary>{need}</summary>" in folded
        assert f"`/incumbent accept {later[0]}`" in folded
        assert "The word `all` means these as well" in folded
    # The JSON lists all of them, whatever the comment folds.
    assert ReviewOutput.of(found) == ReviewOutput.of(review(3))


def test_where_no_command_is_followed_none_is_shown() -> None:
    assert "/incumbent" not in render_markdown(review(1), commands=False)


def test_a_comment_that_must_be_short_says_where_the_rest_is() -> None:
    text = render_markdown(review(1), Detail(folds=False), "the job summary")
    assert "2 more queries need you: see the job summary." in text
