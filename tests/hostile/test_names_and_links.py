"""Odd names and links in real git repositories: faults of a pull request, and no reason to stop once merged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incumbent.cli.main import run
from incumbent.errors import InputError, Problem
from incumbent.files.git import ObjectStore
from incumbent.github.analyse_job import ReleaseInputs, analyse
from incumbent.github.events import Event, Flow
from incumbent.ledger.model import CorrectionRecord
from incumbent.pipeline.review import load_platform
from incumbent.pipeline.workspace import open_platform
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.inventory_job import Past, survey
from incumbent.taxonomy.config import CONFIG_FILE
from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER
from incumbent.taxonomy.loading import TAXONOMY_FILE
from tests.origin import Entry, Origin
from tests.pipeline.impact.platforms import BASE, Counting, member
from tests.reconcile.runs import agent_files, config_text, platform_files, text_of

Files = dict[str, bytes | Entry]
ENTRY = member("one", {"a": 0.9}, BASE)
BEFORE = ("acme", "desk")
PLATFORM: Files = {
    path: text.encode()
    for path, text in {
        **platform_files([ENTRY], config_text()),
        **agent_files(BEFORE, {"q1": text_of("ode", {"b": 0.9})}),
    }.items()
}


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin.make(tmp_path / "origin.git")


@pytest.fixture
def store(origin: Origin) -> Iterator[ObjectStore]:
    with ObjectStore.open(origin.folder) as store:
        yield store


def brought(customer: str, agent: str = "desk") -> Files:
    files = agent_files((customer, agent), {"q9": text_of("sonnet", {"c": 0.9})})
    return {path: text.encode() for path, text in files.items()}


def link(origin: Origin) -> Entry:
    return "120000", origin.blob(b"../elsewhere")


NAMES = {
    "a\\b": "eval_sets/a\\b",
    "c:": "eval_sets/c:",
    "--upload-pack=x": "eval_sets/--upload-pack=x",
    "line\nbreak": "eval_sets/line\nbreak",
    "dot.": "eval_sets/dot.",
    "nul": "eval_sets/nul",
    "ACME": "eval_sets/ACME",
    "half\udcff": "eval_sets/half?",
    "long" * 60: f"eval_sets/{'long' * 60}/desk/agent.yaml",
}
LINKS = (
    "regression_set/two.yaml",
    "regression_set/waiting/two.yaml",
    "regression_set/evicted",
    f"{EXEMPLARS_FOLDER}/two.tsv",
    "taxonomy/notes.md",
    "config/corrections/two.yaml",
    "eval_sets/acme/desk/readme.md",
    "eval_sets/acme/other",
)


def reviewed(store: ObjectStore, base: str, head: str) -> list[Problem]:
    """The faults of a pull request from ``base`` to ``head``."""
    platform = load_platform(store.snapshot(base))
    event = Event(flow=Flow.REVIEW, repository="o/r", default_branch="main", pull_request=1, head=head, inside=True)
    release = ReleaseInputs(event=event, config=platform.config, record=None, github=_no_github)
    found = analyse(
        event,
        base=base,
        head=head,
        at="2026-11-21T10:00:00Z",
        platform=platform,
        snapshot=store.snapshot(head),
        changes=store.changes(base, head),
        release=release,
        known={},
        backend=Counting(platform.taxonomy),
        progress=lambda done, total: None,
    )
    assert found.model_dump_json()
    return list(found.judged.problems)


def reconciled(store: ObjectStore, tip: str) -> Inventory:
    """What reconcile finds at ``tip`` of the default branch."""
    platform = load_platform(store.snapshot(tip))
    past = Past(
        known={},
        folder=lambda _: None,
        prepare=lambda _: None,
        reconciled=None,
        index=None,
        corrections=CorrectionRecord(),
    )
    backend = Counting(platform.taxonomy)
    found = survey("o/r", tip, past, platform, store, backend, lambda done, total: None)
    assert found.model_dump_json()
    return found


def _no_github() -> Any:
    raise AssertionError("nobody is asked")


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name_is_a_fault_of_the_pull_request(name: str, origin: Origin, store: ObjectStore) -> None:
    base = origin.commit(PLATFORM)
    head = origin.commit({**PLATFORM, **brought(name)}, base)
    faults = reviewed(store, base, head)
    assert NAMES[name] in [fault.file for fault in faults]
    assert all(fault.fix for fault in faults)
    # What was merged before is no fault of others.
    later = origin.commit({**PLATFORM, **brought(name), **brought("birch")}, head)
    assert reviewed(store, head, later) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name_that_was_merged_leaves_its_folder_unread_and_stops_no_other(
    name: str, origin: Origin, store: ObjectStore
) -> None:
    tip = origin.commit({**PLATFORM, **brought(name), **brought("birch")})
    found = reconciled(store, tip)
    shown = name.encode("utf-8", "replace").decode()
    assert f"eval_sets/{shown}/desk" in found.unread
    assert found.problems
    read = {facts.about.folder for facts in found.submissions}
    assert read == {"eval_sets/acme/desk", "eval_sets/birch/desk"} - set(found.unread)
    assert ("eval_sets/acme/desk" in found.unread) == (name == "ACME")


@pytest.mark.parametrize("mode", ["120000", "160000"])
@pytest.mark.parametrize("place", LINKS)
def test_a_link_is_a_fault_of_the_pull_request_and_stops_nothing_once_merged(
    place: str, mode: str, origin: Origin, store: ObjectStore
) -> None:
    base = origin.commit(PLATFORM)
    entry = link(origin) if mode == "120000" else (mode, base)
    head = origin.commit({**PLATFORM, place: entry}, base)
    (fault,) = reviewed(store, base, head)
    assert (fault.file, fault.line) == (place, None)
    assert "symbolic link" in fault.message or "submodule" in fault.message
    assert "in its place" in fault.fix
    later = origin.commit({**PLATFORM, place: entry, **brought("birch")}, head)
    assert reviewed(store, head, later) == []
    found = reconciled(store, later)
    assert {facts.about.folder for facts in found.submissions} == {"eval_sets/acme/desk", "eval_sets/birch/desk"}
    assert found.unread == ()
    assert [problem.file for problem in found.problems] == ([] if place.startswith("eval_sets/") else [place])
    assert load_platform(store.snapshot(later)).regression_set.entries.keys() == {"one"}


@pytest.mark.parametrize("place", [TAXONOMY_FILE, CONFIG_FILE, "taxonomy", "config", "regression_set"])
def test_a_link_in_place_of_what_all_rests_on_stops_with_its_file(
    place: str, origin: Origin, store: ObjectStore
) -> None:
    kept = {path: held for path, held in PLATFORM.items() if path != place and not path.startswith(f"{place}/")}
    tip = origin.commit({**kept, place: link(origin)})
    with pytest.raises(InputError) as caught:
        load_platform(store.snapshot(tip))
    assert [problem.message for problem in caught.value.problems] == ["the path is a symbolic link"]
    assert caught.value.problems[0].file.startswith(place)


def written(root: Path) -> Path:
    for path, held in PLATFORM.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        assert isinstance(held, bytes)
        (root / path).write_bytes(held)
    return root


def validated(root: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """File and message of each fault that `incumbent validate` finds."""
    capsys.readouterr()
    code = run(["validate", "--repo", str(root), "--json"])
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert code == (1 if problems else 0)
    return [(item["file"].removeprefix(f"{root}/"), item["message"]) for item in problems]


@pytest.mark.parametrize("place", LINKS)
def test_validate_reports_a_link_and_local_commands_refuse_it(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = written(tmp_path / "platform")
    assert validated(root, capsys) == []
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to("nowhere")
    assert validated(root, capsys) == [(place, "the path is a symbolic link")]
    if not place.startswith("eval_sets/"):
        with pytest.raises(InputError, match="symbolic link"):
            open_platform(root, CONFIG_FILE)


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("eval_sets/c:/desk/agent.yaml", ["eval_sets/c:"]),
        ("eval_sets/acme/desk/a\\b.md", ["eval_sets/acme/desk/a\\b.md"]),
        ("eval_sets/acme/desk/AGENT.yaml", ["eval_sets/acme/desk/AGENT.yaml", "eval_sets/acme/desk/agent.yaml"]),
        ("regression_set/nul.md", ["regression_set/nul.md"]),
        ("regression_set/ONE.yaml", ["regression_set/ONE.yaml", "regression_set/one.yaml"]),
        ("taxonomy/-x.md", ["taxonomy/-x.md"]),
        ("config/a\nb", ["config/a\nb"]),
    ],
)
def test_validate_reports_a_name_once(
    path: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = written(tmp_path / "platform")
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("")
    assert [file for file, message in validated(root, capsys) if "every system" in message] == files
