"""A site's files from its pages: templates, charts and static files."""

from __future__ import annotations

from collections.abc import Iterator

from bot.site.audience import Audience
from bot.site.charts import Draw
from bot.site.content import SiteContent
from bot.site.pages import SiteReader, pages
from bot.site.templating import assets, environment


def render_site(content: SiteContent, audience: Audience, draw: Draw) -> Iterator[tuple[str, bytes]]:
    """Path → bytes of each file of the site of ``content`` for ``audience``; the static files come last."""
    templates = environment()
    templates.globals.update(draw=draw)
    every = tuple(pages(content, audience))
    navigation = [page for page in every if not page.depth]
    readers = {depth: SiteReader(content=content, audience=audience, depth=depth) for depth in (0, 1)}
    for page in every:
        text: str = templates.get_template(page.template).render(
            page=page, navigation=navigation, site=content, audience=audience, see=readers[page.depth], **page.values
        )
        yield page.path, text.encode()
    yield from assets()
