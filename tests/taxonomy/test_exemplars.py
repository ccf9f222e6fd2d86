"""Tables of exemplars beside a taxonomy: what they say, and every fault of theirs."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import MOST_FAULTS, EmptySnapshot, Overlay, ReadingLimits, WorkingTree
from incumbent.files.user_cache import RememberedFiles
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.exemplars import ExemplarFile, read_exemplars
from incumbent.taxonomy.loading import TAXONOMY_FILE, load_taxonomy, parse_taxonomy, read_files, taxonomy_notes
from incumbent.taxonomy.model import Capability, Exemplar, Exemplars, Taxonomy
from tests.factories import SHIPPED

FOLDER = "taxonomy/exemplars"
HAND = f"{FOLDER}/hand-1.tsv"
GERMAN = f"{FOLDER}/translations/de.tsv"


def capability(id: str, group: str = "deeds", **more: Any) -> dict[str, Any]:
    return {"id": id, "name": id, "group": group, "description": f"About {id}.", "source": "intent"} | more


DATA: dict[str, Any] = {
    "version": "1.0.0",
    "retired": ["was.here", "whole", "gone"],
    "groups": [
        {"id": "deeds", "name": "Deeds"},
        {"id": "size", "name": "Size", "constraint": "exactly-one"},
    ],
    "capabilities": [
        capability("say"),
        capability("sell", was="was.here"),
        capability("part.one", split="whole"),
        capability("part.two", split="whole"),
        capability("small", "size"),
        capability("large", "size"),
    ],
}
TEXT = yaml.safe_dump(DATA, sort_keys=False)
ROWS = """\
# Written by one hand.
# names: S=say, BIG=large
id\tlabels\tlookalikes\tturns
h1-0001\tS,small\tsell\tsay it
# a remark between rows
h1-0002\tsell,BIG\t\tsell all\tand now\twhat is left

h1-0003\t\tS\tdo nothing
h1-0004\t?S,small\t\tperhaps say it
"""
WHOLE = {
    HAND: ROWS,
    f"{FOLDER}/a-hand.tsv": "id\tlabels\tturns\na-1\tsay\t“Sag”, he said, 'it'\n",
    GERMAN: "id\tturns\nh1-0002\tverkaufe alles\tund jetzt\twas ist übrig\nh1-0001\tsag es\n",
    f"{FOLDER}/translations/cs.tsv": "id\tturns\nh1-0001\třekni to\n",
    f"{FOLDER}/README.md": "Notes.",
    f"{FOLDER}/.hidden": "",
}


def load(files: Mapping[str, str | bytes], text: str = TEXT) -> Taxonomy:
    return load_taxonomy(Overlay(EmptySnapshot(), {TAXONOMY_FILE: text, **files}))


def problems(files: Mapping[str, str | bytes], text: str = TEXT) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        load(files, text)
    return caught.value.problems


def test_rows_come_in_the_order_of_the_files_and_translations_after_them() -> None:
    taxonomy = load(WHOLE)
    hand: dict[str, Any] = {"hand": "hand-1"}
    first = Exemplar(id="h1-0001", turns=("say it",), exercises=("say", "small"), resembles=("sell",), **hand)
    second = Exemplar(id="h1-0002", turns=("sell all", "and now", "what is left"), exercises=("sell", "large"), **hand)
    assert taxonomy.exemplars == (
        Exemplar(id="a-1", hand="a-hand", turns=("“Sag”, he said, 'it'",), exercises=("say",)),
        first,
        second,
        Exemplar(id="h1-0003", turns=("do nothing",), exercises=(), resembles=("say",), **hand),
        Exemplar(id="h1-0004", turns=("perhaps say it",), exercises=("small",), unknown=("say",), **hand),
        Exemplar(
            id="h1-0001", language="cs", turns=("řekni to",), exercises=("say", "small"), resembles=("sell",), **hand
        ),
        Exemplar(
            id="h1-0002",
            language="de",
            turns=("verkaufe alles", "und jetzt", "was ist übrig"),
            exercises=("sell", "large"),
            **hand,
        ),
        Exemplar(
            id="h1-0001", language="de", turns=("sag es",), exercises=("say", "small"), resembles=("sell",), **hand
        ),
    )


def test_each_capability_has_its_exemplars_from_the_tables() -> None:
    found = {item.id: item.exemplars for item in load(WHOLE).capabilities}
    assert found["say"].positive == ("“Sag”, he said, 'it'", "say it", "řekni to", "sag es")
    assert found["say"].negative == ("do nothing",)
    assert found["sell"].positive == (
        ("sell all", "and now", "what is left"),
        ("verkaufe alles", "und jetzt", "was ist übrig"),
    )
    assert found["sell"].negative == ("say it", "řekni to", "sag es")
    assert found["say"].originals.positive == ("“Sag”, he said, 'it'", "say it")
    assert found["part.one"] == Exemplars()


def test_a_language_model_is_asked_the_same_whatever_is_translated() -> None:
    originals = {path: text for path, text in WHOLE.items() if "translations" not in path}
    before, after = load(originals), load(WHOLE)
    inline = {"positive": ["“Sag”, he said, 'it'", "say it"], "negative": ["do nothing"]}
    written = Capability.model_validate(capability("say", exemplars=inline), strict=False)
    assert before.by_id["say"].question == after.by_id["say"].question == written.question
    assert before.by_id["say"].definition == written.definition
    assert before.by_id["say"].definition != after.by_id["say"].definition
    assert before.definitions != after.definitions


def test_a_taxonomy_under_another_version_keeps_its_rows() -> None:
    taxonomy = load(WHOLE)
    assert taxonomy.called("2.0.0").exemplars == taxonomy.exemplars
    assert taxonomy.called("2.0.0").called("1.0.0") == taxonomy


def test_texts_of_one_query_may_be_the_same_in_two_languages() -> None:
    files = dict.fromkeys((GERMAN, f"{FOLDER}/translations/pt-BR.tsv"), "id\tturns\nh1-0001\tdi lo\n")
    assert [row.language for row in load({HAND: ROWS, **files}).exemplars[-2:]] == ["de", "pt-BR"]
    # And where two queries have the same labels, so may their texts.
    same = {HAND: table("h1\tsay\t\tx", "h2\tsay\t\ty"), GERMAN: "id\tturns\nh1\tz\nh2\tz\n"}
    assert len(load(same).exemplars) == 4


def test_files_in_the_form_of_other_editors_are_read() -> None:
    again = {path: "\ufeff" + text.replace("\n", "\r\n") for path, text in WHOLE.items()}
    assert load(again) == load(WHOLE)
    spaced = ROWS.replace("id\tlabels", "ID\t Labels ").replace("\tsay it", "\tsay it\t\t")
    assert load(WHOLE | {HAND: spaced}) == load(WHOLE)


def table(*rows: str, header: str = "id\tlabels\tlookalikes\tturns") -> str:
    return "\n".join((header, *rows)) + "\n"


@pytest.mark.parametrize(
    ("files", "line", "message", "fix"),
    [
        # Headers and directives.
        ({HAND: "h1\tsay\t\tx\n"}, 1, "the header is missing", "write `id`, `labels`, `lookalikes`"),
        ({HAND: table(header="id\tlabels\tdress\tturns")}, 1, "the header is missing", "write `id`, `labels`"),
        ({HAND: ""}, 1, "the header is missing", "write `id`"),
        ({HAND: "# names: S\n" + table("h\tsay\t\tx")}, 1, "does not give the meaning of a name", "NAME=CAPABILITY"),
        ({HAND: "# names: S=say, S=sell\n" + table()}, 1, "'S' means two capabilities", "keep one"),
        (
            {HAND: "# names: S=sya\n" + table("h\tS\t\tx")},
            1,
            "'S' cannot stand for that: the taxonomy has no capability",
            "write",
        ),
        ({HAND: "# capabilities: say\n" + table()}, 1, "says of every capability", "remove the line"),
        ({HAND: "# nmaes: S=say\n" + table()}, 1, "perhaps you meant 'names'", "correct the word"),
        # Ids.
        ({HAND: table("h 1\tsay\t\tx")}, 2, "'h 1' is not an id", "write letters, digits"),
        ({HAND: table("\tsay\t\tx")}, 2, "'' is not an id", "write letters, digits"),
        ({HAND: table(f"{'h' * 41}\tsay\t\tx")}, 2, "is not an id", "at most 40"),
        ({HAND: table("h1\tsay\t\tx", "h1\tsay\t\ty")}, 3, f"the id is given twice: h1 ({HAND}:2)", "an id of its own"),
        (
            {HAND: table("h1\tsay\t\tx"), f"{FOLDER}/z.tsv": table("h1\tsay\t\ty")},
            2,
            f"the id is given twice: h1 ({HAND}:2)",
            "an id of its own",
        ),
        # Rows.
        ({HAND: table("h1\tsay\t\t")}, 2, "the row has no query", "write `id`, `labels`, `lookalikes`, `turns`"),
        ({HAND: table("h1\tsay")}, 2, "the row has 2 of the 4 cells of the header", "write `id`, `labels`, `look"),
        ({HAND: table("h1\tsay\tx")}, 2, "the row has 3 of the 4 cells of the header", "an empty cell keeps its tab"),
        ({HAND: table("h1\tsay\t\tx\t \ty")}, 2, "a turn is empty", "between the tabs"),
        (
            {HAND: table("h1\tsay\t\tSay  it", "h2\tsay\t\tsay it")},
            3,
            f"the same text is in h1 ({HAND}:2)",
            "keep one of the two rows",
        ),
        (
            {HAND: table("h1\tsay\t\tx\ty"), f"{FOLDER}/z.tsv": table("h2\tsell\t\tX\ty\u3000")},
            2,
            f"the same text is in h1 ({HAND}:2)",
            "keep one of the two rows",
        ),
        # Labels.
        ({HAND: table("h1\tsya\t\tx")}, 2, "no capability 'sya'; perhaps you meant 'say'", "write the id"),
        ({HAND: table("h1\tsay\tsel\tx")}, 2, "no capability 'sel'; perhaps you meant 'sell'", "# names:"),
        ({HAND: "# names: TALK=say\n" + table("h1\tTLAK\t\tx")}, 3, "perhaps you meant 'TALK'", "write the id"),
        ({HAND: table("h1\twas.here\t\tx")}, 2, "was.here is called sell now", "run `incumbent migrate`"),
        ({HAND: table("h1\twhole\t\tx")}, 2, "whole was split into part.one, part.two", "run `incumbent migrate`"),
        ({HAND: table("h1\tgone\t\tx", "h2\tgone\t\ty")}, 2, "gone is retired", "take it out; `incumbent migrate`"),
        ({HAND: table("h1\tsay,say\t\tx")}, 2, "say is labelled twice", "keep one"),
        ({HAND: "# names: S=say\n" + table("h1\tS,say\t\tx")}, 3, "say is labelled twice", "keep one"),
        ({HAND: "# names: S=say\n" + table("h1\tS,?say\t\tx")}, 3, "say is labelled twice", "keep one"),
        ({HAND: table("h1\tsay,\t\tx")}, 2, "a label has no name", "take out the comma"),
        ({HAND: table("h1\tsay\tsay\tx")}, 2, "say is both a label and a lookalike", "keep one"),
        ({HAND: table("h1\t?say\tsay\tx")}, 2, "say is both a label and a lookalike", "keep one"),
        ({HAND: table("h1\tsay\t?sell\tx")}, 2, "?sell is under lookalikes", "before labels only"),
        (
            {HAND: table("h1\tsmall,large\t\tx")},
            2,
            "small and large are members of size, and a query exercises exactly one of them",
            "keep the one",
        ),
        # Translations.
        ({GERMAN: "id\tlabels\tturns\nh1\tsay\tx\n"}, 1, "the header is missing", "write `id` and `turns`"),
        ({GERMAN: "id\tturns\nh9\tx\n"}, 2, "no original has the id 'h9'", "write the id of a row of taxonomy/ex"),
        (
            {HAND: table("h1\tsay\t\tx"), GERMAN: "id\tturns\nh1\ta\nh1\tb\n"},
            3,
            "h1 is translated in line 2 already",
            "remove one",
        ),
        (
            {HAND: table("h1\tsay\t\tx\ty"), GERMAN: "id\tturns\nh1\tz\n"},
            2,
            f"h1 has 1 turns here, and 2 in h1 ({HAND}:2)",
            "translate turn by turn",
        ),
        (
            {HAND: table("h1\tsay\t\tx"), GERMAN: "id\tturns\nh1\n"},
            2,
            "the row has 1 of the 2 cells",
            "write `id`, `turns`",
        ),
        (
            {HAND: table("h1\tsay\t\tSay it"), GERMAN: "id\tturns\nh1\tsay IT\n"},
            2,
            f"h1 is not translated: it is the text of h1 ({HAND}:2)",
            "translate it",
        ),
        (
            {HAND: table("h1\tsay\t\tx", "h2\tsell\t\ty"), GERMAN: "id\tturns\nh1\ty\n"},
            2,
            f"the same text is in h2 ({HAND}:3), which has other labels than h1 ({HAND}:2)",
            "word the two",
        ),
        # Files.
        ({f"{FOLDER}/hand.csv": "id,labels\n"}, None, "exemplar files end in .tsv", "rename it"),
        ({f"{FOLDER}/more/hand.tsv": table()}, None, "no exemplars are read from this folder", "put the file into"),
        ({f"{FOLDER}/translations/german.tsv": "id\tturns\n"}, None, "is no language", "de.tsv or pt-BR.tsv"),
        ({f"{FOLDER}/hand 1.tsv": table()}, None, "is not an id", "hand-1.tsv"),
        ({HAND: b"id\tlabels\tturns\nh\tsay\t\xff\n"}, 2, "not valid UTF-8", "UTF-8"),
        ({HAND: table("h1\tsay\t\tx\0")}, 2, "NUL", "plain text"),
    ],
)
def test_each_fault_has_file_line_and_fix(
    files: dict[str, str | bytes], line: int | None, message: str, fix: str
) -> None:
    found = [item for item in problems(files) if message in item.message]
    assert found, problems(files)
    assert [(item.file, item.line) for item in found] == [(list(files)[-1], line)]
    assert fix in found[0].fix


def test_faults_of_all_files_are_told_at_once() -> None:
    files: dict[str, str | bytes] = {
        HAND: table("h1\tsya\t\tx", "h1\tsay,\t\tx", "h3\tsay"),
        f"{FOLDER}/z.tsv": "no header",
        GERMAN: "id\tturns\nh1\tx\n",
        f"{FOLDER}/hand.txt": "",
    }
    text = yaml.safe_dump(DATA | {"capabilities": [capability("say", when="nonsense("), *DATA["capabilities"][1:]]})
    messages = "\n".join(map(str, problems(files, text)))
    for expected in (
        "say: the rule is not valid JMESPath",
        "no capability 'sya'",
        "the id is given twice",
        "a label has no name",
        "the same text is in",
        "cells of the header",
        "exemplar files end in .tsv",
        "the header is missing",
        "h1 is not translated",
    ):
        assert expected in messages


@pytest.mark.parametrize(
    ("bad", "orphans"),
    [
        ({HAND: "no header\nh1\tsay\t\tx\n"}, 1),
        ({HAND: table("h1\tsay")}, 1),
        ({HAND: table(*(f"b{n} \tsay\t\tx{n}" for n in range(MOST_FAULTS)), "h1\tsay\t\tx", "h1")}, 1),
        ({HAND: table("h1 say   x")}, 1),
        ({HAND: table("h1    say\t\tx")}, 1),
        ({HAND: table("h1  say\tsay\t\tx")}, 1),
        ({HAND: "id labels turns\n h1 say x\n\n"}, 1),
        ({HAND: b"id\tlabels\tturns\nh1\tsay\t\xff\n"}, 0),
        ({f"{FOLDER}/hand 1.tsv": table("h1\tsay\t\tx")}, 0),
    ],
)
def test_what_could_not_be_read_makes_no_translation_an_orphan(bad: dict[str, str | bytes], orphans: int) -> None:
    found = problems({**bad, GERMAN: "id\tturns\nh1\tx\nh9\ty\n"})
    assert [item.line for item in found if "no original" in item.message] == [3] * orphans
    assert len(found) > orphans


def test_a_misplaced_file_is_told_beside_a_taxonomy_that_cannot_be_read() -> None:
    assert [item.file for item in problems({f"{FOLDER}/hand.csv": ""}, "a: [")] == [f"{FOLDER}/hand.csv", TAXONOMY_FILE]


def test_labels_of_a_capability_that_is_itself_at_fault_are_no_second_fault() -> None:
    text = yaml.safe_dump(DATA | {"capabilities": [capability("say", name=7), *DATA["capabilities"][1:]]})
    assert ["must be a string" in item.message for item in problems(WHOLE, text)] == [True]
    assert all("capability" not in item.message for item in problems(WHOLE, "version: x\n" + TEXT))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a\n",
        "7\n",
        TEXT.replace("capabilities:", "capabilites:"),
        yaml.safe_dump(DATA | {"capabilities": []}),
        yaml.safe_dump(DATA | {"capabilities": {"say": capability("say")}}),
        yaml.safe_dump(DATA | {"capabilities": ["say"]}),
    ],
)
def test_without_a_capability_that_can_be_read_no_label_is_a_fault(text: str) -> None:
    alone = problems({}, text)
    assert problems(WHOLE, text) == alone
    bad = table("h1\tsay,\t\tx", "h2\tsay,say\tsay\tX", "h3\tsay")
    names = "# names: s=what is nothing\n"
    found = [item for item in problems({**WHOLE, f"{FOLDER}/z.tsv": names + bad}, text) if item not in alone]
    assert [item.line for item in found] == [3, 4, 4, 4, 5]
    assert all("capability" not in item.message for item in found)


def test_a_name_that_means_nothing_is_one_fault_in_each_file() -> None:
    files = {HAND: table(*(f"h{n}\tsya\tsya2\tx{n}" for n in range(9))), f"{FOLDER}/z.tsv": table("z\tsya\t\tz")}
    assert [(item.file, item.line) for item in problems(files)] == [(HAND, 2), (HAND, 2), (f"{FOLDER}/z.tsv", 2)]


def test_after_so_many_faults_the_rest_of_a_file_is_not_looked_at() -> None:
    found = problems({HAND: table(*(f"h{n} \tsay\t\tx{n}" for n in range(3 * MOST_FAULTS)))})
    assert len(found) == MOST_FAULTS


def test_a_table_with_more_cells_than_allowed_is_not_read() -> None:
    file = ExemplarFile(HAND, HAND, table("h1\tsay\t\tx\ty\tz"))
    with pytest.raises(InputError, match="more than 5 values"):
        read_exemplars({HAND: file}, load({}), ReadingLimits(10_000, 10, 5))


def test_exemplars_in_both_places_are_a_fault_with_the_way_out() -> None:
    data = DATA | {"capabilities": [capability("say", exemplars={"positive": ["x"]}), *DATA["capabilities"][1:]]}
    text = yaml.safe_dump(data, sort_keys=False)
    (found,) = problems({HAND: table("h1\tsay\t\ty")}, text)
    assert "say: it has exemplars here, and there are tables" in found.message
    assert "incumbent migrate" in found.fix
    assert text.splitlines()[(found.line or 0) - 1].strip() == "exemplars:"


def test_exemplars_are_no_key_of_the_file() -> None:
    (found,) = problems({}, TEXT + "exemplars: [x]\n")
    assert (found.file, found.line) == (TAXONOMY_FILE, len(TEXT.splitlines()) + 1)
    assert "exemplars: they are no part of this file" in found.message
    (other,) = problems({}, TEXT + "exemplar: [x]\n")
    assert other.fix == "use one of: capabilities, format, groups, retired, version"
    assert "exemplars" not in Taxonomy.model_json_schema()["properties"]


@pytest.mark.parametrize("place", [HAND, FOLDER])
def test_a_link_is_left_out_and_never_followed(place: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "hand.tsv").write_text("no table", encoding="utf-8")
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / TAXONOMY_FILE).write_text(TEXT, encoding="utf-8")
    (tmp_path / place).symlink_to(elsewhere if place == FOLDER else elsewhere / "hand.tsv")
    assert load_taxonomy(WorkingTree(tmp_path)).exemplars == load_taxonomy(WorkingTree(bare(tmp_path))).exemplars


def bare(folder: Path) -> Path:
    """A platform with the same taxonomy and no exemplars."""
    file = folder / "bare" / TAXONOMY_FILE
    file.parent.mkdir(parents=True)
    file.write_text(TEXT, encoding="utf-8")
    return folder / "bare"


def test_a_file_in_place_of_the_folder_is_a_fault() -> None:
    (found,) = problems({FOLDER: table("h1\tsay\t\tx")})
    assert found.file == FOLDER
    assert "this is a file" in found.message
    assert "taxonomy/exemplars/NAME.tsv" in found.fix


def test_notes_count_the_originals() -> None:
    snapshot = Overlay(EmptySnapshot(), {TAXONOMY_FILE: TEXT, **WHOLE})
    notes = [note.message for note in taxonomy_notes(snapshot, load_taxonomy(snapshot), SHIPPED.appraisal)]
    assert "say: it has 2 of 12 positive exemplars and 1 of 12 lookalikes, fewer than an appraisal asks for" in notes
    assert not any("stand in this file" in note for note in notes)


def test_what_passed_is_read_without_the_checks_and_gives_the_same(tmp_path: Path) -> None:
    checked = RememberedFiles(tmp_path, Path())
    snapshot = Overlay(EmptySnapshot(), {TAXONOMY_FILE: TEXT, **WHOLE})
    first = load_taxonomy(snapshot, checked)
    assert len(list((tmp_path / "checked").iterdir())) == 1
    assert load_taxonomy(snapshot, checked) == first == load(WHOLE)
    assert parse_taxonomy(read_files(snapshot), passed=True) == first


@pytest.mark.parametrize(
    "change",
    [
        {HAND: table("h1\tsay\t\tx", "h1\tsay\t\tx")},
        {TAXONOMY_FILE: TEXT.replace("id: say", "id: say\n  patterns: ['(?=x)']")},
        {f"{FOLDER}/z.tsv": table("h1-0001\tsay\t\tx")},
        {GERMAN: "id\tturns\nh1-0001\tsay it\n"},
    ],
)
def test_another_content_is_checked_whatever_passed_before(tmp_path: Path, change: dict[str, str]) -> None:
    checked = RememberedFiles(tmp_path, Path())
    load_taxonomy(Overlay(EmptySnapshot(), {TAXONOMY_FILE: TEXT, **WHOLE}), checked)
    for _ in range(2):
        with pytest.raises(InputError):
            load_taxonomy(Overlay(EmptySnapshot(), {TAXONOMY_FILE: TEXT, **WHOLE, **change}), checked)


def test_without_a_memory_nothing_is_remembered(tmp_path: Path) -> None:
    broken = {HAND: table("h1\tsay\t\tx", "h1\tsay\t\ty")}
    snapshot = Overlay(EmptySnapshot(), {TAXONOMY_FILE: TEXT, **broken})
    checked = RememberedFiles(tmp_path, Path())
    # As if somebody else had written the mark.
    checked.note(f"taxonomy {read_files(snapshot).digest}")
    with pytest.raises(InputError):
        load_taxonomy(snapshot)


def test_the_same_bytes_are_parsed_once_wherever_they_are_and_faults_are_found_each_time(tmp_path: Path) -> None:
    snapshot = Overlay(EmptySnapshot(), {TAXONOMY_FILE: TEXT, **WHOLE})
    for path in snapshot.paths(""):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(snapshot.read(path, REVIEWED_FILES))
    assert load_taxonomy(WorkingTree(tmp_path)) is load_taxonomy(snapshot)
    stray = Overlay(EmptySnapshot(), {TAXONOMY_FILE: TEXT, **WHOLE, f"{FOLDER}/a folder/too deep.tsv": "x"})
    for _ in range(2):
        with pytest.raises(InputError, match="too deep"):
            load_taxonomy(stray)
    other = Overlay(EmptySnapshot(), {TAXONOMY_FILE: TEXT.replace("1.0.0", "1.0.1"), **WHOLE})
    assert load_taxonomy(other).version == "1.0.1"


def test_thousands_of_rows_take_a_moment() -> None:
    rows = [f"h{n}\tsay,small\tsell\tHow many of the {n} orders were late, and Größe {n}?" for n in range(8_000)]
    file = ExemplarFile(HAND, HAND, table(*rows))
    taxonomy = load({})
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        assert len(read_exemplars({HAND: file}, taxonomy, REVIEWED_FILES)) == 8_000
        taken.append(time.perf_counter() - start)
    # 0.08 s on an idle machine; where coverage is measured, it is that which takes long.
    assert min(taken) < 0.5 or sys.gettrace() is not None


CELLS = st.sampled_from(["h1", "h2", "say", "small,large", "?say", "", " ", "#", "x", "id", "turns", "S", "say,", "\r"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([HAND, GERMAN, f"{FOLDER}/z.tsv"]),
    st.lists(st.lists(CELLS | st.text(max_size=5), max_size=5).map("\t".join), max_size=5),
    st.booleans(),
)
def test_whatever_stands_in_a_table_is_read_or_reported(path: str, lines: list[str], headed: bool) -> None:
    header = "id\tturns\n" if path == GERMAN else "id\tlabels\tlookalikes\tturns\n"
    content = ((header if headed else "") + "\n".join(lines)).encode("utf-8", "surrogatepass")
    with contextlib.suppress(InputError):
        load({HAND: table("h1\tsay\t\tone"), path: content})
