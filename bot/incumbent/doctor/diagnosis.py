"""Findings about how a repository is set up: one or more for each thing examined (pure).

A setting that could not be read is reported as such, and never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from incumbent.classifier.embedded.weights import WAYS_OUT
from incumbent.doctor.findings import (
    BRANCHES,
    GENERAL,
    RULES,
    SetupFinding,
    UnreadSetting,
    bad,
    doubtful,
    good,
    unchecked,
)
from incumbent.doctor.settings import (
    FORBIDDING,
    RESTRICTING,
    ActionsPolicy,
    BranchSettings,
    Facts,
    JobTokens,
    PagesSettings,
    Protection,
    PushToken,
    RepositoryFiles,
    diagnose_admissions,
    hindering,
    permitted,
)
from incumbent.doctor.workflow import Workflow, diagnose_workflow
from incumbent.github.models import CHECK
from incumbent.pipeline.setup_files import PAGES
from incumbent.taxonomy.config import Curation

ACTIONS_APP: Final = 15368
"""The app that a job's own token acts as on github.com: GitHub Actions; its id differs on other servers."""


def diagnose(facts: Facts) -> tuple[SetupFinding, ...]:
    """One or more findings for everything that was examined, in the order in which people would fix them."""
    files = facts.files if isinstance(facts.files, RepositoryFiles) else None
    config = None if files is None else files.config
    workflow = None if files is None else files.workflow
    writer = PushToken.of(workflow, facts.token)
    return (
        *_repository(facts),
        *_actions(facts.actions, workflow, facts.name),
        *_job_tokens(facts.job_tokens, writer),
        *_files(facts),
        *_classifier(facts.weights, config),
        *_required_check(facts, config, writer),
        *_blocking(facts),
        *_ledger(facts.ledger, writer),
        *diagnose_admissions(facts, config, writer),
        *_curators(facts, config),
        *_trust(facts.permissions),
        *_code_owners(facts, files),
        *_pages(facts.pages),
        *_token(facts),
    )


def _repository(facts: Facts) -> Iterator[SetupFinding]:
    if facts.archived:
        yield bad(
            "repository",
            "the repository is archived",
            "nothing can be written to it",
            "Settings → General → Danger Zone → Unarchive this repository",
        )
    if not facts.branch.exists:
        yield bad(
            "repository",
            f"the default branch {facts.default_branch} has no commit",
            "workflow, taxonomy and config are read from it",
            f"run `incumbent init`, commit, and push to {facts.default_branch}",
        )


def _actions(policy: ActionsPolicy | UnreadSetting, workflow: Workflow | None, name: str) -> Iterator[SetupFinding]:
    place = f"{GENERAL} → Actions permissions"
    why = "the bot runs as a workflow"
    if isinstance(policy, UnreadSetting):
        yield unchecked("actions", "whether Actions are enabled and may be used", policy, why)
        return
    if not policy.enabled:
        yield bad("actions", "Actions are disabled", why, f"{place}: “Allow all actions and reusable workflows”")
        return
    jobs = () if workflow is None else workflow.jobs
    used = {use.action for job in jobs for use in job.uses}
    if any(job.steps for job in jobs):
        used.add("actions/cache")  # The Action itself uses it.
    verdicts = {action: permitted(action, policy, name.partition("/")[0]) for action in sorted(used)}
    refused = [action for action, verdict in verdicts.items() if verdict is False]
    open_questions = [action for action, verdict in verdicts.items() if verdict is None]
    why = "the workflow does not start while it uses an action that is not allowed"
    if refused:
        change = "“Allow OWNER, and select non-OWNER, actions”, and add to the list: " + ", ".join(refused)
        yield bad("actions", f"the policy does not allow {', '.join(refused)}", why, f"{place}: {change}")
    if open_questions:
        yield doubtful(
            "actions",
            f"the policy allows {', '.join(open_questions)} only where GitHub has verified the owner",
            why,
            f"{place}: add them to the list of allowed actions",
        )
    if not refused and not open_questions:
        yield good("actions", "Actions are enabled, and the policy allows what the workflow uses")


def _job_tokens(policy: JobTokens | UnreadSetting, writer: PushToken) -> Iterator[SetupFinding]:
    place = f"{GENERAL} → Workflow permissions"
    if isinstance(policy, UnreadSetting):
        yield unchecked(
            "job token", "what a job's token may do", policy, "opening pull requests may be forbidden to it"
        )
        return
    if policy.default == "write":
        yield doubtful(
            "job token",
            "by default a job's token may write everything",
            "ours says what it needs, but a workflow without a `permissions` block gets all of it",
            f"{place}: “Read repository contents and packages permissions”",
        )
    opens = policy.opens_pull_requests or writer.own
    if not opens:
        yield doubtful(
            "job token",
            "jobs may not create pull requests",
            "reviews do not need it; what follows a merge does",
            f"{place}: tick “Allow GitHub Actions to create and approve pull requests”, or give the Action an App's "
            "token (input `token`)",
        )
    if policy.default == "read" and opens:
        yield good("job token", f"a job's token reads by default, and {writer.name} may create pull requests")


def _files(facts: Facts) -> Iterator[SetupFinding]:
    files = facts.files
    if isinstance(files, UnreadSetting):
        if facts.branch.exists:
            yield unchecked("files", "the default branch's files", files, "what the bot decides by is in them")
        return
    queue = isinstance(facts.branch.rules, tuple) and any(rule.kind == "merge_queue" for rule in facts.branch.rules)
    yield from diagnose_workflow(
        files.workflow,
        files.workflow_faults,
        files.config,
        facts.shipped,
        facts.workflow_state,
        queue,
        facts.default_branch,
        files.own_model,
    )
    for fault in files.faults:
        place = fault.file if fault.line is None else f"{fault.file}:{fault.line}"
        yield bad("files", f"{place}: {fault.message}", "every review fails until it is fixed", fault.fix)
    if not files.faults:
        yield good("files", "taxonomy, config and regression set load")
    if files.config is not None and files.config.mode == "observe":
        yield doubtful(
            "config",
            "the mode is observe",
            "the check always passes, and nothing but comment and check is written",
            "when the trial is over, `mode: curate` in config/curation.yaml",
        )
    for note in () if files.config is None else files.config.notes:
        why = "what the file says has no effect, or another one once an upgrade ships other values"
        yield doubtful("config", f"{note.file}:{note.line}: {note.message}", why, note.fix)


def _classifier(missing: str | None, config: Curation | None) -> Iterator[SetupFinding]:
    if config is None or config.classifier.backend != "embedded":
        return
    about = "classifier"
    if missing is not None:
        why = "a machine without them judges nothing; on one that runs the jobs, every check is incomplete"
        yield doubtful(about, f"this machine cannot run the classifier: {missing}", why, WAYS_OUT)
    elif config.classifier.embedded.weights is not None:
        yield good(about, "this machine has the weights that the config names")


def _required_check(facts: Facts, config: Curation | None, writer: PushToken) -> Iterator[SetupFinding]:
    branch = facts.branch
    about, why = "required check", f"without it a pull request merges whatever the check {CHECK} says"
    rules = branch.rules if isinstance(branch.rules, tuple) else ()
    checks = [check for rule in rules for check in rule.checks]
    checks += (
        () if branch.protection is None or isinstance(branch.protection, UnreadSetting) else branch.protection.checks
    )
    ours = [check for check in checks if check.name == CHECK]
    bound = sorted({check.app for check in ours if check.app is not None})
    # The token that the workflow hands over does not show its App's id: only that it is not the job's own token.
    foreign = [app for app in bound if (app == ACTIONS_APP) is writer.own]
    if bound and not facts.on_github_com:
        apps = ", ".join(map(str, bound))
        elsewhere = UnreadSetting(
            right="",
            reason=f"the branch takes it from the app {apps} only, and this server's apps have ids of their own",
            settle=f"{RULES} → the branch's rule → Require status checks: look whose app it is, or choose “any source”",
        )
        yield unchecked(about, f"whether {writer.name} may post the check {CHECK} on {branch.name}", elsewhere, why)
    elif foreign:
        yield doubtful(
            about,
            f"{branch.name} takes the check {CHECK} from the app {', '.join(map(str, foreign))} only",
            f"{writer.name} posts it as {'its App' if writer.own else 'GitHub Actions'}, so that it would never arrive",
            f"{RULES} → the branch's rule → Require status checks: choose “any source”, or the app of that token",
        )
    elif ours:
        yield good(about, f"{branch.name} requires the check {CHECK}")
    if ours:
        return
    unread = [item for item in (branch.rules, branch.protection) if isinstance(item, UnreadSetting)]
    if unread:
        for item in unread:
            what = "rulesets" if item is branch.rules else "branch protection"
            yield unchecked(about, f"whether the {what} of {branch.name} require the check {CHECK}", item, why)
        return
    finding = bad if config is not None and config.mode == "curate" else doubtful
    yield finding(
        about,
        f"nothing requires the check {CHECK} on {branch.name}",
        why,
        f"{RULES} → New branch ruleset, target {branch.name}: “Require status checks to pass”, add {CHECK}",
    )


def _blocking(facts: Facts) -> Iterator[SetupFinding]:
    why = "git cannot hold a branch and another below it, so that no review could be written"
    if isinstance(facts.blocking, UnreadSetting):
        yield unchecked("branches", "whether a branch is in the way of the bot's", facts.blocking, why)
        return
    for name in facts.blocking:
        yield bad(
            "branches",
            f"the branch {name} is in the way of the bot's branches, such as {facts.ledger.name}",
            why,
            f"delete or rename the branch {name} (Code → Branches)",
        )


def _ledger(branch: BranchSettings, writer: PushToken) -> Iterator[SetupFinding]:
    about, why = "ledger", "the bot keeps facts and decisions there, and writes to it at every review"
    perhaps = RESTRICTING if branch.exists else RESTRICTING | {"branch_name_pattern"}
    forbidding = FORBIDDING if branch.exists else FORBIDDING | {"creation"}
    hindered = False
    for item, passes in hindering(branch, writer, forbidding | perhaps):
        hindered = True
        known = "the branch protection" if isinstance(item, Protection) else item.name
        if isinstance(passes, UnreadSetting) and (isinstance(item, Protection) or item.kind in forbidding):
            yield unchecked(about, f"whether {known} lets {writer.name} write to {branch.name}", passes, why)
        elif isinstance(item, Protection):
            yield bad(
                about,
                f"the branch protection of {branch.name} forbids direct writes ({', '.join(item.forbids)})",
                why,
                f"{BRANCHES}: narrow the pattern so that it does not match {branch.name}",
            )
        else:
            exclude = f"{RULES} → {item.ruleset}: exclude the branch {branch.name} from its targets"
            if item.kind in perhaps:
                yield doubtful(about, f"{known} holds for {branch.name}, and may refuse a write", why, exclude)
            else:
                verb = "created" if item.kind == "creation" else "written to"
                yield bad(about, f"{known} keeps {branch.name} from being {verb}", why, exclude)
    if isinstance(branch.rules, UnreadSetting):
        yield unchecked(about, f"whether rulesets let {branch.name} be written to", branch.rules, why)
    protection = branch.protection
    if isinstance(protection, UnreadSetting):
        yield unchecked(about, f"whether the branch protection lets {branch.name} be written to", protection, why)
    if not hindered and not isinstance(branch.rules, UnreadSetting) and not isinstance(protection, UnreadSetting):
        yield good(about, f"no rule that can be read keeps the bot from writing to {branch.name}")


def _curators(facts: Facts, config: Curation | None) -> Iterator[SetupFinding]:
    why = "the decisions of everybody in `curators` count, also where the name is misspelt or the person has left"
    if config is None or not config.curators:
        return
    if isinstance(facts.outsiders, UnreadSetting):
        yield unchecked("curators", "whether the curators are collaborators", facts.outsiders, why)
        return
    for login in facts.outsiders:
        yield doubtful(
            "curators",
            f"the curator {login} is no collaborator",
            why,
            f"Settings → Collaborators and teams: add {login}; or take {login} out of `curators` in "
            "config/curation.yaml",
        )
    if not facts.outsiders:
        yield good("curators", "all curators are collaborators")


def _trust(unread: UnreadSetting | None) -> Iterator[SetupFinding]:
    if unread is None:
        yield good("trust", "what people may do in the repository can be looked up")
        return
    yield unchecked(
        "trust",
        "what people may do in the repository",
        unread,
        "a bot that cannot look it up takes everybody for an outsider, and only those in `curators` for curators",
    )


def _code_owners(facts: Facts, files: RepositoryFiles | None) -> Iterator[SetupFinding]:
    about, why = "code owners", "what verdicts rest on should change by review only"
    if files is None:
        return
    if files.code_owners is None:
        yield doubtful(about, "there is no CODEOWNERS file", why, "run `incumbent init`: it writes one")
        return
    for place in files.unowned:
        yield doubtful(
            about,
            f"{files.code_owners} names no owner for {place}",
            why,
            f"add a line to {files.code_owners}: /{place} @YOUR-TEAM",
        )
    if isinstance(facts.owner_faults, UnreadSetting):
        yield unchecked(about, f"whether GitHub can follow {files.code_owners}", facts.owner_faults, why)
    else:
        for fault in facts.owner_faults:
            yield doubtful(about, f"GitHub cannot follow {fault}", why, f"correct that line of {files.code_owners}")
    rules = facts.branch.rules
    asked = isinstance(rules, tuple) and any(rule.needs_code_owners for rule in rules)
    protection = facts.branch.protection
    asked = asked or (
        protection is not None and not isinstance(protection, UnreadSetting) and protection.needs_code_owners
    )
    if not asked and not isinstance(rules, UnreadSetting) and not isinstance(protection, UnreadSetting):
        yield doubtful(
            about,
            f"{facts.branch.name} merges without the owners' review",
            why,
            f"{RULES} → the branch's ruleset → Require a pull request before merging: tick “Require review from Code "
            "Owners”",
        )
    elif asked and not files.unowned and facts.owner_faults == ():
        yield good(about, f"{files.code_owners} covers what verdicts rest on, and its owners' review is required")


def _pages(pages: PagesSettings | UnreadSetting | None) -> Iterator[SetupFinding]:
    why = "the workflow that publishes the set as a site fails without it"
    if isinstance(pages, UnreadSetting):
        yield unchecked("pages", "whether GitHub Pages are on", pages, why)
    elif pages is not None and pages.source == "workflow":
        readers = "anyone may open them" if pages.for_all else "people who may read the repository may open them"
        yield good("pages", f"{PAGES} publishes the set on GitHub Pages; {readers}")
    elif pages is not None:
        what = "GitHub Pages are off" if pages.source is None else "GitHub Pages publish a branch"
        yield doubtful("pages", what, why, "Settings → Pages → Source: GitHub Actions")


def _token(facts: Facts) -> Iterator[SetupFinding]:
    token = facts.token
    for item in token.unread:
        yield doubtful(
            "token",
            f"this token lacks {item.right} ({item.reason})",
            "the bot needs it, if it is to act with this token",
            f"grant {item.right} to the token, or in the job's `permissions` block",
        )
    if token.writes is False and token.kind != "app":
        yield doubtful(
            "token",
            "the token's account may not write to the repository",
            "GitHub shows such an account fewer settings, and the bot could not act as it",
            "use the token of somebody with the role Admin for `incumbent doctor`",
        )
    if token.kind == "person":
        yield good("token", "the token is a person's: it reads settings, but only apps and jobs can post checks")
    elif not token.unread:
        yield good("token", "the token reads contents, checks and pull requests; its rights to write cannot be read")
