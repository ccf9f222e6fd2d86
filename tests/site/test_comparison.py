"""What a merge would change: as it turns out, for each reader only theirs, and without anything being checked out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import Any

import git
import pytest

from incumbent.classifier.model import Backend
from incumbent.cli.main import run
from incumbent.curator.store import FOLDER, RegressionSet
from incumbent.errors import InputError
from incumbent.files.git import ObjectStore
from incumbent.github.comparison import comparison_of
from incumbent.github.judgement import judge_facts
from incumbent.github.local_comparison import read_comparison
from incumbent.ledger.model import DecisionRecord
from incumbent.pipeline.review import Platform
from incumbent.pipeline.workspace import open_backend, open_platform
from incumbent.report.status import status_overview
from incumbent.site.audience import Audience
from incumbent.site.comparison import CoverageSides, MergeComparison
from incumbent.site.comparison_page import ComparisonReader, render_comparison
from incumbent.taxonomy.config import CONFIG_FILE
from incumbent.taxonomy.loading import TAXONOMY_FILE
from tests.copies import copy_of
from tests.factories import REPOSITORY, make_config, make_entry, make_taxonomy
from tests.github.scenes import make_analysis, make_platform, make_query
from tests.github.test_judgement import buried
from tests.site.platforms import CUSTOMERS, make_repository
from tests.site.test_site import links_of

BROUGHT = "northwind-tracker"
GONE, LEFT = CUSTOMERS[2], CUSTOMERS[3]
"""The customer of whom an entry is evicted, and the one whose eval sets are taken away."""


def commit(folder: Path, message: str, *options: str) -> str:
    """The id of a new commit of all that is in ``folder``."""
    repository = git.Repo(folder)
    repository.git.add(all=True)
    who = ("-c", "user.name=Kim Curator", "-c", "user.email=kim@platform.example")
    at = {"GIT_AUTHOR_DATE": "2026-11-22T10:00:00Z", "GIT_COMMITTER_DATE": "2026-11-22T10:00:00Z"}
    repository.git.execute(["git", *who, "commit", f"--message={message}", *options], env=at)
    return str(repository.head.commit.hexsha)


def evicted_in(folder: Path) -> str:
    return min(path.stem for path in (folder / FOLDER).glob(f"{GONE}-*.yaml"))


def make_change(folder: Path) -> None:
    """A platform, and on a branch ``change``: a customer comes, another one leaves, and an entry is evicted."""
    make_repository(folder)
    repository = git.Repo(folder)
    repository.git.checkout("-b", "change")
    copytree(REPOSITORY / "examples" / "customers" / BROUGHT, folder / "eval_sets" / BROUGHT)
    rmtree(folder / "eval_sets" / LEFT)
    words = ("evict", evicted_in(folder), "--reason", "it went out of use", "--by", "Kim Curator")
    assert run([*words, "--repo", str(folder), "--at", "2026-11-22T09:00:00Z"]) == 0
    commit(folder, "a customer comes, another one leaves")
    repository.git.checkout("main")


def compared(
    folder: Path, base: str = "main", head: str = "change", asked: list[Platform] | None = None
) -> MergeComparison:
    """What the merge of one branch into another one in ``folder`` would change."""
    repository = git.Repo(folder)
    first, second = (str(repository.commit(name).hexsha) for name in (base, head))

    def make(platform: Platform) -> Backend:
        if asked is not None:
            asked.append(platform)
        return open_backend(platform)

    with ObjectStore.open(folder) as store:
        return read_comparison(store, first, second, "A platform", CONFIG_FILE, make, lambda *_: None)


@cache
def _read() -> tuple[MergeComparison, Path, TemporaryDirectory[str]]:
    kept = TemporaryDirectory()
    folder = copy_of(make_change, Path(kept.name) / "platform")
    return compared(folder), folder, kept


def comparison() -> MergeComparison:
    return _read()[0]


@cache
def page_for(audience: Audience) -> str:
    return dict(render_comparison(comparison(), audience))["index.html"].decode()


def verdicts_in(page: str) -> int:
    return len(re.findall(r"<code>[A-Z-]+ (?:direct|review)", page))


AUDIENCES = [Audience(), Audience(texts=False), Audience(customer=BROUGHT), Audience(customer=GONE, texts=False)]


@pytest.mark.untraced
@pytest.mark.parametrize("audience", AUDIENCES, ids=str)
def test_the_page_is_whole_and_leads_nowhere_else(audience: Audience) -> None:
    files = dict(render_comparison(comparison(), audience))
    found = links_of(files["index.html"])
    assert not found.active
    assert len(found.ids) == len(set(found.ids))
    for address in found.addresses:
        place, _, fragment = address.partition("#")
        assert place in files or not place
        assert place or fragment in found.ids
    assert b'Content-Security-Policy" content="default-src &#39;self&#39;"' in files["index.html"]


@pytest.mark.untraced
def test_what_is_said_is_what_comes_about(tmp_path: Path) -> None:
    """The numbers after the merge are those of the set once it was merged and its queries were admitted."""
    found, folder = comparison(), copy_of(make_change, tmp_path / "platform")
    before = status_overview(open_platform(folder, CONFIG_FILE))
    git.Repo(folder).git.checkout("change")
    place = f"eval_sets/{BROUGHT}/tracker"
    assert run(["admit", str(folder / place), "--repo", str(folder), "--at", "2026-11-23T10:00:00Z"]) == 0
    after = status_overview(open_platform(folder, CONFIG_FILE))
    for numbers, status in ((found.numbers_before, before), (found.numbers_after, after)):
        judged = [item for item in status.capabilities if not item.on_trial]
        assert (numbers.entries, numbers.ceiling, numbers.cost) == (status.size, status.ceiling, status.cost)
        assert (numbers.at_floor, numbers.judged) == (sum(item.floor_met for item in judged), len(judged))
        assert status.pairs is not None
        assert numbers.pairs == status.pairs.carried + len(status.unexpected_pairs or ())
    assert found.numbers_after.entries > found.numbers_before.entries
    counts = {item.id: len(item.coverers) for item in after.capabilities}
    assert {item.after: item.coverers_after for item in found.capabilities} == counts
    entries = open_platform(folder, CONFIG_FILE).regression_set.entries
    entered = {item.id for item in found.entries if item.change == "enters"}
    assert entered
    assert entered <= entries.keys()
    (left,) = (item.id for item in found.entries if item.change == "leaves")
    assert left not in entries


def test_the_most_important_comes_first_and_every_verdict_is_there() -> None:
    page, found = page_for(Audience()), comparison()
    tiles = re.findall(r"<dt>([^<]+)</dt><dd><b>(\d+)</b>", page)
    entering = sum(item.change == "enters" for item in found.entries)
    assert tiles[:2] == [("Entries that enter", str(entering)), ("Entries that leave", "1")]
    assert found.review is not None
    assert len(found.verdicts) == len(found.review.verdicts) == verdicts_in(page)
    assert found.departure is not None
    assert set(found.departure.entries) <= {id for id in found.before.regression_set.entries if id.startswith(LEFT)}
    assert "will be suggested for eviction" in page


def test_won_and_lost_is_the_difference_of_both_sides() -> None:
    found = comparison()
    assert found.pairs_won or found.pairs_lost
    assert not set(found.pairs_won) & set(found.pairs_lost)
    assert found.numbers_after.pairs - found.numbers_before.pairs == len(found.pairs_won) - len(found.pairs_lost)


@pytest.mark.untraced
@pytest.mark.parametrize("customer", [BROUGHT, GONE, LEFT, CUSTOMERS[0]])
def test_one_customer_sees_nothing_of_the_others(customer: str) -> None:
    page = page_for(Audience(customer=customer))
    for other in {*CUSTOMERS, BROUGHT} - {customer}:
        assert other not in page, other
    review = comparison().review
    assert review is not None
    for name, query in review.queries.items():
        if review.origins[name].customer != customer:
            assert all(len(turn) < 12 or turn not in page for turn in query.turns)
    assert "it went out of use" not in page
    if customer == BROUGHT:
        assert verdicts_in(page) == len(review.verdicts)


def test_without_texts_no_query_can_be_read() -> None:
    page, review = page_for(Audience(texts=False)), comparison().review
    assert review is not None
    assert all(turn not in page for query in review.queries.values() for turn in query.turns if len(turn) > 8)
    assert any(turn[:20] in page_for(Audience()) for query in review.queries.values() for turn in query.turns)


@pytest.mark.untraced
def test_the_same_commits_give_the_same_bytes_and_nothing_is_checked_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_of(make_change, tmp_path / "elsewhere")
    # What is not committed does not count, whatever it is.
    (folder / CONFIG_FILE).write_text("nothing: that counts\n", encoding="utf-8")
    repository = git.Repo(folder)
    before = repository.git.status("--porcelain")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    words = ("site", "--repo", str(folder), "--compare", "main..change", "--title", "A platform")
    assert run([*words, "--output", str(tmp_path / "site")]) == 0, capsys.readouterr().err
    assert (tmp_path / "site" / "index.html").read_text(encoding="utf-8") == page_for(Audience())
    assert repository.git.status("--porcelain") == before
    assert repository.active_branch.name == "main"


OPTIONS = [
    (("--compare", "main"), 2, "write BASE..HEAD"),
    (("--compare", "main..nowhere"), 2, "unknown commit"),
    (("--compare", "main..change", "--customer", "no-one"), 1, "no such customer"),
]


@pytest.mark.parametrize(("words", "code", "said"), OPTIONS)
def test_what_it_cannot_follow_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, said: str
) -> None:
    folder = copy_of(make_change, tmp_path / "platform")
    assert run(["site", "--repo", str(folder), "--output", str(tmp_path / "site"), *words]) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


@pytest.mark.untraced
def test_a_head_that_left_its_base_is_compared_as_it_would_be_merged(tmp_path: Path) -> None:
    folder = copy_of(make_change, tmp_path / "platform")
    gone = max((folder / FOLDER).glob("*.yaml"))
    gone.unlink()
    commit(folder, "main goes on")
    found = compared(folder)
    assert gone.stem not in found.before.regression_set.entries
    assert gone.stem not in found.after.regression_set.entries
    assert [item.id for item in found.entries if item.change == "leaves"] == [evicted_in(folder)]


def test_a_file_that_both_sides_changed_is_named(tmp_path: Path) -> None:
    folder = copy_of(make_change, tmp_path / "platform")
    path = folder / FOLDER / f"{evicted_in(folder)}.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "# a remark\n", encoding="utf-8")
    commit(folder, "main goes on")
    with pytest.raises(InputError, match="has changed on the other side as well") as raised:
        compared(folder)
    assert [problem.file for problem in raised.value.problems] == [f"{FOLDER}/{path.name}"]


@pytest.mark.untraced
def test_an_endpoint_that_only_the_head_names_is_not_asked(tmp_path: Path) -> None:
    folder = copy_of(make_change, tmp_path / "platform")
    git.Repo(folder).git.checkout("change")
    config = folder / CONFIG_FILE
    endpoint = "{endpoint: 'https://elsewhere.example/v1', model: some, key_variable: OPENAI_API_KEY}"
    text = config.read_text(encoding="utf-8").replace("  backend: embedded", "  backend: openai")
    text = text.replace("  openai: null", f"  openai: {endpoint}")
    config.write_text(text, encoding="utf-8")
    commit(folder, "another endpoint")
    asked: list[Platform] = []
    found = compared(folder, asked=asked)
    assert found.after.config.classifier.backend == "openai"
    assert found.verdicts
    # The last one is never asked: its name alone counts.
    assert [platform.config.classifier.backend for platform in asked] == ["embedded", "openai"]
    assert found.impact is not None
    assert found.impact.effect is None


@pytest.mark.untraced
@pytest.mark.exhaustive
def test_a_renamed_capability_is_the_same_one_and_a_removed_one_is_gone(tmp_path: Path) -> None:
    folder = copy_of(make_change, tmp_path / "platform")
    old = open_platform(folder, CONFIG_FILE).taxonomy
    name = "response.card"
    assert name in old.by_id
    git.Repo(folder).git.checkout("change")
    taxonomy = folder / TAXONOMY_FILE
    text = taxonomy.read_text(encoding="utf-8")
    text = text.replace(f"- id: {name}\n", f"- id: response.panel\n    was: {name}\n")
    text = re.sub(r"(?m)^version: .*$", "version: 2.4.0", text).replace("retired: []", f"retired: [{name}]")
    taxonomy.write_text(text, encoding="utf-8")
    for file in sorted((folder / "taxonomy" / "exemplars").rglob("*.tsv")):
        content = file.read_text(encoding="utf-8")
        if name in content:
            file.write_text(content.replace(name, "response.panel"), encoding="utf-8")
    assert run(["migrate", "--repo", str(folder), "--from", "main"]) == 0
    commit(folder, "another name")
    found = compared(folder)
    (sides,) = (item for item in found.capabilities if item.before == name)
    assert sides.after == "response.panel"
    assert sides.coverers_before
    assert not any(name in pair for pair in (*found.pairs_won, *found.pairs_lost))
    assert found.impact is not None
    page = dict(render_comparison(found, Audience()))["index.html"].decode()
    assert 'href="#rules"' in page
    assert "Taxonomy 2.3.0 → 2.4.0" in page


@pytest.mark.untraced
def test_hostile_names_and_texts_stay_text(tmp_path: Path) -> None:
    folder = copy_of(make_change, tmp_path / "platform")
    git.Repo(folder).git.checkout("change")
    place = folder / "eval_sets" / BROUGHT / "tracker"
    for file in place.glob("eval*"):
        file.unlink()
    words = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script> \u202e{{ 7*7 }}"
    rows = [{"id": f"<u>{number}</u>", "query": f"{words} {number}"} for number in range(3)]
    (place / "evals.json").write_text(json.dumps({"eval_set": 1, "queries": rows}), encoding="utf-8")
    commit(folder, "hostile")
    files = dict(render_comparison(compared(folder), Audience()))
    page = files["index.html"].decode()
    assert not links_of(files["index.html"]).active
    assert "<img" not in page
    assert "<u>" not in page
    assert "&lt;img src=x onerror" in page
    assert "\u202e" not in page
    assert "{{ 7*7 }}" in page


@pytest.mark.untraced
def test_nothing_changes_where_both_are_one_commit(tmp_path: Path) -> None:
    folder = copy_of(make_change, tmp_path / "platform")
    found = compared(folder, "main", "main")
    assert found.numbers_before == found.numbers_after
    changes = (found.entries, found.verdicts, found.pairs_won, found.pairs_lost, found.unread)
    assert changes == ((), (), (), (), ())
    page = dict(render_comparison(found, Audience()))["index.html"].decode()
    assert "No capability reaches its floor, and none loses it." in page
    assert "None changes." in page


def test_a_first_contribution_that_waits_is_said() -> None:
    page = dict(render_comparison(replace(comparison(), held=True, review=None), Audience()))["index.html"].decode()
    assert "waits until a curator releases it" in page


def platform_of(**parts: list[str]) -> Platform:
    """A platform with these entries ``in_set``, ``waiting`` and ``evicted``."""
    entries = {id: make_entry(id, {"a": 0.9}) for ids in parts.values() for id in ids}
    known = RegressionSet(
        {id: entries[id] for id in parts.get("in_set", ())},
        {id: entries[id] for id in parts.get("waiting", ())},
        {id: buried(entries[id]) for id in parts.get("evicted", ())},
    )
    return Platform(taxonomy=make_taxonomy("a", "b"), config=make_config(redundancy_floor=1), regression_set=known)


def between(before: Platform, after: Platform) -> MergeComparison:
    return MergeComparison(
        name="o/r", base="0" * 40, head="1" * 40, at="2026-11-22T10:00:00Z", before=before, after=after, review=None
    )


MOVES = [
    (None, "in_set", "enters"),
    ("waiting", "in_set", "enters"),
    ("evicted", "in_set", "enters"),
    ("in_set", None, "leaves"),
    ("in_set", "evicted", "leaves"),
    ("in_set", "waiting", "leaves"),
    (None, "waiting", "waits"),
    ("evicted", "waiting", "waits"),
    ("waiting", None, "leaves"),
    ("waiting", "evicted", "leaves"),
    (None, "evicted", None),
    ("evicted", None, None),
    ("in_set", "in_set", None),
]


@pytest.mark.parametrize(("first", "second", "change"), MOVES)
def test_each_move_of_an_entry_has_a_word(first: str | None, second: str | None, change: str | None) -> None:
    before, after = (platform_of(**({} if part is None else {part: ["e1"]})) for part in (first, second))
    found = between(before, after).entries
    assert [item.change for item in found] == ([] if change is None else [change])
    assert all(item.how for item in found)


@pytest.mark.parametrize("part", ["entries", "waiting"])
def test_an_entry_whose_file_differs_changes(part: str) -> None:
    before = platform_of(in_set=["e1"], waiting=["e2"])
    known = before.regression_set
    entries = {id: entry.model_copy(update={"turns": ("another",)}) for id, entry in getattr(known, part).items()}
    parts: dict[str, Any] = {part: entries}
    after = replace(before, regression_set=replace(known, **parts))
    assert [item.change for item in between(before, after).entries] == ["changes"]


FLOORS = [
    # before, after, floor before and after: reaches, loses, differs
    ((0, 1, 1, 1), (True, False, True)),
    ((1, 0, 1, 1), (False, True, True)),
    ((1, 1, 1, 2), (False, True, True)),
    ((1, 2, 1, 1), (False, False, True)),
    ((0, 0, 1, 1), (False, False, False)),
    ((0, 1, 2, 2), (False, False, True)),
]


@pytest.mark.parametrize(("numbers", "said"), FLOORS)
def test_what_reaches_its_floor_and_what_loses_it(numbers: tuple[int, ...], said: tuple[bool, ...]) -> None:
    first, second, low, high = numbers
    sides = CoverageSides(
        before="a",
        after="a",
        coverers_before=first,
        coverers_after=second,
        floor_before=low,
        floor_after=high,
        on_trial=False,
    )
    assert (sides.reaches, sides.loses, sides.differs) == said
    assert sides.rank == (0 if sides.loses else 1 if sides.reaches else 3 if second >= high else 2)
    on_trial = replace(sides, on_trial=True)
    assert not on_trial.reaches
    assert not on_trial.loses
    new, gone = replace(sides, before=None), replace(sides, after=None)
    assert new.differs
    assert gone.differs
    assert (new.reaches, new.loses, gone.reaches) == (False, False, False)


def test_a_capability_that_is_gone_comes_last_and_counts_before_alone() -> None:
    before = platform_of(in_set=["e1"])
    after = replace(before, taxonomy=make_taxonomy("b"))
    found = between(before, after)
    assert [(item.before, item.after) for item in found.capabilities] == [("b", "b"), ("a", None)]
    assert (found.numbers_before.judged, found.numbers_after.judged) == (2, 1)
    assert (found.numbers_before.at_floor, found.numbers_after.at_floor) == (1, 0)
    page = dict(render_comparison(found, Audience()))["index.html"].decode()
    assert "removed from the taxonomy" in page


def test_a_set_whose_combinations_are_whole_signatures_is_compared_by_these() -> None:
    config = make_config(novelty="signature")
    before, after = (replace(platform_of(in_set=ids), config=config) for ids in ([], ["e1"]))
    found = between(before, after)
    assert found.pairs_won == (("a",),)
    assert "Combinations carried" in dict(render_comparison(found, Audience()))["index.html"].decode()


def reviewed(**config: object) -> MergeComparison:
    """Two customers bring queries of two capabilities, where there is one slot; a person rejected one query."""
    platform = make_platform(ceiling=7, **config)
    facts = [make_query("q01", {"d": 0.9}), make_query("q02", {"e": 0.9}), make_query("q03", {"a": 0.8, "b": 0.8})]
    other = make_analysis([make_query("z01", {"d": 0.95, "e": 0.95}), make_query("z02", None)]).judged.submissions[0]
    about = replace(other.about, customer="zeta", folder="eval_sets/zeta/desk")
    analysis = make_analysis(facts)
    both = (*analysis.judged.submissions, other.model_copy(update={"about": about}))
    judged = replace(analysis.judged, submissions=both)
    rejected = DecisionRecord(
        entry="acme-desk-q03",
        content=judged.contents["q03"],
        verdict="0" * 24,
        codes="INCLUDE review NOVEL_COMBO",
        action="reject",
        by="cora",
        reason="not ours",
        comment=1,
        at="2026-11-21T10:00:00Z",
        said="0" * 24,
    )
    judgement = judge_facts(judged, platform, None, (rejected,))
    return comparison_of(analysis.model_copy(update={"judged": judged}), judgement)


def test_a_full_set_lets_wait_and_what_people_rejected_or_no_one_could_judge_is_named() -> None:
    found = reviewed()
    assert [item.change for item in found.entries] == ["enters", "waits", "waits"]
    page = dict(render_comparison(found, Audience()))["index.html"].decode()
    assert "Rejected by people: q03" in page
    assert "1 query has no verdict: z02" in page
    assert ComparisonReader(comparison=found, audience=Audience()).quote("what") == "what"
    for audience in (Audience(texts=False), Audience(customer="zeta")):
        assert ComparisonReader(comparison=found, audience=audience).quote("what") == "…"
    theirs = dict(render_comparison(found, Audience(customer="zeta")))["index.html"].decode()
    assert "q03" not in theirs
    assert "Rejected by people: 1 of other customers" in theirs


def test_what_is_not_counted_and_what_reaches_its_floor_is_named() -> None:
    found = replace(between(platform_of(), platform_of(in_set=["e1"])), unread=("regression_set/new.yaml",))
    page = dict(render_comparison(found, Audience()))["index.html"].decode()
    assert "1 file of the set is added or changed by hand, and not counted here. regression_set/new.yaml" in page
    assert re.search(r"1 capability reaches its floor</span> \w+", page)
    lost = dict(render_comparison(between(found.after, found.before), Audience()))["index.html"].decode()
    assert "1 capability loses its floor</span>" in lost
    theirs = dict(render_comparison(found, Audience(customer="zeta")))["index.html"].decode()
    assert "regression_set/new.yaml" not in theirs
    assert "1 entry of other customers changes." in theirs


def test_a_long_row_of_names_is_cut_and_counted() -> None:
    reader = ComparisonReader(comparison=between(platform_of(), platform_of()), audience=Audience())
    assert reader.names(f"e{number}" for number in range(7)) == "e0, e1, e2, e3, e4, 2 more"
