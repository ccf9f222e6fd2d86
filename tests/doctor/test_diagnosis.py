"""What the doctor concludes from how a repository is set up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.classifier.embedded import weights
from incumbent.doctor.diagnosis import diagnose
from incumbent.doctor.examination import read_files, shipped_workflow
from incumbent.doctor.findings import DoctorOutput, UnreadSetting, unreachable
from incumbent.doctor.settings import (
    ActionsPolicy,
    BranchRule,
    BranchSettings,
    Bypass,
    Facts,
    JobTokens,
    PagesSettings,
    Protection,
    RepositoryFiles,
    RequiredCheck,
    TokenFacts,
    owners,
    permitted,
)
from incumbent.doctor.workflow import Workflow, lets_through, read_workflow
from incumbent.errors import Problem
from incumbent.files.documents import parse_yaml
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.setup_files import WORKFLOW, setup_file
from incumbent.taxonomy.config import CONFIG_FILE, REVIEWED_FILES, Curation, OpenAISettings, auto_note
from tests.factories import REPOSITORY, make_config

ACTION = "acme/incumbent@0123456789012345678901234567890123456789"
SHIPPED = setup_file("incumbent.yml").replace("uses: ACTION", f"uses: {ACTION}")
UNREAD = UnreadSetting(right="Administration: read", reason="Resource not accessible")
RULESET = "the ruleset 7 of acme/platform"


def workflow(text: str = SHIPPED) -> Workflow:
    return read_workflow(parse_yaml(text.encode(), WORKFLOW, REVIEWED_FILES), WORKFLOW)


def edited(*edits: tuple[str, str]) -> dict[str, Any]:
    text = SHIPPED
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return {"workflow": workflow(text)}


IGNORED = SHIPPED[SHIPPED.index("branches-ignore:") : SHIPPED.index("\n  schedule:")]


def filtered(filters: str) -> dict[str, Any]:
    """The shipped workflow with other filters of pushes, as older ones have them."""
    return edited((IGNORED, filters))


def make_branch(name: str, *rules: BranchRule, exists: bool = True, **settings: Any) -> BranchSettings:
    return replace(BranchSettings(name=name, exists=exists, rules=rules, protection=None), **settings)


REQUIRED = BranchRule(
    kind="required_status_checks", ruleset=RULESET, checks=(RequiredCheck(name="Incumbent", app=None),)
)
REVIEWED = BranchRule(kind="pull_request", ruleset=RULESET, needs_code_owners=True)
CONFIG = make_config(curators=("cora",), admissions="pull-request")
OLD = CONFIG.under()
_AUTO = auto_note(parse_yaml(b"classifier:\n  embedded: {embedding: auto}", CONFIG_FILE, REVIEWED_FILES))
assert _AUTO is not None
OLD._notes = (_AUTO,)
BY_COMMIT = CONFIG.model_copy(update={"admissions": "commit"})
FILES = RepositoryFiles(
    workflow=workflow(),
    workflow_faults=(),
    faults=(),
    config=CONFIG,
    code_owners=".github/CODEOWNERS",
    unowned=(),
)
HEALTHY = Facts(
    name="acme/platform",
    default_branch="main",
    archived=False,
    actions=ActionsPolicy(enabled=True, allowed="all"),
    job_tokens=JobTokens(default="read", opens_pull_requests=True),
    shipped=shipped_workflow(),
    workflow_state="active",
    branch=make_branch("main", REQUIRED, REVIEWED),
    ledger=make_branch("incumbent/ledger"),
    blocking=(),
    files=FILES,
    outsiders=(),
    owner_faults=(),
    token=TokenFacts(kind="unknown", writes=True, unread=()),
    on_github_com=True,
)


def files(**changes: Any) -> dict[str, Any]:
    return {"files": replace(FILES, **changes)}


def config(**changes: Any) -> dict[str, Any]:
    return files(config=CONFIG.model_copy(update=changes))


def asking(key_variable: str) -> Curation:
    """The config with a language model whose key is in that variable."""
    model = OpenAISettings(endpoint=None, model="m", key_variable=key_variable)
    classifier = CONFIG.classifier.model_copy(update={"backend": "openai", "openai": model})
    return CONFIG.model_copy(update={"classifier": classifier})


def main(*rules: BranchRule, **settings: Any) -> dict[str, Any]:
    return {"branch": make_branch("main", *rules, **settings)}


def committing(*rules: BranchRule, own: bool = False, **settings: Any) -> dict[str, Any]:
    """Admissions by commit to a main with ``rules``; the workflow hands over an ``own`` token, or the job's."""
    changes = BY_APP if own else {}
    return files(config=BY_COMMIT, **changes) | main(*rules, **settings)


def passed_by(*apps: int, here: bool = False) -> tuple[BranchRule, ...]:
    """The healthy rules, by a ruleset that lets ``apps`` by, and perhaps the token ``here``."""
    return tuple(replace(rule, bypass=Bypass(here=here, apps=apps or None)) for rule in (REQUIRED, REVIEWED))


def ledger(*rules: BranchRule | str, **settings: Any) -> dict[str, Any]:
    named = [BranchRule(kind=rule, ruleset=RULESET) if isinstance(rule, str) else rule for rule in rules]
    return {"ledger": make_branch("incumbent/ledger", *named, **settings)}


def allowing(*patterns: str, **settings: Any) -> dict[str, Any]:
    return {"actions": ActionsPolicy(enabled=True, allowed="selected", patterns=patterns, **settings)}


READS = "      contents: read # the reviewed"
MODELS = f"      models: read # GitHub Models\n{READS}"
MODEL = asking("MODEL_KEY")
STEP = "          step: analyse\n"
KEY = "        env:\n          MODEL_KEY: ${{ secrets.MODEL_KEY }}\n"

PUBLISH = "          step: publish\n"
OWN = "          token: ${{ steps.app.outputs.token }}\n"
SLUG = "          login: ${{ steps.app.outputs.app-slug }}[bot]\n"
BY_APP = edited((PUBLISH, f"{PUBLISH}{OWN}          login: acme-curator[bot]\n"))
BY_SOME_APP = edited((PUBLISH, f"{PUBLISH}{OWN}{SLUG}"))
PASSED = Bypass(here=False, apps=(20001,))
SIGNED = BranchRule(kind="required_signatures", ruleset=RULESET, bypass=Bypass(here=True, apps=None))
BOUND = replace(REQUIRED, checks=(RequiredCheck(name="Incumbent", app=15368),))
LOCKED = Protection(checks=REQUIRED.checks, needs_code_owners=True, forbids=("Lock branch",))
LETS_US_BY = Protection(checks=REQUIRED.checks, needs_code_owners=True, forbids=("Restrict",), apps=("acme-curator",))
APP = {"token": TokenFacts(kind="app", writes=True, unread=())}

LET_BY = passed_by(here=True)

CASES: list[tuple[str, dict[str, Any], str, str, str, str]] = [
    ("archived", {"archived": True}, "error", "repository", "archived", "Unarchive"),
    ("empty", main(exists=False) | {"files": UNREAD}, "error", "repository", "no commit", "incumbent init"),
    # Actions
    ("unread", {"actions": UNREAD}, "warning", "actions", "could not be checked", "Administration: read"),
    (
        "off",
        {"actions": ActionsPolicy(enabled=False, allowed="all")},
        "error",
        "actions",
        "disabled",
        "Settings → Actions",
    ),
    ("none allowed", allowing(), "error", "actions", "actions/upload-artifact@043f", "add to the list"),
    (
        "nested action",
        allowing("actions/upload-*", "actions/download-*"),
        "error",
        "actions",
        "allow actions/cache",
        "list",
    ),
    ("verified", allowing("acme/*", verified=True), "warning", "actions", "verified the owner", "allowed actions"),
    # A job's token
    ("unread", {"job_tokens": UNREAD}, "warning", "job token", "could not be checked", "Administration: read"),
    (
        "writes",
        {"job_tokens": JobTokens(default="write", opens_pull_requests=True)},
        "warning",
        "job token",
        "may write",
        "Workflow permissions",
    ),
    (
        "opens none",
        {"job_tokens": JobTokens(default="read", opens_pull_requests=False)},
        "warning",
        "job token",
        "may not create",
        "tick",
    ),
    # The workflow
    ("unread", {"files": UNREAD}, "warning", "files", "could not be checked", "a token that has the right"),
    ("missing", files(workflow=None), "error", "workflow", "no workflow", "incumbent init"),
    (
        "broken",
        files(workflow=None, workflow_faults=(Problem(WORKFLOW, 3, "no YAML", "mend it"),)),
        "error",
        "workflow",
        f"{WORKFLOW}:3: no YAML",
        "mend it",
    ),
    ("disabled", {"workflow_state": "disabled_manually"}, "error", "workflow", "disabled_manually", "Enable workflow"),
    ("state unread", {"workflow_state": UNREAD}, "warning", "workflow", "is enabled could not be", "Administration"),
    (
        "no event",
        files(**edited(("pull_request_target:", "pull_request:"))),
        "error",
        "workflow",
        "`pull_request_target`",
        "`on:`",
    ),
    (
        "no comments",
        files(**edited(("issue_comment:", "other:"))),
        "warning",
        "workflow",
        "`issue_comment`",
        "`on:`",
    ),
    ("no group", files(**edited(("  merge_group:\n", ""))), "warning", "workflow", "`merge_group`", "`on:`"),
    (
        "queue",
        files(**edited(("  merge_group:\n", "")))
        | main(REQUIRED, REVIEWED, BranchRule(kind="merge_queue", ruleset=RULESET)),
        "error",
        "workflow",
        "`merge_group`",
        "`on:`",
    ),
    (
        "no pushes",
        files(**edited((", synchronize,", ","))),
        "warning",
        "workflow",
        "lacks the types synchronize",
        "types:",
    ),
    (
        "filter",
        files(**edited(("    types: [opened", "    paths: [eval_sets/**]\n    types: [opened"))),
        "warning",
        "workflow",
        "filters paths: [eval_sets/**]",
        "remove them",
    ),
    ("pushes of paths", files(**filtered("paths: [eval_sets/**]")), "warning", "workflow", "filters paths", "remove"),
    (
        "pushes elsewhere",
        files(**filtered("branches: [setup-incumbent]")),
        "error",
        "workflow",
        "leaves out the default branch main (branches: [setup-incumbent])",
        "`branches: [main]`",
    ),
    (
        "reviews elsewhere",
        files(**edited(("    types: [opened", "    branches: [trunk]\n    types: [opened"))),
        "error",
        "workflow",
        "`pull_request_target` in .github/workflows/incumbent.yml leaves out the default branch main",
        "names no branch",
    ),
    (
        "no publish",
        files(**edited(("step: publish", "step: other"))),
        "error",
        "workflow",
        "`step: publish`",
        "job `publish`",
    ),
    (
        "one job",
        files(**edited(("step: publish", "step: analyse"), ("step: analyse", "step: publish"))),
        "error",
        "workflow",
        "`step: analyse`",
        "job `analyse`",
    ),
    (
        "no fit",
        files(**edited(("step: fit", "step: other")), own_model=True),
        "error",
        "workflow",
        "`step: fit`",
        "job `fit`, and the `outputs:` of the job `analyse`",
    ),
    (
        "fits where it reads",
        files(**edited((STEP, f"{STEP}      - uses: {ACTION}\n        with:\n          step: fit\n"))),
        "error",
        "workflow",
        "`analyse` both analyses and fits",
        "split",
    ),
    (
        "fit with more rights",
        files(**edited(("contents: write # the reviewed", "checks: write\n      contents: write # the reviewed"))),
        "error",
        "workflow",
        "`fit` has more rights than it needs: checks: write",
        "contents: write",
    ),
    (
        "more rights",
        files(**edited(("contents: read #", "contents: write #"))),
        "error",
        "workflow",
        "more rights than it needs: contents: write",
        "contents: read, pull-requests: read",
    ),
    (
        "another right",
        files(**edited(("checks: write", "id-token: write\n      checks: write"))),
        "error",
        "workflow",
        "id-token: write",
        "job `publish`",
    ),
    (
        "all rights",
        files(
            **edited(
                ("    permissions:\n      contents: read", "    permissions: write-all\n    x:\n      contents: read")
            )
        ),
        "error",
        "workflow",
        "*: write",
        "job `analyse`",
    ),
    (
        "fewer rights",
        files(**edited(("checks: write", "checks: read"))),
        "error",
        "workflow",
        "`publish` lacks checks: write",
        "checks: write",
    ),
    (
        "no block",
        files(
            **edited(
                ("permissions: {}\n", ""), ("    permissions:\n      contents: read", "    x:\n      contents: read")
            )
        ),
        "error",
        "workflow",
        "no `permissions` block",
        "contents: read",
    ),
    (
        "tag",
        files(**edited((ACTION, "acme/incumbent@v1"))),
        "error",
        "workflow",
        "acme/incumbent@v1 is not pinned",
        "acme/incumbent@ and the 40",
    ),
    ("no key", files(config=MODEL), "error", "workflow", "key MODEL_KEY", "secrets.MODEL_KEY"),
    (
        "key for both",
        files(config=MODEL, **edited(("      - name: Judge and write\n", f"      - name: Judge and write\n{KEY}"))),
        "error",
        "workflow",
        "`publish` gets the model's key",
        "remove MODEL_KEY",
    ),
    (
        "models",
        files(config=asking("GITHUB_TOKEN")),
        "error",
        "workflow",
        "lacks models: read",
        "`models: read`",
    ),
    # Files
    (
        "fault",
        files(faults=(Problem("config/curation.yaml", 4, "ceiling: no number", "write one"),)),
        "error",
        "files",
        "config/curation.yaml:4: ceiling",
        "write one",
    ),
    ("observe", config(mode="observe"), "warning", "config", "mode is observe", "mode: curate"),
    # The required check
    ("not required", main(REVIEWED), "error", "required check", "nothing requires", "add Incumbent"),
    (
        "other check",
        main(REVIEWED, replace(REQUIRED, checks=(RequiredCheck(name="CI", app=None),))),
        "error",
        "required check",
        "nothing requires",
        "add Incumbent",
    ),
    ("observed", main(REVIEWED) | config(mode="observe"), "warning", "required check", "nothing requires", "Incumbent"),
    ("rules unread", main(rules=UNREAD), "warning", "required check", "rulesets of main", "Administration"),
    (
        "protection unread",
        main(REVIEWED, protection=UNREAD),
        "warning",
        "required check",
        "branch protection of main",
        "Administration",
    ),
    (
        "other app",
        main(REVIEWED, replace(REQUIRED, checks=(RequiredCheck(name="Incumbent", app=99),))),
        "warning",
        "required check",
        "the app 99",
        "any source",
    ),
    # The ledger
    (
        "update",
        ledger("update"),
        "error",
        "ledger",
        "rule `update` of the ruleset 7",
        "exclude the branch incumbent/ledger",
    ),
    ("pull request", ledger("pull_request"), "error", "ledger", "`pull_request`", "exclude"),
    ("creation", ledger("creation", exists=False), "error", "ledger", "from being created", "exclude"),
    ("name", ledger("branch_name_pattern", exists=False), "warning", "ledger", "may refuse", "exclude"),
    ("message", ledger("commit_message_pattern"), "warning", "ledger", "may refuse", "exclude"),
    ("unread", ledger(rules=UNREAD), "warning", "ledger", "could not be checked", "Administration"),
    ("protection unread", ledger(protection=UNREAD), "warning", "ledger", "branch protection lets", "Administration"),
    (
        "locked",
        ledger(protection=Protection(forbids=("Lock branch",))),
        "error",
        "ledger",
        "Lock branch",
        "Settings → Branches",
    ),
    ("no App", ledger("update") | files(**BY_APP), "error", "ledger", "rule `update`", "exclude"),
    (
        "bypass unread",
        ledger(BranchRule(kind="update", ruleset=RULESET, bypass=UNREAD)) | files(**BY_APP),
        "warning",
        "ledger",
        "could not be checked",
        "Administration",
    ),
    # Branches in the way
    (
        "in the way",
        {"blocking": ("incumbent",)},
        "error",
        "branches",
        "the branch incumbent is in the way",
        "delete or rename the branch incumbent",
    ),
    ("unread", {"blocking": UNREAD}, "warning", "branches", "could not be checked", "Administration"),
    # Admissions
    (
        "a job's token",
        committing(REQUIRED, REVIEWED),
        "warning",
        "admissions",
        "will be offered by pull request: main refuses commits of a job's own token (the rule `required_status_checks`",
        "With a GitHub App",
    ),
    (
        "the other way out",
        committing(REQUIRED, REVIEWED),
        "warning",
        "admissions",
        "the rule `pull_request` of the ruleset 7",
        "`admissions: pull-request` in config/curation.yaml",
    ),
    (
        "a list that no job is on",
        committing(*passed_by(99)),
        "warning",
        "admissions",
        "will be offered",
        "App's token",
    ),
    (
        "an App that is on no list",
        committing(REQUIRED, REVIEWED, own=True),
        "warning",
        "admissions",
        "commits of the token that the workflow hands over",
        "bypass list",
    ),
    (
        "classic",
        committing(protection=LOCKED, own=True),
        "warning",
        "admissions",
        "branch protection: Lock branch",
        "in place of Settings → Branches",
    ),
    (
        "another App",
        committing(protection=replace(LETS_US_BY, apps=("other",)), own=True),
        "warning",
        "admissions",
        "branch protection: Restrict",
        "bypass list",
    ),
    (
        "list not shown",
        committing(*passed_by(), own=True),
        "warning",
        "admissions",
        "could not be checked: the bypass list is not shown",
        "Administration: read",
    ),
    (
        "list unread",
        committing(replace(REQUIRED, bypass=UNREAD), replace(REVIEWED, bypass=UNREAD), own=True),
        "warning",
        "admissions",
        "could not be checked: Resource not accessible",
        "Administration: read",
    ),
    (
        "rules unread",
        committing(rules=UNREAD),
        "warning",
        "admissions",
        "whether main takes commits of a job's own token could not be checked",
        "Administration: read",
    ),
    (
        "no login",
        files(**edited((PUBLISH, f"{PUBLISH}{OWN}"))),
        "error",
        "workflow",
        "no `login`",
        "login: APP[bot]",
    ),
    (
        "check of the job's",
        files(**BY_APP) | main(REVIEWED, replace(REQUIRED, checks=(RequiredCheck(name="Incumbent", app=15368),))),
        "warning",
        "required check",
        "the app 15368",
        "any source",
    ),
    (
        "not on github.com",
        files(**BY_APP) | main(REVIEWED, BOUND) | {"on_github_com": False},
        "warning",
        "required check",
        "could not be checked: the branch takes it from the app 15368 only",
        "any source",
    ),
    *(
        (
            kind,
            committing(*LET_BY, BranchRule(kind=kind, ruleset=RULESET), own=True) | APP,
            "warning",
            "admissions",
            f"(the rule `{kind}`",
            "bypass",
        )
        for kind in ("commit_message_pattern", "file_path_restriction", "required_signatures")
    ),
    (
        "some App is let by",
        committing(*passed_by(20001), own=True),
        "warning",
        "admissions",
        "which App's token the workflow hands over is not known; the ruleset 7 of acme/platform lets these apps by",
        "gh api apps/acme-curator --jq .id",
    ),
    (
        "some App is let by",
        ledger(BranchRule(kind="update", ruleset=RULESET, bypass=PASSED)) | files(**BY_SOME_APP),
        "warning",
        "ledger",
        "lets these apps by: 20001",
        "gh api apps/NAME --jq .id",
    ),
    (
        "some App of a classic list",
        committing(protection=LETS_US_BY) | files(config=BY_COMMIT, **BY_SOME_APP),
        "warning",
        "admissions",
        "lets these apps by: acme-curator",
        "login: NAME[bot]",
    ),
    (
        "some App of a classic list",
        ledger(protection=LETS_US_BY) | files(**BY_SOME_APP),
        "warning",
        "ledger",
        "lets these apps by: acme-curator",
        "login: NAME[bot]",
    ),
    (
        "a classic list without us",
        ledger(protection=Protection(forbids=("Lock branch",), apps=("other",))) | files(**BY_APP),
        "error",
        "ledger",
        "Lock branch",
        "Settings → Branches",
    ),
    # People
    ("outsider", {"outsiders": ("ola",)}, "warning", "curators", "curator ola is no collaborator", "add ola"),
    ("unread", {"outsiders": UNREAD}, "warning", "curators", "could not be checked", "Administration"),
    ("unread", {"permissions": UNREAD}, "warning", "trust", "could not be checked", "Administration"),
    ("no owners", files(code_owners=None), "warning", "code owners", "no CODEOWNERS", "incumbent init"),
    (
        "unowned",
        files(unowned=("taxonomy/",)),
        "warning",
        "code owners",
        "no owner for taxonomy/",
        "/taxonomy/ @YOUR-TEAM",
    ),
    (
        "owner fault",
        {"owner_faults": ("CODEOWNERS:2 (Unknown owner)",)},
        "warning",
        "code owners",
        "Unknown owner",
        "correct",
    ),
    (
        "owner faults unread",
        {"owner_faults": UNREAD},
        "warning",
        "code owners",
        "could not be checked",
        "Administration",
    ),
    ("not asked", main(REQUIRED), "warning", "code owners", "without the owners' review", "Code Owners"),
    # The classifier
    (
        "no weights",
        {"weights": "the weights are not installed"},
        "warning",
        "classifier",
        "this machine cannot run the classifier: the weights are not installed",
        "the wheel incumbent-weights of the release",
    ),
    (
        "as an earlier version wrote it",
        files(config=OLD),
        "warning",
        "config",
        "config/curation.yaml:2: classifier.embedded.embedding: `auto` means the weights",
        "run `incumbent migrate`",
    ),
    # The token
    (
        "lacks",
        {"token": TokenFacts(kind="app", writes=None, unread=(UnreadSetting(right="Checks: read", reason="no"),))},
        "warning",
        "token",
        "lacks Checks: read",
        "grant Checks: read",
    ),
    (
        "reader",
        {"token": TokenFacts(kind="person", writes=False, unread=())},
        "warning",
        "token",
        "may not write",
        "Admin",
    ),
]


@pytest.mark.parametrize(
    ("changes", "severity", "about", "what", "change"),
    [case[1:] for case in CASES],
    ids=[f"{case[3]}: {case[0]}" for case in CASES],
)
def test_each_misconfiguration_is_named_with_the_setting_to_change(
    changes: dict[str, Any], severity: str, about: str, what: str, change: str
) -> None:
    findings = diagnose(replace(HEALTHY, **changes))
    found = [item for item in findings if item.about == about and what in item.what]
    assert found, [item.what for item in findings]
    assert {item.severity for item in found} == {severity}
    assert all(change in item.change and item.why for item in found)
    assert not any(item.severity == "error" for item in findings if item not in found and severity == "warning")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        allowing(f"{ACTION.partition('@')[0]}@*", github_owned=True),
        {"token": TokenFacts(kind="person", writes=True, unread=())},
        main(protection=Protection(checks=(RequiredCheck(name="Incumbent", app=15368),), needs_code_owners=True)),
        ledger("creation"),
        ledger(protection=Protection()),
        ledger(replace(SIGNED, kind="commit_message_pattern", bypass=LET_BY[0].bypass)) | files(**BY_APP) | APP,
        ledger("non_fast_forward", "deletion", "required_linear_history", "required_signatures"),
        files(**edited((READS, MODELS))),
        files(config=asking("GITHUB_TOKEN"), **edited((READS, MODELS))),
        files(**filtered("branches: [main]")),
        files(config=MODEL, **edited((STEP, STEP + KEY))),
        config(curators=()),
        {"workflow_state": None},
        config(admissions="by-hand"),
        committing(*passed_by(here=True), own=True) | APP,
        committing(protection=LETS_US_BY, own=True),
        committing(*passed_by(20001, here=True), SIGNED, own=True) | APP,
        files(**BY_APP) | {"job_tokens": JobTokens(default="read", opens_pull_requests=False)},
        files(**edited((PUBLISH, f"{PUBLISH}          token: ${{{{ github.token }}}}\n"))),
        main(REVIEWED, replace(REQUIRED, checks=(RequiredCheck(name="Incumbent", app=99),))) | files(**BY_APP),
    ],
)
def test_what_is_well_gets_no_error_and_no_warning(changes: dict[str, Any]) -> None:
    findings = diagnose(replace(HEALTHY, **changes))
    assert [item.what for item in findings if item.severity != "ok"] == []
    assert all(not item.why and not item.change for item in findings)


def test_where_jobs_may_open_no_pull_requests_either_it_is_said_who_has_to() -> None:
    closed = committing(REQUIRED, REVIEWED) | {"job_tokens": JobTokens(default="read", opens_pull_requests=False)}
    (found,) = [item for item in diagnose(replace(HEALTHY, **closed)) if item.about == "admissions"]
    assert "people have to open them from the dashboard" in found.why


def test_of_weights_nothing_is_said_where_none_are_named() -> None:
    (found,) = [item for item in diagnose(HEALTHY) if item.about == "classifier"]
    assert found.what == "this machine has the weights that the config names"
    embedded = CONFIG.classifier.embedded.model_copy(update={"embedding": "none"})
    without = config(classifier=CONFIG.classifier.model_copy(update={"embedded": embedded}))
    for changes in (without, files(config=asking("KEY"))):
        assert not [item for item in diagnose(replace(HEALTHY, **changes)) if item.about == "classifier"]


def test_while_the_bot_observes_nothing_is_said_of_admissions() -> None:
    facts = replace(HEALTHY, **(main(REQUIRED, REVIEWED) | config(mode="observe", admissions="commit")))
    assert not [item for item in diagnose(facts) if item.about == "admissions"]


def test_what_could_not_be_read_is_never_called_well() -> None:
    unread = replace(
        HEALTHY,
        actions=UNREAD,
        job_tokens=UNREAD,
        branch=make_branch("main", rules=UNREAD, protection=UNREAD),
        ledger=make_branch("incumbent/ledger", rules=UNREAD, protection=UNREAD),
        blocking=UNREAD,
        files=UNREAD,
        token=TokenFacts(kind="app", writes=None, unread=(UNREAD,)),
        permissions=UNREAD,
    )
    assert {item.severity for item in diagnose(unread)} == {"warning"}


def test_the_shipped_workflow_is_as_it_says_it_should_be() -> None:
    shipped = workflow()
    assert [job.name for job in shipped.jobs] == ["analyse", "fit", "publish"]
    assert [job.steps for job in shipped.jobs] == [("analyse",), (), ("publish",)]
    assert all(use.is_pinned for job in shipped.jobs for use in job.uses)


@pytest.mark.parametrize(
    "text", ["", "[]", "on: 1\njobs: 3\n", "jobs: {a: null, b: {steps: {}}}", "jobs: {a: {steps: [1]}}"]
)
def test_a_workflow_of_any_shape_can_be_read(text: str) -> None:
    assert diagnose(replace(HEALTHY, files=replace(FILES, workflow=workflow(text))))


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({}, True),
        ({"branches": ["main"]}, True),
        ({"branches": ["setup-incumbent"]}, False),
        ({"branches": ["mai"]}, False),
        ({"branches": ["**"]}, True),
        ({"branches": ["*"]}, True),
        ({"branches": ["release/*"]}, False),
        ({"branches": ["m?ain"]}, True),
        ({"branches": ["mm?ain"]}, True),
        ({"branches": ["m+ain"]}, True),
        ({"branches": ["[m-n]ain"]}, True),
        ({"branches": ["[a-l]ain"]}, False),
        ({"branches": ["[z-a]ain"]}, False),
        ({"branches": ["m.in"]}, False),
        ({"branches": ["\\main"]}, True),
        ({"branches": ["**", "!main"]}, False),
        ({"branches": ["!main", "**"]}, True),
        ({"branches": []}, False),
        ({"branches-ignore": ["main"]}, False),
        ({"branches-ignore": ["m*"]}, False),
        ({"branches-ignore": ["incumbent/**"]}, True),
        ({"tags": ["v*"]}, False),
        ({"tags": ["v*"], "branches": ["main"]}, True),
        ({"paths": ["eval_sets/**"]}, True),
    ],
)
def test_filters_of_branches_are_read_as_github_reads_them(filters: dict[str, list[str]], passes: bool) -> None:
    assert lets_through(filters, "main") is passes


def test_one_star_stops_at_a_slash_and_two_do_not() -> None:
    found = [lets_through({"branches": [pattern]}, "release/1/2") for pattern in ("release/*", "release/**", "**/2")]
    assert found == [False, True, True]


@pytest.mark.parametrize(
    ("pattern", "branch", "matches"),
    [
        ("v[0-9]+.x", "v12.x", True),
        ("v[0-9]+.x", "v.x", False),
        ("mains?", "main", True),
        ("mains?", "mainss", False),
        ("a**?b", "ab", True),
        ("a**?b", "axxb", True),
        ("a*+b", "axxb", True),
        ("a*+b", "a/b", False),
        ("[z-a]", "[z-a]", True),
        ("+main", "+main", True),
        (r"ma\*n", "ma*n", True),
        (r"ma\*n", "main", False),
        ("*a" * 30 + "*b", "a" * 200, False),
    ],
)
def test_patterns_are_matched_sign_by_sign(pattern: str, branch: str, matches: bool) -> None:
    assert lets_through({"branches": [pattern]}, branch) is matches


def test_a_filter_may_be_one_word() -> None:
    trigger = workflow("on: {push: {branches: trunk, tags: [v1, 2]}}\n").triggers["push"]
    assert trigger.filters == {"branches": ("trunk",), "tags": ("v1", "2")}


def test_a_job_that_does_both_steps_is_told_once() -> None:
    steps = "      - uses: ACTION\n        with: {step: analyse}\n      - uses: ACTION\n        with: {step: publish}\n"
    both = workflow(f"jobs:\n  all:\n    permissions: read-all\n    steps:\n{steps}")
    said = [item.what for item in diagnose(replace(HEALTHY, files=replace(FILES, workflow=both)))]
    assert len([what for what in said if "both analyses and publishes" in what]) == 1


@pytest.mark.parametrize("on", ["on: merge_group", "on: [merge_group]", "on: {merge_group: }"])
def test_triggers_may_be_written_in_three_ways(on: str) -> None:
    assert list(workflow(on).triggers) == ["merge_group"]


@pytest.mark.parametrize(
    ("action", "patterns", "expected"),
    [
        ("octo/tool@v1", ["octo/tool@*"], True),
        ("octo/tool@v1", ["octo/*"], True),
        ("octo/tool/deep@v1", ["octo/tool@v1"], True),
        ("octo/tool@v1", ["octo/tool@v2"], False),
        ("octo/tool@v1", ["octo/tool"], True),
        ("octo/tool@v1", ["octo/*", "!octo/tool@*"], False),
        ("octo/tools@v1", ["octo/tool@*"], False),
        ("octo/tool@v1", ["octo/[a-z]*"], False),
        ("Acme/tool@v1", [], True),
        ("./tools/own", [], True),
    ],
)
def test_the_list_of_allowed_actions_is_read_as_github_reads_it(
    action: str, patterns: list[str], expected: bool
) -> None:
    policy = ActionsPolicy(enabled=True, allowed="selected", patterns=tuple(patterns))
    assert permitted(action, policy, "acme") is expected


@pytest.mark.parametrize(
    ("pattern", "path", "owned"),
    [
        ("*", "taxonomy/taxonomy.yaml", True),
        ("/taxonomy/", "taxonomy/a/b.yaml", True),
        ("taxonomy/", "deep/taxonomy/b.yaml", True),
        ("/taxonomy/", "deep/taxonomy/b.yaml", False),
        ("/taxonomy", "taxonomy/a.yaml", True),
        ("/taxonomy/*", "taxonomy/a.yaml", True),
        ("/taxonomy/*", "taxonomy/deep/a.yaml", False),
        ("/taxonomy/**", "taxonomy/deep/a.yaml", True),
        ("**/config", "x/y/config/a.yaml", True),
        ("/docs/**/config", "docs/x/y/config/a.yaml", True),
        ("**", "config/a.yaml", True),
        ("*.yaml", "config/a.yaml", True),
        ("*.yml", "config/a.yaml", False),
        ("/config/", "config2/a.yaml", False),
        ("config/a?.yaml", "config/ab.yaml", True),
        ("#/config/", "config/a.yaml", False),
    ],
)
def test_patterns_of_code_owners(pattern: str, path: str, owned: bool) -> None:
    assert owners(f"{pattern} @team # why\n", path) == (("@team",) if owned else ())


def test_of_code_owners_the_last_pattern_decides_even_if_it_names_none() -> None:
    text = "* @all\n/config/ @team @two\n/config/open.yaml\n"
    assert [owners(text, path) for path in ("a", "config/a", "config/open.yaml")] == [("@all",), ("@team", "@two"), ()]


def test_a_repository_that_cannot_be_seen_is_one_error() -> None:
    assert "does not accept the token" in unreachable("acme/x", 401, "Bad credentials").what
    assert "acme/x cannot be read" in unreachable("acme/x", 404, "Not Found").what


def test_the_output_counts_what_it_holds() -> None:
    output = DoctorOutput.of("acme/platform", diagnose(replace(HEALTHY, archived=True, outsiders=("ola",))))
    assert (output.errors, output.warnings) == (1, 1)


PAGES_FOUND = [
    (PagesSettings(source="workflow", for_all=True), "ok", "anyone may open them"),
    (PagesSettings(source="workflow", for_all=False), "ok", "people who may read the repository"),
    (PagesSettings(source=None, for_all=True), "warning", "are off"),
    (PagesSettings(source="legacy", for_all=True), "warning", "publish a branch"),
    (UnreadSetting(right="Pages: read", reason="Forbidden"), "warning", "could not be checked"),
]


@pytest.mark.parametrize(("pages", "severity", "said"), PAGES_FOUND)
def test_pages_are_looked_at_where_a_workflow_publishes(
    pages: PagesSettings | UnreadSetting, severity: str, said: str
) -> None:
    (found,) = [item for item in diagnose(replace(HEALTHY, pages=pages)) if item.about == "pages"]
    assert found.severity == severity
    assert said in found.what
    assert not [item for item in diagnose(HEALTHY) if item.about == "pages"]


def test_a_machine_without_the_weights_is_examined_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "find_weights", lambda: None)
    found = read_files(WorkingTree(REPOSITORY))
    assert (found.faults, found.own_model) == ((), False)
    assert found.config is not None
