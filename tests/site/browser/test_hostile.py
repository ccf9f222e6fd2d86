"""Texts that would do harm if they came alive, in every field that a site shows: all of them stay text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from incumbent.pipeline.review import Platform
from incumbent.report.escaping import printable, visible
from incumbent.site.audience import Audience
from incumbent.site.charts import drawing
from incumbent.site.comparison_page import render_comparison
from incumbent.site.content import SiteContent, SiteCustomer, SiteEntry
from incumbent.site.folder import write_folder
from incumbent.site.pages import render_site
from incumbent.text.masking import masked_together
from tests.github.hostile import HOSTILE
from tests.site.browser.chromium import overflow, served, violations, visitor
from tests.site.platforms import content
from tests.site.test_comparison import comparison

WEB: Final = {
    "end of a title": "</title><script>alert(1)</script>",
    "end of an attribute": "\" autofocus onfocus=alert(1) x=\"' onmouseover='alert(1)",
    "address of a script": "javascript:alert(1)//",
    "address of data": "data:text/html,<script>alert(1)</script>",
    "another base": "<base href=//evil.example/><meta http-equiv=refresh content=0;url=//evil.example>",
    "form": "<form action=//evil.example><input name=a autofocus><button>Send</button></form>",
    "template": "{{ 7 * 7 }}{% for x in y %}{{ ''.__class__ }}",
    "drawing": "<svg><script href=//evil.example/x.js /><animate onbegin=alert(1)></svg>",
    "mathematics of the web": "<math><mtext></table><img src onerror=alert(1)>",
    "slot": "<x-tag id=main><slot name=content><plaintext>",
    "address with a fragment": "#capability=x&customer=y",
    "entity": "&quot;&gt;&lt;img src=x&gt;&#0;&#x110000;",
    "many lines": "\n" * 200,
    "line without a place to break": "\u00a0".join(["word"] * 400),
    "wide signs": "\ufdfd" * 60,
}
"""What is particular to pages of the web."""

TEXTS: Final = [*WEB.values(), *HOSTILE.values()]


def names() -> Callable[[], str]:
    """One text after the other, without those that hold nothing to be seen: names cannot be empty."""
    known = cycle([text for text in TEXTS if visible(text)])
    return lambda: next(known)


def hostile_entry(item: SiteEntry, texts: list[str], name: Callable[[], str], customer: str) -> SiteEntry:
    """``item`` with ``texts`` as turns, and texts in all its other fields."""
    entry = item.entry
    assert entry.source is not None
    setup = replace(
        entry.setup,
        tenant=name(),
        connectors=(name(), name()),
        fixtures=(name(), name()),
        attachments=(name(),),
    )
    source = {"customer": customer, "agent": name(), "eval_set": name(), "item": name()}
    admitted = {"by": name(), "override": name(), "reasons": (name(), name())}
    changed = entry.model_copy(
        update={
            "turns": tuple(texts),
            "expected": {name(): [name(), {"text": name()}]},
            "source": entry.source.model_copy(update=source),
            "setup": setup,
            "pin": name(),
            "admitted": entry.admitted.model_copy(update=admitted),
            "classified": entry.classified.model_copy(update={"backend": name(), "model": name(), "taxonomy": name()}),
        }
    )
    shown = item.shown
    eviction = shown.eviction and shown.eviction.model_copy(update={"by": name(), "reason": name()})
    roles = shown.roles.model_copy(update={"pin": changed.pin})
    return replace(
        item,
        shown=shown.model_copy(update={"entry": changed, "stale": name(), "eviction": eviction, "roles": roles}),
        changes=tuple(replace(change, author=name(), subject=name()) for change in item.changes),
        outcomes=tuple(replace(outcome, release=name()) for outcome in item.outcomes),
    )


def renamed(platform: Platform, name: Callable[[], str]) -> Platform:
    """``platform``, in whose taxonomy all names and descriptions are texts."""
    capabilities = tuple(
        item.model_copy(update={"name": name(), "description": name()}) for item in platform.taxonomy.capabilities
    )
    groups = tuple(item.model_copy(update={"name": name()}) for item in platform.taxonomy.groups)
    taxonomy = platform.taxonomy.model_copy(update={"capabilities": capabilities, "groups": groups})
    for kept in ("by_id", "__dict__"):
        taxonomy.__dict__.pop(kept, None)
    return replace(platform, taxonomy=taxonomy)


@cache
def hostile() -> SiteContent:
    """The example platform, with all of the texts as turns, and each other field with one of them."""
    known, name = content(), names()
    each = -(-len(TEXTS) // len(known.entries))
    entries: dict[str, SiteEntry] = {}
    customers: list[SiteCustomer] = []
    for place, (id, item) in enumerate(known.entries.items()):
        customer = name()
        entries[id] = hostile_entry(item, (TEXTS * 2)[place * each : (place + 1) * each], name, customer)
        first = known.customers[place % len(known.customers)]
        agents = tuple(replace(agent, agent=name()) for agent in first.agents)
        customers.append(SiteCustomer(name=customer, agents=agents, entries={item.state: (id,)}))
    results = known.results
    assert results is not None
    releases = [item.model_copy(update={"release": name()}) for item in results.releases]
    ruled_out = next(iter(known.agents.values()))
    return replace(
        known,
        name="</title><script>alert(1)</script>",
        platform=renamed(known.platform, name),
        entries=entries,
        customers=tuple({item.name: item for item in customers}.values()),
        agents={f"{name()}/{name()}": ruled_out for _ in range(30)},
        results=results.model_copy(update={"releases": releases}),
    )


FOREIGN = """() => ({
    elements: [...new Set([...document.querySelectorAll('*')].map((node) => node.localName))].filter((name) =>
        /^(img|iframe|frame|object|embed|form|base|style|template|plaintext|xmp|math|animate|slot|.*-.*)$/.test(name)),
    scripts: document.scripts.length,
    metas: document.querySelectorAll('meta').length,
    attributes: [...document.querySelectorAll('*')].flatMap((node) => [...node.attributes].filter(
        ({ name, value }) => name.startsWith('on') || name === 'autofocus' || name === 'srcdoc' ||
            (name === 'style' && !node.closest('svg')) ||
            (/^(href|src|action|xlink:href)$/.test(name) && /^\\s*[a-z]*:|^\\/\\//i.test(value)))
        .map(({ name, value }) => `${name}=${value}`)),
    body: [...document.body.children].map((node) => node.localName).join(' '),
    ids: [...document.querySelectorAll('[id]')].map((node) => node.id)
        .filter((id, place, all) => all.indexOf(id) !== place),
})"""


def faults_of(page: Page, path: str) -> list[str]:
    """What came alive on the page that is open, or is wider than the window."""
    found, wide = page.evaluate(FOREIGN), overflow(page)
    expected = {
        "elements": [],
        "scripts": 1,
        "metas": 5,
        "attributes": [],
        "body": "a header main footer",
        "ids": [],
    }
    return [f"{path}: {wide} {found}"] if wide or found != expected else []


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its site."""
    folder = tmp_path_factory.mktemp("hostile")
    write_folder(folder, render_site(hostile(), Audience(), drawing()))
    return folder


@pytest.fixture(scope="module")
def hostile_base(hostile_folder: Path) -> str:
    """The address of that site."""
    return served(hostile_folder)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_foreign_texts_stay_text_in_every_field(
    browser: Browser, hostile_folder: Path, hostile_base: str, step: int
) -> None:
    """Of the pages of entries every ``step``-th is looked at, and all others."""
    known, folder, base = hostile(), hostile_folder, hostile_base
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    of_entries = [path for path in paths if path.startswith("entries/")]
    paths = [*of_entries[::step], *(path for path in paths if path not in of_entries)]
    faults = []
    with visitor(browser, base) as page:
        page.set_viewport_size({"width": 390, "height": 800})
        for path in paths:
            page.goto(base + path)
            faults += faults_of(page, path)
            id = path.removeprefix("entries/").removesuffix(".html")
            if id in known.entries:
                texts = page.locator(".query > p").evaluate_all("nodes => nodes.map((node) => node.textContent)")
                assert texts == [printable(text) for text in masked_together(known.entries[id].entry.turns)]
        for path in ("index.html", "entries.html", paths[-1]):
            page.goto(base + path)
            faults += [f"{path}: {fault}" for fault in violations(page)]
    assert faults == [], "\n".join(faults[:20])


@pytest.mark.exhaustive
def test_foreign_texts_stay_text_for_one_customer_and_on_the_page_of_a_merge(browser: Browser, tmp_path: Path) -> None:
    known, found, name = hostile(), comparison(), names()
    longest = max((item.name for item in known.customers), key=len)
    write_folder(tmp_path / "one", render_site(known, Audience(customer=longest), drawing()))
    merge = replace(
        found, name=name(), before=renamed(found.before, name), after=renamed(found.after, name), unread=tuple(TEXTS)
    )
    write_folder(tmp_path / "merge", render_comparison(merge, Audience()))
    faults = []
    for folder in (tmp_path / "one", tmp_path / "merge"):
        base = served(folder)
        with visitor(browser, base) as page:
            page.set_viewport_size({"width": 390, "height": 800})
            for file in sorted(folder.rglob("*.html")):
                path = file.relative_to(folder).as_posix()
                page.goto(base + path)
                faults += faults_of(page, path)
    assert faults == [], "\n".join(faults[:20])


def test_tables_find_foreign_texts(browser: Browser, hostile_base: str) -> None:
    known, base = hostile(), hostile_base
    with visitor(browser, base) as page:
        page.goto(f"{base}coverage.html")
        cells = page.evaluate("[...document.querySelectorAll('.grid td a[href*=\"#\"]')].map(a => [a.href, +a.text])")
        page.goto(f"{base}entries.html")
        for address, count in cells[:: max(1, len(cells) // 60)]:
            page.evaluate("address => { location.hash = new URL(address).hash }", address)
            page.wait_for_timeout(0)
            assert page.locator("#entries tbody tr").count() == count, address
        page.get_by_role("button", name="Show all").click()
        field = page.get_by_label(re.compile("^Search"))
        for id, item in known.entries.items():
            first = visible(masked_together(item.entry.turns)[0])
            field.fill(first[:200])
            assert id in page.locator("#entries tbody tr > th > a").all_inner_texts(), id
            assert (
                page.evaluate("new URLSearchParams(location.hash.slice(1)).get('search') ?? ''") == field.input_value()
            )
