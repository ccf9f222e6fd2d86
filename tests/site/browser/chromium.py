"""A real browser, what it does that it should not, and what axe-core says of a page."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Playwright, Request, Response, sync_playwright

from incumbent.site.serve import serve
from tests.factories import REPOSITORY

SWITCH: Final = "INCUMBENT_BROWSER"
"""The environment variable that, set to ``required``, turns a skip into a failure."""
SCREENSHOTS: Final = "INCUMBENT_SCREENSHOTS"
"""The environment variable that names a folder to write screenshots to."""
AXE: Final = REPOSITORY / "dev" / "site" / "node_modules" / "axe-core" / "axe.min.js"
NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
WIDTHS: Final = (390, 1280, 2560)
"""A phone, a screen, a wall."""


def demand(reason: str | None) -> None:
    """Skip the test for ``reason``; fail it where a browser is required."""
    if reason is None:
        return
    if os.environ.get(SWITCH) == "required":
        pytest.fail(f"{SWITCH}=required, but {reason}")
    pytest.skip(f"{reason} ({SWITCH}=required makes this a failure)")


def browser_path() -> str:
    """Where the browser is; skips without one."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    demand(None if path else f"no browser is on PATH ({', '.join(NAMES)}): `sh dev/browser.sh` installs one on Debian")
    return str(path)


@contextmanager
def running() -> Iterator[Browser]:
    """A browser that finds no other machine."""
    path = browser_path()
    with sync_playwright() as player:
        browser = _launch(player, path)
        yield browser
        browser.close()


def _launch(player: Playwright, path: str) -> Browser:
    alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    # Containers have no user namespaces, which its sandbox needs; its pages are the tests' own.
    return player.chromium.launch(executable_path=path, args=["--no-sandbox", "--force-color-profile=srgb", alone])


def served(folder: Path) -> str:
    """The address of ``folder``, served as `incumbent site --serve` does for as long as this process runs."""
    ready: Queue[str] = Queue()
    threading.Thread(target=serve, args=(folder, 0, ready.put), daemon=True).start()
    return ready.get(timeout=30)


@dataclass
class Watch:
    """What pages below ``base`` did that they should not: messages, errors, dialogs, requests elsewhere or in vain."""

    base: str
    found: list[str] = field(default_factory=list)

    def follow(self, context: BrowserContext) -> None:
        """Note what the pages of ``context`` do from now on."""
        context.on("console", lambda message: self.found.append(f"says {message.type}: {message.text}"))
        context.on("weberror", lambda fault: self.found.append(f"fails: {fault.error}"))
        context.on("dialog", self._dialog)
        context.on("request", self._request)
        context.on("requestfailed", self._failed)
        context.on("response", self._response)

    def _dialog(self, dialog: Dialog) -> None:
        self.found.append(f"opens a dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith(self.base):
            self.found.append(f"asks for {request.url}")

    def _failed(self, request: Request) -> None:
        # A visitor who goes on to another page gets no more of this one.
        if request.failure != "net::ERR_ABORTED":
            self.found.append(f"cannot get {request.url}: {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.found.append(f"gets {response.status} for {response.url}")


@contextmanager
def visitor(browser: Browser, base: str, **options: Any) -> Iterator[Page]:
    """A page of a fresh visitor, who must have seen nothing wrong in the end."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
    context.set_default_timeout(60_000)
    watch = Watch(base)
    watch.follow(context)
    page = context.new_page()
    yield page
    context.close()
    assert watch.found == [], watch.found


def until(page: Page, expression: str) -> None:
    """Wait until ``expression`` is true in the page; its policy forbids Playwright's own way to wait."""
    end = time.monotonic() + 30
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


def overflow(page: Page) -> str | None:
    """The element that makes the document wider than the window; ``None``: it is not."""
    found: str | None = page.evaluate(
        """() => {
            const width = document.documentElement.clientWidth
            if (document.documentElement.scrollWidth <= width && document.body.scrollWidth <= width) return null
            const clips = (node) => node && node !== document.body &&
                (getComputedStyle(node).overflowX !== 'visible' || clips(node.parentElement))
            const wide = [...document.body.querySelectorAll('*')].filter(
                (node) => node.getBoundingClientRect().right > width + 1 && !clips(node.parentElement))
            return wide.length ? wide.at(-1).outerHTML.slice(0, 200) : 'the body'
        }"""
    )
    return found


def violations(page: Page) -> list[str]:
    """What axe-core finds in the page: rule, element and why.

    It is evaluated through the protocol of the developer tools, since the policy of the page lets no other script in.
    """
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": _axe(), "returnByValue": False})
    options = {"resultTypes": ["violations"], "preload": False}
    answer = session.send(
        "Runtime.evaluate",
        {"expression": f"axe.run(document, {json.dumps(options)})", "awaitPromise": True, "returnByValue": True},
    )
    session.detach()
    return [
        f"{rule['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for rule in answer["result"]["value"]["violations"]
        for node in rule["nodes"]
    ]


def _axe() -> str:
    demand(None if AXE.is_file() else "axe-core is missing: `sh dev/end_to_end.sh` installs it")
    return AXE.read_text(encoding="utf-8")


def screenshot(page: Page, name: str) -> None:
    """Keep a picture of the page as ``name``, where a folder is named for them."""
    folder = os.environ.get(SCREENSHOTS)
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
