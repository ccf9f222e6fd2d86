"""A small taxonomy with exemplars that a model can be fitted on in a moment."""

from __future__ import annotations

from incumbent.taxonomy.model import Exemplars, Taxonomy
from tests.classifier.factories import intent, taxonomy
from tests.factories import SHIPPED

SETTINGS = SHIPPED.classifier.embedded
SAMPLES = SHIPPED.classifier.samples

TOPICS = (
    "the open work orders",
    "last week's ferry sailings",
    "our printer contracts",
    "the blood donors in Turku",
    "unpaid greenhouse invoices",
    "this month's bus delays",
    "the spare parts of pump 7",
    "all beehives near Graz",
    "the night shifts of ward C",
    "lost library books",
    "the choir's travel costs",
    "tomorrow's tide times",
    "the harbour's crane checks",
    "complaints about bin day",
)
PLAIN = tuple(f"Show me {topic}." for topic in TOPICS)


def exemplary_taxonomy() -> Taxonomy:
    """Three free capabilities and an exactly-one group of two."""
    return taxonomy(
        intent(
            "format.table",
            patterns=(r"\btables?\b", r"\bcolumns?\b"),
            exemplars=Exemplars(
                positive=tuple(f"Put {topic} in a table." for topic in TOPICS),
                negative=("Book a table for two.", "Which table is free tonight?", *PLAIN),
            ),
        ),
        intent(
            "attachment.image",
            patterns=(r"\bphotos?\b", r"\bpictures?\b"),
            exemplars=Exemplars(
                positive=tuple(f"Look at the attached photo of {topic}, what is wrong?" for topic in TOPICS),
                negative=("How do I take good photos?", "Who painted this picture book?", *PLAIN),
            ),
        ),
        intent(
            "orchestration.branching",
            patterns=(r"\bif\b", r"\botherwise\b"),
            exemplars=Exemplars(
                positive=tuple(
                    f"If {topic} are complete, send them to Ida, otherwise open a ticket." for topic in TOPICS
                ),
                negative=("What if I am late?", *PLAIN),
            ),
        ),
        intent(
            "turns.single",
            "one.turns",
            exemplars=Exemplars(positive=tuple(f"Count {topic}." for topic in TOPICS)),
        ),
        intent(
            "turns.several",
            "one.turns",
            exemplars=Exemplars(
                positive=tuple((f"Count {topic}.", "Only the older ones.", "Thanks, and by town?") for topic in TOPICS)
            ),
        ),
    )
