"""Hostile folders as a pull request brings them: read from the objects of git, links and submodules and all."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.errors import InputError
from incumbent.files.git import ObjectStore
from incumbent.pipeline.submission import read_package
from tests.factories import SHIPPED
from tests.hostile.templates import AGENT, EVALS
from tests.origin import Entry, Origin

MISSING = "1" * 40
FOLDER = "eval_sets/harbour/desk"


def said(tmp_path: Path, files: dict[str, bytes | tuple[str, bytes]]) -> tuple[int, str]:
    """How many queries are read of a commit with ``files`` in the folder, and everything that is said of it."""
    origin = Origin.make(tmp_path / "origin.git")
    made: dict[str, bytes | Entry] = {"secret.yaml": EVALS.encode()}
    for path, content in files.items():
        if isinstance(content, bytes):
            made[f"{FOLDER}/{path}"] = content
        else:
            mode, target = content
            made[f"{FOLDER}/{path}"] = (mode, MISSING if mode == "160000" else origin.blob(target))
    commit = origin.commit(made)
    with ObjectStore.open(origin.folder) as store:
        snapshot = store.snapshot(commit).within(FOLDER)
        try:
            package = read_package(snapshot, "harbour", "desk", FOLDER, SHIPPED.limits)
        except InputError as error:
            return 0, str(error)
    problems = (*package.submission.problems, *package.submission.notes)
    return len(package.submission.queries), str(InputError(problems))


BOTH = {"agent.yaml": AGENT.encode(), "evals.yaml": EVALS.encode()}


@pytest.mark.parametrize(
    ("files", "queries", "words"),
    [
        ({**BOTH, "more.yaml": ("120000", b"../../../secret.yaml")}, 1, "more.yaml"),
        ({**BOTH, "more.yaml": ("120000", b"/etc/passwd")}, 1, "symbolic link"),
        ({**BOTH, "more.csv": ("160000", b"")}, 1, "more.csv"),
        ({**BOTH, "evals": ("160000", b"")}, 1, "evals"),
        ({"agent.yaml": AGENT.encode(), "evals.yaml": ("120000", b"../../../secret.yaml")}, 0, "evals.yaml"),
        ({"agent.yaml": AGENT.encode(), "evals": ("160000", b"")}, 0, "evals"),
        ({"agent.yaml": ("120000", b"/etc/passwd"), "evals.yaml": EVALS.encode()}, 0, "agent.yaml"),
        ({"agent.yaml": ("160000", b""), "evals.yaml": EVALS.encode()}, 0, "agent.yaml"),
        ({**BOTH, "EVALS.yaml": EVALS.replace("id: a", "id: b").encode()}, 0, "differs only by case"),
        ({**BOTH, "Evals.YAML": EVALS.encode()}, 0, "evals.yaml: another name beside it"),
        ({**BOTH, "con.yaml": EVALS.replace("id: a", "id: b").encode()}, 0, "reserved for a device"),
        ({**BOTH, "nul.jsonl": b'{"query": "Where is the Petrel?"}\n'}, 0, "nul.jsonl"),
        ({**BOTH, "a\nb.yaml": EVALS.encode()}, 0, "cannot be seen"),
        ({**BOTH, "a\\b.yaml": EVALS.encode()}, 0, "has the character \\"),
        ({**BOTH, "c:/e.yaml": EVALS.encode()}, 0, "c:"),
        ({**BOTH, "--upload-pack=x/e.yaml": EVALS.encode()}, 0, "begins with a dash"),
        ({**BOTH, "notes./e.md": b"", "e ": b""}, 0, "ends with a dot"),
        ({**BOTH, "\udcff.yaml".encode("utf-8", "surrogateescape").decode("latin-1"): EVALS.encode()}, 2, ""),
    ],
)
def test_a_commit(tmp_path: Path, files: dict[str, bytes | tuple[str, bytes]], queries: int, words: str) -> None:
    read, text = said(tmp_path, files)
    assert (read, words in text) == (queries, True), text
    assert "root:" not in text, "nothing of a file outside is told"
