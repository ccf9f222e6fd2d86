"""Workflows run by act: each job with its own token, hand-over between jobs, what the log tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.harness.act import OURS, Runner
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.people import CUSTOMER, JOB
from tests.e2e.harness.world import World

WORKFLOW = """\
name: Review
on:
  pull_request_target: {}
permissions: {}
jobs:
  publish:
    needs: analyse
    if: ${{ !cancelled() && needs.analyse.result == 'success' }}
    runs-on: ubuntu-latest
    permissions: {pull-requests: write}
    outputs: {seen: "${{ steps.take.outputs.seen }}"}
    steps:
      - uses: actions/download-artifact@22
        with: {name: document, path: taken}
      - id: take
        env: {VERDICT: "${{ needs.analyse.outputs.verdict }}", TOKEN: "${{ github.token }}"}
        run: |
          call() {
            curl --silent --output /dev/null --write-out "%{http_code}" --request POST --data "$2" \\
              --header "Authorization: Bearer $TOKEN" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$1"
          }
          echo "seen=$(cat taken/document.json) $(echo "$VERDICT" | tr '\\n' '|') $GITHUB_ACTOR" >> "$GITHUB_OUTPUT"
          echo "comment=$(call issues/1/comments '{"body": "Hello"}')" >> "$GITHUB_OUTPUT"
          echo "blob=$(call git/blobs '{"content": "x"}')" >> "$GITHUB_OUTPUT"
  analyse:
    runs-on: ubuntu-latest
    permissions: {contents: read}
    outputs: {verdict: "${{ steps.judge.outputs.verdict }}"}
    steps:
      - id: judge
        uses: incumbent/incumbent@0123456789012345678901234567890123456789
        with: {token: "${{ github.token }}"}
      - uses: actions/cache@33
        with: {path: nowhere, key: one}
      - uses: actions/upload-artifact@11
        with: {name: document, path: document.json, if-no-files-found: error}
"""
ACTION = """\
name: Judge
description: An action to test with
inputs:
  token: {description: Token, required: true}
outputs:
  verdict: {description: Verdict, value: "${{ steps.inner.outputs.verdict }}"}
runs:
  using: composite
  steps:
    - uses: actions/checkout@44
      with: {ref: "${{ github.event.pull_request.base.sha }}", path: base, token: "${{ inputs.token }}"}
    - id: inner
      shell: bash
      env: {TOKEN: "${{ inputs.token }}"}
      run: |
        status=$(curl --silent --output /dev/null --write-out "%{http_code}" --request POST \\
          --header "Authorization: Bearer $TOKEN" --data '{"body": "Hello"}' \\
          "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/1/comments")
        echo "comment by analyse: $status; workspace: $(ls)"
        echo "# Report of $(cat base/README.md)" >> "$GITHUB_STEP_SUMMARY"
        printf 'verdict<<END\\n%s\\nsecond line ${{ github.event.number }} $%s\\nEND\\n' \\
          'admit' '{{ github.token }}' >> "$GITHUB_OUTPUT"
        echo '{"format": 1}' > document.json
"""
PATH = ".github/workflows/review.yml"


@pytest.fixture
def review(world: World, runner: Runner, tmp_path: Path) -> Runner:
    """A repository with the workflow and a pull request, and the action it uses."""
    action = tmp_path / "action"
    action.mkdir()
    (action / "action.yml").write_text(ACTION, encoding="utf-8")
    world.push("main", {PATH: WORKFLOW, "README.md": "Platform"})
    world.open_pull_request("topic", {"eval_sets/a/b/evals.yaml": "x: 1\n"})
    return Runner(runner.folder, {OURS: action})


def test_jobs_hand_over_and_each_may_do_what_its_permissions_say(world: World, review: Runner) -> None:
    event = world.event("pull_request_target", number=1)
    run = review.run(world, PATH, "pull_request_target", event)
    assert run.ok, run.explain()
    assert list(run.jobs) == ["analyse", "publish"]
    analyse, publish = run.jobs.values()
    assert "comment by analyse: 403; workspace: base" in analyse.log.steps["judge"].text
    assert analyse.summary == "# Report of Platform\n"
    verdict = "admit\nsecond line 1 ${{ github.token }}"
    assert analyse.outputs == {"verdict": verdict}, "text that looks like an expression is handed on as text"
    taken = publish.log.steps["take"]
    assert (taken.outcome, taken.outputs["comment"], taken.outputs["blob"]) == ("success", "201", "403")
    seen = '{"format": 1} ' + verdict.replace("\n", "|") + f"| {CUSTOMER}"
    assert publish.outputs == {"seen": seen}
    assert [comment["user"]["login"] for comment in world.comments(1)] == [JOB]
    assert {command.name for command in publish.log.commands} == {"set-output"}


@pytest.mark.exhaustive
def test_a_run_that_dies_between_two_jobs_can_be_taken_up(world: World, review: Runner) -> None:
    event = world.event("pull_request_target", number=1)
    died = review.run(world, PATH, "pull_request_target", event, jobs=["analyse"])
    assert list(died.jobs) == ["analyse"]
    assert world.comments(1) == []
    whole = review.run(world, PATH, "pull_request_target", event, earlier=died)
    assert whole.jobs["publish"].result == "success"
    assert len(world.comments(1)) == 1


@pytest.mark.exhaustive
def test_a_failed_job_stops_those_that_need_it(world: World, review: Runner) -> None:
    world.push("main", {PATH: WORKFLOW.replace("path: document.json", "path: nothing.json")})
    run = review.run(world, PATH, "pull_request_target", world.event("pull_request_target", number=1))
    assert not run.ok
    assert {name: job.result for name, job in run.jobs.items()} == {"analyse": "failure", "publish": "skipped"}


@pytest.mark.exhaustive
def test_a_merge_group_runs_on_its_own_commit(world: World, runner: Runner) -> None:
    job = "{runs-on: ubuntu-latest, steps: [{id: say, run: 'echo \"at=$GITHUB_SHA $GITHUB_REF\" >> $GITHUB_OUTPUT'}]}"
    world.push("main", {PATH: f"on: merge_group\npermissions: {{}}\njobs: {{check: {job}}}\n"})
    number = world.open_pull_request("topic", {"x": "1"}).number
    head, reference = world.queue(number)
    run = runner.run(world, PATH, "merge_group", world.event("merge_group", head=head, head_ref=reference))
    assert run.ok, run.explain()
    assert run.jobs["check"].log.steps["say"].outputs == {"at": f"{head} {reference}"}


def test_an_action_that_nothing_stands_for_is_named(world: World, review: Runner) -> None:
    world.push("main", {PATH: WORKFLOW.replace("actions/cache@33", "someone/else@v1")})
    with pytest.raises(HarnessError, match="nothing here stands for someone/else@v1"):
        review.run(world, PATH, "pull_request_target", world.event("pull_request_target", number=1))


def test_a_job_without_permissions_is_refused(world: World, review: Runner) -> None:
    world.push(
        "main", {PATH: WORKFLOW.replace("permissions: {}\n", "").replace("    permissions: {contents: read}\n", "")}
    )
    with pytest.raises(HarnessError, match="analyse has no permissions block"):
        review.run(world, PATH, "pull_request_target", world.event("pull_request_target", number=1))
