"""Real data of people in an eval set: it waits for a person, is shown nowhere, and its author gets a text to commit."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.e2e.bot import ADMITTED, BRANCH_LINE, EVALS, WAITING, Bot, customer_files, ids_of, platform_files
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read, sticky
from tests.e2e.test_secrets import nowhere, with_words

CARD = "4539 1488 0343 6467"
MAIL = "kim.lee@northwind.com"
VALUES = (CARD, CARD.replace(" ", ""), MAIL, "northwind.com")
WORDS = f" Charge {CARD} and write to {MAIL}."
PRIVATE = {ADMITTED: WORDS}


def codes(report: dict[str, object], id: str) -> list[str]:
    verdicts = report["verdicts"]
    assert isinstance(verdicts, list)
    return next([*item["reasons"]] for item in verdicts if item["id"] == id)


def allowing(customer: str, *values: str) -> dict[str, str]:
    """The platform's files, whose config allows ``values`` to ``customer``."""
    files = platform_files(curators=f"[{CURATOR}]")
    config = files["config/curation.yaml"]
    assert "  allowed: {}" in config
    files["config/curation.yaml"] = config.replace("  allowed: {}", f"  allowed: {{{customer}: {[*values]}}}")
    return files


def test_personal_data_goes_to_review_and_is_shown_nowhere(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", platform_files(curators=f"[{CURATOR}]"))
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    pull = world.open_pull_request("quillow", with_words(PRIVATE))
    capsys.readouterr()
    runs = [bot.on("pull_request_target", number=pull.number)]
    report = runs[0].report["review"]
    assert codes(report, ADMITTED) == ["NEW_COVERAGE", "PERSONAL_DATA"]
    assert ADMITTED in ids_of(report, "waiting-for-review")
    assert report["personal_data"] == {ADMITTED: {"card": 1, "e-mail": 1}}
    comment = sticky(world, pull.number)
    assert "It holds a payment card number and an e-mail address." in comment
    assert "#### Personal data (1)" in comment
    assert f"`{EVALS}:" in comment
    assert "Charge 4242 4242 4242 4242 and write to person1@example.com." in comment
    assert f"`incumbent scan {BRANCH_LINE} --replace`" in comment
    # Nobody accepts it: it does not enter, and what people say of it is kept without a value.
    said = world.comment(CURATOR, pull.number, f"/incumbent reject {ADMITTED}: {MAIL} is a real person")
    runs.append(bot.on("issue_comment", number=pull.number, comment=said))
    assert "[e-mail 1] is a real person" in sticky(world, pull.number)
    runs.append(merged(world, bot, pull.number))
    assert {read(world, id)["source"]["item"] for id in entries(world) - known} == set()
    runs.append(bot.on("schedule"))
    assert all(run.codes == (0, 0) for run in runs)
    nowhere(world, VALUES, runs, "".join(capsys.readouterr()))


@pytest.mark.exhaustive
def test_what_the_author_commits_instead_enters_by_itself(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    files = with_words(PRIVATE)
    pull = world.open_pull_request("quillow", files)
    bot.on("pull_request_target", number=pull.number)
    block = sticky(world, pull.number).split("```text\n")[1].split("\n```")[0]
    data = yaml.safe_load(files[EVALS])
    next(query for query in data["queries"] if query["id"] == ADMITTED)["query"] = block
    world.push("quillow", {EVALS: yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000)})
    report = bot.on("pull_request_target", action="synchronize", number=pull.number).report["review"]
    assert codes(report, ADMITTED) == ["NEW_COVERAGE"]
    assert report["personal_data"] == {}
    assert "#### Personal data" not in sticky(world, pull.number)
    merged(world, bot, pull.number)
    assert [read(world, id)["turns"] for id in entries(world) - known] == [[block]]


@pytest.mark.exhaustive
def test_what_the_config_allows_the_customer_enters_by_itself(world: World, tmp_path: Path) -> None:
    world.push("main", allowing("quillow-savings", "@northwind.com", CARD))
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    pull = world.open_pull_request("quillow", with_words(PRIVATE))
    report = bot.on("pull_request_target", number=pull.number).report["review"]
    assert codes(report, ADMITTED) == ["NEW_COVERAGE"]
    assert report["personal_data"] == {}
    assert f"Charge {CARD} and write to {MAIL}." in sticky(world, pull.number)
    merged(world, bot, pull.number)
    assert {read(world, id)["source"]["item"] for id in entries(world) - known} == {ADMITTED}


@pytest.mark.exhaustive
def test_what_a_pull_request_itself_or_another_customer_is_allowed_does_not_count(world: World, tmp_path: Path) -> None:
    world.push("main", allowing("tarnbeck-bank", CARD))
    bot = Bot(world, tmp_path / "runs")
    own = allowing("quillow-savings", "@northwind.com", CARD)["config/curation.yaml"]
    pull = world.open_pull_request("quillow", with_words(PRIVATE) | {"config/curation.yaml": own})
    report = bot.on("pull_request_target", number=pull.number).report["review"]
    assert codes(report, ADMITTED) == ["NEW_COVERAGE", "PERSONAL_DATA"]
    assert MAIL not in sticky(world, pull.number)


def test_a_curator_lets_it_in_as_it_is_written(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files(curators=f"[{CURATOR}]"))
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    files = with_words(dict.fromkeys((ADMITTED, *WAITING), WORDS))
    pull = world.open_pull_request("quillow", files)
    report = bot.on("pull_request_target", number=pull.number).report["review"]
    assert "NEW_COVERAGE" not in codes(report, WAITING[0])  # it waits for another reason, too
    comment = world.comment(CURATOR, pull.number, f"/incumbent accept {ADMITTED}: made up, says {MAIL}")
    bot.on("issue_comment", number=pull.number, comment=comment)
    assert "made up, says [e-mail 1]" in sticky(world, pull.number)
    merged(world, bot, pull.number)
    (new,) = entries(world) - known
    entry = read(world, new)
    assert entry["turns"][0].endswith(WORDS)
    assert (entry["admitted"]["by"], entry["admitted"]["reasons"]) == (CURATOR, ["NEW_COVERAGE", "PERSONAL_DATA"])
    # An entry that is settled asks nobody again.
    again = bot.on("schedule")
    assert again.codes == (0, 0)
    assert entries(world) - known == {new}


def test_what_is_pushed_unseen_before_the_merge_waits_too(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    world.push("quillow", with_words(PRIVATE))
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert entries(world) == known
    text = sticky(world, pull.number)
    assert "INCLUDE review NEW_COVERAGE PERSONAL_DATA" in text
    assert "person1@example.com" in text
    assert MAIL not in text
