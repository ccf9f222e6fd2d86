"""The shortlist as eval sets in our own format, one per agent, for people to edit."""

from __future__ import annotations

from collections.abc import Sequence

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from bot.files.yaml_writer import dumped
from bot.report.escaping import visible
from bot.triage.shortlist import Chosen


def render_eval_set(chosen: Sequence[Chosen]) -> str:
    """The ``chosen`` queries of one agent as the text of ``eval_set.yaml``; comments say where each came from."""
    queries = CommentedSeq()
    for place, item in enumerate(chosen):
        query = CommentedMap(id=item.query.id)
        if len(item.query.turns) == 1:
            query["query"] = item.query.turns[0]
        else:
            query["turns"] = list(item.query.turns)
        queries.append(query)
        reasons = ", ".join(reason.value for reason in item.verdict.reasons)
        what = "enters" if item.verdict.admitted else "waits for a person"
        alike = "no other row is like it" if item.rows == 1 else f"{item.rows:,} rows are like it"
        # File names come from users and may contain line breaks; a comment is one line.
        note = f"{visible(item.file)} row {item.row}; {alike}; {what}: {reasons}"
        queries.yaml_set_comment_before_after_key(place, before=note, indent=2)
    return dumped(CommentedMap(eval_set=1, queries=queries))
