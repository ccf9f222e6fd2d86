"""The taxonomy file with a candidate's capability."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.errors import InputError
from bot.extension.draft import with_capability
from bot.extension.model import Candidate, Exemplar
from bot.snapshot import WorkingTree
from bot.taxonomy.loading import TAXONOMY_FILE, load_taxonomy
from bot.taxonomy.model import Taxonomy
from tests.extension.builders import make_candidate

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
    found = with_capability(TEXT, make_candidate())
    kept = TEXT.replace("1.2.3", "1.3.0")
    assert found.startswith(kept)
    assert found[len(kept) :].splitlines() == [
        "",
        "  - id: deeds.zigzag",
        '    name: "Proposed: “zigzag”"',
        "    group: deeds",
        '    description: "Proposed from 1 query."',
        "    source: intent",
        "    exemplars:",
        "      positive:",
        '        - "zigzag"',
        "      negative:",
        '        - "say the bar"',
    ]
    capability = load(found, tmp_path).by_id["deeds.zigzag"]
    assert capability.exemplars.positive == ("zigzag",)
    assert capability.exemplars.negative == ("say the bar",)


def test_a_list_on_one_line_stays_one(tmp_path: Path) -> None:
    text = TEXT[: TEXT.index("capabilities:")] + (
        "capabilities: [{id: deeds.say, name: Say, group: deeds, description: d, source: intent},\n"
        "  {id: deeds.sell, name: Sell, group: deeds, description: d, source: intent}]\n"
    )
    assert "deeds.zigzag" in load(with_capability(text, make_candidate()), tmp_path).by_id


@pytest.mark.parametrize(
    "text", ["", "[]", "version: 1.0.0", "version: x\ncapabilities: [a]", "a: [", "version: 1.0.0\ncapabilities: []"]
)
def test_what_is_no_taxonomy_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="version and no capabilities"):
        with_capability(text, make_candidate())


TURN = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)


@settings(deadline=None, max_examples=60)
@given(st.lists(TURN, min_size=1, max_size=3))
@example(["x\n  - id: evil\n    source: spec"])
@example(['"}]\n---\n!!python/object/apply:os.system [ls]'])
@example(["\x85\u2028\u2029\ufeff#\x00\x1b[2J"])
@example(["*alias &anchor <<: ? |"])
@example(["${{ secrets.TOKEN }}", "yes"])
def test_no_text_breaks_out(tmp_path_factory: pytest.TempPathFactory, turns: list[str]) -> None:
    candidate: Candidate = make_candidate(
        name=f"n {turns[0]}",
        description=f"d {turns[-1]}",
        positive=(Exemplar(turns=tuple(turns), source="c/a/1"),),
        negative=(),
    )
    found = with_capability(TEXT, candidate)
    assert found.startswith(TEXT.replace("1.2.3", "1.3.0"))
    taxonomy = load(found, tmp_path_factory.mktemp("draft"))
    assert list(taxonomy.by_id) == ["deeds.say", "deeds.sell", "deeds.zigzag"]
    (exemplar,) = taxonomy.by_id["deeds.zigzag"].exemplars.positive
    assert ((exemplar,) if isinstance(exemplar, str) else exemplar) == tuple(turns)
    assert taxonomy.by_id["deeds.zigzag"].name == f"n {turns[0]}"
    assert taxonomy.by_id["deeds.zigzag"].description == f"d {turns[-1]}"
