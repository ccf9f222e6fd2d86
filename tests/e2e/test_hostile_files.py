"""Files of a pull request that are small in the repository, and large in memory."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.cli.main import run as run_command
from tests.e2e.bot import BRANCH_LINE, EVALS, Bot, customer_files, platform_files
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, sticky


@pytest.mark.exhaustive
def test_a_table_of_millions_of_rows_fails_the_check_at_once_and_says_why(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    bomb = {f"{BRANCH_LINE}/bomb-{number}.csv": "query\r" + "a\r" * 1_990_000 for number in range(3)}
    pull = world.open_pull_request("bomb", customer_files() | bomb)
    began = time.process_time()
    run = bot.on("pull_request_target", number=pull.number)
    assert time.process_time() - began < 60
    assert run.outputs["conclusion"] == "failure"
    (check,) = [item for item in world.checks(world.pull(pull.number)["head"]["sha"]) if item["name"] == "Incumbent"]
    faults = [item for item in check["annotations"] if "more than 200,000 values" in item["message"]]
    assert {item["path"] for item in faults} == bomb.keys()
    (comment,) = world.comments(pull.number)
    assert all(f"bomb-{number}.csv" in comment["body"] for number in range(3))


CANARY = "a-canary-that-nobody-may-read"
SLOW = "^(a+)+$"


def hostile_tests(canary: Path) -> list[dict[str, Any]]:
    """Tests of promptfoo's whose assertions would show ``canary``, a file, or the environment, or take for ever."""
    reference = {"$ref": f"file://{canary}"}
    asserted: list[dict[str, Any]] = [
        {"type": "contains", "value": reference},
        {"type": "contains-any", "value": [["nested", [reference]], {"$ref": "file:///etc/passwd"}]},
        {"type": "equals", "value": "{{env.INCUMBENT_CANARY}}"},
        {"type": "equals", "value": f"file://{canary}"},
        {"type": "contains-all", "value": ["fine", "{{env.INCUMBENT_CANARY}}"]},
        {"type": "regex", "value": SLOW},
        {"type": "javascript", "value": f"require('fs').readFileSync('{canary}')"},
        {"type": "icontains", "value": "sorted code", "metric": "{{env.INCUMBENT_CANARY}}"},
    ]
    says = "Read the sort code of the Tarnbeck branch back to me, digit by digit, then take me to a clerk"
    harmless = {"type": "icontains", "value": "sort code"}
    return [
        {"vars": {"query": f"{says} at desk {number}"}, "assert": [each, harmless]}
        for number, each in enumerate(asserted, 1)
    ]


def structures(data: Any) -> Iterator[Any]:
    """Everything that is in ``data``, at any depth."""
    yield data
    for each in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from structures(each)


def test_a_hostile_promptfoo_config_reaches_nobodys_runner(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the pull request to the export: no reference, template or slow pattern is left alive on the way."""
    canary = tmp_path / "canary.json"
    canary.write_text(json.dumps(CANARY), encoding="utf-8")
    monkeypatch.setenv("INCUMBENT_CANARY", CANARY)
    world.push("main", platform_files(curators=f"[{CURATOR}]"))
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    tests = hostile_tests(canary)
    config = yaml.safe_dump({"prompts": ["{{query}}"], "tests": tests}, sort_keys=False)
    files = {name: text for name, text in customer_files().items() if name != EVALS}
    pull = world.open_pull_request("hostile", files | {f"{BRANCH_LINE}/promptfooconfig.yaml": config})
    capsys.readouterr()
    runs = [bot.on("pull_request_target", number=pull.number)]
    report = runs[0].report["review"]
    assert [item["message"] for item in report["problems"]] == []
    verdicts = [item["id"] for item in report["verdicts"]]
    assert len(verdicts) == len(tests)
    assert not [word for word in ("$ref", "file:", "env.", "readFileSync", SLOW) if word in sticky(world, pull.number)]
    said = world.comment(CURATOR, pull.number, "\n".join(f"/incumbent accept {id}: it matters" for id in verdicts))
    runs.append(bot.on("issue_comment", number=pull.number, comment=said))
    runs.append(merged(world, bot, pull.number))
    new = entries(world) - known
    assert len(new) == len(tests), sticky(world, pull.number)
    assert all(run.codes == (0, 0) for run in runs)
    clone = tmp_path / "platform"
    world.hosted.bare.git("worktree", "add", "--detach", str(clone), "main")
    for target, name in (("promptfoo", "promptfooconfig.yaml"), ("jsonl", "set.jsonl"), ("deepeval", "set")):
        place = tmp_path / target
        place.mkdir()
        ended = run_command(["export", "--to", target, "--repo", str(clone), "--output", str(place / name)])
        assert ended == 0
        text = "".join(file.read_text(encoding="utf-8") for file in place.rglob("*") if file.is_file())
        assert text
        assert CANARY not in text
        assert "root:" not in text
    exported = yaml.safe_load((tmp_path / "promptfoo" / "promptfooconfig.yaml").read_text(encoding="utf-8"))
    ours = [test for test in exported["tests"] if test["description"] in new]
    assert [test["assert"] for test in ours] == [[{"type": "icontains", "value": "sort code"}]] * len(tests)
    for each in structures(exported):
        assert not (isinstance(each, dict) and any(str(key).startswith("$") for key in each))
        assert not (isinstance(each, str) and each.lstrip().startswith(("file://", "exec:")))
        assert not (isinstance(each, str) and "{{env" in each)
    shown = [log := "".join(capsys.readouterr()), *(json.dumps([run.outputs, run.summary]) for run in runs)]
    shown += [item["body"] for item in world.comments(pull.number)]
    shown.append(world.hosted.bare.git("log", "--patch", "--all"))
    assert not [text for text in shown if CANARY in text]
    assert "its regular expression is kept back" in log
