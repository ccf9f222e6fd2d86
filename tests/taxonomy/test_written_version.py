"""The version of a taxonomy in whatever way YAML lets people write it."""

from __future__ import annotations

import pytest

from bot.errors import InputError
from bot.taxonomy.written_version import read_version, with_version

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
