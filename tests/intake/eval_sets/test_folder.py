from __future__ import annotations

import json
from pathlib import Path

import pytest

from incumbent.intake.eval_sets.folder import UNKNOWN_FORMAT
from incumbent.intake.eval_sets.reader import readers
from tests.intake.eval_sets.folders import messages_of, read, read_one, refused, turns

OWN = "eval_set: 1\nqueries:\n  - {id: q01, query: Show my tickets.}\n  - {query: Close ticket 7.}\n"
M365 = '{"schemaVersion": "1.2.0", "items": [{"prompt": "List the rooms."}]}'
CSV = "Prompt,Expected response\nWho is my manager?,A name\n"

# Files of an agent package, some of which hold the words that eval sets hold.
PACKAGE: dict[str, str | bytes] = {
    "manifest.json": '{"manifestVersion": "1.19", "items": [{"prompt": "x"}]}',
    "declarativeAgent.json": '{"version": "v1.4", "conversation_starters": [{"text": "Hi", "prompt": "x"}], '
    '"capabilities": [{"name": "EmbeddedKnowledge", "files": [{"file": "knowledge/faq.csv"}]}]}',
    "appPackage/ai-plugin.json": '{"schema_version": "v2.2", "functions": [], "prompts": []}',
    "appPackage/loc/de-de.json": '{"name.short": "Werkstatt", "items": [{"title": "x"}]}',
    "appPackage/cards/card.json": '{"type": "AdaptiveCard", "items": [{"type": "TextBlock"}], "prompt": "x"}',
    "appPackage/apiSpecificationFile/openapi.yaml": "openapi: 3.0.0\npaths: {}\nx-queries: [prompt]\nqueries: []\n",
    "appPackage/api.json": '{"openapi": "3.0.0", "paths": {}, "components": {"a": {"items": {}, "prompt": 1}}}',
    "agent.yaml": "agent: 1\nname: x\nqueries: [{query: x}]\n",
    "tools.json": '{"tools": [], "prompts": [{"name": "x"}]}',
    "more_tools.json": '{"tools": [], "prompts": []}',
    "knowledge/faq.csv": "Question,Answer\nWhere?,Here\n",
    "settings.json": '{"editor": true}',
    "README.md": "# Prompts\n",
    "color.png": b"\x89PNG\r\n\x1a\n\x00",
}


def test_eval_sets_are_found_by_content_and_sorted_by_file(tmp_path: Path) -> None:
    found = read(tmp_path, PACKAGE | {"z.csv": CSV, "evals/b.yml": OWN, "a.JSON": M365})
    assert [(item.file, item.format, len(item.queries)) for item in found] == [
        ("a.JSON", "m365-copilot-eval", 1),
        ("evals/b.yml", "incumbent", 2),
        ("z.csv", "copilot-studio", 1),
    ]
    assert all(not item.problems for item in found)


def test_every_format_is_in_the_registry_once() -> None:
    names = [reader.name for reader in readers()]
    assert names == sorted(set(names))
    assert {"copilot-studio", "incumbent", "m365-copilot-eval", "plain-records", "plain-table"} <= set(names)


@pytest.mark.parametrize(
    "files", [{}, PACKAGE, {"evals.txt": OWN}, {"empty.yaml": "", "null.json": "null", "a.csv": ""}]
)
def test_a_folder_without_eval_set_names_the_formats(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    (problem,) = (each for each in refused(tmp_path, files) if each.file == ".")
    assert all(reader.name in problem.message for reader in readers())
    assert problem.fix


def test_a_plain_table_is_an_eval_set_unless_the_agent_names_it_as_knowledge(tmp_path: Path) -> None:
    faq = {"knowledge/faq.csv": "Question,Answer\nWhere?,Here\n"}
    assert [item.file for item in read(tmp_path / "alone", faq | {"e.yaml": OWN})] == ["e.yaml", "knowledge/faq.csv"]
    assert [item.file for item in read(tmp_path / "named", PACKAGE | faq | {"e.yaml": OWN})] == ["e.yaml"]


def test_data_that_a_query_names_is_no_eval_set(tmp_path: Path) -> None:
    needs = OWN.replace(
        "Show my tickets.}", "Show my tickets., setup: {fixtures: [mails.jsonl], attachments: [b.csv]}}"
    )
    data = {"mails.jsonl": '{"input": "x"}\n', "b.csv": "question,x\na,b\n"}
    assert [item.file for item in read(tmp_path, data | {"e.yaml": needs, "other.jsonl": '{"input": "x"}\n'})] == [
        "e.yaml",
        "other.jsonl",
    ]


def test_agent_package_files_are_never_eval_sets(tmp_path: Path) -> None:
    for name in ["manifest.json", "declarativeAgent_hr.json", "Ai-Plugin-2.json", "agent.yml"]:
        refused(tmp_path / name, {name: M365 if name.endswith("json") else OWN})


def test_a_file_that_cannot_be_parsed_is_an_eval_set_without_queries(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {
            "broken.json": '{"schemaVersion": "1.2.0",\n "items": [{"prompt": "a"},]}',
            "broken.yaml": "eval_set: 1\nqueries: [\n",
            "latin.csv": "Prompt,Expected response\nCaf\xe9?,x\n".encode("latin-1"),
            "wide.csv": CSV.encode("utf-16"),
            "good.csv": CSV,
        },
    )
    assert {item.file: (len(item.queries), [problem.line for problem in item.problems]) for item in found} == {
        "broken.json": (0, [2]),
        "broken.yaml": (0, [2]),
        "good.csv": (1, []),
        "latin.csv": (0, [2]),
        "wide.csv": (0, [1]),
    }
    assert {item.format for item in found} == {"m365-copilot-eval", "incumbent", "copilot-studio"}


def test_other_files_that_cannot_be_parsed_are_none_of_our_business(tmp_path: Path) -> None:
    others = {"appPackage/manifest.json": "{}", "appPackage/api.yaml": "paths: [", "settings.json": "{ // comment\n}"}
    found = read(tmp_path, others | {"evals.yaml": OWN})
    assert [item.file for item in found] == ["evals.yaml"]


def test_a_file_above_the_size_limit_is_reported_and_the_others_read(tmp_path: Path) -> None:
    large, good = read(tmp_path, {"a.yaml": OWN + "#" * 300, "b.yaml": OWN}, file_bytes=200)
    assert "more than the limit of 200" in large.problems[0].message
    assert large.queries == ()
    assert len(good.queries) == 2


def test_a_file_that_fits_two_formats_is_an_error_that_names_them(tmp_path: Path) -> None:
    both = read_one(tmp_path, "evals.json", '{"eval_set": 1, "queries": [{"query": "a"}], "items": [{"prompt": "a"}]}')
    assert both.format == UNKNOWN_FORMAT
    assert both.queries == ()
    ((_, message),) = messages_of(both)
    assert message == "the file can be read as several formats: incumbent and m365-copilot-eval"
    (problem,) = both.problems
    assert 'files: {"evals.json": {format: incumbent}}' in problem.fix
    assert "formats.yaml" in problem.fix


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", "eval_set: 1\nqueries: []\n"),
        ("a.json", '{"schemaVersion": "1.2.0", "items": []}'),
        ("a.json", '{"prompts": [], "expected_responses": []}'),
        ("a.csv", "Prompt,Expected response\n\n,\n"),
    ],
)
def test_an_eval_set_without_queries_is_a_fault(tmp_path: Path, name: str, content: str) -> None:
    assert messages_of(read_one(tmp_path, name, content)) == [(1, "the eval set holds no queries")]


def test_a_repeated_id_is_a_fault_and_the_first_counts(tmp_path: Path) -> None:
    repeated = "eval_set: 1\nqueries:\n  - {id: q02, query: a}\n  - {id: q01, query: b}\n  - {id: q02, query: c}\n"
    (found,) = read(tmp_path, {"b.yaml": repeated})
    assert [(query.id, query.turns) for query in found.queries] == [("q02", ("a",)), ("q01", ("b",))]
    assert messages_of(found) == [(5, "the id 'q02' is used already at b.yaml:3")]


def numbered(*texts: str, first: int = 1) -> str:
    return "id,query\n" + "".join(f"{number},{text}\n" for number, text in enumerate(texts, first))


@pytest.mark.parametrize(
    ("files", "ids"),
    [
        ({"a.csv": numbered("a", "b"), "b.csv": numbered("c", first=3)}, ["1", "2", "3"]),
        ({"a.csv": numbered("a", "b"), "b.csv": numbered("c", "d", first=2)}, ["1", "2", "b/2", "b/3"]),
        ({"a.csv": numbered("a"), "b.csv": numbered("b"), "c.csv": numbered("c")}, ["1", "b/1", "c/1"]),
        ({"a.csv": numbered("a"), "x/a.csv": numbered("b"), "y/a.csv": numbered("c")}, ["1", "a/1", "y/a/1"]),
        ({"a.csv": numbered("a"), "b.csv": numbered("b") + "1,c\n"}, ["1", "b/1"]),
        ({"a.csv": numbered("a"), f"{'b' * 200}.csv": numbered("b")}, ["1"]),
        ({"a.csv": numbered("a"), "b.csv": "id,query\n1,b\n,c\n"}, ["1", "b/1", "q-"]),
    ],
)
def test_files_that_number_their_queries_alike_are_told_apart(
    tmp_path: Path, files: dict[str, str], ids: list[str]
) -> None:
    found = [query.id for eval_set in read(tmp_path, files) for query in eval_set.queries]
    assert [id[:2] if id.startswith("q-") else id for id in found] == ids


KEY = "sk-" + "a1B2c3D4" * 4


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ({"query": f"Is {KEY} still valid?"}, "the query contains what looks like a key"),
        ({"turns": ["Hello", f"Use {KEY}"]}, "turn 2 contains what looks like a key"),
        ({"query": "a", "expected": {"notes": [{"x": [KEY]}]}}, "what is expected contains what looks like a key"),
        ({"query": "a", "expected": {KEY: 1}}, "what is expected contains what looks like a key"),
        ({"query": "a", "id": KEY}, "the id contains what looks like a key"),
        ({"query": "a\0b"}, "the query contains a NUL character"),
    ],
)
def test_what_must_not_enter_a_repository_is_a_fault(tmp_path: Path, query: dict[str, object], fault: str) -> None:
    content = json.dumps({"eval_set": 1, "queries": [query, {"query": "My password is Winter2026."}]})
    found = read_one(tmp_path, "e.json", content)
    assert [each.turns for each in found.queries] == [("My password is Winter2026.",)], "an example is none"
    assert [problem.message for problem in found.problems] == [fault]
    assert KEY not in str(found.problems)


def test_ids_are_made_from_the_content_alone(tmp_path: Path) -> None:
    def ids(name: str, queries: list[object]) -> list[str]:
        found = read_one(tmp_path / name, "e.json", json.dumps({"eval_set": 1, "queries": queries}))
        assert not found.problems
        return [query.id for query in found.queries]

    one, two = ids("a", [{"query": "Show my tickets."}, {"turns": ["Show my tickets.", "And close them."]}])
    assert ids("b", [{"turns": ["Show my tickets.", "And close them."]}, {"query": " show  MY\ttickets. "}]) == [
        two,
        one,
    ]
    assert one.startswith("q-")
    assert len(one) == 12
    assert ids("c", [{"query": "a b"}, {"turns": ["a", "b"]}, {"query": "a\nb"}])[0:3:2] == [
        ids("d", [{"query": "a b"}])[0],
        ids("d", [{"query": "a b"}])[0] + "-2",
    ]


def test_equal_content_gets_a_suffix_across_the_folder_and_leaves_given_ids_alone(tmp_path: Path) -> None:
    (alone,) = read(tmp_path / "alone", {"e.csv": CSV})
    made = alone.queries[0].id
    first, second, third = read(
        tmp_path / "together",
        {
            "a.csv": CSV + "WHO is my manager?,Another name\n",
            "b.csv": CSV,
            "c.yaml": f"eval_set: 1\nqueries: [{{id: {made}-2, query: x}}]\n",
        },
    )
    assert [query.id for query in first.queries] == [made, f"{made}-3"]
    assert [query.id for query in second.queries] == [f"{made}-4"]
    assert [query.id for query in third.queries] == [f"{made}-2"]
    assert (first.problems, second.problems, third.problems) == ((), (), ())


@pytest.mark.parametrize(
    ("id", "message"),
    [("a\\nb", "cannot be seen"), ("x" * 201, "has 201 characters"), ("\\u200f", "cannot be seen")],
)
def test_an_id_that_people_cannot_use_is_a_fault(tmp_path: Path, id: str, message: str) -> None:
    ((line, text),) = messages_of(
        read_one(tmp_path, "a.json", f'{{"eval_set": 1, "queries": [\n{{"id": "{id}", "query": "a"}}]}}')
    )
    assert line == 2
    assert message in text


def test_limits_are_faults_of_the_row_and_name_the_limit(tmp_path: Path) -> None:
    rows = ["{turns: [a, b, c]}", "{query: abcdefg}", "{turns: [a, abcdefg]}", "{query: fine}"]
    content = "eval_set: 1\nqueries:\n" + "".join(f"  - {row}\n" for row in rows)
    found = read_one(tmp_path, "a.yaml", content, turns=2, turn_characters=6)
    assert turns(found) == ["fine"]
    assert messages_of(found) == [
        (3, "the query has 3 turns, more than the limit of 2"),
        (4, "the query has 7 characters, more than the limit of 6"),
        (5, "turn 2 has 7 characters, more than the limit of 6"),
    ]
    assert [problem.fix.split("limits.")[1].split()[0] for problem in found.problems] == [
        "turns",
        "turn_characters",
        "turn_characters",
    ]


def test_queries_beyond_the_limit_of_the_folder_are_not_read(tmp_path: Path) -> None:
    first, second = read(tmp_path, {"a.yaml": OWN, "b.yaml": OWN.replace("q01", "q02")}, queries=3)
    assert (len(first.queries), len(second.queries)) == (2, 1)
    assert messages_of(second) == [(4, "the folder holds more queries than the limit of 3; they are read up to here")]


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, {f"{number}.yaml": OWN for number in range(4)}, package_files=3)
    assert "4 files, more than the limit of 3" in problem.message
    assert "limits.package_files" in problem.fix


def test_control_characters_are_kept(tmp_path: Path) -> None:
    assert turns(read_one(tmp_path, "a.csv", "Prompt,Expected response\nring \x07 the\x1b[1m bell,x\n")) == [
        "ring \x07 the\x1b[1m bell"
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"query": 1}\n' * 1_500),
        ("a.csv", "Prompt,Expected response\n" + ",x\n" * 1_500),
        ("a.json", '{"schemaVersion": "1.2.0", "items": [' + "{}," * 1_499 + "{}]}"),
        ("a.yaml", "eval_set: 1\nqueries:\n" + "  - {}\n" * 1_500),
    ],
)
def test_after_very_many_faults_the_rest_of_a_file_is_not_looked_at(tmp_path: Path, name: str, content: str) -> None:
    problems = read_one(tmp_path, name, content).problems
    assert len([problem for problem in problems if "from here on none was looked at" in problem.message]) == 1
    assert 1_000 <= len(problems) <= 1_010


def test_cells_are_counted_not_the_commas_in_them(tmp_path: Path) -> None:
    text = "query,answer\n" + f'"{"a, " * 90}","b"\n' * 10
    assert len(read_one(tmp_path, "a.csv", text, nodes=100).queries) == 10
    (eval_set,) = read(tmp_path, {"a.csv": "query,answer\n" + "a,b\n" * 100, "b.yaml": OWN}, nodes=100)[:1]
    assert "more than 100 values" in eval_set.problems[0].message


def test_what_comes_after_too_many_queries_is_not_looked_at(tmp_path: Path) -> None:
    many = "eval_set: 1\nqueries:\n" + "".join(f"- {{id: {name}, query: {name}}}\n" for name in "abcd")
    faq = "question,x\n" + "a,b\n" * 9
    found = read(tmp_path, {"0.csv": faq, "a.yaml": many, "b.yaml": OWN, "c.json": "{}"}, queries=12)
    assert [(item.file, len(item.queries)) for item in found] == [("0.csv", 9), ("a.yaml", 3), ("b.yaml", 0)]
    found = read(tmp_path, {"0.csv": "x,y\n1,2\n"}, queries=3)
    assert [(item.file, len(item.queries)) for item in found if item.file > "0.csv"] == [("a.yaml", 3), ("b.yaml", 0)]
    assert messages_of(found[-1]) == [(None, "the file is not looked at: the folder holds too many queries without it")]


def test_queries_beyond_the_limit_are_never_left_out_in_silence(tmp_path: Path) -> None:
    texts = ["good", "x" * 9_000, "y" * 9_000, "two", "three"]
    own = "".join(f"- {{id: i{number}, query: {text}}}\n" for number, text in enumerate(texts))
    for name, content in {
        "a.yaml": f"eval_set: 1\nqueries:\n{own}",
        "a.jsonl": "".join(json.dumps({"query": text}) + "\n" for text in texts),
        "a.json": json.dumps({"items": [{"prompt": text} for text in texts]}),
        "promptfooconfig.yaml": "providers: [x]\nprompts: ['{{q}}']\ntests:\n"
        + "".join(f"- vars: {{q: {text}}}\n" for text in texts),
    }.items():
        (found,) = read(tmp_path / name, {name: content}, queries=3)
        assert any(
            "more queries than the limit of 3; they are read up to here" in message for _, message in messages_of(found)
        )


def test_a_file_that_formats_yaml_names_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"input": [{"role": "user", "content": str(n)}], "ideal": "x"}) + "\n" for n in range(9))
    said = "formats: 1\nfiles: {b.csv: {format: plain-table, columns: {query: frage}}}\n"
    found = read(tmp_path, {"a.jsonl": rows, "b.csv": "frage,antwort\na,b\n", "formats.yaml": said}, queries=3)
    assert [item.file for item in found] == ["a.jsonl", "b.csv"]


def test_ids_do_not_hang_on_faults_nor_on_entries_that_come_back(tmp_path: Path) -> None:
    broken = "id,query\n1,\n9,x\n"
    found = read(tmp_path / "o", {"a.csv": broken, "b.csv": "id,query\n1,c\n9,d\n"})
    assert [query.id for item in found for query in item.queries] == ["9", "b/1", "b/9"]
    exported = json.dumps({"query": "a", "incumbent": {"id": "1"}}) + "\n"
    for names in (("a", "b"), ("b", "a")):
        files = {f"{names[0]}.jsonl": exported, f"{names[1]}.csv": numbered("c", "d")}
        found = read(tmp_path / names[0], files)
        ids = {item.file[0]: [query.id for query in item.queries] for item in found}
        assert ids == {names[0]: ["1"], names[1]: [f"{names[1]}/1", f"{names[1]}/2"]}
    long = f"id,query\n1,x\n{'y' * 199},z\n"
    found = read(tmp_path / "c", {"a.csv": numbered("c"), "b.csv": long})
    assert [query.id for item in found for query in item.queries] == ["1", "b/1", "y" * 199]


def test_many_files_with_lists_of_entries_are_joined(tmp_path: Path) -> None:
    listed = json.dumps({"entries": [{"file": f"s-{n}.csv", "prompt": "a", "id": f"e{n}"} for n in range(300)]})
    files = {f"s-{number}.csv": "Prompt,Expected response\na,b\n" for number in range(100)}
    found = read(tmp_path, files | {"s.entries.json": listed})
    assert sorted(query.id for item in found for query in item.queries) == sorted(f"e{n}" for n in range(100))


def test_a_list_of_entries_that_is_broken_costs_no_query(tmp_path: Path) -> None:
    table = "Prompt,Expected response\na,b\n"
    found = read(tmp_path, {"s.csv": table, "s.entries.json": "{broken"})
    assert [(item.file, len(item.queries)) for item in found] == [("s.csv", 1), ("s.entries.json", 0)]
