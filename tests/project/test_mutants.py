"""The mutants of the edges: which changes are made where, and which tests are asked first (dev/mutate_edges.py)."""

from __future__ import annotations

import pytest

from dev.mutate import score
from dev.mutate_edges import BUDGET, Mutant, all_mutants, imported_by, mutants_of, near
from tests.factories import REPOSITORY


def changed(source: str) -> list[str]:
    """The lines that ``source``, a single line, becomes."""
    data = source.encode()
    found = [data[: each.start] + each.after.encode() + data[each.end :] for each in mutants_of("a.py", source)]
    return [text.decode() for text in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a == b", ["x = ((a) != (b))"]),
        ("x = (a or b) < c", ["x = (((a) and (b))) < c", "x = ((a or b) <= (c))"]),
        ("x = not a", ["x = (a)"]),
        ("x = [y for y in z if y]", ["x = [y for y in z if (not (y))]"]),
        ("if a: pass", ["if (not (a)): pass"]),
        ("if a is b: pass", ["if ((a) is not (b)): pass"]),
        ("x = é + 1", ["x = ((é) - (1))", "x = é + 2"]),
        ("x: Final = True", ["x: Final = False"]),
        ("x: TypeAlias = Literal['a']", []),
        ("x = 'word'", ["x = 'XXword'"]),
        ("x = 'two words', f'word{x}'", []),
        ("def f(x: str = 'a') -> 'b': ...", ["def f(x: str = 'XXa') -> 'b': ..."]),
        ("def f(): return x", ["def f(): return None"]),
        ("def f(): 'Words.'; raise E('word')", ["def f(): 'Words.'; pass"]),
        ("@each('word')\nclass A(B, key=1): f(a, *b)", ["@each('word')\nclass A(B, key=1): pass"]),
        ("x = f(a, (b), c)", ["x = f(b, (a), c)"]),
    ],
)  # fmt: skip
def test_each_place_is_changed_to_its_opposite(source: str, expected: list[str]) -> None:
    assert sorted(changed(source)) == sorted(expected)


def test_every_room_has_mutants_and_all_can_be_read() -> None:
    rooms: dict[str, Mutant] = {}
    for each in all_mutants(REPOSITORY):
        rooms.setdefault(each.path.rpartition("/")[0], each)
    assert sorted(rooms) == [
        "bot/incumbent/curator",
        "bot/incumbent/files",
        "bot/incumbent/github",
        "bot/incumbent/ledger",
        "bot/incumbent/reconcile",
    ]
    for path, each in rooms.items():
        data = (REPOSITORY / each.path).read_bytes()
        compile(data[: each.start] + each.after.encode() + data[each.end :], path, "exec")


def test_the_fastest_tests_that_reach_a_line_are_asked_as_far_as_there_is_time() -> None:
    (mutant, *_) = mutants_of("a.py", "\nx = 1")
    reach = {
        "slow": {"seconds": BUDGET, "lines": {"a.py": [2]}, "imports": []},
        "fast": {"seconds": 0.1, "lines": {"a.py": [2]}, "imports": []},
        "tests/test_a.py::own": {"seconds": 0.2, "lines": {"a.py": [2]}, "imports": []},
        "tests/test_a.py::more": {"seconds": 0.0, "lines": {"a.py": [1]}, "imports": []},
        "beside": {"seconds": 0.0, "lines": {"a.py": [1], "b.py": [2]}, "imports": []},
        "names": {"seconds": 0.0, "lines": {"b.py": [2]}, "imports": ["a.py"]},
        "far": {"seconds": 0.0, "lines": {"b.py": [2]}, "imports": ["b.py"]},
    }
    assert near(mutant, reach) == ["tests/test_a.py::own", "fast"]
    assert near(mutant, {name: reach[name] for name in ("tests/test_a.py::more", "fast")}) == [
        "fast",
        "tests/test_a.py::more",
    ]
    assert near(mutant, {"slow": reach["slow"]}) == ["slow"]
    # What a module does when it is loaded, coverage sees of no test.
    assert near(mutant, {name: reach[name] for name in ("beside", "names", "far")}) == ["beside", "names"]
    assert near(mutant, {}) == []


def test_imports_are_found_as_modules_and_as_names_of_packages() -> None:
    source = "from incumbent.github import check\nfrom incumbent.files.views import (\n    View,\n)\nimport json\n"
    assert {"bot/incumbent/github/check.py", "bot/incumbent/files/views.py"} <= set(imported_by(source))


def test_the_score_counts_what_was_tried_alone() -> None:
    found = {"a": "killed", "b": "survived", "c": "timeout", "d": "equivalent", "e": "not checked", "f": "no tests"}
    assert score(found) == 50.0
