"""``incumbent evaluate`` with a local model of 1.5 billion parameters: what `make test-llm` runs.

The config is the platform's own, with the backend set to a server that this program starts and stops.  All options but
``--platform`` and ``--threads`` are those of ``incumbent evaluate``; its exit code is passed on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from dev.weights import WEIGHTS

ROOT = Path(__file__).resolve().parent.parent
KEY_VARIABLE = "INCUMBENT_LOCAL_KEY"
CONTEXT = 16_384
SETTINGS: dict[str, Any] = {
    "api_version": None,
    "temperature": 0.7,
    "seed": 1,
    "timeout_seconds": 300,
    "retries": 2,
    "in_flight": 1,
    "prompt_bytes": 36_000,
    "examples": 1,
    "answer_tokens": 1_500,
    "response_bytes": 16_000_000,
    "budget": {"requests": 10_000, "tokens": 100_000_000},
    "prices": None,
}
"""What the platform's config leaves open: a patient client for a server that answers one request at a time."""


def main() -> int:
    """Start the server, evaluate, stop it."""
    parser = argparse.ArgumentParser(prog="make test-llm", epilog="Further options: incumbent evaluate --help")
    parser.add_argument("--platform", type=Path, default=ROOT, help="platform repository; default: this one")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="no more than there are free cores")
    options, passed_on = parser.parse_known_args()
    model = WEIGHTS["large"].present()
    if model is None:
        print("the model is missing: run `python -m dev.weights large`", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name, serving(model, options.threads, Path(name, "log")) as endpoint:
        platform = Path(name, "platform")
        for part in ("config", "labels", "taxonomy"):
            if (options.platform / part).is_dir():
                shutil.copytree(options.platform / part, platform / part)
        config = platform / "config" / "curation.yaml"
        config.write_text(with_model(config.read_text(encoding="utf-8"), endpoint, model.stem), encoding="utf-8")
        command = [sys.executable, "-m", "incumbent", "evaluate", "--repo", str(platform), *passed_on]
        return subprocess.run(command, env={**os.environ, KEY_VARIABLE: "none"}, check=False).returncode


def with_model(config: str, endpoint: str, model: str) -> str:
    """The text of ``config`` with its classifier set to ``model`` at ``endpoint``, and all else as it was."""
    yaml = YAML()
    content: Any = yaml.load(config)
    classifier = content["classifier"]
    classifier["backend"] = "openai"
    settings = {"endpoint": endpoint, "model": model, "key_variable": KEY_VARIABLE}
    classifier["openai"] = SETTINGS | (classifier["openai"] or {}) | settings
    out = StringIO()
    yaml.dump(content, out)
    return out.getvalue()


@contextmanager
def serving(model: Path, threads: int, log: Path) -> Iterator[str]:
    """A running server's base URL; the server ends with the block, or with this program."""
    command = [sys.executable, str(ROOT / "dev" / "serve_model.py"), "llama.cpp", str(model)]
    command += ["--context", str(CONTEXT), "--threads", str(threads)]
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line.startswith("ready "):
            raise SystemExit(f"the server did not start; it said:\n{log.read_text(encoding='utf-8')}")
        yield line.split()[1]
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    sys.exit(main())
