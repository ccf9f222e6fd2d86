"""The first job where the taxonomy may lack a capability: all queries of the default branch, as they are classified."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from bot.classifier.usage import Usage
from bot.curator.entry import Entry
from bot.extension.candidates import find_candidates
from bot.extension.model import Core, ExtensionCandidate, Observed
from bot.extension.naming import named
from bot.extension.signals import observe_all, observe_entry
from bot.github.facts import SubmissionFacts, classified_of
from bot.pipeline.review import Platform


def candidates_of(
    submissions: Sequence[SubmissionFacts], entries: Sequence[Entry], platform: Platform, raised: Collection[Core]
) -> tuple[tuple[ExtensionCandidate, ...], Usage | None]:
    """The candidates among the queries of ``submissions`` and of ``entries``, without those that were ``raised``.

    Beside them stands what a language model has cost that named them.
    """
    observed: dict[str, Observed] = {}
    taxonomy, settings = platform.taxonomy, platform.config.extension
    for entry in entries:
        item = observe_entry(entry, taxonomy)
        observed[item.id] = item
    for facts in submissions:
        found = classified_of(facts)
        for item in observe_all(found.submission, found.result.classifications, taxonomy, settings):
            observed[item.id] = item
    personal = platform.config.personal_data
    candidates = find_candidates(tuple(observed.values()), taxonomy, settings, raised, personal.shown)
    return named(candidates, taxonomy, platform.config.classifier, os.environ, names=personal.names)
