"""The taxonomies that a repository has had, as git tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.errors import InputError
from incumbent.files.git import ObjectStore
from incumbent.taxonomy.history import History, read_version, with_version
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.model import Taxonomy
from tests.factories import make_taxonomy
from tests.origin import Origin

TABLE = "taxonomy/exemplars/hand.tsv"
EXEMPLARS = {"__all__": {"exemplars"}}


@dataclass
class Line:
    """Commits on one line, each with another taxonomy, or with none."""

    origin: Origin
    commits: list[str] = field(default_factory=list)
    folder: str = ""

    def add(self, version: str, *names: str, note: str = "", when: str | None = None) -> None:
        """A version with these capabilities, the first with a rule over tools if any; without any it is faulty."""
        data: Any = make_taxonomy(*names, version=version).model_dump(mode="json") if names else {"version": version}
        if when is not None:
            data["capabilities"][0] |= {"source": "tool", "when": when, "exemplars": {}}
        self._commit({TAXONOMY_FILE: f"# {note}\n{yaml.safe_dump(data)}".encode()})

    def add_tables(self, version: str, *queries: str) -> None:
        """A version with the capabilities a and b, and a table of queries that exercise a; without any it is faulty."""
        data = make_taxonomy("a", "b", version=version).model_dump(mode="json", exclude={"capabilities": EXEMPLARS})
        rows = "".join(f"h-{number}\ta\t{query}\n" for number, query in enumerate(queries))
        table = f"id\tlabels\tturns\n{rows}" if queries else "no header"
        self._commit({TAXONOMY_FILE: yaml.safe_dump(data).encode(), TABLE: table.encode()})

    def remove(self) -> None:
        self._commit({})

    def _commit(self, files: dict[str, bytes]) -> None:
        below = f"{self.folder}/" if self.folder else ""
        placed = {"README.md": b"x"} | {f"{below}{path}": content for path, content in files.items()}
        self.commits.append(self.origin.commit(placed, *self.commits[-1:]))


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(Origin.make(tmp_path / "origin"))


@pytest.fixture
def store(line: Line) -> Iterator[ObjectStore]:
    with ObjectStore.open(line.origin.folder) as opened:
        yield opened


def since(line: Line, store: ObjectStore, version: str) -> list[tuple[str, tuple[str, ...]]]:
    found = History(store, line.commits[-1]).since(version)
    return [(item.version, tuple(item.by_id)) for item in found]


def test_versions_are_told_from_the_one_named_on_oldest_first(line: Line, store: ObjectStore) -> None:
    line.add("1.0.0", "a", "b")
    line.add("1.1.0", "a", "b", "c")
    line.add("2.0.0", "b", "c")
    assert since(line, store, "1.0.0") == [("1.0.0", ("a", "b")), ("1.1.0", ("a", "b", "c")), ("2.0.0", ("b", "c"))]
    assert since(line, store, "1.1.0") == [("1.1.0", ("a", "b", "c")), ("2.0.0", ("b", "c"))]
    assert since(line, store, "2.0.0") == [("2.0.0", ("b", "c"))]


def test_of_a_version_that_no_commit_had_nothing_is_known(line: Line, store: ObjectStore) -> None:
    line.add("1.0.0", "a", "b")
    assert since(line, store, "0.9.0") == []


def test_what_a_version_held_first_counts(line: Line, store: ObjectStore) -> None:
    line.add("1.0.0", "a", "b")
    line.add("1.0.0", "a", "b", "c")
    line.add("1.1.0", "a", "b", "d")
    assert since(line, store, "1.0.0") == [("1.0.0", ("a", "b")), ("1.1.0", ("a", "b", "d"))]


def test_a_version_that_came_back_counts_from_its_last_coming(line: Line, store: ObjectStore) -> None:
    line.add("1.0.0", "a", "b")
    line.add("1.1.0", "a", "b", "c")
    line.add("1.0.0", "a", "b", note="taken back")
    line.add("1.2.0", "a", "b", "d")
    assert since(line, store, "1.0.0") == [("1.0.0", ("a", "b")), ("1.2.0", ("a", "b", "d"))]
    assert [version for version, _ in since(line, store, "1.1.0")] == ["1.1.0", "1.0.0", "1.2.0"]


def test_a_file_that_vanished_for_a_while_is_passed_over(line: Line, store: ObjectStore) -> None:
    line.remove()
    line.add("1.0.0", "a", "b")
    line.remove()
    line.add("1.1.0", "a", "b", "c")
    assert [version for version, _ in since(line, store, "1.0.0")] == ["1.0.0", "1.1.0"]


def test_a_faulty_version_is_passed_over_and_is_nothing_to_start_from(line: Line, store: ObjectStore) -> None:
    line.add("1.0.0", "a", "b")
    line.add("1.1.0")
    line.add("1.2.0", "a", "b", "c")
    assert [version for version, _ in since(line, store, "1.0.0")] == ["1.0.0", "1.2.0"]
    assert since(line, store, "1.1.0") == []


@pytest.mark.parametrize("when", ["protocol == 'rest' || protocol == 'http'", "protocol.name == 'x'", "not ["])
def test_a_rule_that_is_refused_now_drops_no_version(line: Line, store: ObjectStore, when: str) -> None:
    line.add("1.0.0", "a", "b", when=when)
    line.add("1.1.0", "a", "b", "c")
    assert [version for version, _ in since(line, store, "1.0.0")] == ["1.0.0", "1.1.0"]
    assert [item.version for item in History(store, line.commits[-1]).all()] == ["1.0.0", "1.1.0"]


def test_all_versions_are_told_as_each_was_last(line: Line, store: ObjectStore) -> None:
    line.add("1.0.0", "a", "b")
    line.add("1.0.0", "a", "c")
    line.add("1.1.0")
    line.add("1.2.0", "a", "d")
    found = History(store, line.commits[-1]).all()
    assert [(item.version, tuple(item.by_id)) for item in found] == [("1.0.0", ("a", "c")), ("1.2.0", ("a", "d"))]


def versions(taxonomies: Iterable[Taxonomy]) -> list[tuple[str, list[str]]]:
    return [(item.version, [row.turns[0] for row in item.exemplars]) for item in taxonomies]


@pytest.mark.parametrize("folder", ["", "the platform"])
def test_a_commit_of_exemplars_alone_is_one_of_its_version(line: Line, store: ObjectStore, folder: str) -> None:
    line.folder = folder
    line.add_tables("1.0.0", "first")
    line.add_tables("1.0.0", "first", "second")
    line.add_tables("1.0.1", "third")
    line.add_tables("1.0.1", "third", "fourth")
    history = History(store, line.commits[-1], folder)
    assert versions(history.since("1.0.0")) == [("1.0.0", ["first"]), ("1.0.1", ["third"])]
    assert versions(history.all()) == [("1.0.0", ["first", "second"]), ("1.0.1", ["third", "fourth"])]


def test_a_version_whose_exemplars_are_faulty_is_passed_over(line: Line, store: ObjectStore) -> None:
    line.add_tables("1.0.0", "first")
    line.add_tables("1.0.1")
    line.add_tables("1.0.2", "first")
    assert versions(History(store, line.commits[-1]).since("1.0.0")) == [("1.0.0", ["first"]), ("1.0.2", ["first"])]
    assert History(store, line.commits[-1]).since("1.0.1") == ()


def test_a_platform_may_lie_in_a_folder(line: Line, store: ObjectStore) -> None:
    line.folder = "the platform"
    line.add("1.0.0", "a", "b")
    line.add("1.1.0", "a", "c")
    found = History(store, line.commits[-1], line.folder).all()
    assert [(item.version, tuple(item.by_id)) for item in found] == [("1.0.0", ("a", "b")), ("1.1.0", ("a", "c"))]
    assert History(store, line.commits[-1]).all() == ()


REST = "groups: [{version: 7.7.7}]\n"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("version: 1.0.0\n", "1.0.0"),
        ("version:   '1.0.0' # a remark\n", "1.0.0"),
        ('"version": "1.0.0"\n', "1.0.0"),
        ("'version' : 1.0.0\n", "1.0.0"),
        ("? version\n: 1.0.0\n", "1.0.0"),
        ("version: >-\n  1.0.0\n", "1.0.0"),
        ("version: &v1 1.0.0\n", "1.0.0"),
        ("version: !!str 10.20.30\n", "10.20.30"),
        ("---\n# a head\ngroups: [version, 7.7.7]\nversion: 1.0.0\n", "1.0.0"),
        ("[a, version]: 7.7.7\nversion: 1.0.0\n", "1.0.0"),
        ("version : 1.0.0\nwhat is faulty: [\n", "1.0.0"),
        ("{groups: [], version: 1.0.0, retired: []}\n", "1.0.0"),
        ("\ufeffversion: 1.0.0\r\n", "1.0.0"),
        # There is none.
        ("", None),
        (REST, None),
        ("a: version\nb: 1.0.0\n", None),
        ("[version, 1.0.0]\n", None),
        ("version\n", None),
        ("version: one\n", None),
        ("version: 1.0.0-rc\n", None),
        ("version: [1.0.0]\n", None),
        ("a: &v 1.0.0\nversion: *v\n", None),
        ("a: [\nversion: 1.0.0\n", None),
        ("version: \u0661.0.0\n", None),
    ],
)
def test_the_version_is_found_wherever_it_is(text: str, version: str | None) -> None:
    assert read_version(text.encode()) == version
    assert read_version(text.removeprefix("\ufeff")) == version


def test_bytes_that_are_no_text_have_none() -> None:
    assert read_version(b"\xff\xfe\xfd") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("version: 1.0.0 # a remark\n", "version: 1.0.1 # a remark\n"),
        ("\"version\": '1.0.0'\n", "\"version\": '1.0.1'\n"),
        ('version : "1.0.0"\r\n', 'version : "1.0.1"\r\n'),
        ("? version\n: 1.0.0\n", "? version\n: 1.0.1\n"),
        ("version: |-\n  1.0.0\n", "version: |-\n  1.0.1\n"),
        ("version: &v1 1.0.0\n", "version: &v1 1.0.1\n"),
        ("version: !!str 1.0.0\n", "version: !!str 1.0.1\n"),
        ("{é: [], version: 1.0.0, retired: []}\n", "{é: [], version: 1.0.1, retired: []}\n"),
        ("\ufeffversion: 1.0.0\n", "\ufeffversion: 1.0.1\n"),
        ("version: 1.0.1\n", "version: 1.0.1\n"),
        ("version: &v 1.0.1\na: *v\n", "version: &v 1.0.1\na: *v\n"),
    ],
)
def test_another_version_changes_nothing_else(before: str, after: str) -> None:
    assert with_version(before, "t.yaml", "1.0.1") == after


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &v 1.0.0\nversion: *v\n", 2),
        ("version: &v 1.0.0\na: *v\n", 1),
        ("a: &m {version: 1.0.0}\n<<: *m\n", 1),
        ('version: "1\\x2e0.0"\n', 1),
    ],
)
def test_a_version_that_cannot_be_set_is_a_fault(text: str, line: int) -> None:
    with pytest.raises(InputError, match=r"the version must become 1\.0\.1") as caught:
        with_version(text, "t.yaml", "1.0.1")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("t.yaml", line)
    assert "version: 1.0.1" in problem.fix
