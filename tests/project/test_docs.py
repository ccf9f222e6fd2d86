"""The documentation is true: its commands run, its links lead somewhere, its example is what the product prints."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import git
import pytest
import yaml

from dev.chat import PAGE, PLACE, rendered
from dev.readme import WORKFLOW, excerpt, workflow
from incumbent.cli.main import run
from incumbent.consolidator.verdict import Decision, Reason
from incumbent.curator.entry import IMPORTED
from incumbent.github.command_processing import COMMANDS
from incumbent.github.commands import Verb
from incumbent.taxonomy.config import ClassifierSettings
from tests.copies import copy_of
from tests.factories import REPOSITORY
from tests.variants import exhaustive

PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#:]+?)(?:#[^)]*)?\)")


def commands() -> list[str]:
    found = []
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            found += [line.split(" #")[0].strip() for line in block.splitlines() if line.startswith("incumbent ")]
    return sorted(set(found))


def commit_this(folder: Path) -> None:
    for name in ("taxonomy", "config", "eval_sets", "regression_set", "examples"):
        shutil.copytree(REPOSITORY / name, folder / name)
    with git.Repo.init(folder, initial_branch="main") as repository:
        repository.git.add(all=True)
        repository.git.execute(["git", "-c", "user.name=x", "-c", "user.email=x@x.example", "commit", "--message=x"])


@pytest.fixture
def checkout(tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of this repository's files as a repository of its own, so that commands may write."""
    monkeypatch.setenv("INCUMBENT_CACHE", str(shared_cache))
    monkeypatch.chdir(copy_of(commit_this, tmp_path))
    return tmp_path


def variants() -> list[Any]:
    """The commands; what looks for candidates reads all eval sets (`tests/cli/test_candidates.py` has it read few)."""
    every = commands()
    slow = [each for each in every if each.startswith("incumbent candidates")]
    return [*(each for each in every if each not in slow), *exhaustive(slow)]


@pytest.mark.parametrize("command", variants())
@pytest.mark.usefixtures("checkout")
def test_every_command_in_the_docs_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command)[1:]
    if "--dry-run" in words:
        words += ["--at", "2026-11-21T10:00:00Z"]
    if "--quarantined" in words:
        assert run(["quarantine", min(Path("regression_set").glob("*.yaml")).stem, "--reason", "it flaps"]) == 0
    assert run(words) == 0, capsys.readouterr().err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_page_can_be_reached_from_the_readme() -> None:
    """Its section “Read on” is also the navigation of the built documentation."""
    listed = (REPOSITORY / "README.md").read_text(encoding="utf-8").split("## Read on")[1]
    assert {path.name for path in (REPOSITORY / "docs").glob("*.md")} == set(re.findall(r"\(docs/([\w-]+\.md)", listed))


def test_the_readme_shows_what_the_product_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An excerpt of it. Numbers may differ in a last digit between machines; words, names and codes may not."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    match = re.search(r"<!-- example: incumbent ([^\n]*) -->\n(.*?)<!-- /example -->", text, re.DOTALL)
    assert match is not None
    monkeypatch.chdir(REPOSITORY)
    assert run(match.group(1).split()) == 0
    printed = excerpt(capsys.readouterr().out).split("\n")
    shown = [line.removeprefix(">").strip() for line in match.group(2).strip().split("\n")]
    assert [_without_numbers(line) for line in shown] == [_without_numbers(line.strip()) for line in printed]
    assert len(printed) < 30


def test_the_workflow_of_the_readme_is_the_one_that_init_writes() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    shown = WORKFLOW.search(text)
    assert shown is not None
    assert shown[2].strip() == f"```yaml\n{workflow()}```"


def test_the_docs_show_a_chat_as_it_passes() -> None:
    """What was recorded is what passes now, but for digits."""
    text = PAGE.read_text(encoding="utf-8")
    shown, passes = (_DIGITS.sub("0", PLACE.findall(each)[0][1]) for each in (text, rendered(text)))
    assert shown == passes
    assert "classify_to_verdict" in shown


_DIGITS = re.compile(r"\d+\.\d+")


def test_every_code_is_explained() -> None:
    page = (REPOSITORY / "docs" / "verdicts.md").read_text(encoding="utf-8")
    for name in (*Reason, *Decision, IMPORTED):
        assert f"`{name}`" in page


def test_customers_read_what_to_do_about_every_reason() -> None:
    page = (REPOSITORY / "docs" / "customers.md").read_text(encoding="utf-8")
    rows = "".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`(\w+)`", rows)) == {*Reason, IMPORTED}


def _without_numbers(line: str) -> str:
    return re.sub(r"\d+\.\d+", "0.0", line)


def test_the_commands_are_the_same_wherever_they_are_listed() -> None:
    assert COMMANDS in (REPOSITORY / "docs" / "github.md").read_text(encoding="utf-8")
    assert all(f"/incumbent {verb}" in COMMANDS for verb in Verb)


def sections() -> list[str]:
    page = (REPOSITORY / "docs" / "language-model.md").read_text(encoding="utf-8")
    return re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)


@pytest.mark.parametrize("section", sections())
def test_every_section_of_a_config_can_be_copied(section: str) -> None:
    assert ClassifierSettings.model_validate(yaml.safe_load(section)["classifier"]).openai is not None
