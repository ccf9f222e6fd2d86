"""Labels under new ids: FALSE of the whole is FALSE of its parts, TRUE is unknown of them, all else is as it was."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.evaluation.labels import read_file, resolve
from incumbent.classifier.evaluation.migrated_labels import clashes, migrate_document, migrated_table
from incumbent.files.yaml_writer import edited
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.migration import NOTHING, Migration
from tests.evaluation.factories import vocabulary
from tests.factories import SHIPPED
from tests.taxonomy.lives import inverse

IDS = ["a", "b", "c", "d"]
MIGRATION = Migration(renames={"a": "a2", "b": "b2"}, splits={"c": ("c1", "c2")})


def in_table(text: str, migration: Migration = MIGRATION) -> str:
    return migrated_table(text, read_file(text.encode(), "l.tsv", SHIPPED.limits), migration)


def in_yaml(text: str, migration: Migration = MIGRATION) -> str:
    file = read_file(text.encode(), "l.yaml", SHIPPED.limits)
    return edited(text.encode(), "l.yaml", REVIEWED_FILES, lambda data: migrate_document(data, file, migration))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("labels\tquery\na , d\tthe a\n", "labels\tquery\na2 , d\tthe a\n"),
        ("labels\tquery\n? a,b\tx\r\n", "labels\tquery\n? a2,b2\tx\r\n"),
        ("labels\tquery\nc,d\tx\n?c\ty\nd\tz\n\tc\n", "labels\tquery\n?c1,?c2,d\tx\n?c1,?c2\ty\nd\tz\n\tc\n"),
        ("labels\tturns\nc\tc\ta\n\n", "labels\tturns\n?c1,?c2\tc\ta\n\n"),
        ("# a: b, c\n\nlabels\tquery\nd\tx", "# a: b, c\n\nlabels\tquery\nd\tx"),
        ("#capabilities: a,  c ,d\r\nlabels\tquery\n", "#capabilities: a2,  c1 ,  c2 ,d\r\nlabels\tquery\n"),
        # Names of the file's own: one that means a part of something is written out.
        (
            "# names: x = a, y=c, z=-, c=d\nlabels\tquery\nx,z\tx\ny,c\ty\n",
            "# names: x = a2, z=-, c=d\nlabels\tquery\nx,z\tx\n?c1,?c2,c\ty\n",
        ),
        ("# names: x=c, y=c\nlabels\tquery\nx,y\tx\n", "# names:\nlabels\tquery\n?c1,?c2\tx\n"),
    ],
)
def test_a_table(before: str, after: str) -> None:
    assert in_table(before) == after
    assert in_table(after) == after


HEAD = "labels: 1\nqueries:\n- query: x\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{HEAD}  true: [a, d] # an a\n  note: a\n", f"{HEAD}  true: [a2, d] # an a\n  note: a\n"),
        (
            f"{HEAD}  true:\n  - c # c\n  - d # d\n\n- query: c\n  true: []\n",
            f"{HEAD}  unknown:\n  - c1\n  - c2\n  true:\n  - d # d\n\n- query: c\n  true: []\n",
        ),
        (f"{HEAD}  true: [c]\n", f"{HEAD}  unknown: [c1, c2]\n  true: []\n"),
        (f"{HEAD}  true: [c]\n  unknown: [a]\n", f"{HEAD}  true: []\n  unknown: [a2, c1, c2]\n"),
        (f"{HEAD}  true: []\n  unknown: [c, d]\n", f"{HEAD}  true: []\n  unknown: [c1, c2, d]\n"),
        (f"{HEAD}  true: [d, c]\n  unknown: [c]\n", f"{HEAD}  true: [d]\n  unknown: [c1, c2]\n"),
        (
            f"capabilities: [a, c, x]\nnames: {{x: c, y: b}}\n{HEAD}  true: [x]\n  unknown: [y]\n",
            f"capabilities: [a2, c1, c2]\nnames: {{y: b2}}\n{HEAD}  true: []\n  unknown: [y, c1, c2]\n",
        ),
        (f"capabilities: null\n{HEAD}  true: [b]\n", f"capabilities: null\n{HEAD}  true: [b2]\n"),
    ],
)
def test_a_document(before: str, after: str) -> None:
    assert in_yaml(before) == after
    assert in_yaml(after) == after


def test_a_name_of_the_files_own_may_not_become_an_id_that_it_needs() -> None:
    text = "# capabilities: a,c\n# names: a2=d, c1=d, b2=-, x=a\nlabels\tquery\nx\ty\nd\tz\n"
    file = read_file(text.encode(), "l.tsv", SHIPPED.limits)
    found = clashes(file, MIGRATION)
    assert [(problem.line, problem.message) for problem in found] == [
        (2, "the file's own name 'a2' is now the id of a capability that it labels"),
        (2, "the file's own name 'c1' is now the id of a capability that it labels"),
    ]
    assert all("under `names`" in problem.fix for problem in found)
    assert clashes(file, NOTHING) == ()
    nameless = read_file(b"labels: 1\nqueries: [{query: x, true: [a]}]\n", "l.yaml", SHIPPED.limits)
    assert clashes(nameless, MIGRATION) == ()


@st.composite
def migrations(draw: st.DrawFn) -> Migration:
    moving = draw(st.lists(st.sampled_from(IDS), unique=True))
    count = draw(st.integers(0, len(moving)))
    renamed, split = moving[:count], moving[count:]
    targets = draw(st.permutations([*renamed, "x1", "x2", "x3", "x4"]))[:count]
    return Migration(
        renames={id: name for id, name in zip(renamed, targets, strict=True) if id != name},
        splits={id: (f"{id}-1", f"{id}-2") for id in split},
    )


Rows = list[dict[str, str]]
ROWS = st.lists(st.dictionaries(st.sampled_from(IDS), st.sampled_from("T?")), min_size=1, max_size=4)


def table_of(rows: Rows) -> str:
    lines = [
        ",".join(f"{'?' if value == '?' else ''}{id}" for id, value in row.items()) + f"\tquery {place}"
        for place, row in enumerate(rows)
    ]
    return "\n".join(["labels\tquery", *lines, ""])


def document_of(rows: Rows) -> dict[str, Any]:
    queries = [
        {
            "query": f"query {place}",
            "true": [id for id, value in row.items() if value == "T"],
            "unknown": [id for id, value in row.items() if value == "?"],
        }
        for place, row in enumerate(rows)
    ]
    return {"labels": 1, "queries": queries}


def values(content: str, file: str, ids: list[str]) -> dict[tuple[str, ...], Mapping[str, bool]]:
    queries, problems = resolve(read_file(content.encode(), file, SHIPPED.limits), vocabulary(*ids))
    # A file without any label is told so, and labels nothing.
    assert all("labels no capability" in problem.message for problem in problems)
    return {query.turns: query.values for query in queries}


def carried(labels: Mapping[str, bool], migration: Migration) -> dict[str, bool]:
    """The rule itself."""
    return {
        new: value
        for id, value in labels.items()
        for new in migration.became(id)
        if not (value and id in migration.splits)
    }


@given(ROWS, migrations())
def test_edited_files_say_what_the_rule_says(rows: Rows, migration: Migration) -> None:
    ids = [new for id in IDS for new in migration.became(id)]
    table, document = table_of(rows), document_of(rows)
    expected = {turns: carried(item, migration) for turns, item in values(table, "l.tsv", IDS).items()}
    assert values(in_table(table, migration), "l.tsv", ids) == expected
    assert values(in_yaml(yaml.safe_dump(document), migration), "l.yaml", ids) == expected
    file = read_file(json.dumps(document).encode(), "l.json", SHIPPED.limits)
    plain = copy.deepcopy(document)
    migrate_document(plain, file, migration)
    assert values(json.dumps(plain), "l.json", ids) == expected


@given(ROWS)
def test_where_nothing_is_declared_nothing_changes(rows: Rows) -> None:
    assert in_table(table_of(rows), NOTHING) == table_of(rows)


@given(ROWS, migrations())
def test_a_renaming_has_a_way_back(rows: Rows, migration: Migration) -> None:
    renaming = Migration(renames=migration.renames)
    table = table_of(rows)
    assert in_table(in_table(table, renaming), inverse(renaming)) == table
