"""A secret that a customer overlooked, or a person typed, appears nowhere that the bot writes, but in the data."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.text.secrets import STAND_IN
from tests.e2e.bot import ADMITTED, BRANCH_LINE, EVALS, Bot, BotRun, customer_files, ids_of, platform_files
from tests.e2e.harness.gateway import Call
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read, sticky

LEDGER = "incumbent/ledger"
PASSWORD = "hunter2secret99"
_DRAWN = "".join(random.Random(21).choices(string.ascii_letters + string.digits, k=36))
KEY = "gh" + "p_" + _DRAWN
SIGNATURE = "sv=2024-11-04&sp=r&" + "si" + f"g={_DRAWN}{_DRAWN[:7]}%3D"


def with_words(words: dict[str, str]) -> dict[str, str]:
    """The branch line's files with ``words`` behind the only or first turn of these queries."""
    files = customer_files()
    data = yaml.safe_load(files[EVALS])
    for query in data["queries"]:
        if query["id"] in words:
            if "turns" in query:
                query["turns"][0] += words[query["id"]]
            else:
                query["query"] += words[query["id"]]
    return files | {EVALS: yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000)}


def all_queries(files: dict[str, str]) -> list[str]:
    return [str(query["id"]) for query in yaml.safe_load(files[EVALS])["queries"]]


def nowhere(world: World, secrets: Iterable[str], runs: Iterable[BotRun], log: str) -> None:
    """None of ``secrets`` in what the bot said, wrote or keeps; the entries of the set are data."""
    said: list[Any] = [log]
    for run in runs:
        said += [run.summary, run.outputs, [call.data for call in run.calls if is_word(call)]]
    for item in world.pages("/issues?state=all"):
        by_bot = [comment for comment in world.comments(item["number"]) if comment["user"]["login"] != CURATOR]
        said += [item["title"], item["labels"], by_bot]
        if "pull_request" not in item or item["user"]["login"].endswith("[bot]"):
            said.append(item["body"])
    if world.head(LEDGER) is not None:
        said.append(world.hosted.bare.git("log", "--patch", LEDGER))
    text = json.dumps(said, ensure_ascii=False)
    for secret in secrets:
        assert secret not in text, text[max(0, text.index(secret) - 300) : text.index(secret) + 100]


def is_word(call: Call) -> bool:
    """Whether a call writes something that people read, and not a file of the set."""
    return call.method != "GET" and "/git/" not in call.path


def test_a_password_in_a_query_is_told_by_nobody_and_kept_in_the_entry(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", platform_files(curators=f"[{CURATOR}]"))
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    given = customer_files()
    files = with_words(dict.fromkeys(all_queries(given), f" password: {PASSWORD}"))
    assert files[EVALS].count(PASSWORD) == len(all_queries(given))
    pull = world.open_pull_request("quillow", files)
    capsys.readouterr()
    runs = [bot.on("pull_request_target", number=pull.number)]
    report = runs[0].report["review"]
    assert all(STAND_IN in json.dumps(item["turns"]) for item in report["verdicts"])
    (late, *_) = ids_of(report, "waiting-for-review")
    comment = world.comment(CURATOR, pull.number, f"/incumbent accept {late}: it matters, token={PASSWORD}")
    runs.append(bot.on("issue_comment", number=pull.number, comment=comment))
    assert STAND_IN in sticky(world, pull.number)
    runs.append(merged(world, bot, pull.number))
    new = entries(world) - known
    assert late in {read(world, id)["source"]["item"] for id in new}
    assert all(PASSWORD in json.dumps(read(world, id)["turns"]) for id in new)
    runs.append(bot.on("schedule"))
    assert all(run.codes == (0, 0) for run in runs)
    nowhere(world, [PASSWORD], runs, "".join(capsys.readouterr()))


def test_a_row_with_a_key_is_named_by_its_place_and_never_enters(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    pull = world.open_pull_request(
        "quillow", with_words({"b01": f" with {KEY}", "b02": f" at https://x.example/a?{SIGNATURE}"})
    )
    capsys.readouterr()
    runs = [bot.on("pull_request_target", number=pull.number)]
    assert runs[0].outputs["conclusion"] == "failure"
    report = runs[0].report
    faults = [item for item in report["review"]["problems"] if "looks like a key" in item["message"]]
    assert [item["file"] for item in faults] == [EVALS, EVALS]
    assert all(item["line"] for item in faults)
    assert not {"b01", "b02"} & {item["id"] for item in report["review"]["verdicts"]}
    runs.append(merged(world, bot, pull.number))
    assert {read(world, id)["source"]["item"] for id in entries(world) - known} <= {ADMITTED}
    runs.append(bot.on("schedule"))
    log = "".join(capsys.readouterr())
    nowhere(world, [KEY, _DRAWN, SIGNATURE], runs, log)
    assert _DRAWN not in world.hosted.bare.git("log", "--patch", "main", "--", "regression_set")


@pytest.mark.exhaustive
def test_a_secret_in_names_and_files_is_told_by_nobody(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    files = customer_files()
    data = yaml.safe_load(files[EVALS])
    data["queries"][0]["id"] = f"token={PASSWORD}"
    data["queries"][1]["expected"] = {"response": f"password={PASSWORD}"}
    data["queries"][2][f"secret={PASSWORD}"] = 1
    agent = yaml.safe_load(files[f"{BRANCH_LINE}/agent.yaml"])
    agent["tools"][0]["description"] = f"Call it with api_key={PASSWORD}"
    agent[f"token={PASSWORD}"] = 1
    files[f"{BRANCH_LINE}/more.evals.yaml"] = f"eval_set: 1\nqueries: [{{id: x, query: 'password={PASSWORD}]\n"
    files[EVALS] = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000)
    pull = world.open_pull_request("quillow", files | {f"{BRANCH_LINE}/agent.yaml": yaml.safe_dump(agent)})
    capsys.readouterr()
    runs = [bot.on("pull_request_target", number=pull.number)]
    assert runs[0].outputs["conclusion"] == "failure"
    runs.append(merged(world, bot, pull.number))
    nowhere(world, [PASSWORD], runs, "".join(capsys.readouterr()))
