"""The config in effect: each value, and the file and line that it comes from."""

from __future__ import annotations

from pathlib import Path

from incumbent.files.snapshot import WorkingTree
from incumbent.report.effective_config import EffectiveValue, effective_config
from incumbent.taxonomy.config import CONFIG_FILE, DEFAULTS, load_config
from tests.factories import REPOSITORY

REQUIRED = "".join(
    f"{line}\n"
    for line in (REPOSITORY / CONFIG_FILE).read_text(encoding="utf-8").partition("per_capability")[0].splitlines()
    if line and not line.startswith(("#", "mode"))
)


def effective(folder: Path, text: str) -> dict[str, EffectiveValue]:
    path = folder / CONFIG_FILE
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    tree = WorkingTree(folder)
    values = effective_config(load_config(tree, None), tree, CONFIG_FILE).values
    assert all(value.key == ".".join(value.path) for value in values)
    return {value.key: value for value in values}


def test_a_value_of_the_file_has_its_line(tmp_path: Path) -> None:
    found = effective(tmp_path, REQUIRED)["knobs.competence_bar"]
    assert (found.value, found.is_default, found.file, found.line) == (0.8, False, CONFIG_FILE, 4)


def test_a_value_that_the_file_leaves_out_has_its_line_in_the_defaults(tmp_path: Path) -> None:
    found = effective(tmp_path, REQUIRED)["limits.turns"]
    assert (found.value, found.is_default, found.file) == (40, True, "bot/incumbent/taxonomy/defaults.yaml")
    assert found.line is not None
    assert DEFAULTS.text.splitlines()[found.line - 1] == "  turns: 40"


def test_a_section_may_come_from_both_files(tmp_path: Path) -> None:
    values = effective(tmp_path, f"{REQUIRED}limits: {{turns: 7}}\n")
    assert [values[f"limits.{name}"].value for name in ("turns", "queries")] == [7, 5000]
    assert [values[f"limits.{name}"].is_default for name in ("turns", "queries")] == [False, True]


def test_an_empty_section_is_a_value(tmp_path: Path) -> None:
    assert effective(tmp_path, REQUIRED)["per_capability"].value == {}


def test_an_override_shows_the_knobs_that_it_names_alone(tmp_path: Path) -> None:
    own = "per_capability:\n  no.such: {redundancy_floor: 4, winning_margin: null}\n"
    values = effective(tmp_path, REQUIRED + own)
    shown = {name: value.value for name, value in values.items() if name.startswith("per_capability")}
    assert shown == {"per_capability.no.such.redundancy_floor": 4, "per_capability.no.such.winning_margin": None}
    assert values["per_capability.no.such.redundancy_floor"].path == ("per_capability", "no.such", "redundancy_floor")


def test_an_endpoint_shows_its_defaults_once_it_is_named(tmp_path: Path) -> None:
    own = "classifier: {openai: {endpoint: null, model: small, key_variable: KEY, budget: {tokens: 9}}}\n"
    values = effective(tmp_path, REQUIRED + own)
    shown = [values[f"classifier.openai.{name}"] for name in ("model", "budget.tokens", "budget.requests", "retries")]
    assert [(value.value, value.is_default) for value in shown] == [
        ("small", False),
        (9, False),
        (1000, True),
        (2, True),
    ]


def test_without_an_endpoint_none_of_its_defaults_is_in_effect(tmp_path: Path) -> None:
    values = effective(tmp_path, REQUIRED)
    assert values["classifier.openai"].value is None
    assert not any(name.startswith("classifier.openai.") for name in values)
