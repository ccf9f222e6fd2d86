"""The page of what a pull request would change: from the job that writes alone, and said where it can be had."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.bot import ADMITTED, EXCLUDED, WAITING, Bot, Started, customer_files, ids_of, platform_files
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.test_costs import publish
from tests.site.test_site import links_of

LINK = re.compile(r"the artifact `incumbent-comparison` at the end of \[this run\]\((\S+)\)")


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "bot")


def site_of(started: Started) -> Path:
    """Where the run is to write the page."""
    folder = started.place / "site"
    started.publish.environment["INCUMBENT_SITE"] = str(folder)
    return folder


def test_the_page_says_what_the_comment_says_and_the_comment_where_it_is(world: World, bot: Bot) -> None:
    """The job that writes makes it with its few packages."""
    pull = world.open_pull_request("quillow", customer_files())
    started = bot.start("pull_request_target", number=pull.number)
    folder = site_of(started)
    assert started.analyse.run() == 0
    assert not folder.exists(), "only the job that writes renders"
    done = publish(started.publish)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (folder / "index.html").read_bytes()
    assert not links_of(page).active
    assert {path.name for path in (folder / "assets").iterdir()} == {"site.css", "site.js", "icon.svg"}
    (comment,) = world.comments(pull.number)
    report = json.loads(started.outputs["report"])
    (headline,) = re.findall(r"(?m)^### (.*)$", comment["body"])[:1]
    assert headline in page.decode()
    assert re.findall(r"<dt>([^<]+)</dt><dd><b>(\d+)</b>", page.decode())[:3] == [
        ("Entries that enter", "1"),
        ("Entries that leave", "0"),
        ("Queries that need a person", str(len(ids_of(report["review"], "waiting-for-review", len(WAITING))))),
    ]
    for name in (ADMITTED, *WAITING, EXCLUDED):
        assert f'<th scope="row">{name}<' in page.decode()
    found = LINK.search(comment["body"])
    assert found is not None
    assert found[1].endswith(f"/actions/runs/{started.publish.environment['GITHUB_RUN_ID']}")


@pytest.mark.exhaustive
def test_the_page_follows_what_people_decide(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    (comment,) = world.comments(pull.number)
    assert LINK.search(comment["body"]) is None, "this workflow asks for no page"
    said = world.comment(CURATOR, pull.number, f"/incumbent accept {WAITING[0]}")
    started = bot.start("issue_comment", number=pull.number, comment=said)
    folder = site_of(started)
    assert (started.analyse.run(), started.publish.run()) == (0, 0)
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "<dt>Entries that enter</dt><dd><b>2</b>" in page


@pytest.mark.exhaustive
def test_what_the_head_changes_by_hand_is_not_counted_and_what_it_removes_is(world: World, bot: Bot) -> None:
    names = world.hosted.bare.git("ls-tree", "-r", "--name-only", "main", "regression_set/").split()
    gone, changed = sorted(name for name in names if name.endswith(".yaml"))[:2]
    text = world.hosted.bare.git("show", f"main:{changed}")
    files = {gone: None, changed: f"{text}\n# by hand\n", "regression_set/new.yaml": text}
    pull = world.open_pull_request("hand", files)
    started = bot.start("pull_request_target", number=pull.number)
    folder = site_of(started)
    assert started.analyse.run() == 0
    started.publish.run()
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "<dt>Entries that leave</dt><dd><b>1</b>" in page
    assert Path(gone).stem in page
    assert "2 files of the set are added or changed by hand, and not counted here." in page
    assert "regression_set/new.yaml" in page


def test_without_being_asked_for_there_is_no_page_and_no_word_of_one(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    (comment,) = world.comments(pull.number)
    assert LINK.search(comment["body"]) is None


@pytest.mark.exhaustive
def test_where_there_is_nothing_to_say_there_is_no_page(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("docs", {"docs/notes.md": "x"})
    started = bot.start("pull_request_target", number=pull.number)
    folder = site_of(started)
    assert (started.analyse.run(), started.publish.run()) == (0, 0)
    assert not folder.exists()
    assert world.comments(pull.number) == []
