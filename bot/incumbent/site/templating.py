"""Templates that escape all text, and what is beside them in every site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final

from incumbent.report.escaping import visible
from incumbent.report.verdict_text import counted, figure
from incumbent.text.masking import masked

ASSETS: Final = ("site.css", "site.js", "icon.svg")
POLICY: Final = "default-src 'self'"
"""The content security policy of every page: nothing but the site's own files, and no script or style within pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePage:
    """One page: its ``path`` within the site, its template, its title, and the values for the template."""

    path: str
    template: str
    title: str
    values: Mapping[str, Any]

    @property
    def depth(self) -> int:
        """How many folders lie above it."""
        return self.path.count("/")


def shown(text: str) -> str:
    """Foreign ``text`` on one line, whole, masked, with what cannot be seen made visible; templates escape markup."""
    return visible(masked(text))


@cache
def environment() -> Any:
    """The templates, each compiled once in a process; an unknown name in one is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("incumbent.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update(policy=POLICY, version=version("incumbent"), counted=counted, figure=figure)
    return made


def assets() -> Iterator[tuple[str, bytes]]:
    """Path → bytes of the static files."""
    for name in ASSETS:
        yield f"assets/{name}", (files("incumbent.site") / "assets" / name).read_bytes()
