"""The config: defaults from a file, no fallback in code, and every fault of the file at once."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.embedded.weights import SHIPPED_DIGEST
from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import WorkingTree
from incumbent.files.yaml_writer import edited as edited_yaml
from incumbent.pipeline.migrated_files import bring_up_to_date, is_up_to_date
from incumbent.report.effective_config import effective_config
from incumbent.taxonomy.config import CONFIG_FILE, REVIEWED_FILES, Curation, OpenAISettings, load_config
from tests.factories import PAPER, REPOSITORY, SHIPPED, make_config

EMBEDDING = "classifier.embedded.embedding"
NEARLY = (SHIPPED_DIGEST[:-1], SHIPPED_DIGEST.upper(), f"{SHIPPED_DIGEST}0")
"""What is nearly the digest of weights."""
CAPABILITIES = frozenset({"request.auth.oauth", "response.format.table"})
TEXT = (REPOSITORY / CONFIG_FILE).read_text(encoding="utf-8")
DATA: dict[str, Any] = {name: value for name, value in yaml.safe_load(TEXT).items() if name != "personal_data"}
"""Without `personal_data` nothing is allowed, and names do not count."""
OPENAI: dict[str, Any] = {
    "endpoint": None,
    "api_version": None,
    "model": "small",
    "key_variable": "MODEL_KEY",
    "temperature": 0.5,
    "seed": 3,
    "timeout_seconds": 30,
    "retries": 1,
    "in_flight": 4,
    "prompt_bytes": 24_000,
    "examples": 1,
    "answer_tokens": 4_000,
    "response_bytes": 16_000_000,
    "budget": {"requests": 100, "tokens": 1_000_000},
    "prices": None,
}


def load(folder: Path, text: str, capabilities: frozenset[str] | None = CAPABILITIES) -> Curation:
    path = folder / CONFIG_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_config(WorkingTree(folder), capabilities)


def faults(folder: Path, text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        load(folder, text)
    assert all(problem.file == CONFIG_FILE and problem.fix for problem in caught.value.problems)
    return caught.value.problems


def keys(data: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all keys, sections included."""
    for name, value in data.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from keys(value, (*above, name))


def without(path: tuple[str, ...], data: dict[str, Any]) -> str:
    changed = copy.deepcopy(data)
    section = changed
    for name in path[:-1]:
        section = section[name]
    del section[path[-1]]
    return yaml.safe_dump(changed, sort_keys=False)


def outermost(paths: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    return {path for path in paths if not any(path[:place] in paths for place in range(1, len(path)))}


def remaining(paths: set[tuple[str, ...]]) -> dict[str, Any]:
    """``DATA`` without these keys."""
    changed = DATA
    for path in outermost(paths):
        changed = yaml.safe_load(without(path, changed))
    return changed


def value_at(data: dict[str, Any], path: tuple[str, ...]) -> Any:
    return reduce(lambda section, name: section[name], path, data)


def load_defaults() -> dict[str, Any]:
    defaults: dict[str, Any] = yaml.safe_load(
        (REPOSITORY / "bot" / "incumbent" / "taxonomy" / "defaults.yaml").read_text(encoding="utf-8")
    )
    return defaults


def with_openai(backend: str = "openai") -> dict[str, Any]:
    return DATA | {"classifier": DATA["classifier"] | {"backend": backend, "openai": OPENAI}}


def edited(old: str, new: str) -> str:
    assert TEXT.count(old) == 1, old
    return TEXT.replace(old, new)


def line_of(text: str, start: str) -> int:
    return next(number for number, row in enumerate(text.splitlines(), 1) if row.strip().startswith(start))


# These came later than the other options.
NEWER = (("options", "recency"), ("options", "fill_to"))
REQUIRED = [path for path in keys(DATA) if path[0] in ("ceiling", "knobs", "options") and path not in NEWER]
OPTIONAL = [path for path in keys(DATA) if path not in REQUIRED and path != ("format",)]


@pytest.mark.parametrize("path", REQUIRED, ids=".".join)
def test_there_is_no_fallback_for_ceiling_knobs_and_options(path: tuple[str, ...], tmp_path: Path) -> None:
    (problem,) = faults(tmp_path, without(path, DATA))
    assert problem.message == f"{'.'.join(path)}: the key is missing"
    assert problem.fix == f"add `{path[-1]}`"


def test_the_schema_requires_the_same() -> None:
    schema = Curation.model_json_schema()
    assert schema["required"] == ["ceiling", "knobs", "options"]
    options = [path[1] for path in REQUIRED if path[0] == "options" and path[1:]]
    assert schema["$defs"]["Options"]["required"] == options


def test_a_file_of_required_keys_alone_decides_as_the_shipped_one(tmp_path: Path) -> None:
    required = {name: DATA[name] for name in ("format", "ceiling", "knobs", "options")}
    assert repr(load(tmp_path, yaml.safe_dump(required))) == repr(SHIPPED)


@given(st.sets(st.sampled_from(OPTIONAL)))
def test_whatever_else_is_left_out_keeps_its_default(
    tmp_path_factory: pytest.TempPathFactory, paths: set[tuple[str, ...]]
) -> None:
    assert repr(load(tmp_path_factory.mktemp("config"), yaml.safe_dump(remaining(paths)))) == repr(SHIPPED)


def test_every_default_is_a_key_of_the_config() -> None:
    """But what measurements chose, which a platform cannot change."""
    known = {path for path in keys(load_defaults()) if path[1:2] != ("method",)} - {("options",)}
    known -= {path for path in known if path[0] in ("younger", "changed", "gone")}
    data = SHIPPED.model_dump()
    data["classifier"]["openai"] = OpenAISettings.model_validate(OPENAI).model_dump()
    in_file = set(REQUIRED) | {("classifier", "openai", name) for name in ("endpoint", "model", "key_variable")}
    assert known == set(keys(data)) - in_file - {("format",)}


def test_the_config_of_a_platform_that_upgrades_goes_on_working(tmp_path: Path) -> None:
    """As the last release shipped it, with its page's section of an endpoint: it has none of the keys added since."""
    text = (REPOSITORY / "tests" / "previous_curation.yaml").read_text(encoding="utf-8")
    assert "response_bytes" not in text
    assert "personal_data" not in text
    config = load(tmp_path, text)
    settings = config.classifier.openai
    assert settings is not None
    assert settings.response_bytes == 16_000_000
    assert (settings.abilities_days, settings.batch.window, settings.batch.prices) == (30, "24h", None)
    given, effective = yaml.safe_load(text), config.model_dump(mode="json")
    notes = config.notes
    assert [(note.line, note.message.partition(":")[0]) for note in notes] == [
        (line_of(text, "low_probability"), "extension"),
        (line_of(text, "lapses"), "calibration"),
        (line_of(text, "first_floor"), "options"),
        *(
            (line_of(text, "options"), f"options.{name}")
            for name in ("rule_values", "win_needs_bar", "doubted_below", "flakiness")
        ),
        (line_of(text, "limits"), "limits.stated_calls"),
        (line_of(text, "close_call"), "options.close_call"),
        (line_of(text, "embedded: {embedding: auto"), "classifier.embedded.embedding"),
    ]
    assert (config.options.rule_values, config.options.win_needs_bar, config.options.doubted_below) == (
        "scored",
        False,
        None,
    )
    assert config.classifier.embedded.weights == SHIPPED_DIGEST
    method = set(load_defaults()["extension"]["method"]) | set(load_defaults()["calibration"]["method"])
    without_effect = {key for note in notes[:2] for key in note.message.partition("effect: ")[2].split(", ")}
    assert without_effect == method - {"splits", "interval"} | {"beyond", "core"}
    for path in keys(given):
        value = value_at(given, path)
        retired = path[0] in ("extension", "calibration") and path[1:2] and path[1] in without_effect
        retired = retired or path in (("classifier", "embedded", "embedding"), ("options", "first_floor"))
        assert retired or isinstance(value, dict) or value_at(effective, path) == value


def test_keys_that_no_longer_have_an_effect_are_named_and_change_nothing(tmp_path: Path) -> None:
    text = edited("  open_candidates: 3", "  open_candidates: 2\n  far: 1.5\n  beyond: [x]\n  surprise: 5")
    text = text.replace("  surprise: 4.0", "  # surprise")
    config = load(tmp_path, text)
    assert config.extension.model_dump() == SHIPPED.extension.model_dump() | {"open_candidates": 2, "surprise": 5.0}
    assert config.extension.far == SHIPPED.extension.far
    (note,) = config.notes
    assert note.message == "extension: these keys no longer have an effect: far, beyond"
    assert (note.file, note.line) == (CONFIG_FILE, line_of(text, "far"))
    assert note.fix == "delete them, or run `incumbent migrate`"
    assert load(tmp_path, TEXT).notes == ()
    (problem,) = faults(tmp_path, edited("  open_candidates: 3", "  open_candidates: 3\n  method: {far: 1}"))
    assert "extension.method: unknown key" in problem.message


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ("{stable: 20, flips: 19, mixed: 20, trusted: 20}", []),
        ("{trusted: 21}", ["results.trusted: no entry ever is trusted to pass: 21 of the last 20 releases cannot be"]),
        ("{stable: 21}", ["results.stable: no entry ever is stable: 21 of the last 20 releases cannot be"]),
        ("{flips: 20}", ["results.flips: no entry ever flaps by its changes: 20 of the last 20 releases cannot be"]),
        ("{window: 3, mixed: 4}", ["results.flips", "results.mixed", "results.stable"]),
    ],
)
def test_what_no_number_of_releases_reaches_is_said(results: str, told: list[str], tmp_path: Path) -> None:
    text = f"{TEXT}\nresults: {results}\n"
    notes = load(tmp_path, text).notes
    assert [note.message[: len(start)] for note, start in zip(notes, told, strict=True)] == told
    assert all(note.line == line_of(text, "results") for note in notes)
    assert all(note.fix.endswith("or raise `results.window`") for note in notes)


@pytest.mark.parametrize("name", ["endpoint", "model", "key_variable"])
def test_an_endpoint_is_never_guessed(name: str, tmp_path: Path) -> None:
    (problem,) = faults(tmp_path, without(("classifier", "openai", name), with_openai()))
    assert problem.message == f"classifier.openai.{name}: the key is missing"


def test_an_endpoint_takes_defaults_for_all_else(tmp_path: Path) -> None:
    data = with_openai()
    data["classifier"]["openai"] = {name: OPENAI[name] for name in ("endpoint", "model", "key_variable")}
    settings = load(tmp_path, yaml.safe_dump(data)).classifier.openai
    assert settings is not None
    assert (settings.temperature, settings.budget.requests, settings.prices) == (0.7, 1000, None)


@given(st.sets(st.sampled_from(REQUIRED), min_size=1))
def test_all_missing_keys_are_named_at_once(
    tmp_path_factory: pytest.TempPathFactory, paths: set[tuple[str, ...]]
) -> None:
    problems = faults(tmp_path_factory.mktemp("config"), yaml.safe_dump(remaining(paths)))
    expected = {f"{'.'.join(path)}: the key is missing" for path in outermost(paths)}
    assert {problem.message for problem in problems} == expected


@pytest.mark.parametrize("text", ["", "# nothing\n", "[]", "ceiling", "12"])
def test_a_config_that_is_no_mapping_is_refused(text: str, tmp_path: Path) -> None:
    (problem,) = faults(tmp_path, text)
    assert problem.message == "the file: must be a mapping"


def test_a_config_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config/curation\.yaml: the file cannot be read"):
        load_config(WorkingTree(tmp_path), None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  clone_cutoff", "  clone_cutof", "knobs.clone_cutof: unknown key; perhaps you meant 'clone_cutoff'"),
        ("ceiling: 150", "ceilling: 150", "ceilling: unknown key; perhaps you meant 'ceiling'"),
        ("  novelty: 2", "  noveltyy: 2", "options.noveltyy: unknown key; perhaps you meant 'novelty'"),
    ],
)  # fmt: skip
def test_a_mistyped_key_is_both_unknown_and_missing(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = edited(old, new)
    unknown = next(problem for problem in faults(tmp_path, text) if "unknown key" in problem.message)
    assert unknown.message == message
    assert unknown.line == line_of(text, new.strip())
    assert any(problem.message.endswith("the key is missing") for problem in faults(tmp_path, text))
    assert len(faults(tmp_path, text)) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  samples: 5", "  sample: 5", "classifier.sample: unknown key; perhaps you meant 'samples'"),
        ("  queries: 5000", "  querys: 5000", "limits.querys: unknown key; perhaps you meant 'queries'"),
        ("mode: curate", "mood: curate", "mood: unknown key; perhaps you meant 'mode'"),
    ],
)  # fmt: skip
def test_a_mistyped_key_with_a_default_is_unknown(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = edited(old, new)
    (problem,) = faults(tmp_path, text)
    assert (problem.message, problem.line) == (message, line_of(text, new.strip()))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ceiling: 150", "ceiling: 0", "ceiling: must be greater than or equal to 1"),
        ("ceiling: 150", "ceiling: 1.5", "ceiling: must be a whole number"),
        ("ceiling: 150", "ceiling: '150'", "ceiling: must be a whole number"),
        ("ceiling: 150", "ceiling: true", "ceiling: must be a whole number"),
        ("ceiling: 150", "ceiling: 1_000", "ceiling: must be a whole number"),
        ("competence_bar: 0.80", "competence_bar: 1.01", "knobs.competence_bar: must be less than or equal to 1"),
        ("competence_bar: 0.80", "competence_bar: -0.1", "knobs.competence_bar: must be greater than or equal to 0"),
        ("competence_bar: 0.80", "competence_bar: 50%", "knobs.competence_bar: must be a number"),
        ("competence_bar: 0.80", "competence_bar: null", "knobs.competence_bar: must be a number"),
        ("competence_bar: 0.80", "competence_bar: 0,5", "knobs.competence_bar: must be a number"),
        ("redundancy_floor: 2", "redundancy_floor: -1", "knobs.redundancy_floor: must be greater than or equal to 0"),
        ("redundancy_floor: 2", "redundancy_floor: 2.5", "knobs.redundancy_floor: must be a whole number"),
        ("concentration_cap: 5", "concentration_cap: []", "knobs.concentration_cap: must be a whole number"),
        ("novelty: 2", "novelty: 4", "options.novelty: must be 'signature', 1, 2 or 3"),
        ("novelty: 2", "novelty: '2'", "options.novelty: must be 'signature', 1, 2 or 3"),
        ("novelty: 2", "novelty: 2.5", "options.novelty: must be 'signature', 1, 2 or 3"),
        ("novelty: 2", "novelty: true", "options.novelty: must be 'signature', 1, 2 or 3"),
        ("honesty_scope: evidence", "honesty_scope: some", "options.honesty_scope: must be 'all' or 'evidence'"),
        ("clone_rescue: true", "clone_rescue: yes", "options.clone_rescue: must be true or false"),
        ("per_capability: {}", "per_capability: []", "per_capability: must be a mapping"),
        ("backend: embedded", "backend: embeded", "classifier.backend: must be 'embedded' or 'openai'"),
        ("samples: 5", "samples: 0", "classifier.samples: must be greater than or equal to 1"),
        ("seed: 20260101", "seed: -1", "classifier.embedded.seed: must be greater than or equal to 0"),
        (SHIPPED_DIGEST, "big", f"{EMBEDDING}: must be the sha256 of weights, in 64 digits of 0-9 and a-f, or 'none'"),
        ("ridge: 0.15", "ridge: 0", "classifier.embedded.ridge: must be greater than 0"),
        ("ridge: 0.15", "ridge: .inf", "not valid YAML: '.inf' is not a finite number"),
        ("openai: null", "openai: {}", "classifier.openai.endpoint: the key is missing"),
        ("turns: 40", "turns: 0", "limits.turns: must be greater than or equal to 1"),
        ("curators: []", "curators: robin", "curators: must be a list"),
        ("curators: []", "curators: [robin, 12]", "curators.1: must be a string"),
        ("curators: []", "curators: ['']", "curators.0: must be a text with at least one visible character"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_an_error_at_its_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = edited(old, new)
    problems = faults(tmp_path, text)
    assert problems[0].message == message
    row = next(number for number, row in enumerate(text.splitlines(), 1) if new in row)
    assert problems[0].line == row


@pytest.mark.parametrize(
    "given",
    ["null", "12", "[]", "''", "None", "AUTO", "1" * 64, *NEARLY],
)
def test_what_is_no_digest_of_weights_is_refused_with_the_one_to_write(given: str, tmp_path: Path) -> None:
    text = edited(SHIPPED_DIGEST, given)
    first, second = faults(tmp_path, text.replace("ceiling: 150", "ceiling: 0"))
    assert first.message.startswith("ceiling: ")
    assert second.message.startswith(f"{EMBEDDING}: must be the sha256 of weights")
    assert (second.line, second.fix) == (line_of(text, "embedded:"), f"write {SHIPPED_DIGEST}, or none")


def test_a_digest_of_weights_that_this_version_does_not_read_is_refused(tmp_path: Path) -> None:
    (problem,) = faults(tmp_path, edited(SHIPPED_DIGEST, "a" * 64))
    assert problem.message.startswith(f"{EMBEDDING}: must be the digest of weights that this version reads, or 'none'")
    assert SHIPPED_DIGEST[:12] in problem.message
    assert "run the version of Incumbent that reads these" in problem.fix


@pytest.mark.parametrize(("given", "weights"), [(SHIPPED_DIGEST, SHIPPED_DIGEST), ("none", None), ("'none'", None)])
def test_the_weights_are_named_by_their_digest_or_there_are_none(
    given: str, weights: str | None, tmp_path: Path
) -> None:
    config = load(tmp_path, edited(SHIPPED_DIGEST, given))
    assert config.classifier.embedded.weights == weights
    assert config.notes == ()


def test_auto_means_the_shipped_weights_with_a_note_until_a_digest_is_written(tmp_path: Path) -> None:
    text = edited(SHIPPED_DIGEST, "auto")
    config = load(tmp_path, text)
    assert config.classifier == SHIPPED.classifier
    (note,) = config.notes
    assert (note.file, note.line) == (CONFIG_FILE, line_of(text, "embedded:"))
    assert note.message.startswith(f"{EMBEDDING}: `auto` means the weights {SHIPPED_DIGEST[:12]}")
    assert "`incumbent migrate`" in note.fix
    assert config.under(frozenset({"x"})).notes == (note,)


def test_a_language_model_needs_no_weights_and_gets_no_note(tmp_path: Path) -> None:
    data = with_openai()
    data["classifier"]["embedded"] = {"embedding": "auto"}
    assert load(tmp_path, yaml.safe_dump(data)).notes == ()


def test_whole_numbers_are_good_shares(tmp_path: Path) -> None:
    config = load(tmp_path, edited("winning_margin: 0.05", "winning_margin: 0"))
    assert config.knobs.winning_margin == 0.0


def test_overrides_hold_for_their_capability_only(tmp_path: Path) -> None:
    own = "per_capability: {request.auth.oauth: {competence_bar: 0.9, winning_margin: 0.0, redundancy_floor: 0}}"
    config = load(tmp_path, edited("per_capability: {}", own))
    own_knobs = (config.competence_bar, config.winning_margin, config.redundancy_floor)
    assert [knob("request.auth.oauth") for knob in own_knobs] == [0.9, 0.0, 0]
    assert [knob("response.format.table") for knob in own_knobs] == [0.8, 0.05, 2]


@pytest.mark.parametrize("kept", ["competence_bar", "winning_margin", "redundancy_floor"])
def test_an_override_that_is_absent_or_null_keeps_the_global_knob(kept: str, tmp_path: Path) -> None:
    values: dict[str, Any] = {"competence_bar": 0.9, "winning_margin": 0.2, "redundancy_floor": 7}
    for changed in ({name: value for name, value in values.items() if name != kept}, values | {kept: None}):
        config = load(tmp_path, yaml.safe_dump(DATA | {"per_capability": {"request.auth.oauth": changed}}))
        for name in values:
            expected = getattr(config.knobs, name) if name == kept else values[name]
            assert getattr(config, name)("request.auth.oauth") == expected


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("request.auth.oath: {}", 19, "the taxonomy has no such capability; perhaps you meant 'request.auth.oauth'"),
        ("zzz: {}", 19, "per_capability.zzz: the taxonomy has no such capability"),
        ("request.auth.oauth: {clone_cutoff: 0.5}", 19, "per_capability.request.auth.oauth.clone_cutoff: unknown key"),
        ("request.auth.oauth: {redundancy_floor: -1}", 19, "must be greater than or equal to 0"),
        ("request.auth.oauth: {competence_bar: 2}", 19, "must be less than or equal to 1"),
        ("request.auth.oauth: 0.5", 19, "per_capability.request.auth.oauth: must be a mapping"),
    ],
)
def test_an_override_that_cannot_hold_is_an_error(text: str, line: int, message: str, tmp_path: Path) -> None:
    whole = edited("per_capability: {}", f"per_capability:\n  {text}").replace(" #", "#")
    (problem,) = faults(tmp_path, "\n".join(row.split("#")[0] for row in whole.splitlines()))
    assert message in problem.message
    assert problem.line == line_of(whole, text.split(" ")[0])
    assert line > 0


def test_overrides_are_not_checked_against_a_taxonomy_that_is_not_known(tmp_path: Path) -> None:
    config = load(tmp_path, edited("per_capability: {}", "per_capability: {any: {redundancy_floor: 1}}"), None)
    assert config.redundancy_floor("any") == 1


def test_all_faults_come_at_once_with_their_lines(tmp_path: Path) -> None:
    text = (
        TEXT.replace("ceiling: 150", "ceiling: 0")
        .replace("  winning_margin: 0.05", "  wining_margin: 0.05")
        .replace("per_capability: {}", "per_capability:\n  nobody: {redundancy_floor: 1}")
        .replace("  turns: 40", "  turns: many")
    )
    found = [(problem.line, problem.message.split(":")[0]) for problem in faults(tmp_path, text)]
    assert found == [
        (line_of(text, "ceiling"), "ceiling"),
        (line_of(text, "knobs"), "knobs.winning_margin"),
        (line_of(text, "wining_margin"), "knobs.wining_margin"),
        (line_of(text, "nobody"), "per_capability.nobody"),
        (line_of(text, "turns: many"), "limits.turns"),
    ]


def test_the_openai_backend_needs_its_settings(tmp_path: Path) -> None:
    (problem,) = faults(tmp_path, edited("backend: embedded", "backend: openai"))
    assert problem.message == "classifier.openai: the key is missing, and the backend is openai"
    assert problem.line == line_of(TEXT, "classifier:")
    config = load(tmp_path, yaml.safe_dump(with_openai()))
    assert config.classifier.openai is not None
    assert config.classifier.openai.model_dump(exclude={"abilities_days", "batch"}) == OPENAI


def test_settings_of_a_backend_that_is_not_chosen_are_checked_all_the_same(tmp_path: Path) -> None:
    assert load(tmp_path, yaml.safe_dump(with_openai("embedded"))).classifier.backend == "embedded"
    (problem,) = faults(tmp_path, without(("classifier", "openai", "model"), with_openai("embedded")))
    assert problem.message == "classifier.openai.model: the key is missing"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("temperature", 2.1, "must be less than or equal to 2"),
        ("timeout_seconds", 0, "must be greater than 0"),
        ("retries", -1, "must be greater than or equal to 0"),
        ("model", "", "must be a text with at least one visible character"),
        ("key_variable", None, "must be a string"),
        ("key", "secret", "classifier.openai.key: unknown key"),
    ],
)
def test_endpoint_settings_are_checked(name: str, value: object, message: str, tmp_path: Path) -> None:
    data = with_openai()
    data["classifier"]["openai"] = OPENAI | {name: value}
    assert any(message in problem.message for problem in faults(tmp_path, yaml.safe_dump(data)))


def test_duplicate_keys_are_refused(tmp_path: Path) -> None:
    (problem,) = faults(tmp_path, TEXT + "\nceiling: 10\n")
    assert "the key 'ceiling' is given twice" in problem.message
    assert problem.line == len(TEXT.splitlines()) + 2


def test_the_limits_for_single_files_are_those_of_the_config() -> None:
    config = make_config(limits=SHIPPED.limits.model_dump() | {"file_bytes": 7, "nesting_depth": 8, "nodes": 9})
    assert (config.limits.reading.file_bytes, config.limits.reading.nesting_depth, config.limits.reading.nodes) == (
        7,
        8,
        9,
    )


def test_both_shipped_configs_differ_in_knobs_and_options_of_the_paper_alone() -> None:
    ours, theirs = SHIPPED.model_dump(), PAPER.model_dump()
    differing = {name for name in ours if ours[name] != theirs[name]}
    assert differing <= {"knobs", "options", "limits"}
    assert theirs["limits"] == ours["limits"] | {"stated_calls": None}
    knobs = [(of["knobs"]["competence_bar"], of["knobs"]["honesty_floor"]) for of in (ours, theirs)]
    assert knobs == [(0.8, 0.93), (0.5, 0.6)]
    assert theirs["options"] == {
        "novelty": "signature",
        "honesty_scope": "all",
        "clone_rescue": False,
        "rule_values": "scored",
        "win_needs_bar": False,
        "fill_floor": False,
        "close_call": 0.4,
        "doubted_below": None,
        "recency": None,
        "flakiness": 0.3,
        "fill_to": None,
    }
    assert ours["options"] == {
        "novelty": 2,
        "honesty_scope": "evidence",
        "clone_rescue": True,
        "rule_values": "counted",
        "win_needs_bar": True,
        "fill_floor": True,
        "close_call": 0.4,
        "doubted_below": 0.2,
        "recency": None,
        "flakiness": 0.3,
        "fill_to": None,
    }


def test_a_config_without_personal_data_allows_nothing_and_looks_for_no_names(tmp_path: Path) -> None:
    config = load(tmp_path, yaml.safe_dump(DATA))
    assert (config.personal_data.names, config.personal_data.allowed) == (False, {})


@pytest.mark.parametrize(
    ("customer", "found"),
    [("contoso", 1), ("fabrikam", 2), (None, 2)],
)
def test_what_is_allowed_is_allowed_to_one_customer_or_to_all(customer: str | None, found: int, tmp_path: Path) -> None:
    allowed = {"*": ["@adatum.com"], "contoso": ["kim.lee@northwind.com"]}
    config = load(tmp_path, yaml.safe_dump(DATA | {"personal_data": {"allowed": allowed}}))
    text = "Write to kim.lee@northwind.com, jo@adatum.com and mia@fabrikam.com"
    assert len(config.personal_data.detector(customer).find(text)) == found
    assert len(config.personal_data.shown.find(text)) == 1


def test_faults_of_personal_data_are_named_all_at_once(tmp_path: Path) -> None:
    given = {"names": "no", "allowed": {"contoso": ["@com", 4242], "fabrikam": "jo@adatum.com"}, "kinds": []}
    messages = [problem.message for problem in faults(tmp_path, yaml.safe_dump(DATA | {"personal_data": given}))]
    assert [message.split(":")[0] for message in messages] == [
        "personal_data.allowed.contoso.0",
        "personal_data.allowed.contoso.1",
        "personal_data.allowed.fabrikam",
        "personal_data.kinds",
        "personal_data.names",
    ]
    assert "a value, or a domain as in @contoso.com" in messages[0]


def test_reading_a_config_does_not_load_what_finds_personal_data() -> None:
    code = (
        "import sys\n"
        "from incumbent.taxonomy.config import PersonalData\n"
        "PersonalData()\n"
        "print(sorted({'phonenumbers', 'stdnum', 'incumbent.text.personal_data.detector'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


@pytest.mark.parametrize("text", ["Show my open orders", "Is there a table for two [phone number]?"])
def test_a_text_that_has_nothing_personal_loads_no_numbering_plans(text: str) -> None:
    code = (
        "import sys\n"
        "from incumbent.taxonomy.config import PersonalData\n"
        f"assert not PersonalData().detector(None).find({text!r})\n"
        "ours = {f'incumbent.text.personal_data.{it}' for it in ('addresses', 'mail', 'names')}\n"
        "loaded = {'phonenumbers', 'stdnum', *ours}\n"
        "print(sorted(loaded & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


# Formats


LATER = "format: 99\nmode: neither\nunheard_of: {of: [1]}\n"


FIRST = re.sub(r"(?m)^format: .*\n", "", TEXT)
OLD = re.sub(r"(?m)^  rule_values: .*\n", "  first_floor: 0.9 # gone\n  # said\n", FIRST)
"""A config of format 1, with an option that went, and without one that came."""


@pytest.mark.parametrize(
    ("text", "value", "notes"),
    [
        (TEXT, "counted", []),
        (FIRST, "counted", []),
        (f"format: 1\n{FIRST}", "counted", []),
        (
            OLD,
            "scored",
            ["options: these keys no longer have an effect: first_floor", "options.rule_values: younger than"],
        ),
        (f"format: 2\n{OLD}", None, ["options.rule_values: the key is missing"]),
        (f"format: 3\n{OLD}", None, ["format: 3 was written by a later version, nothing was changed"]),
        (f"format: '1'\n{FIRST}", None, ["format: must be a whole number"]),
        (f"format: true\n{OLD}", None, ["format: must be a whole number"]),
        ("ceiling: 1\noptions: 1\n", None, ["knobs: the key is missing", "options: must be a mapping"]),
    ],
)
def test_a_config_of_an_earlier_format_keeps_the_former_behaviour(
    text: str, value: str | None, notes: list[str], tmp_path: Path
) -> None:
    found: tuple[Problem, ...]
    if value is None:
        found = faults(tmp_path, text)
    else:
        config = load(tmp_path, text)
        assert config.options.rule_values == value
        (shown,) = [
            item
            for item in effective_config(config, WorkingTree(tmp_path), CONFIG_FILE).values
            if item.key == "options.rule_values"
        ]
        assert (shown.value, shown.is_default) == (value, "rule_values" not in text)
        found = config.notes
        assert all("`incumbent migrate`" in note.fix for note in found)
    assert [problem.message[: len(start)] for problem, start in zip(found, notes, strict=True)] == notes


def test_of_a_config_of_a_later_format_that_alone_is_said(tmp_path: Path) -> None:
    (problem,) = faults(tmp_path, LATER)
    assert (problem.line, problem.message) == (1, "format: 99 was written by a later version, nothing was changed")


def test_a_config_is_brought_up_to_date_and_what_people_wrote_stays(tmp_path: Path) -> None:
    shipped = {"format": 2, "options": {"rule_values": "counted"}}
    assert not is_up_to_date(yaml.safe_load(OLD))
    text = edited_yaml(OLD.encode(), CONFIG_FILE, REVIEWED_FILES, lambda data: bring_up_to_date(data, shipped))
    config = load(tmp_path, text)
    assert (config.options.rule_values, config.notes) == ("counted", ())
    assert is_up_to_date(yaml.safe_load(text))
    new = ("format: 2", "  rule_values: counted")
    assert all(line in text.splitlines() for line in new)
    kept = [line for line in OLD.splitlines() if "first_floor" not in line]
    assert [line for line in text.splitlines() if line not in new] == kept
