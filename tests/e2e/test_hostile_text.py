"""Hostile text through git, the API and the tokens of the shipped workflow: queries, files, tools and commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.e2e.bot import BRANCH_LINE, Bot, BotRun, customer_files, platform_files
from tests.e2e.harness.people import CURATOR, JOB, STRANGER
from tests.e2e.harness.world import World
from tests.github.hostile import HOSTILE
from tests.github.test_hostile_text import MARKER, REPLY, alive_in_a_log, dead, plain_line

LEDGER = "incumbent/ledger"
NAMES = (
    "mention",
    "team mention",
    "closing keyword",
    "commit reference",
    "bare address",
    "html closing",
    "html comment",
    "image",
    "link over pieces",
    "our marker on a line",
    "table row",
    "twice escaped pipe",
    "backslash at the end",
    "backticks in the middle",
    "100 backticks before a mention",
    "fence that ends ours",
    "html details",
    "direction U+202E",
    "colour of a terminal",
    "tag characters",
    "command after a line",
    "old error within words",
    "output delimiter",
    "formula",
    "accept all after words",
)
"""At least twenty, one of each kind."""


def files(texts: list[str]) -> dict[str, str]:
    """The example agent in these words, an eval set of them, and a file that cannot be read for them."""
    queries = [{"id": f"h{place:02d}", "turns": [text, f"then: {text}"]} for place, text in enumerate(texts)]
    queries += [{"id": text, "query": f"A question by a name of its own, the {place}th"} for place, text in ids(texts)]
    given = customer_files()
    agent = yaml.safe_load(given[f"{BRANCH_LINE}/agent.yaml"])
    agent |= {"name": texts[0], "platform": texts[1], "description": texts[4]}
    for place, tool in enumerate(agent["tools"]):
        tool |= {"name": texts[place], "description": texts[place + 5]}
    strange = texts[0].replace("/", "_")
    return given | {
        f"{BRANCH_LINE}/agent.yaml": json.dumps(agent, ensure_ascii=False),
        f"{BRANCH_LINE}/hostile.evals.yaml": json.dumps({"eval_set": 1, "queries": queries}, ensure_ascii=False),
        f"{BRANCH_LINE}/{strange}.evals.yaml": json.dumps({"eval_set": 1, "queries": [{texts[0]: texts[1]}]}),
    }


def ids(texts: list[str]) -> list[tuple[int, str]]:
    """Those that may be ids: in one line of what can be seen, each once."""
    return [(place, text) for place, text in enumerate(texts) if text.isprintable()]


def all_dead(world: World, number: int, run: BotRun, log: str) -> None:
    bodies = [item["body"] for item in world.comments(number) if item["user"]["login"] == JOB]
    assert [body for body in bodies if MARKER.match(body)] == bodies[:1]
    for body in bodies:
        dead(body, MARKER if MARKER.match(body) else REPLY)
    dead(run.summary, None)
    (check,) = [item for item in world.checks(world.pull(number)["head"]["sha"]) if item["name"] == "Incumbent"][-1:]
    dead(check["output"]["summary"], None)
    plain_line(check["output"]["title"])
    for item in check["annotations"]:
        plain_line(item["title"])
        for line in item["message"].split("\nFix: "):
            plain_line(line)
    assert set(run.outputs) == {"conclusion", "report"}
    assert not any(alive_in_a_log(line) for line in re.split(r"[\r\n]", log))
    assert world.head(LEDGER) is not None
    assert all(label.startswith("incumbent: ") for label in world.labels(number))


def test_a_pull_request_full_of_hostile_text_comes_out_dead(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", platform_files(curators=f"[{CURATOR}]"))
    bot = Bot(world, tmp_path / "runs")
    texts = [HOSTILE[name] for name in NAMES]
    pull = world.open_pull_request(
        "fixes-#1-@octocat", files(texts), title="fixes #1 @octocat", body="/incumbent accept all"
    )
    capsys.readouterr()
    run = bot.on("pull_request_target", number=pull.number)
    all_dead(world, pull.number, run, capsys.readouterr().out)
    verdicts = run.report["review"]["verdicts"]
    assert {f"h{place:02d}" for place in range(len(texts))} <= {item["id"] for item in verdicts}
    assert {text for item in verdicts for text in item["turns"]} >= set(texts)
    assert run.outputs["conclusion"] == "failure"
    waiting = next(item["id"] for item in verdicts if item["outcome"] == "waiting-for-review")
    said = [f"/incumbent {text}" for text in texts if not text.startswith("/")]
    world.comment(STRANGER, pull.number, "\n".join(["/incumbent run", *said[:5]]))
    world.comment(CURATOR, pull.number, "/incumbent accept " + "\n/incumbent reject ".join(said[:8]))
    comment = world.comment(CURATOR, pull.number, f"/incumbent accept {waiting}: fixes #1, says @octocat | `<b>` \\|")
    again = bot.on("issue_comment", number=pull.number, comment=comment)
    all_dead(world, pull.number, again, capsys.readouterr().out)
    assert [item["reason"] for item in again.report["decisions"]] == ["fixes #1, says @octocat | `<b>` \\|"]
    assert len([item for item in world.comments(pull.number) if item["user"]["login"] == JOB]) == 3
