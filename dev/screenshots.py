"""Make the pictures of docs/images, with what they show as text: ``python -m dev.screenshots``.

A picture is of a page: the site of this repository's set, the site that the tutorial ends with, and the verdict
comment, whose Markdown is rendered like GitHub's.  A test compares the texts, since pixels differ between machines.
Needs Chromium (``CHROMIUM``, or /usr/bin/chromium).
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import git
import yaml
from markdown_it import MarkdownIt
from playwright.sync_api import sync_playwright

from dev.tutorial import play
from incumbent.cli.main import run

REPOSITORY: Final = Path(__file__).resolve().parent.parent
IMAGES: Final = REPOSITORY / "docs" / "images"
WIDTH: Final = 1280
LINES: Final = 25
"""How many lines of text are compared: about what a picture has room for."""
_WHO: Final = ("-c", "user.name=Kim Curator", "-c", "user.email=kim@platform.example")
_HIDDEN: Final = frozenset({"script", "style", "svg", "title"})
_BLOCKS: Final = frozenset(
    {"p", "li", "tr", "h1", "h2", "h3", "h4", "dt", "dd", "summary", "caption", "figure", "ol", "ul", "table", "br"}
)
_STYLE: Final = """
body { margin: 0; background: #fff; color: #1f2328; font: 14px/1.5 "Noto Sans", "DejaVu Sans", sans-serif; }
article { max-width: 880px; margin: 24px auto; border: 1px solid #d1d9e0; border-radius: 6px; }
header { background: #f6f8fa; border-bottom: 1px solid #d1d9e0; padding: 8px 16px; color: #59636e; }
header b { color: #1f2328; }
main { padding: 4px 16px 12px; }
table { border-collapse: collapse; margin: 0 0 16px; }
th, td { border: 1px solid #d1d9e0; padding: 6px 13px; text-align: left; vertical-align: top; }
tr:nth-child(2n) td { background: #f6f8fa; }
code { background: #eff1f3; border-radius: 4px; padding: 2px 5px; }
code { font-family: "DejaVu Sans Mono", monospace; font-size: 12px; }
h3 { font-size: 20px; } h4 { font-size: 16px; } sub { font-size: 11px; }
"""


@dataclass(frozen=True)
class Picture:
    """A picture, the page that it is of, and its height in pixels."""

    name: str
    page: Path
    height: int


def pictures(tutorial: Path, folder: Path) -> list[Picture]:
    """All pictures: of the ``tutorial`` that was played, and of pages that are made in ``folder``."""
    platform = folder / "platform"
    _commit_by_day(platform)
    site = folder / "site"
    if run(["site", "--repo", str(platform), "--title", "Example platform", "--output", str(site)]) != 0:
        raise RuntimeError("the site could not be made")
    comment = folder / "comment.html"
    comment.write_text(_as_github(tutorial / "comment.md"), encoding="utf-8")
    (evicted,) = (tutorial / "platform" / "regression_set" / "evicted").glob("*.yaml")
    return [
        Picture("overview", site / "index.html", 800),
        Picture("coverage", site / "coverage.html", 800),
        Picture("comment", comment, 900),
        Picture("evicted", tutorial / "site" / "entries" / f"{evicted.stem}.html", 800),
    ]


def _commit_by_day(platform: Path) -> None:
    """The set of this repository, with a history: the entries of each day are a commit of that day."""
    for part in ("config", "taxonomy", "eval_sets"):
        shutil.copytree(REPOSITORY / part, platform / part)
    (platform / "regression_set").mkdir()
    days: dict[str, list[Path]] = {}
    for path in sorted((REPOSITORY / "regression_set").glob("*.yaml")):
        entry = yaml.safe_load(path.read_text(encoding="utf-8"))
        days.setdefault(str(entry["admitted"]["at"])[:10], []).append(path)
    with git.Repo.init(platform, initial_branch="main") as repository:
        for day, paths in sorted(days.items()):
            for path in paths:
                shutil.copy(path, platform / "regression_set")
            repository.git.add(all=True)
            at = {"GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
            message = f"--message=Admit {len(paths)} entries"
            repository.git.execute(["git", *_WHO, "commit", message], env=at)


def _as_github(comment: Path) -> str:
    """The page of a verdict comment."""
    body = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(comment.read_text(encoding="utf-8"))
    head = f'<!doctype html><meta charset="utf-8"><title>Comment</title><style>{_STYLE}</style>'
    return f"{head}<article><header><b>incumbent</b> bot commented</header><main>{body}</main></article>\n"


class _Text(HTMLParser):
    """The text of a page's ``main``, a line for each block, without charts."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.is_main = False
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_main |= tag == "main"
        self.hidden += tag in _HIDDEN
        self.text += "\n" if tag in _BLOCKS else ""
        self.text += " " if tag in ("td", "th") else ""

    def handle_endtag(self, tag: str) -> None:
        self.is_main &= tag != "main"
        self.hidden -= tag in _HIDDEN

    def handle_data(self, data: str) -> None:
        if self.is_main and not self.hidden:
            self.text += data.replace("\n", " ")


def shown(picture: Picture) -> str:
    """What a picture shows, as lines of text; decimals are left out, since they differ between processors."""
    parser = _Text()
    parser.feed(picture.page.read_text(encoding="utf-8"))
    lines = (" ".join(re.sub(r"\d+\.\d+", "0.0", line).split()) for line in parser.text.split("\n"))
    return "".join(f"{line}\n" for line in [line for line in lines if line][:LINES])


def _draw(made: list[Picture]) -> Iterator[Path]:
    with sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for picture in made:
            page = browser.new_page(viewport={"width": WIDTH, "height": picture.height}, color_scheme="light")
            page.goto(picture.page.as_uri())
            target = IMAGES / f"{picture.name}.png"
            page.screenshot(path=target)
            page.close()
            yield target
        browser.close()


def main() -> None:
    """Write all pictures and their texts."""
    with tempfile.TemporaryDirectory() as scratch:
        tutorial, folder = Path(scratch) / "tutorial", Path(scratch) / "pages"
        tutorial.mkdir()
        folder.mkdir()
        play(tutorial)
        made = pictures(tutorial, folder)
        IMAGES.mkdir(exist_ok=True)
        for picture in made:
            (IMAGES / f"{picture.name}.txt").write_text(shown(picture), encoding="utf-8")
        for path in _draw(made):
            print(f"{path.relative_to(REPOSITORY)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
