"""What a merge would change, from two commits of a local clone: no checkout, no network but for undecided queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from incumbent.classifier.model import Backend, Classification, Progress
from incumbent.curator.store import FOLDER
from incumbent.errors import InputError, Problem
from incumbent.files.git import ChangedFile, ObjectStore
from incumbent.files.snapshot import Overlay, Snapshot
from incumbent.github.analyse_job import ReleaseInputs, analyse
from incumbent.github.client import GitHubClient
from incumbent.github.comparison import comparison_of
from incumbent.github.events import Event, Flow
from incumbent.github.git_state import rejections_of, remembered_of
from incumbent.github.judgement import judge_facts
from incumbent.ledger.keys import under, with_findings
from incumbent.ledger.store import find_ledger
from incumbent.pipeline.impact.measure import RESTS_ON, backends_of, measure, read_agents, read_change
from incumbent.pipeline.impact.model import Impact
from incumbent.pipeline.review import Platform, load_platform
from incumbent.pipeline.submission import collect
from incumbent.pipeline.workspace import with_masks
from incumbent.site.comparison import MergeComparison
from incumbent.taxonomy.config import CONFIG_FILE, REVIEWED_FILES
from incumbent.taxonomy.migration import carried_questions

NOT_ASKED: Final = "a language model would be asked, which costs; `incumbent impact --ask` does"
_CONCERNS: Final = (*RESTS_ON, f"{FOLDER}/")


def read_comparison(
    store: ObjectStore,
    base: str,
    head: str,
    name: str,
    config_path: str,
    make: Callable[[Platform], Backend],
    progress: Progress,
) -> MergeComparison:
    """What the merge of ``head`` into ``base`` would change, both commits of a local clone, which is called ``name``.

    Here the set that ``head`` brings is read as well, and its queries are judged against it.  No endpoint is asked that
    only ``head`` names.  Raises :class:`incumbent.errors.InputError` with every fault of the reviewed files of either
    side, and if both sides changed one of them differently.
    """
    snapshot = store.snapshot(base)
    before = with_masks(load_platform(snapshot, config_path, is_past=True))
    changes = store.changes(base, head)
    after = load_platform(_merged(store, base, head, changes), config_path)
    found = find_ledger(store)
    ledger = None if found is None else store.snapshot(found)
    known = remembered_of(ledger)
    event = Event(flow=Flow.REVIEW, repository=name, default_branch="")
    asking = after
    if after.config.classifier.backend == "openai":
        settings = {"classifier": before.config.classifier}
        asking = replace(after, config=after.config.model_copy(update=settings))
    analysis = analyse(
        event,
        base=base,
        head=head,
        at=store.commit_time(head),
        platform=after,
        snapshot=store.snapshot(head),
        changes=changes,
        release=ReleaseInputs(event=event, config=after.config, record=None, github=_no_github),
        known=known,
        backend=with_findings(make(asking), known),
        progress=progress,
    )
    judgement = judge_facts(replace(analysis.judged, set_changes=()), after, None, ())
    found_here = comparison_of(analysis, judgement)
    impact = None
    if config_path == CONFIG_FILE and any(path.startswith(RESTS_ON) for item in changes for path in _paths(item)):
        rejected = {item.decision.content for item in rejections_of(ledger)}
        impact = _impact(store, base, head, make, known, progress, rejected)
    return replace(found_here, before=before, after=after, unread=(), impact=impact)


def _no_github() -> GitHubClient:
    raise AssertionError("a local clone has no pull request to ask GitHub about")


def _paths(change: ChangedFile) -> tuple[str, ...]:
    return (change.path,) if change.before is None else (change.path, change.before)


def _merged(store: ObjectStore, base: str, head: str, changes: Iterable[ChangedFile]) -> Snapshot:
    """The reviewed files of ``base`` with the ``changes`` of ``head``, as after a merge without conflicts."""
    snapshot, changed = store.snapshot(base), store.snapshot(head)
    if store.is_ancestor(base, head):
        return changed
    elsewhere = {path for item in store.changes(head, base) for path in _paths(item)}
    problems: list[Problem] = []
    files: dict[str, str | bytes | None] = {}
    for path in sorted({path for item in changes for path in _paths(item) if path.startswith(_CONCERNS)}):
        content = collect(partial(changed.read, path, REVIEWED_FILES), problems) if changed.exists(path) else None
        now = snapshot.read(path, REVIEWED_FILES) if snapshot.exists(path) else None
        if path in elsewhere and content != now:
            message = "the file has changed on the other side as well since this one left it"
            problems.append(Problem(path, None, message, "merge the other side into this one"))
        files[path] = content
    if problems:
        raise InputError(problems)
    return Overlay(snapshot, files)


def _impact(
    store: ObjectStore,
    base: str,
    head: str,
    make: Callable[[Platform], Backend],
    known: Mapping[str, Classification],
    progress: Progress,
    rejected: Collection[str],
) -> Impact:
    """What a change of taxonomy or config does, as `incumbent impact` measures it without asking a language model."""
    change, _ = read_change(store, base, head)
    snapshot = store.snapshot(base)
    agents = read_agents(snapshot, snapshot.within, change.before)
    carried = under(known, carried_questions(change.migration, change.before.taxonomy, change.after.taxonomy))
    backends, why = backends_of(change, lambda platform: with_findings(make(platform), carried), NOT_ASKED)
    return measure(change, agents, backends, why, make(change.after).identity, progress, rejected)[0]
