"""``incumbent scan``: what is in the regression set and in eval sets already, shown without it and replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import CARD_LINE, tree

MAIL = "kim.lee@northwind.com"
CARD = "4539 1488 0343 6467"


def allow(platform: Path, text: str) -> None:
    config = platform / "config" / "curation.yaml"
    content = config.read_text(encoding="utf-8")
    assert "  allowed: {}" in content
    config.write_text(content.replace("  allowed: {}", f"  allowed: {text}"), encoding="utf-8")


def with_mail(platform: Path) -> Path:
    """The first query of the card line names somebody, and expects an answer that does."""
    file = platform / CARD_LINE / "evals.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    for query in data["queries"]:
        if "query" in query:
            query["query"] += f" Write to {MAIL}."
            query["expected"] = {"response": f"Wrote to {MAIL}, card {CARD}"}
    file.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return file


def test_a_clean_repository_ends_with_0(platform: Path, incumbent: Incumbent) -> None:
    for arguments in ((), (platform / "eval_sets",), (platform / CARD_LINE,)):
        found = incumbent("scan", *arguments, "--repo", platform)
        assert (found.code, found.err) == (0, "")
        assert "0 with findings" in found.out


def test_an_eval_set_is_scanned_and_replaced(platform: Path, incumbent: Incumbent) -> None:
    file = with_mail(platform)
    call = ("scan", platform / CARD_LINE, "--repo", platform)
    before = tree(platform)
    found = incumbent(*call)
    assert found.code == 1
    assert "\tan e-mail address\t" not in found.out
    assert "a payment card number and an e-mail address" in found.out
    assert "northwind" not in found.out + found.err
    assert tree(platform) == before
    output = incumbent(*call, "--json").json
    assert output == incumbent(*call, "--json").json
    assert output["found"][0]["personal_data"] == {"card": 1, "e-mail": 1}
    assert output["found"][0]["line"] is not None
    replaced = incumbent(*call, "--replace")
    assert replaced.code == 0
    assert f"Replaced in\n  {file}" in replaced.out
    text = file.read_text(encoding="utf-8")
    assert "northwind" not in text
    assert "Wrote to person1@example.com, card 4242 4242 4242 4242" in text
    assert incumbent(*call).code == 0


def test_secrets_and_rows_that_cannot_be_read_are_left(platform: Path, incumbent: Incumbent) -> None:
    file = platform / CARD_LINE / "evals.yaml"
    rows = "  - {id: z1, query: 'password: hunter2secret9'}\n  - {id: z2, query: 7}\n"
    text = file.read_text(encoding="utf-8") + rows
    file.write_text(text, encoding="utf-8")
    found = incumbent("scan", platform / CARD_LINE, "--replace", "--repo", platform)
    assert found.code == 1
    assert "what looks like a secret" in found.out
    assert "hunter2" not in found.out + found.err
    assert "Secrets are not replaced" in found.out
    assert "must be a string" in found.err
    assert file.read_text(encoding="utf-8") == text


def test_what_the_config_allows_a_customer_enters_and_is_not_found(platform: Path, incumbent: Incumbent) -> None:
    with_mail(platform)
    allow(platform, f"{{tarnbeck-bank: ['@northwind.com', '{CARD}']}}")
    assert incumbent("scan", platform / "eval_sets", "--repo", platform).code == 0
    assert incumbent("scan", platform / CARD_LINE, "--customer", "other", "--repo", platform).code == 1
    review = incumbent("review", platform / CARD_LINE, "--repo", platform)
    assert "PERSONAL_DATA" not in review.out
    assert MAIL in review.out


def test_the_set_is_replaced_classified_again_and_still_settles_its_eval_set(
    platform: Path, incumbent: Incumbent
) -> None:
    with_mail(platform)
    allow(platform, "{'*': ['@northwind.com', '4539148803436467']}")
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0
    entry = next(
        path
        for path in sorted((platform / "regression_set").glob("*.yaml"))
        if MAIL in str(yaml.safe_load(path.read_text(encoding="utf-8"))["turns"])
    )
    entries = sorted((platform / "regression_set").glob("*.yaml"))
    others = [path for path in entries if path != entry and b"northwind" in path.read_bytes()]
    assert others
    assert incumbent("evict", others[0].stem, "--reason", "x", "--repo", platform).code == 0
    query = yaml.safe_load(entry.read_text(encoding="utf-8"))["source"]["item"]
    said = incumbent("correct", platform / CARD_LINE, query, "+spell-out", "--repo", platform)
    assert said.code == 0, said.err
    config = platform / "config" / "curation.yaml"
    config.write_text(
        config.read_text(encoding="utf-8").replace("{'*': ['@northwind.com', '4539148803436467']}", "{}"), "utf-8"
    )
    found = incumbent("scan", "--repo", platform, "--json")
    assert found.code == 1
    places = {item["file"].removeprefix(f"{platform.as_posix()}/").rpartition("/")[0] for item in found.json["found"]}
    assert places == {"regression_set", "regression_set/evicted", "config/corrections"}
    assert "northwind" not in found.out
    replaced = incumbent("scan", "--replace", "--repo", platform)
    assert replaced.code == 0, replaced.err
    assert f"Reclassified because the text changed: {entry.stem}" in replaced.out
    assert not any(b"northwind" in text for path, text in tree(platform).items() if not path.startswith("eval_sets"))
    now = yaml.safe_load(entry.read_text(encoding="utf-8"))
    assert "person1@example.com" in str(now["turns"])
    assert now["expected"] == {"response": "Wrote to person1@example.com, card 4242 4242 4242 4242"}
    assert incumbent("validate", "--repo", platform).code == 0
    # A curator's correction follows its text, in its file and into the entry.
    assert now["scores"]["speech.spell-out"] == 1.0
    # With the eval set replaced too, each query is known again.
    assert incumbent("scan", platform / "eval_sets", "--replace", "--repo", platform).code == 0
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    assert review["settled"][query] == entry.stem
    assert review["edited"] == {}
    assert incumbent("scan", "--repo", platform).code == 0


@pytest.mark.parametrize("arguments", [("--replace",), ()])
def test_a_folder_without_eval_sets_is_said(arguments: tuple[str, ...], platform: Path, incumbent: Incumbent) -> None:
    found = incumbent("scan", platform / "taxonomy", *arguments, "--repo", platform)
    assert found.code == 1
    assert "fix:" in found.err


def test_reasons_are_kept_without_values_and_older_ones_are_named(platform: Path, incumbent: Incumbent) -> None:
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0
    first, second, third = sorted((platform / "regression_set").glob("*.yaml"))[:3]
    for entry, call in ((first, "pin"), (second, "evict"), (third, "quarantine")):
        said = incumbent(call, entry.stem, "--reason", f"asked by {MAIL}, password: hunter2secret9", "--repo", platform)
        assert said.code == 0, said.err
    evicted = platform / "regression_set" / "evicted" / second.name
    kept = "asked by [e-mail 1], password[looks like a secret]"
    assert yaml.safe_load(first.read_text(encoding="utf-8"))["pin"] == kept
    assert yaml.safe_load(third.read_text(encoding="utf-8"))["quarantined"] == kept
    assert yaml.safe_load(evicted.read_text(encoding="utf-8"))["evicted"]["reason"] == kept
    again = incumbent(
        "evict", second.stem, "--reason", f"asked by {MAIL}, password: hunter2secret9", "--repo", platform
    )
    assert "already" in again.out
    assert incumbent("scan", "--repo", platform).code == 0
    for path in (first, evicted, third):
        text = path.read_text(encoding="utf-8").replace("[e-mail 1], password[looks like a secret]", MAIL)
        path.write_text(text, encoding="utf-8")
    found = incumbent("scan", "--replace", "--repo", platform, "--json")
    assert found.code == 1
    assert {(item["id"], item["personal_data"]["e-mail"]) for item in found.json["found"]} == {
        (path.stem, 1) for path in (first, second, third)
    }
    assert all("write another one" in item["to_do"] and item["line"] for item in found.json["found"])
    said = incumbent("scan", "--replace", "--repo", platform)
    assert "write another one" in said.out
    assert MAIL not in said.out


def test_a_reason_of_a_corrected_cost_is_looked_at(platform: Path, incumbent: Incumbent) -> None:
    evals = yaml.safe_load((platform / CARD_LINE / "evals.yaml").read_text(encoding="utf-8"))
    call = ("correct", platform / CARD_LINE, evals["queries"][0]["id"], "--cost", "3", "--repo", platform)
    assert incumbent(*call, "--reason", "as asked").code == 0
    assert incumbent("scan", "--repo", platform).code == 0
    (path,) = (platform / "config" / "corrections").iterdir()
    path.write_text(path.read_text(encoding="utf-8").replace("as asked", f"asked by {MAIL}"), encoding="utf-8")
    (found,) = incumbent("scan", "--repo", platform, "--json").json["found"]
    assert found["personal_data"] == {"e-mail": 1}
    assert (Path(found["file"]).name, "write another one" in found["to_do"]) == (path.name, True)
    assert "cost" in path.read_text(encoding="utf-8").splitlines()[found["line"] - 1]


def test_a_file_that_is_kept_back_names_line_query_and_kind(platform: Path, incumbent: Incumbent) -> None:
    file = platform / CARD_LINE / "more.json"
    file.write_text(
        '{"eval_set": 1, "queries": [\n{"id": "z9", "query": "Pay it", "expected": {"card": 4539148803436467}}]}'
    )
    found = incumbent("scan", platform / CARD_LINE, "--replace", "--repo", platform)
    assert found.code == 1
    assert f"{file}:2: z9 holds a payment card number" in found.out


def test_a_name_of_a_customer_that_holds_somebody_is_a_fault(platform: Path, incumbent: Incumbent) -> None:
    folder = platform / "eval_sets" / MAIL / "desk"
    folder.mkdir(parents=True)
    (folder / "e.jsonl").write_text('{"query": "Show my bills"}\n', encoding="utf-8")
    found = incumbent("scan", folder, "--repo", platform)
    assert found.code == 1
    assert "the name of the customer holds an e-mail address" in found.err
