"""The mutants of the edges: which changes are made where, and which tests are asked first (dev/mutate_edges.py)."""

from __future__ import annotations

import pytest

from dev.mutate import score
from dev.mutate_edges import BUDGET, Mutant, all_mutants, mutants_of, near
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
    assert sorted(rooms) == ["bot/curator", "bot/files", "bot/github", "bot/ledger", "bot/reconcile"]
    for path, each in rooms.items():
        data = (REPOSITORY / each.path).read_bytes()
        compile(data[: each.start] + each.after.encode() + data[each.end :], path, "exec")


def test_the_fastest_tests_that_reach_a_line_are_asked_as_far_as_there_is_time() -> None:
    (mutant, *_) = mutants_of("a.py", "\nx = 1")
    reach = {
        "slow": {"seconds": BUDGET, "lines": {"a.py": [2]}},
        "fast": {"seconds": 0.1, "lines": {"a.py": [2]}},
        "beside": {"seconds": 0.0, "lines": {"a.py": [1], "b.py": [2]}},
    }
    assert near(mutant, reach) == ["fast"]
    assert near(mutant, {name: item for name, item in reach.items() if name != "fast"}) == ["slow"]
    assert near(mutant, {"beside": reach["beside"]}) == ["beside"]
    assert near(mutant, {}) == []


def test_the_score_counts_what_was_tried_alone() -> None:
    found = {"a": "killed", "b": "survived", "c": "timeout", "d": "equivalent", "e": "not checked", "f": "no tests"}
    assert score(found) == 50.0
