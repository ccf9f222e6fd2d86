"""Loads ``taxonomy/`` into a :class:`~incumbent.taxonomy.model.Taxonomy`, and reports every fault."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Final, TypeVar

import jmespath

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, as_list, as_mapping, decode, parse_yaml
from incumbent.files.snapshot import Snapshot
from incumbent.files.user_cache import Remembered, digest_of_code
from incumbent.files.validation import FileModel, validate
from incumbent.taxonomy.checks import content_notes, content_problems, raw_parts, structure_problems
from incumbent.taxonomy.config import REVIEWED_FILES, AppraisalSettings
from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER, ExemplarFile, is_exemplar_file, misplaced, read_exemplars
from incumbent.taxonomy.model import Capability, Group, Taxonomy

TAXONOMY_FILE: Final = "taxonomy/taxonomy.yaml"

Part = TypeVar("Part", bound=FileModel)


@dataclass(frozen=True, eq=False)
class TaxonomyFiles:
    """The bytes of all files of a taxonomy by path, and their names in messages.

    ``problems`` are about files that should be a part of it but are not, for example misplaced or too large ones.
    Files with the same bytes and problems are equal, whatever they are called.
    """

    contents: Mapping[str, bytes]
    names: Mapping[str, str]
    problems: tuple[Problem, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The paths of the exemplar files, sorted."""
        return tuple(sorted(path for path in self.contents if path != TAXONOMY_FILE))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaxonomyFiles) and (self.digest, self.problems) == (other.digest, other.problems)

    def __hash__(self) -> int:
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """A digest of these bytes and of the code that checks them."""
        found = hashlib.sha256(_checks().encode())
        for path, content in sorted(self.contents.items()):
            found.update(f"\n{path} {len(content)}\n".encode("utf-8", "surrogatepass"))
            found.update(content)
        return found.hexdigest()


def load_taxonomy(snapshot: Snapshot, checked: Remembered | None = None, *, is_past: bool = False) -> Taxonomy:
    """The taxonomy of ``snapshot`` with its exemplars; raises :class:`InputError` with every fault of its files.

    The schema is checked for each group and capability separately.  The other checks use the plain data, so that no
    fault hides another.  Content in ``checked`` skips these other checks, and content that passes them is added to it.
    With ``is_past`` they are skipped too: no one can fix a past commit, and an earlier version of the bot may have
    accepted what this one refuses.
    """
    files = read_files(snapshot)
    if is_past:
        return _parsed(files, passed=True)
    if checked is None:
        return _parsed(files, passed=False)
    key = f"taxonomy {files.digest}"
    if checked.holds(key):
        return _parsed(files, passed=True)
    taxonomy = _parsed(files, passed=False)
    checked.note(key)
    return taxonomy


@lru_cache(maxsize=2)
def _parsed(files: TaxonomyFiles, *, passed: bool) -> Taxonomy:
    """The taxonomy in ``files``, parsed once in a process: a run compares two versions, a server reads one often."""
    return parse_taxonomy(files, passed=passed)


def read_files(snapshot: Snapshot) -> TaxonomyFiles:
    """The files of the taxonomy of ``snapshot``; raises :class:`InputError` if there is no taxonomy."""
    folder = TAXONOMY_FILE.partition("/")[0]
    if not snapshot.exists(TAXONOMY_FILE) and {folder, TAXONOMY_FILE}.isdisjoint(snapshot.links(folder)):
        message = "there is no such file, which every platform repository has"
        fix = "write it with `incumbent init`, or name another repository with --repo DIR"
        raise InputError([Problem(snapshot.name(TAXONOMY_FILE), None, message, fix)])
    tables, problems = _exemplar_paths(snapshot)
    paths = [TAXONOMY_FILE, *tables]
    contents: dict[str, bytes] = {}
    for path in paths:
        try:
            contents[path] = snapshot.read(path, REVIEWED_FILES)
        except InputError as error:
            problems.extend(error.problems)
    if TAXONOMY_FILE not in contents:
        raise InputError(problems)
    return TaxonomyFiles(contents, {path: snapshot.name(path) for path in paths}, tuple(problems))


def _exemplar_paths(snapshot: Snapshot) -> tuple[list[str], list[Problem]]:
    """The paths of the exemplar files without links, and the problems of their folder and of other files in it."""
    above = EXEMPLARS_FOLDER.partition("/")[0]
    files = snapshot.paths(above)
    if EXEMPLARS_FOLDER in files:
        message = "this is a file, and exemplars are read from a folder of this name"
        fix = f"make it a folder, and put tables into it, as {EXEMPLARS_FOLDER}/NAME.tsv"
        return [], [Problem(snapshot.name(EXEMPLARS_FOLDER), None, message, fix)]
    below = f"{EXEMPLARS_FOLDER}/"
    found: list[str] = []
    problems: list[Problem] = []
    for path in files:
        if not path.startswith(below) or not is_exemplar_file(path):
            continue
        wrong = misplaced(path)
        if wrong is None:
            found.append(path)
        else:
            problems.append(Problem(snapshot.name(path), None, *wrong))
    return found, problems


def parse_taxonomy(files: TaxonomyFiles, *, passed: bool = False, tables: bool = True) -> Taxonomy:
    """The taxonomy in ``files``; raises :class:`InputError` with every fault.

    For files that ``passed`` before, only the schema is checked.  Without ``tables`` the exemplar files are ignored.
    """
    problems = list(files.problems)
    try:
        document = parse_yaml(files.contents[TAXONOMY_FILE], files.names[TAXONOMY_FILE], REVIEWED_FILES)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    groups = _parts(document, "groups", Group, problems)
    capabilities = _parts(document, "capabilities", Capability, problems)
    shell = dict(as_mapping(document.data))
    shell |= {key: [] for key in ("groups", "capabilities") if isinstance(shell.get(key), list)}
    if "exemplars" in shell:
        message = f"exemplars: they are no part of this file, but tables in {EXEMPLARS_FOLDER}/"
        problems.append(document.problem(("exemplars",), message, f"move them to {EXEMPLARS_FOLDER}/NAME.tsv"))
        del shell["exemplars"]
    taxonomy: Taxonomy | None = None
    try:
        taxonomy = validate(Taxonomy, document, shell if isinstance(document.data, dict) else document.data)
    except InputError as error:
        problems.extend(error.problems)
    if not passed:
        problems.extend(structure_problems(document))
        problems.extend(content_problems(document, has_tables=tables and bool(files.tables)))
    if taxonomy is None or problems:
        known = _loose(document, groups)
    else:
        known = taxonomy.model_copy(update={"groups": groups, "capabilities": capabilities})
    rows = None
    if tables and files.tables:
        try:
            found = exemplar_files(files, problems)
            complete = len(found) == len(files.tables) and not files.problems
            rows = read_exemplars(found, known, REVIEWED_FILES, checked=passed, complete=complete)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return known if rows is None else known.with_exemplars(rows)


def taxonomy_notes(snapshot: Snapshot, taxonomy: Taxonomy, settings: AppraisalSettings | None) -> tuple[Problem, ...]:
    """Notes on ``taxonomy`` of ``snapshot`` that are no errors, such as capabilities with few exemplars."""
    document = parse_yaml(snapshot.read(TAXONOMY_FILE, REVIEWED_FILES), snapshot.name(TAXONOMY_FILE), REVIEWED_FILES)
    return tuple(content_notes(document, taxonomy, settings))


@cache
def _checks() -> str:
    """A digest of the code that checks a taxonomy: content that passed other code may not pass this."""
    package = Path(__file__).parent
    parts = (package.parent / part for part in ("files/label_tables.py", "text/compare.py"))
    files = (*sorted(package.glob("*.py")), *parts)
    return digest_of_code(files, jmespath.__version__)


def exemplar_files(files: TaxonomyFiles, problems: list[Problem]) -> dict[str, ExemplarFile]:
    """The exemplar files among ``files`` by path; adds to ``problems`` those that are not valid text."""
    found: dict[str, ExemplarFile] = {}
    for path in files.tables:
        name = files.names[path]
        try:
            found[path] = ExemplarFile(path, name, decode(files.contents[path], name, REVIEWED_FILES))
        except InputError as error:
            problems.extend(error.problems)
    return found


def _loose(document: Document, groups: tuple[Group, ...]) -> Taxonomy:
    """Groups and ids of an invalid taxonomy file, so that the tables can be checked nevertheless."""
    capabilities = tuple(
        Capability.model_construct(
            id=part.id,
            name=part.id,
            group=part.text("group") or "",
            description=part.id,
            source="intent",
            was=part.text("was"),
            split=part.text("split"),
        )
        for part in raw_parts(document, "capabilities")
        if part.id is not None
    )
    retired = tuple(id for id in as_list(as_mapping(document.data).get("retired")) if isinstance(id, str))
    return Taxonomy.model_construct(version="0.0.0", groups=groups, capabilities=capabilities, retired=retired)


def _parts(document: Document, key: str, model: type[Part], problems: list[Problem]) -> tuple[Part, ...]:
    """The valid items of the list ``key``; adds the problems of the others to ``problems``."""
    parts: list[Part] = []
    for place, item in enumerate(as_list(as_mapping(document.data).get(key))):
        try:
            parts.append(validate(model, document, _read_as(item) if model is Capability else item, (key, place)))
        except InputError as error:
            problems.extend(error.problems)
    return tuple(parts)


def _read_as(item: Data) -> Data:
    """The data of a capability as it is written now: `base: true` is what `combines: false` was called."""
    if not isinstance(item, dict) or not isinstance(item.get("base"), bool):
        return item
    kept = {key: value for key, value in item.items() if key != "base"}
    return kept | {"combines": False} if item["base"] else kept
