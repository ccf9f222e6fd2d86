"""The config that `make test-llm` makes is one that the product accepts."""

from __future__ import annotations

from pathlib import Path

from dev.large_model import with_model
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import load_config
from tests.factories import REPOSITORY


def test_the_config_is_the_platforms_with_another_backend(tmp_path: Path) -> None:
    shipped = (REPOSITORY / "config" / "curation.yaml").read_text(encoding="utf-8")
    made = with_model(shipped, "http://127.0.0.1:1/v1", "local")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "curation.yaml").write_text(made, encoding="utf-8")
    config = load_config(WorkingTree(tmp_path), None)
    assert config.classifier.backend == "openai"
    assert config.classifier.openai is not None
    assert config.classifier.openai.endpoint == "http://127.0.0.1:1/v1"
    assert config.knobs == load_config(WorkingTree(REPOSITORY), None).knobs
