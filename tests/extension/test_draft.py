"""The taxonomy file with a candidate's capability."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent.errors import InputError
from incumbent.extension.draft import drafted, with_capability
from incumbent.extension.model import DraftExemplar, ExtensionCandidate
from incumbent.files.snapshot import EmptySnapshot, Overlay, WorkingTree
from incumbent.taxonomy.loading import TAXONOMY_FILE, load_taxonomy
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import normalise
from tests.extension.builders import make_candidate
from tests.factories import REPOSITORY

pytestmark = pytest.mark.untraced

TEXT = """\
# The head stays.
version: 1.2.3 # and so does this
retired: []
groups:
  - {id: deeds, name: "Deeds"}
capabilities:
  # ---- deeds
  - id: deeds.say
    name: Say
    group: deeds
    description: >-
      Says something,
      at length.
    source: intent
    exemplars:
      positive:
        - say it
        # a remark
        - 'say that'

  - {id: deeds.sell, name: Sell, group: deeds, description: d, source: intent}
"""


def load(text: str, folder: Path) -> Taxonomy:
    path = folder / TAXONOMY_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return load_taxonomy(WorkingTree(folder))


def test_all_else_stays_and_the_minor_version_rises(tmp_path: Path) -> None:
    found = with_capability(TEXT, make_candidate(), inline=True)
    kept = TEXT.replace("1.2.3", "1.3.0")
    assert found.startswith(kept)
    assert found[len(kept) :].splitlines() == [
        "",
        "  - id: deeds.zigzag",
        '    name: "Proposed: “zigzag”"',
        "    group: deeds",
        '    description: "Proposed from 1 query."',
        "    source: intent",
        "    trial: true",
        "    exemplars:",
        "      positive:",
        '        - "zigzag"',
        "      negative:",
        '        - "say the bar"',
    ]
    capability = load(found, tmp_path).by_id["deeds.zigzag"]
    assert capability.exemplars.positive == ("zigzag",)
    assert capability.exemplars.negative == ("say the bar",)


@pytest.mark.parametrize(
    ("say", "sell", "added"),
    [
        ("", "", []),
        ("combines: false", "", []),
        ("combines: false", "combines: false", ["combines: false"]),
        ("fill_from: any", "fill_from: any", ["fill_from: any"]),
        ("fill_from: others", "fill_from: others", []),
        ("combines: true", "combines: true", []),
    ],
)
def test_it_says_of_combinations_and_floors_what_all_of_its_group_say(say: str, sell: str, added: list[str]) -> None:
    text = TEXT.replace("    name: Say\n", f"    name: Say\n    {say}\n")
    text = text.replace("name: Sell,", f"name: Sell, {sell},".replace(", ,", ","))
    tail = with_capability(text, make_candidate(), inline=False).rpartition("    group: deeds\n")[2]
    assert tail.splitlines()[: len(added) + 1] == [
        *(f"    {line}" for line in added),
        '    description: "Proposed from 1 query."',
    ]


TABLE = """\
# names: S=deeds.say
id\tlabels\tturns
h-1\tS\tsay it
h-2\tS\tSay the  Bar
"""
HAND = "taxonomy/exemplars/hand.tsv"
OWN = "taxonomy/exemplars/candidate-bf942fd9.tsv"


def with_tables(*files: tuple[str, str]) -> dict[str, str]:
    """A taxonomy whose exemplars are tables."""
    head, _, rest = TEXT.partition("    exemplars:\n")
    return {TAXONOMY_FILE: head + rest[rest.index("\n\n") + 1 :], **dict(files)}


def loaded(files: dict[str, str]) -> Taxonomy:
    return load_taxonomy(Overlay(EmptySnapshot(), files))


def test_beside_tables_its_exemplars_are_a_table_of_their_own() -> None:
    files = with_tables((HAND, TABLE))
    candidate = make_candidate(positive=(DraftExemplar(turns=("zig", "zag"), source="c/a/1"),))
    found = drafted(files, candidate)
    assert list(found) == [TAXONOMY_FILE, HAND, OWN]
    assert found[TAXONOMY_FILE].startswith(files[TAXONOMY_FILE].replace("1.2.3", "1.3.0"))
    assert "exemplars" not in found[TAXONOMY_FILE]
    # The hard negative is a row already.
    assert found[HAND] == (
        "# names: S=deeds.say\nid\tlabels\tlookalikes\tturns\nh-1\tS\t\tsay it\nh-2\tS\tdeeds.zigzag\tSay the  Bar\n"
    )
    assert found[OWN] == (
        "# Queries of customers, drawn for deeds.zigzag.\n"
        "id\tlabels\tlookalikes\tturns\n"
        "cbf942fd9-0001\tdeeds.zigzag\t\tzig\tzag\n"
    )
    capability = loaded(files | found).by_id["deeds.zigzag"]
    assert capability.exemplars.positive == (("zig", "zag"),)
    assert capability.exemplars.negative == ("Say the  Bar",)


def test_so_they_are_where_there_are_no_exemplars_yet() -> None:
    files = with_tables()
    found = drafted(files, make_candidate())
    assert list(found) == [TAXONOMY_FILE, OWN]
    capability = loaded(files | found).by_id["deeds.zigzag"]
    assert (capability.exemplars.positive, capability.exemplars.negative) == (("zigzag",), ("say the bar",))


def test_a_file_that_holds_exemplars_itself_gets_them() -> None:
    assert drafted({TAXONOMY_FILE: TEXT}, make_candidate()) == {
        TAXONOMY_FILE: with_capability(TEXT, make_candidate(), inline=True)
    }


def test_a_query_that_is_drawn_twice_is_one_row() -> None:
    again = DraftExemplar(turns=("ZIGZAG",), source="c/a/2")
    found = drafted(with_tables(), make_candidate(positive=(*make_candidate().positive, again), negative=(again,)))
    assert [line.split("\t")[1:] for line in found[OWN].splitlines()[2:]] == [["deeds.zigzag", "", "zigzag"]]


def test_a_list_on_one_line_stays_one(tmp_path: Path) -> None:
    text = TEXT[: TEXT.index("capabilities:")] + (
        "capabilities: [{id: deeds.say, name: Say, group: deeds, description: d, source: intent},\n"
        "  {id: deeds.sell, name: Sell, group: deeds, description: d, source: intent}]\n"
    )
    assert "deeds.zigzag" in load(with_capability(text, make_candidate(), inline=True), tmp_path).by_id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "version: 1.0.0",
        "version: x\ncapabilities: [a]",
        "version: 1.0\ncapabilities: [a]",
        "version: 1.0.0\ncapabilities: []",
        "version: 1.0.0\ncapabilities: a",
        "version: 1.0.0\ncapabilities: {0: a}",
    ],
)
def test_what_is_no_taxonomy_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="version and no capabilities"):
        with_capability(text, make_candidate(), inline=True)


def test_what_is_no_yaml_is_refused_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        with_capability("version: 1.0.0\ncapabilities: [", make_candidate(), inline=True)
    assert caught.value.problems[0].file == TAXONOMY_FILE


def test_an_alias_that_says_the_same_after_it_stays() -> None:
    text = TEXT.replace("name: Say", "name: &name Say").replace("name: Sell", "name: *name")
    assert with_capability(text, make_candidate(), inline=True).startswith(text.replace("1.2.3", "1.3.0"))


def test_what_an_alias_would_change_elsewhere_is_refused() -> None:
    text = TEXT.replace("capabilities:", "capabilities: &all") + "others: *all\n"
    with pytest.raises(InputError, match="cannot be edited without changing what else it says"):
        with_capability(text, make_candidate(), inline=True)


FLUSH = """\
version: "1.2.3"
capabilities:
- id: deeds.say
  name: Say
  exemplars:
    positive:
    - say it
    - 'say that'

- id: deeds.sell
  name: Sell
"""
SHIPPED = [(REPOSITORY / folder / TAXONOMY_FILE).read_bytes().decode() for folder in ("", "tests/service_desk")]


def _next_minor(text: str) -> str:
    major, minor = re.findall(r"(?m)^version: [\"']?(\d+)\.(\d+)", text)[0]
    return f"{major}.{int(minor) + 1}.0"


@pytest.mark.parametrize(
    ("text", "version", "dash"),
    [
        (FLUSH, '"1.3.0"', "- "),
        (TEXT.replace("\n", "\r\n"), "1.3.0", "  - "),
        (FLUSH.replace("\n", "\r\n"), '"1.3.0"', "- "),
        ("\ufeff" + FLUSH, '"1.3.0"', "- "),
        *((text, _next_minor(text), "  - ") for text in SHIPPED),
    ],
)
def test_all_lines_but_the_version_stay_in_the_form_of_the_file(text: str, version: str, dash: str) -> None:
    end = "\r\n" if "\r\n" in text else "\n"
    before = text.split(end)
    (place,) = (number for number, line in enumerate(before) if line.lstrip("\ufeff").startswith("version:"))
    found = with_capability(text, make_candidate(), inline=True).split(end)
    after = found[: len(before) - 1]
    assert after[:place] == before[:place]
    assert after[place + 1 :] == before[place + 1 : -1]
    assert version in after[place]
    added = found[len(before) - 1 :]
    assert added[:2] == ["", f"{dash}id: deeds.zigzag"]
    assert not any("\r" in line or "\n" in line for line in found)


TURN = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)


@settings(deadline=None, max_examples=settings().max_examples * 3 // 5)
@given(st.lists(TURN, min_size=1, max_size=3))
@example(["x\n  - id: evil\n    source: spec"])
@example(['"}]\n---\n!!python/object/apply:os.system [ls]'])
@example(["\x85\u2028\u2029\ufeff#\x00\x1b[2J"])
@example(["*alias &anchor <<: ? |"])
@example(["${{ secrets.TOKEN }}", "yes"])
def test_no_text_breaks_out(tmp_path_factory: pytest.TempPathFactory, turns: list[str]) -> None:
    candidate: ExtensionCandidate = make_candidate(
        name=f"n {turns[0]}",
        description=f"d {turns[-1]}",
        positive=(DraftExemplar(turns=tuple(turns), source="c/a/1"),),
        negative=(),
    )
    found = with_capability(TEXT, candidate, inline=True)
    assert found.startswith(TEXT.replace("1.2.3", "1.3.0"))
    taxonomy = load(found, tmp_path_factory.mktemp("draft"))
    assert list(taxonomy.by_id) == ["deeds.say", "deeds.sell", "deeds.zigzag"]
    (exemplar,) = taxonomy.by_id["deeds.zigzag"].exemplars.positive
    assert ((exemplar,) if isinstance(exemplar, str) else exemplar) == tuple(turns)
    assert taxonomy.by_id["deeds.zigzag"].name == f"n {turns[0]}"
    assert taxonomy.by_id["deeds.zigzag"].description == f"d {turns[-1]}"


@settings(deadline=None, max_examples=settings().max_examples * 3 // 5)
@given(st.lists(TURN, min_size=1, max_size=3))
@example(["x\nevil\tdeeds.say\t\ty", "\tz\t"])
@example(["\x85\u2028\u2029\ufeff#\x00\x1b[2J\r"])
@example(["# names: S=deeds.sell"])
def test_no_text_breaks_out_of_its_cell(turns: list[str]) -> None:
    files = with_tables((HAND, TABLE))
    candidate = make_candidate(
        positive=(DraftExemplar(turns=tuple(turns), source="c/a/1"),),
        negative=(DraftExemplar(turns=(*turns[::-1], "more"), source="c/a/2"),),
    )
    found = drafted(files, candidate)
    assert len([line for line in found[OWN].split("\n") if line]) == 4
    taxonomy = loaded(files | found)
    assert list(taxonomy.by_id) == ["deeds.say", "deeds.sell", "deeds.zigzag"]
    own = [row for row in taxonomy.exemplars if row.hand == "candidate-bf942fd9"]
    assert [(row.exercises, row.resembles) for row in own] == [(("deeds.zigzag",), ()), ((), ("deeds.zigzag",))]
    assert normalise(own[0].turns).replace(" ", "") == normalise(turns).replace(" ", "").replace("\0", "")
