"""A site's files from its pages: templates, charts and static files."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final

from bot.report.verdict_text import counted, figure
from bot.site.audience import Audience
from bot.site.charts import Draw
from bot.site.content import SiteContent
from bot.site.pages import SiteReader, pages

ASSETS: Final = ("site.css", "site.js", "icon.svg")
POLICY: Final = "default-src 'self'"
"""The content security policy of every page: nothing but the site's own files, and no script or style within pages."""


def render_site(content: SiteContent, audience: Audience, draw: Draw) -> Iterator[tuple[str, bytes]]:
    """Path → bytes of each file of the site of ``content`` for ``audience``; the static files come last."""
    environment = _environment(draw)
    every = tuple(pages(content, audience))
    navigation = [page for page in every if not page.depth]
    readers = {depth: SiteReader(content=content, audience=audience, depth=depth) for depth in (0, 1)}
    for page in every:
        text: str = environment.get_template(page.template).render(
            page=page, navigation=navigation, site=content, audience=audience, see=readers[page.depth], **page.values
        )
        yield page.path, text.encode()
    for name in ASSETS:
        yield f"assets/{name}", (files("bot.site") / "assets" / name).read_bytes()


def _environment(draw: Draw) -> Any:
    """Templates that escape all text; an unknown name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("bot.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

    environment.globals.update(draw=draw, policy=POLICY, version=version("incumbent"), counted=counted, figure=figure)
    return environment
