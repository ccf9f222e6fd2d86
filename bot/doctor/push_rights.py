"""Whether the rules of a branch let the bot push to it, and so whether admissions enter by themselves (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from bot.doctor.findings import BRANCHES, RULES, Finding, doubtful, good, unchecked
from bot.doctor.settings import (
    FORBIDDING,
    RESTRICTING,
    BranchSettings,
    ConfigFacts,
    Facts,
    JobTokens,
    Protection,
    Rule,
    TokenFacts,
    Unread,
)
from bot.doctor.workflow import Workflow

_ABOUT: Final = "admissions"
_UNTOLD: Final = "which App's token the workflow hands over is not known"
_RECIPE: Final = "docs/github.md, “With a GitHub App”"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The token that pushes: ``own`` is whether the workflow hands over another token than the job's own.

    ``app`` is the name of the app that it says that token is of, None where only the run knows; ``here`` whether the
    token of this run is of an app, and so perhaps of that one.
    """

    own: bool
    app: str | None
    here: bool

    @staticmethod
    def of(workflow: Workflow | None, token: TokenFacts) -> Writer:
        """The writer of ``workflow``; without one it is the job's own token."""
        own = workflow is not None and workflow.own_token
        logins = {use.login for use in workflow.writers} if workflow is not None else set()
        login = next(iter(logins)) if len(logins) == 1 else None
        literal = login is not None and login.endswith("[bot]") and "${{" not in login
        app = login.removesuffix("[bot]") if login is not None and literal else None
        return Writer(own=own, app=app, here=token.kind == "app")

    @property
    def name(self) -> str:
        """What it is called in a sentence."""
        return "the token that the workflow hands over" if self.own else "a job's own token"

    def may_pass(self, rule: Rule) -> bool | Unread:
        """Whether the ruleset of ``rule`` lets it bypass; a job's own token can be on no list."""
        if not self.own:
            return False
        if isinstance(rule.bypass, Unread):
            return rule.bypass
        if rule.bypass.here and self.here:
            return True
        if rule.bypass.apps is None:
            return Unread(right="Administration: read", reason="the bypass list is not shown to this token")
        if not rule.bypass.apps:
            return False
        listed = ", ".join(map(str, rule.bypass.apps))
        return Unread(
            right="",
            reason=f"{_UNTOLD}; {rule.ruleset} lets these apps by: {listed}",
            settle=f"`gh api apps/{self.app or 'NAME'} --jq .id` tells the App's id; or run `incumbent doctor` with "
            "that App's token in GH_TOKEN",
        )

    def passes(self, protection: Protection) -> bool | Unread:
        """Whether a classic branch protection lets it push."""
        if not protection.forbids:
            return True
        if not self.own or not protection.apps:
            return False
        if self.app is not None:
            return self.app in protection.apps
        return Unread(
            right="",
            reason=f"{_UNTOLD}; the branch protection lets these apps by: {', '.join(protection.apps)}",
            settle="write `login: NAME[bot]`, the App's name, beside `token` in the workflow, and run `incumbent "
            "doctor` again",
        )


def diagnose_admissions(facts: Facts, config: ConfigFacts | None, writer: Writer) -> Iterator[Finding]:
    """How what people saw admitted gets into the regression set, and whether the rules let it."""
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
    branch: BranchSettings, writer: Writer, kinds: Collection[str]
) -> Iterator[tuple[Rule | Protection, bool | Unread]]:
    """Rules of these ``kinds`` and the branch protection, as far as the ``writer`` is not known to pass them.

    With each comes whether the writer passes: ``False``, or what could not be read.
    """
    for rule in branch.rules if isinstance(branch.rules, tuple) else ():
        if rule.kind in kinds and (passes := writer.may_pass(rule)) is not True:
            yield rule, passes
    protection = branch.protection
    if isinstance(protection, Protection) and (passes := writer.passes(protection)) is not True:
        yield protection, passes


def _refusing(branch: BranchSettings, writer: Writer) -> tuple[list[str], list[Unread]]:
    """The rules and settings that refuse the ``writer``, and what could not be read of them."""
    refusing: list[str] = []
    unread = [item for item in (branch.rules, branch.protection) if isinstance(item, Unread)]
    for item, passes in hindering(branch, writer, FORBIDDING):
        if isinstance(passes, Unread):
            unread.append(passes)
        else:
            refusing.append(item.name if isinstance(item, Rule) else f"branch protection: {', '.join(item.forbids)}")
    return refusing, list(dict.fromkeys(unread))


def _perhaps_refusing(branch: BranchSettings, writer: Writer) -> list[str]:
    """The rules that refuse some commits of the ``writer``, unless it is known to pass."""
    found = hindering(branch, writer, RESTRICTING | {"required_signatures"})
    return [rule.name for rule, _ in found if isinstance(rule, Rule)]
