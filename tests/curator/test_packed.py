"""Parsed entries that are kept: what comes from the pack is what the files say, and nothing else is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator import store
from incumbent.curator.entry import Admitted, Entry, EntryClassification, Evicted, Source, Tombstone
from incumbent.curator.file_changes import render
from incumbent.curator.store import entry_path, load_regression_set, tombstone_path, waiting_path
from incumbent.errors import InputError
from incumbent.files.snapshot import WorkingTree
from incumbent.files.user_cache import RememberedFiles


def entry(id: str = "one", turns: tuple[str, ...] = ("Show my orders",), expected: object = None) -> Entry:
    return Entry.model_validate(
        {
            "id": id,
            "turns": turns,
            "scores": {"say": 0.5},
            "classified": EntryClassification(taxonomy="1.0.0", backend="b", model="m", prompt="p", samples=5),
            "source": Source(customer="c", agent="a", eval_set="eval_sets/c/a/evals.yaml", item=id),
            "admitted": Admitted(at="2026-01-01T00:00:00Z", decision="INCLUDE", route="direct"),
            "expected": expected,
        }
    )


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that are parsed."""
    paths: list[str] = []
    parse = store._parse

    def counted(content: bytes, path: str, shown: str, model: type) -> object:
        paths.append(path)
        return parse(content, path, shown, model)

    monkeypatch.setattr(store, "_parse", counted)
    return paths


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], None]:
    def write(path: str, text: str) -> None:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    return write


@pytest.fixture
def remembered(tmp_path: Path) -> RememberedFiles:
    return RememberedFiles(tmp_path / "cache", tmp_path)


def tombstone(id: str) -> Tombstone:
    return Tombstone(id=id, evicted=Evicted(reason="REDUNDANT"), restore="incumbent restore", entry=entry(id))


def test_only_what_changed_is_parsed_again(
    tmp_path: Path, write: Callable[[str, str], None], remembered: RememberedFiles, parsed: list[str]
) -> None:
    paths = {entry_path("one"): "one", entry_path("two"): "two", waiting_path("three"): "three"}
    for path, id in paths.items():
        write(path, render(entry(id)))
    write(tombstone_path("four"), render(tombstone("four")))
    whole = load_regression_set(WorkingTree(tmp_path), None, remembered)
    assert len(parsed) == 4
    parsed.clear()
    assert load_regression_set(WorkingTree(tmp_path), None, remembered) == whole
    assert parsed == []
    write(entry_path("two"), render(entry("two", turns=("Another text",))))
    changed = load_regression_set(WorkingTree(tmp_path), None, remembered)
    assert parsed == [entry_path("two")]
    assert changed.entries["two"].turns == ("Another text",)
    assert changed == load_regression_set(WorkingTree(tmp_path), None)
    parsed.clear()
    (tmp_path / entry_path("one")).rename(tmp_path / entry_path("elsewhere"))
    with pytest.raises(InputError, match="not the file's name"):
        load_regression_set(WorkingTree(tmp_path), None, remembered)
    assert parsed == [entry_path("elsewhere")]


def test_a_name_that_is_no_unicode_is_told_and_no_end(
    tmp_path: Path, write: Callable[[str, str], None], remembered: RememberedFiles
) -> None:
    write(entry_path("one"), render(entry("one")))
    (tmp_path / entry_path("one")).rename(tmp_path / entry_path("\udcff"))
    with pytest.raises(InputError, match="not the file's name"):
        load_regression_set(WorkingTree(tmp_path), None, remembered)


def test_faults_are_told_again_with_their_lines(
    tmp_path: Path, write: Callable[[str, str], None], remembered: RememberedFiles
) -> None:
    write(entry_path("one"), render(entry("one")))
    load_regression_set(WorkingTree(tmp_path), None, remembered)
    write(entry_path("two"), render(entry("two")).replace("pin: null", "pin: 1"))
    reported = []
    for memory in (remembered, remembered, None):
        with pytest.raises(InputError) as caught:
            load_regression_set(WorkingTree(tmp_path), None, memory)
        reported.append(caught.value.problems)
    assert reported[0] == reported[1] == reported[2]
    assert reported[0][0].line is not None


@pytest.mark.parametrize(
    "pack",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"code": "", "entries": {}, "tombstones": {}}', b'{"entries": 1}'],
)
def test_a_pack_that_is_none_is_passed_over(
    tmp_path: Path, write: Callable[[str, str], None], remembered: RememberedFiles, parsed: list[str], pack: bytes
) -> None:
    write(entry_path("one"), render(entry("one")))
    whole = load_regression_set(WorkingTree(tmp_path), None, remembered)
    remembered.keep(pack)
    parsed.clear()
    assert load_regression_set(WorkingTree(tmp_path), None, remembered) == whole
    assert parsed == [entry_path("one")]


def test_a_pack_of_other_code_is_passed_over(
    tmp_path: Path, write: Callable[[str, str], None], remembered: RememberedFiles, parsed: list[str]
) -> None:
    write(entry_path("one"), render(entry("one")))
    load_regression_set(WorkingTree(tmp_path), None, remembered)
    pack = remembered.pack()
    assert pack is not None
    remembered.keep(pack.replace(b'{"code":"', b'{"code":"x', 1))
    parsed.clear()
    load_regression_set(WorkingTree(tmp_path), None, remembered)
    assert parsed == [entry_path("one")]


@pytest.mark.parametrize("value", [".inf", "-.inf", ".nan", r'"\ud800"', r'"\udfff x"'])
def test_files_hold_nothing_that_a_pack_cannot(
    tmp_path: Path, write: Callable[[str, str], None], remembered: RememberedFiles, value: str
) -> None:
    write(entry_path("odd"), render(entry("odd")).replace("expected: null", f"expected: {value}"))
    with pytest.raises(InputError, match=r"odd\.yaml:\d+: "):
        load_regression_set(WorkingTree(tmp_path), None, remembered)


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(turns=st.lists(texts, min_size=1, max_size=3), expected=values)
def test_a_pack_holds_what_the_file_says(
    tmp_path_factory: pytest.TempPathFactory, turns: list[str], expected: object
) -> None:
    root = tmp_path_factory.mktemp("platform")
    (root / "regression_set").mkdir()
    (root / entry_path("one")).write_text(render(entry("one", tuple(turns), expected)), encoding="utf-8")
    remembered = RememberedFiles(root / "cache", root)
    first = load_regression_set(WorkingTree(root), None, remembered)
    again = load_regression_set(WorkingTree(root), None, remembered)
    assert first == again == load_regression_set(WorkingTree(root), None)
    assert repr(first) == repr(again)
    assert list(first.entries["one"].scores) == list(again.entries["one"].scores)
