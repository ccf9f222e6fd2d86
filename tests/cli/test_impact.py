"""``incumbent impact``: what a change would do, told from two commits of a real repository, however they are named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import git
import pytest
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from tests.cli.conftest import Incumbent, Outcome
from tests.opinions import OPINION, ROWS

TAXONOMY = "taxonomy/taxonomy.yaml"
CONFIG = "config/curation.yaml"
EXEMPLARS = "taxonomy/exemplars/exemplars.tsv"
OPINIONS = "taxonomy/exemplars/opinions.tsv"
CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
MODEL = """
  openai:
    endpoint: https://llm.invalid/v1
    api_version: null
    model: m1
    key_variable: NO_SUCH_KEY
    temperature: 1.0
    seed: 1
    timeout_seconds: 1.0
    retries: 0
    in_flight: 1
    prompt_bytes: 60000
    examples: 0
    answer_tokens: 900
    response_bytes: 16000000
    budget: {requests: 100, tokens: 100000}
    prices: null
"""
Edit = Callable[[str], str]


@pytest.fixture
def grown(platform: Path, incumbent: Incumbent) -> Path:
    """A platform whose set has entries, one in another language that a person took in, on the branch ``main``."""
    assert incumbent("admit", platform / CARD_LINE, "--accept", "c08", "--repo", platform).code == 0
    commit(platform, "Grow")
    with git.Repo(platform) as repository:
        repository.git.branch("-M", "main")
    return platform


def commit(platform: Path, message: str = "Change") -> None:
    with git.Repo(platform) as repository:
        repository.git.add(all=True)
        repository.git.commit(message=message, allow_empty=True)


def change(platform: Path, *edits: tuple[str, str, str]) -> None:
    """Commit edits: path, what stands there, and what shall."""
    for path, old, new in edits:
        text = (platform / path).read_text(encoding="utf-8")
        assert text.count(old) >= 1, old
        (platform / path).write_text(text.replace(old, new), encoding="utf-8")
    commit(platform)


def add_opinion(platform: Path, version: str = "1.1.0") -> None:
    path = platform / TAXONOMY
    text = path.read_text(encoding="utf-8").replace("version: 1.0.0", f"version: {version}", 1)
    path.write_text(text.rstrip() + "\n" + OPINION, encoding="utf-8")
    (platform / OPINIONS).write_text(f"id\tlabels\tlookalikes\tturns\n{ROWS}", encoding="utf-8")
    commit(platform)


def carry(platform: Path, incumbent: Incumbent) -> None:
    """Let the tables of exemplars follow the taxonomy, and commit both."""
    outcome = incumbent("migrate", "--repo", platform)
    assert outcome.code == 0, outcome.err
    commit(platform)


def impact(incumbent: Incumbent, platform: Path, *more: str, commits: str = "HEAD~1..HEAD") -> Outcome:
    found = incumbent("impact", commits, "--repo", platform, *more)
    assert found.code != 70
    return found


def test_an_added_capability_is_told_with_its_cost(grown: Path, incumbent: Incumbent) -> None:
    add_opinion(grown)
    found = impact(incumbent, grown)
    assert found.code == 0, found.err
    assert found.out.startswith("Impact: 1 change of the taxonomy, ")
    assert "- minor: dialog.opinion (“Asking for an opinion”) is new." in found.out
    assert "no request" in found.out
    assert "- new → dialog.opinion" in found.out
    with git.Repo(grown) as repository:
        assert not repository.is_dirty(untracked_files=True)


VAGUE = """
  - id: dialog.concern
    name: A concern
    group: dialog
    description: The caller is concerned.
    source: intent
"""
VAGUE_TEXTS = (
    "Can you help me with this?", "What should I do now?", "Please sort it out.", "Tell me more about that.",
    "How does it work?", "Is there anything you can do?", "I need it done soon.", "Could you look at it?",
    "I am not sure what I want.", "What about my account?",
)  # fmt: skip


def add_vague(platform: Path, trial: bool = False) -> None:
    """A capability of ten exemplars that tell nothing, beside that of opinions."""
    add_opinion(platform)
    path = platform / TAXONOMY
    more = VAGUE + ("    trial: true\n" if trial else "")
    path.write_text(path.read_text(encoding="utf-8").rstrip() + "\n" + more, encoding="utf-8")
    rows = [f"v{place}\tdialog.concern\t{text}" for place, text in enumerate(VAGUE_TEXTS)]
    (platform / "taxonomy/exemplars/vague.tsv").write_text("\n".join(["id\tlabels\tturns", *rows]), encoding="utf-8")
    with git.Repo(platform) as repository:
        repository.git.add(all=True)
        repository.git.commit(amend=True, no_edit=True)


@pytest.mark.parametrize("command", [("impact", "HEAD~1..HEAD"), ("validate", "--from", "HEAD~1")])
def test_a_good_capability_counts_and_a_bad_one_must_go_on_trial(
    command: tuple[str, ...], grown: Path, incumbent: Incumbent
) -> None:
    add_vague(grown)
    found = incumbent(*command, "--repo", grown)
    assert found.code == 1
    assert "- dialog.opinion (new): counts" in found.out
    assert "- dialog.concern (new): must go on trial, since it has 10 of 12 positive exemplars" in found.out
    assert "dialog.concern: no verdict may rest on it yet" in found.err
    assert "add `trial: true` to it" in found.err
    assert "dialog.opinion" not in found.err
    output = incumbent(*command, "--repo", grown, "--json")
    Draft202012Validator(schema(f"{command[0]}-output")).validate(output.json)
    good, bad = output.json["appraisals"]
    assert (good["standing"], good["lacks"]) == ("counts", [])
    assert good["expected"]["precision"]["share"] >= 0.8
    assert bad["standing"] == "unfit"
    assert [lack["kind"] for lack in bad["lacks"]] == ["positive", "negative", "precision"]
    assert bad["expected"]["precision"]["share"] < 0.8
    assert bad["texts"]["judged"] > 5
    assert bad["texts"]["misses"]


def test_on_trial_it_may_be_merged(grown: Path, incumbent: Incumbent) -> None:
    add_vague(grown, trial=True)
    found = impact(incumbent, grown)
    assert found.code == 0, found.err
    assert "- dialog.concern (new): on trial: it has 10 of 12 positive exemplars" in found.out
    assert "- new → dialog.concern: champion – → –; coverers 0 → 0; floor 0 → 0" in found.out


def test_what_did_not_change_is_not_appraised(grown: Path, incumbent: Incumbent) -> None:
    found = incumbent("validate", "--from", "HEAD", "--repo", grown, "--json")
    assert (found.code, found.json["appraisals"]) == (0, [])
    assert incumbent("validate", "--repo", grown, "--json").json["appraisals"] == []
    assert incumbent("validate", "--from", "nowhere", "--repo", grown).code == 2


def test_a_wrong_version_is_a_fault_that_says_which_is_right(grown: Path, incumbent: Incumbent) -> None:
    add_opinion(grown, "1.0.1")
    found = impact(incumbent, grown)
    assert found.code == 1
    assert "The version must be 1.1.0: it is 1.0.1 after 1.0.0." in found.out
    assert "fix: write `version: 1.1.0`" in found.err
    assert f"{TAXONOMY}:" in found.err


def rename(platform: Path) -> None:
    change(
        platform,
        (TAXONOMY, "version: 1.0.0", "version: 1.1.0"),
        (TAXONOMY, "retired: []", "retired: [speech.language]"),
        (TAXONOMY, "  - id: speech.language\n", "  - id: speech.tongue\n    was: speech.language\n"),
        (EXEMPLARS, "language=speech.language", "language=speech.tongue"),
    )


def test_a_rename_is_told_under_both_names_and_nobody_is_asked_anything(grown: Path, incumbent: Incumbent) -> None:
    rename(grown)
    found = impact(incumbent, grown, "--json")
    assert found.code == 0, found.err
    assert [item["kind"] for item in found.json["changes"]] == ["renamed"]
    assert found.json["again"] == []
    assert (found.json["cost"]["entries"], found.json["cost"]["queries"]) == (0, 0)
    (sides,) = found.json["effect"]["capabilities"]
    assert (sides["before"], sides["after"]) == ("speech.language", "speech.tongue")
    assert sides["champion_before"] == sides["champion_after"] is not None
    assert sides["score_before"] == sides["score_after"]
    assert (found.json["effect"]["pins"], found.json["effect"]["suggestions"]) == ([], [])
    assert "speech.language → speech.tongue" in impact(incumbent, grown).out


def without(platform: Path, id: str) -> None:
    """Take a capability out of the taxonomy, and retire its id."""
    path = platform / TAXONOMY
    head, _, rest = path.read_text(encoding="utf-8").partition(f"  - id: {id}\n")
    text = head + rest[rest.find("  - id: ") :] if "  - id: " in rest else head
    text = text.replace("version: 1.0.0", "version: 2.0.0").replace("retired: []", f"retired: [{id}]")
    path.write_text(text, encoding="utf-8")


def test_a_removal_is_major_and_takes_what_it_held(grown: Path, incumbent: Incumbent) -> None:
    without(grown, "dialog.upset")
    carry(grown, incumbent)
    found = impact(incumbent, grown)
    assert found.code == 0, found.err
    assert "- major: dialog.upset" in found.out
    assert "dialog.upset → gone" in found.out


def test_a_split_asks_those_that_exercised_the_whole(grown: Path, incumbent: Incumbent) -> None:
    without(grown, "dialog.upset")
    whole = OPINION.replace("group: dialog", "group: dialog\n    split: dialog.upset")
    parts = [whole.replace("dialog.opinion", f"dialog.{name}") for name in ("angry", "sad")]
    path = grown / TAXONOMY
    path.write_text("\n".join([path.read_text(encoding="utf-8").rstrip(), *parts]), encoding="utf-8")
    rows = ROWS.replace("dialog.opinion", "dialog.angry,dialog.sad")
    (grown / OPINIONS).write_text(f"id\tlabels\tlookalikes\tturns\n{rows}", encoding="utf-8")
    carry(grown, incumbent)
    found = impact(incumbent, grown, "--json")
    assert found.code == 0, found.err
    assert [item["kind"] for item in found.json["changes"]] == ["split"]
    assert {tuple(item["capabilities"]) for item in found.json["again"]} <= {("dialog.angry", "dialog.sad")}


def test_a_config_alone_is_told_key_by_key(grown: Path, incumbent: Incumbent) -> None:
    change(grown, (CONFIG, "redundancy_floor: 2", "redundancy_floor: 0"))
    found = impact(incumbent, grown)
    assert found.code == 0, found.err
    assert "- knobs.redundancy_floor: 2 becomes 0" in found.out
    assert "To classify again" not in found.out
    assert "floor 2 → 0" in found.out


def test_json_fits_its_schema(grown: Path, incumbent: Incumbent) -> None:
    add_opinion(grown)
    validator = Draft202012Validator(schema("impact-output"))
    validator.validate(impact(incumbent, grown, "--json").json)
    validator.validate(impact(incumbent, grown, "--json", commits="HEAD..HEAD").json)


def test_where_nothing_changes_that_is_said(grown: Path, incumbent: Incumbent) -> None:
    (grown / "README.md").write_text("x", encoding="utf-8")
    commit(grown)
    for commits in ("HEAD~1..HEAD", "HEAD..HEAD", "main..", "HEAD..HEAD~1"):
        found = impact(incumbent, grown, commits=commits)
        assert (found.code, found.out) == (0, "Nothing that verdicts rest on changes\n")


@pytest.mark.parametrize(
    "commits",
    ["", "main", "..", "..HEAD", "main...HEAD", "main....HEAD", "x..HEAD", "HEAD..x", "HEAD..HEAD..HEAD", "HEAD..-x",
     "a b..HEAD", "HEAD:taxonomy..HEAD", "HEAD^{tree}..HEAD", "0000000..HEAD", "HEAD..\x1b[31m", "main~99..HEAD"],
)  # fmt: skip
def test_what_names_no_two_commits_is_said_to(commits: str, grown: Path, incumbent: Incumbent) -> None:
    found = impact(incumbent, grown, commits=commits)
    assert found.code == 2, found.err
    assert found.out == ""
    assert "\x1b" not in found.err


def test_a_folder_below_the_top_is_none(grown: Path, incumbent: Incumbent, tmp_path: Path) -> None:
    for folder in (grown / "taxonomy", tmp_path):
        found = impact(incumbent, folder)
        assert found.code == 2
        assert "not the top folder of a git repository" in found.err


@pytest.mark.parametrize(
    ("file", "content"),
    [(TAXONOMY, b"- a"), (TAXONOMY, b"version: \xff"), (CONFIG, b"{"), (TAXONOMY, None), (CONFIG, None)],
)
def test_a_head_that_cannot_be_read_is_a_fault(
    file: str, content: bytes | None, grown: Path, incumbent: Incumbent
) -> None:
    if content is None:
        (grown / file).unlink()
    else:
        (grown / file).write_bytes(content)
    commit(grown)
    found = impact(incumbent, grown)
    assert found.code == 1
    assert file in found.err


def test_a_link_in_the_place_of_the_taxonomy_is_not_followed(grown: Path, incumbent: Incumbent, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("version: 9.9.9 # hidden", encoding="utf-8")
    (grown / TAXONOMY).unlink()
    (grown / TAXONOMY).symlink_to(secret)
    commit(grown)
    found = impact(incumbent, grown)
    assert found.code == 1
    assert "symbolic link" in found.err
    assert "9.9.9" not in found.err


@pytest.fixture
def paid(grown: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The platform with a language model, and no key for it."""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    change(
        grown, (CONFIG, "backend: embedded #", "backend: openai #"), (CONFIG, "\n  openai: null", MODEL.rstrip() + " #")
    )
    return grown


def test_a_model_is_asked_only_when_that_is_said(paid: Path, incumbent: Incumbent) -> None:
    add_opinion(paid)
    found = impact(incumbent, paid)
    assert found.code == 0, found.err
    assert "say --ask" in found.out
    assert "at most " in found.out
    assert "asked" not in found.err
    asked = impact(incumbent, paid, "--ask")
    assert asked.code == 2
    assert "NO_SUCH_KEY" in asked.err


def test_a_model_that_is_new_is_not_asked_at_all(paid: Path, incumbent: Incumbent) -> None:
    found = impact(incumbent, paid, "--ask")
    assert found.code == 0, found.err
    assert "asked only once this is merged" in found.out
    assert "at most " in found.out
    assert "asked" not in found.err
    assert "classifier.backend" in found.out
