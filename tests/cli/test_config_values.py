"""``incumbent config``: the values in effect and their places, for people and for programs."""

from __future__ import annotations

from pathlib import Path

from jsonschema import Draft202012Validator

from bot.schemas import schema
from tests.cli.conftest import Incumbent


def config_of(platform: Path) -> Path:
    return platform / "config" / "curation.yaml"


def test_the_json_fits_its_schema_and_has_a_place_for_each_value(platform: Path, incumbent: Incumbent) -> None:
    shown = incumbent("config", "--repo", platform, "--json").json
    Draft202012Validator(schema("config-output")).validate(shown)
    lines = config_of(platform).read_text(encoding="utf-8").splitlines()
    for value in shown["values"]:
        assert value["key"] == ".".join(value["path"])
        assert value["file"] == shown["defaults" if value["is_default"] else "file"]
        if not value["is_default"]:
            assert value["path"][-1] in lines[value["line"] - 1]


def test_a_pipe_gets_a_line_for_each_key(platform: Path, incumbent: Incumbent) -> None:
    values = incumbent("config", "--repo", platform, "--json").json["values"]
    header, *rows = (line.split("\t") for line in incumbent("config", "--repo", platform).out.splitlines())
    assert header == ["key", "value", "from"]
    assert [(key, place) for key, _, place in rows] == [
        (value["key"], f"{value['file']}:{value['line']}") for value in values
    ]


def test_a_fault_of_the_taxonomy_does_not_hide_the_config(platform: Path, incumbent: Incumbent) -> None:
    (platform / "taxonomy" / "taxonomy.yaml").write_text("no: taxonomy\n", encoding="utf-8")
    assert incumbent("config", "--repo", platform).code == 0


def test_every_fault_of_the_config_is_listed(platform: Path, incumbent: Incumbent) -> None:
    text = config_of(platform).read_text(encoding="utf-8")
    config_of(platform).write_text(text.replace("ceiling:", "cieling:").replace("turns: 40", "turns: 0"), "utf-8")
    outcome = incumbent("config", "--repo", platform)
    assert outcome.code == 1
    assert all(words in outcome.err for words in ("perhaps you meant 'ceiling'", "limits.turns: must be", "fix:"))


def test_keys_and_control_characters_of_the_file_are_not_shown(platform: Path, incumbent: Incumbent) -> None:
    text = config_of(platform).read_text(encoding="utf-8")
    key = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
    config_of(platform).write_text(text.replace("curators: []", f'curators: ["{key}", "a\\u001b[2Jb"]'), "utf-8")
    for more in ((), ("--json",)):
        outcome = incumbent("config", "--repo", platform, *more)
        assert (outcome.code, key in outcome.out, "\x1b" in outcome.out) == (0, False, False)


def test_keys_without_effect_are_named_and_stop_nothing(platform: Path, incumbent: Incumbent) -> None:
    text = config_of(platform).read_text(encoding="utf-8")
    config_of(platform).write_text(text.replace("  minimum: 10", "  minimum: 10\n  folds: 3\n  alone: 9"), "utf-8")
    note = "note: {}config/curation.yaml:{}: calibration: these keys no longer have an effect: folds, alone"
    line = next(number for number, row in enumerate(text.splitlines(), 1) if row.startswith("  minimum:")) + 1
    shown = incumbent("config", "--repo", platform, "--json")
    assert note.format(f"{platform}/", line) in shown.err
    assert not any(value["key"] == "calibration.folds" for value in shown.json["values"])
    valid = incumbent("validate", "--repo", platform)
    assert (valid.code, note.format(f"{platform}/", line) in valid.out) == (0, True)
