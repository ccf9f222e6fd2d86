"""The openai backend in batches, against a real server of the Batch API that behaves, and one that does not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from incumbent.classifier.backends import FindingFiles
from incumbent.classifier.caching_backend import RememberingBackend, through_batches
from incumbent.classifier.language_model import batch_endpoint
from incumbent.classifier.language_model.abilities import RememberedAbilities
from incumbent.classifier.language_model.batch_endpoint import BatchRecords
from incumbent.classifier.language_model.batched import BatchedBackend
from incumbent.classifier.model import Finding
from incumbent.classifier.usage import Usage
from incumbent.errors import IncompleteError, OutsideError, UsageError
from incumbent.files.user_cache import read_model
from tests.classifier.batch_server import BatchServer, Line
from tests.classifier.factories import answers, openai_settings, request
from tests.classifier.model_server import Model, Reply, completion, failure, is_probe
from tests.classifier.test_language_model import EVERYTHING, KEY, NAMES, SURE, values, voting

GOOD = Model(voting)
QUERIES = [request(f"Show bill {number}", capabilities=NAMES) for number in range(4)]
NEVER = 10**10


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is on this machine, whatever proxy the machine uses."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def good(body: dict[str, Any]) -> Reply:
    return GOOD(body, 0)


class Run:
    """One run of a command: a backend of its own on the folder that all runs share."""

    def __init__(self, server: BatchServer, folder: Path, **overrides: Any) -> None:
        batch = {"poll_seconds": 0.01, **overrides.pop("batch", {})}
        samples = overrides.pop("samples", 2)
        settings = openai_settings(endpoint=server.endpoint, batch=batch, **overrides)
        records = BatchRecords(folder, settings.batch.keep_days)
        inner = BatchedBackend(EVERYTHING, settings, samples, {"TEST_KEY": KEY}, RememberedAbilities(folder), records)
        self.backend = RememberingBackend(inner, EVERYTHING, FindingFiles(folder), settings.conditions)
        self.reports: list[str] = []

    def ask(
        self, queries: Sequence[Any] = QUERIES, *, wait: bool = False
    ) -> tuple[tuple[Finding, ...], IncompleteError | None]:
        return through_batches(self.backend, lambda: answers(self.backend, *queries), wait, self.reports.append)

    @property
    def usage(self) -> Usage:
        usage = self.backend.usage
        assert usage is not None
        return usage


def contents(folder: Path) -> str:
    """All that is kept, findings apart."""
    files = [path for path in folder.rglob("*.json") if "findings" not in path.parts]
    return "".join(path.read_text(encoding="utf-8") for path in files)


def test_queries_are_submitted_and_answered_in_a_later_run(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        found, pending = Run(server, tmp_path).ask()
        assert [finding.shortfall for finding in found] == ["it waits for the answers of a batch"] * 4
        assert "4 queries submitted to 127.0.0.1 as batch_1; run the same command again" in str(pending)
        assert "bill" not in contents(tmp_path)
        assert KEY not in contents(tmp_path)

        _, pending = Run(server, tmp_path).ask()
        assert "batch_1 in_progress, 0 of 4 done; run the same command again" in str(pending)

        server.finish()
        last = Run(server, tmp_path)
        found, pending = last.ask()
        assert pending is None
        assert [values(finding) for finding in found] == [SURE] * 4
        assert (last.usage.requests, last.usage.tokens_in) == (0, 400)

        # What is known is asked of nobody, and nothing is left here or there.
        before = len(server.asked)
        assert [values(finding) for finding in Run(server, tmp_path).ask()[0]] == [SURE] * 4
        assert len(server.asked) == before
    assert len(server.submitted) == 4
    assert server.files == {}
    assert not list((tmp_path / "batches").glob("*.json"))


def test_a_line_is_what_would_be_asked_without_batches(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask(QUERIES[:1])
    (line,) = server.submitted
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
    body = line["body"]
    assert (body["model"], body["n"], body["seed"], body["temperature"]) == ("test-model", 2, 7, 0.7)
    assert line["custom_id"].endswith("-0")


def test_waiting_goes_on_until_all_answers_are_there(tmp_path: Path) -> None:
    with BatchServer(good, at_once=True) as server:
        run = Run(server, tmp_path)
        found, pending = run.ask(wait=True)
        assert pending is None
        assert [values(finding) for finding in found] == [SURE] * 4
        assert run.usage.requests - run.usage.probing == 4


def test_samples_are_lines_of_their_own_where_the_endpoint_gives_one_answer_a_request(tmp_path: Path) -> None:
    able = Model(voting, several=False)
    with BatchServer(lambda body: able(body, 0), at_once=True) as server:
        found, _ = Run(server, tmp_path, samples=3).ask(QUERIES[:2], wait=True)
    assert [values(finding) for finding in found] == [SURE] * 2
    assert [line["body"]["seed"] for line in server.submitted] == [7, 8, 9] * 2
    assert len({line["custom_id"] for line in server.submitted}) == 6


def test_batches_are_bounded_and_few_are_open_at_a_time(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        _, pending = Run(server, tmp_path, batch={"requests": 1, "in_flight": 2}).ask()
        assert "2 of 4 queries submitted" in str(pending)
        assert "in_flight" in str(pending)
        server.finish()
        _, pending = Run(server, tmp_path, batch={"requests": 1, "in_flight": 2}).ask()
        assert "2 queries submitted" in str(pending)
        server.finish()
        found, pending = Run(server, tmp_path).ask()
    assert (pending, [values(finding) for finding in found]) == (None, [SURE] * 4)
    assert [len(server.lines(batch)) for batch in server.batches.values()] == [1] * 4


def test_no_more_is_submitted_than_the_budget_allows(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask(QUERIES[:1])  # finds out what the endpoint can do
        run = Run(server, tmp_path, budget={"requests": 2, "tokens": 1_000_000})
        _, pending = run.ask()
        assert "2 of 3 queries submitted" in str(pending)
        assert run.usage.requests == 2
    assert len(server.submitted) == 3


def test_a_sample_that_does_not_fit_is_asked_for_once_more(tmp_path: Path) -> None:
    def script(body: dict[str, Any]) -> Reply:
        if is_probe(body) or body.get("n", 1) == 1 or "bill 1" not in str(body["messages"][-1]):
            return good(body)
        return completion(json.dumps(voting(body)), "nonsense")

    with BatchServer(script, at_once=True) as server:
        found, _ = Run(server, tmp_path).ask(wait=True)
    assert [values(finding) for finding in found] == [SURE] * 4
    assert [(line["custom_id"][-2:], "n" in line["body"]) for line in server.submitted][4:] == [("-2", False)]


@pytest.mark.parametrize("ending", ["failed", "expired", "cancelled"])
def test_what_a_batch_left_out_is_submitted_once_more_and_then_reported(ending: str, tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask()
        server.finish(ending)
        again = Run(server, tmp_path)
        _, pending = again.ask()
        left = 4 if ending == "failed" else 3
        assert f"{left} queries submitted" in str(pending)
        assert any(f"batch_1 ended as {ending}" in reports for reports in again.reports)
        assert "IGNORE" not in "".join(again.reports)
        server.finish(ending)
        found, pending = Run(server, tmp_path).ask()
        assert pending is None
        short = [finding.shortfall for finding in found if finding.shortfall]
        assert len(short) == (4 if ending == "failed" else 2)
        assert all(why.startswith("0 of 2 samples are valid") for why in short)
        assert ("invalid_json_line" in "".join(again.reports)) == (ending == "failed")
    assert len(server.submitted) == 4 + left


def test_an_expired_batch_is_made_up_for_by_the_next(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask()
        server.finish("expired")
        Run(server, tmp_path).ask()
        server.finish()
        found, pending = Run(server, tmp_path).ask()
    assert (pending, [values(finding) for finding in found]) == (None, [SURE] * 4)
    assert len(server.submitted) == 7


def test_a_query_that_nobody_answers_is_not_submitted_again(tmp_path: Path) -> None:
    def script(body: dict[str, Any]) -> Reply:
        if "bill 1" in str(body["messages"][-1]):
            return failure(400, code="content_filter")
        return good(body)

    with BatchServer(script, at_once=True) as server:
        found, pending = Run(server, tmp_path).ask(wait=True)
    assert pending is None
    assert "content filter refused the query" in (found[1].shortfall or "")
    assert [values(finding) for finding in (found[0], *found[2:])] == [SURE] * 3
    assert len(server.submitted) == 4


# What no run may pay for twice.


def test_a_batch_whose_creation_was_not_confirmed_is_found_in_the_list(tmp_path: Path) -> None:
    def lost(method: str, path: str, number: int) -> Reply | None:
        return failure(500) if (method, path) == ("POST", "batches") else None

    with BatchServer(good, replies=lost, made_anyway=True) as server:
        _, pending = Run(server, tmp_path, retries=2).ask()
        assert "as batch_1" in str(pending)
        server.finish()
        found, _ = Run(server, tmp_path).ask()
    assert [values(finding) for finding in found] == [SURE] * 4
    assert server.asked.count("POST batches") == 1


def test_a_batch_that_may_have_been_made_is_looked_for_before_anything_is_submitted(tmp_path: Path) -> None:
    def lost(method: str, path: str, number: int) -> Reply | None:
        if (method, path) == ("POST", "batches"):
            return Reply(body=b"{", cut_short=True) if number == 1 else None
        return failure(500) if (method, path, number) == ("GET", "batches", 1) else None

    with BatchServer(good, replies=lost, made_anyway=True) as server:
        with pytest.raises(OutsideError):
            Run(server, tmp_path).ask()
        _, pending = Run(server, tmp_path).ask()
        assert "batch_1 in_progress" in str(pending)
    assert len(server.batches) == 1


def test_a_batch_that_was_not_made_is_submitted_by_the_next_run(tmp_path: Path) -> None:
    def lost(method: str, path: str, number: int) -> Reply | None:
        return failure(500) if (method, path, number) == ("POST", "batches", 1) else None

    with BatchServer(good, replies=lost) as server:
        with pytest.raises(OutsideError, match="not known whether the batch was made: run the same command again"):
            Run(server, tmp_path).ask()
        _, pending = Run(server, tmp_path).ask()
        assert "4 queries submitted" in str(pending)
    assert len(server.batches) == 1


@pytest.mark.parametrize("moment", ["POST files", "POST batches"])
def test_a_run_that_is_killed_leaves_what_the_next_one_goes_on_with(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed once the endpoint has heard a request, and before anything is noted of its answer."""

    class KilledError(BaseException):
        """The end of the process."""

    with BatchServer(good) as server:
        with monkeypatch.context() as patch:
            method = "upload" if moment == "POST files" else "create"
            place = f"incumbent.classifier.language_model.batch_endpoint.BatchEndpoint.{method}"
            inner: Callable[..., str] = getattr(
                __import__("incumbent.classifier.language_model.batch_endpoint", fromlist=["x"]).BatchEndpoint, method
            )

            def killed(*given: Any) -> str:
                inner(*given)
                raise KilledError

            patch.setattr(place, killed)
            with pytest.raises(KilledError):
                Run(server, tmp_path).ask()
        Run(server, tmp_path).ask()
        server.finish()
        found, _ = Run(server, tmp_path).ask()
    assert [values(finding) for finding in found] == [SURE] * 4
    assert len(server.batches) == 1


def test_other_commands_find_the_batch_of_the_same_queries(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask(QUERIES[:3])
        _, pending = Run(server, tmp_path).ask(QUERIES[1:])
        assert "1 queries submitted" in str(pending)
        server.finish()
        Run(server, tmp_path).ask(QUERIES[1:])
        assert len(list((tmp_path / "batches").glob("*.json"))) == 1  # its first query is not settled yet
        Run(server, tmp_path).ask(QUERIES)
    assert len(server.submitted) == 4
    assert not list((tmp_path / "batches").glob("*.json"))


def test_two_commands_do_not_submit_at_once(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        run = Run(server, tmp_path)
        with (
            BatchRecords(tmp_path, 30).submitting(),
            pytest.raises(OutsideError, match="another command is submitting"),
        ):
            run.ask()
    assert server.batches == {}


def test_a_batch_that_another_command_is_submitting_is_not_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command looks when the record is there, and the endpoint does not yet list the batch."""
    create = batch_endpoint.BatchEndpoint.create

    def slow(*given: Any) -> str:
        with pytest.raises(OutsideError, match="another command is submitting"):
            Run(server, tmp_path).ask()
        assert len(list((tmp_path / "batches").glob("*.json"))) == 1
        return create(*given)

    with BatchServer(good) as server:
        with monkeypatch.context() as patch:
            patch.setattr(batch_endpoint.BatchEndpoint, "create", slow)
            Run(server, tmp_path).ask()
        _, pending = Run(server, tmp_path).ask()
        assert "batch_1 in_progress" in str(pending)
    assert len(server.batches) == 1


def test_a_record_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask()
        (file,) = (tmp_path / "batches").glob("*.json")
        file.write_text("{}", encoding="utf-8")
        with pytest.raises(UsageError, match="paid for twice"):
            Run(server, tmp_path).ask()
    assert len(server.batches) == 1


def test_a_record_that_another_command_removes_meanwhile_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(path: Path, *about: Any) -> Any:
        path.unlink()
        return read_model(path, *about)

    with BatchServer(good) as server:
        Run(server, tmp_path).ask()
        monkeypatch.setattr(batch_endpoint, "read_model", late)
        assert BatchRecords(tmp_path, 30).load("0" * 24, 0.0) == []


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a right there")
def test_a_record_that_leads_nowhere_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "x.json").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="paid for twice"):
        BatchRecords(tmp_path, 30).load("0" * 24, 0.0)


def test_old_records_are_forgotten(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask()
        (file,) = (tmp_path / "batches").glob("*.json")
        os.utime(file, (0, 0))
        _, pending = Run(server, tmp_path).ask()
        assert "4 queries submitted" in str(pending)


def test_a_folder_that_cannot_be_written_submits_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with BatchServer(good) as server, pytest.raises(OutsideError, match="cannot be written"):
        Run(server, tmp_path / "file" / "below").ask()
    assert server.batches == {}


# What endpoints send.


def strange(lines: list[Line]) -> list[Line]:
    return [*lines, *(line | {"custom_id": f"{'f' * 24}-{number}"} for number, line in enumerate(lines))]


def doubled(lines: list[Line]) -> list[Line]:
    return [*lines, lines[0]]


def too_many(lines: list[Line]) -> list[Line]:
    for line in lines:
        body = line["response"]["body"]
        body["choices"] = [
            *body["choices"],
            *({"message": {"content": json.dumps({"call": False})}} for _ in range(200)),
        ]
    return lines


def another_model(lines: list[Line]) -> list[Line]:
    lines[0]["response"]["body"]["model"] = "cheap\x1b[2J-model"
    return lines


def all_of_another_model(lines: list[Line]) -> list[Line]:
    for line in lines:
        line["response"]["body"]["model"] = "deployed"
    return lines


def dated(lines: list[Line]) -> list[Line]:
    for number, line in enumerate(lines):
        line["response"]["body"]["model"] = f"test-model-2026-01-0{number + 1}"
    return lines


def oversized(lines: list[Line]) -> bytes:
    return b"".join(
        json.dumps(line | ({"padding": "x" * 50_000} if number == 0 else {})).encode() + b"\n"
        for number, line in enumerate(lines)
    )


def nulls(lines: list[Line]) -> list[Any]:
    return [
        None,
        [],
        1,
        "x",
        {},
        {"custom_id": None},
        {"custom_id": lines[0]["custom_id"], "response": None},
        *lines[1:],
    ]


def odd_errors(lines: list[Line]) -> list[Line]:
    first, *others = lines
    return [{"custom_id": first["custom_id"], "response": {"status_code": "no"}, "error": {"code": 7}}, *others]


@pytest.mark.parametrize(
    ("twist", "again", "reports"),
    [
        (strange, 0, "4 answers to requests that are not in it"),
        (doubled, 1, "1 requests that were answered more than once"),
        (too_many, 0, None),
        (another_model, 1, "1 answers that name another model than 'test-model'"),
        (all_of_another_model, 0, "all answers name the model 'deployed'"),
        (dated, 0, None),
        (oversized, 1, "1 lines that are too long"),
        (nulls, 1, "lines that are no answers"),
        (odd_errors, 1, None),
        (lambda lines: b"<html>" * 10, 4, "1 lines that are no answers"),
        (lambda lines: b"[\n" * 100_000, 4, "too many of its lines are no answers"),
        (lambda lines: b"[" * 40_000, 4, "too long"),
        (lambda lines: b"\xff\xfe\x00" * 100, 4, "lines that are no answers"),
        (lambda lines: b"", 4, None),
        (lambda lines: [], 4, None),
    ],
    ids=[
        *("strange ids", "doubled ids", "too many choices", "another model", "deployed", "dated", "oversized", "nulls"),
        *("odd errors", "html", "garbage", "one long line", "no text", "empty", "no lines"),
    ],
)
def test_answers_that_misbehave_are_bounded_and_reported(
    twist: Callable[[list[Line]], Any], again: int, reports: str | None, tmp_path: Path
) -> None:
    with BatchServer(good, twist=twist) as server:
        Run(server, tmp_path).ask()
        server.finish()
        run = Run(server, tmp_path, response_bytes=30_000)
        found, pending = run.ask()
        assert (pending is not None) == (again > 0)
        assert len(server.submitted) == 4 + again
        server.twist = lambda lines: lines
        server.finish()
        found, pending = Run(server, tmp_path).ask()
    assert (pending, [values(finding) for finding in found]) == (None, [SURE] * 4)
    said = "".join(run.reports)
    assert (reports or "") in said
    assert "\x1b" not in said
    assert reports is not None or not said


Replies = Callable[[str, str, int], Reply | None]


def only(method: str, path: str, reply: Reply) -> Replies:
    return lambda asked, place, number: reply if (asked, place) == (method, path) else None


def _body(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode())


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        (only("POST", "files", failure(404)), "may have no Batch API"),
        (only("POST", "files", failure(413)), "HTTP 413"),
        (only("POST", "files", _body({"id": "../../v1/models"})), "without an id that can be used"),
        (only("POST", "files", Reply(body=b"[" * 50_000)), "without an id that can be used"),
        (only("POST", "files", Reply(307, headers={"Location": "http://127.0.0.1:1/"})), "another address"),
        (only("POST", "batches", failure(404)), "may have no Batch API"),
        (only("POST", "batches", failure(429)), "limits the rate"),
        (only("POST", "batches", failure(401)), "refuses the key"),
    ],
)
def test_an_endpoint_that_takes_no_batch_ends_the_run_and_leaves_nothing(
    replies: Replies, why: str, tmp_path: Path
) -> None:
    with BatchServer(good, replies=replies) as server, pytest.raises(OutsideError, match=why) as caught:
        Run(server, tmp_path).ask()
    assert KEY not in str(caught.value)
    assert not list((tmp_path / "batches").glob("*.json"))
    assert server.batches == {}


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        (only("GET", "batches/ID", failure(404)), "does not know the batch batch_1"),
        (only("GET", "batches/ID", failure(500)), "failed"),
        (only("GET", "batches/ID", _body({"id": "batch_2", "status": "completed"})), "tells of another one"),
        (only("GET", "batches/ID", _body([])), "tells of another one"),
        (only("GET", "files/ID/content", failure(404)), "to pay for its requests again instead, remove"),
        (only("GET", "files/ID/content", Reply(body=b"x" * 100, cut_short=True)), "cannot be reached"),
        (only("GET", "files/ID/content", Reply(body=b" " * 300_000)), "raise classifier.openai.batch.result_bytes"),
        (only("GET", "files/ID/content", Reply(302, headers={"Location": "http://127.0.0.1:1/"})), "another address"),
    ],
)
def test_answers_that_cannot_be_had_are_kept_for_a_later_run(replies: Replies, why: str, tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask()
        server.finish()
        server.replies = replies
        run = Run(server, tmp_path, batch={"result_bytes": 200_000})
        with pytest.raises(OutsideError, match=why):
            run.ask()
        assert len(list((tmp_path / "batches").glob("*.json"))) == 1
        server.replies = lambda *_: None
        found, pending = Run(server, tmp_path).ask()
    assert (pending, [values(finding) for finding in found]) == (None, [SURE] * 4)
    assert len(server.batches) == 1


def test_a_list_that_does_not_end_is_not_taken_for_one_without_our_batch(tmp_path: Path) -> None:
    def endless(method: str, path: str, number: int) -> Reply | None:
        if (method, path) == ("POST", "batches"):
            return failure(500)
        return _body({"data": [{"id": "x", "metadata": []}], "has_more": True}) if path == "batches" else None

    with BatchServer(good, replies=endless, made_anyway=True) as server:
        for _ in range(2):
            with pytest.raises(OutsideError, match="does not end"):
                Run(server, tmp_path).ask()
    assert len(server.batches) == 1
    assert server.asked.count("GET batches") == 40


def test_a_state_that_nobody_knows_is_no_end(tmp_path: Path) -> None:
    with BatchServer(good) as server:
        Run(server, tmp_path).ask()
        shown = server.batches["batch_1"]["shown"]
        shown |= {"status": "done\x1b[2J", "request_counts": {"completed": -1, "total": "x"}}
        _, pending = Run(server, tmp_path).ask()
        assert "batch_1 done2J, 0 of 4 done" in str(pending)
        run = Run(server, tmp_path, batch={"wait_hours": 0.00001})
        _, pending = run.ask(wait=True)
        assert "is still done2J" in str(pending)


def test_an_endpoint_that_refuses_what_it_was_said_to_do_is_asked_what_it_can(tmp_path: Path) -> None:
    poor = Model(voting, several=False, formats=frozenset())
    with BatchServer(good) as server:
        Run(server, tmp_path).ask()
        server.answer = lambda body: poor(body, 0)
        server.finish()
        _, pending = Run(server, tmp_path).ask()
        assert "4 queries submitted" in str(pending)
        assert all("n" not in line["body"] and "response_format" not in line["body"] for line in server.submitted[4:])
        server.finish()
        found, pending = Run(server, tmp_path).ask()
    assert (pending, [values(finding) for finding in found]) == (None, [SURE] * 4)
