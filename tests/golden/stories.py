"""What the bot writes on GitHub: comments, checks, labels, commits, pull requests, dashboard and ledger."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from incumbent.curator.file_changes import render
from incumbent.curator.store import entry_path, tombstone_path
from incumbent.doctor.diagnosis import diagnose
from incumbent.github.events import Flow
from incumbent.github.managed_pull_request import calibration_offer, plan_pull_request
from incumbent.intake.query import Setup
from incumbent.ledger.calibration.calibrate import ConfigEdit
from incumbent.report.calibration import description
from incumbent.taxonomy.config import CONFIG_FILE
from tests.cli.test_agreement import ledger
from tests.cli.test_calibrate import answers, head
from tests.doctor.test_diagnosis import HEALTHY, REQUIRED, UNREAD, committing, config, filtered, main
from tests.github.test_impact_flow import CHANGED, OF_F
from tests.github.test_impact_flow import written as taxonomy
from tests.github.test_managed_pull_request import shown
from tests.golden.golden import Case
from tests.golden.places import CONFIG, incumbent, other_platform
from tests.golden.story import Story, Watched, written
from tests.pipeline.impact.test_measure import WITH_F
from tests.reconcile.hub import MAIN
from tests.reconcile.runs import agent_files, config_text, folder_of, imported, platform_files, text_of
from tests.reconcile.test_candidate_plan import Raising

ACME, BOLT, COVE = ("acme", "desk"), ("bolt", "line"), ("cove", "shop")
RESIDENTS = {
    "r1": ("weather", {"a": 0.9, "b": 0.6}),
    "r2": ("budget", {"a": 0.8, "b": 0.8}),
    "r3": ("photo", {"a": 0.7}),
    "r4": ("queue", {"b": 0.7}),
}
QUERIES = {
    "q1": text_of("parcel", {"c": 0.9}),
    "q2": text_of("invoice", {"a": 0.8, "c": 0.7}),
    "q3": text_of("jump", {"a": 0.8, "c": 0.7}),
    "q4": text_of("zip", {"a": 0.6}),
    "q5": text_of("budget", {"a": 0.8, "b": 0.8}),
    "q6": text_of("echo", {}),
    "q7": text_of("tax", {"d": 0.5}),
    "q8": f"{text_of('my', {'e': 0.9})} write to kim.lee@northwind.com",
}


def begin(**knobs: Any) -> Story:
    """A story with a regression set of four, imported, of which some could go."""
    entries = [
        imported(id, text_of(*words), f"2026-01-0{place}T00:00:00Z")
        for place, (id, words) in enumerate(RESIDENTS.items(), 1)
    ]
    defaults: dict[str, Any] = {"curators": ["cora"], "ceiling": 7, "redundancy_floor": 1, "customer_share": 1.0}
    story = Story(Watched(platform_files(entries, config_text(**defaults | knobs))))
    story.reconcile()
    return story


def before_the_merge(work: Path) -> str:
    """A customer's pull request, what people say of it, and what becomes of it until it is merged."""
    story = begin()
    number = story.bring("opens a pull request", ACME, QUERIES)
    story.review(number, report=True)
    story.say(number, "mara", "/incumbent accept q2 it is mine")
    story.say(number, "eve", "/incumbent accept q2 it is nice")
    story.say(
        number,
        "cora",
        "/incumbent accept q2",
        "/incumbent reject q8 nobody sells this",
        "/incumbent accept q4",
        "/incumbent accept q99 it matters",
        "/incumbent acept q3",
        "/incumbent correct q6 +E -B it asks for E",
        "/incumbent pin q1 an audit needs it",
        "/incumbent help",
    )
    story.hub.permissions["eve"] = "read"
    story.review(number)
    edited = {**QUERIES, "q2": QUERIES["q2"].replace("invoice", "statement"), "q9": text_of("late", {"d": 0.9})}
    story.bring("pushes again", ACME, edited, like=number)
    story.review(number)
    return story.text


def after_the_merge(work: Path) -> str:
    """What enters, what is suggested, refused and confirmed, and what people ask for later."""
    story = begin()
    number = story.bring("opens a pull request", ACME, QUERIES)
    story.review(number)
    story.say(number, "cora", "/incumbent accept q2 it matters", "/incumbent pin q1 an audit needs it")
    story.merge(number)
    del story.hub.lines[:]
    story.reconcile(report=True)
    first, *others = story.ours()
    story.close(first)
    for pull in others[:1]:
        story.merge(pull.number)
    story.reconcile()
    gone = next(path.split("/")[-1][:-5] for path in sorted(story.hub.repository.files(MAIN)) if "/evicted/" in path)
    story.say(number, "cora", "/incumbent undo q1 q2", f"/incumbent restore {gone}", "/incumbent reject q8 too late")
    story.reconcile()
    return story.text


def life_of_an_eval_set(work: Path) -> str:
    """Queries are edited, renamed and taken out, the set fills up, a customer leaves, and people change files."""
    story = begin(ceiling=6)
    first = story.bring("opens a pull request", ACME, {name: QUERIES[name] for name in ("q1", "q2")})
    story.review(first)
    story.merge(first)
    story.reconcile()
    del story.hub.lines[:]
    changed = {"q1": text_of("parcel", {"c": 0.95}), "renamed": QUERIES["q2"], "q5": text_of("mine", {"d": 0.9})}
    second = story.bring("edits one query and renames another", ACME, changed)
    story.review(second)
    story.merge(second)
    third = story.bring("opens another, when the set is full", BOLT, {"q1": text_of("jump", {"e": 0.9})})
    story.review(third)
    story.merge(third)
    story.reconcile()
    path = "regression_set/r1.yaml"
    entry = story.hub.repository.files(MAIN)[path].replace("pin: null", "pin: an audit needs it")
    story.push("a pin by hand", {path: entry})
    story.push("the customer leaves", dict.fromkeys(agent_files(ACME, changed)))
    story.push(
        "queries without a pull request", dict(agent_files(("cove", "shop"), {"q1": text_of("echo", {"d": 1.0})}))
    )
    story.reconcile()
    return story.text


def at_fault(work: Path) -> str:
    """Pull requests that cannot be judged, or not in full, and what is said of them."""
    story = begin()
    del story.hub.lines[:]
    folder, files = folder_of(ACME), dict(agent_files(ACME, QUERIES))
    rows = ("{id: q1, query: 5}", "{id: q1}", "{id: q3, query: x, turns: [y]}", "{idd: q4}")
    broken = "\n  - ".join(["eval_set: 1\nqueries:", *rows]) + "\n"
    number = story.offer("opens a broken eval set", {**files, f"{folder}/evals.yaml": broken})
    story.review(number, report=True)
    story.offer("breaks the YAML", {f"{folder}/evals.yaml": "eval_set: [1\n"}, like=number)
    story.review(number)
    secret = f"{text_of('parcel', {'c': 0.9})} ghp_{'a1' * 18}"
    story.bring("brings a key", ACME, {"q1": secret, "q2": QUERIES["q7"]}, like=number)
    story.review(number)
    by_hand = story.offer("changes the set by hand", {"regression_set/r4.yaml": None}, author="dan")
    story.review(by_hand)
    story.say(by_hand, "cora", "/incumbent accept regression_set it was agreed")
    story.review(by_hand)
    nothing = story.offer("changes a page", {"docs/page.md": "words"})
    story.review(nothing)
    story.review(nothing, flow=Flow.NOT_CURATED, why="only pull requests to main are curated")
    story.fail(number)
    story.fail(nothing, quiet=True)
    story.group("what was reviewed", files)
    story.group("what is broken", {**files, f"{folder}/evals.yaml": broken})
    return story.text


def modes(work: Path) -> str:
    """Observing, blocking, holding a first contribution, and admissions that are offered or made by hand."""
    parts = []
    for knobs in ({"mode": "observe"}, {"block_on_review": True}, {"hold_first_time_contributors": True}):
        story = begin(**knobs)
        del story.hub.lines[:]
        story.add(f"config: {knobs}")
        number = story.bring("opens a pull request", ACME, {name: QUERIES[name] for name in ("q1", "q2", "q4")})
        story.review(number, permission="read", association="FIRST_TIMER")
        if "mode" in knobs:
            story.reconcile()
        parts.append(story.text)
    for knobs, protected in (({}, True), ({"admissions": "pull-request"}, False), ({"admissions": "by-hand"}, False)):
        story = begin(**knobs)
        story.hub.protected = protected
        number = story.bring("opens a pull request", ACME, {name: QUERIES[name] for name in ("q1", "q2", "q4")})
        story.review(number)
        story.merge(number)
        del story.hub.lines[:]
        story.add(f"config: {knobs}; commits to the default branch are {'refused' if protected else 'taken'}")
        story.reconcile()
        if protected:
            story.merge(story.ours()[0].number)
            story.reconcile()
        parts.append(story.text)
    return "\n\n".join(parts)


def full_set(work: Path) -> str:
    """Where every slot is taken: swaps, the waitlist, and what goes for it."""
    entry = imported("r1", text_of("weather", {"a": 0.6}), "2026-01-01T00:00:00Z")
    knobs: dict[str, Any] = {"ceiling": 1, "redundancy_floor": 0, "customer_share": 1.0}
    story = Story(Watched(platform_files([entry], config_text(curators=["cora"], **knobs))))
    number = story.bring("opens a pull request", ACME, {"q1": text_of("late", {"a": 0.95}), "q2": QUERIES["q7"]})
    story.review(number)
    story.merge(number)
    story.reconcile()
    (swap,) = story.ours()
    story.merge(swap.number)
    story.reconcile()
    return story.text


def repack(work: Path) -> str:
    """Where an excluded query would do the work of three entries: refused, and then merged."""
    best = {"r1": {"a": 0.9}, "r2": {"b": 0.9}, "r3": {"c": 0.9}}
    pairs = {"r4": {"a": 0.8, "b": 0.8}, "r5": {"a": 0.8, "c": 0.8}, "r6": {"b": 0.8, "c": 0.8}}
    words = zip(("weather", "budget", "photo", "jump", "echo", "zip"), (best | pairs).items(), strict=True)
    entries = [imported(id, text_of(word, scores), "2026-01-01T00:00:00Z") for word, (id, scores) in words]
    entries[3] = entries[3].model_copy(update={"setup": Setup(cost=5, fixtures=("a-lab",))})
    knobs: dict[str, Any] = {"curators": ["cora"], "redundancy_floor": 1, "customer_share": 1.0}
    story = Story(Watched(platform_files(entries, config_text(**knobs))))
    number = story.bring("opens a pull request", ACME, {"q1": text_of("late", {"a": 0.8, "b": 0.8, "c": 0.8})})
    story.review(number)
    story.merge(number)
    story.reconcile(seeks=True)
    (pull,) = story.ours()
    story.close(pull)
    story.reconcile(seeks=True)
    story.add(f"cora reopens #{pull.number}")
    story.hub.reopen(pull)
    story.reconcile(seeks=True)
    story.merge(pull.number)
    story.reconcile()
    return story.text


def groups(work: Path) -> str:
    """Where more could go than may be suggested one by one: a group, of which people keep some."""
    words = ("late", "jump", "echo", "zip")
    spare = [imported(f"s{n}", text_of(word, {"b": 0.6}), "2026-01-05T00:00:00Z") for n, word in enumerate(words)]
    best = [imported(id, text_of(*RESIDENTS[id]), "2026-01-01T00:00:00Z") for id in ("r1", "r2")]
    knobs: dict[str, Any] = {"curators": ["cora"], "redundancy_floor": 1, "open_evictions": 1}
    story = Story(Watched(platform_files([*best, *spare[:3]], config_text(**knobs))))
    story.reconcile()
    (group,) = story.ours()
    first, second, *_ = re.findall(r"^(\S+) [0-9a-f]{16}$", group.body, re.MULTILINE)
    story.say(group.number, "cora", f"/incumbent keep {first}: an audit wants it")
    story.reconcile()
    known = story.hub.repository.files(MAIN)[entry_path(second)]
    back: dict[str, str | None] = {entry_path(second): known, tombstone_path(second): None}
    story.offer(f"reverts the eviction of {second}", back, "cora", group.number)
    story.reconcile()
    story.push("one more that could go", {entry_path("s3"): render(spare[3])})
    story.reconcile()
    story.merge(group.number)
    story.reconcile()
    return story.text


def taxonomy_and_config(work: Path) -> str:
    """Changes of taxonomy and config: their impact, faults, and entries that follow after the merge."""
    parts = []
    for name, files in CHANGED.items():
        story = begin(redundancy_floor=2)
        number = story.bring("opens a pull request", ACME, {"q1": OF_F, "q2": QUERIES["q2"]})
        story.review(number)
        story.merge(number)
        story.reconcile()
        del story.hub.lines[:]
        change = story.offer(name, files, author="dan")
        story.review(change)
        if name in ("a split", "a higher bar"):
            story.merge(change)
            story.reconcile()
        parts.append(story.text)
    story = begin()
    del story.hub.lines[:]
    broken: dict[str, dict[str, str | None]] = {
        "a wrong version": taxonomy(WITH_F.called("1.0.1")),
        "no mapping": {CONFIG_FILE: "- a"},
        "a word too many": {CONFIG_FILE: config_text(curators=["cora"]).replace("ceiling:", "cieling:")},
    }
    for name, files in broken.items():
        story.review(story.offer(name, files, author="dan"))
    return "\n\n".join([*parts, story.text])


def candidates(work: Path) -> str:
    """A draft for a capability that the taxonomy may lack."""
    world = Raising()
    return "\n\n".join(written(None, item) for _ in range(2) for item in world.step())


def calibration(work: Path) -> str:
    """The pull request that offers knobs which curators' answers speak for."""
    with other_platform(work) as platform:
        ledger(platform, answers(head(platform)))
        with patch("incumbent.cli.agreement.print_json") as printed:
            incumbent("calibrate", "--json")
    (output,) = printed.call_args.args
    edit = ConfigEdit(CONFIG, output.config or "", "0" * 8)
    planned = plan_pull_request(calibration_offer(edit, description(output)), shown())
    return "\n\n".join(written(None, item) for item in planned.operations)


def doctor(work: Path) -> str:
    """What the doctor finds in repositories that are set up well, and badly."""
    changes: Sequence[dict[str, Any]] = (
        {},
        main() | {"archived": True, "job_tokens": UNREAD, "workflow_state": "disabled_manually"},
        committing(REQUIRED),
        config(curators=()) | {"blocking": ("incumbent",), "owner_faults": ("no such team",)},
        filtered("paths: [docs/**]"),
    )
    parts = []
    for place, change in enumerate(changes):
        found = diagnose(_facts(change))
        with patch("incumbent.cli.setup._findings", return_value=found):
            call = ("doctor", "--repository", "acme/platform")
            parts.append(incumbent(*call) + (incumbent(*call, "--json") if place == 1 else ""))
    return "".join(parts)


def _facts(change: dict[str, Any]) -> Any:
    change = dict(change)
    workflow = change.pop("workflow", None)
    facts = replace(HEALTHY, **change)
    return facts if workflow is None else replace(facts, files=replace(facts.files, workflow=workflow))


CASES = [
    Case(f"stories/{make.__name__.replace('_', '-')}.txt", make)
    for make in (
        before_the_merge,
        after_the_merge,
        life_of_an_eval_set,
        at_fault,
        modes,
        full_set,
        repack,
        groups,
        taxonomy_and_config,
        candidates,
        calibration,
        doctor,
    )
]
