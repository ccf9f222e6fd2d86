"""Sphinx's configuration: README.md and docs/*.md, as they are, become pages with a search.  Called by ``build.sh``.

The README is the first page, and its section “Read on” is the navigation.  Nothing on a page comes from another host.
"""

from __future__ import annotations

import os
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.errors import SphinxError

project = "Incumbent"
html_title = "Incumbent"
extensions = ["myst_parser"]
myst_heading_anchors = 4
root_doc = "README"
MORE: Final = ["CODE_OF_CONDUCT", "tests/README", "tests/labels/README"]
"""Pages that others lead to, and the README does not."""
_NAMES: Final = ["README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "docs/*", *MORE]
include_patterns = [f"{name}.md" for name in _NAMES]
html_theme = "furo"
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # they are fetched, which a page that was opened from a file may not do
html_static_path = ["diagrams.js"]
html_js_files: list[str] = []
DRAWS = os.environ.get("INCUMBENT_MERMAID", "")
"""The file that draws diagrams; without it they are shown as text."""
if DRAWS:
    html_static_path.append(DRAWS)
    html_js_files += [Path(DRAWS).name, "diagrams.js"]

_SECTION: Final = re.compile(r"^\*\*(?P<title>[^*\n]+)\*\*\n\n(?P<items>(?:- .*\n(?:  .*\n)*)+)", re.MULTILINE)
_PAGE: Final = re.compile(r"\]\(([\w./-]+)\.md\)")
_FETCHED: Final = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=\"((?:https?:)?//[^\"]*)\"")


def _navigation(_app: object, name: str, source: list[str]) -> None:
    """Add the lists of “Read on” to the first page once more, as what Sphinx makes its navigation of."""
    if name != root_doc:
        return
    seen: set[str] = set()
    trees = []
    for section in _SECTION.finditer(source[0].split("## Read on")[1]):
        pages = [page for page in dict.fromkeys(_PAGE.findall(section["items"])) if page not in seen]
        seen.update(pages)
        trees.append((section["title"], pages))
    trees.append(("More", MORE))
    for title, pages in trees:
        source[0] += "\n```{toctree}\n:hidden:\n:caption: " + title + "\n\n" + "\n".join(pages) + "\n```\n"


def _diagrams(_app: object, doctree: Any) -> None:
    """Leave diagrams to the script: GitHub draws the same blocks."""
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            block.replace_self(nodes.raw("", f'<pre class="mermaid">{escape(block.astext())}</pre>', format="html"))


def _finished(app: Any, fault: Exception | None) -> None:
    """Give the folder its first page, and refuse pages that would ask anything of another host."""
    if fault is not None:
        return
    folder = Path(app.outdir)
    for page in sorted(folder.rglob("*.html")):
        if found := _FETCHED.search(page.read_text(encoding="utf-8")):
            raise SphinxError(f"{page.relative_to(folder)} would fetch {found[1]}")
    shutil.copyfile(folder / f"{root_doc}.html", folder / "index.html")


def setup(app: Any) -> None:
    """Add what is ours to Sphinx."""
    app.connect("source-read", _navigation)
    app.connect("doctree-read", _diagrams)
    app.connect("build-finished", _finished)
