"""The files of one agent package: references are followed, never outside its folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Document, Node, Parsed, decode, parse, parse_json, parse_yaml
from incumbent.files.snapshot import Snapshot, normal_path
from incumbent.taxonomy.config import Limits

MANIFEST: Final = "manifest.json"


def base_name(path: str) -> str:
    """The name of the file at ``path`` without its folder and case."""
    return posixpath.basename(path).casefold()


def by_precedence(paths: Iterable[str]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The JSON files of ``paths`` by precedence as manifests.

    First ``manifest.json``, then ``manifest*.json`` (``manifest.local.json``, ``manifest.dev.json``), then others.
    """
    files = [path for path in paths if path.casefold().endswith(".json")]
    named = [path for path in files if base_name(path) == MANIFEST]
    similar = [path for path in files if base_name(path).startswith("manifest") and path not in named]
    known = {*named, *similar}
    return named, similar, [path for path in files if path not in known]


def first_fitting(candidates: Iterable[tuple[Iterable[str], Callable[[str], bool]]]) -> tuple[str, ...]:
    """The fitting paths of the first group of candidates that has any; empty if no path fits."""
    found = (tuple(path for path in paths if fits(path)) for paths, fits in candidates)
    return next((paths for paths in found if paths), ())


def check_version(package: AgentPackage, place: Node, known: Collection[str]) -> None:
    """Note a schema version that this reader does not know; the file is read all the same."""
    if not place.absent and place.data not in known:
        package.note(
            place,
            f"{place.name}: {place.data!r} is not a version this reader knows; the file is read all the same",
            f"use one of: {', '.join(sorted(known))}",
        )


def check_keys(package: AgentPackage, place: Node, required: Iterable[str]) -> None:
    """Note missing keys that the published schema requires."""
    missing = [f"`{key}`" for key in required if not place.has(key)]
    if missing:
        where = f"{place.name}: " if place.path else ""
        package.note(
            place,
            f"{where}the published schema requires {' and '.join(missing)}, not given here; read all the same",
            f"add {' and '.join(missing)}",
        )


_PLACEHOLDER = re.compile(r"\$\{\{[^{}]*\}\}")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_INCLUDED = re.compile(r"\$\[\s*file\(\s*(?:'([^']*)'|\"([^\"]*)\")\s*\)\s*\]")


class AgentPackage:
    """Reads the files to which a package refers, and collects notes and faults.

    ``notes`` are warnings that stop nothing, such as a file that is not read; ``faults`` are errors of the package
    itself, which :meth:`check` raises together.  Every file is parsed once.
    """

    def __init__(self, snapshot: Snapshot, folder: str, limits: Limits) -> None:
        self.snapshot = snapshot
        self.folder = folder
        self.limits = limits
        self.notes: list[Problem] = []
        self.faults: list[Problem] = []
        self._parsed: dict[str, Document | Problem] = {}
        self._texts: dict[str, str | Problem] = {}
        self._stems: dict[str, str] | None = None

    def note(self, place: Node, message: str, fix: str) -> None:
        """Add a note at ``place``; at most ``limits.tools`` notes, and one that says that more are left out."""
        limit = self.limits.tools
        if len(self.notes) < limit:
            self.notes.append(place.problem(message, fix))
        elif len(self.notes) == limit:
            more = Problem(place.source.document.file, None, f"more than {limit:,} remarks; the rest is left out", fix)
            self.notes.append(more)

    def check(self) -> None:
        """Raise :class:`InputError` with every fault found so far, if there is any."""
        if self.faults:
            raise InputError(self.faults)

    def open(self, path: str) -> Parsed:
        """The JSON or YAML file at ``path``; raises :class:`InputError` if it cannot be read."""
        limits = self.limits.reading
        return Parsed(path, parse(self.snapshot.read(path, limits), self.snapshot.name(path), limits))

    def follow(self, place: Node, *, what: str, required: bool = False) -> Parsed | None:
        """The document that the reference at ``place`` names, or ``None`` with a note why it is not read.

        A broken file is a fault of the package if ``required``, else a note.
        """
        path = self.resolve(place, what=what)
        if path is None:
            return None
        found = self._parse(path)
        if isinstance(found, Document):
            return Parsed(path, found)
        if required and self.snapshot.exists(path):
            self.faults.append(found)
        else:
            self._not_read(place, what, path, found)
        return None

    def resolve(self, place: Node, *, what: str) -> str | None:
        """The path in the snapshot that the reference at ``place`` names, or ``None`` with a note."""
        reference = place.text.replace("\\", "/")
        if not reference:
            self.note(place, f"{place.name}: {what} is not read: no file is named", "name a file of the package")
        elif placeholder := _PLACEHOLDER.search(reference):
            self.note(
                place,
                f"{place.name}: {what} is not read: its name holds the placeholder {placeholder.group()}",
                "put the file into the package and name it without a placeholder",
            )
        elif _REMOTE.match(reference):
            self.note(
                place,
                f"{place.name}: {what} is not read: it is remote, and nothing is ever fetched",
                "put a copy of the file into the package and name that",
            )
        else:
            path = normal_path(posixpath.join(posixpath.dirname(place.source.path), reference))
            if path is not None and (not self.folder or path.startswith(f"{self.folder}/")):
                return path
            self.note(
                place,
                f"{place.name}: {what} is not read: {reference} leaves the package",
                "put the file into the package and name it relative to this file",
            )
        return None

    def expect(self, place: Node, *, what: str) -> None:
        """Add a note if the reference at ``place`` names no file of the package; the file is not opened."""
        path = self.resolve(place, what=what)
        if path is not None and not self.snapshot.exists(path):
            name = self.snapshot.name(path)
            self.note(
                place,
                f"{place.name}: {what} is not read: {name} is not a file of the package{self._namesake(path)}",
                "add the file, or correct its name",
            )

    def include(self, place: Node, *, what: str) -> str:
        """The string at ``place`` with every ``$[file('…')]`` replaced by that file's text.

        A reference that cannot be followed, or would make the text longer than a file may be, stays with a note.
        """
        room = self.limits.file_bytes

        def included(match: re.Match[str]) -> str:
            nonlocal room
            reference = Node(place.source, place.path, match.group(1) or match.group(2))
            path = self.resolve(reference, what=what)
            text = None if path is None else self._text(reference, path, what)
            if text is None:
                return match.group()
            room -= len(text)
            if room >= 0:
                return text
            self.note(
                place,
                f"{place.name}: {what} is not read in full: more than the limit of {self.limits.file_bytes:,} bytes",
                "include less, or raise limits.file_bytes in config/curation.yaml",
            )
            return match.group()

        most = self.limits.package_files
        text = _INCLUDED.sub(included, place.text, count=most)
        if place.text.count("$[") > most and len(_INCLUDED.findall(place.text)) > most:
            message = f"{place.name}: {what} is not read in full: more than the limit of {most:,} files are named"
            self.note(place, message, "include less, or raise limits.package_files in config/curation.yaml")
        return text

    def inline(self, place: Node, *, what: str) -> Parsed | None:
        """The document in the string at ``place``, or in the file that it includes by ``$[file('…')]``."""
        text = self.include(place, what=what)
        if _INCLUDED.search(text):
            return None
        try:
            parser = parse_json if text.startswith(("{", "[")) else parse_yaml
            return Parsed(place.source.path, parser(text.encode(), str(place), self.limits.reading))
        except InputError as error:
            problem = error.problems[0]
            self.note(place, f"{place.name}: {what} is not read: {problem.message}", problem.given_fix)
            return None

    def _text(self, place: Node, path: str, what: str) -> str | None:
        if path not in self._texts:
            limits = self.limits.reading
            try:
                content = decode(self.snapshot.read(path, limits), self.snapshot.name(path), limits)
                self._texts[path] = content.strip()
            except InputError as error:
                self._texts[path] = error.problems[0]
        found = self._texts[path]
        if isinstance(found, str):
            return found
        self._not_read(place, what, path, found)
        return None

    def _parse(self, path: str) -> Document | Problem:
        if path not in self._parsed:
            limits = self.limits.reading
            try:
                content = self.snapshot.read(path, limits)
                self._parsed[path] = parse(content, self.snapshot.name(path), limits)
            except InputError as error:
                self._parsed[path] = error.problems[0]
        return self._parsed[path]

    def _not_read(self, place: Node, what: str, path: str, problem: Problem) -> None:
        name = self.snapshot.name(path)
        where = name if problem.line is None else f"{name}:{problem.line}"
        self.note(
            place,
            f"{place.name}: {what} is not read: {where}: {problem.message}{self._namesake(path)}",
            problem.given_fix,
        )

    def _namesake(self, path: str) -> str:
        """“Perhaps you meant” for a file with the same name but another ending, case or folder."""
        if self.snapshot.exists(path):
            return ""
        if self._stems is None:
            self._stems = {}
            for known in self.snapshot.paths(self.folder):
                self._stems.setdefault(_stem(known), known)
        near = self._stems.get(_stem(path))
        return "" if near is None else f"; perhaps you meant {self.snapshot.name(near)!r}"


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0].casefold()
