"""The embedded backend on the shipped taxonomy: obvious queries get obvious tags.  Quality is measured elsewhere."""

from __future__ import annotations

import time

import pytest

from incumbent.classifier.classify import classify
from incumbent.classifier.embedded.features import Cues
from incumbent.classifier.model import Backend, Classification
from incumbent.intake.specification import Specification
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.factories import NOTHING, query, silent, specification, tool


@pytest.fixture
def backend(shipped_backend: Backend) -> Backend:
    return shipped_backend


def of(turns: tuple[str, ...], shipped: Taxonomy, backend: Backend, agent: Specification = NOTHING) -> Classification:
    (item,) = classify([query("q", *turns)], agent, shipped, backend, silent).classifications.values()
    return item


OAUTH_AGENT = specification([tool("list_jobs", "oauth", "Lists repair jobs")])


@pytest.mark.parametrize(
    ("turns", "tags"),
    [
        (("Give me the open repair jobs of this week as a table.",), {"response.format.table"}),
        (("Return the order as JSON.",), {"response.format.structured"}),
        (("What is in the attached photo?",), {"request.attachments.image"}),
        (("Summarise the attached PDF.",), {"request.attachments.file"}),
        (("Transcribe the voice memo I uploaded.",), {"request.attachments.audio"}),
        (("This is the third time I'm asking, it is STILL broken!!",), {"request.tone.frustrated"}),
        (("If job 12 is still open, assign it to Karin, otherwise close it.",), {"execution.orchestration.branching"}),
        (("Show me the status of order 4711.",), {"execution.tools.call"}),
        (("Show my orders.", "Only the late ones.", "Cancel the first."), {"execution.orchestration.multi-turn"}),
    ],
)
def test_obvious_queries_get_obvious_tags(
    turns: tuple[str, ...], tags: set[str], shipped: Taxonomy, backend: Backend
) -> None:
    assert tags <= of(turns, shipped, backend).signature


def test_a_greeting_gets_no_demanding_tag(shipped: Taxonomy, backend: Backend) -> None:
    signature = of(("Hi there!",), shipped, backend).signature
    assert not {name for name in signature if name.startswith(("response.format", "request.attach", "execution.tools"))}


def test_authentication_is_exercised_by_a_query_that_calls_a_tool_and_not_by_a_greeting(
    shipped: Taxonomy, backend: Backend
) -> None:
    called = of(("Show me the status of order 4711.",), shipped, backend, OAUTH_AGENT)
    greeted = of(("Hi there!",), shipped, backend, OAUTH_AGENT)
    assert "request.auth.oauth" in called.signature
    assert called.judgements["request.auth.oauth"].confidence == called.judgements["execution.tools.call"].confidence
    assert "request.auth.oauth" not in greeted.signature
    assert greeted.off_taxonomy == ()


def test_every_exactly_one_group_of_intent_capabilities_has_one_true_member(
    shipped: Taxonomy, backend: Backend
) -> None:
    for text in ("Hi there!", "Show me the status of order 4711.", "…", "Export every record since 2015."):
        item = of((text,), shipped, backend)
        for members in shipped.exactly_one.values():
            if all(member.source == "intent" for member in members):
                assert sum(item.judgements[member.id].value for member in members) == 1


def test_the_shipped_patterns_are_quick_on_long_queries(shipped: Taxonomy) -> None:
    cues = Cues.of(capability.patterns for capability in shipped.capabilities)
    assert sum(cues.counts("Please show my order as a table, and then as JSON."))
    for text in ("order 4711, " * 100_000, "please show my " * 100_000, "a b " * 300_000, "1" * 1_000_000):
        began = time.process_time()
        cues.counts(text)
        assert time.process_time() - began < 5
