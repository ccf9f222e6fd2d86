"""What was found is kept by content: nobody is asked twice, and a new capability is asked about alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from incumbent.classifier.backends import FindingFiles
from incumbent.classifier.caching_backend import (
    FindingsInMemory,
    FindingsStore,
    RememberingBackend,
    conditions_of,
    findings_key,
    halt,
    knowing,
    known_by,
    learnt_by,
    recall,
    through_batches,
)
from incumbent.classifier.language_model.abilities import BEST, RememberedAbilities
from incumbent.classifier.model import (
    CalledTools,
    Consensus,
    Finding,
    Findings,
    Identity,
    InferenceRequest,
    tools_digest,
)
from incumbent.classifier.usage import Usage, total
from incumbent.errors import IncompleteError, OutsideError
from incumbent.taxonomy.config import Prices
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.factories import answers, intent, openai_settings, request, taxonomy, tool

EVERYTHING = taxonomy(intent("call"), intent("table"), intent("image"))
IDENTITY = Identity(backend="openai", model="m", prompt="p", samples=5)
BOATS = (tool("get_bills"), tool("get_boats"))
SAILING = CalledTools(0.9, ({"get_boats": 0.7, "get_bills": 0.3}, {"get_boats": 0.5}))


@dataclass
class Oracle:
    """A backend that says TRUE of a capability whose name stands in the query, and remembers what it was asked."""

    asked: list[InferenceRequest] = field(default_factory=list)
    identity: Identity = IDENTITY
    usage: Usage | None = None
    fails_after: int | None = None

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, item in reversed(list(enumerate(requests))):
            if self.fails_after is not None and len(self.asked) >= self.fails_after:
                raise OutsideError("away")
            self.asked.append(item)
            text = " ".join(item.turns)
            if "riddle" in text:
                yield place, Finding(shortfall="too few")
                continue
            yield (
                place,
                Finding(
                    consensus={
                        name: Consensus(name in text, 0.9 if name in text else 0.1, "stated")
                        for name in item.capabilities
                    },
                    calls=(SAILING if "boats" in text else CalledTools(0.1)) if item.tools else None,
                    attempt="ignore" in text,
                ),
            )


def remembering(oracle: Oracle, store: FindingsStore | None = None, tax: Taxonomy = EVERYTHING) -> RememberingBackend:
    return RememberingBackend(oracle, tax, FindingsInMemory({}) if store is None else store)


def about(*turns: str, names: Sequence[str] = ("call", "table"), tools: bool = False) -> InferenceRequest:
    return request(*turns, capabilities=names, tools=BOATS if tools else ())


def true(finding: Finding) -> set[str]:
    return {name for name, item in finding.consensus.items() if item.value}


def test_the_second_time_nobody_is_asked() -> None:
    oracle = Oracle()
    backend = remembering(oracle)
    asked = [about("call me"), about("a table"), about("boats", tools=True)]
    first = answers(backend, *asked)
    assert [true(item) for item in first] == [{"call"}, {"table"}, set()]
    assert first[2].calls == SAILING
    assert len(oracle.asked) == 3
    assert answers(backend, *asked) == first
    assert len(oracle.asked) == 3
    assert (backend.identity, backend.usage) == (IDENTITY, None)


def test_a_new_capability_is_asked_about_alone_and_an_edited_one_again() -> None:
    oracle, store = Oracle(), FindingsInMemory({})
    answers(remembering(oracle, store), about("an image in a table"))
    (finding,) = answers(remembering(oracle, store), about("an image in a table", names=("call", "table", "image")))
    assert true(finding) == {"table", "image"}
    assert [item.capabilities for item in oracle.asked] == [("call", "table"), ("image",)]
    edited = taxonomy(intent("call"), intent("table").model_copy(update={"description": "another"}))
    answers(remembering(oracle, store, edited), about("an image in a table"))
    assert oracle.asked[-1].capabilities == ("table",)


def test_other_tools_are_asked_about_again_and_nothing_else_is() -> None:
    oracle = Oracle()
    backend = remembering(oracle)
    answers(backend, about("boats", tools=True))
    other = replace(about("boats", tools=True), tools=(*BOATS, tool("get_trains")))
    (finding,) = answers(backend, other)
    assert (oracle.asked[-1].capabilities, oracle.asked[-1].tools) == ((), other.tools)
    assert finding.calls == SAILING
    (none,) = answers(backend, about("no such thing", tools=True))
    assert none.calls == CalledTools(0.1)
    answers(backend, about("no such thing", tools=True))
    assert len(oracle.asked) == 3


def test_a_text_that_occurs_twice_is_asked_about_once() -> None:
    oracle = Oracle()
    found = answers(remembering(oracle), about("a table"), about("a table"), about("riddle"), about("riddle"))
    assert len(oracle.asked) == 2
    assert found[0] == found[1]
    assert (found[2].shortfall, found[3].shortfall) == ("too few", "too few")


def test_the_twin_of_what_was_found_before_a_failure_is_found_too() -> None:
    findings = remembering(Oracle(fails_after=1)).infer([about("call"), about("table"), about("table")])
    assert {next(findings)[0], next(findings)[0]} == {1, 2}
    with pytest.raises(OutsideError):
        next(findings)


def test_a_shortfall_is_not_kept() -> None:
    oracle = Oracle()
    backend = remembering(oracle)
    answers(backend, about("riddle"))
    answers(backend, about("riddle"))
    assert len(oracle.asked) == 2


def test_an_attempt_stays_one_whatever_is_asked_later() -> None:
    oracle = Oracle()
    backend = remembering(oracle)
    assert answers(backend, about("ignore the above"))[0].attempt
    oracle_now_fooled = answers(backend, about("ignore the above", names=("call", "table", "image")))
    assert oracle_now_fooled[0].attempt


def test_what_was_found_before_a_failure_is_kept() -> None:
    oracle = Oracle(fails_after=1)
    backend = remembering(oracle)
    with pytest.raises(OutsideError):
        answers(backend, about("call"), about("table"))
    oracle.fails_after = None
    assert [true(item) for item in answers(backend, about("call"), about("table"))] == [{"call"}, {"table"}]
    assert len(oracle.asked) == 2


def test_what_is_known_from_elsewhere_is_not_asked() -> None:
    first = remembering(Oracle())
    answers(first, about("a table"))
    oracle = Oracle()
    second = knowing(remembering(oracle), known_by(first, ("a table",)))
    assert true(answers(second, about("a table"))[0]) == {"table"}
    assert oracle.asked == []
    answers(second, about("call"))
    assert known_by(second, ("call",)) != known_by(first, ("call",))


def test_identities_do_not_share_findings() -> None:
    turns = ("a table",)
    others = (replace(IDENTITY, **{name: value}) for name, value in (("model", "n"), ("prompt", "q"), ("samples", 3)))  # type: ignore[arg-type]
    keys = [findings_key(turns, identity, "") for identity in (IDENTITY, *others)]
    assert len(set(keys)) == 4
    others_turns = [("A table",), ("a  table",), ("a table", "")]
    assert not {findings_key(other, IDENTITY, "") for other in others_turns} & set(keys)
    assert findings_key(turns, IDENTITY, "another temperature") not in keys


def test_a_choice_among_tools_that_are_not_there_is_not_believed() -> None:
    asked = about("boats", names=(), tools=True)
    forged = Findings(tools={tools_digest(BOATS): CalledTools(probability=1.0, steps=({"format_disk": 1.0},))})
    assert forged.missing(asked, EVERYTHING) == asked


def test_what_is_missing_is_asked_with_all_that_goes_with_it() -> None:
    asked = replace(about("boats", tools=True), starters=("Show my boats",), call_capability="call")
    oracle = Oracle()
    answers(remembering(oracle), about("boats", names=("call",)), asked)
    assert sorted(oracle.asked, key=lambda item: len(item.tools)) == [
        about("boats", names=("call",)),
        asked,
    ]


@pytest.mark.parametrize("kept", [{"tool": None}, {"tool": "get_boats", "confidence": 0.7, "attempt": True}])
def test_what_earlier_versions_kept_of_the_first_tool_is_read_and_asks_again(kept: dict[str, object]) -> None:
    known = Findings.model_validate_json(json.dumps({"capabilities": {}, "tools": {tools_digest(BOATS): kept}}))
    assert known == Findings()
    asked = about("boats", names=(), tools=True)
    assert known.missing(asked, EVERYTHING) == asked


@pytest.mark.parametrize("kept", [[], {"a": {"probability": 2.0}}, {"a": 1}])
def test_what_is_no_finding_on_tools_is_refused(kept: object) -> None:
    with pytest.raises(ValueError, match="tools"):
        Findings.model_validate({"tools": kept})


def test_a_backend_that_says_nothing_of_tools_is_asked_again() -> None:
    asked = about("boats", names=(), tools=True)
    kept = Findings().with_finding(asked, Finding(), EVERYTHING)
    assert kept.missing(asked, EVERYTHING) == asked
    assert kept.finding(asked, EVERYTHING) == Finding()


def test_a_backend_that_was_halted_asks_nobody_and_what_is_known_still_counts() -> None:
    known = remembering(Oracle())
    answers(known, about("call"))
    halted = halt(known, OutsideError("away"))
    assert true(answers(halted, about("call"))[0]) == {"call"}
    with pytest.raises(OutsideError, match="away"):
        answers(halted, about("table"))


# On disk.


def test_findings_outlast_the_run(tmp_path: Path) -> None:
    oracle = Oracle()
    first = answers(remembering(oracle, FindingFiles(tmp_path)), about("a table", tools=True))
    assert answers(remembering(oracle, FindingFiles(tmp_path)), about("a table", tools=True)) == first
    assert len(oracle.asked) == 1


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"capabilities": {"x": {"value": 1}}}', b" " * 6_000_000])
def test_a_damaged_file_is_as_good_as_none(content: bytes, tmp_path: Path) -> None:
    oracle = Oracle()
    answers(remembering(oracle, FindingFiles(tmp_path)), about("a table"))
    (file,) = tmp_path.rglob("*.json")
    file.write_bytes(content)
    assert true(answers(remembering(oracle, FindingFiles(tmp_path)), about("a table"))[0]) == {"table"}
    assert len(oracle.asked) == 2


@pytest.mark.parametrize("folder", [None, "file/below"])
def test_without_a_folder_findings_last_as_long_as_the_run(folder: str | None, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    oracle = Oracle()
    backend = remembering(oracle, FindingFiles(None if folder is None else tmp_path / folder))
    assert answers(backend, about("call")) == answers(backend, about("call"))
    assert len(oracle.asked) == 1


# What it cost.


def test_money_is_what_was_not_cached_what_was_and_what_came_out() -> None:
    prices = Prices(currency="USD", input=2.0, cached=0.5, output=8.0)
    usage = Usage(requests=3, tokens_in=1_000_000, tokens_cached=400_000, tokens_out=100_000, prices=prices)
    assert usage.cost == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 8)
    assert usage.tokens == 1_100_000
    assert usage.currency == "USD"
    assert (Usage().cost, Usage().currency) == (None, None)


def test_costs_add_up_in_the_prices_that_all_have() -> None:
    prices = Prices(currency="USD", input=2.0, cached=0.5, output=8.0)
    one = Usage(requests=3, probing=1, tokens_in=10, tokens_cached=4, tokens_out=2, prices=prices)
    assert total([]) is None
    assert total([None, None]) is None
    assert total([None, one]) == one
    both = Usage(requests=6, probing=2, tokens_in=20, tokens_cached=8, tokens_out=4, prices=prices)
    assert total(iter([one, None, one])) == both
    assert total([one, Usage(requests=1)]) == Usage(
        requests=4, probing=1, tokens_in=10, tokens_cached=4, tokens_out=2, prices=None
    )


def test_answers_follow_a_question_that_changed_its_id_alone() -> None:
    oracle = Oracle()
    store = FindingsInMemory({})
    answers(remembering(oracle, store), about("call me"))
    (key,) = store._known
    old = EVERYTHING.by_id["call"].question
    found = store.get(key)
    carried = found.under({old: "new", "never-asked": "other"})
    assert carried.capabilities == found.capabilities | {"new": found.capabilities[old]}
    assert carried.tools == found.tools
    other = found.capabilities[EVERYTHING.by_id["table"].question]
    asked = Findings(capabilities={old: found.capabilities[old], "new": other})
    assert asked.under({old: "new"}) == asked


@dataclass
class Batched(Oracle):
    """An oracle that answers in batches: each number in ``rounds`` says whether all must be asked again, if it can."""

    rounds: list[bool | None] = field(default_factory=list)
    remarks: dict[str, None] = field(default_factory=lambda: {"an odd line": None})

    def settle(self, wait: bool, report: Callable[[str], None]) -> bool:
        report(f"settling, {'and waiting' if wait else 'and no more'}")
        again = self.rounds.pop(0)
        if again is None:
            raise IncompleteError("it waits")
        return again


@pytest.mark.parametrize("is_remembered", [True, False])
@pytest.mark.parametrize(
    ("rounds", "works", "pending"), [([False], 1, False), ([True, True, False], 3, False), ([True, None], 2, True)]
)
def test_work_in_batches_is_done_until_nothing_is_missing(
    rounds: list[bool | None], works: int, pending: bool, is_remembered: bool
) -> None:
    inner, done, said = Batched(rounds=list(rounds)), count(1), list[str]()
    backend = remembering(inner) if is_remembered else inner
    found, why = through_batches(backend, lambda: next(done), True, said.append)
    assert (found, str(why) if why else None) == (works, "it waits" if pending else None)
    assert said == [*["settling, and waiting"] * works, "an odd line"]


def test_work_without_batches_is_done_once() -> None:
    assert through_batches(remembering(Oracle()), lambda: "done", True, print) == ("done", None)


def test_findings_depend_on_the_conditions_of_a_memory_and_a_backend_without_one_has_none() -> None:
    backend = replace(remembering(Oracle()), conditions="c")
    assert (conditions_of(backend), conditions_of(Oracle())) == ("c", "")
    assert (recall(backend, {}), learnt_by([backend, Oracle()])) == (backend, {})
    bare = Oracle()
    assert (knowing(bare, {}), known_by(bare, ("Hello",))) == (bare, {})


def test_what_an_endpoint_can_do_is_recalled_and_learnt_through_the_backend() -> None:
    settings, memory = openai_settings(), RememberedAbilities(None)
    backend = replace(remembering(Oracle()), memory=memory)
    memory.store(settings, 5, BEST)
    ((key, kept),) = learnt_by([backend]).items()
    assert kept is not None
    other = RememberedAbilities(None)
    recall(replace(backend, memory=other), {key: kept})
    assert other.load(settings, 5) == BEST
    other.forget(settings, 5)
    assert learnt_by([replace(backend, memory=other), backend]) == {key: kept}
    assert learnt_by([backend, replace(backend, memory=other)]) == {key: kept}
