"""``incumbent init`` and ``doctor``: a repository becomes a platform repository, and what in its set-up blocks the bot.

A platform repository has no copy of the product's documentation.  It is in the repository of the Action, at the commit
that runs, so that it matches the installed version.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import click

from incumbent.cli.options import (
    github_token,
    json_option,
    one_at_a_time,
    repo_option,
    repository_on_github,
    repository_option,
)
from incumbent.cli.output import print_json, say
from incumbent.errors import OutsideError, UsageError
from incumbent.files.git.working_copy import is_pushed, owner_and_name, read_branches, read_head, read_remote, read_top
from incumbent.github.events import product_files, server_of
from incumbent.pipeline.setup_files import CODEOWNERS, PAGES, WORKFLOW, exemplar_files, setup_file
from incumbent.report.escaping import visible
from incumbent.taxonomy.config import CONFIG_FILE

if TYPE_CHECKING:
    from rich.console import Console

    from incumbent.doctor.findings import DoctorOutput, SetupFinding
    from incumbent.files.snapshot import Snapshot

_ACTION: Final = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+@[0-9a-f]{40}")
"""``OWNER/NAME@COMMIT``."""
_MACHINES: Final = "ubuntu-latest"
# GitHub Enterprise Server has the older artifact store, which the newer actions do not support.
_ENTERPRISE_SERVER: Final = {
    "actions/upload-artifact": "actions/upload-artifact@c6a366c94c3e0affe28c06c8df20a878f24da3cf # v3.2.2",
    "actions/download-artifact": "actions/download-artifact@a9bc5e6ef2cb54c177f32aa5726adaa15e7e2d59 # v3.1.0",
}
_LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OWN_FILES: Final = re.compile(r"\b(docs|config)/([a-z0-9-]+\.md|paper\.yaml)")
_COLOURS: Final = {"error": "red", "warning": "yellow", "ok": "green"}


@click.command("init")
@repo_option("The repository to write into (default: this folder).")
@click.option(
    "--action",
    metavar="OWNER/NAME@COMMIT",
    help="The Action that the workflow runs (default: where this installation came from; unknown: no workflow).",
)
@click.option(
    "--owner", metavar="@NAME", help="Who reviews taxonomy, config and set (default: the repository's owner)."
)
@click.option(
    "--enterprise-server", is_flag=True, help="The workflow is for GitHub Enterprise Server, on machines of your own."
)
@click.option(
    "--runner",
    metavar="LABEL",
    help="The label of the machines that the jobs run on (default: ubuntu-latest; for Enterprise Server self-hosted).",
)
@click.option("--pages", is_flag=True, help="Also a workflow that publishes the set as a site on GitHub Pages.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@one_at_a_time
def init_command(
    repo: Path,
    action: str | None,
    owner: str | None,
    enterprise_server: bool,
    runner: str | None,
    pages: bool,
    dry_run: bool,
) -> None:
    """Write taxonomy, config, an empty regression set, workflow, CODEOWNERS and CURATION.md into a repository.

    Files that exist are kept. The workflow is left out where it is not known which Action to run.

    \b
    Examples:
      incumbent init
      incumbent init --pages
      incumbent init --action example/incumbent@0123456789012345678901234567890123456789 --owner @example/platform
    """
    from incumbent.curator.file_changes import FileChange, apply
    from incumbent.github.managed_pull_request import in_the_way
    from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER
    from incumbent.taxonomy.loading import TAXONOMY_FILE

    top = read_top(repo)
    if top is not None and top.resolve() != repo.resolve():
        raise UsageError(f"{repo} lies inside a repository, whose top GitHub looks at: run init with --repo {top}")
    if action is not None and not _ACTION.fullmatch(action):
        raise UsageError("name the Action that the workflow runs by its commit: --action OWNER/NAME@COMMIT (40 digits)")
    if runner is not None and not _LABEL.fullmatch(runner):
        raise UsageError("name the machines by one label of theirs, as in --runner self-hosted")
    if pages and enterprise_server:
        raise UsageError("--pages is for github.com alone: Enterprise Server has no store for its artifacts")
    remote = read_remote(repo)
    unpushed = action is None and not own_action_is_pushed()
    action = action or own_action()
    if pages and action is None:
        raise UsageError("say which Action writes the site: --action OWNER/NAME@COMMIT")
    owners = owner or (f"@{remote.split('/')[0]}" if remote else None)
    planned = _planned(action, enterprise_server, runner)
    if pages and action is not None:
        planned[PAGES] = _workflow("incumbent-pages.yml", action, enterprise_server, runner)
    has_workflow = WORKFLOW in planned or _there(repo / WORKFLOW)
    absent = [path for path in (WORKFLOW, PAGES) if path not in planned and not _there(repo / path)]
    block = [
        line.replace("OWNERS", owners or "@YOUR-TEAM")
        for line in setup_file("CODEOWNERS").splitlines()
        if not any(path in line for path in absent)
    ]
    present = next((path for path in CODEOWNERS if (repo / path).is_file()), None)
    if present is None and owners is not None:
        planned[CODEOWNERS[0]] = "\n".join([*block, ""])
    missing = {path: text for path, text in planned.items() if not _there(repo / path)}
    # An existing taxonomy has exemplars of its own; a run that was killed leaves only empty folders.
    new = TAXONOMY_FILE in missing and not any(not path.is_dir() for path in _below(repo / EXEMPLARS_FOLDER))
    exemplars = {f"{EXEMPLARS_FOLDER}/{path}": text for path, text in exemplar_files().items()} if new else {}
    if not dry_run:
        apply([FileChange(path, text) for path, text in (missing | exemplars).items()], repo)
    written = "would write" if dry_run else "written"
    for path in planned:
        say(f"{written if path in missing else 'kept'}: {path}")
        if path == TAXONOMY_FILE and exemplars:
            say(f"{written}: {EXEMPLARS_FOLDER}/ ({len(exemplars)} files)")
    if CODEOWNERS[0] not in missing:
        text = "" if present is None else _text(repo / present)
        lacking = [line for line in block if line.split(" ")[0] not in text]
        if lacking:
            say(f"add to {present or CODEOWNERS[0]}:")
            say("\n".join(f"    {line}" for line in lacking))
    if unpushed and action is not None and WORKFLOW in missing:
        say(f"The workflow runs {action}, a commit that was never pushed: push it, or GitHub cannot find it.")
    guessed = owner is None and CODEOWNERS[0] in missing
    _next_steps(
        remote,
        in_the_way(read_branches(repo)),
        product_files(action, os.environ),
        guessed=guessed,
        has_workflow=has_workflow,
        has_pages=PAGES in planned,
    )


def _planned(action: str | None, enterprise_server: bool, runner: str | None) -> dict[str, str]:
    """The files of a platform repository, by path; mentions of the product's own files link to where they are."""
    from incumbent.github.command_processing import COMMANDS
    from incumbent.taxonomy.loading import TAXONOMY_FILE

    root = product_files(action, os.environ)
    planned = {
        TAXONOMY_FILE: without_own_paths(setup_file("taxonomy.yaml"), root),
        CONFIG_FILE: without_own_paths(setup_file("curation.yaml"), root),
        "regression_set/README.md": setup_file("regression_set.md"),
        "CURATION.md": setup_file("CURATION.md").replace("COMMANDS", COMMANDS),
    }
    if action is not None:
        planned[WORKFLOW] = _workflow("incumbent.yml", action, enterprise_server, runner)
    return planned


def _workflow(name: str, action: str, enterprise_server: bool, runner: str | None) -> str:
    """The workflow ``name`` that runs ``action`` on machines of ``runner``, also where features of github.com lack."""
    workflow = setup_file(name).replace("uses: ACTION", f"uses: {action}")
    if enterprise_server:
        for newer, older in _ENTERPRISE_SERVER.items():
            workflow = re.sub(rf"{re.escape(newer)}@\S+ # \S+", older, workflow)
    machines = runner or ("self-hosted" if enterprise_server else _MACHINES)
    return workflow.replace(f"runs-on: {_MACHINES}", f"runs-on: {machines}")


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _next_steps(
    remote: str | None, blocking: Sequence[str], root: str | None, guessed: bool, has_workflow: bool, has_pages: bool
) -> None:
    from incumbent.taxonomy.loading import TAXONOMY_FILE

    place = remote or "OWNER/NAME"
    page = "Incumbent's docs/github.md" if root is None else f"{root}/docs/github.md"
    team = f" Where {place.split('/')[0]} is an organisation, name a team of it in {CODEOWNERS[0]} instead."
    steps = [
        "Commit these files: entries record the time of the current commit.",
        "Take the set that you run today, if you have one: `incumbent import FILE --customer NAME --agent NAME`.",
        (
            "Put a customer's agent and eval set into eval_sets/CUSTOMER/AGENT/ and judge it:\n"
            "     `incumbent review eval_sets/CUSTOMER/AGENT`; then `incumbent admit eval_sets/CUSTOMER/AGENT`."
        ),
        (
            f"Read {CONFIG_FILE} (ceiling, curators, `mode: observe` for a first month) and {TAXONOMY_FILE},\n"
            f"     and make them yours: `incumbent validate` checks them.{team if guessed else ''}"
        ),
    ]
    if has_workflow:
        steps += [
            f"Delete or rename the branch {name}, here and on GitHub: git cannot hold the bot's branches beside it."
            for name in blocking
        ]
        steps += [
            (
                "Push to the default branch, and require the check “Incumbent” there.\n"
                f"     `incumbent doctor --repository {place}` names every setting to change."
            ),
            (
                "Choose how admissions enter, since a branch that requires a check takes no commits of a job's token:\n"
                "     by pull requests that you merge (`admissions: pull-request`), or by themselves, with the token\n"
                f"     of a GitHub App on the bypass list of the branch's rules ({page}, “With a GitHub App”)."
            ),
            "Send your customers to CURATION.md.",
        ]
    if has_pages:
        steps.append(
            f"Read the first lines of {PAGES}, on who can open the site; then turn Pages on:\n"
            "     Settings → Pages → Source: GitHub Actions."
        )
    say("")
    if not has_workflow:
        say("To have GitHub review pull requests, add the workflow: incumbent init --action OWNER/NAME@COMMIT")
        say("")
    say("What to do next:")
    for number, step in enumerate(steps, 1):
        say(f"  {number}. {step}")


def _below(folder: Path) -> Iterable[Path]:
    """Everything below ``folder``; the path itself if it is a file."""
    return folder.rglob("*") if folder.is_dir() else (folder,) if _there(folder) else ()


def _there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


@click.command("doctor")
@repository_option("The repository on GitHub")
@json_option
def doctor_command(repository: str | None, as_json: bool) -> int:
    """Check settings, permissions, branch protection and token of a repository; reads only.

    Each finding names the setting to change. The token is taken from GITHUB_TOKEN or GH_TOKEN; an administrator's sees
    most. Ends with 1 when a finding is an error.

    \b
    Examples:
      incumbent doctor
      GH_TOKEN=$(gh auth token) incumbent doctor --repository example/platform
      incumbent doctor --json | jq '.findings[] | select(.severity != "ok")'
    """
    from incumbent.doctor.findings import DoctorOutput

    name = repository_on_github(repository, Path())
    output = DoctorOutput.of(name, _findings(name, os.environ))
    if as_json:
        print_json(output)
    else:
        _show_findings(output)
    return 1 if output.errors else 0


def _findings(repository: str, environment: Mapping[str, str]) -> tuple[SetupFinding, ...]:
    from incumbent.doctor.diagnosis import diagnose
    from incumbent.doctor.examination import ReadRefusedError, asker, examine
    from incumbent.doctor.findings import unreachable
    from incumbent.files.git import ObjectStore

    token = github_token(environment)
    api = environment.get("GITHUB_API_URL", "https://api.github.com")
    url = f"{server_of(environment)}/{repository}"
    with tempfile.TemporaryDirectory(prefix="incumbent-") as folder:
        store = ObjectStore.create(Path(folder) / "objects.git")

        def open_files(branch: str) -> Snapshot:
            return store.snapshot(store.fetch(url, {"base": f"refs/heads/{branch}"}, token)["base"])

        try:
            ask = asker(repository, token, api)
            return diagnose(examine(ask, token, open_files, on_github_com=urlsplit(api).hostname == "api.github.com"))
        except ReadRefusedError as error:
            return (unreachable(repository, error.status, error.reason),)
        finally:
            store.close()


def _show_findings(output: DoctorOutput) -> None:
    from rich.console import Console

    from incumbent.report.verdict_text import counted

    console = Console(highlight=False)
    if console.is_terminal:
        _show_table(console, output)
    else:
        for item in output.findings:
            say(f"{item.severity}: {item.about}: {visible(item.what)}")
            if item.severity != "ok":
                say(f"    why: {visible(item.why)}")
                say(f"    change: {visible(item.change)}")
    errors, warnings = counted(output.errors, "error", "errors"), counted(output.warnings, "warning", "warnings")
    say(f"{output.repository}: {errors}, {warnings}")


def _show_table(console: Console, output: DoctorOutput) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("", "about", "what is so, and why it matters", "what to change", box=None, pad_edge=False)
    for item in output.findings:
        colour = _COLOURS[item.severity]
        description = Text(visible(item.what), style="" if item.severity == "ok" else "bold")
        if item.why:
            description.append(f"\n{visible(item.why)}", style="not bold")
        table.add_row(Text(item.severity, style=colour), Text(item.about), description, Text(visible(item.change)))
    console.print(table)


def own_action() -> str | None:
    """The Action of this installation: the repository and commit that it was installed from, or its checkout."""
    try:
        origin = metadata.distribution("incumbent").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        origin = None
    source = json.loads(origin) if origin else {}
    version = source.get("vcs_info") or {}
    found = owner_and_name(str(source.get("url", ""))) if version else None
    if found:
        return f"{found}@{version.get('commit_id')}"
    checkout = Path(__file__).parents[3]
    remote = read_remote(checkout) if (checkout / "action.yml").is_file() else None
    if remote is None:
        return None
    try:
        return f"{remote}@{read_head(checkout).commit}"
    except (OutsideError, UsageError):
        return None


def own_action_is_pushed() -> bool:
    """Whether GitHub can know the commit of :func:`own_action`: a checkout's may never have been pushed."""
    checkout = Path(__file__).parents[3]
    if not (checkout / "action.yml").is_file():
        return True
    try:
        return is_pushed(checkout, read_head(checkout).commit)
    except (OutsideError, UsageError):
        return True


def without_own_paths(text: str, root: str | None) -> str:
    """``text`` of the product, a file with comments, for other repositories: its own files are named without paths.

    A line below the first such name says where they are, if their ``root`` is known.
    """
    first = _OWN_FILES.search(text)
    if first is not None and root is not None:
        end = text.index("\n", first.end()) + 1
        text = f"{text[:end]}# Incumbent's pages: {root}/docs (paper.yaml: {root}/config)\n{text[end:]}"
    return _OWN_FILES.sub(r"Incumbent's \2", text)
