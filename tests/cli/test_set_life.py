"""The life of a regression set from the command line: review, admit, status, prune, evict, restore."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import git
import pytest
import yaml

from incumbent.curator.entry import Entry, Source
from incumbent.curator.file_changes import admit, apply, let_wait
from incumbent.pipeline.workspace import open_platform
from tests.cli.conftest import Incumbent
from tests.factories import REPOSITORY, make_entry

CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
BRANCH_LINE = "eval_sets/quillow-savings/branch-line"


def commit(folder: Path, message: str, at: str) -> None:
    repository = git.Repo(folder)
    repository.git.add(all=True)
    person = ("-c", "user.name=Kim", "-c", "user.email=kim@platform.example")
    environment = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    repository.git.execute(["git", *person, "commit", "-q", "-m", message], env=environment)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def test_review_writes_nothing_and_says_why(platform: Path, incumbent: Incumbent) -> None:
    before = tree(platform)
    outcome = incumbent("review", platform / CARD_LINE, "--repo", platform)
    assert outcome.code == 0
    assert tree(platform) == before
    assert "slot" in outcome.out.splitlines()[0]
    assert "NEW_COVERAGE" in outcome.out


def test_review_gives_the_same_bytes_twice(platform: Path, incumbent: Incumbent) -> None:
    for form in ("text", "markdown", "json"):
        first = incumbent("review", platform / CARD_LINE, "--repo", platform, "--format", form)
        second = incumbent("review", platform / CARD_LINE, "--repo", platform, "--format", form)
        assert first.out == second.out


def test_admit_puts_the_direct_admissions_of_the_review_into_the_set(platform: Path, incumbent: Incumbent) -> None:
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    admitted = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--json").json
    expected = [item["entry"] for item in review["verdicts"] if item["outcome"] == "admitted"]
    assert admitted["admitted"] == expected
    assert expected
    files = sorted(path.stem for path in (platform / "regression_set").glob("*.yaml"))
    assert files == sorted(expected)
    assert incumbent("validate", "--repo", platform).code == 0
    status = incumbent("status", "--repo", platform, "--json").json
    assert status["size"] == len(expected)
    again = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    assert set(again["settled"].values()) == set(expected)


def test_a_dry_run_shows_the_plan_and_writes_nothing(platform: Path, incumbent: Incumbent) -> None:
    before = tree(platform)
    outcome = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--dry-run")
    assert "would be admitted" in outcome.out
    assert tree(platform) == before


def test_times_come_from_the_commit_at_hand(platform: Path, incumbent: Incumbent) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    entry = next((platform / "regression_set").glob("*.yaml")).read_text(encoding="utf-8")
    assert "2026-01-02T03:04:05Z" in entry
    assert git.Repo(platform).head.commit.hexsha in entry


def test_without_git_the_time_must_be_given(platform: Path, incumbent: Incumbent, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    (platform / ".git").rename(tmp_path / "elsewhere")
    platform.rename(bare)
    outcome = incumbent("admit", bare / CARD_LINE, "--repo", bare)
    assert outcome.code == 2
    assert "--at" in outcome.err
    assert incumbent("admit", bare / CARD_LINE, "--repo", bare, "--at", "2026-05-05T05:05:05+02:00").code == 0
    entry = next((bare / "regression_set").glob("*.yaml")).read_text(encoding="utf-8")
    assert "2026-05-05T03:05:05Z" in entry
    assert incumbent("admit", bare / CARD_LINE, "--repo", bare, "--at", "tomorrow").code == 2


def test_what_waits_for_a_person_enters_when_accepted(platform: Path, incumbent: Incumbent) -> None:
    incumbent("admit", platform / BRANCH_LINE, "--repo", platform)
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    excluded = next(item for item in review["verdicts"] if item["outcome"] == "excluded")
    waiting = next(item for item in review["verdicts"] if item["outcome"] == "waiting-for-review")
    assert waiting["decision"] == "INCLUDE"
    admit = ("admit", platform / CARD_LINE, "--repo", platform, "--accept", excluded["id"])
    refused = incumbent(*admit, "--accept", "nope")
    assert refused.code == 1
    assert "nope" in refused.err
    assert f"--accept {excluded['id']}: its verdict is EXCLUDE" in refused.err
    assert "give --reason to override" in refused.err
    assert incumbent(*admit, "--accept", waiting["id"], "--reason", "audit").code == 0
    entries = [
        yaml.safe_load((platform / "regression_set" / f"{item['entry']}.yaml").read_text(encoding="utf-8"))["admitted"]
        for item in (excluded, waiting)
    ]
    assert [entry["override"] for entry in entries] == ["audit", None]
    assert {entry["by"] for entry in entries} == {"Robin Example"}


def test_what_cannot_be_judged_and_has_no_merit_enters_with_a_reason_only(platform: Path, incumbent: Incumbent) -> None:
    review = incumbent("review", platform / BRANCH_LINE, "--repo", platform, "--json").json
    (spanish,) = (item for item in review["verdicts"] if "UNFAMILIAR" in item["reasons"])
    assert (spanish["outcome"], spanish["decision"]) == ("waiting-for-review", "EXCLUDE")
    admit = ("admit", platform / BRANCH_LINE, "--repo", platform, "--accept", spanish["id"])
    refused = incumbent(*admit)
    assert refused.code == 1
    assert "give --reason to override" in refused.err
    assert incumbent(*admit, "--reason", "we serve it").code == 0
    assert "override: we serve it" in (platform / "regression_set" / f"{spanish['entry']}.yaml").read_text("utf-8")


def test_past_the_ceiling_entries_wait_and_enter_freed_slots(platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("ceiling: 40", "ceiling: 2"), encoding="utf-8")
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    in_line = [item["entry"] for item in review["verdicts"] if item["outcome"] == "waiting-for-slot"]
    assert in_line
    outcome = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--json").json
    assert len(outcome["admitted"]) == 2
    assert outcome["waiting"] == in_line
    assert incumbent("status", "--repo", platform, "--json").json["waiting"] == sorted(in_line)
    assert incumbent("admit", "--waiting", "--repo", platform, "--json").json["admitted"] == []
    gone = outcome["admitted"][1]
    incumbent("evict", gone, "--reason", "makes room", "--repo", platform)
    entered = incumbent("admit", "--waiting", "--repo", platform, "--json").json
    assert len(entered["admitted"]) == 1
    status = incumbent("status", "--repo", platform, "--json").json
    assert status["size"] == 2
    restored = incumbent("restore", gone, "--repo", platform, "--json").json
    assert restored["waiting"] == [gone]


def test_evict_and_restore_bring_back_the_same_bytes(platform: Path, incumbent: Incumbent) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    before = tree(platform)
    entry = sorted((platform / "regression_set").glob("*.yaml"))[0].stem
    assert incumbent("evict", entry, "--reason", "a trial", "--repo", platform).code == 0
    assert entry in incumbent("status", "--repo", platform, "--json").json["evicted"]
    settled = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json["settled"]
    assert entry in settled.values()
    assert incumbent("restore", entry, "--repo", platform).code == 0
    assert tree(platform) == before


def test_the_curves_know_when_an_entry_that_came_back_was_gone(
    platform: Path, tmp_path: Path, incumbent: Incumbent
) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    ids = sorted(path.stem for path in (platform / "regression_set").glob("*.yaml"))
    commit(platform, "admit", "2026-01-02T04:00:00Z")
    assert incumbent("evict", ids[0], "--reason", "a trial", "--repo", platform).code == 0
    commit(platform, "evict", "2026-01-04T04:00:00Z")
    assert incumbent("restore", ids[0], "--repo", platform).code == 0
    commit(platform, "restore", "2026-01-05T04:00:00Z")
    found = incumbent("status", "--growth", "--repo", platform, "--json").json["growth"]
    assert found["history"] == "whole"
    counts = {point["day"]: point["entries"] for point in found["points"]}
    days = ("2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05")
    assert counts == dict(zip(days, (len(ids), len(ids), len(ids) - 1, len(ids)), strict=True))
    shallow = tmp_path / "shallow"
    git.Repo(platform).git.clone("--quiet", "--depth=1", platform.as_uri(), str(shallow))
    found = incumbent("status", "--growth", "--repo", shallow, "--json").json["growth"]
    assert (found["history"], [point["entries"] for point in found["points"]]) == ("shallow", [len(ids)])


def test_curves_without_a_commit_say_so(platform: Path, incumbent: Incumbent) -> None:
    shutil.rmtree(platform / ".git")
    assert incumbent("status", "--growth", "--repo", platform, "--json").json["growth"]["history"] is None
    git.Repo.init(platform)
    outcome = incumbent("status", "--growth", "--repo", platform)
    assert (outcome.code, "There is no history of git here" in outcome.out) == (0, True)


def test_all_that_is_suggested_goes_at_once(platform: Path, incumbent: Incumbent) -> None:
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    excluded = [item["id"] for item in review["verdicts"] if "REDUNDANT" in item["reasons"]]
    accepted = [part for id in excluded for part in ("--accept", id)]
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform, *accepted, "--reason", "all of them").code == 0
    suggested = [item["id"] for item in incumbent("prune", "--repo", platform, "--json").json["suggestions"]]
    assert len(suggested) > 1
    before = tree(platform)
    evict = ("evict", "--suggested", "--repo", platform)
    dry = incumbent(*evict, "--customer", "tarnbeck-bank", "--kind", "redundant", "--dry-run")
    told = [line.split(": ")[1] for line in dry.out.splitlines() if line.startswith("would be evicted: ")]
    assert told == suggested
    assert "no suggested eviction fits" in incumbent(*evict, "--kind", "displaced").out
    assert tree(platform) == before
    unknown = incumbent(*evict, "--customer", "tarnbeck")
    assert (unknown.code, "there is no such customer" in unknown.err) == (1, True)
    done = incumbent(*evict, "--json")
    assert done.code == 0
    assert {path for path, change in done.json["files"].items() if change == "delete"} == {
        f"regression_set/{id}.yaml" for id in suggested
    }
    status = incumbent("status", "--repo", platform, "--json").json
    assert status["evicted"] == sorted(suggested)
    tombstone = (platform / "regression_set" / "evicted" / f"{suggested[0]}.yaml").read_text(encoding="utf-8")
    assert "reason: 'redundant: others cover all that it covers'" in tombstone
    assert "kind: redundant" in tombstone
    assert incumbent("validate", "--repo", platform).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name an entry, or give --suggested, not both"),
        (("x", "--suggested"), "name an entry, or give --suggested, not both"),
        (("--customer", "y"), "give --suggested in place of ID"),
        (("x",), "missing option --reason"),
        (("x", "--reason", "y", "--kind", "redundant"), "give --suggested in place of ID"),
        (("--suggested", "--reason", " "), "--reason must say something"),
    ],
)
def test_evict_takes_an_entry_or_all_that_is_suggested(
    platform: Path, incumbent: Incumbent, arguments: tuple[str, ...], message: str
) -> None:
    outcome = incumbent("evict", *arguments, "--repo", platform)
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err


def test_evicting_what_holds_something_says_what_is_lost(platform: Path, incumbent: Incumbent) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    pinned = incumbent("prune", "--repo", platform, "--json").json["pinned"]
    entry = sorted(pinned)[0]
    outcome = incumbent("evict", entry, "--reason", "customer left", "--repo", platform)
    assert outcome.code == 0
    assert "the set would lose" in outcome.err
    assert pinned[entry][0].removeprefix("champion:") in outcome.err
    assert incumbent("status", "--repo", platform, "--json").json["evicted"] == [entry]


def test_a_person_need_not_answer_twice(platform: Path, incumbent: Incumbent) -> None:
    """What was accepted or overridden at the ceiling waits, and enters when a slot is free, before newcomers do."""
    config = platform / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("ceiling: 40", "ceiling: 1"), encoding="utf-8")
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    excluded = next(item for item in review["verdicts"] if item["outcome"] == "excluded")
    override = ["--accept", excluded["id"], "--accept", excluded["id"], "--reason", "we like it"]
    staged = incumbent("admit", platform / CARD_LINE, "--repo", platform, *override, "--json").json
    assert excluded["entry"] in staged["waiting"]
    config.write_text(text, encoding="utf-8")
    refused = incumbent("admit", platform / BRANCH_LINE, "--repo", platform)
    assert refused.code == 1
    assert "admit --waiting" in refused.err
    entered = incumbent("admit", "--waiting", "--repo", platform, "--json").json
    assert excluded["entry"] in entered["admitted"]
    assert entered["leaving"] == []
    assert "override: we like it" in (platform / "regression_set" / f"{excluded['entry']}.yaml").read_text()
    assert incumbent("admit", platform / BRANCH_LINE, "--repo", platform).code == 0


def test_a_waiting_entry_that_needs_a_person_by_now_enters_once_one_accepts_it(
    platform: Path, incumbent: Incumbent
) -> None:
    config = platform / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("ceiling: 40", "ceiling: 1"), encoding="utf-8")
    waiting = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--json").json["waiting"]
    # Its evidence is as weak as the next classifier may find it.
    config.write_text(re.sub(r"honesty_floor: \S+", "honesty_floor: 1.0", text), encoding="utf-8")
    left = incumbent("admit", "--waiting", "--repo", platform, "--json").json
    stays = next(id for id in waiting if id not in left["admitted"])
    path = platform / "regression_set" / "waiting" / f"{stays}.yaml"
    item = yaml.safe_load(path.read_text(encoding="utf-8"))["source"]["item"]
    said = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--accept", item, "--by", "kim", "--json").json
    assert stays in said["waiting"]
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["admitted"]["by"] == "kim"
    assert stays in incumbent("admit", "--waiting", "--repo", platform, "--json").json["admitted"]


def test_comments_and_pins_survive_an_edit(platform: Path, incumbent: Incumbent) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    query, entry = sorted(review["settled"].items())[0]
    path = platform / "regression_set" / f"{entry}.yaml"
    before = path.read_text(encoding="utf-8")
    path.write_text("# kept by hand\n" + before.replace("pin: null", 'pin: "keep" # ask Dana'), encoding="utf-8")
    evals = platform / CARD_LINE / "evals.yaml"
    text = yaml.safe_load(before)["turns"][0]
    evals.write_text(evals.read_text(encoding="utf-8").replace(text, text + " Thanks a lot."), encoding="utf-8")
    again = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    assert again["edited"] == {query: entry}
    accepted = ["--accept", query, "--reason", "edited"]
    outcome = {item["id"]: item["outcome"] for item in again["verdicts"]}[query]
    assert (
        incumbent("admit", platform / CARD_LINE, "--repo", platform, *(accepted if outcome != "admitted" else [])).code
        == 0
    )
    after = path.read_text(encoding="utf-8")
    assert "Thanks a lot." in after
    assert after.startswith("# kept by hand\n")
    assert 'pin: "keep" # ask Dana' in after
    assert yaml.safe_load(after)["admitted"]["at"] == yaml.safe_load(before)["admitted"]["at"]


def test_nothing_is_written_through_a_symbolic_link(platform: Path, incumbent: Incumbent, tmp_path: Path) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (platform / "regression_set" / "evicted").symlink_to(elsewhere)
    before = tree(platform)
    entry = sorted((platform / "regression_set").glob("*.yaml"))[0].stem
    outcome = incumbent("evict", entry, "--reason", "a trial", "--repo", platform)
    assert outcome.code == 1
    assert "symbolic link" in outcome.err
    assert tree(platform) == before
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("command", ["evict", "restore"])
def test_a_mistyped_id_gets_the_nearest_one(command: str, platform: Path, incumbent: Incumbent) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    entry = sorted((platform / "regression_set").glob("*.yaml"))[0].stem
    reason = ["--reason", "x"] if command == "evict" else []
    outcome = incumbent(command, entry + "x", *reason, "--repo", platform)
    assert outcome.code == 1
    assert command == "restore" or f"perhaps you meant '{entry}'" in outcome.err


def test_a_change_of_classifier_makes_the_set_stale_until_it_is_classified_again(
    platform: Path, incumbent: Incumbent
) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("samples: 5", "samples: 3"), encoding="utf-8")
    review = incumbent("review", platform / BRANCH_LINE, "--repo", platform, "--json").json
    assert review["stale"]
    refused = incumbent("admit", platform / BRANCH_LINE, "--repo", platform)
    assert refused.code == 1
    assert "reclassify" in refused.err
    outcome = incumbent("reclassify", "--repo", platform, "--json").json
    assert outcome["kept"] == {}
    assert outcome["changed"]
    assert incumbent("review", platform / BRANCH_LINE, "--repo", platform, "--json").json["stale"] == []


def at_the_ceiling(platform: Path) -> dict[str, list[str]]:
    """A full set in which each of two waiting entries would free two others; by the waiting entry."""
    config = platform / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8").replace("redundancy_floor: 2", "redundancy_floor: 1")
    config.write_text(text.replace("ceiling: 40", "ceiling: 4"), encoding="utf-8")
    taxonomy = open_platform(platform, "config/curation.yaml").taxonomy
    names = [item.id for item in taxonomy.capabilities if item.source == "intent" and item.combines][:4]

    def entry(id: str, customer: str, score: float, *capabilities: str) -> Entry:
        found = make_entry(id, dict.fromkeys(sorted(capabilities), score))
        definitions = {name: taxonomy.by_id[name].definition for name in sorted(capabilities)}
        classified = found.classified.model_copy(update={"taxonomy": taxonomy.version, "definitions": definitions})
        source = Source(customer=customer, agent="desk", eval_set=f"eval_sets/{customer}/desk/evals.yaml", item=id)
        return found.model_copy(update={"classified": classified, "source": source})

    residents = [entry(f"r{place}", "acme", 0.8, name) for place, name in enumerate(names)]
    waiting = [entry("w0", "acme", 0.95, *names[:2]), entry("w1", "zeta", 0.95, *names[2:])]
    apply([*map(admit, residents), *map(let_wait, waiting)], platform)
    return {"w0": ["r0", "r1"], "w1": ["r2", "r3"]}


def test_all_suggested_swaps_are_accepted_at_once(platform: Path, incumbent: Incumbent) -> None:
    freed = at_the_ceiling(platform)
    swaps = incumbent("prune", "--repo", platform, "--json").json["swaps"]
    assert {item["admit"]: sorted(item["remove"]) for item in swaps} == freed
    before = tree(platform)
    accept = ("accept", "--suggested", "--repo", platform)
    dry = incumbent(*accept, "--dry-run").out
    for swap in swaps:
        assert f"would be admitted: {swap['admit']}; would be evicted: {', '.join(swap['remove'])}" in dry
    chosen = incumbent(*accept, "--customer", "zeta", "--dry-run", "--json").json
    assert (chosen["admitted"], chosen["dry_run"]) == (["w1"], True)
    assert incumbent("accept", "w0", "--repo", platform, "--dry-run", "--json").json["admitted"] == ["w0"]
    unknown = incumbent(*accept, "--customer", "zet")
    assert (unknown.code, "perhaps you meant 'zeta'" in unknown.err) == (1, True)
    assert tree(platform) == before
    done = incumbent(*accept, "--by", "Kim", "--at", "2026-02-03T04:05:06Z")
    assert (done.code, "2 swaps in all" in done.out) == (0, True), done.err
    status = incumbent("status", "--repo", platform, "--json").json
    assert (status["size"], status["waiting"]) == (2, [])
    assert status["evicted"] == sorted(id for ids in freed.values() for id in ids)
    tombstone = yaml.safe_load((platform / "regression_set" / "evicted" / "r0.yaml").read_text(encoding="utf-8"))
    assert (tombstone["evicted"]["by"], tombstone["evicted"]["at"]) == ("Kim", "2026-02-03T04:05:06Z")
    assert tombstone["evicted"]["grounds"]["freed_by"] == "w0"
    entry = yaml.safe_load((platform / "regression_set" / "w0.yaml").read_text(encoding="utf-8"))
    assert entry["admitted"]["at"] == "2026-02-03T04:05:06Z"
    again = incumbent("accept", "w0", "--repo", platform)
    assert (again.code, again.out) == (0, "w0 is in the regression set already, and nothing changes\n")


def test_an_entry_that_frees_none_is_not_swapped(platform: Path, incumbent: Incumbent) -> None:
    at_the_ceiling(platform)
    for id in ("r0", "r1"):
        assert incumbent("pin", id, "--reason", "an audit", "--repo", platform).code == 0
    outcome = incumbent("accept", "w0", "--repo", platform)
    assert (outcome.code, "no swap is suggested for it" in outcome.err) == (1, True)
    assert "1 swap in all" in incumbent("accept", "--suggested", "--repo", platform, "--dry-run").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name an entry that waits for a slot, or give --suggested, not both"),
        (("x", "--suggested"), "name an entry that waits for a slot, or give --suggested, not both"),
        (("--customer", "y"), "give --suggested in place of ID"),
        (("x", "--customer", "y"), "give --suggested in place of ID"),
    ],
)
def test_accept_takes_a_waiting_entry_or_all_that_is_suggested(
    platform: Path, incumbent: Incumbent, arguments: tuple[str, ...], message: str
) -> None:
    outcome = incumbent("accept", *arguments, "--repo", platform)
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err


def test_a_swap_that_was_accepted_changes_nothing_more(platform: Path, incumbent: Incumbent) -> None:
    at_the_ceiling(platform)
    assert incumbent("accept", "w0", "--repo", platform).code == 0
    before = tree(platform)
    outcome = incumbent("accept", "w0", "--repo", platform)
    assert (outcome.code, outcome.out) == (0, "w0 is in the regression set already, and nothing changes\n")
    assert incumbent("accept", "w0", "--repo", platform, "--json").json["files"] == {}
    assert tree(platform) == before


def test_without_a_swap_nothing_is_accepted(platform: Path, incumbent: Incumbent) -> None:
    assert "no suggested swap fits" in incumbent("accept", "--suggested", "--repo", platform).out


def test_admit_accepts_all_that_needs_review(platform: Path, incumbent: Incumbent) -> None:
    call = ("admit", platform / CARD_LINE, "--repo", platform)
    direct = incumbent(*call, "--dry-run", "--json").json["admitted"]
    found = incumbent(*call, "--accept", "all", "--json").json["admitted"]
    assert found[: len(direct)] == direct
    assert len(found) > len(direct)
    left = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json["verdicts"]
    assert [item["id"] for item in left if item["outcome"] == "waiting-for-review"] == []


def test_what_rests_on_doubtful_expected_calls_enters_by_name_and_with_a_reason_only(
    platform: Path, incumbent: Incumbent, tmp_path: Path
) -> None:
    folder = tmp_path / "acme" / "desk"
    for name in ("config", "taxonomy"):
        shutil.rmtree(platform / name)
        shutil.copytree(REPOSITORY / name, platform / name)
    shutil.copytree(REPOSITORY / "examples" / "customers" / "northwind-tracker" / "tracker", folder)
    calls = "[listIssues, createIssue, getIssue, listMilestones]"
    query = f"- {{id: g1, query: Sounds good to me., expected: {{tool_calls: {calls}}}}}"
    (folder / "evals.yaml").write_text(f"eval_set: 1\nqueries:\n  {query}\n", encoding="utf-8")
    everything = incumbent("admit", folder, "--repo", platform, "--accept", "all", "--dry-run")
    assert everything.code == 0
    assert "To accept what rests on doubtful expected tool calls, give --reason." in everything.out
    # No command is shown that is refused.
    assert "--accept g1" not in everything.out
    (verdict,) = incumbent("review", folder, "--repo", platform, "--json").json["verdicts"]
    assert "CONTRADICTED" in verdict["reasons"]
    admit = ("admit", folder, "--repo", platform, "--accept", "g1")
    refused = incumbent(*admit)
    assert refused.code == 1
    assert "doubtful" in refused.err
    assert incumbent(*admit, "--reason", "it answers a question").code == 0
    assert (platform / "regression_set" / f"{verdict['entry']}.yaml").exists()
