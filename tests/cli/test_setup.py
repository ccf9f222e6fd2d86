"""`incumbent init`: what it writes, what it finds out, what it leaves alone."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import git
import pytest

from incumbent.cli.setup import without_own_paths
from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import tree
from tests.factories import REPOSITORY

ACTION = "example/incumbent@0123456789012345678901234567890123456789"
WRITTEN = {
    ".github/CODEOWNERS",
    ".github/workflows/incumbent.yml",
    "CURATION.md",
    "config/curation.yaml",
    "regression_set/README.md",
    "taxonomy/taxonomy.yaml",
}
EXEMPLARS = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "taxonomy" / "exemplars").rglob("*.tsv")}


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    repository = git.Repo.init(tmp_path / "platform", initial_branch="trunk")
    repository.create_remote("origin", "git@github.example:acme/platform.git")
    repository.close()
    return tmp_path / "platform"


def test_an_empty_repository_becomes_a_valid_platform(empty: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("init", "--repo", empty, "--action", ACTION)
    assert outcome.code == 0
    assert set(tree(empty)) == WRITTEN | EXEMPLARS
    assert f"written: taxonomy/exemplars/ ({len(EXEMPLARS)} files)" in outcome.out
    for path in EXEMPLARS:
        assert (empty / path).read_bytes() == (REPOSITORY / path).read_bytes()
    assert incumbent("validate", "--repo", empty).code == 0
    assert "trunk" not in (empty / ".github/workflows/incumbent.yml").read_text(), "no branch is named, none is guessed"
    assert f"uses: {ACTION}" in (empty / ".github/workflows/incumbent.yml").read_text()
    assert "| `/incumbent unpin ID…` |" in (empty / "CURATION.md").read_text(encoding="utf-8")
    assert "/taxonomy/ @acme" in (empty / ".github/CODEOWNERS").read_text()
    assert "incumbent doctor --repository acme/platform" in outcome.out


def test_nothing_is_overwritten_and_the_rest_is_written(empty: Path, incumbent: Incumbent) -> None:
    (empty / "config").mkdir()
    (empty / "config/curation.yaml").write_text("mine")
    (empty / "CODEOWNERS").write_text("* @somebody\n")
    outcome = incumbent("init", "--repo", empty, "--action", ACTION)
    assert (empty / "config/curation.yaml").read_text() == "mine"
    assert (empty / "CODEOWNERS").read_text() == "* @somebody\n"
    assert "kept: config/curation.yaml" in outcome.out
    assert "add to CODEOWNERS:" in outcome.out
    assert "    /regression_set/ @acme" in outcome.out
    before = tree(empty)
    assert incumbent("init", "--repo", empty, "--action", ACTION).code == 0
    assert tree(empty) == before


@pytest.mark.parametrize("present", ["taxonomy/taxonomy.yaml", "taxonomy/exemplars/mine.tsv"])
def test_a_taxonomy_that_is_there_keeps_its_own_exemplars(empty: Path, incumbent: Incumbent, present: str) -> None:
    (empty / present).parent.mkdir(parents=True)
    (empty / present).write_text("mine")
    outcome = incumbent("init", "--repo", empty, "--action", ACTION)
    assert outcome.code == 0
    assert "taxonomy/exemplars/ (" not in outcome.out
    assert set(tree(empty)) == WRITTEN | {present}


def test_a_link_in_a_files_place_is_not_written_through(empty: Path, incumbent: Incumbent, tmp_path: Path) -> None:
    (empty / "CURATION.md").symlink_to(tmp_path / "elsewhere")
    assert incumbent("init", "--repo", empty, "--action", ACTION).code == 0
    assert not (tmp_path / "elsewhere").exists()


def test_a_dry_run_writes_nothing(empty: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("init", "--repo", empty, "--action", ACTION, "--dry-run")
    assert outcome.out.count("would write: ") == len(WRITTEN) + 1
    assert tree(empty) == {}


def test_where_no_action_is_known_all_but_the_workflow_is_written(
    empty: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incumbent.cli.setup.own_action", lambda: None)
    outcome = incumbent("init", "--repo", empty)
    assert outcome.code == 0
    assert set(tree(empty)) == (WRITTEN | EXEMPLARS) - {".github/workflows/incumbent.yml"}
    assert "workflow" not in (empty / ".github/CODEOWNERS").read_text()
    (text,) = [line for line in outcome.out.splitlines() if "workflow" in line]
    assert text.endswith("add the workflow: incumbent init --action OWNER/NAME@COMMIT")
    assert "doctor" not in outcome.out
    assert incumbent("validate", "--repo", empty).code == 0
    later = incumbent("init", "--repo", empty, "--action", ACTION)
    assert set(tree(empty)) == WRITTEN | EXEMPLARS
    assert "add to .github/CODEOWNERS:\n    /.github/workflows/incumbent.yml @acme\n" in later.out


def test_the_next_steps_lead_to_the_first_verdicts(empty: Path, incumbent: Incumbent) -> None:
    out = incumbent("init", "--repo", empty, "--action", ACTION).out
    assert out.index("Commit these files") < out.index("`incumbent import") < out.index("`incumbent review")


@pytest.mark.parametrize("known", [True, False])
def test_what_is_written_points_to_nothing_that_is_not_there(
    known: bool, empty: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incumbent.cli.setup.own_action", lambda: ACTION if known else None)
    assert incumbent("init", "--repo", empty).code == 0
    root = f"https://github.com/{ACTION.replace('@', '/blob/')}"
    config = (empty / "config/curation.yaml").read_text(encoding="utf-8")
    assert (f"{root}/docs" in config) is known
    for path in sorted((WRITTEN | EXEMPLARS) & set(tree(empty))):
        text = (empty / path).read_text(encoding="utf-8").replace(f"{root}/docs", "").replace(f"{root}/config", "")
        for named in re.findall(r"\b(?:docs|config|taxonomy|regression_set|schemas|examples)/[\w./-]*\w", text):
            assert (empty / named).exists(), f"{path}: {named}"


@pytest.mark.parametrize("action", ["example/incumbent", "example/incumbent@v1", "incumbent@" + "0" * 40, "a/b@xyz\n"])
def test_the_action_is_named_by_its_commit(action: str, empty: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("init", "--repo", empty, "--action", action)
    assert outcome.code == 2
    assert "--action OWNER/NAME@COMMIT" in outcome.err
    assert tree(empty) == {}


def test_without_a_remote_the_owners_are_asked_for(tmp_path: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("init", "--repo", tmp_path, "--action", ACTION)
    assert outcome.code == 0
    assert "/taxonomy/ @YOUR-TEAM" in outcome.out
    assert not (tmp_path / ".github/CODEOWNERS").exists()


def test_who_owns_an_organisation_is_said(empty: Path, incumbent: Incumbent) -> None:
    said = "name a team of it in .github/CODEOWNERS"
    assert said not in incumbent("init", "--repo", empty, "--action", ACTION, "--owner", "@acme/team", "--dry-run").out
    assert said in incumbent("init", "--repo", empty, "--action", ACTION).out
    assert said not in incumbent("init", "--repo", empty, "--action", ACTION).out


@pytest.mark.parametrize("name", ["incumbent", "incumbent/evict", "incumbent-candidates"])
@pytest.mark.parametrize("place", ["at hand", "local", "of origin"])
def test_a_branch_in_the_way_of_the_bots_is_named(name: str, place: str, empty: Path, incumbent: Incumbent) -> None:
    with git.Repo(empty) as repository:
        if place == "at hand":
            repository.git.symbolic_ref("HEAD", f"refs/heads/{name}")
        else:
            repository.index.commit("One")
            folder = "refs/heads" if place == "local" else "refs/remotes/origin"
            repository.git.update_ref(f"{folder}/{name}", "HEAD")
    out = incumbent("init", "--repo", empty, "--action", ACTION).out
    assert f"Delete or rename the branch {name}, here and on GitHub" in out
    assert out.index("Delete or rename") < out.index("Push to the default branch")


def test_other_branches_are_in_nobodys_way(empty: Path, incumbent: Incumbent) -> None:
    with git.Repo(empty) as repository:
        repository.index.commit("One")
        repository.git.update_ref("refs/remotes/origin/incumbent/ledger", "HEAD")
        repository.git.update_ref("refs/heads/set-up-incumbent", "HEAD")
    assert "Delete or rename" not in incumbent("init", "--repo", empty, "--action", ACTION).out


def test_both_ways_in_which_admissions_enter_are_named(empty: Path, incumbent: Incumbent) -> None:
    out = incumbent("init", "--repo", empty, "--action", ACTION).out
    assert "`admissions: pull-request`" in out
    root = f"https://github.com/{ACTION.replace('@', '/blob/')}"
    assert f"{root}/docs/github.md, “With a GitHub App”" in out


@pytest.mark.parametrize("pushed", [True, False])
def test_an_action_that_github_cannot_find_is_said(
    pushed: bool, empty: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with git.Repo.init(tmp_path / "product") as product:
        product.create_remote("origin", "https://github.com/acme/incumbent.git")
        (tmp_path / "product/action.yml").touch()
        product.index.add(["action.yml"])
        commit = product.index.commit("One").hexsha
        if pushed:
            product.git.update_ref("refs/remotes/origin/main", "HEAD")
    monkeypatch.setattr("incumbent.cli.setup.__file__", str(tmp_path / "product/bot/incumbent/cli/setup.py"))
    monkeypatch.setattr("incumbent.cli.setup.metadata.distribution", _not_installed)
    out = incumbent("init", "--repo", empty).out
    assert f"uses: acme/incumbent@{commit}" in (empty / ".github/workflows/incumbent.yml").read_text()
    assert ("was never pushed" in out) is not pushed
    assert "was never pushed" not in incumbent("init", "--repo", empty).out


def _not_installed(name: str) -> metadata.Distribution:
    raise metadata.PackageNotFoundError(name)


def test_a_code_owners_file_in_another_encoding_is_no_bug(empty: Path, incumbent: Incumbent) -> None:
    (empty / "CODEOWNERS").write_bytes("# Besitzer: Gr\u00f6\u00dfe\n* @somebody\n".encode("latin-1"))
    outcome = incumbent("init", "--repo", empty, "--action", ACTION)
    assert outcome.code == 0
    assert "add to CODEOWNERS:" in outcome.out


def test_a_folder_inside_a_repository_is_no_place_for_a_platform(empty: Path, incumbent: Incumbent) -> None:
    (empty / "inside").mkdir()
    outcome = incumbent("init", "--repo", empty / "inside", "--action", ACTION)
    assert outcome.code == 2
    assert f"run init with --repo {empty}" in outcome.err
    assert tree(empty) == {}


def test_a_bare_repository_is_no_place_for_files(tmp_path: Path, incumbent: Incumbent) -> None:
    git.Repo.init(tmp_path / "bare.git", bare=True).close()
    before = tree(tmp_path / "bare.git")
    outcome = incumbent("init", "--repo", tmp_path / "bare.git", "--action", ACTION)
    assert outcome.code == 2
    assert "clone it" in outcome.err
    assert tree(tmp_path / "bare.git") == before


def test_what_stands_in_the_way_is_named_and_nothing_is_left_behind(empty: Path, incumbent: Incumbent) -> None:
    (empty / "config").write_text("a file")
    outcome = incumbent("init", "--repo", empty, "--action", ACTION)
    assert outcome.code == 4
    assert "the files could not be written" in outcome.err
    assert sorted(path.name for path in empty.iterdir()) == [".git", "config"]


@pytest.mark.parametrize(
    ("options", "machines", "artifacts"),
    [
        ((), "ubuntu-latest", "v7.0.1"),
        (("--runner", "our-linux"), "our-linux", "v7.0.1"),
        (("--enterprise-server",), "self-hosted", "v3.2.2"),
        (("--enterprise-server", "--runner", "our-linux"), "our-linux", "v3.2.2"),
    ],
)
def test_the_workflow_is_for_the_server_and_the_machines_that_are_there(
    empty: Path, incumbent: Incumbent, options: tuple[str, ...], machines: str, artifacts: str
) -> None:
    assert incumbent("init", "--repo", empty, "--action", ACTION, *options).code == 0
    text = (empty / ".github/workflows/incumbent.yml").read_text()
    assert text.count(f"runs-on: {machines}\n") == text.count("runs-on:") == 3
    assert re.findall(r"actions/upload-artifact@[0-9a-f]{40} # (.*)", text) == [artifacts]
    assert len(re.findall(r"actions/download-artifact@[0-9a-f]{40} # v3.1.0\n", text)) == (
        "--enterprise-server" in options
    )


def test_the_workflow_for_pages_is_written_where_it_is_asked_for(empty: Path, incumbent: Incumbent) -> None:
    name = ".github/workflows/incumbent-pages.yml"
    outcome = incumbent("init", "--repo", empty, "--action", ACTION, "--pages", "--runner", "our-linux")
    assert outcome.code == 0
    assert set(tree(empty)) == WRITTEN | EXEMPLARS | {name}
    text = (empty / name).read_text(encoding="utf-8")
    assert f"uses: {ACTION}\n" in text
    assert text.count("runs-on: our-linux\n") == text.count("runs-on:") == 2
    assert f"/{name} @acme" in (empty / ".github/CODEOWNERS").read_text()
    assert "Settings → Pages" in outcome.out


def test_the_workflow_for_pages_can_be_added_later(empty: Path, incumbent: Incumbent) -> None:
    assert incumbent("init", "--repo", empty, "--action", ACTION).code == 0
    assert "pages" not in (empty / ".github/CODEOWNERS").read_text()
    outcome = incumbent("init", "--repo", empty, "--action", ACTION, "--pages")
    assert set(tree(empty)) == WRITTEN | EXEMPLARS | {".github/workflows/incumbent-pages.yml"}
    assert "add to .github/CODEOWNERS:\n    /.github/workflows/incumbent-pages.yml @acme\n" in outcome.out


@pytest.mark.parametrize(
    ("options", "said"),
    [((), "say which Action"), (("--action", ACTION, "--enterprise-server"), "for github.com alone")],
)
def test_where_pages_cannot_be_published_it_is_said(
    empty: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr("incumbent.cli.setup.own_action", lambda: None)
    outcome = incumbent("init", "--repo", empty, "--pages", *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert tree(empty) == {}


def test_machines_are_named_by_one_label(empty: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("init", "--repo", empty, "--action", ACTION, "--runner", "a, b")
    assert outcome.code == 2
    assert "one label" in outcome.err


def test_paths_of_the_product_become_names_and_the_address_is_said_once() -> None:
    root = f"https://github.com/{ACTION.replace('@', '/blob/')}"
    text = "# Names: docs/configuration.md, config/paper.yaml.\na: 1 # docs/similarity.md\nconfig/curation.yaml\n"
    names = "# Names: Incumbent's configuration.md, Incumbent's paper.yaml.\n"
    rest = "a: 1 # Incumbent's similarity.md\nconfig/curation.yaml\n"
    assert without_own_paths(text, None) == names + rest
    assert (
        without_own_paths(text, root) == f"{names}# Incumbent's pages: {root}/docs (paper.yaml: {root}/config)\n{rest}"
    )
    assert without_own_paths("a: 1\n", root) == "a: 1\n"
