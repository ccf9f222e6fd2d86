"""The one place where the hub meets the product: platforms, customers' folders, reviews and reconciles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from incumbent.classifier.caching_backend import halt
from incumbent.classifier.model import Finding, Identity, InferenceRequest, Sample, agree
from incumbent.curator.entry import Entry
from incumbent.curator.file_changes import admit
from incumbent.errors import IncompleteError
from incumbent.github.events import Event, Flow
from incumbent.github.git_state import World
from incumbent.github.run import analyse_event, publish_event
from incumbent.pipeline.review import Platform, load_platform
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.run import reconcile_event, survey_event
from incumbent.taxonomy.config import CONFIG_FILE
from incumbent.taxonomy.loading import TAXONOMY_FILE
from tests.factories import NO_APPRAISAL, make_config, make_entry, make_taxonomy
from tests.reconcile.hub import MAIN, Hub, KilledError

CAPABILITIES = ("a", "b", "c", "d", "e")
TAXONOMY = make_taxonomy(*CAPABILITIES)
IDENTITY = Identity(backend="embedded", model="m1", prompt="p1", samples=5)


def text_of(word: str, scores: Mapping[str, float]) -> str:
    """A query that says by itself what it exercises; two of one word are clones, two of different words are not."""
    scored = " ".join(f"{name}{round(score * 100)}" for name, score in sorted(scores.items()))
    return f"{' '.join([word] * 8)} {scored}"


def scores_of(text: str) -> dict[str, float]:
    """What :func:`text_of` put into ``text``."""
    return {part[0]: int(part[1:]) / 100 for part in text.split() if part[1:].isdigit()}


class Reader:
    """The classifier: it finds what the query says."""

    identity = IDENTITY
    usage = None

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, request in enumerate(requests):
            scores = scores_of(request.turns[0])
            sample = Sample(
                votes={name: name in scores for name in request.capabilities},
                probabilities={name: scores.get(name, 0.1) for name in request.capabilities},
            )
            samples = [sample] * IDENTITY.samples
            yield place, Finding(consensus=agree(samples, request.capabilities, len(samples)) or {})


def config_text(**values: Any) -> str:
    """The config file with these knobs, options and limits."""
    names = ("open_evictions", "open_repacks", "group", "customer_share")
    limits: dict[str, Any] = {name: values.pop(name) for name in names if name in values}
    config = make_config(**{"appraisal": NO_APPRAISAL} | values)
    config = config.model_copy(update={"limits": config.limits.model_copy(update=limits)})
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)


def platform_files(entries: Sequence[Entry], config: str) -> dict[str, str]:
    """The reviewed files of a repository in which ``entries`` were imported."""
    changes = [admit(entry) for entry in entries]
    return {
        TAXONOMY_FILE: yaml.safe_dump(TAXONOMY.model_dump(mode="json"), sort_keys=False),
        CONFIG_FILE: config,
        **{change.path: change.content for change in changes if change.content is not None},
    }


def imported(id: str, text: str, at: str) -> Entry:
    """An entry that was there before there was any eval set here."""
    entry = make_entry(id, scores_of(text), text)
    return entry.model_copy(update={"admitted": entry.admitted.model_copy(update={"at": at})})


def folder_of(agent: tuple[str, str]) -> str:
    """Where an agent's files are."""
    return f"eval_sets/{agent[0]}/{agent[1]}"


def agent_files(agent: tuple[str, str], queries: Mapping[str, str]) -> dict[str, str]:
    """An agent's folder with ``queries`` by item."""
    rows = [{"id": item, "query": text} for item, text in queries.items()]
    return {
        f"{folder_of(agent)}/agent.yaml": yaml.safe_dump({"agent": 1, "name": agent[0], "platform": "any"}),
        f"{folder_of(agent)}/evals.yaml": yaml.safe_dump({"eval_set": 1, "queries": rows}, width=1000),
    }


def queries_of(files: Mapping[str, str], agent: tuple[str, str]) -> dict[str, str]:
    """Item → text of an agent's folder."""
    text = files.get(f"{folder_of(agent)}/evals.yaml")
    return {} if text is None else {row["id"]: row["query"] for row in yaml.safe_load(text)["queries"]}


def platform_of(hub: Hub, commit: str | None = None) -> Platform:
    """The platform as ``commit``, or the default branch, holds it."""
    return load_platform(hub.repository.snapshot(commit or hub.repository.branches[MAIN]))


def review(hub: Hub, number: int) -> None:
    """A whole run on the pull request ``number``."""
    event = Event(
        flow=Flow.REVIEW, repository="o/r", default_branch=MAIN, pull_request=number, head=hub.pulls[number].head
    )
    hub.repository.branches[f"refs/pull/{number}/head"] = hub.pulls[number].head
    analysis = analyse_event(event, world_of(hub), lambda *_: Reader(), silent, lambda: hub)
    assert not isinstance(analysis, str)
    publish_event(event, analysis, world_of(hub), hub, no_race, dry_run=False)


def reconcile(hub: Hub, allowed: int | None = None, seeks: bool = False, page: str | None = None) -> bool:
    """A whole run on the default branch; whether it came to its end, before it had written ``allowed`` times.

    ``seeks``: it looks back at all queries, as it does once a week; ``page`` is that of the run.
    """
    event = Event(flow=Flow.RECONCILE, repository="o/r", default_branch=MAIN, seeks=seeks)
    inventory = survey_event(event, world_of(hub), lambda *_: Reader(), silent)
    assert isinstance(inventory, Inventory)
    assert not inventory.problems
    hub.allowed = allowed
    try:
        world = replace(world_of(hub), run=page)
        assert not reconcile_event(event, inventory, world, hub, no_race, dry_run=False).why
    except KilledError:
        return False
    finally:
        hub.allowed = None
    return True


def world_of(hub: Hub) -> World:
    return World(
        store=hub.repository,
        url="https://github.example/o/r",
        token=None,
        run=None,
        configured=lambda platform: halt(Reader(), IncompleteError("this job asks nothing")),
    )


def silent(done: int, total: int) -> None: ...


def no_race(attempt: int) -> None:
    raise AssertionError("nobody else writes here")
