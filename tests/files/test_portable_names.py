"""Which names every system can hold, and which two of them some system takes for one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator.entry import entry_id
from incumbent.files.portable_names import (
    PATH_CHARACTERS,
    fault_of_name,
    fault_on_the_way,
    folded,
    name_faults,
    with_folders,
)

FAULTY = {
    "a\\b": "has the character \\",
    "..\\x": "has the character \\",
    "c:": "has the character :",
    "a*b": "has the character *",
    "a?": "has the character ?",
    '"a"': 'has the character "',
    "<a>": "has the character <",
    "a|b": "has the character |",
    "--upload-pack=x": "begins with a dash",
    "-rf.yaml": "begins with a dash",
    "a\nb": "cannot be seen",
    "a\tb": "cannot be seen",
    "a\x1b[2J": "cannot be seen",
    "a\x7f": "cannot be seen",
    "a\u202eb": "cannot be seen",
    "a\u200bb": "cannot be seen",
    "a\u2028b": "cannot be seen",
    "a\u3164b": "cannot be seen",
    "a\udcff": "is not UTF-8",
    " a": "begins or ends with a space",
    "a ": "begins or ends with a space",
    "a.": "ends with a dot",
    "...": "ends with a dot",
    "CON": "reserved for a device",
    "nul.yaml": "reserved for a device",
    "Aux.tar.gz": "reserved for a device",
    "com1": "reserved for a device",
    "LPT\u00b9.txt": "reserved for a device",
    "prn .txt": "reserved for a device",
    "CONIN$": "reserved for a device",
    ".GIT": "reserved for git",
    "git~1": "reserved for git",
    "é" * 128: "has 256 bytes, more than 255",
}
FINE = (
    "a", "evals.yaml", ".gitkeep", "Contoso Ltd", "a--b", "a.b.c", "console.yaml", "com10", "nul-1", "com", "a~1",
    "Überweisung.csv", "質問", "e\u0301", "a$b", "a'b", "a;b", "a&b", "(a)", "#1", "[a]", "a" * 255, "\U0001f600",
)  # fmt: skip


@pytest.mark.parametrize(("name", "words"), FAULTY.items())
def test_a_name_that_some_system_cannot_hold(name: str, words: str) -> None:
    fault = fault_of_name(name)
    assert fault is not None
    assert words in fault.message
    assert fault.fix == "rename it"


@pytest.mark.parametrize("name", FINE)
def test_a_name_that_every_system_can_hold(name: str) -> None:
    assert fault_of_name(name) is None


def test_the_names_of_folders_are_looked_at_once_and_those_of_files_each() -> None:
    found = name_faults(["c:/desk/evals.yaml", "c:/desk/agent.yaml", "c:/a\nb/x", "fine/a.yaml", "fine/nul"])
    assert list(found) == ["c:", "c:/a\nb", "fine/nul"]


@pytest.mark.parametrize(
    ("paths", "faulty"),
    [
        (["contoso/desk/a", "CONTOSO/desk/b"], ["CONTOSO", "contoso"]),
        (["a/evals.yaml", "a/Evals.YAML", "a/other"], ["a/Evals.YAML", "a/evals.yaml"]),
        (["a/\u00e9", "a/e\u0301"], ["a/e\u0301", "a/\u00e9"]),
        (["a/Stra\u00dfe", "a/STRASSE"], ["a/STRASSE", "a/Stra\u00dfe"]),
        (["a/x", "A"], ["A", "a"]),
        (["a/x", "b/X"], []),
        (["a/x", "a/x"], []),
        ([], []),
    ],
)
def test_names_in_one_folder_that_some_system_takes_for_one(paths: list[str], faulty: list[str]) -> None:
    found = name_faults(paths)
    assert list(found) == faulty
    assert all("differs only by case" in fault.message for fault in found.values())


def test_a_name_at_fault_for_itself_is_not_told_of_its_twin() -> None:
    found = name_faults(["nul", "NUL"])
    assert ["device" in fault.message for fault in found.values()] == [True, True]


def test_a_path_is_at_most_as_long_as_a_clone_on_windows_has_room_for() -> None:
    most = "a/" * (PATH_CHARACTERS // 2 - 1) + "bc"
    assert len(most) == PATH_CHARACTERS
    assert not name_faults([most])
    (fault,) = name_faults([f"{most}d"]).values()
    assert f"{PATH_CHARACTERS + 1} characters, more than {PATH_CHARACTERS}" in fault.message
    # What it is in counts, and is not looked at.
    assert not name_faults([most[4:]], "c:x")
    assert list(name_faults([most[3:]], "c:x")) == [most[3:]]


def test_the_first_fault_on_the_way_to_a_path() -> None:
    assert fault_on_the_way("a/b/c", {"a/b", "a/b/c"}) == "a/b"
    assert fault_on_the_way("a/b/c", {"a/b/c", "b"}) == "a/b/c"
    assert fault_on_the_way("a/b", {"a/b/c"}) is None


@pytest.mark.parametrize("changed", ["a/desk/x", "A/desk/x", "b/nul", "b/c/d/e", "c"])
def test_what_is_wanted_of_some_paths_is_what_is_found_of_all(changed: str) -> None:
    paths = {"a/desk/x", "A/desk/x", "a/desk/X", "b/nul", "b/c/d/e", "b/C/d/e", "b/c/D/f", "c", changed}
    only = set(with_folders(changed))
    assert name_faults(paths, only=only) == {
        place: fault for place, fault in name_faults(paths).items() if place in only
    }


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=12)


@given(NAMES)
def test_spellings_of_one_name_are_twins_whatever_the_system_folds(name: str) -> None:
    spellings = {
        spelling
        for form in ("NFC", "NFD")
        for each in (name, name.casefold())
        for spelling in [unicodedata.normalize(form, each)]
    }
    assert {folded(spelling) for spelling in spellings} == {folded(name)}
    found = name_faults(f"folder/{spelling}" for spelling in spellings)
    if len(spellings) > 1:
        assert found.keys() == {f"folder/{spelling}" for spelling in spellings}


@given(st.lists(NAMES, max_size=6))
def test_names_are_faults_of_each_other_or_differ_on_every_system(names: list[str]) -> None:
    paths = {f"folder/{name}" for name in names}
    kept = [folded(path) for path in paths - name_faults(paths).keys()]
    assert len(kept) == len(set(kept))


@given(NAMES, NAMES, NAMES)
def test_the_file_of_an_entry_is_portable_whatever_customers_call_theirs(customer: str, agent: str, item: str) -> None:
    assert fault_of_name(f"{entry_id(customer, agent, item)}.yaml") is None
