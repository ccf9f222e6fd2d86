"""``incumbent doctor`` against repositories that are set up well and badly; it asks, and never writes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from incumbent.cli.main import COMMANDS, run
from incumbent.pipeline.setup_files import PAGES, setup_file
from tests.e2e.bot import Bot, customer_files, platform_files
from tests.e2e.harness.people import CURATOR, JOB, OUR_APP, OUTSIDER, OWNER, STRANGER, token_of
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged
from tests.variants import one_in

ACTION = "acme/incumbent@0123456789012345678901234567890123456789"
WORKFLOW = ".github/workflows/incumbent.yml"
LEDGER = "incumbent%2Fledger"
FORBIDDEN = {"message": "Resource not accessible by integration", "documentation_url": "https://docs.github.com"}

Doctor = Callable[..., tuple[int, list[dict[str, str]]]]


def workflow() -> str:
    return setup_file("incumbent.yml").replace("uses: ACTION", f"uses: {ACTION}")


def rule(kind: str, **parameters: Any) -> dict[str, Any]:
    settings = {"parameters": parameters} if parameters else {}
    return {"type": kind, **settings, "ruleset_id": 7, "ruleset_source_type": "Repository", "ruleset_source": "here"}


def required_check(name: str = "Incumbent") -> dict[str, Any]:
    checks = [{"context": name}]
    return rule("required_status_checks", required_status_checks=checks, strict_required_status_checks_policy=False)


def reviewed() -> dict[str, Any]:
    return rule(
        "pull_request",
        allowed_merge_methods=["merge"],
        dismiss_stale_reviews_on_push=False,
        require_code_owner_review=True,
        require_last_push_approval=False,
        required_approving_review_count=1,
        required_review_thread_resolution=False,
    )


def queue() -> dict[str, Any]:
    return rule(
        "merge_queue",
        check_response_timeout_minutes=60,
        grouping_strategy="ALLGREEN",
        max_entries_to_build=5,
        max_entries_to_merge=5,
        merge_method="MERGE",
        min_entries_to_merge=1,
        min_entries_to_merge_wait_minutes=5,
    )


def set_up(world: World, path: str, answer: Any, status: int = 200) -> None:
    """What GitHub says of a setting, which the emulator knows nothing of."""
    world.gateway.settings[f"/repos/{world.full_name}{path}"] = (status, answer)


@pytest.fixture
def healthy(world: World) -> World:
    """A repository as `incumbent init` and an administrator leave it."""
    files = platform_files(admissions="pull-request") | {
        WORKFLOW: workflow(),
        ".github/CODEOWNERS": setup_file("CODEOWNERS").replace("OWNERS", "@acme/platform"),
    }
    files["config/curation.yaml"] = files["config/curation.yaml"].replace("curators: []", f"curators: [{CURATOR}]")
    world.push("main", files)
    set_up(world, "/actions/permissions", {"enabled": True, "allowed_actions": "all", "sha_pinning_required": True})
    tokens = {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": True}
    set_up(world, "/actions/permissions/workflow", tokens)
    set_up(world, "/rules/branches/main", [required_check(), reviewed()])
    set_up(world, f"/rules/branches/{LEDGER}", [])
    set_up(world, "/codeowners/errors", {"errors": []})
    set_up(world, f"/collaborators/{CURATOR}", None, 204)
    return world


@pytest.fixture
def doctor(world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Doctor:
    monkeypatch.setitem(COMMANDS, "doctor", "Check settings, permissions and token of a repository.")

    def call(token: str = token_of(OWNER), repository: str = "", api: str = "") -> tuple[int, list[dict[str, str]]]:
        environment = {
            "GITHUB_API_URL": api or world.url,
            "GITHUB_SERVER_URL": world.url,
            "GITHUB_REPOSITORY": repository or world.full_name,
            "GITHUB_TOKEN": token,
        }
        capsys.readouterr()
        mark = world.gateway.mark()
        with patch.dict(os.environ, environment):
            code = run(["doctor", "--json"])
        assert {call.method for call in world.gateway.calls_since(mark)} <= {"GET"}
        said = capsys.readouterr()
        return code, json.loads(said.out)["findings"] if said.out else [{"what": said.err}]

    return call


def messages(findings: list[dict[str, str]], severity: str) -> list[str]:
    return [item["what"] for item in findings if item["severity"] == severity]


def one(findings: list[dict[str, str]], severity: str, about: str) -> dict[str, str]:
    (found,) = [item for item in findings if (item["severity"], item["about"]) == (severity, about)]
    return found


def test_a_healthy_repository_has_nothing_to_change(healthy: World, doctor: Doctor) -> None:
    code, findings = doctor()
    assert messages(findings, "error") == []
    assert messages(findings, "warning") == []
    assert code == 0
    about = {item["about"] for item in findings}
    assert about >= {"actions", "job token", "workflow", "files", "required check", "ledger", "curators", "code owners"}


def test_no_question_is_asked_twice(healthy: World, doctor: Doctor) -> None:
    app = {"actor_id": 20001, "actor_type": "Integration", "bypass_mode": "always"}
    set_up(healthy, f"/rules/branches/{LEDGER}", [rule("update"), rule("creation")])
    for answer, status in ((ruleset([app], "never"), 200), (FORBIDDEN, 403)):
        set_up(healthy, "/rulesets/7", answer, status)
        mark = healthy.gateway.mark()
        doctor()
        asked = [(call.path, call.query) for call in healthy.gateway.calls_since(mark)]
        assert len(asked) == len(set(asked))
        listed = [path.rpartition("/heads/")[2] for path, _ in asked if "/matching-refs/" in path]
        assert listed == ["main", "incumbent"]


def test_an_empty_repository_is_told_to_begin(world: World, doctor: Doctor) -> None:
    code, findings = doctor()
    assert code == 1
    assert "incumbent init" in one(findings, "error", "repository")["change"]


PUBLISHED = {
    "url": "https://api.github.com/repos/acme/platform/pages",
    "status": "built",
    "cname": None,
    "custom_404": False,
    "public": True,
}
PAGES_ANSWERS = [
    (200, PUBLISHED | {"build_type": "workflow"}, "ok", "anyone may open them"),
    (200, PUBLISHED | {"build_type": "legacy"}, "warning", "publish a branch"),
    (404, {"message": "Not Found"}, "warning", "are off"),
    (403, {"message": "Resource not accessible by integration"}, "warning", "could not be checked"),
]


@pytest.mark.parametrize(("status", "answer", "severity", "said"), PAGES_ANSWERS)
@pytest.mark.exhaustive
def test_pages_that_a_workflow_publishes(
    healthy: World, doctor: Doctor, status: int, answer: Any, severity: str, said: str
) -> None:
    healthy.push("main", {PAGES: setup_file("incumbent-pages.yml").replace("uses: ACTION", f"uses: {ACTION}")})
    set_up(healthy, "/pages", answer, status)
    code, findings = doctor()
    assert code == 0
    assert said in one(findings, severity, "pages")["what"]


@pytest.mark.exhaustive
def test_a_workflow_that_is_missing(healthy: World, doctor: Doctor) -> None:
    healthy.push("main", {WORKFLOW: None})
    code, findings = doctor()
    assert code == 1
    assert "incumbent init" in one(findings, "error", "workflow")["change"]


@pytest.mark.exhaustive
def test_a_job_with_more_rights_than_shipped(healthy: World, doctor: Doctor) -> None:
    healthy.push("main", {WORKFLOW: workflow().replace("contents: read #", "contents: write #")})
    code, findings = doctor()
    found = one(findings, "error", "workflow")
    assert code == 1
    assert "contents: write" in found["what"]
    assert found["change"] == "set `permissions:` of the job `analyse` to contents: read, pull-requests: read"


@pytest.mark.exhaustive
def test_an_action_that_is_not_pinned(healthy: World, doctor: Doctor) -> None:
    healthy.push("main", {WORKFLOW: workflow().replace(ACTION, "acme/incumbent@v1")})
    code, findings = doctor()
    assert code == 1
    assert len([what for what in messages(findings, "error") if "acme/incumbent@v1 is not pinned" in what]) == 3


@pytest.mark.exhaustive
def test_actions_that_are_disabled(healthy: World, doctor: Doctor) -> None:
    set_up(healthy, "/actions/permissions", {"enabled": False, "sha_pinning_required": False})
    code, findings = doctor()
    assert code == 1
    assert one(findings, "error", "actions")["change"].startswith("Settings → Actions → General")


@pytest.mark.exhaustive
def test_a_policy_that_allows_only_the_owners_actions(healthy: World, doctor: Doctor) -> None:
    set_up(
        healthy,
        "/actions/permissions",
        {"enabled": True, "allowed_actions": "local_only", "sha_pinning_required": False},
    )
    code, findings = doctor()
    assert code == 1
    found = one(findings, "error", "actions")
    assert "actions/upload-artifact@" in found["what"]
    assert "acme/incumbent" not in found["what"]


@pytest.mark.exhaustive
def test_a_list_of_allowed_actions(healthy: World, doctor: Doctor) -> None:
    selected = {"enabled": True, "allowed_actions": "selected", "sha_pinning_required": False}
    set_up(healthy, "/actions/permissions", selected)
    allowed = {"github_owned_allowed": True, "verified_allowed": False, "patterns_allowed": []}
    set_up(healthy, "/actions/permissions/selected-actions", allowed)
    assert doctor()[0] == 0
    healthy.push("main", {WORKFLOW: workflow().replace("acme/incumbent", "elsewhere/incumbent")})
    code, findings = doctor()
    assert code == 1
    assert f"add to the list: {ACTION.replace('acme', 'elsewhere')}" in one(findings, "error", "actions")["change"]


@pytest.mark.exhaustive
def test_a_workflow_that_is_no_yaml_and_one_under_another_name(healthy: World, doctor: Doctor) -> None:
    healthy.push("main", {WORKFLOW: "on: [\n"})
    code, findings = doctor()
    assert code == 1
    assert one(findings, "error", "workflow")["what"].startswith(f"{WORKFLOW}:")
    healthy.push("main", {WORKFLOW: None, ".github/workflows/curation.yaml": workflow()})
    code, findings = doctor()
    assert (code, messages(findings, "error")) == (0, [])
    assert "curation.yaml" in one(findings, "ok", "workflow")["what"]


@pytest.mark.exhaustive
def test_a_check_that_nothing_requires(healthy: World, doctor: Doctor) -> None:
    set_up(healthy, "/rules/branches/main", [reviewed()])
    code, findings = doctor()
    assert code == 1
    assert "add Incumbent" in one(findings, "error", "required check")["change"]
    healthy.push("main", {"config/curation.yaml": platform_files(mode="observe")["config/curation.yaml"]})
    code, findings = doctor()
    assert code == 0
    assert "nothing requires" in one(findings, "warning", "required check")["what"]
    assert one(findings, "warning", "config")["what"] == "the mode is observe"


@pytest.mark.exhaustive
def test_a_classic_branch_protection_counts_too(healthy: World, doctor: Doctor) -> None:
    set_up(healthy, "/rules/branches/main", [])
    protection: dict[str, Any] = {
        "required_status_checks": {"strict": False, "contexts": ["Incumbent"]},
        "required_pull_request_reviews": {"require_code_owner_reviews": True},
    }
    wanted = protection | {"enforce_admins": None, "restrictions": None}
    assert healthy.act(OWNER, "PUT", "/branches/main/protection", wanted).ok
    checks = [{"context": "Incumbent", "app_id": 15368}]
    said = {"required_status_checks": {"contexts": ["Incumbent"], "checks": checks}}
    reviews = {"dismiss_stale_reviews": False, "require_code_owner_reviews": True}
    set_up(healthy, "/branches/main/protection", said | {"required_pull_request_reviews": reviews})
    code, findings = doctor()
    # The emulator is another server than github.com, where that id is known.
    assert (code, len(messages(findings, "warning"))) == (0, 1)
    assert "from the app 15368 only" in one(findings, "warning", "required check")["what"]
    set_up(healthy, "/branches/main/protection", {"message": "Not Found", "documentation_url": "https://x"}, 404)
    code, findings = doctor()
    assert code == 0
    assert "could not be checked" in one(findings, "warning", "required check")["what"]


@pytest.mark.exhaustive
def test_a_merge_queue_without_its_trigger(healthy: World, doctor: Doctor) -> None:
    set_up(healthy, "/rules/branches/main", [required_check(), reviewed(), queue()])
    assert doctor()[0] == 0
    healthy.push("main", {WORKFLOW: workflow().replace("  merge_group:\n", "")})
    code, findings = doctor()
    assert code == 1
    assert "`merge_group`" in one(findings, "error", "workflow")["what"]


def test_a_rule_that_keeps_the_bot_from_its_ledger(healthy: World, doctor: Doctor) -> None:
    set_up(healthy, f"/rules/branches/{LEDGER}", [rule("creation"), reviewed()])
    code, findings = doctor()
    assert code == 1
    errors = [item for item in findings if item["severity"] == "error"]
    assert [item["about"] for item in errors] == ["ledger", "ledger"]
    assert all("exclude the branch incumbent/ledger" in item["change"] for item in errors)
    healthy.push("incumbent/ledger", {"README.md": "x"})
    set_up(healthy, f"/rules/branches/{LEDGER}", [rule("creation")])
    assert doctor()[0] == 0


@pytest.mark.exhaustive
def test_a_branch_in_the_way_of_the_bots(healthy: World, doctor: Doctor) -> None:
    healthy.push("incumbent", {"notes.txt": "set up here"})
    code, findings = doctor()
    assert code == 1
    found = one(findings, "error", "branches")
    assert found["what"] == "the branch incumbent is in the way of the bot's branches, such as incumbent/ledger"
    assert "delete or rename the branch incumbent" in found["change"]


def ruleset(actors: list[dict[str, Any]] | None, here: str) -> dict[str, Any]:
    """A ruleset as GitHub shows it; who may see its list of those who pass is an administrator."""
    times = dict.fromkeys(("created_at", "updated_at"), "2026-11-01T00:00:00Z")
    place = {"id": 7, "name": "main", "target": "branch", "source_type": "Repository", "source": "here"}
    shown = {} if actors is None else {"bypass_actors": actors}
    return {**place, "enforcement": "active", "current_user_can_bypass": here, **shown, **times}


def by_app() -> str:
    """The workflow as docs/github.md has it with a GitHub App."""
    step = "          step: publish\n"
    own = "          token: ${{ steps.app.outputs.token }}\n          login: incumbent-acme[bot]\n"
    return workflow().replace(step, step + own)


def test_rules_that_refuse_admissions_and_both_ways_out(healthy: World, doctor: Doctor) -> None:
    config = {"config/curation.yaml": platform_files()["config/curation.yaml"]}
    healthy.push("main", config)
    set_up(healthy, "/rulesets/7", ruleset([], "never"))
    code, findings = doctor()
    found = one(findings, "warning", "admissions")
    assert code == 0
    assert found["what"].startswith("admissions will be offered by pull request: main refuses commits of a job's own")
    assert "required_status_checks" in found["what"]
    assert "pull_request" in found["what"]
    assert "bypass list" in found["change"]
    assert "`admissions: pull-request`" in found["change"]
    # An App's token alone does not help: it has to be let by.
    healthy.push("main", {WORKFLOW: by_app()})
    assert "the token that the workflow hands over" in one(doctor()[1], "warning", "admissions")["what"]
    app = {"actor_id": 20001, "actor_type": "Integration", "bypass_mode": "pull_request"}
    set_up(healthy, "/rulesets/7", ruleset([app], "never"))
    assert "will be offered" in one(doctor()[1], "warning", "admissions")["what"]
    set_up(healthy, "/rulesets/7", ruleset([app | {"bypass_mode": "always"}], "never"))
    assert "lets these apps by: 20001" in one(doctor()[1], "warning", "admissions")["what"]
    # Who is no administrator does not see the list, and the App itself is told whether it passes.
    set_up(healthy, "/rulesets/7", ruleset(None, "never"))
    assert "could not be checked" in one(doctor()[1], "warning", "admissions")["what"]
    set_up(healthy, "/rulesets/7", ruleset(None, "always"))
    rights = {"contents": "write", "checks": "write", "pull-requests": "write", "issues": "write"}
    found = one(doctor(healthy.app_token(OUR_APP, rights))[1], "ok", "admissions")
    assert "by itself" in found["what"]


@pytest.mark.exhaustive
def test_a_ledger_that_only_the_app_may_write(healthy: World, doctor: Doctor) -> None:
    app = {"actor_id": 20001, "actor_type": "Integration", "bypass_mode": "always"}
    set_up(healthy, "/rulesets/7", ruleset([app], "never"))
    set_up(healthy, f"/rules/branches/{LEDGER}", [rule("update"), rule("creation")])
    assert doctor()[0] == 1
    healthy.push("main", {WORKFLOW: by_app()})
    code, findings = doctor()
    assert (code, messages(findings, "error")) == (0, [])


@pytest.mark.parametrize("login", one_in(2, [JOB, OUR_APP]))
def test_what_is_said_of_a_protected_branch_is_what_happens(
    world: World, doctor: Doctor, tmp_path: Path, login: str
) -> None:
    world.push("main", platform_files() | {WORKFLOW: workflow() if login == JOB else by_app()})
    app = {"actor_id": 20001, "actor_type": "Integration", "bypass_mode": "always"}
    set_up(world, "/rulesets/1", ruleset([app], "never"))
    world.protect("main", past=[OUR_APP])
    said = one(doctor()[1], "warning", "admissions")["what"]
    assert ("will be offered by pull request" if login == JOB else "lets these apps by: 20001") in said
    bot, known = Bot(world, tmp_path / "runs", login=login), entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    assert merged(world, bot, pull.number).codes == (0, 0)
    offers = [item for item in world.pages("/pulls?state=open") if item["head"]["ref"].startswith("incumbent/admit/")]
    assert (len(offers), len(entries(world) - known)) == ((1, 0) if login == JOB else (0, 1))
    if offers:
        assert merged(world, bot, offers[0]["number"]).codes == (0, 0)
    assert len(entries(world) - known) == 1


@pytest.mark.exhaustive
def test_files_that_do_not_load(healthy: World, doctor: Doctor) -> None:
    config = platform_files()["config/curation.yaml"]
    healthy.push("main", {"config/curation.yaml": config.replace("ceiling: 40", "ceilling: 40")})
    code, findings = doctor()
    assert code == 1
    assert any("config/curation.yaml:" in what and "ceilling" in what for what in messages(findings, "error"))


@pytest.mark.exhaustive
def test_a_token_that_may_not_look_up_what_people_may_do(healthy: World, doctor: Doctor) -> None:
    set_up(healthy, f"/collaborators/{CURATOR}/permission", FORBIDDEN, 403)
    code, findings = doctor()
    found = one(findings, "warning", "trust")
    assert code == 0
    assert "what people may do" in found["what"]
    assert "outsider" in found["why"]
    assert "Metadata: read, of an account that may write" in found["change"]


@pytest.mark.exhaustive
def test_where_no_curators_are_named_it_is_tried_with_the_owner(healthy: World, doctor: Doctor) -> None:
    """An organisation has no permission of its own: that GitHub says so is answer enough."""
    healthy.push("main", {"config/curation.yaml": platform_files(admissions="pull-request")["config/curation.yaml"]})
    place = f"/collaborators/{healthy.full_name.partition('/')[0]}/permission"
    set_up(healthy, place, {"message": "Not Found"}, 404)
    assert "can be looked up" in one(doctor()[1], "ok", "trust")["what"]
    set_up(healthy, place, FORBIDDEN, 403)
    assert "Metadata: read" in one(doctor()[1], "warning", "trust")["change"]


@pytest.mark.exhaustive
def test_a_curator_who_is_no_collaborator_and_folders_that_nobody_owns(healthy: World, doctor: Doctor) -> None:
    config = platform_files()["config/curation.yaml"].replace("curators: []", f"curators: [{CURATOR}, {OUTSIDER}]")
    healthy.push("main", {"config/curation.yaml": config, ".github/CODEOWNERS": "/taxonomy/ @acme/platform\n"})
    code, findings = doctor()
    assert code == 0
    assert one(findings, "warning", "curators")["what"] == f"the curator {OUTSIDER} is no collaborator"
    unowned = [item["change"] for item in findings if item["about"] == "code owners" and item["severity"] == "warning"]
    assert len(unowned) == 3
    assert any("/regression_set/" in change for change in unowned)


@pytest.mark.exhaustive
def test_jobs_that_may_open_no_pull_request(healthy: World, doctor: Doctor) -> None:
    tokens = {"default_workflow_permissions": "write", "can_approve_pull_request_reviews": False}
    set_up(healthy, "/actions/permissions/workflow", tokens)
    code, findings = doctor()
    assert code == 0
    changes = [item["change"] for item in findings if item["about"] == "job token"]
    assert any("Allow GitHub Actions to create and approve pull requests" in change for change in changes)


@pytest.mark.exhaustive
def test_what_the_token_may_not_see_is_said_and_not_guessed(healthy: World, doctor: Doctor) -> None:
    for path in ("/actions/permissions", "/actions/permissions/workflow", "/rules/branches/main"):
        set_up(healthy, path, FORBIDDEN, 403)
    code, findings = doctor()
    assert code == 0
    unread = [item for item in findings if "could not be checked" in item["what"]]
    assert {item["about"] for item in unread} == {"actions", "job token", "required check"}
    assert all("a token that has the right" in item["change"] for item in unread)
    assert not any("requires the check" in what for what in messages(findings, "ok"))


def test_a_token_without_the_rights_of_the_bot(healthy: World, doctor: Doctor) -> None:
    set_up(healthy, "/commits/main/check-runs", FORBIDDEN, 403)
    set_up(healthy, "/pulls", FORBIDDEN, 403)
    code, findings = doctor(healthy.job_token({"contents": "read"}))
    assert code == 0
    lacking = [item["what"] for item in findings if item["about"] == "token" and item["severity"] == "warning"]
    assert [what.partition(" (")[0] for what in lacking] == [
        "this token lacks Checks: read",
        "this token lacks Pull requests: read",
    ]


def test_the_token_of_somebody_who_may_only_read(healthy: World, doctor: Doctor) -> None:
    rights = {"admin": False, "maintain": False, "push": False, "triage": False, "pull": True}
    set_up(healthy, "", healthy.get("") | {"permissions": rights})
    code, findings = doctor(token_of(STRANGER))
    assert code == 0
    assert "may not write" in one(findings, "warning", "token")["what"]


@pytest.mark.exhaustive
def test_a_token_or_a_repository_that_github_does_not_know(healthy: World, doctor: Doctor) -> None:
    code, findings = doctor(token="nobody-knows-it")
    assert (code, len(findings)) == (1, 1)
    assert findings[0]["about"] == "token"
    code, findings = doctor(repository="acme/elsewhere")
    assert (code, len(findings)) == (1, 1)
    assert "acme/elsewhere cannot be read" in findings[0]["what"]


def test_a_github_that_cannot_be_reached(doctor: Doctor) -> None:
    code, said = doctor(api="http://127.0.0.1:9")
    assert code == 4
    assert "GitHub cannot be reached" in said[0]["what"]


@pytest.mark.exhaustive
def test_in_a_pipe_it_says_plain_lines(
    healthy: World, doctor: Doctor, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy.push("main", {WORKFLOW: None})
    for name in ("GITHUB_API_URL", "GITHUB_SERVER_URL"):
        monkeypatch.setenv(name, healthy.url)
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.setenv("GH_TOKEN", token_of(OWNER))
    assert run(["doctor", "--repository", healthy.full_name]) == 1
    said = capsys.readouterr().out
    assert "error: workflow: no workflow of the default branch runs the Action\n    why: " in said
    assert "\n    change: run `incumbent init --action" in said
    assert said.endswith(f"{healthy.full_name}: 1 error, 0 warnings\n")
    assert "\x1b" not in said


@pytest.mark.exhaustive
def test_on_a_terminal_it_shows_a_coloured_table(
    healthy: World, doctor: Doctor, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy.push("main", {WORKFLOW: None})
    settings = {"GITHUB_API_URL": healthy.url, "GITHUB_SERVER_URL": healthy.url, "GITHUB_TOKEN": token_of(OWNER)}
    for name, value in (settings | {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run(["doctor", "--repository", healthy.full_name]) == 1
    said = capsys.readouterr().out
    assert "what to change" in said
    assert "\x1b[31merror" in said


@pytest.mark.exhaustive
def test_without_token_or_repository_it_says_what_to_give(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert run(["doctor"]) == 2
    assert "--repository OWNER/NAME" in capsys.readouterr().err
    assert run(["doctor", "--repository", "acme/platform"]) == 2
    assert "GH_TOKEN" in capsys.readouterr().err
    assert run(["doctor", "--repository", "acme/platform/x"]) == 2
    for command in (["init", "--quiet"], ["remote", "add", "origin", "git@github.com:acme/platform.git"]):
        subprocess.run(["git", *command], check=True)
    capsys.readouterr()
    assert run(["doctor"]) == 2
    assert "GH_TOKEN" in capsys.readouterr().err
