"""Each page in a browser: of any width, light and dark, without JavaScript, by keyboard, from a file, under a path."""

from __future__ import annotations

import os
import socket
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from incumbent.site.audience import Audience
from tests.site.browser.chromium import WIDTHS, Watch, overflow, screenshot, served, until, violations, visitor
from tests.site.platforms import files_for
from tests.variants import one_in

THOROUGH = os.environ.get("INCUMBENT_THOROUGH") == "1"
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in WIDTHS]


def kinds(folder: Path) -> dict[str, list[str]]:
    """Template → the pages of it, the one with most in it first."""
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*.html"), key=lambda path: (-path.stat().st_size, path.name)):
        path = file.relative_to(folder).as_posix()
        found.setdefault(path.split("/")[0], []).append(path)
    return found


def test_the_largest_page_of_each_kind_is_whole(browser: Browser, base: str, folder: Path) -> None:
    """Each in one look: the looks take turns."""
    found = []
    with visitor(browser, base) as page:
        for (path, *_), (scheme, width) in zip(kinds(folder).values(), cycle(LOOKS), strict=False):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.goto(base + path)
            faults = [*violations(page), *(f"too wide: {wide}" for wide in [overflow(page)] if wide)]
            found += [f"{path} {scheme} {width}: {fault}" for fault in faults]
    assert found == []


@pytest.mark.exhaustive
def test_each_page_is_whole_at_every_size_in_light_and_dark(browser: Browser, base: str, folder: Path) -> None:
    found = []
    with visitor(browser, base) as page:
        for kind, paths in kinds(folder).items():
            # All looks of the largest page of its kind; of the others one each, in turn.
            turns = cycle(LOOKS)
            for place, path in enumerate(paths):
                page.goto(base + path)
                looks = LOOKS if place == 0 or THOROUGH else [next(turns)]
                for scheme, width in looks:
                    page.set_viewport_size({"width": width, "height": 900})
                    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                    found += [f"{path} {scheme} {width}: too wide: {wide}" for wide in [overflow(page)] if wide]
                    if place == 0:
                        screenshot(page, f"{kind.removesuffix('.html')}-{scheme}-{width}")
                if place < 3 or THOROUGH:
                    found += [f"{path} {looks[-1]}: {fault}" for fault in violations(page)]
                if place == 0:
                    page.emulate_media(color_scheme="light")
                    found += [f"{path}: {fault}" for fault in violations(page)]
    assert found == []


TEXT = """() => {
    const rows = []
    const shown = (node) => node.innerText.replace(/\\s+/g, ' ').trim()
    for (const table of document.querySelectorAll('table[data-page]')) {
        const next = [...document.querySelectorAll('.pager')].find(
            (pager) => table.parentElement.nextElementSibling === pager)?.querySelector('button:last-of-type')
        do {
            rows.push(...[...table.tBodies[0].rows].map(shown))
        } while (next && !next.disabled && (next.click(), true))
        table.tBodies[0].remove()
    }
    for (const node of document.querySelectorAll('.controls, .pager')) node.remove()
    return [shown(document.body), rows]
}"""


def test_without_javascript_all_is_there_to_read(browser: Browser, base: str, folder: Path) -> None:
    paths = [path for pages in kinds(folder).values() for path in (pages if THOROUGH else pages[:2])]
    texts: list[dict[str, Any]] = []
    for scripts in (True, False):
        with visitor(browser, base, java_script_enabled=scripts) as page:
            texts.append({})
            for path in paths:
                page.goto(base + path)
                texts[-1][path] = page.evaluate(TEXT)
    enhanced, plain = texts
    for path in paths:
        assert plain[path] == enhanced[path], path
    text, rows = plain["entries.html"]
    assert text.startswith("Skip to the content A platform Overview Coverage")
    assert len(rows) == sum(path.startswith("entries/") for path in files_for(Audience()))


TABS = """() => {
    const stops = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')].filter(
        (node) => node.checkVisibility() && !node.disabled)
    window.focused = []
    document.addEventListener('focusin', ({ target }) => {
        const box = target.getClientRects()[0]
        const style = getComputedStyle(target)
        const top = document.elementFromPoint(
            Math.min(Math.max(box.x + box.width / 2, 0), innerWidth - 1),
            Math.min(Math.max(box.y + Math.min(box.height, 8) / 2, 0), innerHeight - 1))
        window.focused.push({
            stop: stops.indexOf(target),
            html: target.outerHTML.slice(0, 120),
            outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
            seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth &&
                (target.contains(top) || (top?.contains(target) ?? false)),
        })
    })
    return stops.map((node) => node.tagName)
}"""


def tab(page: Page, key: str, times: int) -> list[dict[str, Any]]:
    """What got the focus, one press of ``key`` after the other."""
    page.evaluate("window.focused = []")
    for _ in range(times):
        page.keyboard.press(key)
    focused: list[dict[str, Any]] = page.evaluate("window.focused")
    return focused


@pytest.mark.parametrize("width", one_in(2, [390, 1280]))
def test_the_keyboard_alone_reaches_everything_where_it_can_be_seen(
    width: int, browser: Browser, base: str, folder: Path
) -> None:
    faults = []
    with visitor(browser, base) as page:
        page.set_viewport_size({"width": width, "height": 900})
        for paths in kinds(folder).values():
            page.goto(base + paths[0])
            stops = page.evaluate(TABS)
            count = min(len(stops), 400 if THOROUGH else 50)
            forward = tab(page, "Tab", count)
            assert [item["stop"] for item in forward] == [*range(count)], paths[0]
            back = tab(page, "Shift+Tab", min(count - 1, 20))
            faults += [
                (paths[0], item["html"]) for item in (*forward, *back) if not (item["outlined"] and item["seen"])
            ]
    assert faults == [], "\n".join(map(str, faults[:20]))


BESIDE_THE_NAMES = """() => {
    const box = document.querySelector('.scroll:has(> .grid)')
    const [titles, ...rows] = [...box.querySelectorAll('tr')]
    const links = (row) => [...row.querySelectorAll(':scope > :not(:first-child) a')]
    const fullest = rows.reduce((best, row) => links(row).length > links(best).length ? row : best)
    const hidden = []
    let tried = 0
    for (const link of [...links(titles), ...links(fullest)]) {
        for (let place = 0; place <= box.scrollWidth - box.clientWidth; place += 9) {
            link.blur()
            box.scrollLeft = place
            link.focus()
            const { left, right } = link.getBoundingClientRect()
            const names = fullest.cells[0].getBoundingClientRect().right
            tried += 1
            if (left < names - 1 || right > box.getBoundingClientRect().right + 1)
                hidden.push([link.outerHTML.slice(0, 120), place, left, right, names])
        }
    }
    return [tried, hidden]
}"""


def test_what_has_the_focus_in_a_grid_is_whole_beside_the_names_wherever_the_grid_stood(
    browser: Browser, base: str
) -> None:
    with visitor(browser, base) as page:
        for path, width in product(("coverage.html", "pairs.html"), (320, 768)):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(base + path)
            tried, hidden = page.evaluate(BESIDE_THE_NAMES)
            assert tried > 100
            assert hidden == [], (path, width, len(hidden), hidden[:5])


def test_the_keyboard_skips_to_the_content_and_keeps_what_was_chosen(browser: Browser, base: str) -> None:
    with visitor(browser, base) as page:
        page.goto(f"{base}entries.html#state=waiting")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
        page.keyboard.press("Enter")
        page.wait_for_url("**#main")
        assert page.locator("tbody tr").count() == 1
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main') !== null")
        page.keyboard.press("Shift+Tab")
        page.go_back()
        assert page.locator("tbody tr").count() == 1


def test_what_is_wider_than_the_window_scrolls_by_keyboard(browser: Browser, base: str) -> None:
    with visitor(browser, base) as page:
        page.set_viewport_size({"width": 390, "height": 900})
        for path in ("coverage.html", "pairs.html", "entries.html"):
            page.goto(base + path)
            page.locator(".scroll").first.focus()
            page.keyboard.press("ArrowRight")
            until(page, "document.activeElement.scrollLeft > 0")


def test_a_site_works_from_a_file(browser: Browser, folder: Path) -> None:
    with visitor(browser, folder.as_uri()) as page:
        for paths in kinds(folder).values():
            page.goto((folder / paths[0]).as_uri())
            assert page.evaluate("getComputedStyle(document.querySelector('.skip')).position") == "absolute"
        page.goto((folder / "coverage.html").as_uri())
        page.locator(".level1 a").first.click()
        page.wait_for_selector(".controls")
        assert page.locator("tbody tr").count() >= 1
        page.locator("tbody th a").first.click()
        page.wait_for_url("**/entries/*.html")
        page.go_back()
        assert page.locator("input[type=search]").count() == 1


def test_a_host_by_another_name_is_refused(base: str) -> None:
    port = int(base.split(":")[2].split("/")[0])
    answers = {}
    for host in (
        f"127.0.0.1:{port}",
        f"localhost:{port}",
        f"evil.example:{port}",
        "localhost",
        "evil.example",
        "127.0.0.1.evil:80",
    ):
        for method in ("GET", "HEAD"):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
                link.sendall(f"{method} / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
                answers[host, method] = link.makefile("rb").readline().split()[1]
    assert {host for (host, _), status in answers.items() if status != b"403"} == {
        f"127.0.0.1:{port}",
        f"localhost:{port}",
        "localhost",
    }


BAD = """<!doctype html><html lang="en"><head><title>x</title><script src="bad.js"></script></head>
<body><main><h1>x</h1><button></button><img src="https://evil.example/x.png" alt="x"><img src="gone.png" alt="x">
<script>console.log("inline")</script><b>WIDE</b></main></body></html>"""


def test_what_a_page_may_not_do_would_be_noticed(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(BAD.replace("WIDE", "x" * 2000))
    (tmp_path / "bad.js").write_text("alert('hello'); console.warn('loud'); null.length")
    base = served(tmp_path)
    context = browser.new_context()
    watch = Watch(base)
    watch.follow(context)
    page = context.new_page()
    page.goto(base)
    page.wait_for_timeout(100)
    assert "x" * 100 in (overflow(page) or "")
    assert any(fault.startswith("button-name") for fault in violations(page))
    context.close()
    said = "\n".join(watch.found)
    for expected in ("dialog: hello", "warning: loud", "fails: ", "inline script", "gets 404", "evil.example"):
        assert expected in said, said
