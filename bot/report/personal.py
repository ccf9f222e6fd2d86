"""Queries with personal data in the comment: place, kinds, and a replaced text to copy."""

from __future__ import annotations

import shlex
from typing import Final

from bot.intake.query import Query
from bot.pipeline.replace import Replacement
from bot.pipeline.review import Review
from bot.report.escaping import code, code_block
from bot.report.tables import Table, folded
from bot.report.voices import MarkdownVoice
from bot.report.wording import Voice, counted, listed
from bot.text.masking import masked_together
from bot.text.personal_data.counting import kinds_in_words

SHOWN_QUERIES: Final = 20
"""Queries whose replaced text is shown; the command replaces all."""

LONGEST_OFFER: Final = 2000
"""Characters of the replaced turns of a query that are shown; longer ones are left to the command."""


def personal_blocks(review: Review, voice: MarkdownVoice, table: Table) -> list[str]:
    """The queries that hold personal data, where they are, and what to write instead; no value of them is shown."""
    if not review.personal:
        return []
    rows = [
        (
            f"**{voice.name(id)}**",
            code(_place(review.queries[id])),
            f"{kinds_in_words(kinds)}{_beyond_turns(review, id)}",
        )
        for id, kinds in review.personal.items()
    ]
    folders = dict.fromkeys(review.origins[id].folder for id in review.personal)
    commands = listed([code(f"incumbent scan {shlex.quote(folder)} --replace") for folder in folders])
    about = (
        f"Replace it: copy the texts below, or run {commands}. A made-up value can be allowed in "
        "`personal_data.allowed` of the config, and a curator may accept a query as it is written."
    )
    blocks = [f"#### Personal data ({len(rows)})", about, table(("Query", "Where", "Holds"), rows)]
    ids = list(review.personal)
    offers = [block for id in ids[:SHOWN_QUERIES] for block in _offer(review, voice, id)]
    if offers and table.detail.folds:
        rest = len(ids) - SHOWN_QUERIES
        more = [f"And {counted(rest, 'more query', 'more queries')}, which the command replaces."] if rest > 0 else []
        blocks.append(folded("Replaced texts to copy", "\n\n".join([*offers, *more])))
    return blocks


def personal_lines(review: Review, voice: Voice) -> list[str]:
    """Where personal data is, and of which kinds, a query a line."""
    return [
        f"{voice.name(id)} ({voice.quote(_place(review.queries[id]))}) holds {kinds_in_words(kinds)}"
        for id, kinds in review.personal.items()
    ]


def _place(query: Query) -> str:
    return query.file if query.line is None else f"{query.file}:{query.line}"


def _beyond_turns(review: Review, id: str) -> str:
    within = review.platform.personal_in(review.queries[id].turns, review.origins[id].customer)
    return "" if within == review.personal[id] else "; not in its turns alone: the command finds all of it"


def _offer(review: Review, voice: MarkdownVoice, id: str) -> list[str]:
    """The turns of the query ``id`` that change, each as a block to copy."""
    turns = review.queries[id].turns
    detector = review.platform.config.personal_data.detector(review.origins[id].customer)
    # As the command replaces them: numbers are those of all texts of the query.
    replacement = Replacement.of([review.queries[id].texts], detector)
    replaced = [*map(replacement.text, turns)]
    changed = [place for place, turn in enumerate(turns) if replaced[place] != turn]
    if sum(len(replaced[place]) for place in changed) > LONGEST_OFFER:
        return [f"{voice.name(id)}: too long to be shown here; the command replaces it."]
    shown = masked_together(replaced)
    blocks = []
    for place in changed:
        blocks.append(f"{voice.name(id)}:" if len(turns) == 1 else f"{voice.name(id)}, turn {place + 1}:")
        blocks.append(code_block(shown[place]))
    return blocks
