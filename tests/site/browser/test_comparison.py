"""The page of what a merge would change, in a browser: of any width, light and dark, and without JavaScript."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from incumbent.site.audience import Audience
from incumbent.site.comparison_page import render_comparison
from incumbent.site.folder import write_folder
from tests.site.browser.chromium import WIDTHS, overflow, screenshot, served, violations, visitor
from tests.site.test_comparison import comparison

SIZES = """() => [...document.querySelectorAll('main *')].map((node) => [
    parseFloat(getComputedStyle(node).fontSize), node.closest('dl.tiles') !== null])"""


def test_the_page_of_a_merge_is_whole_at_every_size_and_says_the_most_important_first(
    browser: Browser, tmp_path: Path
) -> None:
    write_folder(tmp_path / "site", render_comparison(comparison(), Audience()))
    base = served(tmp_path / "site")
    faults = []
    with visitor(browser, base) as page:
        page.goto(f"{base}index.html")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                faults += [f"{scheme} {width}: too wide: {wide}" for wide in [overflow(page)] if wide]
                screenshot(page, f"comparison-{scheme}-{width}")
            faults += violations(page)
        sizes = page.evaluate(SIZES)
        largest = max(size for size, _ in sizes)
        assert all(in_tile for size, in_tile in sizes if size == largest)
        page.set_viewport_size({"width": 390, "height": 844})
        box = page.locator("dl.tiles").first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 844, "what enters, leaves and needs a person is seen without scrolling"
    assert faults == []


def test_without_javascript_every_verdict_can_be_read(browser: Browser, tmp_path: Path) -> None:
    write_folder(tmp_path / "site", render_comparison(comparison(), Audience()))
    base = served(tmp_path / "site")
    with visitor(browser, base, java_script_enabled=False) as page:
        page.goto(f"{base}index.html")
        assert page.locator("#verdict-table tbody tr").count() == len(comparison().verdicts)
