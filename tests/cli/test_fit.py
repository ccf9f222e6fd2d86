"""Fitting: a preview until `incumbent fit` has run, and a limit to what is fitted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Incumbent

CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
EXEMPLARS = "taxonomy/exemplars/exemplars.tsv"


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INCUMBENT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_only_looks_makes_do_with_a_preview_until_the_whole_fit(
    platform: Path, incumbent: Incumbent, empty_cache: Path
) -> None:
    first = incumbent("fit", "--repo", platform)
    assert first.code == 0
    assert "digest: " in first.out
    assert f"kept: {empty_cache}" in first.out
    (query,) = [
        row["id"] for row in incumbent("classify", platform / CARD_LINE, "--repo", platform, "--json").json["queries"]
    ][:1]
    looks = (
        ("review", platform / CARD_LINE),
        ("classify", platform / CARD_LINE),
        ("explain", platform / CARD_LINE, query),
    )
    assert not any("Preview" in incumbent(*look, "--repo", platform).err for look in looks)
    table = platform / EXEMPLARS
    *rows, last = table.read_text(encoding="utf-8").rstrip("\n").split("\n")
    table.write_text("\n".join([*rows, f"{last} today", ""]), encoding="utf-8")
    for look in looks:
        outcome = incumbent(*look, "--repo", platform)
        assert "1 of " in outcome.err, outcome.err
        assert "newer than the fitted model. Run `incumbent fit` for the whole fit." in outcome.err
        assert incumbent(*look, "--repo", platform, "--json").json["preview"].startswith("1 of ")
    again = incumbent("fit", "--repo", platform)
    assert again.out != first.out
    assert not any("Preview" in incumbent(*look, "--repo", platform).err for look in looks)
    assert incumbent("fit", "--repo", platform).out.split("digest: ")[1] == again.out.split("digest: ")[1]
    kept = Path(again.out.split("kept: ")[1].strip())
    kept.write_bytes(kept.read_bytes()[:-9])
    refused = incumbent("classify", platform / CARD_LINE, "--repo", platform)
    assert f"note: {kept} is not used: it is cut, altered, of another version" in refused.err


def test_nothing_is_fitted_for_a_language_model(platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8").replace("backend: embedded #", "backend: openai #")
    endpoint = "openai: {endpoint: https://models.example/v1, model: m, key_variable: KEY} #"
    config.write_text(text.replace("openai: null #", endpoint), encoding="utf-8")
    outcome = incumbent("fit", "--repo", platform)
    assert outcome.code == 2
    assert "which is not fitted" in outcome.err


def test_without_a_cache_the_fit_is_kept_nowhere(
    platform: Path, incumbent: Incumbent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("INCUMBENT_CACHE", str(tmp_path / "file"))
    outcome = incumbent("fit", "--repo", platform)
    assert outcome.code == 0
    assert "kept: nowhere" in outcome.out


def test_more_exemplars_than_the_limit_are_refused_with_what_they_would_cost(
    platform: Path, incumbent: Incumbent
) -> None:
    config = platform / "config" / "curation.yaml"
    whole = config.read_text(encoding="utf-8")
    config.write_text(whole.replace("limits: #", "limits:\n  exemplars: 10 #"), encoding="utf-8")
    outcome = incumbent("validate", "--repo", platform)
    assert outcome.code == 1
    assert "more than the limit of 10: a fit of them would take some 0 minutes of a processor and 0.2 GB" in outcome.err
    assert "raise limits.exemplars" in outcome.err
    for judging in (("fit",), ("review", platform / CARD_LINE), ("reclassify", "--dry-run")):
        refused = incumbent(*judging, "--repo", platform)
        assert (refused.code, "more than the limit of 10" in refused.err) == (1, True)
    config.write_text(whole, encoding="utf-8")
    assert incumbent("validate", "--repo", platform).code == 0
