"""A change as git holds it: what would stand once it is merged, and every way in which it cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.classifier.caching_backend import halt
from incumbent.classifier.embedded.weights import WeightsError
from incumbent.classifier.model import Backend
from incumbent.errors import InputError
from incumbent.files.git import ObjectStore
from incumbent.pipeline.impact.comparison import config_changes
from incumbent.pipeline.impact.measure import (
    ANOTHER_MODEL,
    NOT_HERE,
    PlatformChange,
    backends_of,
    read_agents,
    read_change,
)
from incumbent.pipeline.review import Platform
from incumbent.taxonomy.changes import ChangeKind, changes_between
from incumbent.taxonomy.config import CONFIG_FILE, ClassifierSettings
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.model import Taxonomy
from tests.factories import make_config
from tests.origin import Entry, Origin
from tests.pipeline.impact.platforms import BASE, DOCUMENT, Counting, capability, grown, platform
from tests.pipeline.impact.test_measure import MODEL, config
from tests.reconcile.runs import agent_files, config_text

Files = Mapping[str, bytes | Entry]
AFTER = grown(BASE, "1.1.0", capability("f"))


def written(taxonomy: Taxonomy) -> bytes:
    return yaml.safe_dump(taxonomy.model_dump(mode="json"), sort_keys=False, allow_unicode=True).encode()


FILES: dict[str, bytes | Entry] = {TAXONOMY_FILE: written(BASE), CONFIG_FILE: config_text().encode()}


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin.make(tmp_path / "origin.git")


@pytest.fixture
def store(origin: Origin) -> Iterator[ObjectStore]:
    with ObjectStore.open(origin.folder) as store:
        yield store


def with_files(**changed: bytes | Entry | None) -> dict[str, bytes | Entry]:
    """The files with another ``taxonomy`` or ``config``; one that is ``None`` is gone."""
    paths = {"taxonomy": TAXONOMY_FILE, "config": CONFIG_FILE}
    found = {**FILES, **{paths[name]: content for name, content in changed.items() if content is not None}}
    return {path: content for path, content in found.items() if changed.get(path.partition("/")[0], b"") is not None}


def test_what_the_head_changes_is_read_on_top_of_the_base(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    moved = origin.commit(with_files(config=config_text(ceiling=7).encode()), start)
    head = origin.commit(with_files(taxonomy=written(AFTER)), start)
    change, problems = read_change(store, moved, head)
    assert problems == ()
    assert [item.kind for item in changes_between(change.before.taxonomy, change.after.taxonomy)] == [ChangeKind.ADDED]
    assert config_changes(change.before.config, change.after.config) == ()
    assert change.after.config.ceiling == 7
    assert [item.version for item in change.previous("1.0.0")] == ["1.0.0"]


def test_a_head_that_changes_nothing_of_it_is_no_change(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    others: Files = {**FILES, "config/paper.yaml": b"[", "taxonomy/notes.md": b"\xff" * 99, "README.md": b"x"}
    change, problems = read_change(store, start, origin.commit(others, start))
    assert (change.before, problems) == (change.after, ())


def test_the_same_change_on_both_sides_is_none_any_more(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    other = with_files(taxonomy=written(AFTER))
    base, head = origin.commit({**other, "x": b"x"}, start), origin.commit(other, start)
    change, problems = read_change(store, base, head)
    assert (change.before, problems) == (change.after, ())


def test_histories_that_never_met_are_compared_as_they_are(origin: Origin, store: ObjectStore) -> None:
    base, head = origin.commit(FILES), origin.commit(with_files(taxonomy=written(AFTER)))
    faults = refused(store, base, head)
    assert faults == [(TAXONOMY_FILE, "the file has changed on the other side as well since this one left it")]


def test_a_wrong_version_is_a_fault_with_its_line_and_what_is_right(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    head = origin.commit(with_files(taxonomy=written(AFTER.called("1.0.1"))), start)
    change, problems = read_change(store, start, head)
    assert change.after.taxonomy.version == "1.0.1"
    assert [(item.file, item.line, item.fix) for item in problems] == [(TAXONOMY_FILE, 1, "write `version: 1.1.0`")]


def ruled(version: str, when: str) -> Taxonomy:
    return grown(BASE, version, capability("f", source="tool", when=when))


@pytest.mark.untraced
@pytest.mark.parametrize(
    "when", ["protocol == 'rest' || protocol == 'http'", "contains(name, card)", "contains(", "effect.name"]
)
def test_a_rule_that_is_refused_now_can_be_corrected(origin: Origin, store: ObjectStore, when: str) -> None:
    base = origin.commit(with_files(taxonomy=written(ruled("1.0.0", when))))
    head = origin.commit(with_files(taxonomy=written(ruled("1.0.1", "protocol == 'rest'"))), base)
    change, _ = read_change(store, base, head)
    assert change.before.taxonomy.by_id["f"].when == when
    assert change.after.taxonomy.by_id["f"].when == "protocol == 'rest'"
    assert [item.version for item in change.previous("1.0.0")] == ["1.0.0"]
    assert (
        len(
            refused(store, base, origin.commit({**with_files(taxonomy=written(ruled("1.0.0", when))), "x": b"x"}, base))
        )
        == 1
    )


HAND, OTHER = "taxonomy/exemplars/hand.tsv", "taxonomy/exemplars/other.tsv"
SLIM = yaml.safe_dump(BASE.model_dump(mode="json", exclude={"capabilities": {"__all__": {"exemplars"}}})).encode()


def tables(**rows: str) -> dict[str, bytes | Entry]:
    """A platform with a table of exemplars for each hand, of one row."""
    found = {
        f"taxonomy/exemplars/{hand}.tsv": f"id\tlabels\tturns\n{hand}-1\ta\t{text}\n".encode()
        for hand, text in rows.items()
    }
    return {**FILES, TAXONOMY_FILE: SLIM, **found}


def exemplars(platform: Platform) -> list[str]:
    return [row.turns[0] for row in platform.taxonomy.exemplars]


@pytest.mark.parametrize(
    ("head", "after"),
    [
        (tables(hand="new"), ["new"]),
        (tables(hand="old", other="more"), ["old", "more"]),
        (tables(), []),
        (tables(hand="old") | {"taxonomy/exemplars/README.md": b"x"}, ["old"]),
    ],
    ids=["changed", "added", "removed", "a note"],
)
def test_tables_of_exemplars_are_a_part_of_it(
    origin: Origin, store: ObjectStore, head: Files, after: list[str]
) -> None:
    start = origin.commit(tables(hand="old"))
    change, _ = read_change(store, start, origin.commit(head, start))
    assert (exemplars(change.before), exemplars(change.after)) == (["old"], after)


def test_tables_of_both_sides_stand_beside_each_other(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(tables(hand="old"))
    base, head = origin.commit(tables(hand="old", other="more"), start), origin.commit(tables(hand="new"), start)
    change, _ = read_change(store, base, head)
    assert (exemplars(change.before), exemplars(change.after)) == (["old", "more"], ["new", "more"])


@pytest.mark.parametrize(
    ("base", "head", "conflicts"),
    [
        (tables(hand="one"), tables(hand="two"), True),
        (tables(), tables(hand="two"), True),
        (tables(hand="one"), tables(), True),
        (tables(hand="two"), tables(hand="two"), False),
        (tables(), tables(), False),
    ],
)
def test_a_table_that_both_sides_change_is_merged_first(
    origin: Origin, store: ObjectStore, base: Files, head: Files, conflicts: bool
) -> None:
    start = origin.commit(tables(hand="old"))
    ours, theirs = origin.commit({**base, "x": b"x"}, start), origin.commit(head, start)
    if conflicts:
        assert refused(store, ours, theirs) == [
            (HAND, "the file has changed on the other side as well since this one left it")
        ]
    else:
        change, problems = read_change(store, ours, theirs)
        assert (change.before, problems) == (change.after, ())


def test_faults_of_tables_are_told_with_their_file(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(tables(hand="old"))
    again = tables(hand="old", other="OLD") | {"taxonomy/exemplars/x.csv": b""}
    assert refused(store, start, origin.commit(again, start)) == [
        (OTHER, f"the same text is in hand-1 ({HAND}:2)"),
        ("taxonomy/exemplars/x.csv", "exemplar files end in .tsv, and this one is not read"),
    ]
    (fault,) = refused(store, start, origin.commit(tables(hand="old", other="OLD"), start))
    assert fault == (OTHER, f"the same text is in hand-1 ({HAND}:2)")
    link = tables() | {HAND: ("120000", origin.blob(b"../taxonomy.yaml"))}
    assert refused(store, start, origin.commit(link, start)) == [(HAND, "the path is a symbolic link")]


def refused(store: ObjectStore, base: str, head: str) -> list[tuple[str, str]]:
    """The faults that keep ``head`` from being read: file and message."""
    with pytest.raises(InputError) as caught:
        read_change(store, base, head)
    assert all(item.fix for item in caught.value.problems)
    return [(item.file, item.message) for item in caught.value.problems]


def changed_by(value: Any, *path: Any) -> bytes:
    data: Any = yaml.safe_load(written(BASE))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return yaml.safe_dump(data, sort_keys=False).encode()


SPEC = {"id": "e", "name": "E", "group": "all", "description": "about e", "source": "spec"}
BROKEN: dict[str, tuple[dict[str, bytes | Entry | None], str, str]] = {
    "no YAML": ({"taxonomy": b"{"}, TAXONOMY_FILE, ""),
    "no mapping": ({"taxonomy": b"- a"}, TAXONOMY_FILE, "mapping"),
    "empty": ({"taxonomy": b""}, TAXONOMY_FILE, ""),
    "bytes that are no UTF-8": ({"taxonomy": written(BASE).replace(b"about a", b"about \xff")}, TAXONOMY_FILE, "UTF-8"),
    "half a character": (
        {"taxonomy": written(BASE).replace(b"about a", b'"about \\ud800"')},
        TAXONOMY_FILE,
        "",
    ),
    "a null": ({"taxonomy": written(BASE).replace(b"about a", b"about \0")}, TAXONOMY_FILE, ""),
    "larger than any": ({"taxonomy": b"#" * 32_000_001}, TAXONOMY_FILE, "32,000,000"),
    "a bomb of aliases": (
        {"taxonomy": b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n".encode() for n in range(9)
        )},
        TAXONOMY_FILE,
        "",
    ),
    "deep beyond measure": ({"taxonomy": b"[" * 5000}, TAXONOMY_FILE, ""),
    "gone": ({"taxonomy": None}, TAXONOMY_FILE, "cannot be read: No such file"),
    "a rule that is none": (
        {"taxonomy": changed_by({**SPEC, "when": "contains("}, "capabilities", 4)},
        TAXONOMY_FILE,
        "",
    ),
    "a circle of requirements": (
        {"taxonomy": changed_by({**SPEC, "when": "tools", "requires": "e"}, "capabilities", 4)},
        TAXONOMY_FILE,
        "requires",
    ),
    "a pattern that looks ahead": (
        {"taxonomy": changed_by(["a(?=b)"], "capabilities", 0, "patterns")},
        TAXONOMY_FILE,
        "pattern",
    ),
    "groups in a circle": (
        {"taxonomy": changed_by([{"id": "all", "name": "All", "parent": "all"}], "groups")},
        TAXONOMY_FILE,
        "",
    ),
    "an override of nothing": (
        {"config": config_text(per_capability={"q": {"redundancy_floor": 1}}).encode()},
        CONFIG_FILE,
        "no such capability",
    ),
    "a config that is gone": ({"config": None}, CONFIG_FILE, "cannot be read: No such file"),
    "a config with bytes that are no UTF-8": ({"config": b"\xff"}, CONFIG_FILE, "UTF-8"),
    "a model without settings": (
        {"config": config_text(**config(backend="openai", openai=None)).encode()},
        CONFIG_FILE,
        "openai",
    ),
}  # fmt: skip


@pytest.mark.untraced
@pytest.mark.parametrize("name", BROKEN)
def test_files_that_cannot_be_read_are_faults_of_theirs(name: str, origin: Origin, store: ObjectStore) -> None:
    changed, file, words = BROKEN[name]
    start = origin.commit(FILES)
    faults = refused(store, start, origin.commit(with_files(**changed), start))
    assert {path for path, _ in faults} == {file}
    assert any(words in message for _, message in faults), faults


def test_all_faults_of_both_files_are_told_at_once(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    faults = refused(store, start, origin.commit(with_files(taxonomy=b"- a", config=b"- a"), start))
    assert {path for path, _ in faults} == {TAXONOMY_FILE, CONFIG_FILE}
    faults = refused(store, start, origin.commit({"README.md": b"x"}, start))
    assert {path for path, _ in faults} == {TAXONOMY_FILE, CONFIG_FILE}


@pytest.mark.parametrize("mode", ["120000", "160000"])
@pytest.mark.parametrize("file", ["taxonomy", "config"])
def test_a_link_in_place_of_a_file_is_not_followed(mode: str, file: str, origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    target = origin.blob(b"/etc/passwd") if mode == "120000" else start
    ((_, message),) = refused(store, start, origin.commit(with_files(**{file: (mode, target)}), start))
    assert "symbolic link" in message or "submodule" in message


def test_a_link_in_place_of_the_folder_is_not_followed(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    files: Files = {**with_files(taxonomy=None), "taxonomy": ("120000", origin.blob(b"elsewhere"))}
    assert refused(store, start, origin.commit({**files, "elsewhere/taxonomy.yaml": written(AFTER)}, start)) == [
        (TAXONOMY_FILE, "the path is a symbolic link")
    ]


def test_a_file_under_another_name_is_not_there(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    files = {**with_files(config=None), "config/other.yaml": FILES[CONFIG_FILE]}
    ((file, message),) = refused(store, start, origin.commit(files, start))
    assert (file, "No such file" in message) == (CONFIG_FILE, True)


def test_what_both_sides_changed_in_their_own_ways_is_not_guessed(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(FILES)
    base = origin.commit(with_files(taxonomy=written(grown(BASE, "1.1.0", capability("g")))), start)
    head = origin.commit(with_files(taxonomy=written(AFTER)), start)
    assert refused(store, base, head) == [
        (TAXONOMY_FILE, "the file has changed on the other side as well since this one left it")
    ]


def test_a_folder_whose_name_is_no_utf_8_is_no_agent(origin: Origin, store: ObjectStore) -> None:
    files = {
        path.replace("desk", "\udcff"): text.encode()
        for path, text in agent_files(("acme", "desk"), {"q": "x"}).items()
    }
    snapshot = store.snapshot(origin.commit({**FILES, **files}))
    assert read_agents(snapshot, snapshot.within, platform(BASE)).packages == ()


def test_faults_of_the_base_are_told_as_well(origin: Origin, store: ObjectStore) -> None:
    start = origin.commit(with_files(taxonomy=b"- a"))
    assert refused(store, start, origin.commit(with_files(taxonomy=written(AFTER)), start))


# Who is asked


def settings_of(**classifier: Any) -> ClassifierSettings:
    return make_config(**config(**classifier)).classifier


PAID: dict[str, Any] = {"backend": "openai", "openai": MODEL}


@pytest.mark.parametrize(
    ("old", "new", "may_ask", "why"),
    [
        ({}, {}, None, None),
        ({}, {}, "it costs", None),
        ({}, {"samples": 7}, "it costs", None),
        (PAID, PAID, None, None),
        (PAID, PAID, "it costs", "it costs"),
        (PAID, {}, None, None),
        (PAID, {}, "it costs", "it costs"),
        ({}, PAID, None, ANOTHER_MODEL),
        (PAID, {**PAID, "openai": MODEL | {"endpoint": "https://evil.example"}}, None, ANOTHER_MODEL),
        (PAID, {**PAID, "openai": MODEL | {"key_variable": "OTHER"}}, None, ANOTHER_MODEL),
        (PAID, {**PAID, "openai": MODEL | {"budget": {"requests": 10**9, "tokens": 10**9}}}, None, ANOTHER_MODEL),
        (PAID, {**PAID, "samples": 100}, None, ANOTHER_MODEL),
        ({"openai": MODEL}, {"openai": MODEL | {"endpoint": "https://evil.example"}}, "it costs", None),
    ],
)
def test_no_model_is_asked_that_nobody_reviewed_or_that_costs_against_a_word(
    old: dict[str, Any], new: dict[str, Any], may_ask: str | None, why: str | None
) -> None:
    made: list[Platform] = []

    def make(known: Platform) -> Counting:
        made.append(known)
        return Counting(known.taxonomy)

    before, after = platform(BASE, **config(**old)), platform(AFTER, **config(**new))
    change = PlatformChange(before=before, after=after, previous=lambda version: (), document=DOCUMENT)
    backends, said = backends_of(change, make, may_ask)
    assert said == why
    assert made == ([] if why else [before, after])
    assert (backends is None) == bool(why)


@pytest.mark.parametrize("halted_after", [False, True])
def test_a_change_away_from_missing_weights_is_not_compared(halted_after: bool) -> None:
    before, after = platform(BASE), platform(AFTER)

    def make(known: Platform) -> Backend:
        counting = Counting(known.taxonomy)
        return halt(counting, WeightsError("not installed")) if known is before or halted_after else counting

    change = PlatformChange(before=before, after=after, previous=lambda version: (), document=DOCUMENT)
    backends, why = backends_of(change, make, None)
    assert why == (None if halted_after else NOT_HERE)
    assert (backends is not None) == halted_after
