from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import TAXONOMY_FILE, load_taxonomy, taxonomy_notes
from incumbent.taxonomy.model import Taxonomy
from tests.factories import REPOSITORY, SHIPPED

Change = Callable[[dict[str, Any]], object]


def intent(id: str, group: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "name": id.title(),
        "group": group,
        "description": "What the query asks for.",
        "source": "intent",
        "patterns": [r"\btables?\b"],
        "exemplars": {
            "positive": [f"{id} {number}" for number in range(SHIPPED.appraisal.positive)],
            "negative": [f"not {id} {number}" for number in range(SHIPPED.appraisal.negative)],
        },
    } | more


def spec(id: str, group: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "name": id.title(),
        "group": group,
        "description": "What the agent declares.",
        "source": "spec",
        "when": "contains(auth_modes, 'oauth')",
        "requires": "calls",
    } | more


def valid() -> dict[str, Any]:
    """Groups 0 to 3, of which 1 (format) and 2 (auth) are exactly-one; capabilities 0 to 5."""
    return {
        "version": "1.0.0",
        "retired": ["gone"],
        "groups": [
            {"id": "request", "name": "Request"},
            {"id": "format", "name": "Format", "parent": "request", "constraint": "exactly-one"},
            {"id": "auth", "name": "Authentication", "parent": "request", "constraint": "exactly-one"},
            {"id": "tools", "name": "Tools"},
        ],
        "capabilities": [
            intent("table", "format"),
            intent("prose", "format"),
            spec("oauth", "auth"),
            spec("key", "auth", when="contains(auth_modes, 'api-key')"),
            intent("calls", "tools"),
            intent("reads", "tools"),
        ],
    }


def load(tmp_path: Path, text: str) -> Taxonomy:
    (tmp_path / "taxonomy").mkdir(exist_ok=True)
    (tmp_path / TAXONOMY_FILE).write_text(text, encoding="utf-8")
    return load_taxonomy(WorkingTree(tmp_path))


def problems(tmp_path: Path, text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    return caught.value.problems


def changed(*changes: Change) -> str:
    data = valid()
    for change in changes:
        change(data)
    return yaml.safe_dump(data, sort_keys=False, width=1000)


def in_capability(place: int, **values: Any) -> Change:
    return lambda data: data["capabilities"][place].update(values)


def both(first: Change, second: Change) -> Change:
    return lambda data: (first(data), second(data))


def decided(place: int, source: str, **values: Any) -> Change:
    """A capability decided by a rule of that source, which requires nothing."""
    return in_capability(place, **{"source": source, "requires": None} | values)


def in_capabilities(*places: int, **values: Any) -> Change:
    return lambda data: [in_capability(place, **values)(data) for place in places]


def in_group(place: int, **values: Any) -> Change:
    return lambda data: data["groups"][place].update(values)


def add_capability(capability: dict[str, Any]) -> Change:
    return lambda data: data["capabilities"].append(capability)


def add_exemplar(place: int, kind: str, exemplar: Any) -> Change:
    return lambda data: data["capabilities"][place]["exemplars"][kind].append(exemplar)


def without(place: int, key: str) -> Change:
    return lambda data: data["capabilities"][place].pop(key)


def test_valid_taxonomy_is_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    taxonomy = load(tmp_path, changed())
    assert list(taxonomy.by_id) == ["table", "prose", "oauth", "key", "calls", "reads"]
    assert {group: [item.id for item in items] for group, items in taxonomy.exactly_one.items()} == {
        "format": ["table", "prose"],
        "auth": ["oauth", "key"],
    }
    assert taxonomy.by_id["table"].exemplars.positive[0] == "table 0"
    assert taxonomy.by_id["oauth"].requires == "calls"


def test_allowed_variety_is_no_fault(tmp_path: Path) -> None:
    load(
        tmp_path,
        changed(
            in_group(0, parent="tools"),
            add_capability(intent("mixed", "auth")),
            add_exemplar(4, "positive", ["first turn", "second turn"]),
            # Under two capabilities whose group is not exactly-one, and as another's hard negative.
            add_capability(intent("also", "tools", exemplars=valid()["capabilities"][4]["exemplars"])),
            add_exemplar(1, "negative", "table 1"),
            in_capability(2, exemplars={"positive": ["Sign me in."]}, patterns=[r"\bsign in\b"]),
            # What a retired capability was split into, and what another is called now.
            lambda data: data["retired"].append("former"),
            in_capabilities(4, 5, split="gone"),
            in_capability(0, was="former"),
            # The only part that is left of another.
            lambda data: data["retired"].append("whole"),
            in_capability(1, split="whole"),
            # The other sources, and a gate.
            decided(3, "tool", when="auth == 'api-key'"),
            add_capability(spec("turns", "tools", source="structure", when="user_turns > `1`", requires=None)),
            in_capability(5, when="contains(knowledge, 'files')"),
            in_capabilities(4, 5, expected_calls="several"),
            in_capability(4, chained=True),
        ),
    )


@pytest.mark.parametrize(
    ("change", "line_of", "message"),
    [
        # Ids.
        (add_capability(intent("table", "tools")), "- id: table", "the id is given twice, first in line"),
        (in_group(3, id="request"), "- id: request", "the id is given twice"),
        (add_capability(intent("request", "tools")), "- id: request", "the id is given twice"),
        (in_capability(0, id="gone"), "- id: gone", "the id is retired"),
        (in_group(3, id="Tools!"), "- id: Tools!", "must match the pattern"),
        # Groups.
        (in_group(1, parent="reqest"), "parent: reqest", "no group has the id 'reqest', the parent; perhaps you meant"),
        (in_group(3, parent="auth"), "parent: auth", "such a group holds capabilities only"),
        (in_group(0, parent="request"), "parent: request", "the group is its own ancestor: request → request"),
        (in_capability(0, group="fromat"), "group: fromat", "no group has the id 'fromat'; perhaps you meant 'format'"),
        (in_capability(0, group="calls"), "group: calls", "no group has the id 'calls'"),
        (in_capability(0, group="tools"), "- id: format", "needs two members or more, this one has 1"),
        (
            lambda data: data["groups"].append({"id": "e", "name": "E", "constraint": "exactly-one"}),
            "- id: e",
            "needs two members or more, this one has 0",
        ),
        (in_group(3, constraint="exactly-two"), "constraint: exactly-two", "must be 'any' or 'exactly-one'"),
        # Expected calls.
        (
            in_capability(2, expected_calls="several"),
            "expected_calls: several",
            "is for capabilities that are inferred where an eval set states no calls",
        ),
        (in_capability(0, expected_calls="many"), "expected_calls: many", "must be 'several'"),
        (in_capability(0, chained=True), "chained: true", "is for capabilities with `expected_calls: several`"),
        (
            in_capabilities(4, 5, expected_calls="several", chained=True),
            "chained: true",
            "is chained already, and a chain of expected calls decides for one capability",
        ),
        # Requirements.
        (
            in_capability(2, requires="cals"),
            "requires: cals",
            "requires 'cals', which no capability has as its id; perhaps",
        ),
        (in_capability(2, requires="key"), "requires: key", "'key', which is itself decided by the specification"),
        (in_capability(2, requires="oauth"), "requires: oauth", "itself decided by the specification"),
        (
            both(in_capability(2, requires="key"), decided(3, "tool", when="card")),
            "requires: key",
            "itself decided by the tools that the query calls",
        ),
        (
            both(in_capability(2, requires="key"), decided(3, "structure", when="user_turns > `1`")),
            "requires: key",
            "itself decided by what is counted in the query",
        ),
        # Origins.
        (in_capability(0, was="table"), "was: table", "`was` names the capability itself"),
        (in_capability(0, split="table"), "split: table", "`split` names the capability itself"),
        (in_capability(0, was="prose"), "was: prose", "`was` names prose, which is a capability of this file"),
        (in_capability(0, was="gon"), "was: gon", "'gon', which is not under `retired`; perhaps you meant 'gone'"),
        (in_capability(0, was="gone", split="gone"), "split: gone", "it has both `was` and `split`"),
        (in_capabilities(0, 1, was="gone"), "was: gone", "table has was: gone already (line "),
        (
            both(in_capability(0, was="gone"), in_capabilities(1, 2, split="gone")),
            "split: gone",
            "table has was: gone already (line ",
        ),
        (both(in_capability(0, split="gone"), in_capability(1, was="gone")), "was: gone", "table has split: gone"),
        (in_capability(0, was=7), "was: 7", "must be a string"),
        # What a source needs.
        (without(2, "when"), "- id: oauth", "a spec capability needs a rule"),
        (in_capability(2, when=None), "when: null", "a spec capability needs a rule"),
        (decided(2, "tool", when=None), "when: null", "a tool capability needs a rule over one tool"),
        (decided(2, "structure", when=None), "when: null", "a structure capability needs a rule over the structure"),
        (in_capability(4, requires="table"), "requires: table", "`source: intent` has no `requires`: it is inferred"),
        (decided(2, "tool", when="card", requires="calls"), "requires: calls", "`source: tool` has no `requires`"),
        (
            decided(2, "structure", when="user_turns > `1`", requires=7),
            "requires: 7",
            "`source: structure` has no `requires`: it is counted in the query",
        ),
        # Rules.
        (in_capability(2, when="auth_modes["), "when: auth_modes[", "not valid JMESPath"),
        (
            in_capability(2, when="contains(auth_mode, 'x')"),
            "when: contains(auth_mode,",
            "perhaps you meant 'auth_modes'",
        ),
        (in_capability(2, when="tools[?card]"), "when: tools", "the rule gives a list"),
        (in_capability(2, when="name"), "when: name", "the rule gives a text"),
        (in_capability(2, when="effect == 'write'"), "when: effect", "'effect' is a field of one tool, and not"),
        (in_capability(4, when="user_turns > `1`"), "when: user_turns", "a field of the structure of the query"),
        (decided(2, "tool", when="contains(auth_modes, 'x')"), "when: contains", "of the normalised specification"),
        (decided(2, "tool", when="auth"), "when: auth", "the rule gives a text"),
        (decided(2, "structure", when="effect == 'x'"), "when: effect", "a field of one tool (`source: tool`)"),
        (decided(2, "structure", when="attachments"), "when: attachments", "the rule gives a list"),
        # Patterns.
        (in_capability(4, patterns=["["]), "- '['", "not a regular expression"),
        (in_capability(4, patterns=["fine", "a(?!b)"]), "- a(?!b)", "looks ahead or behind"),
        (in_capability(4, patterns=[""]), "- ''", "must be a text with at least one visible character"),
        # Exemplars.
        (add_exemplar(4, "positive", "Calls  3"), "- Calls  3", "the exemplar is in line 112 already"),
        (add_exemplar(4, "negative", "CALLS 3"), "- CALLS 3", "negative here"),
        (add_exemplar(1, "positive", "Table 1"), "- Table 1", "also one of table (line"),
        (add_exemplar(4, "positive", 7), "- 7", "must be a string or be a list"),
        (add_exemplar(4, "positive", [["x"]]), "- - - x", "must be a string"),
        # The file.
        (lambda data: data.update(capabilities=[]), "capabilities: []", "the taxonomy has none"),
        (lambda data: data.pop("groups"), "version:", "groups: the key is missing"),
        (lambda data: data.update(groups={}), "groups:", "groups: must be a list"),
        (lambda data: data.update(version="1.0"), "version:", "version: must match the pattern"),
        (lambda data: data.update(verison="1.0.0"), "verison:", "unknown key; perhaps you meant 'version'"),
        (in_capability(4, pattern=["x"]), "pattern:", "unknown key; perhaps you meant 'patterns'"),
        (without(4, "description"), "- id: calls", "capabilities.4.description: the key is missing"),
        (in_capability(4, source="guess"), "source: guess", "must be 'spec', 'tool', 'structure' or 'intent'"),
    ],
)
def test_each_fault_is_reported_with_its_line_and_a_fix(
    tmp_path: Path, change: Change, line_of: str, message: str
) -> None:
    text = changed(change)
    found = [problem for problem in problems(tmp_path, text) if message in problem.message]
    assert found, problems(tmp_path, text)
    assert all(problem.file == TAXONOMY_FILE and problem.fix for problem in found)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(line_of)]
    assert found[-1].line in lines


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(capabilities=[]),
        lambda data: data.update(capabilites=data.pop("capabilities")),
        lambda data: data.update(capabilities={"table": intent("table", "format")}),
    ],
)
def test_capabilities_that_cannot_be_read_are_no_fault_of_every_group(tmp_path: Path, change: Change) -> None:
    found = problems(tmp_path, changed(change))
    assert found
    assert all("capabilit" in problem.message for problem in found)


def test_each_cycle_of_groups_is_reported_once(tmp_path: Path) -> None:
    found = problems(tmp_path, changed(in_group(0, parent="tools"), in_group(3, parent="request")))
    assert [problem.message for problem in found] == [
        "request: the group is its own ancestor: request → tools → request"
    ]


def test_faults_do_not_hide_each_other(tmp_path: Path) -> None:
    text = changed(
        lambda data: data.update(version="one"),
        in_group(1, parent="nowhere"),
        in_group(3, colour="red"),
        in_capability(0, patterns=["a(?!b)"], description=7, colour="red"),
        without(2, "when"),
        in_capability(3, when="tools[", requires="nobody"),
        add_exemplar(1, "positive", "table 1"),
        add_exemplar(4, "negative", "calls 1"),
        add_capability(intent("calls", "tols")),
    )
    messages = "\n".join(problem.message for problem in problems(tmp_path, text))
    for expected in [
        "version: must match",
        "no group has the id 'nowhere'",
        "groups.3.colour: unknown key",
        "pattern 'a(?!b)'",
        "capabilities.0.description: must be a string",
        "capabilities.0.colour: unknown key",
        "oauth: a spec capability needs a rule",
        "key: the rule is not valid JMESPath",
        "requires 'nobody'",
        "prose: the exemplar is also one of table",
        "calls: the exemplar is positive in line",
        "calls: the id is given twice",
        "no group has the id 'tols'; perhaps you meant 'tools'",
    ]:
        assert expected in messages, expected


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "version: 1.0.0\n", "groups: [1]\ncapabilities: [x, null, {id: 3}]\n", "a: [", "{}"]
)
def test_a_file_of_another_shape_is_a_clear_error(tmp_path: Path, text: str) -> None:
    assert all(problem.fix for problem in problems(tmp_path, text))


def test_an_absent_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(TAXONOMY_FILE)):
        load_taxonomy(WorkingTree(tmp_path))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["format", "spec", "a(?!b)", "oauth"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["positive", "id", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ["id", "name", "group", "source", "when", "requires", "patterns", "exemplars", "parent", "constraint"]
KEYS += ["was", "split", "base", "combines"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["groups", "capabilities"]), st.integers(0, 3), st.sampled_from(KEYS), VALUES)
def test_whatever_stands_in_a_part_is_read_or_reported(
    tmp_path: Path, kind: str, place: int, key: str, value: Any
) -> None:
    data = valid()
    data[kind][place][key] = value
    with contextlib.suppress(InputError):
        load(tmp_path, yaml.safe_dump(data, sort_keys=False, allow_unicode=True))


@pytest.mark.skipif(not (REPOSITORY / TAXONOMY_FILE).exists(), reason="the repository has no taxonomy yet")
def test_the_shipped_taxonomy_is_valid() -> None:
    assert load_taxonomy(WorkingTree(REPOSITORY)).capabilities


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda data: data["capabilities"][4]["exemplars"]["positive"].pop(),
            "it has 11 of 12 positive exemplars, fewer than an appraisal asks for",
        ),
        (lambda data: data["capabilities"][4]["exemplars"].update(negative=[]), "it has 0 of 12 lookalikes"),
    ],
)
def test_few_exemplars_are_noted_and_stop_nothing(tmp_path: Path, change: Change, message: str) -> None:
    taxonomy = load(tmp_path, changed(change))
    note, _ = taxonomy_notes(WorkingTree(tmp_path), taxonomy, SHIPPED.appraisal)
    assert message in note.message
    assert note.line is not None


def test_exemplars_in_the_file_are_noted_once(tmp_path: Path) -> None:
    text = changed()
    (note,) = taxonomy_notes(WorkingTree(tmp_path), load(tmp_path, text), SHIPPED.appraisal)
    assert "table: the exemplars stand in this file" in note.message
    assert "incumbent migrate" in note.fix
    assert text.splitlines()[(note.line or 0) - 1].strip() == "exemplars:"


@pytest.mark.parametrize(
    ("said", "combines"),
    [
        ({}, True),
        ({"combines": False}, False),
        ({"base": True}, False),
        ({"base": False}, True),
        ({"base": True, "combines": False}, False),
        ({"base": False, "combines": True}, True),
    ],
)
def test_base_is_read_as_combines_with_a_note(tmp_path: Path, said: dict[str, bool], combines: bool) -> None:
    text = changed(in_capability(4, **said))
    taxonomy = load(tmp_path, text)
    assert [item.id for item in taxonomy.capabilities if not item.combines] == ([] if combines else ["calls"])
    assert taxonomy.uncombinable == (frozenset() if combines else {"calls"})
    found = [note for note in taxonomy_notes(WorkingTree(tmp_path), taxonomy, None) if "base" in note.message]
    assert len(found) == ("base" in said)
    for note in found:
        assert note.file == TAXONOMY_FILE
        assert text.splitlines()[(note.line or 0) - 1].strip().startswith("base:")
        assert "incumbent migrate" in note.fix


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"base": True, "combines": True}, "`base: true` is what `combines: false` was called, and it says both"),
        ({"base": False, "combines": False}, "`base: false` is what `combines: true` was called, and it says both"),
        ({"base": "yes"}, "base: unknown key"),
        ({"combines": "no"}, "combines: must be true or false"),
    ],
)
def test_what_is_said_of_combinations_is_said_once(tmp_path: Path, said: dict[str, Any], message: str) -> None:
    (problem,) = problems(tmp_path, changed(in_capability(4, **said)))
    assert message in problem.message
