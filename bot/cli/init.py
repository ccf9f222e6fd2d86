"""``incumbent init``: a repository becomes a platform repository."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path

import click

from bot.cli.options import say
from bot.curator.changes import FileChange, apply
from bot.errors import OutsideError, UsageError
from bot.git import owner_and_name, read_branch, read_head, read_remote, read_top
from bot.github.conversation import COMMANDS
from bot.setup_files import exemplar_files, setup_file
from bot.taxonomy.exemplars import EXEMPLARS_FOLDER
from bot.taxonomy.loading import TAXONOMY_FILE

WORKFLOW = ".github/workflows/incumbent.yml"
CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
_ACTION = re.compile(r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+@[0-9a-f]{40}$")


@click.command("init")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The repository to write into (default: this folder).",
)
@click.option(
    "--action",
    metavar="OWNER/NAME@COMMIT",
    help="The Action that the workflow runs (default: where this installation came from).",
)
@click.option(
    "--owner", metavar="@NAME", help="Who reviews taxonomy, config and set (default: the repository's owner)."
)
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
def command(repo: Path, action: str | None, owner: str | None, dry_run: bool) -> None:
    """Write taxonomy, config, an empty regression set, workflow, CODEOWNERS and CURATION.md into a repository.

    Nothing that is there is overwritten.

    \b
    Examples:
      incumbent init
      incumbent init --action example/incumbent@0123456789012345678901234567890123456789 --owner @example/platform
    """
    top = read_top(repo)
    if top is not None and top.resolve() != repo.resolve():
        raise UsageError(f"{repo} lies inside a repository, whose top GitHub looks at: run init with --repo {top}")
    remote = read_remote(repo)
    action = action or _own_action()
    if action is None or not _ACTION.match(action):
        raise UsageError("say which Action the workflow runs, by commit: --action OWNER/NAME@COMMIT (40 digits)")
    owners = owner or (f"@{remote.split('/')[0]}" if remote else None)
    planned = {
        TAXONOMY_FILE: setup_file("taxonomy.yaml"),
        "config/curation.yaml": setup_file("curation.yaml"),
        "regression_set/README.md": setup_file("regression_set.md"),
        WORKFLOW: setup_file("incumbent.yml")
        .replace("uses: ACTION", f"uses: {action}")
        .replace("DEFAULT_BRANCH", read_branch(repo) or "main"),
        "CURATION.md": setup_file("CURATION.md").replace("COMMANDS", COMMANDS),
    }
    block = setup_file("CODEOWNERS").replace("OWNERS", owners or "@YOUR-TEAM")
    present = next((path for path in CODEOWNERS if (repo / path).is_file()), None)
    if present is None and owners is not None:
        planned[CODEOWNERS[0]] = block
    missing = {path: text for path, text in planned.items() if not _there(repo / path)}
    # A taxonomy that is there has exemplars of its own.
    new = TAXONOMY_FILE in missing and not _there(repo / EXEMPLARS_FOLDER)
    exemplars = {f"{EXEMPLARS_FOLDER}/{path}": text for path, text in exemplar_files().items()} if new else {}
    if not dry_run:
        apply([FileChange(path, text) for path, text in (missing | exemplars).items()], repo)
    written = "would write" if dry_run else "written"
    for path in planned:
        say(f"{written if path in missing else 'kept'}: {path}")
        if path == TAXONOMY_FILE and exemplars:
            say(f"{written}: {EXEMPLARS_FOLDER}/ ({len(exemplars)} files)")
    if CODEOWNERS[0] not in planned and (present is None or "/regression_set/" not in _text(repo / present)):
        say(f"add to {present or CODEOWNERS[0]}:")
        say("\n".join(f"    {line}" for line in block.splitlines()))
    _next_steps(remote, guessed=owner is None and CODEOWNERS[0] in missing)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _next_steps(remote: str | None, guessed: bool) -> None:
    place = remote or "OWNER/NAME"
    say("")
    say("What to do next:")
    say("  1. Read config/curation.yaml: the ceiling, the curators, and `mode: observe` for a first month.")
    say("  2. Read taxonomy/taxonomy.yaml and make it yours: `incumbent validate` checks it.")
    if guessed:
        say(f"     Where {place.split('/')[0]} is an organisation, name a team of it in {CODEOWNERS[0]} instead.")
    say("  3. Commit and push to the default branch, and require the check “Incumbent” there.")
    say(f"  4. Run `incumbent doctor --repository {place}`: it names every setting that stands in the way.")
    say("  5. Send your customers to CURATION.md.")


def _there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _own_action() -> str | None:
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
    checkout = Path(__file__).parents[2]
    remote = read_remote(checkout) if (checkout / "action.yml").is_file() else None
    if remote is None:
        return None
    try:
        return f"{remote}@{read_head(checkout).commit}"
    except (OutsideError, UsageError):
        return None
