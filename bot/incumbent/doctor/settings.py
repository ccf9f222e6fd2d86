"""How a repository is set up, as values, and what its rules permit: who owns a file, what runs, who may push (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from incumbent.doctor.findings import BRANCHES, RULES, SetupFinding, UnreadSetting, doubtful, good, unchecked
from incumbent.doctor.workflow import Workflow
from incumbent.errors import Problem
from incumbent.taxonomy.config import Curation

_COMMENT: Final = re.compile(r"(?:^|\s)#.*$")
_SIGNS: Final = re.compile(r"/\*\*/|\*\*/|/\*\*|\*\*|\*|\?|[^*?/]+|/")
_ABOUT: Final = "admissions"
_UNKNOWN_APP: Final = "which App's token the workflow hands over is not known"
_RECIPE: Final = "docs/github.md, “With a GitHub App”"

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
class RepositoryFiles:
    """The default branch's files.  ``workflow`` None: no workflow runs the Action; ``config`` None: it does not load.

    ``faults`` are those of taxonomy, config and regression set, ``workflow_faults`` those of workflow files.
    ``code_owners`` is the CODEOWNERS file, ``unowned`` are the places that it should cover and does not.
    ``publishes``: whether the workflow for GitHub Pages is there.  ``own_model``: whether the fitted model of the
    taxonomy is the platform's own.
    """

    workflow: Workflow | None
    workflow_faults: tuple[Problem, ...]
    faults: tuple[Problem, ...]
    config: Curation | None
    code_owners: str | None
    unowned: tuple[str, ...]
    publishes: bool = False
    own_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesSettings:
    """GitHub Pages: ``source`` is GitHub's word for what is published (``workflow``, ``legacy``), None if it is off.

    ``for_all``: whether anyone may open them, and not only people with the right to read the repository.
    """

    source: str | None
    for_all: bool


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
    cannot look up people's permissions, None if it can.  ``pages`` is None if no workflow of ours publishes.
    ``weights`` says what is wrong with the classifier's weights on this machine, None if nothing is.
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
    pages: PagesSettings | UnreadSetting | None = None
    weights: str | None = None


def owners(text: str, path: str) -> tuple[str, ...]:
    """The owners of ``path``; none if no pattern matches, or if the last match names none."""
    found: tuple[str, ...] = ()
    for line in text.splitlines():
        pattern, *named = _COMMENT.sub("", line).replace("\\ ", "?").split() or [""]
        if pattern and _expression(pattern).fullmatch(path):
            found = tuple(named)
    return found


def _expression(pattern: str) -> re.Pattern[str]:
    """``pattern`` as a regular expression for whole paths: like .gitignore's, but ``folder/*`` does not go deeper."""
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/")
    pieces = [_piece(sign) for sign in _SIGNS.findall(body)]
    # A pattern that names a folder owns all below it; one with a star at the end owns files only.
    below = "/.*" if pattern.endswith("/") else ("" if body.endswith("*") and "/" in body else "(?:/.*)?")
    return re.compile(("" if anchored else "(?:.*/)?") + "".join(pieces) + below, re.DOTALL)


def _piece(sign: str) -> str:
    match sign:
        case "/**/":
            return "/(?:.*/)?"
        case "**/":
            return "(?:.*/)?"
        case "/**":
            return "/.*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _:
            return re.escape(sign)


def permitted(action: str, policy: ActionsPolicy, owner: str) -> bool | None:
    """Whether the policy of a repository of ``owner`` lets ``action`` run.

    None if that depends on whether GitHub has verified the action's owner, which cannot be asked.
    """
    if policy.allowed == "all" or action.startswith(("./", "docker://")):
        return True
    its_owner = action.partition("/")[0].casefold()
    if its_owner == owner.casefold():
        return True
    if policy.allowed == "local_only":
        return False
    if any(item.startswith("!") and _matches(action, item[1:]) for item in policy.patterns):
        return False
    if policy.github_owned and its_owner in ("actions", "github"):
        return True
    if any(_matches(action, item) for item in policy.patterns):
        return True
    return None if policy.verified else False


def _matches(action: str, pattern: str) -> bool:
    """Whether ``pattern`` of the list of allowed actions matches: only ``*`` is special; no version means any."""
    name, _, version = action.partition("@")
    wanted, _, wanted_version = pattern.strip().partition("@")
    fits = _fits(name, wanted) or _fits("/".join(name.split("/")[:2]), wanted)
    return fits and (not wanted_version or not version or _fits(version, wanted_version))


def _fits(text: str, pattern: str) -> bool:
    expression = ".*".join(re.escape(piece) for piece in pattern.split("*"))
    return re.fullmatch(expression, text, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PushToken:
    """The token that pushes: ``own`` is whether the workflow hands over a token other than the job's own.

    ``app`` is the name of the app that the workflow declares for the token, None if only the run knows it.  ``here``:
    whether the token of this run is an app's, and so perhaps the same one.
    """

    own: bool
    app: str | None
    here: bool

    @staticmethod
    def of(workflow: Workflow | None, token: TokenFacts) -> PushToken:
        """The token that ``workflow`` writes with; without a workflow it is the job's own token."""
        own = workflow is not None and workflow.own_token
        logins = {use.login for use in workflow.writers} if workflow is not None else set()
        login = next(iter(logins)) if len(logins) == 1 else None
        literal = login is not None and login.endswith("[bot]") and "${{" not in login
        app = login.removesuffix("[bot]") if login is not None and literal else None
        return PushToken(own=own, app=app, here=token.kind == "app")

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        return "the token that the workflow hands over" if self.own else "a job's own token"

    def may_pass(self, rule: BranchRule) -> bool | UnreadSetting:
        """Whether the ruleset of ``rule`` lets the token bypass it; a job's own token can be on no list."""
        if not self.own:
            return False
        if isinstance(rule.bypass, UnreadSetting):
            return rule.bypass
        if rule.bypass.here and self.here:
            return True
        if rule.bypass.apps is None:
            return UnreadSetting(right="Administration: read", reason="the bypass list is not shown to this token")
        if not rule.bypass.apps:
            return False
        listed = ", ".join(map(str, rule.bypass.apps))
        return UnreadSetting(
            right="",
            reason=f"{_UNKNOWN_APP}; {rule.ruleset} lets these apps by: {listed}",
            settle=f"`gh api apps/{self.app or 'NAME'} --jq .id` tells the App's id; or run `incumbent doctor` with "
            "that App's token in GH_TOKEN",
        )

    def passes(self, protection: Protection) -> bool | UnreadSetting:
        """Whether a classic branch protection lets the token push."""
        if not protection.forbids:
            return True
        if not self.own or not protection.apps:
            return False
        if self.app is not None:
            return self.app in protection.apps
        return UnreadSetting(
            right="",
            reason=f"{_UNKNOWN_APP}; the branch protection lets these apps by: {', '.join(protection.apps)}",
            settle="write `login: NAME[bot]`, the App's name, beside `token` in the workflow, and run `incumbent "
            "doctor` again",
        )


def diagnose_admissions(facts: Facts, config: Curation | None, writer: PushToken) -> Iterator[SetupFinding]:
    """How reviewed admissions get into the regression set, and whether the rules allow it."""
    if config is None or config.mode == "observe" or not facts.branch.exists:
        return
    if config.admissions != "commit":
        how = "by `incumbent admit`" if config.admissions == "by-hand" else "by pull requests that people merge"
        yield good(_ABOUT, f"admissions enter {how}, as the config says")
        return
    branch = facts.branch
    why = "`admissions: commit` promises that what people saw admitted enters by itself after the merge"
    refusing, unread = _refusing(branch, writer)
    if refusing:
        opens = facts.job_tokens
        if not writer.own and isinstance(opens, JobTokens) and not opens.opens_pull_requests:
            why += "; and jobs may open no pull requests, so that people have to open them from the dashboard"
        classic = any("branch protection" in item for item in refusing)
        instead = f" (in place of {BRANCHES}, which knows no such list)" if classic else ""
        yield doubtful(
            _ABOUT,
            f"admissions will be offered by pull request: {branch.name} refuses commits of {writer.name} "
            f"({', '.join(refusing)})",
            f"{why}; so each pull request of a customer is followed by another that people merge",
            f"give the Action an App's token ({_RECIPE}), and add the App to the bypass list in {RULES}{instead}; or "
            "say `admissions: pull-request` in config/curation.yaml, if that is how you want it",
        )
    for item in unread:
        yield unchecked(_ABOUT, f"whether {branch.name} takes commits of {writer.name}", item, why)
    perhaps = _perhaps_refusing(branch, writer)
    if perhaps and not refusing:
        yield doubtful(
            _ABOUT,
            f"{branch.name} may refuse commits of {writer.name}, by what is in them ({', '.join(perhaps)})",
            why,
            f"look in {RULES} whether what the bot commits below regression_set/ keeps these rules (GitHub signs "
            "commits of apps and jobs by itself), or add its App to the bypass list",
        )
    if not refusing and not unread and not perhaps:
        yield good(_ABOUT, f"what people saw admitted enters {branch.name} by itself: no rule refuses {writer.name}")


def hindering(
    branch: BranchSettings, writer: PushToken, kinds: Collection[str]
) -> Iterator[tuple[BranchRule | Protection, bool | UnreadSetting]]:
    """Rules of these ``kinds`` and the branch protection, unless the ``writer`` is known to pass them.

    Each comes with whether the writer passes: ``False``, or what could not be read.
    """
    for rule in branch.rules if isinstance(branch.rules, tuple) else ():
        if rule.kind in kinds and (passes := writer.may_pass(rule)) is not True:
            yield rule, passes
    protection = branch.protection
    if isinstance(protection, Protection) and (passes := writer.passes(protection)) is not True:
        yield protection, passes


def _refusing(branch: BranchSettings, writer: PushToken) -> tuple[list[str], list[UnreadSetting]]:
    """The rules and settings that refuse the ``writer``, and those that could not be read."""
    refusing: list[str] = []
    unread = [item for item in (branch.rules, branch.protection) if isinstance(item, UnreadSetting)]
    for item, passes in hindering(branch, writer, FORBIDDING):
        if isinstance(passes, UnreadSetting):
            unread.append(passes)
        else:
            refusing.append(
                item.name if isinstance(item, BranchRule) else f"branch protection: {', '.join(item.forbids)}"
            )
    return refusing, list(dict.fromkeys(unread))


def _perhaps_refusing(branch: BranchSettings, writer: PushToken) -> list[str]:
    """The rules that refuse some commits of the ``writer``, unless it is known to pass."""
    found = hindering(branch, writer, RESTRICTING | {"required_signatures"})
    return [rule.name for rule, _ in found if isinstance(rule, BranchRule)]
