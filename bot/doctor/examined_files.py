"""What a repository's own files say of its set-up: workflow, taxonomy, config, regression set and CODEOWNERS."""

from __future__ import annotations

from bot.config import REVIEWED_FILES, Curation, load_config
from bot.doctor.code_owners import PLACES, owners
from bot.doctor.settings import ConfigFacts, Files
from bot.doctor.workflow import Workflow, read_workflow
from bot.errors import InputError, Problem
from bot.files.documents import decode, parse_yaml
from bot.files.snapshot import Snapshot
from bot.pipeline.review import load_platform
from bot.setup_files import setup_file

WORKFLOWS = ".github/workflows"
WORKFLOW = f"{WORKFLOWS}/incumbent.yml"
OWNED = ("config/", "regression_set/", "taxonomy/", WORKFLOW)
"""What verdicts rest on; CODEOWNERS should cover all of it."""


def shipped_workflow() -> Workflow:
    """The workflow as ``incumbent init`` writes it."""
    return read_workflow(parse_yaml(setup_file("incumbent.yml").encode(), WORKFLOW, REVIEWED_FILES), WORKFLOW)


def read_files(snapshot: Snapshot) -> Files:
    """What the files of ``snapshot`` say; their faults are part of the answer."""
    workflow, workflow_faults = _workflow(snapshot)
    faults: tuple[Problem, ...] = ()
    try:
        config: Curation | None = load_platform(snapshot).config
    except InputError as error:
        faults = error.problems
        config = _config_alone(snapshot)
    place = next((path for path in PLACES if snapshot.exists(path)), None)
    return Files(
        workflow=workflow,
        workflow_faults=workflow_faults,
        faults=faults,
        config=None if config is None else _facts(config),
        code_owners=place,
        unowned=() if place is None else _unowned(snapshot, place, WORKFLOW if workflow is None else workflow.file),
    )


def _config_alone(snapshot: Snapshot) -> Curation | None:
    try:
        return load_config(snapshot, None)
    except InputError:
        return None


def _facts(config: Curation) -> ConfigFacts:
    model = config.classifier.openai if config.classifier.backend == "openai" else None
    return ConfigFacts(
        mode=config.mode,
        curators=tuple(config.curators),
        model_key=None if model is None else model.key_variable,
        admissions=config.admissions,
    )


def _workflow(snapshot: Snapshot) -> tuple[Workflow | None, tuple[Problem, ...]]:
    """The workflow that runs the Action: ours by its name, or else the first that has a job with a step of it."""
    found: list[Workflow] = []
    faults: tuple[Problem, ...] = ()
    names = sorted(snapshot.paths(WORKFLOWS), key=lambda path: (path != WORKFLOW, path))
    for path in names:
        if not path.endswith((".yml", ".yaml")):
            continue
        try:
            document = parse_yaml(snapshot.read(path, REVIEWED_FILES), path, REVIEWED_FILES)
        except InputError as error:
            # A fault of another workflow is not ours to tell.
            faults += error.problems if path == WORKFLOW else ()
            continue
        workflow = read_workflow(document, path)
        if path == WORKFLOW or any(job.steps for job in workflow.jobs):
            found.append(workflow)
    return (found[0] if found else None), faults


def _unowned(snapshot: Snapshot, place: str, workflow: str) -> tuple[str, ...]:
    """The places of :data:`OWNED` with a file that nobody owns, or that nobody would own once it is there."""
    try:
        text = decode(snapshot.read(place, REVIEWED_FILES), place, REVIEWED_FILES)
    except InputError:
        return OWNED
    found = []
    for owned in (*OWNED[:-1], workflow):
        paths = (*snapshot.paths(owned), f"{owned}any.yaml") if owned.endswith("/") else (owned,)
        if not all(owners(text, path) for path in paths):
            found.append(owned)
    return tuple(found)
