"""What changes who decides: which files those are, and that a curator allows it for the very commit."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.files.git import ChangedFile
from incumbent.github.authority import CoAuthors
from incumbent.github.check import LONGEST_TITLE, PullRequestLabel
from incumbent.github.facts import Analysis, ChangedEntryFile
from incumbent.github.governing import (
    CONFIG,
    GOVERNING_KEYS,
    WHO_DECIDES,
    effect_of,
    governing_changes,
    is_ours,
    keeps_who_decides,
)
from incumbent.github.models import React
from incumbent.github.publish_plan import PublishPlan
from incumbent.pipeline.impact.model import ConfigChange
from incumbent.taxonomy.config import CONFIG_FILE, Curation
from tests.github.scenes import Hub, make_analysis, make_platform, make_query
from tests.report.test_impact import make_impact

FLOW = ".github/workflows/incumbent.yml"
OWNERS = ".github/CODEOWNERS"
EVALS = "eval_sets/acme/desk/evals.yaml"
ALLOW = f"/incumbent accept {WHO_DECIDES} agreed with the team"


def modified(*paths: str) -> tuple[ChangedFile, ...]:
    return tuple(ChangedFile(path, "modified") for path in paths)


@pytest.mark.parametrize(
    ("path", "words", "ours"),
    [
        (FLOW, "what jobs run", True),
        (".github/workflows/incumbent-pages.yml", "what jobs run", True),
        (".github/workflows/Incumbent.yaml", "what jobs run", True),
        (".github/workflows/build.yml", "what jobs run", False),
        (OWNERS, "whose review", True),
        ("CODEOWNERS", "whose review", True),
        ("docs/CODEOWNERS", "whose review", True),
        (".github/actions/review/action.yml", "what the steps of jobs do", False),
        ("action.yml", "what the steps of jobs do", False),
        ("action.yaml", "what the steps of jobs do", False),
        (CONFIG, "`", True),
        ("config/corrections/x.yaml", None, True),
        (EVALS, None, True),
        ("taxonomy/taxonomy.yaml", None, True),
        ("regression_set/x.yaml", None, True),
        ("src/CODEOWNERS", None, False),
        ("src/action.yml", None, False),
        ("incumbent/workflows/a.yml", None, False),
        ("README.md", None, False),
    ],
)
def test_which_files_say_who_decides_and_which_concern_the_bot(path: str, words: str | None, ours: bool) -> None:
    effect = effect_of(path)
    assert (effect is None) == (words is None)
    if path == CONFIG:
        assert all(key in str(effect) for key in GOVERNING_KEYS)
    elif words is not None:
        assert words in str(effect)
    assert is_ours(path) is ours


def test_the_names_are_those_of_the_config() -> None:
    assert CONFIG == CONFIG_FILE
    assert set(GOVERNING_KEYS) <= Curation.model_fields.keys()


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([".github/workflows/build.yml", "src/x.py", "action.yml"], []),
        ([".github/workflows/build.yml", EVALS], [".github/workflows/build.yml"]),
        ([FLOW], [FLOW]),
        ([FLOW, ".github/workflows/build.yml", "README.md"], [FLOW, ".github/workflows/build.yml"]),
        ([EVALS], []),
        ([], []),
    ],
)
def test_other_workflows_count_beside_what_concerns_the_bot(paths: list[str], found: list[str]) -> None:
    assert [change.path for change in governing_changes(modified(*paths))] == found


@pytest.mark.parametrize("path", ["docs/old-owners", FLOW])
def test_a_file_that_is_moved_away_counts(path: str) -> None:
    change = ChangedFile(path, "renamed", OWNERS)
    assert governing_changes([change]) == (change,)


def codes(plan: PublishPlan) -> list[str]:
    return [item.reaction for item in plan.operations if isinstance(item, React)]


def alone(**more: Any) -> Analysis:
    return make_analysis((), **{"touches": (), **more})


def test_it_stands_first_and_fails_until_a_curator_allows_this_commit() -> None:
    hub = Hub(changes=modified(FLOW, OWNERS, EVALS))
    plan = hub.review()
    assert plan.result.conclusion == "failure"
    assert plan.result.title.startswith("It changes who decides: a curator has to allow that; ")
    assert PullRequestLabel.NEEDS_CURATOR in plan.result.labels
    first = hub.ours[0].split("\n> ")[1]
    assert first.startswith("**This changes who decides**: ")
    assert f"`{OWNERS}` (whose review GitHub asks for)" in first
    assert f"`{FLOW}` (what jobs run, and with which rights)" in first
    assert f"`/incumbent accept {WHO_DECIDES}`" in first
    hub.say("cora", f"/incumbent accept {WHO_DECIDES}")
    assert codes(hub.review()) == ["confused"]
    assert "such a change of files needs a reason" in hub.ours[1]
    hub.say("cora", ALLOW)
    plan = hub.review()
    assert plan.result.conclusion == "success"
    assert "`cora` allowed this change of who decides: `agreed with the team`" in hub.ours[0].split("\n> ")[1]
    # Another commit, or another change, is decided anew.
    assert hub.plan(make_analysis(head="2" * 40)).result.conclusion == "failure"
    hub.changes = modified(FLOW, OWNERS, EVALS, "action.yml")
    assert hub.plan(make_analysis()).result.conclusion == "failure"


@pytest.mark.parametrize("said", [f"/incumbent pin {WHO_DECIDES} yes", f"/incumbent reject {WHO_DECIDES} no"])
def test_nothing_but_an_acceptance_allows_it(said: str) -> None:
    hub = Hub(changes=modified(FLOW))
    hub.review(alone())
    hub.say("cora", said)
    assert hub.review(alone()).result.conclusion == "failure"


def test_authors_cannot_allow_it() -> None:
    hub = Hub(platform=make_platform(curators=["cora", "mara"]), changes=modified(OWNERS))
    hub.review(alone())
    hub.say("mara", ALLOW)
    assert hub.review(alone()).result.conclusion == "failure"
    hub.say("cora", ALLOW)
    assert hub.review(alone()).result.conclusion == "success"
    hub.co_authors = CoAuthors(commits=lambda: {"cora"}, elsewhere=lambda _: ())
    assert hub.review(alone()).result.conclusion == "failure"


def test_it_says_so_where_nothing_else_is_touched_and_nothing_without_it() -> None:
    hub = Hub(changes=modified(FLOW))
    assert hub.review(alone()).result.title == "It changes who decides: a curator has to allow that"
    assert len(hub.ours) == 1
    other = Hub(changes=modified(".github/workflows/build.yml"))
    assert other.review(alone()).result.title == "Nothing to curate"
    assert other.ours == []


def test_observing_only_shows_it() -> None:
    hub = Hub(platform=make_platform(mode="observe"), changes=modified(FLOW))
    assert hub.review(alone()).result.conclusion == "success"
    assert "**This changes who decides**" in hub.ours[0]


def test_a_query_of_that_name_has_to_be_renamed() -> None:
    hub = Hub(changes=modified(FLOW))
    analysis = make_analysis((make_query(WHO_DECIDES, {"a": 0.9}),))
    hub.review(analysis)
    assert f"A query is called `{WHO_DECIDES}`: rename it first." in hub.ours[0]
    hub.say("cora", ALLOW)
    assert hub.review(analysis).result.conclusion == "failure"


def test_many_files_are_counted_and_none_comes_alive() -> None:
    names = [f".github/workflows/{number}-`@x`<b>\udcff.yml" for number in range(9)]
    hub = Hub(changes=modified(EVALS, *names))
    plan = hub.review()
    assert "; 4 more files." in hub.ours[0]
    assert hub.ours[0].encode()
    assert len(plan.result.title) <= LONGEST_TITLE


def test_what_the_first_job_says_of_the_config_is_only_added() -> None:
    hub = Hub(changes=modified(CONFIG))
    bare = hub.review(alone(touches=("config",)))
    assert bare.result.conclusion == "failure"
    assert "curators" in hub.ours[0]
    assert "names as changed" not in hub.ours[0]
    impact = make_impact(config=(ConfigChange(key="curators", before="[]", after="[mara]"),))
    told = Hub(changes=modified(CONFIG))
    plan = told.review(alone(touches=("config",), impact=impact))
    assert plan.result.conclusion == "failure"
    assert "The job that reads the config names as changed: `curators`." in told.ours[0]
    # Of a workflow it says nothing.
    other = Hub(changes=modified(FLOW))
    other.review(alone(touches=("config",), impact=impact))
    assert "names as changed" not in other.ours[0]


def test_the_set_and_who_decides_are_allowed_each_for_itself() -> None:
    edit = ChangedEntryFile(file=ChangedFile("regression_set/ra1.yaml", "modified"), buried=False)
    both = make_analysis((), set_changes=(edit,), touches=("regression_set",))
    hub = Hub(changes=modified(FLOW))
    hub.review(both)
    hub.say("cora", ALLOW)
    assert hub.review(both).result.title == "The regression set is changed by hand"
    hub.say("cora", "/incumbent accept regression_set agreed")
    assert hub.review(both).result.conclusion == "success"


BEFORE = """\
# the platform's own
format: 2
ceiling: 150
curators: [cora, cleo]
knobs:
  competence_bar: 0.8   # for now
  winning_margin: 0.05
per_capability:
  request.auth.oauth: {competence_bar: 0.9}
note: "one
  two"
"""


@pytest.mark.parametrize(
    ("old", "new", "keeps"),
    [
        ("ceiling: 150", "ceiling: 200", True),
        ("0.05", "0.07", True),
        ("  winning_margin: 0.05\n", "", True),
        ("{competence_bar: 0.9}", "{competence_bar: 0.95, winning_margin: 0.1}", True),
        ("# the platform's own\n", "", True),
        ("format: 2\n", "format: 2\nsamples: 5\n", True),
        ("[cora, cleo]", "[cora, mallory]", False),
        ("curators: [cora, cleo]\n", "", False),
        ("ceiling: 150\n", "ceiling: 150\nmode: observe\n", False),
        ("ceiling: 150\n", 'ceiling: 150\n"curators": [mallory]\n', False),
        ("ceiling: 150\n", "ceiling: 150\n? curators\n: [mallory]\n", False),
        ("ceiling: 150\n", "ceiling: 150\n<<: {curators: [mallory]}\n", False),
        ("ceiling: 150\n", "ceiling: 150\n---\nformat: 2\n", False),
        ("ceiling: 150\n", "ceiling: 150 \\\n", False),
        ("ceiling: 150\n", 'ceiling: "\n', False),
        ("ceiling: 150\n", "ceiling: |\n", False),
        ("ceiling: 150\n", "ceiling: {a: [\n", False),
        ("ceiling: 150\n", "ceiling: &a 150\n", False),
        ("ceiling: 150\n", "ceiling: 150\ncurators: [mallory]\n", False),
        ("ceiling: 150\n", "ceiling: 150\rcurators: [mallory]\n", False),
        ("ceiling: 150\n", "ceiling: 150 # x\rcurators: [mallory]\n", False),
        ("ceiling: 150\n", "ceiling: 150 # x\x85curators: [mallory]\n", False),
        ("ceiling: 150\n", "ceiling: 150 # für die Größe\n", True),
        ("ceiling: 150\n", "ceiling: 150\u2028curators: [mallory]\n", False),
        ('note: "one', 'note: "three', False),
    ],
)
def test_a_config_keeps_who_decides_only_where_the_plainest_lines_differ(old: str, new: str, keeps: bool) -> None:
    assert old in BEFORE
    assert keeps_who_decides(BEFORE, BEFORE.replace(old, new)) is keeps
    assert keeps_who_decides(BEFORE, BEFORE)


def test_a_config_that_keeps_who_decides_is_no_such_change() -> None:
    assert governing_changes(modified(CONFIG, OWNERS), config_keeps=True) == modified(OWNERS)
    assert governing_changes(modified(CONFIG), config_keeps=True) == ()
    moved = ChangedFile(CONFIG, "renamed", "config/other.yaml")
    assert governing_changes([moved], config_keeps=True) == (moved,)
