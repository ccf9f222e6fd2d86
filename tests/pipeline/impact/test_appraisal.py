"""What lets verdicts rest on a capability, what is missing, and which texts show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from incumbent.classifier.exemplars import HeldOutExemplars
from incumbent.classifier.model import Judgement
from incumbent.classifier.model import Path as DecidedBy
from incumbent.files.documents import parse_yaml
from incumbent.ledger.agreement.statistics import wilson
from incumbent.pipeline.impact.appraisal import Text, appraise, trial_problems
from incumbent.pipeline.impact.model import CapabilityImpact
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.model import Capability, Exemplars, Taxonomy
from tests.classifier.factories import counted, declared, of_tools
from tests.factories import SHIPPED, make_taxonomy
from tests.pipeline.impact.platforms import capability, grown

SETTINGS = SHIPPED.appraisal
OLD = make_taxonomy("a")


def exemplars(positive: int = 12, negative: int = 12) -> Exemplars:
    return Exemplars(
        positive=tuple(f"yes {place}" for place in range(positive)),
        negative=tuple(f"no {place}" for place in range(negative)),
    )


def made(positive: int = 12, negative: int = 12, **more: Any) -> Capability:
    return capability("f", exemplars=exemplars(positive, negative), **more)


def held_out(
    found: int = 9, false: int = 1, missed: int = 3, name: str = "f"
) -> Callable[[], Mapping[str, HeldOutExemplars]]:
    return lambda: {name: HeldOutExemplars(by="hand", found=found, false=false, missed=missed)}


def with_(*items: Capability, version: str = "1.1.0") -> Taxonomy:
    return grown(OLD, version, *items)


def one(*found: CapabilityImpact) -> CapabilityImpact:
    (appraisal,) = found
    return appraisal


GOOD, BAD = held_out(), held_out(23, 70)
WEAK = "an expected precision of 0.24 where 0.80 is asked for"


@pytest.mark.parametrize(
    ("now", "measured", "standing", "lacks"),
    [
        (made(), GOOD, "counts", ()),
        (made(), held_out(8, 2), "counts", ()),
        (made(), None, "counts", ()),
        (made(trial=True), GOOD, "may-count", ()),
        (made(10, 0), None, "unfit", ("10 of 12 positive exemplars", "0 of 12 lookalikes")),
        (made(12, 11), GOOD, "unfit", ("11 of 12 lookalikes",)),
        (made(), BAD, "unfit", (WEAK,)),
        (made(), held_out(79999, 20001), "unfit", ("an expected precision of 0.79 where 0.80 is asked for",)),
        (made(11, 12, trial=True), BAD, "on-trial", ("11 of 12 positive exemplars", WEAK)),
        (
            made(),
            held_out(0, 0),
            "unfit",
            ("no expected precision, since it tags nothing that it has not seen",),
        ),
        (
            made(0, 0),
            held_out(name="another"),
            "unfit",
            (
                "0 of 12 positive exemplars",
                "0 of 12 lookalikes",
                "no expected precision, since it tags nothing that it has not seen",
            ),
        ),
    ],
)
def test_a_new_capability_counts_or_goes_on_trial(
    now: Capability, measured: Any, standing: str, lacks: tuple[str, ...]
) -> None:
    found = one(*appraise(OLD, with_(now), SETTINGS, after=measured or (lambda: None)))
    assert (found.capability, found.is_new, found.standing) == ("f", True, standing)
    assert tuple(lack.words for lack in found.lacks) == lacks


CHANGED: dict[str, Any] = {"description": "about something else"}


@pytest.mark.parametrize(
    ("was", "now", "before", "after", "standing"),
    [
        # What it lacked while it counted it may lack.
        (made(10, 0), made(10, 0, **CHANGED), GOOD, GOOD, "goes-on"),
        (made(), made(**CHANGED), BAD, BAD, "goes-on"),
        (made(), made(**CHANGED), GOOD, BAD, "unfit"),
        (made(), made(10), GOOD, GOOD, "unfit"),
        (made(12, 0), made(10, 0), GOOD, GOOD, "unfit"),
        # Measured now and not before: nobody knows that it was as bad.
        (made(), made(**CHANGED), lambda: None, BAD, "unfit"),
        (made(), made(**CHANGED), BAD, GOOD, "counts"),
        # A trial ends only once nothing is missing.
        (made(10, trial=True), made(10), GOOD, GOOD, "unfit"),
        (made(10, trial=True), made(11, trial=True), GOOD, GOOD, "on-trial"),
        (made(trial=True), made(), GOOD, GOOD, "counts"),
        (made(), made(trial=True), GOOD, GOOD, "may-count"),
    ],
)
def test_a_changed_capability_goes_on_trial_only_for_what_it_did_not_lack(
    was: Capability, now: Capability, before: Any, after: Any, standing: str
) -> None:
    found = one(*appraise(with_(was), with_(now, version="1.1.1"), SETTINGS, before, after))
    assert (found.is_new, found.standing) == (False, standing)


def test_what_was_before_is_measured_only_where_it_decides() -> None:
    def asked() -> None:
        raise AssertionError

    old = with_(made())
    assert appraise(old, with_(made(), version="1.1.0"), SETTINGS, asked, asked) == ()
    assert one(*appraise(old, with_(made(**CHANGED)), SETTINGS, asked, GOOD)).standing == "counts"
    assert one(*appraise(old, with_(made(10)), SETTINGS, asked, GOOD)).standing == "unfit"


@pytest.mark.parametrize(
    ("item", "appraised"),
    [
        (made(), True),
        (capability("f"), True),
        (declared("f", "knowledge", "all"), False),
        (of_tools("f", "effect == 'read'", "all"), False),
        (counted("f", "user_turns > `1`", "all"), False),
        # Where the rule says nothing, the text decides.
        (of_tools("f", "effect == 'read'", "all", exemplars=exemplars()), True),
        (counted("f", "contains(attachments, 'file')", "all", exemplars=exemplars()), True),
    ],
)
def test_what_rules_alone_decide_is_exempt(item: Capability, appraised: bool) -> None:
    assert bool(appraise(OLD, with_(item), SETTINGS)) is appraised


def test_another_name_or_place_is_no_change_and_a_rename_is_none() -> None:
    old = with_(made(10))
    assert appraise(old, with_(made(10).model_copy(update={"name": "Another"})), SETTINGS) == ()
    renamed = capability("g", "f", exemplars=exemplars(10), was="f")
    assert appraise(old, grown(old, "1.2.0", renamed, without=["f"]), SETTINGS) == ()


def test_the_parts_of_a_split_are_new() -> None:
    old = with_(made())
    parts = [capability(name, exemplars=exemplars(10), split="f") for name in ("g", "h")]
    found = appraise(old, grown(old, "2.0.0", *parts, without=["f"]), SETTINGS)
    assert [(item.capability, item.is_new, item.standing) for item in found] == [
        ("g", True, "unfit"),
        ("h", True, "unfit"),
    ]


def test_shares_come_with_their_intervals() -> None:
    expected = one(*appraise(OLD, with_(made()), SETTINGS, after=BAD)).expected
    assert expected is not None
    assert (expected.by, expected.tagged, expected.positive) == ("hand", 93, 26)
    for found, interval, share in (
        (expected.precision, wilson(23, 93), 23 / 93),
        (expected.recall, wilson(23, 26), 23 / 26),
    ):
        assert found is not None
        assert interval is not None
        assert (found.share, found.low, found.high) == (share, interval.low, interval.high)
    nothing = one(*appraise(OLD, with_(made()), SETTINGS, after=held_out(0, 0, 0))).expected
    assert nothing is not None
    assert (nothing.precision, nothing.recall) == (None, None)


def test_the_fault_names_the_line_to_add() -> None:
    text = "version: 1.1.0\ncapabilities:\n  - id: a\n  - id: f\n    name: F\n"
    document = parse_yaml(text.encode(), "taxonomy/taxonomy.yaml", REVIEWED_FILES)
    new = with_(made(10, 0))
    (problem,) = trial_problems(appraise(OLD, new, SETTINGS), new, document)
    assert (problem.file, problem.line) == ("taxonomy/taxonomy.yaml", 4)
    assert problem.message == (
        "f: no verdict may rest on it yet: it has 10 of 12 positive exemplars, 0 of 12 lookalikes"
    )
    assert "add `trial: true`" in problem.fix
    on_trial = with_(made(10, 0, trial=True))
    assert list(trial_problems(appraise(OLD, on_trial, SETTINGS), on_trial, document)) == []


# The texts that show it


def text(where: str, value: bool, probability: float, words: str | None = None, path: DecidedBy = "inference") -> Text:
    return Text(where=where, turns=(words or f"about {where}",), judgements={"f": Judgement(value, probability, path)})


def shown(*texts: Text, most: int = 2) -> Any:
    settings = SETTINGS.model_copy(update={"shown": most})
    return one(*appraise(OLD, with_(made()), settings, texts=texts)).texts


def test_the_surest_the_most_doubtful_and_the_nearest_misses_are_shown() -> None:
    found = shown(
        *(text(f"t{place}", True, place / 10) for place in range(5, 10)),
        *(text(f"f{place}", False, place / 10) for place in range(5)),
    )
    assert (found.judged, found.tagged) == (10, 5)
    assert [item.where for item in found.surest] == ["t9", "t8"]
    assert [item.where for item in found.doubtful] == ["t5", "t6"]
    assert [(item.where, item.probability) for item in found.misses] == [("f4", 0.4), ("f3", 0.3)]


def test_a_text_is_shown_once_and_ties_go_by_place() -> None:
    found = shown(text("b", True, 0.9), text("a", True, 0.9), text("c", True, 0.9, "About  A"), text("d", False, 0.0))
    assert [item.where for item in found.surest] == ["a", "b"]
    assert (found.judged, found.tagged, found.doubtful, found.misses) == (3, 2, (), ())


def test_what_a_rule_decided_or_nobody_asked_shows_nothing() -> None:
    asked_of_another = Text(where="x", turns=("x",), judgements={})
    found = shown(text("s", True, 1.0, path="specification"), text("c", True, 1.0, path="structure"), asked_of_another)
    assert (found.judged, found.tagged) == (0, 0)


def test_texts_are_cut_and_secrets_taken_out_before() -> None:
    token = "ghp_" + "a1B2" * 9
    (item,) = shown(text("a", True, 0.9, f"{'x ' * 140}{token} {'y' * 99}")).surest
    assert len(item.text) == 300
    assert item.text.endswith("…")
    assert "ghp_a" not in item.text
    long = Text(where="b", turns=("one", "two"), judgements={"f": Judgement(True, 0.9, "inference")})
    assert shown(long).surest[0].text == "one\ntwo"
