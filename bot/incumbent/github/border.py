"""What a job that writes believes of a document of a job that reads hostile data (pure; SECURITY.md).

An attacker who has taken over the first job can write any document that fits the schema.  So each field is one of three
things, and :data:`FIELDS` says which:

- *derived*: the second job works it out again from git, reviewed and merged files, the config and GitHub.  What the
  document says of it is not read, or the run refuses where it differs;
- *bounded*: what reviewed files allow, and nothing else;
- *text*: it decides nothing, and is shown as somebody else's words: escaped, in code spans.

What enters the regression set rests on the document after a merge, whose every text is compared with the merged files
(:mod:`incumbent.reconcile.confirmed`), and by itself only where the review said the same of it
(:func:`incumbent.reconcile.merged_submissions.agreed`).  The document of a pull request only fills the comment, the
check and the record of that pull request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from incumbent.classifier.caching_backend import RememberingBackend, conditions_of
from incumbent.classifier.language_model.abilities import key_of_endpoint
from incumbent.classifier.model import Backend, Classification, Judgement, Path
from incumbent.classifier.paths import counted_values, structure_rules
from incumbent.errors import IncompleteError, InputError, OutsideError
from incumbent.files.git import blob_id
from incumbent.files.snapshot import Snapshot
from incumbent.github.facts import (
    Analysis,
    ClassifierWork,
    MigrationFacts,
    QueryFacts,
    SubmissionFacts,
    without_secrets,
)
from incumbent.github.governing import CONFIG, keeps_who_decides
from incumbent.github.head_changes import HeadFacts, departing, set_changes, touched_agents
from incumbent.intake.expectation import ExpectedTools
from incumbent.intake.query import Query
from incumbent.ledger.keys import classification_key
from incumbent.pipeline.impact.measure import RESTS_ON
from incumbent.pipeline.migrate import migrate_set
from incumbent.pipeline.repository_paths import refused_folders
from incumbent.pipeline.review import Platform, unsettled
from incumbent.pipeline.submission import agent_folder
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.migration import Migration
from incumbent.taxonomy.model import Capability, Taxonomy

Kind: TypeAlias = Literal["derived", "bounded", "text"]


class Trust(NamedTuple):
    """What holds of a field and of all that is in it: its ``kind``, and ``how`` it is derived, bounded or shown."""

    kind: Kind
    how: str


PARTS: Final = None
"""In the place of a rule: the field is made of others, each of which has one."""
_GIT: Final = Trust("derived", "git: names and ids of the commit's files, not their contents")
_OWN: Final = Trust("bounded", "counts for this pull request alone; read again from the merged files before it enters")
_SHOWN: Final = Trust("text", "shown escaped, in code spans; decides nothing")
_NUMBER: Final = Trust("text", "a number that is shown; decides nothing")
_SAID: Final = Trust(
    "bounded", "what a classifier may say: by `source`, rules, counts and the config; classified again"
)

FIELDS: Final[Mapping[str, Trust | None]] = MappingProxyType(
    {
        "Analysis.format": Trust("bounded", "this version's alone"),
        "Analysis.repository": Trust("derived", "the event's, or the run refuses"),
        "Analysis.at": Trust("derived", "git: the committer's time of the head"),
        "Analysis.held": Trust("derived", "config, GitHub and the ledger: whether a first contribution waits"),
        "Analysis.touches": _GIT,
        "Analysis.judged": PARTS,
        "Analysis.work": PARTS,
        "Analysis.impact": Trust("text", "shown as what was measured; a change of taxonomy or config must have one"),
        "Analysis.config": Trust("bounded", "counts where it is the head's file, byte for byte; compared, not read"),
        "Analysis.follows": Trust(
            "bounded", "where the taxonomy changes: the reviewed set under new ids, byte for byte"
        ),
        "Analysis.remembered": Trust("bounded", "a language model's answers, for this pull request alone"),
        "JudgedFacts.pull_request": Trust("derived", "the event's, or the run refuses"),
        "JudgedFacts.base": Trust("derived", "git: the newest commit; taxonomy and config must be the same there"),
        "JudgedFacts.head": Trust("derived", "git: the pull request's, or the run refuses"),
        "JudgedFacts.identity": Trust("derived", "the config's, or the run refuses"),
        "JudgedFacts.submissions": PARTS,
        "JudgedFacts.problems": _SHOWN,
        "JudgedFacts.set_changes": PARTS,
        "JudgedFacts.departing": Trust("derived", "git and the queries: entries whose eval set changes, without them"),
        "ChangedEntryFile.file": _GIT,
        "ChangedEntryFile.buried": _GIT,
        "ChangedEntryFile.eviction": Trust("bounded", "counts where it gives the head's file, byte for byte"),
        "SubmissionFacts.about": PARTS,
        "SubmissionFacts.specification": _OWN,
        "SubmissionFacts.queries": PARTS,
        "SubmissionFacts.ruled_out": Trust("bounded", "capabilities of the taxonomy; derived again after the merge"),
        "Submission.customer": Trust("derived", "its folder, which the head has and changes"),
        "Submission.agent": Trust("derived", "its folder, which the head has and changes"),
        "Submission.folder": Trust("derived", "git: one that the head has and changes, or the run refuses"),
        "Submission.queries": Trust("derived", "those of the facts beside it"),
        "Submission.problems": _SHOWN,
        "Submission.notes": _SHOWN,
        "Submission.tools": _SHOWN,
        "Submission.prefix": Trust("derived", "customer and agent, or the run refuses"),
        "Submission.moved_from": Trust("bounded", "a folder from which files go and that the head lacks"),
        "QueryFacts.query": PARTS,
        "QueryFacts.key": Trust("derived", "text, agent, taxonomy and classifier"),
        "QueryFacts.classification": PARTS,
        "QueryFacts.waits": Trust("derived", "the regression set"),
        "QueryFacts.shortfall": _SHOWN,
        "QueryFacts.expected_tools": _OWN,
        "Query.id": _OWN,
        "Query.turns": _OWN,
        "Query.expected": _OWN,
        "Query.setup": _OWN,
        "Query.file": Trust("bounded", "a file of the head in the agent's folder, or the run refuses"),
        "Query.line": _NUMBER,
        "Classification.judgements": _SAID,
        "Classification.off_taxonomy": Trust("bounded", "`exactly-one` groups of the taxonomy"),
        "Classification.arbitrated": Trust("bounded", "capabilities of the taxonomy"),
        "Classification.attempt": _SAID,
        "Classification.basis": _SAID,
        "Classification.unfamiliar": _SAID,
        "Classification.contradiction": _SAID,
        "Classification.stated": _SAID,
        "Classification.findings": Trust("bounded", "none, unless the config names a language model"),
        "ClassifierWork.reused": _NUMBER,
        "ClassifierWork.classified": _NUMBER,
        "ClassifierWork.stopped": Trust("text", "shown in a code span; without verdicts a run is incomplete anyway"),
        "ClassifierWork.usage": _NUMBER,
        "ClassifierWork.abilities": Trust(
            "bounded", "full ones of the config's endpoint, which refuses what it cannot"
        ),
        "Inventory.format": Trust("bounded", "this version's alone"),
        "Inventory.repository": Trust("derived", "the event's, or the run refuses"),
        "Inventory.base": Trust("derived", "git: the newest commit; what the facts rest on must be the same there"),
        "Inventory.at": Trust("derived", "git: the time of that commit"),
        "Inventory.since": Trust("derived", "the ledger"),
        "Inventory.identity": Trust("derived", "the config's, or the run refuses"),
        "Inventory.merges": Trust("derived", "git, and the files of each merge"),
        "Inventory.submissions": Trust("derived", "the merged files; classifications alone are taken, by key"),
        "Inventory.unchanged": Trust("derived", "the ledger's index and git"),
        "Inventory.trees": Trust("derived", "git"),
        "Inventory.conditions": Trust("derived", "git, the ledger, the config and the code"),
        "Inventory.departed": Trust("derived", "the merged files and the regression set"),
        "Inventory.unread": Trust("derived", "the merged files"),
        "Inventory.problems": Trust("derived", "the merged files"),
        "Inventory.work": PARTS,
        "Inventory.candidates": Trust("text", "drafted in a pull request that people merge, once a week"),
        "Inventory.renewals": PARTS,
        "RenewalFacts.entry": Trust("derived", "the entries that taxonomy, config and corrections make due"),
        "RenewalFacts.before": Trust("derived", "the entry"),
        "RenewalFacts.carried": Trust("derived", "the taxonomies of the default branch"),
        "RenewalFacts.asked": Trust("derived", "the capabilities that differ"),
        "RenewalFacts.key": Trust("derived", "text, agent, taxonomy and classifier"),
        "RenewalFacts.classification": PARTS,
        "RenewalFacts.shortfall": _SHOWN,
        "RenewalFacts.kept": Trust("derived", "the entry and the merged files"),
    }
)
"""Class and field of a document → its rule; ``PARTS`` where the class below it has rules of its own."""

NOT_READ: Final = "it was not classified by the first job; run all jobs again"


class ForeignFactsError(OutsideError):
    """A document that cannot be what an honest first job writes here and now."""


def configured(platform: Platform) -> Backend:
    """The classifier of the config, for a job that asks nothing."""
    # Imported here: many runs need it not, and it is slow to load.
    from incumbent.classifier.backends import unasked_backend

    stopped = IncompleteError("this job asks no classifier")
    return unasked_backend(
        platform.config.classifier, platform.taxonomy, stopped, names=platform.config.personal_data.names
    )


def checked(
    analysis: Analysis, platform: Platform, backend: Backend, head: HeadFacts, reviewed: Snapshot, held: bool
) -> Analysis:
    """``analysis`` with all that can be known of it derived again, on the newest reviewed files.

    ``platform`` and ``reviewed`` are those of ``head.base``, ``backend`` is the configured one, which is not asked;
    ``held`` tells whether a first contribution waits for a curator.  Raises :class:`ForeignFactsError` with every
    contradiction.
    """
    judged = analysis.judged
    faults: list[str] = []
    if judged.identity != backend.identity:
        faults.append("it is by another classifier than the config names")
    if analysis.held and not held:
        faults.append("it holds back a contribution that nothing holds back")
    submissions: tuple[SubmissionFacts, ...] = ()
    if not held:
        for facts in judged.submissions:
            faults.extend(_misplaced(facts, len(judged.submissions), head))
        faults.extend(_left_out(analysis, head))
        faults.extend(_unfollowed(analysis.follows, platform.taxonomy, head))
    if not faults and not held:
        submissions = tuple(_derived(facts, platform, backend) for facts in judged.submissions)
        faults.extend(fault for facts in submissions for fault in _contradictions(facts, platform.taxonomy, backend))
    if faults:
        raise ForeignFactsError(f"The analysis cannot be used: {'; '.join(dict.fromkeys(faults))}")
    evictions = {item.file.path: item.eviction for item in judged.set_changes if item.eviction is not None}
    follows = {} if held else followed(analysis.follows, platform, reviewed)
    changed = [
        item
        for item in set_changes(head.changes, head.paths, evictions)
        if item.file.object_after is None or follows.get(item.file.path) != item.file.object_after
    ]
    known = [facts.submission for facts in submissions]
    gone = {} if held else departing(platform.regression_set, known, head.changes, head.agents)
    return analysis.model_copy(
        update={
            "at": head.at,
            "held": held,
            "touches": head.touches,
            "judged": replace(
                judged,
                base=head.base,
                submissions=submissions,
                problems=InputError([*judged.problems, *map(without_secrets, head.faults)]).problems,
                set_changes=tuple(changed),
                departing=gone,
            ),
            "work": bounded_work(analysis.work, platform),
            "remembered": dict(analysis.remembered) if isinstance(backend, RememberingBackend) else {},
        }
    )


def bounded_work(work: ClassifierWork, platform: Platform) -> ClassifierWork:
    """``work`` with the abilities of no other endpoint than that of the config."""
    settings = platform.config.classifier
    own = None if settings.openai is None else key_of_endpoint(settings.openai, settings.samples)
    return work.model_copy(update={"abilities": {key: item for key, item in work.abilities.items() if key == own}})


def config_keeps(analysis: Analysis, head: HeadFacts, reviewed: Snapshot) -> bool:
    """Whether the head's config certainly says the same of who decides as the ``reviewed`` one."""
    changed = next((item for item in head.changes if item.path == CONFIG and item.kind == "modified"), None)
    if changed is None or analysis.config is None or blob_id(analysis.config) != changed.object_after:
        return False
    return keeps_who_decides(reviewed.read(CONFIG, REVIEWED_FILES).decode("utf-8", "replace"), analysis.config)


def followed(claimed: MigrationFacts | None, platform: Platform, reviewed: Snapshot) -> dict[str, str]:
    """The files of the regression set after the migration that is ``claimed``, path → git's id of the content.

    A forged claim gives other names to scores that are there, and no score that is not.
    """
    if claimed is None:
        return {}
    migration = Migration(renames=claimed.renames, splits=claimed.splits)
    known, old = platform.regression_set, platform.taxonomy
    files = migrate_set(reviewed, known, migration, old, claimed.definitions, [])
    return {item.path: blob_id(item.content) for item in files if item.content is not None}


def _unfollowed(claimed: MigrationFacts | None, taxonomy: Taxonomy, head: HeadFacts) -> Iterator[str]:
    """Why no change of the reviewed taxonomy can be the one that is ``claimed``."""
    if claimed is None:
        return
    if "taxonomy" not in head.touches:
        yield "it migrates the regression set, and the taxonomy does not change"
    arisen = {*claimed.renames.values(), *(part for parts in claimed.splits.values() for part in parts)}
    if arisen & taxonomy.by_id.keys():
        yield "it gives capabilities the ids of others"
    if not {*claimed.renames, *claimed.splits, *claimed.definitions} <= taxonomy.by_id.keys():
        yield "it migrates capabilities that the taxonomy does not have"
    try:
        Migration(renames=claimed.renames, splits=claimed.splits)
    except ValueError as error:
        yield f"its migration cannot be: {error}"


def _misplaced(facts: SubmissionFacts, count: int, head: HeadFacts) -> Iterator[str]:
    """Why ``facts``, one of ``count`` submissions, cannot be of a folder that the head changes."""
    about = facts.about
    if about.folder != agent_folder(about.customer, about.agent) or about.folder not in head.agents:
        yield "it speaks of a folder that is none of an agent's in the head"
        return
    if about.folder not in touched_agents(head.changes):
        yield "it speaks of a folder that the pull request does not change"
    if about.prefix != ("" if count == 1 else f"{about.customer}/{about.agent}/"):
        yield "it names queries as no run does"
    if about.moved_from is not None:
        former = agent_folder(*about.moved_from)
        if former in head.agents or former not in touched_agents(head.changes):
            yield "it moves an agent from a folder that did not go"
    files = {item.query.file for item in facts.queries}
    if not all(file.startswith(f"{about.folder}/") and file in head.shown for file in files):
        yield "it names files that the head does not have"
    if not all(item.query.id.startswith(about.prefix) for item in facts.queries):
        yield "it names queries as no run does"


def _left_out(analysis: Analysis, head: HeadFacts) -> Iterator[str]:
    """What the head changes and ``analysis`` says nothing of."""
    judged = analysis.judged
    read = {facts.about.folder for facts in judged.submissions}
    at_fault = {problem.file for problem in judged.problems}
    # A folder whose name is refused is never read, and the fault names the part of it that is wrong.
    touched = touched_agents(head.changes) & head.agents
    for folder in sorted(touched - read - refused_folders(touched, head.agents).keys()):
        if not any(file == folder or file.startswith(f"{folder}/") for file in at_fault):
            yield "it says nothing of a folder that the pull request changes"
    rests_on = any(path.startswith(RESTS_ON) for change in head.changes for path in (change.path, change.before or ""))
    if rests_on and judged.pull_request is not None and analysis.impact is None and not judged.problems:
        yield "it says nothing of a change of taxonomy or config"


def _derived(facts: SubmissionFacts, platform: Platform, backend: Backend) -> SubmissionFacts:
    """``facts`` in which the regression set of now tells what is decided, and texts tell the keys."""
    open_ones = {query.id for query in unsettled(platform, facts.submission)}
    queries = []
    for item in facts.queries:
        is_open = item.query.id in open_ones
        new = {
            "key": key_by(item, facts.specification, platform.taxonomy, backend) if is_open else None,
            "classification": item.classification if is_open else None,
            "shortfall": (item.shortfall or NOT_READ) if is_open and item.classification is None else None,
            "waits": False,
        }
        queries.append(item.model_copy(update=new))
    return facts.model_copy(update={"queries": tuple(queries)})


def key_by(item: QueryFacts, specification: str, taxonomy: Taxonomy, backend: Backend) -> str:
    """The ledger's key of the classification of ``item`` for an agent with this ``specification`` (a digest)."""
    return classification_key(
        item.query.classified_turns,
        specification,
        taxonomy.definitions,
        backend.identity,
        conditions_of(backend),
        attachments=item.query.attachment_kinds,
        expected=item.expected_tools,
    )


def _contradictions(facts: SubmissionFacts, taxonomy: Taxonomy, backend: Backend) -> Iterator[str]:
    if not set(facts.ruled_out) <= taxonomy.by_id.keys():
        yield "it speaks of other capabilities than the taxonomy"
    for item in facts.queries:
        if item.classification is not None:
            yield from impossible(item.query, item.expected_tools, item.classification, taxonomy, backend)


def impossible(
    query: Query,
    expected: ExpectedTools | None,
    found: Classification,
    taxonomy: Taxonomy,
    backend: Backend,
    declared: Mapping[str, bool | None] | None = None,
) -> Iterator[str]:
    """Why ``found`` cannot be what a classifier says of ``query`` under ``taxonomy``.

    ``expected`` are the tools that the eval set expects to be called (``None``: it does not say).  ``declared`` are the
    values that the agent's specification decides, where that is known.
    """
    if not found.fits(taxonomy.by_id):
        yield "it speaks of other capabilities than the taxonomy"
        return
    if found.findings and not isinstance(backend, RememberingBackend):
        yield "it has answers of a language model, and the config names none"
    if not (found.arbitrated <= taxonomy.by_id.keys() and set(found.off_taxonomy) <= taxonomy.exactly_one.keys()):
        yield "it speaks of other groups than the taxonomy"
    has_steps = expected is not None and bool(expected.steps)
    resting = frozenset() if found.stated is None else found.stated.capabilities
    unsaid = has_steps and any(
        judgement.path == "expected" and name not in resting for name, judgement in found.judgements.items()
    )
    if unsaid or (found.stated is not None and not has_steps) or not resting <= taxonomy.by_id.keys():
        yield "it says otherwise which values rest on expected calls"
    counted = counted_values(structure_rules(taxonomy), query)
    for capability in taxonomy.capabilities:
        judgement = found.judgements[capability.id]
        ruled = {
            "specification": None if declared is None else declared.get(capability.id),
            "structure": counted.get(capability.id),
        }
        known = declared is not None or capability.source == "structure"
        if not _may_be(judgement, capability, expected is not None and expected.states_calls, ruled, taxonomy, known):
            yield f"it says of {capability.id} what no rule and no classifier says"


_PATHS: Final[Mapping[str, frozenset[Path]]] = MappingProxyType(
    {
        "spec": frozenset({"specification", "inference", "undeclared"}),
        "intent": frozenset({"specification", "expected", "inference", "undeclared"}),
        "structure": frozenset({"structure", "inference", "undeclared"}),
        "tool": frozenset({"tool", "expected", "inference", "undeclared"}),
    }
)
"""The paths that can decide a capability, by its ``source`` (semantics, section 2); arbitration may decide members of
an ``exactly-one`` group, and a curator's correction never comes from a document."""


def _may_be(
    judgement: Judgement,
    capability: Capability,
    states_calls: bool,
    ruled: Mapping[str, bool | None],
    taxonomy: Taxonomy,
    known: bool,
) -> bool:
    """Whether ``judgement`` can be that of ``capability``; ``ruled`` has what rules decide, as far as that is known."""
    path, value = judgement.path, judgement.value
    if path == "arbitration":
        return capability.group in taxonomy.exactly_one
    if path not in _PATHS[capability.source]:
        return False
    if path == "undeclared" and value:
        return False
    if path == "expected" and not (states_calls and (capability.source == "tool" or capability.expected_calls)):
        return False
    if path in ("specification", "structure"):
        if capability.requires is None and judgement.confidence != 1:
            return False
        if path == "specification" and capability.source == "intent" and value:
            return False
        # A declared value that its requirement does not meet is FALSE.
        return not known or ruled[path] is value or (ruled[path] is True and capability.requires is not None)
    # What a rule decides, nothing else decides.
    return not known or all(decided is None for decided in ruled.values())
