"""How a repository is set up, and what a diagnosis finds, as values (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from bot.doctor.workflow import Workflow
from bot.errors import Problem

Severity: TypeAlias = Literal["error", "warning", "ok"]

GENERAL: Final = "Settings → Actions → General"
RULES: Final = "Settings → Rules → Rulesets"
BRANCHES: Final = "Settings → Branches"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFinding:
    """One thing that was examined: ``what`` is so, ``why`` it matters, and what to ``change``, by its exact place.

    ``about`` is the part of the set-up, for grouping.  With ``ok`` there is nothing to change.
    """

    severity: Severity
    about: str
    what: str
    why: str = ""
    change: str = ""


def bad(about: str, what: str, why: str, change: str) -> SetupFinding:
    """A finding that stops a flow, or makes it unsafe."""
    return SetupFinding(severity="error", about=about, what=what, why=why, change=change)


def doubtful(about: str, what: str, why: str, change: str) -> SetupFinding:
    """A finding to know or improve; the flows run nevertheless."""
    return SetupFinding(severity="warning", about=about, what=what, why=why, change=change)


def good(about: str, what: str) -> SetupFinding:
    """A finding that is as it should be."""
    return SetupFinding(severity="ok", about=about, what=what)


def unchecked(about: str, what: str, unread: UnreadSetting, why: str) -> SetupFinding:
    """A setting that the token cannot read."""
    return doubtful(
        about,
        f"{what} could not be checked: {unread.reason}",
        why,
        unread.settle or f"run `incumbent doctor` with a token that has the right {unread.right}",
    )


def unreachable(repository: str, status: int, reason: str) -> SetupFinding:
    """The finding if the repository itself cannot be read: nothing else can be examined."""
    if status == 401:
        return bad(
            "token",
            f"GitHub does not accept the token: {reason}",
            "nothing can be read or written with it",
            "set GITHUB_TOKEN or GH_TOKEN to a token that has not expired (`gh auth token` prints yours)",
        )
    return bad(
        "repository",
        f"{repository} cannot be read: {reason}",
        "it does not exist, or the token may not see it",
        "check --repository, and grant the token the right Metadata: read for this repository",
    )


FORBIDDING: Final = frozenset(
    {
        "code_scanning",
        "merge_queue",
        "pull_request",
        "required_deployments",
        "required_status_checks",
        "update",
        "workflows",
    }
)
"""Rules, by GitHub's names, that forbid pushes to a branch except by actors on the bypass list."""

RESTRICTING: Final = frozenset(
    {
        "commit_author_email_pattern",
        "commit_message_pattern",
        "committer_email_pattern",
        "file_extension_restriction",
        "file_path_restriction",
        "max_file_path_length",
        "max_file_size",
    }
)
"""Rules that refuse a push because of its content, except by actors on the bypass list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadSetting:
    """A setting that could not be read: the ``right`` that the token would need, and GitHub's answer.

    ``settle`` is what to do about it where no right would help.
    """

    right: str
    reason: str
    settle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionsPolicy:
    """Whether workflows run, and which actions they may use; the last three fields define ``selected``."""

    enabled: bool
    allowed: Literal["all", "local_only", "selected"]
    github_owned: bool = False
    verified: bool = False
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTokens:
    """The default rights of a job's token, and whether it may open pull requests."""

    default: Literal["read", "write"]
    opens_pull_requests: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredCheck:
    """A check that must pass; ``app`` is the only one that may post it, None if any may."""

    name: str
    app: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bypass:
    """The actors that may push past a ruleset.

    ``here``: whether the examining token may.  ``apps`` are the ids of apps that may, None if the list is not shown to
    this token.
    """

    here: bool
    apps: tuple[int, ...] | None


NO_BYPASS: Final = Bypass(here=False, apps=())


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchRule:
    """One rule of a ruleset that applies to a branch; ``kind`` as GitHub's API names it, ``ruleset`` for people."""

    kind: str
    ruleset: str
    checks: tuple[RequiredCheck, ...] = ()
    needs_code_owners: bool = False
    bypass: Bypass | UnreadSetting = NO_BYPASS

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        return f"the rule `{self.kind}` of {self.ruleset}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """A classic branch protection.

    ``forbids`` names its settings that forbid writing without a pull request, except for the ``apps`` (by their names).
    """

    checks: tuple[RequiredCheck, ...] = ()
    needs_code_owners: bool = False
    forbids: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchSettings:
    """The settings of a branch; ``protection`` None: it has no classic one."""

    name: str
    exists: bool
    rules: tuple[BranchRule, ...] | UnreadSetting
    protection: Protection | UnreadSetting | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFacts:
    """The relevant part of the config; ``model_key`` is the variable that contains a model's key, if one is needed."""

    mode: Literal["curate", "observe"]
    curators: tuple[str, ...]
    model_key: str | None
    admissions: Literal["commit", "pull-request", "by-hand"] = "commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFiles:
    """The default branch's files.  ``workflow`` None: no workflow runs the Action; ``config`` None: it does not load.

    ``faults`` are those of taxonomy, config and regression set, ``workflow_faults`` those of workflow files.
    ``code_owners`` is the CODEOWNERS file, ``unowned`` are the places that it should cover and does not.
    """

    workflow: Workflow | None
    workflow_faults: tuple[Problem, ...]
    faults: tuple[Problem, ...]
    config: ConfigFacts | None
    code_owners: str | None
    unowned: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFacts:
    """The examining token.  ``kind``: an app's (such as a job's), a person's, or unknown.

    ``writes``: whether its account may write to the repository, as far as GitHub says; ``unread``: read rights that it
    lacks.
    """

    kind: Literal["app", "person", "unknown"]
    writes: bool | None
    unread: tuple[UnreadSetting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that was read about the repository ``name``; ``shipped`` is the workflow that ``incumbent init``
    writes.

    ``workflow_state`` is GitHub's word (``active``, ``disabled_manually``, …), None if it knows no such workflow.
    ``blocking`` are branches whose names keep git from creating the bot's own.  ``on_github_com``: whether the API is
    github.com's; only there the ids of GitHub's own apps are known.  ``outsiders`` are configured curators who are no
    collaborators, ``owner_faults`` lines of CODEOWNERS that GitHub cannot apply.  ``permissions`` says why the token
    cannot look up people's permissions, None if it can.
    """

    name: str
    default_branch: str
    archived: bool
    actions: ActionsPolicy | UnreadSetting
    job_tokens: JobTokens | UnreadSetting
    shipped: Workflow
    workflow_state: str | UnreadSetting | None
    branch: BranchSettings
    ledger: BranchSettings
    blocking: tuple[str, ...] | UnreadSetting
    files: RepositoryFiles | UnreadSetting
    outsiders: tuple[str, ...] | UnreadSetting
    owner_faults: tuple[str, ...] | UnreadSetting
    token: TokenFacts
    on_github_com: bool
    permissions: UnreadSetting | None = None
