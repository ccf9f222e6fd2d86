"""Upgrade and rollback: what an earlier, this and a later version wrote, read by this one (docs/versioning.md).

``a2f32698`` has files as the commit of that name wrote them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

import pytest
import yaml

from incumbent.cli.ci import _read
from incumbent.cli.schemas import SCHEMAS, WRITTEN_BY_PEOPLE, schema
from incumbent.curator.entry import Entry
from incumbent.curator.file_changes import admit, edit, render
from incumbent.curator.store import load_regression_set
from incumbent.errors import InputError, LaterFormatError
from incumbent.files.documents import parse_yaml
from incumbent.files.snapshot import EmptySnapshot, Overlay, Snapshot
from incumbent.files.validation import FileModel, newest_format
from incumbent.files.yaml_writer import edited, round_trip
from incumbent.github.facts import FORMAT as FACTS
from incumbent.github.read_back import RECORD_MODELS, kept_aside
from incumbent.ledger.event_files import appended, load_events, parsed
from incumbent.ledger.events import LedgerEvent
from incumbent.ledger.model import FOLDER, FOLDER_RECORDS, FORMAT, FolderRecord, LedgerFormat, PullRequestRecord
from incumbent.ledger.store import load, record_text, refuse_later_ledger
from incumbent.pipeline.migrated_files import bring_up_to_date, is_up_to_date
from incumbent.taxonomy.config import REVIEWED_FILES, load_config
from tests.factories import REPOSITORY

HERE: Final = Path(__file__).with_name("a2f32698")


def _files(place: str, names: str) -> dict[str, str]:
    """Path below the folder ``place`` → text."""
    paths = sorted((HERE / place).rglob(names))
    return {path.relative_to(HERE / place).as_posix(): path.read_text(encoding="utf-8") for path in paths}


LEDGER: Final = _files("ledger", "*.json*")
PLATFORM: Final = _files("platform", "*.yaml")
RECORDS: Final = tuple(path for path in LEDGER if path.endswith(".json"))
DERIVED: Final = ("folders.json",)
LATER: Final = {"later_key": {"of": [1, None]}}
WORDS: Final = "was written by a later version, nothing was changed"


def model_of(path: str) -> type[FileModel]:
    folder = path.partition("/")[0]
    known: dict[str, type[FileModel]] = {FOLDER: PullRequestRecord, FOLDER_RECORDS: FolderRecord, **RECORD_MODELS}
    return known[folder]


def read(path: str, text: str) -> FileModel:
    found = load(Overlay(EmptySnapshot(), {path: text}), path, model_of(path))
    assert found is not None
    return found


def with_unknown(data: Any) -> Any:
    """``data`` with an unknown key at its top, and in each mapping of a list below."""
    return {**{key: _below(item) for key, item in data.items()}, **LATER}


def _below(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _below(item) for key, item in data.items()}
    return [with_unknown(item) if isinstance(item, dict) else item for item in data] if isinstance(data, list) else data


# The ledger -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", RECORDS)
def test_a_record_of_an_earlier_version_is_read_and_written_as_this_one_does(path: str) -> None:
    text = record_text(read(path, LEDGER[path]))
    assert record_text(read(path, text)) == text
    before, after = json.loads(LEDGER[path]), json.loads(text)
    assert "format" not in after
    gone = {"format", "classifications", *(["merged"] if before.get("merged") else [])}
    same = {key: item for key, item in before.items() if key not in gone and item == after[key]}
    # Keys that were added since are the only other difference.
    assert all(_contains(after[key], item) for key, item in before.items() if key not in gone and key not in same)


def _contains(more: Any, less: Any) -> bool:
    if isinstance(less, dict):
        return isinstance(more, dict) and all(key in more and _contains(more[key], item) for key, item in less.items())
    if isinstance(less, list):
        return isinstance(more, list) and len(more) == len(less) and all(map(_contains, more, less))
    return bool(more == less)


@pytest.mark.parametrize("path", RECORDS)
def test_after_a_rollback_nothing_is_lost_that_a_later_version_wrote(path: str) -> None:
    """Of the same format, with keys that this version does not know: they are read over, and written again."""
    ours = read(path, LEDGER[path])
    theirs = with_unknown(json.loads(record_text(ours)))
    found = read(path, json.dumps(theirs))
    kept = json.loads(record_text(found))
    assert kept == (json.loads(record_text(ours)) if path in DERIVED else theirs)
    changed = found.model_copy(update={name: getattr(ours, name) for name in type(ours).model_fields})
    assert (json.loads(record_text(changed)).get("later_key") == LATER["later_key"]) == (path not in DERIVED)


FORMATS: Final[Mapping[str, tuple[str | None, str | None]]] = {
    "absent: a2f32698": (None, None),
    "1": ('{"format": 1}', None),
    "this version's": ('{"format": 2}', None),
    "with keys of a later version": ('{"format": 2, "since": "9.1.0"}', None),
    "of a later version": ('{"format": 99, "since": "9.1.0"}', f"format: 99 {WORDS}"),
    "no number": ('{"format": "2"}', "format: must be a whole number"),
    "no JSON": ("{", "not valid JSON"),
}


@pytest.mark.parametrize(("text", "said"), FORMATS.values(), ids=FORMATS)
def test_the_format_of_the_ledger_decides_before_anything_is_read(text: str | None, said: str | None) -> None:
    ledger = Overlay(EmptySnapshot(), LEDGER if text is None else {**LEDGER, FORMAT: text})
    if said is None:
        refuse_later_ledger(ledger)
        return
    with pytest.raises(InputError) as caught:
        refuse_later_ledger(ledger)
    (problem,) = caught.value.problems
    assert said in problem.message
    assert (problem.file, caught.value.exit_code) == ("incumbent/ledger:format.json", 1)
    assert isinstance(caught.value, LaterFormatError) == (WORDS in said)


@pytest.mark.parametrize("path", RECORDS)
def test_a_damaged_record_is_kept_aside(path: str) -> None:
    ledger = Overlay(EmptySnapshot(), {**LEDGER, path: LEDGER[path][:-3]})
    kept = kept_aside({path: "new"}, ledger)
    assert [*kept.values()] == ([] if path in DERIVED else [LEDGER[path][:-3]])
    assert all(name.startswith("damaged/") for name in kept)
    assert kept_aside(dict.fromkeys(LEDGER, "new"), Overlay(EmptySnapshot(), LEDGER)) == {}


def test_an_event_of_a_later_version_counts_once_and_stays_to_the_letter() -> None:
    (path,) = set(LEDGER) - set(RECORDS)
    text = LEDGER[path]
    later = "".join(f"{json.dumps(with_unknown(json.loads(line)))}\n" for line in text.splitlines())
    later += '{"kind": "praised", "at": "2026-01-02T03:04:05Z"}\n'
    events = parsed(text)
    assert len(events) == 3
    assert parsed(later) == events
    assert appended(later, events) == later
    (problem,) = load_events(Overlay(EmptySnapshot(), {path: later})).problems
    assert "let a version read it that knows this kind of event" in problem.fix
    models = get_args(get_args(LedgerEvent)[0])
    assert all(model.model_config["extra"] == "ignore" for model in models)


# What people write ----------------------------------------------------------------------------------------------------


def platform(changes: Mapping[str, Callable[[str], str]]) -> Snapshot:
    """The platform with the files changed whose paths contain a key of ``changes``."""
    texts = dict(PLATFORM)
    for path, text in PLATFORM.items():
        for part, change in changes.items():
            if part in path:
                texts[path] = change(text)
    return Overlay(EmptySnapshot(), texts)


def test_a_platform_of_an_earlier_version_works() -> None:
    known = load_regression_set(platform({}), None)
    assert (len(known.entries), len(known.tombstones)) == (1, 1)
    (without_rule_values,) = known.notes
    assert "without `by_rule`: the sources of the taxonomy decide" in without_rule_values.message
    (entry,) = known.entries.values()
    assert edit(render(entry), entry) == render(entry)
    assert "format" not in yaml.safe_load(render(entry))
    config = load_config(platform({}), None)
    newer = ("rule_values", "win_needs_bar", "doubted_below", "flakiness")
    assert config.format == 1
    assert [note.message.partition(":")[0] for note in config.notes] == [
        "options",  # first_floor has gone
        *(f"options.{name}" for name in newer),
        "limits.stated_calls",
        "options.close_call",  # what shipped when it meant something else
        "classifier.embedded.embedding",
    ]
    assert [getattr(config.options, name) for name in newer] == ["scored", False, None, 0.3]
    text = PLATFORM["config/curation.yaml"]
    ours = (REPOSITORY / "config" / "curation.yaml").read_text(encoding="utf-8")
    shipped = round_trip().load(ours)
    after = edited(text.encode(), "c", REVIEWED_FILES, lambda data: bring_up_to_date(data, shipped))
    assert is_up_to_date(yaml.safe_load(after))
    for name in ("format", *newer, "close_call", "stated_calls"):
        (line,) = re.findall(rf"(?m)^ *{name}: .*$", ours)
        assert line in after.splitlines()
    assert "first_floor" not in yaml.safe_load(after)["options"]
    chosen = edited(
        text.replace("close_call: 0.20", "close_call: 0.30").encode(),
        "c",
        REVIEWED_FILES,
        lambda data: bring_up_to_date(data, shipped),
    )
    assert yaml.safe_load(chosen)["options"]["close_call"] == 0.3


def test_a_file_with_keys_of_a_later_version_is_read_over_and_keeps_them() -> None:
    known = load_regression_set(platform({"regression_set": lambda text: text + yaml.safe_dump(LATER)}), None)
    notes = known.notes[:-1]  # the last one is about `by_rule`
    assert [note.message for note in notes] == ["later_key: unknown key, which has no effect"] * 2
    assert all((note.line or 0) > 1 and "take it out" in note.fix for note in notes)
    (entry,) = known.entries.values()
    assert yaml.safe_load(admit(entry).content or "")["later_key"] == LATER["later_key"]


LATER_FORMAT: Final = "format: 99\nlater_key: 1\n"


@pytest.mark.parametrize("part", ["regression_set/c", "evicted", "config"])
def test_of_a_file_of_a_later_format_no_more_is_said_than_that(part: str) -> None:
    changed = platform({part: lambda text: LATER_FORMAT})
    with pytest.raises(InputError) as caught:
        load_config(changed, None) if part == "config" else load_regression_set(changed, None)
    (problem,) = caught.value.problems
    assert (problem.line, problem.message) == (1, f"format: 99 {WORDS}")
    assert "this one reads formats up to" in problem.fix


# Documents and output -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [None, FACTS + 1, 99])
def test_facts_of_another_version_are_none(number: int | None, tmp_path: Path) -> None:
    data = json.loads((HERE / "facts.json").read_text())
    document = tmp_path / "facts.json"
    document.write_text(json.dumps(data if number is None else {**with_unknown(data), "format": number}))
    assert _read(document) == "other-version"


def test_no_key_of_the_output_has_gone() -> None:
    """A script that reads `--json` goes on working: keys are added, and none goes or moves within a major version."""
    known = (HERE / "json_keys.txt").read_text().splitlines()
    names = sorted({key.partition(".")[0] for key in known})
    now = {key for name in names for key in _keys(schema(f"{name}-output"), name)}
    assert [key for key in known if key not in now] == []


def _keys(root: dict[str, Any], name: str) -> Iterator[str]:
    def below(part: dict[str, Any], at: str, seen: frozenset[str]) -> Iterator[str]:
        if "$ref" in part:
            place = part["$ref"].rpartition("/")[2]
            if place not in seen:
                yield from below(root["$defs"][place], at, seen | {place})
            return
        for kind in ("anyOf", "oneOf", "allOf"):
            for item in part.get(kind, ()):
                yield from below(item, at, seen)
        for key, item in part.get("properties", {}).items():
            yield f"{at}.{key}"
            yield from below(item, f"{at}.{key}", seen)
        for kind in ("items", "additionalProperties"):
            if isinstance(part.get(kind), dict):
                yield from below(part[kind], f"{at}[]", seen)

    return below(root, name, frozenset())


def test_each_kind_of_file_has_a_format_in_one_place() -> None:
    """Files that people write, and the documents of the bot; those of the ledger have one for the whole ledger."""
    without = [
        name
        for name, model in SCHEMAS.items()
        if not name.endswith("-output") and not name.startswith("ledger-") and not newest_format(model)
    ]
    assert without == ["analysis", "inventory"], (
        "the document between the jobs has that of bot/incumbent/github/facts.py"
    )
    parsed_entry = parse_yaml(b"format: 1", "f", REVIEWED_FILES).data
    assert parsed_entry == newest_format(Entry)


def test_the_page_lists_each_kind_with_its_newest_format() -> None:
    page = (REPOSITORY / "docs" / "versioning.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|`]+?)(?: \(`format\.json`\))? \| `(\w+)` \| ([0-9]+) \|$", page, re.MULTILINE)
    said = {name: {key: int(number)} for name, key, number in rows}
    known = {name: newest_format(SCHEMAS[name]) for name in (*WRITTEN_BY_PEOPLE, "predictions")}
    assert said == {**known, "the ledger, all of it": newest_format(LedgerFormat)}
    assert WORDS in " ".join(page.split())
