"""What a report says of personal data, and what its author is offered instead of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.classifier.backends import make_backend
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.review import Platform, Review, load_platform, review
from incumbent.pipeline.scan import scan_folder
from incumbent.pipeline.submission import read_package
from incumbent.report.review_json import ReviewOutput
from incumbent.report.review_markdown import render_markdown
from incumbent.report.tables import Detail
from incumbent.taxonomy.config import PersonalData
from incumbent.text.personal_data.detector import Detector
from tests.factories import REPOSITORY, SHIPPED

CARD = "4539 1488 0343 6467"
MAIL = "kim.lee@northwind.com"
AGENT = "agent: 1\nname: Parcel desk\nplatform: x\n"
EVALS = f"""\
eval_set: 1
queries:
  - {{id: q1, query: "Refund card {CARD} and write to {MAIL} as a table."}}
  - id: q2
    turns: ["I am {MAIL}", "Write to jo@adatum.com, not to {MAIL} ```` <!-- incumbent --> @team"]
  - {{id: q3, query: Where is my parcel?, expected: {{answer: "Ask {MAIL}"}}}}
  - {{id: q4, query: Compare the opening hours of all depots.}}
"""


@pytest.fixture(scope="module")
def platform() -> Platform:
    return load_platform(WorkingTree(REPOSITORY))


def reviewed(folder: Path, platform: Platform, evals: str = EVALS) -> Review:
    for name, text in {"agent.yaml": AGENT, "evals.yaml": evals}.items():
        (folder / name).write_text(text, encoding="utf-8")
    backend = make_backend(platform.config.classifier, platform.taxonomy)
    package = read_package(WorkingTree(folder), "acme", "desk", "eval_sets/acme/desk", SHIPPED.limits)
    return review(platform, package, backend, lambda done, total: None)


def test_a_comment_names_kinds_and_places_and_offers_texts_without_a_value(tmp_path: Path, platform: Platform) -> None:
    found = reviewed(tmp_path, platform)
    text = render_markdown(found)
    assert CARD not in text
    assert "northwind" not in text
    assert "| **`q1`** | `evals.yaml:3` | a payment card number and an e-mail address |" in text
    assert "| **`q2`** | `evals.yaml:4` | 2 e-mail addresses |" in text
    assert "an e-mail address; not in its turns alone: the command finds all of it |" in text
    assert "`incumbent scan eval_sets/acme/desk --replace`" in text
    assert "```text\nRefund card 4242 4242 4242 4242 and write to person1@example.com as a table.\n```" in text
    second = "Write to person2@example.com, not to person1@example.com ```` <\u200b!-- incumbent --> @team"
    assert f"`q2`, turn 2:\n\n`````text\n{second}\n`````" in text
    assert text.count("`q4`") <= 1


def test_the_comment_offers_what_the_command_writes(tmp_path: Path, platform: Platform) -> None:
    evals = f"""\
eval_set: 1
queries:
  - {{id: q1, query: Write to jo@adatum.com about my parcel}}
  - {{id: q2, turns: ["I am {MAIL}", "Tell jo@adatum.com and {MAIL}"], expected: {{jo@adatum.com: told}}}}
"""
    text = render_markdown(reviewed(tmp_path, platform, evals))
    (change,) = scan_folder(WorkingTree(tmp_path), SHIPPED.limits, Detector()).changes
    for line in ("Write to person1@example.com about", "Tell person2@example.com and person1@example.com"):
        assert line in text
        assert line in (change.content or "")
    assert "{person2@example.com: told}" in (change.content or "")


def test_a_comment_that_is_cut_still_says_how_to_replace(tmp_path: Path, platform: Platform) -> None:
    text = render_markdown(reviewed(tmp_path, platform), Detail(folds=False, rows=1))
    assert "#### Personal data (3)" in text
    assert "`incumbent scan eval_sets/acme/desk --replace`" in text
    assert "```text" not in text


def test_a_long_text_is_left_to_the_command(tmp_path: Path, platform: Platform) -> None:
    long = f'eval_set: 1\nqueries:\n  - {{id: q1, query: "Write to {MAIL}{" and so on" * 300}"}}\n'
    text = render_markdown(reviewed(tmp_path, platform, long))
    assert "`q1`: too long to be shown here; the command replaces it." in text
    assert "```text" not in text


def test_json_has_the_kinds_of_each_query(tmp_path: Path, platform: Platform) -> None:
    output = ReviewOutput.of(reviewed(tmp_path, platform))
    assert output.personal_data == {"q1": {"card": 1, "e-mail": 1}, "q2": {"e-mail": 2}, "q3": {"e-mail": 1}}


def test_what_is_allowed_to_the_customer_is_not_personal(tmp_path: Path, platform: Platform) -> None:
    allowed = PersonalData(allowed={"acme": (CARD, "@northwind.com"), "other": ("jo@adatum.com",)})
    lenient = Platform(
        taxonomy=platform.taxonomy,
        config=platform.config.model_copy(update={"personal_data": allowed}).under(
            platform.taxonomy.uncombinable, platform.taxonomy.trial
        ),
        regression_set=platform.regression_set,
    )
    found = reviewed(tmp_path, lenient)
    assert ReviewOutput.of(found).personal_data == {"q2": {"e-mail": 1}}
    codes = {verdict.id: [reason.value for reason in verdict.reasons] for verdict in found.verdicts}
    assert "PERSONAL_DATA" not in codes["q1"]
