"""The house stands as docs/architecture.md draws it: imports run one way, and the pure core touches no world."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from incumbent.reconcile.run import STAGES
from tests.factories import REPOSITORY

BOT = REPOSITORY / "bot" / "incumbent"

# From the foundation up: a part may import from its own row and from those before it.
ROWS = [
    {"text"},
    {"errors"},
    {"extras"},
    {"files"},
    {"taxonomy"},
    {"intake"},
    {"classifier"},
    {"rater"},
    {"consolidator"},
    {"curator"},
    {"ledger"},
    {"runners"},
    {"pipeline"},
    {"extension"},
    {"report"},
    {"site"},
    {"github", "triage"},
    {"doctor", "mcp", "reconcile"},
    {"cli"},
    {"__main__"},
]
PURE = [
    "classifier/arbitration.py",
    "classifier/caching_backend.py",
    "classifier/classify.py",
    "classifier/corrections.py",
    "classifier/evaluation",
    "classifier/exemplars.py",
    "classifier/language_model/answers.py",
    "classifier/language_model/batch_lines.py",
    "classifier/language_model/prompt.py",
    "classifier/model.py",
    "classifier/paths.py",
    "classifier/usage.py",
    "classifier/visible_text.py",
    "consolidator",
    "curator/corrections.py",
    "curator/entry.py",
    "curator/provisions.py",
    "curator/prune.py",
    "curator/roles.py",
    "curator/staging.py",
    "curator/suggestions.py",
    "doctor/diagnosis.py",
    "doctor/findings.py",
    "doctor/settings.py",
    "doctor/workflow.py",
    "extension/candidates.py",
    "extension/clustering.py",
    "extension/linkage.py",
    "extension/model.py",
    "extension/naming.py",
    "extension/reference.py",
    "extension/signals.py",
    "extension/sparse_rows.py",
    "files/label_tables.py",
    "files/mapping_edits.py",
    "files/portable_names.py",
    "github/authority.py",
    "github/check.py",
    "github/command_processing.py",
    "github/commands.py",
    "github/comparison.py",
    "github/decisions.py",
    "github/events.py",
    "github/governing.py",
    "github/judgement.py",
    "github/ledger_events.py",
    "github/managed_pull_request.py",
    "github/markdown_text.py",
    "github/models.py",
    "github/notices.py",
    "github/publish_plan.py",
    "github/read_back.py",
    "github/reclassified_entries.py",
    "github/refused_evictions.py",
    "intake/agents/name_effects.py",
    "intake/expectation.py",
    "intake/expectation_keys.py",
    "intake/expectation_remarks.py",
    "intake/export_round_trip.py",
    "intake/query.py",
    "intake/result_references.py",
    "intake/tool_calls.py",
    "intake/tool_statements.py",
    "ledger/agreement",
    "ledger/calibration",
    "ledger/classifications.py",
    "ledger/event_files.py",
    "ledger/migrated.py",
    "ledger/refusals.py",
    "ledger/releases/history.py",
    "ledger/releases/quarantine.py",
    "ledger/releases/record.py",
    "ledger/releases/selection.py",
    "mcp/answers.py",
    "mcp/untrusted.py",
    "pipeline/consolidate.py",
    "pipeline/correct.py",
    "pipeline/impact/appraisal.py",
    "pipeline/impact/comparison.py",
    "pipeline/impact/measure.py",
    "pipeline/impact/model.py",
    "pipeline/import_plan.py",
    "pipeline/matching.py",
    "pipeline/reclassify.py",
    "pipeline/replace_personal_data.py",
    "rater",
    "reconcile/admission_plan.py",
    "reconcile/admission_pull_request.py",
    "reconcile/candidate_plan.py",
    "reconcile/dashboard_plan.py",
    "reconcile/desired_suggestions.py",
    "reconcile/merge_comment.py",
    "reconcile/merged_submissions.py",
    "reconcile/planned_set.py",
    "reconcile/quarantine_plan.py",
    "reconcile/reconciled_state.py",
    "reconcile/requests.py",
    "reconcile/set_changes.py",
    "reconcile/suggestion_plan.py",
    "reconcile/suggestion_pull_requests.py",
    "runners/export",
    "site/audience.py",
    "site/comparison.py",
    "site/comparison_page.py",
    "site/pages.py",
    "taxonomy/affected.py",
    "taxonomy/changes.py",
    "taxonomy/exemplars.py",
    "taxonomy/migration.py",
    "taxonomy/model.py",
    "taxonomy/patterns.py",
    "taxonomy/rules.py",
    "taxonomy/table_edits.py",
    "text/masking.py",
    "text/personal_data",
    "text/plain_text.py",
    "triage/classifying.py",
    "triage/stopping.py",
]
WORLD = {"os", "sys", "io", "pathlib", "time", "datetime", "random", "socket", "subprocess", "tempfile", "urllib"}
WORLD |= {"yaml", "ruamel", "openai", "git", "github", "requests", "click", "rich"}

# Who changes files, and which; whatever changes those of a platform repository goes through the journal, so that no
# interrupt leaves a part of a change.
WRITERS = {
    "triage/near_duplicates.py": "the work folder of a triage",
    "triage/looking_order.py": "the work folder of a triage",
    "classifier/embedded/encoder.py": "the work folder of a triage, for processes that share the weights",
    "triage/work_folder.py": "the work folder of a triage",
    "triage/processes.py": "the work folder of a triage",
    "triage/cluster.py": "the log of Ray in the work folder",
    "triage/tables.py": "the work folder of a triage, and what a person names",
    "triage/run.py": "an output that a person names",
    "curator/journal.py": "the platform repository",
    "cli/output.py": "an output that a person names",
    "classifier/embedded/cache.py": "a cache",
    "files/user_cache.py": "a cache",
    "files/git/working_copy.py": "scratch files of a commit, which are gone after it",
    "files/git/store.py": "a folder of git's objects that a run throws away",
    "site/folder.py": "an output that a person names",
    "cli/ci.py": "what one job hands to another",
    "github/preflight.py": "what one step of the Action hands to the next",
    "cli/main.py": "the report of a bug, and the stream that nobody reads",
}
CHANGING = {"write_text", "write_bytes", "unlink", "rmdir", "mkdir", "makedirs", "touch", "rename", "chmod", "rmtree"}
CHANGING |= {"symlink_to", "hardlink_to", "truncate", "remove_file", "mkstemp", "NamedTemporaryFile", "copyfile"}
CHANGING |= {"copytree", "copy2", "fdopen"}


def modules(place: str = "") -> list[Path]:
    path = BOT / place
    return [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= (
                {node.module} if node.module != "incumbent" else {f"incumbent.{alias.name}" for alias in node.names}
            )
    return frozenset(found)


def row(part: str) -> int:
    return next(level for level, parts in enumerate(ROWS) if part in parts)


def test_imports_run_one_way() -> None:
    upward = []
    for path in modules():
        place = path.relative_to(BOT)
        own = place.parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for name in sorted(imports(path)):
            if name.startswith("incumbent.") and row(name.split(".")[1]) > row(own):
                upward.append(f"{place} imports {name}")
    assert not upward, "\n".join(upward)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Late imports count as well: a circle that is only put off is one."""
    names = {".".join(("incumbent", *path.relative_to(BOT).with_suffix("").parts)): path for path in modules()}
    needs = {name: imported(path) & names.keys() - {name} for name, path in names.items()}
    while free := [name for name, others in needs.items() if not others & needs.keys()]:
        for name in free:
            del needs[name]
    # What others import and is not in a circle itself goes too.
    while unused := needs.keys() - {other for others in needs.values() for other in others}:
        for name in unused:
            del needs[name]
    assert sorted(needs) == []


def imported(path: Path) -> set[str]:
    """The modules that one imports, by name or as members of their package."""
    found = set(imports(path))
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_the_page_of_the_house_names_every_room_and_no_module_that_is_gone() -> None:
    page = (REPOSITORY / "docs/architecture.md").read_text(encoding="utf-8")
    parts = {path.name for path in BOT.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))}
    untold = {part for part in parts - {"__init__.py", "__main__.py"} if f"`{part.removesuffix('/')}" not in page}
    assert not untold
    files = [path.as_posix() for path in (*BOT.rglob("*.py"), Path(__file__))]
    named = re.findall(r"`([a-z_/]+\.py)`", page)
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


def test_the_page_of_the_house_lists_the_stages_of_reconcile_in_their_order() -> None:
    page = (REPOSITORY / "docs/architecture.md").read_text(encoding="utf-8")
    table = page.split("| stage | plan | writes |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [stage.__name__ for stage in STAGES]


def test_the_pure_core_touches_no_world() -> None:
    touched = []
    for place in PURE:
        found = modules(place)
        assert found, f"{place} is not there"
        for path in found:
            if world := {name.split(".")[0] for name in imports(path)} & WORLD:
                touched.append(f"{path.relative_to(BOT)} imports {world}")
    assert not touched, "\n".join(touched)


def test_the_tests_of_a_rule_are_in_the_file_named_after_it() -> None:
    """Of the rooms that decide; values have no rules, and the journal is tried by interrupting commands."""
    no_rules = {"consolidator/verdict.py", "rater/model.py", "curator/journal.py"}
    places = [path.relative_to(BOT) for room in ("consolidator", "rater", "curator") for path in modules(room)]
    rules = [place for place in places if place.name != "__init__.py" and place.as_posix() not in no_rules]
    missing = [
        place for place in rules if not Path(__file__).with_name(place.parts[0]).joinpath(f"test_{place.name}").exists()
    ]
    assert missing == []


def test_no_two_classes_have_one_name() -> None:
    found = Counter(node.name for path in modules() for node in nodes(path) if isinstance(node, ast.ClassDef))
    assert [name for name, count in found.items() if count > 1] == []


def test_files_are_changed_in_few_places() -> None:
    found = {path.relative_to(BOT).as_posix() for path in modules() if changes_files(path)}
    assert found == set(WRITERS)


def changes_files(path: Path) -> bool:
    calls = (node for node in nodes(path) if isinstance(node, ast.Call))
    return any(is_change(call) for call in calls)


def is_change(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name == "open":
        given = (*call.args, *(word.value for word in call.keywords))
        words = [item.value for item in given if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return any(set(word) <= set("rwaxbt+") and set(word) & set("wax+") for word in words)
    # Texts replace one thing by another; a path replaces one thing.
    return name in CHANGING or (name == "replace" and len(call.args) == 1 and not call.keywords)
