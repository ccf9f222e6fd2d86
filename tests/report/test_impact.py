"""The impact in Markdown and on a console: what is said, how it shrinks, and that nothing from files comes alive."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, get_args

import pytest

from incumbent.pipeline.impact.model import (
    CapabilityImpact,
    CapabilitySides,
    ConfigChange,
    Cost,
    Effect,
    EntryAgain,
    Expected,
    Impact,
    KeptOnTrial,
    Lack,
    OnTexts,
    PinSides,
    Remark,
    RemarkSides,
    ShownText,
    Standing,
    SuggestionSides,
    VerdictSides,
    VersionChange,
    WithInterval,
)
from incumbent.report.escaping import printable, visible
from incumbent.report.impact import PREVIEW, appraisals_text, impact_headline, impact_text, render_impact
from incumbent.report.review_comment import DETAILS, PullRequestReport, render_comment, render_summary
from incumbent.report.tables import EVERYTHING, Detail
from incumbent.taxonomy.changes import ChangeKind, TaxonomyChange, VersionStep
from tests.github.hostile import FEW, HARMLESS
from tests.github.test_hostile_text import MARKER, dead, skeleton, worded

RIGHT = VersionChange(before="1.0.0", after="1.1.0", required="1.1.0")
WRONG = VersionChange(before="1.0.0", after="1.0.1", required="1.1.0")
FREE = Cost(entries=2, queries=3, pairs=4, requests=None)
CHANGE = TaxonomyChange(kind=ChangeKind.ADDED, ids=("f",), sentence="f (“F”) is new.", step=VersionStep.MINOR)
AGAIN = EntryAgain(entry="r1", capabilities=("f",), gained=("f",), lost=("a",))
KEPT = EntryAgain(entry="r2", capabilities=("f",), kept="its agent is not known")
EARNS = VerdictSides(
    query="q1", customer="acme", agent="desk", earns=True,
    before="EXCLUDE direct OFF_TAXONOMY", after="INCLUDE review NOVEL_COMBO",
)  # fmt: skip
OTHER = VerdictSides(
    query="q2", customer="acme", agent="desk", before="INCLUDE direct NEW_COVERAGE", after=None, earns=False
)


def sides(**more: Any) -> CapabilitySides:
    defaults: dict[str, Any] = {
        "before": "a", "after": "a", "champion_before": "r1", "champion_after": "r2", "score_before": 0.9,
        "score_after": 0.8, "coverers_before": 2, "coverers_after": 1, "floor_before": 2, "floor_after": 2,
    }  # fmt: skip
    return CapabilitySides(**defaults | more)


NEW = sides(
    before=None, after="f", champion_before=None, score_before=None, coverers_before=0, floor_before=0, coverers_after=3
)
GONE = sides(after=None, champion_after=None, score_after=None, coverers_after=0, floor_after=0)
RENAMED = sides(after="z")
NOTHING_CHANGES = Effect(capabilities=(), pins=(), suggestions=(), verdicts=())
EFFECT = Effect(
    capabilities=(sides(), NEW, GONE, RENAMED),
    pins=(PinSides(entry="r1", before=("champion:a",), after=()),),
    suggestions=(SuggestionSides(entry="r2", before=None, after="redundant"),),
    verdicts=(EARNS, OTHER),
    remarks=tuple(
        RemarkSides(query=f"q{number}", customer="acme", agent="desk", remark=remark, after=after)
        for number, (remark, after) in enumerate(product(get_args(Remark), (True, False)))
    ),
)


SHOWN = ShownText(where="acme/desk/q1", text="Help me.", probability=0.914)
TEXTS = OnTexts(judged=139, tagged=77, surest=(SHOWN,), doubtful=(SHOWN,), misses=(SHOWN,))
NO_TEXTS = OnTexts(judged=0, tagged=0, surest=(), doubtful=(), misses=())
EXPECTED = Expected(
    by="part", tagged=93, positive=26, recall=None, precision=WithInterval(share=0.247, low=0.171, high=0.344)
)


def appraisal(standing: Standing = "unfit", **more: Any) -> CapabilityImpact:
    defaults: dict[str, Any] = {
        "capability": "f", "is_new": True, "positive": 10, "negative": 1, "expected": EXPECTED, "texts": TEXTS,
        "lacks": (Lack(kind="positive", has=10, wanted=12), Lack(kind="negative", has=1, wanted=12)),
    }  # fmt: skip
    return CapabilityImpact(standing=standing, **defaults | more)


def make_impact(**more: Any) -> Impact:
    defaults: dict[str, Any] = {
        "changes": (CHANGE,),
        "version": RIGHT,
        "config": (ConfigChange(key="knobs.redundancy_floor", before="2", after=None),),
        "again": (AGAIN, KEPT),
        "cost": FREE,
        "effect": EFFECT,
        "unmeasured": None,
    }
    return Impact(**defaults | more)


UNCHANGED = make_impact(
    changes=(),
    version=VersionChange(before="1.0.0", after="1.0.0", required="1.0.0"),
    config=(),
    again=(),
    cost=Cost(entries=0, queries=0, pairs=0, requests=None),
    effect=None,
)


def markdown(impact: Impact, detail: Detail = EVERYTHING) -> str:
    return render_impact(impact, detail, "the job summary")


@pytest.mark.parametrize(
    ("impact", "headline"),
    [
        (UNCHANGED, "Nothing that verdicts rest on changes"),
        (
            make_impact(),
            (
                "Impact: 1 change of the taxonomy, 1 change of the config, 2 entries to classify again, "
                "1 query would earn a slot"
            ),
        ),
        (
            make_impact(version=WRONG, config=(), effect=None, unmeasured="it costs"),
            (
                "Impact: the taxonomy must be version 1.1.0, 1 change of the taxonomy, 2 entries to classify again, "
                "not known in full"
            ),
        ),
        (
            make_impact(config=(), effect=None, appraisals=(appraisal(), appraisal("counts"), appraisal("unfit"))),
            ("Impact: 1 change of the taxonomy, 2 capabilities must go on trial, 2 entries to classify again"),
        ),
        (
            UNCHANGED.model_copy(update={"version": VersionChange(before="1.0.0", after="1.0.1", required="1.0.0")}),
            "Impact: the taxonomy must be version 1.0.0, 0 entries to classify again",
        ),
    ],
)
def test_the_headline_says_it_in_one_line(impact: Impact, headline: str) -> None:
    assert impact_headline(impact) == headline
    assert markdown(impact).startswith(f"### {headline}")
    assert impact_text(impact).startswith(headline)


def test_all_of_it_is_told_side_by_side() -> None:
    text = markdown(make_impact())
    for words in (
        "Version `1.0.0` becomes `1.1.0`, as these changes ask.",
        "| `f (“F”) is new.` | minor |",
        "| `knobs.redundancy_floor` | `2` | – |",
        (
            "To classify again: 2 entries (4 pairs of entry and capability), and 3 queries that did not enter. "
            "The embedded classifier costs nothing."
        ),
        "#### Left out so far, and would now earn a slot (1)",
        "| `acme/desk/q1` | `EXCLUDE direct OFF_TAXONOMY` | `INCLUDE review NOVEL_COMBO` |",
        "#### Capabilities (4)",
        "| `a` | `r1` 0.90 | `r2` 0.80 | 2 | 1 | 2 ⚠ below |",
        "| `f` (new) | – | `r2` 0.80 | 0 | 3 | 0 → 2 |",
        "| `a` (gone) | `r1` 0.90 | – | 2 | 0 | 2 → 0 |",
        "| `a` → `z` |",
        "| `r1` | `champion:a` | – |",
        "| `r2` | – | `redundant` |",
        "#### Other verdicts that change (1)",
        "| `acme/desk/q2` | `INCLUDE direct NEW_COVERAGE` | – |",
        "#### Remarks that come or go (4)",
        "| `acme/desk/q0` | its eval set contradicts the classifier |",
        "| `acme/desk/q3` | the classifier can judge its kind of text |",
        "<details><summary>Entries that are classified again (2)</summary>",
        "| `r1` | `f` | +`f` −`a` | `–` |",
        "| `r2` | `f` | – | `its agent is not known` |",
    ):
        assert words in text
    dead(text, None)


def test_a_preview_is_named_in_the_report() -> None:
    preview = make_impact(preview=True)
    assert f"> {PREVIEW}" in markdown(preview).split("\n")
    assert PREVIEW in impact_text(preview).split("\n")
    assert PREVIEW not in markdown(make_impact()) + impact_text(make_impact())


def test_what_it_costs_is_told_in_requests() -> None:
    paid = make_impact(cost=Cost(entries=1, queries=1, pairs=1, requests=10))
    assert "That takes at most 10 requests to the model." in markdown(paid)
    assert "To classify again: 1 entry (1 pair), 1 query that did not enter; at most 10 requests." in impact_text(paid)


def test_a_wrong_version_and_what_is_not_known_stand_out() -> None:
    impact = make_impact(version=WRONG, effect=None, unmeasured="nobody asked")
    assert "**The version must be `1.1.0`**: it is `1.0.1` after `1.0.0`." in markdown(impact)
    assert "> What it would do is not known in full: `nobody asked`." in markdown(impact)
    assert "The version must be 1.1.0: it is 1.0.1 after 1.0.0." in impact_text(impact)
    assert "Not known in full: nobody asked." in impact_text(impact)
    unfounded = UNCHANGED.model_copy(update={"version": WRONG})
    assert "**The version must be `1.1.0`**" in markdown(unfounded)


def test_a_champion_without_a_score_is_not_told() -> None:
    effect = EFFECT.model_copy(update={"capabilities": (sides(score_before=None, score_after=None),)})
    impact = make_impact(effect=effect)
    assert "| – | – | 2 | 1 |" in markdown(impact)
    assert "None" not in impact_text(impact)


def test_where_nothing_changes_little_is_said() -> None:
    assert markdown(UNCHANGED) == "### Nothing that verdicts rest on changes"
    assert impact_text(UNCHANGED) == "Nothing that verdicts rest on changes"
    nothing = Cost(entries=0, queries=0, pairs=0, requests=None)
    idle = make_impact(changes=(), again=(), effect=NOTHING_CHANGES, cost=nothing)
    assert "No champion, pin, floor, suggestion or verdict changes." in markdown(idle)
    assert "#### " not in markdown(idle)
    assert impact_text(idle).count("\n") == 1


def test_a_console_gets_it_line_by_line() -> None:
    assert impact_text(make_impact()).split("\n")[1:] == [
        "- minor: f (“F”) is new.",
        "- knobs.redundancy_floor: 2 becomes –",
        "To classify again: 2 entries (4 pairs), 3 queries that did not enter; no request.",
        "- r1: +f -a",
        "- r2: its agent is not known",
        "",
        "Queries left out so far whose verdict changes (2)",
        "- acme/desk/q1: EXCLUDE direct OFF_TAXONOMY → INCLUDE review NOVEL_COMBO (would earn a slot)",
        "- acme/desk/q2: INCLUDE direct NEW_COVERAGE → none",
        "",
        "Remarks on them that come or go (4)",
        "- acme/desk/q0: its eval set contradicts the classifier",
        "- acme/desk/q1: its eval set contradicts the classifier no more",
        "- acme/desk/q2: the classifier cannot judge its kind of text",
        "- acme/desk/q3: the classifier can judge its kind of text",
        "",
        "Capabilities (4)",
        "- a: champion r1 0.90 → r2 0.80; coverers 2 → 1; floor 2 → 2",
        "- new → f: champion – → r2 0.80; coverers 0 → 3; floor 0 → 2",
        "- a → gone: champion r1 0.90 → –; coverers 2 → 0; floor 2 → 0",
        "- a → z: champion r1 0.90 → r2 0.80; coverers 2 → 1; floor 2 → 2",
        "",
        "Pins (1)",
        "- r1: champion:a → –",
        "",
        "Suggested evictions (1)",
        "- r2: none → redundant",
    ]
    again = make_impact(changes=(), again=(), effect=NOTHING_CHANGES, cost=FREE)
    assert "To classify again: 2 entries" in impact_text(again)
    assert "To classify again: 2 entries" in markdown(again)
    quiet = make_impact(again=(EntryAgain(entry="r1", capabilities=("f",)),))
    assert "- r1" not in impact_text(quiet).partition("Capabilities")[0]


# What to expect of capabilities

LACKS = "10 of 12 positive exemplars and 1 of 12 lookalikes"


@pytest.mark.parametrize(
    ("item", "row", "line"),
    [
        (
            appraisal(),
            (
                "| `f` (new) | 10 and 1 lookalike | 0.25 [0.17, 0.34] | – | 77 of 139 texts | "
                f"**must go on trial, since it has {LACKS}**: add `trial: true` to it |"
            ),
            f"- f (new): must go on trial, since it has {LACKS}",
        ),
        (
            appraisal("on-trial", is_new=False, expected=None, texts=NO_TEXTS),
            f"| `f` | 10 and 1 lookalike | not measured | not measured | – | on trial: it has {LACKS} |",
            f"- f: on trial: it has {LACKS}",
        ),
        (
            appraisal("may-count", lacks=(), positive=12, negative=12),
            "| passes: without its trial it counts |",
            "- f (new): passes: without its trial it counts",
        ),
        (appraisal("counts", lacks=()), "| counts |", "- f (new): counts"),
        (
            appraisal("goes-on"),
            f"| counts as before, though it has {LACKS} |",
            f"- f (new): counts as before, though it has {LACKS}",
        ),
    ],
)
def test_each_capability_says_what_to_expect(item: CapabilityImpact, row: str, line: str) -> None:
    impact = make_impact(appraisals=(item,))
    assert row in markdown(impact)
    assert "#### What to expect of new and changed capabilities (1)" in markdown(impact)
    assert line in impact_text(impact).split("\n")
    assert line in appraisals_text((item,)).split("\n")


def test_how_it_was_measured_and_the_texts_that_show_it_are_told() -> None:
    text = markdown(make_impact(appraisals=(appraisal(),)))
    assert "a tenth of all exemplars was left out with them" in text
    assert "author" not in text
    assert "<details><summary>What f tags</summary>" in text
    for what in ("surest", "most doubtful", "nearly tagged"):
        assert f"| {what} | 0.91 | `Help me.` | `acme/desk/q1` |" in text
        assert f"    {what} 0.91: Help me. (acme/desk/q1)" in appraisals_text((appraisal(),)).split("\n")
    both = (appraisal(), appraisal(expected=EXPECTED.model_copy(update={"by": "hand"})))
    assert "all that their author wrote was left out or a tenth" in markdown(make_impact(appraisals=both))
    bare = markdown(make_impact(appraisals=(appraisal(expected=None, texts=NO_TEXTS),)))
    assert "Precision and recall are" not in bare
    assert "What f tags" not in bare
    assert "What f tags" not in markdown(make_impact(appraisals=(appraisal(),)), Detail(folds=False))


# From files that nobody has reviewed


def quoting(text: str) -> Impact:
    """An impact that quotes ``text`` wherever a file can put it."""
    text = worded(text)
    return make_impact(
        changes=(
            TaxonomyChange(
                kind=ChangeKind.REWORDED, ids=(text,), sentence=f"a: “{text}” becomes “b”.", step=VersionStep.PATCH
            ),
        ),
        config=(ConfigChange(key=text, before=text, after=text),),
        appraisals=(
            appraisal(texts=TEXTS.model_copy(update={"surest": (ShownText(where=text, text=text, probability=1.0),)})),
        ),
        again=(EntryAgain(entry="r1", capabilities=("f",), kept=text),),
        effect=Effect(
            capabilities=(),
            pins=(PinSides(entry="r1", before=(text,), after=(text, "x")),),
            suggestions=(SuggestionSides(entry="r1", before=text, after=text),),
            verdicts=tuple(
                VerdictSides(query=text, customer=text, agent=text, before=text, after=text, earns=earns)
                for earns in (True, False)
            ),
            remarks=(RemarkSides(query=text, customer=text, agent=text, remark="unfamiliar", after=True),),
        ),
        unmeasured=text,
    )


@pytest.mark.untraced
@pytest.mark.parametrize("name", FEW)
def test_nothing_from_files_comes_alive(name: str) -> None:
    for render in (markdown, comment):
        shown, twin = render(quoting(FEW[name])), render(quoting(HARMLESS))
        dead(shown, MARKER if render is comment else None)
        assert skeleton(shown) == skeleton(twin)
        assert shown.count("\n") == twin.count("\n")
    text = impact_text(quoting(FEW[name]))
    assert printable(text) == text
    assert text.count("\n") == impact_text(quoting(HARMLESS)).count("\n")


def test_what_looks_like_a_secret_is_not_repeated() -> None:
    token = "ghp_" + "a1B2" * 9
    assert token not in markdown(quoting(f"take {token}"))
    assert token not in impact_text(quoting(f"take {token}"))


def test_a_new_wording_is_seen_behind_the_old_one() -> None:
    sentence = f"a: the description “{'x' * 200}” becomes “{'y' * 200}”."
    text = markdown(
        make_impact(
            changes=(TaxonomyChange(kind=ChangeKind.REWORDED, ids=("a",), sentence=sentence, step=VersionStep.PATCH),)
        )
    )
    assert "y" * 200 in text
    endless = TaxonomyChange(kind=ChangeKind.REWORDED, ids=("a",), sentence="x" * 4000, step=VersionStep.PATCH)
    assert len(markdown(make_impact(changes=(endless,)))) < 3000


# Size


def comment(impact: Impact) -> str:
    return render_comment(report(impact))


def report(impact: Impact) -> PullRequestReport:
    return PullRequestReport(
        commit="1" * 40, digest="0" * 24, notices=(), problems=(), review=None, run=None, impact=impact
    )


@pytest.mark.untraced
def test_a_long_one_is_cut_between_rows_and_the_summary_has_more() -> None:
    many = make_impact(
        changes=tuple(replace(CHANGE, sentence=f"c{i} {'<x|`' * 60}") for i in range(300)),
        again=tuple(AGAIN.model_copy(update={"entry": f"r{i}"}) for i in range(300)),
        appraisals=tuple(appraisal() for _ in range(100)),
        effect=EFFECT.model_copy(
            update={"verdicts": tuple(EARNS.model_copy(update={"query": f"q{i}"}) for i in range(300))}
        ),
    )
    body = comment(many)
    assert len(body.encode()) <= 65_536
    dead(body, MARKER)
    assert "more: see the job summary" in body
    assert "would now earn a slot (300)" in body
    assert len(render_summary(report(many))) > len(body)
    for detail in DETAILS:
        dead(markdown(many, detail), None)
    assert len(markdown(many, DETAILS[-1])) < 2000
    assert len(comment(many)) > 10 * len(markdown(many, DETAILS[-1]))


def test_names_are_counted_past_the_first() -> None:
    wide = EntryAgain(entry="r1", capabilities=tuple("abcdefgh"))
    assert "`e`" in markdown(make_impact(again=(wide,)))
    assert "`h`" not in markdown(make_impact(again=(wide,)))
    assert visible(impact_headline(make_impact())) == impact_headline(make_impact())


def test_entries_that_stay_until_a_split_counts_are_named() -> None:
    effect = EFFECT.model_copy(update={"kept": (KeptOnTrial(entry="r3", wholes=("a",)),)})
    text = markdown(make_impact(effect=effect))
    assert "#### Entries that stay until a split counts (1)" in text
    assert "| `r3` | `a` |" in text
