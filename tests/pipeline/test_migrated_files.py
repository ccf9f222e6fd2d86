"""What a taxonomy says as earlier versions wrote it is written as now; tables and overrides under new ids."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from incumbent.errors import InputError
from incumbent.files.snapshot import EmptySnapshot, Overlay
from incumbent.files.yaml_writer import edited
from incumbent.pipeline.migrated_files import (
    MOVED_FILE,
    bring_up_to_date,
    carried_tables,
    migrate_overrides,
    moved_exemplars,
    with_combines,
)
from incumbent.taxonomy.changes import changes_between
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.exemplars import ExemplarFile
from incumbent.taxonomy.loading import TAXONOMY_FILE, load_taxonomy, parse_taxonomy, read_files
from incumbent.taxonomy.migration import NOTHING, Migration
from incumbent.taxonomy.model import Taxonomy

HAND = "taxonomy/exemplars/hand.tsv"
HEAD = """\
# The head stays.
version: 1.2.3 # and so does this
retired: []
groups:
  - {id: deeds, name: "Deeds"}
capabilities:
"""
TEXT = (
    HEAD
    + """\
  # ---- deeds
  - id: deeds.say
    name: Say
    group: deeds
    description: >-
      Says something,
      at length.
    source: intent
    patterns: ['\\bsay\\b']   # a cue
    exemplars:
      positive:
        - say it   # gone with it
        # gone as well
        - 'say that'
        - [say, "and sell"]
        - >-
          say that
          over two lines
      negative: [sell it]

  # ---- more deeds
  - exemplars: {positive: [sell it, [say, and sell]]}
    id: deeds.sell
    name: "Sell"
    group: deeds
    description: d
    source: intent
  - {id: deeds.give, exemplars: {negative: [say it]}, name: Give, group: deeds, description: d, source: intent}
  - {id: deeds.take, name: Take, group: deeds, description: d, source: intent, exemplars: {positive: [take it]}}
  - id: deeds.rest
    name: Rest
    group: deeds
    description: d
    source: intent
    exemplars:
      positive: [rest]
"""
)
LEFT = (
    HEAD
    + """\
  # ---- deeds
  - id: deeds.say
    name: Say
    group: deeds
    description: >-
      Says something,
      at length.
    source: intent
    patterns: ['\\bsay\\b']   # a cue

  # ---- more deeds
  - id: deeds.sell
    name: "Sell"
    group: deeds
    description: d
    source: intent
  - {id: deeds.give, name: Give, group: deeds, description: d, source: intent}
  - {id: deeds.take, name: Take, group: deeds, description: d, source: intent}
  - id: deeds.rest
    name: Rest
    group: deeds
    description: d
    source: intent
"""
)
MOVED = """\
# Exemplars of the taxonomy, one query a row: the capabilities it exercises, those it only looks like, its turns.
# names: say=deeds.say, sell=deeds.sell, give=deeds.give, take=deeds.take, rest=deeds.rest
id\tlabels\tlookalikes\tturns
x0001\tsay\tgive\tsay it
x0002\tsay\t\tsay that
x0003\tsell\tsay\tsell it
x0004\tsay,sell\t\tsay\tand sell
x0005\tsay\t\tsay that over two lines
x0006\ttake\t\ttake it
x0007\trest\t\trest
"""


def moved(text: str, tables: dict[str, str] | None = None) -> dict[str, str]:
    return moved_exemplars(text.encode(), TAXONOMY_FILE, tables or {})


def load(text: str, **files: str) -> Taxonomy:
    return load_taxonomy(Overlay(EmptySnapshot(), {TAXONOMY_FILE: text, **files}))


def test_they_move_and_all_else_stays_byte_for_byte() -> None:
    assert moved(TEXT) == {TAXONOMY_FILE: LEFT, MOVED_FILE: MOVED}


def test_the_capabilities_are_the_same_as_before() -> None:
    before, after = load(TEXT), load(LEFT, **{MOVED_FILE: MOVED})
    assert {id: item.definition for id, item in after.by_id.items()} == {
        id: item.definition for id, item in before.by_id.items()
    }
    assert changes_between(before, after) == ()


def test_the_form_of_the_file_is_kept() -> None:
    again = moved_exemplars(("\ufeff" + TEXT.replace("\n", "\r\n")).encode(), TAXONOMY_FILE, {})
    assert again[TAXONOMY_FILE] == "\ufeff" + LEFT.replace("\n", "\r\n")
    assert moved(TEXT.rstrip("\n"))[TAXONOMY_FILE] == LEFT


def test_where_there_is_nothing_to_move_nothing_changes() -> None:
    assert moved(LEFT) == {}
    assert moved(LEFT, {MOVED_FILE: MOVED}) == {}


def test_empty_exemplars_leave_the_file_alone() -> None:
    text = LEFT + "    exemplars: {positive: [], negative: []}\n"
    assert moved(text) == {TAXONOMY_FILE: LEFT}


def test_a_query_that_a_table_has_already_gets_its_labels_there() -> None:
    table = "# names: SELL=deeds.sell\nid\tlabels\tturns\nh-1\tSELL\tSell  it\nh-2\t\tnothing\n"
    translated = "taxonomy/exemplars/translations/de.tsv"
    german = "id\tturns\nh-2\ttake it\n"
    found = moved(TEXT, {HAND: table, translated: german})
    assert found.keys() == {TAXONOMY_FILE, MOVED_FILE, HAND}
    assert found[HAND] == (
        "# names: SELL=deeds.sell\n"
        "id\tlabels\tlookalikes\tturns\nh-1\tSELL\tdeeds.say\tSell  it\nh-2\tdeeds.take\t\tnothing\n"
    )
    assert "take it" not in found[MOVED_FILE]
    assert [line.split("\t")[0] for line in found[MOVED_FILE].splitlines()[-5:]] == [f"x000{n}" for n in range(1, 6)]


def test_ids_go_on_after_those_that_are_taken() -> None:
    before = "id\tlabels\tturns\nx0007\tdeeds.say\tspeak"
    found = moved(TEXT, {MOVED_FILE: before})
    assert found[MOVED_FILE].splitlines()[:3] == [
        "id\tlabels\tlookalikes\tturns",
        "x0007\tdeeds.say\t\tspeak",
        "x0008\tdeeds.say\tdeeds.give\tsay it",
    ]


def test_a_text_that_no_cell_can_hold_is_written_on_one_line() -> None:
    text = LEFT + '    exemplars: {positive: ["one\\n\\ttwo\\r\\nthree"]}\n'
    assert moved(text)[MOVED_FILE].splitlines()[-1] == "x0001\trest\t\tone two three"


CALLED = (
    HEAD
    + """\
  # the usual case
  - id: deeds.say
    base: true   # as ever
    name: Say
    group: deeds
    description: d
    source: intent
  - base: True
    id: deeds.sell
    name: "Sell"
    group: deeds
    description: 'base: true'
    source: intent
  - {id: deeds.give, base: true, name: Give, group: deeds, description: d, source: intent}
  - {id: deeds.take, name: Take, group: deeds, description: d, source: intent, base: false}
  - {id: deeds.keep, base: false, name: Keep, group: deeds, description: d, source: intent}
  - id: deeds.rest
    # nothing special
    base: false # gone with it
    name: Rest
    group: deeds
    description: d
    source: intent
  - {id: deeds.rise, name: Rise, group: deeds, description: d, source: intent}
  - id: deeds.nap
    name: Nap
    group: deeds
    description: d
    source: intent
    combines: false
    base: true
"""
)
CALLED_NOW = (
    HEAD
    + """\
  # the usual case
  - id: deeds.say
    combines: false   # as ever
    name: Say
    group: deeds
    description: d
    source: intent
  - combines: false
    id: deeds.sell
    name: "Sell"
    group: deeds
    description: 'base: true'
    source: intent
  - {id: deeds.give, combines: false, name: Give, group: deeds, description: d, source: intent}
  - {id: deeds.take, name: Take, group: deeds, description: d, source: intent}
  - {id: deeds.keep, name: Keep, group: deeds, description: d, source: intent}
  - id: deeds.rest
    # nothing special
    name: Rest
    group: deeds
    description: d
    source: intent
  - {id: deeds.rise, name: Rise, group: deeds, description: d, source: intent}
  - id: deeds.nap
    name: Nap
    group: deeds
    description: d
    source: intent
    combines: false
"""
)


def test_base_becomes_combines_and_all_else_stays_byte_for_byte() -> None:
    assert with_combines(CALLED.encode(), TAXONOMY_FILE) == CALLED_NOW
    assert with_combines(CALLED_NOW.encode(), TAXONOMY_FILE) is None
    again = with_combines(("\ufeff" + CALLED.replace("\n", "\r\n")).encode(), TAXONOMY_FILE)
    assert again == "\ufeff" + CALLED_NOW.replace("\n", "\r\n")


def test_base_that_a_merge_key_brings_goes_with_it_and_is_refused_where_that_says_something_else() -> None:
    rest = "name: X, group: deeds, description: d, source: intent"
    text = HEAD + f"  - &a {{id: a, base: true, {rest}}}\n  - {{<<: *a, id: b}}\n"
    assert with_combines(text.encode(), TAXONOMY_FILE) == text.replace("base: true", "combines: false")
    text = text.replace("id: b", "id: b, base: false")
    with pytest.raises(InputError, match="its `base` cannot become `combines`"):
        with_combines(text.encode(), TAXONOMY_FILE)


SAID = st.sampled_from(
    [
        {},
        {"base": True},
        {"base": False},
        {"combines": True},
        {"combines": False},
        {"base": True, "combines": False},
        {"base": False, "combines": True},
    ]
)


@given(st.lists(SAID, min_size=2, max_size=6), st.booleans())
def test_a_taxonomy_says_the_same_before_and_after(said: list[dict[str, bool]], is_flow: bool) -> None:
    """Verdicts know the taxonomy alone, so equal ones give equal verdicts."""
    rest = {"name": "X", "group": "deeds", "description": "d", "source": "intent"}
    data = yaml.safe_load(HEAD) | {"capabilities": [{"id": f"c{n}", **item, **rest} for n, item in enumerate(said)]}
    text = yaml.safe_dump(data, sort_keys=False, default_flow_style=is_flow or None)
    after = with_combines(text.encode(), TAXONOMY_FILE)
    assert (after is None) == all("base" not in item for item in said)
    known = load(text)
    assert after is None or load(after) == known
    assert [item.combines for item in known.capabilities] == [
        item.get("combines", not item.get("base", False)) for item in said
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    exemplars: &mine\n      positive: [rest]\n", None),
        ("    exemplars:\n      positive: [&text rest]\n    patterns: [*text]\n", "an anchor is taken out"),
        ("  - {exemplars: {positive: [x]}}\n", "there is nothing else"),
        ("    <<: &more {exemplars: {positive: [rest]}}\n", "it came by a merge key"),
    ],
)
def test_what_aliases_and_merge_keys_share_is_refused_or_moved(before: str, after: str | None) -> None:
    if after is None:
        assert moved(LEFT + before)[TAXONOMY_FILE] == LEFT
    else:
        with pytest.raises(InputError, match="cannot be taken out") as caught:
            moved(LEFT + before)
        assert "run this again" in caught.value.problems[0].fix


ORDERS = st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=4), min_size=1, max_size=5)


def document(lists: list[list[str]]) -> str:
    capabilities: list[dict[str, Any]] = [
        {
            "id": f"c{place}",
            "name": "C",
            "group": "g",
            "description": "d",
            "source": "intent",
            "exemplars": {"positive": each, "negative": [f"not {place}"]},
        }
        for place, each in enumerate([*lists, ["y"], ["z"]])
    ]
    groups = [{"id": "g", "name": "G"}]
    return yaml.safe_dump({"version": "1.0.0", "groups": groups, "capabilities": capabilities}, sort_keys=False)


def assert_each_moves_once(lists: list[list[str]]) -> None:
    text = document(lists)
    found = moved(text)
    before, after = load(text), load(found.pop(TAXONOMY_FILE), **found)
    for id, item in before.by_id.items():
        assert sorted(map(str, item.exemplars.positive)) == sorted(map(str, after.by_id[id].exemplars.positive))
        assert item.exemplars.negative == after.by_id[id].exemplars.negative
    assert len({row.turns for row in after.exemplars}) == len(after.exemplars)


@given(ORDERS)
def test_every_exemplar_moves_once_with_all_it_says(lists: list[list[str]]) -> None:
    assert_each_moves_once(lists)


def test_lists_that_contradict_each_other_move_as_well() -> None:
    assert_each_moves_once([["a", "b"], ["b", "a"], ["b", "c"]])


@given(st.permutations("abcdef"), st.lists(st.lists(st.integers(0, 5), unique=True, max_size=4), max_size=4))
def test_lists_that_agree_in_their_order_keep_it(order: list[str], picks: list[list[int]]) -> None:
    text = document([[order[place] for place in sorted(each)] for each in picks])
    found = moved(text)
    assert changes_between(load(text), load(found.pop(TAXONOMY_FILE), **found)) == ()


# Tables under new ids -------------------------------------------------------------------------------------------------

TABLE = """\
# names: A=a, W=whole
# a remark: W
id\tlabels\tlookalikes\tturns
h-1\tA,W\tb\tone\twhole
# whole\tW
h-2\tb\tW,A\ta
h-3\t?whole, c\t\tb
"""
MIGRATION = Migration(renames={"a": "a2", "b": "b2"}, splits={"whole": ("p", "q")})


def carried(text: str, migration: Migration = MIGRATION, path: str = HAND) -> dict[str, str]:
    return carried_tables({path: ExemplarFile(path, path, text)}, migration)


def test_names_and_labels_follow_renames_and_splits() -> None:
    assert carried(TABLE) == {
        HAND: """\
# names: A=a2
# a remark: W
id\tlabels\tlookalikes\tturns
h-1\tA,?p,?q\tb2\tone\twhole
# whole\tW
h-2\tb2\tp,q,A\ta
h-3\t?p,?q, c\t\tb
"""
    }


def test_labels_that_were_removed_are_taken_out_of_rows_that_stay() -> None:
    table = "# names: A=a, W=whole\nid\tlabels\tlookalikes\tturns\nh-1\tA,?W\tc\tone\nh-2\twhole\tA\ta\n"
    found = carried_tables({HAND: ExemplarFile(HAND, HAND, table)}, Migration(), ["whole"])
    assert found == {HAND: "# names: A=a\nid\tlabels\tlookalikes\tturns\nh-1\tA\tc\tone\nh-2\t\tA\ta\n"}


def test_a_table_without_lookalikes_follows_too() -> None:
    assert carried("id\tlabels\tturns\nh\ta\ta\tb\r\n") == {HAND: "id\tlabels\tturns\nh\ta2\ta\tb\r\n"}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("id\tlabels\tturns\nh\tc\ta\n", HAND),
        ("no header\nh\ta\ta\n", HAND),
        ("id\tturns\nh\ta\n", "taxonomy/exemplars/translations/de.tsv"),
        ("id\tlabels\tlookalikes\tturns\n\n#\n", HAND),
    ],
)
def test_what_names_nothing_of_it_stays(text: str, path: str) -> None:
    assert carried(text, path=path) == {}


def test_a_name_that_is_now_an_id_is_a_fault_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        carried("# names: a2=c\nid\tlabels\tturns\nh\ta\tx\n")
    (found,) = caught.value.problems
    assert (found.file, found.line) == (HAND, 1)
    assert "'a2' is now the id of a capability" in found.message


def test_what_was_carried_can_be_read() -> None:
    text = document([["x"]]).replace("id: c0", "id: n\n  was: c0").replace("id: c1", "id: p\n  split: c1")
    text = text.replace("id: c2", "id: q\n  split: c1").replace("groups:", "retired: [c0, c1]\ngroups:")
    table = "id\tlabels\tlookalikes\tturns\nh-1\tc0\tc1\tx\nh-2\tc1\t\ty\n"
    files = carried(table, Migration(renames={"c0": "n"}, splits={"c1": ("p", "q")}))
    left = moved(text)[TAXONOMY_FILE]
    taxonomy = load(left, **files)
    assert [(row.exercises, row.resembles, row.unknown) for row in taxonomy.exemplars] == [
        (("n",), ("p", "q"), ()),
        ((), (), ("p", "q")),
    ]
    assert (
        parse_taxonomy(read_files(Overlay(EmptySnapshot(), {TAXONOMY_FILE: left, **files})), tables=False).exemplars
        == ()
    )


def test_a_table_with_more_cells_than_allowed_stays() -> None:
    assert carried("id\tlabels\tturns\nh\ta\tx\n") != {}
    assert carried("id\tlabels\tturns\nh\ta\tx\n" + "\n" * REVIEWED_FILES.nodes) == {}


SPLIT = Migration(renames={"a": "a2"}, splits={"c": ("c1", "c2")})
BAR, FLOOR = {"competence_bar": 0.9}, {"redundancy_floor": 3}


@pytest.mark.parametrize(
    ("before", "migration", "after"),
    [
        ({"a": BAR, "b": FLOOR}, NOTHING, {"a": BAR, "b": FLOOR}),
        ({"a": BAR, "b": FLOOR}, SPLIT, {"a2": BAR, "b": FLOOR}),
        ({"a": BAR, "a2": FLOOR}, SPLIT, {"a2": FLOOR}),
        ({"b": BAR, "c": FLOOR}, SPLIT, {"b": BAR, "c1": FLOOR, "c2": FLOOR}),
        ({"c": FLOOR, "c1": BAR}, SPLIT, {"c2": FLOOR, "c1": BAR}),
        ({"a": BAR, "b": FLOOR}, Migration(renames={"a": "b", "b": "a"}), {"b": BAR, "a": FLOOR}),
        ({}, SPLIT, {}),
    ],
)
def test_overrides_follow_their_capability(before: Any, migration: Migration, after: Any) -> None:
    migrate_overrides(before, migration)
    assert before == after
    assert list(before) == list(after)


def test_the_file_keeps_its_comments() -> None:
    text = "# Overrides.\nper_capability:\n  a: {competence_bar: 0.90} # a\n"
    text += "  # The whole.\n  c:\n    redundancy_floor: 3\n"
    found = edited(
        text.encode(), "c.yaml", REVIEWED_FILES, lambda data: migrate_overrides(data["per_capability"], SPLIT)
    )
    assert found.startswith("# Overrides.\nper_capability:\n  a2: {competence_bar: 0.90} # a\n")
    assert "# The whole." in found
    assert found.endswith("  c1:\n    redundancy_floor: 3\n  c2:\n    redundancy_floor: 3\n")


def test_a_config_of_the_newest_format_stays_as_it_is() -> None:
    said = {"format": 2, "ceiling": 150}
    bring_up_to_date(said, {"format": 2})
    assert said == {"format": 2, "ceiling": 150}
