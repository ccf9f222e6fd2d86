"""Platform repositories for tests of the site, each made once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import git

from incumbent.cli.main import run
from incumbent.pipeline.workspace import open_platform
from incumbent.site.audience import Audience
from incumbent.site.charts import drawing
from incumbent.site.content import SiteContent, read_site
from incumbent.site.pages import render_site
from incumbent.site.templating import assets
from tests.copies import copy_of
from tests.factories import REPOSITORY

CUSTOMERS = sorted(place.name for place in (REPOSITORY / "eval_sets").iterdir())
FLAPPING = "brackwell-council-leave-q-1fcaa42d55-e8723184"


def make_repository(folder: Path) -> None:
    """The set of this repository: one entry of it waits, one was evicted, and three releases were run."""
    for part in ("config", "taxonomy", "regression_set", "eval_sets"):
        copytree(REPOSITORY / part, folder / part)
    repository = git.Repo.init(folder, initial_branch="main")

    def commit(message: str, at: str) -> None:
        repository.git.add(all=True)
        who = ("-c", "user.name=Kim Curator", "-c", "user.email=kim@platform.example")
        environment = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        repository.git.execute(["git", *who, "commit", f"--message={message}"], env=environment)

    commit("the set", "2026-11-20T10:00:00Z")
    entries = sorted((folder / "regression_set").glob("*.yaml"))
    (folder / "regression_set" / "waiting").mkdir(exist_ok=True)
    # One that a person would have to answer for: it does not enter by itself as soon as a slot is free.
    waits = entries.pop(2)
    waits.rename(folder / "regression_set" / "waiting" / waits.name)
    evicted = ("evict", entries[-1].stem, "--reason", "it went out of use", "--by", "Kim Curator")
    assert run([*evicted, "--repo", str(folder), "--at", "2026-11-21T09:00:00Z"]) == 0
    commit("one waits, and one was evicted", "2026-11-21T10:00:00Z")
    for number in (1, 2, 3):
        rows = [{"entry": path.stem, "outcome": "passed"} for path in entries[:-1]]
        rows.append({"entry": FLAPPING, "outcome": "failed"})
        rows[0]["outcome"] = "skipped"
        with TemporaryDirectory() as beside:
            file = Path(beside) / "release.jsonl"
            file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
            words = ("results", "add", str(file), "--release", f"v{number}", "--at", f"2026-11-2{number}T12:00:00Z")
            assert run([*words, "--repo", str(folder)]) == 0


@cache
def _read() -> tuple[SiteContent, TemporaryDirectory[str]]:
    kept = TemporaryDirectory()
    folder = copy_of(make_repository, Path(kept.name) / "platform")
    return read_site(open_platform(folder, "config/curation.yaml"), folder, "A platform", "config/curation.yaml"), kept


def content() -> SiteContent:
    """What a site of that repository shows."""
    return _read()[0]


@cache
def files_for(audience: Audience) -> dict[str, bytes]:
    """The files of its site for ``audience``."""
    return dict(render_site(content(), audience, drawing()))


def file_of(known: SiteContent, path: str) -> str:
    """One file of the site of ``known``; the pages after it are not rendered."""
    return next(page for name, page in render_site(known, Audience(), drawing()) if name == path).decode()


def first_pages(known: SiteContent) -> Iterator[tuple[str, bytes]]:
    """The files of the site of ``known`` without the pages of single things."""
    yield from takewhile(lambda file: "/" not in file[0], render_site(known, Audience(), drawing()))
    yield from assets()
