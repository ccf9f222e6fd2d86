"""How long a run waits for GitHub, and when it gives up."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
import yaml

from incumbent.errors import OutsideError
from incumbent.github.client import GitHubClient, RefusedError
from incumbent.github.patient_retry import JOB_SECONDS, TooLongError, WaitBudget
from incumbent.pipeline.setup_files import setup_file

PRIMARY = "API rate limit exceeded for installation ID 7."
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


def test_patience_ends_before_the_shipped_workflow_ends_the_job() -> None:
    jobs = yaml.safe_load(setup_file("incumbent.yml"))["jobs"].values()
    assert {60 * job["timeout-minutes"] for job in jobs} == {JOB_SECONDS}


class Limits:
    """A GitHub on loopback whose next answers are ``refusals``: a message, and headers."""

    def __init__(self) -> None:
        self.refusals: list[tuple[str, dict[str, str]]] = []
        self.asked = 0
        limits = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                limits.asked += 1
                message, headers = limits.refusals.pop(0) if limits.refusals else ("", {})
                body = json.dumps({"message": message} if message else {"default_branch": "main"}).encode()
                self.send_response(403 if message else 200)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing on standard error."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def client(self) -> GitHubClient:
        return GitHubClient("o/r", "t", f"http://127.0.0.1:{self.server.server_address[1]}", "bot")


@pytest.fixture
def limits() -> Iterator[Limits]:
    made = Limits()
    thread = Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("message", "header", "wait"),
    [
        (PRIMARY, "X-RateLimit-Reset", 3600),
        (SECONDARY, "Retry-After", 3600),
    ],
)
def test_a_limit_beyond_the_jobs_time_ends_the_run_at_once(
    limits: Limits, message: str, header: str, wait: int
) -> None:
    until = wait if header == "Retry-After" else int(time.time()) + wait
    limits.refusals = [(message, {header: str(until)})] * 9
    begun = time.monotonic()
    with pytest.raises(OutsideError, match="asks to wait for 60 minutes, longer than a run does") as caught:
        limits.client().default_branch()
    assert time.monotonic() - begun < 5
    assert (limits.asked, caught.value.exit_code) == (1, 4)
    assert not isinstance(caught.value, RefusedError), "what is barred is another thing"


def test_a_short_limit_is_waited_for(limits: Limits) -> None:
    limits.refusals = [(SECONDARY, {"Retry-After": "1"})]
    assert limits.client().default_branch() == "main"
    assert limits.asked == 2


def test_all_waits_come_out_of_one_patience() -> None:
    patience = WaitBudget(100)
    patience.spend(60)
    with pytest.raises(TooLongError):
        patience.spend(60)
    patience.spend(40)
