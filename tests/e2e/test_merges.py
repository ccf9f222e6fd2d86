"""By whichever button a pull request of several commits is merged, the same enters and the same is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import ADMITTED, BRANCH_LINE, EVALS, WAITING, Bot, customer_files, platform_files
from tests.e2e.final_state import differences, final_state
from tests.e2e.harness.merging import MergeMethod
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read, sticky

OTHER_LINE = f"{BRANCH_LINE}-two"


def in_steps() -> list[dict[str, str]]:
    """An eval set in three commits: half of it in words that the second changes, more of it, and the rest elsewhere.

    The last one touches nothing that the first two bring.
    """
    files = customer_files()
    head, *queries = re.split(r"(?m)^(?=  - id: )", files[EVALS])
    half, rest = queries[:6], queries[6:10]
    early = "".join([head, *half]).replace("Saturday", "Sunday").replace("Mill Lane", "Weir Street")
    other = {name.replace(BRANCH_LINE, OTHER_LINE): text for name, text in files.items()}
    return [
        files | {EVALS: early},
        {EVALS: "".join([head, *half, *rest])},
        other | {f"{OTHER_LINE}/evals.yaml": "".join([head, *queries[10:]])},
    ]


def outcome(world: World, folder: Path, method: MergeMethod) -> tuple[dict[str, Any], set[str]]:
    """What is left of three commits that were reviewed and merged so, and the queries of them that entered."""
    world.push("main", platform_files())
    bot = Bot(world, folder / method)
    known = entries(world)
    for number, step in enumerate(in_steps(), 1):
        world.push("quillow", step, message=f"Step {number}")
    pull = world.open_pull_request("quillow")
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    base = world.head("main")
    assert merged(world, bot, pull.number).codes == (0, 0)
    if method == "rebase":
        lines = world.hosted.bare.git("log", "--reverse", "--format=%s", f"{base}..main").splitlines()
        assert lines[:3] == ["Step 1", "Step 2", "Step 3"]
    new = [read(world, entry)["source"] for entry in entries(world) - known]
    assert {source["pull_request"] for source in new} == {pull.number}
    assert f"{len(new)} of its queries is in the regression set" in sticky(world, pull.number)
    left = final_state(world)
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}
    return left, {f"{source['agent']} {source['item']}" for source in new}


def test_a_rebase_of_three_commits_ends_as_a_merge_commit_does(
    make_world: Callable[..., World], tmp_path: Path
) -> None:
    merged_left, merged_in = outcome(make_world(), tmp_path, "merge")
    rebased_left, rebased_in = outcome(make_world(), tmp_path, "rebase")
    assert rebased_in == merged_in == {f"branch-line {ADMITTED}"}, (
        "what the first commit brought and the second changed"
    )
    assert differences(merged_left | {"commits": []}, rebased_left | {"commits": []}) == []


@pytest.mark.exhaustive
def test_a_rebase_whose_last_commit_brings_no_eval_set_keeps_asking(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    bot.on("schedule")
    world.push("quillow", customer_files())
    world.push("quillow", {"README.md": "words\n"})
    pull = world.open_pull_request("quillow")
    bot.on("pull_request_target", number=pull.number)
    before = world.head("main")
    after = world.merge(pull.number, method="rebase")
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    known = entries(world)
    comment = world.comment(CURATOR, pull.number, f"/incumbent accept {WAITING[0]} it matters")
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 0)
    assert len(entries(world) - known) == 1
