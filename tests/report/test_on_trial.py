"""That a capability is on trial is said wherever it is named, and that it counts for nothing where it is exercised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from incumbent.consolidator.cycle import run_cycle
from incumbent.curator.store import RegressionSet
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Submission
from incumbent.report.verdict_text import MarkdownStyle, PlainStyle, why
from incumbent.taxonomy.model import Taxonomy
from tests.factories import make_config, make_taxonomy, query

BARE = make_taxonomy("a", "t", "u")
TAXONOMY = BARE.model_copy(
    update={"capabilities": tuple(item.model_copy(update={"trial": item.id != "a"}) for item in BARE.capabilities)}
)


@dataclass(frozen=True)
class Seen:
    """What the reason of a verdict is told from."""

    platform: Platform
    origins: Mapping[str, Submission] = field(default_factory=dict)


def reason(scores: Mapping[str, float], taxonomy: Taxonomy = TAXONOMY) -> str:
    config = make_config().under(trial=taxonomy.trial)
    (verdict,) = run_cycle([query("q", scores)], [], config)
    platform = Platform(taxonomy=taxonomy, config=config, regression_set=RegressionSet({}, {}, {}))
    return why(verdict, Seen(platform), PlainStyle(taxonomy))


def test_its_name_says_it() -> None:
    assert (MarkdownStyle(TAXONOMY).capability("t"), PlainStyle(TAXONOMY).capability("t")) == (
        "*T* (on trial)",
        "T (on trial)",
    )
    assert (MarkdownStyle(TAXONOMY).capability("a"), PlainStyle(TAXONOMY).capability("a")) == ("*A*", "A")


@pytest.mark.parametrize(
    ("scores", "end"),
    [
        ({"a": 0.9, "t": 0.9}, "T (on trial) counts for nothing yet."),
        ({"t": 0.9, "u": 0.9}, "T (on trial) and U (on trial) count for nothing yet."),
    ],
)
def test_a_verdict_says_what_it_left_aside(scores: Mapping[str, float], end: str) -> None:
    assert reason(scores).endswith(end)
    assert "on trial" not in reason(scores, BARE)
