"""The shipped workflow on machines that lack the classifier's weights, until the platform installs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from incumbent.classifier.embedded import weights
from incumbent.classifier.embedded.weights import FILE, WAYS_OUT
from tests.e2e.bot import Bot, customer_files, platform_files
from tests.e2e.harness.world import World
from tests.e2e.test_review import conclusion, sticky

ACTS = "The platform has to act"


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    path = tmp_path / FILE
    path.write_bytes(b"cut")
    return path


@pytest.mark.parametrize("found", [lambda cut: None, lambda cut: cut], ids=["missing", "cut"])
def test_an_author_is_not_blamed_for_a_machine_without_the_weights(
    world: World,
    tmp_path: Path,
    cut: Path,
    found: Callable[[Path], Path | None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    pull = world.open_pull_request("quillow", customer_files())
    with monkeypatch.context() as bare:
        bare.setattr(weights, "find_weights", lambda: found(cut))
        run = bot.on("pull_request_target", number=pull.number)
        said = capsys.readouterr()
        assert run.codes == (0, 0)
        assert conclusion(world, pull.head) == "failure"
        assert run.outputs["conclusion"] == "failure"
        assert run.report["title"].startswith(ACTS)
        assert len(run.report["review"]["unclassified"]) == 12
        assert f"{ACTS}, not the customer" in sticky(world, pull.number)
        assert WAYS_OUT in sticky(world, pull.number)
        assert WAYS_OUT in said.out
        assert world.labels(pull.number) == ["incumbent: incomplete"]

        before = world.head("main")
        after = world.merge(pull.number)
        assert bot.on("push", before=before, after=after).codes == (0, 3)
        assert WAYS_OUT in capsys.readouterr().err

    assert bot.on("push", before=before, after=after).codes == (0, 0)
