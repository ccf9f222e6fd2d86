"""Entries as customers could bring them: hostile texts, and expectations of every shape."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from incumbent.curator.entry import Entry, Source
from incumbent.intake.query import Setup
from tests.factories import make_entry

HOSTILE = [
    *("{{ env.SECRET }}", "{{query}}", "{% raw %}", "{% endraw %}", "{# c #}", "#}", "}}", "{", "${{", '{{ "{" }}'),
    *("file:///etc/passwd", "package:x:y", "=1+1", "-2", "@a", "\t", "\r\n", "\n", '"', "'", "\\", ",", ";", "|", ":"),
    *("---", "- a", "!!python/object", "&a", "*a", "#", "null", "true", "1", "2020-01-01", "\u2028", "\x85", "\ufeff"),
    *("\x1b[2J", "\u202e", "\U0001f600", "  ", "`", "<script>", "[DEEPEVAL:", "data:x", "é", "\uffff"),
]
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
    ),
    min_size=1,
    max_size=5,
).map("".join)
SPOKEN = TEXTS.filter(lambda text: bool(text.strip()))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(-9, 9), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(TEXTS, inner, max_size=2)),
    max_leaves=5,
)
CALLS = st.lists(
    st.one_of(
        st.sampled_from(["find", "open"]),
        st.fixed_dictionaries(
            {"name": st.sampled_from(["find", "open"])},
            optional={"arguments": st.one_of(TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=1))},
        ),
    ),
    max_size=2,
)
GRADERS = st.just(
    [{"type": "tool-calls", "config": {"required": ["find"], "disallowed": [{"command": "wipe", "args": {"a": 1}}]}}]
)
EVALUATORS = st.dictionaries(
    st.sampled_from(["Relevance", "ExactMatch", "mine", "not valid"]),
    st.sampled_from([{}, {"threshold": 3}, {"case_sensitive": True}, {"odd": 1}]),
    max_size=2,
)
ASSERTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["contains", "not-equals", "javascript", "python"]), "value": TEXTS}
    ),
    max_size=2,
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("expected_response", "response", "context", "name", "scenario", "comments"), TEXTS),
    **dict.fromkeys(("ground_truth", "target", "expected_output", "Expected response", "Test Method Type"), TEXTS),
    "evaluators": EVALUATORS,
    "default_evaluators": EVALUATORS,
    "evaluators_mode": st.sampled_from(["extend", "replace", "odd"]),
    "expected_tools": CALLS,
    "graders": GRADERS,
    "assert": ASSERTS,
    "metadata": JSON,
    "extensions": st.dictionaries(TEXTS, TEXTS, max_size=1),
    "choices": st.lists(TEXTS, max_size=2),
}
PART = st.dictionaries(st.sampled_from(sorted(FIELDS)), st.none(), max_size=4).flatmap(
    lambda keys: st.fixed_dictionaries({key: FIELDS[key] for key in keys})
)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """An entry with an id of its own, of one to three turns."""
    turns = tuple(draw(st.lists(SPOKEN, min_size=1, max_size=3)))
    expected = draw(st.one_of(st.none(), TEXTS, JSON, PART))
    if len(turns) > 1 and draw(st.booleans()):
        parts = draw(st.lists(PART, min_size=len(turns), max_size=len(turns)))
        expected = {**(expected if isinstance(expected, dict) else {}), "turns": parts}
    return make_entry(
        draw(st.from_regex(r"[a-z0-9][a-z0-9.-]{0,8}", fullmatch=True)),
        {"a": 0.9, "b": 0.8},
        turns=turns,
        expected=expected,
        source=Source(customer=draw(SPOKEN), agent="agent", eval_set="evals.json", item=draw(SPOKEN)),
        setup=Setup(cost=2.0, tenant=draw(SPOKEN), fixtures=("week.json",)),
    )


def sets(most: int = 3) -> st.SearchStrategy[list[Entry]]:
    """Regression sets."""
    return st.lists(entries(), min_size=1, max_size=most, unique_by=lambda entry: entry.id)
