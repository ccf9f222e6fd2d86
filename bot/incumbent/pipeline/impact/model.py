"""The impact of a change as a value: what the comment shows, and what `incumbent impact --json` prints."""

from __future__ import annotations

from math import floor
from typing import Annotated, Literal

from pydantic import Field

from incumbent.classifier.exemplars import LeftOut
from incumbent.curator.entry import EntryId
from incumbent.files.validation import Checked, FileModel, Score, Text, Tuple
from incumbent.taxonomy.changes import TaxonomyChange as TaxonomyChange
from incumbent.taxonomy.checks import few_exemplars
from incumbent.taxonomy.model import Identifier, Version
from incumbent.text.compare import rounded

Remark = Literal["contradiction", "unfamiliar"]
_Count = Annotated[int, Field(ge=0)]


class VersionChange(FileModel):
    """The version before, that of the changed taxonomy, and the one that it must have."""

    before: Version
    after: Version
    required: Version

    @property
    def is_right(self) -> bool:
        """Whether the taxonomy has the version that it must have."""
        return self.after == self.required


class ConfigChange(FileModel):
    """A key of the config, and its value before and after in YAML; null: the key is absent."""

    key: Text
    before: str | None
    after: str | None


class Cost(FileModel):
    """The cost of classifying again: pairs of a query and a capability, and the number of queries.

    ``requests``: the most that a language model gets, without retries and probing; null for a backend without cost.
    """

    entries: _Count = Field(description="entries of R, and those that wait for a slot")
    queries: _Count = Field(description="queries that were merged and are not in R")
    pairs: _Count = Field(description="pairs of an entry and a capability that is asked about again")
    requests: _Count | None


class EntryAgain(FileModel):
    """An entry that is classified again, and its capabilities concerned; ``kept`` says why it cannot be."""

    entry: EntryId
    capabilities: Tuple[Identifier]
    gained: Tuple[Identifier] = Field(default=(), description="capabilities that it comes to exercise")
    lost: Tuple[Identifier] = Field(default=(), description="capabilities that it exercises no more")
    kept: Text | None = None


class CapabilitySides(FileModel):
    """A capability before and after: its champion, the number of competent coverers, and of those that must remain.

    ``before`` is its earlier id, null for a new one; ``after`` its later id, null for a removed one.
    """

    before: Identifier | None
    after: Identifier | None
    champion_before: EntryId | None
    champion_after: EntryId | None
    score_before: Score | None
    score_after: Score | None
    coverers_before: _Count
    coverers_after: _Count
    floor_before: _Count
    floor_after: _Count


class PinSides(FileModel):
    """An entry whose pins change, before and after."""

    entry: EntryId
    before: Tuple[Text]
    after: Tuple[Text]


class SuggestionSides(FileModel):
    """An entry whose eviction is suggested only before or after, or on other grounds; null: it is not suggested."""

    entry: EntryId
    before: Text | None
    after: Text | None


class OutsideQuery(FileModel):
    """A merged query outside R."""

    query: Text
    customer: Text
    agent: Text


class VerdictSides(OutsideQuery):
    """A merged query outside R whose verdict changes; verdicts in codes, null for none."""

    before: Text | None
    after: Text | None
    earns: bool = Field(description="whether it was left out, and would now earn a slot if a person agrees")


class RemarkSides(OutsideQuery):
    """A merged query outside R with a remark only before or after the change.

    The remark: its eval set contradicts the classifier, or the classifier cannot judge its kind of text.  ``after``:
    there is one only after the change.
    """

    remark: Remark
    after: bool


class WithInterval(FileModel):
    """A share with its 95 % interval by Wilson's score."""

    share: Score
    low: Score
    high: Score


class Expected(FileModel):
    """How a classifier that has not seen a capability's exemplars tags them at the competence bar.

    ``precision`` is null if none is tagged, ``recall`` if none exercises it.
    """

    by: LeftOut = Field(description="what was left out together: an author's exemplars (`hand`), or a tenth (`part`)")
    tagged: _Count
    positive: _Count = Field(description="originals that exercise it")
    precision: WithInterval | None
    recall: WithInterval | None


class ShownText(FileModel):
    """A text of the platform, shortened and without secrets: of an entry, or of a query by its place."""

    where: Text
    text: str
    probability: Score


class OnTexts(FileModel):
    """What a capability tags by text in the entries and eval sets of the platform."""

    judged: _Count = Field(description="different texts")
    tagged: _Count = Field(description="of these")
    surest: Tuple[ShownText] = Field(description="of those that are tagged, the most probable")
    doubtful: Tuple[ShownText] = Field(description="of the others that are tagged, the least probable first")
    misses: Tuple[ShownText] = Field(description="of those that are not tagged, the most probable")


class Lack(FileModel):
    """What a capability lacks: exemplars, or expected precision; ``has`` is null for an unknown precision."""

    kind: Literal["positive", "negative", "precision"]
    has: Annotated[float, Field(ge=0)] | None
    wanted: Annotated[float, Field(ge=0)]

    @property
    def words(self) -> str:
        """The lack in words, to follow “it has”."""
        if self.kind != "precision":
            return few_exemplars(self.kind, int(self.has or 0), int(self.wanted))
        if self.has is None:
            return "no expected precision, since it tags nothing that it has not seen"
        # Rounded down, so that no number is shown that would suffice.
        shown = floor(rounded(self.has * 100)) / 100
        return f"an expected precision of {shown:.2f} where {self.wanted:.2f} is asked for"


Standing = Literal["counts", "may-count", "on-trial", "goes-on", "unfit"]
"""Whether verdicts rest on a capability, in the order of the values: it passes; it passes and is still on trial; it
lacks something and is on trial; it lacks what it lacked while it counted; it lacks something and is not on trial, which
is a fault."""


class CapabilityImpact(FileModel):
    """What to expect of a new or changed capability that is judged from text."""

    capability: Identifier
    is_new: bool
    standing: Standing
    positive: _Count = Field(description="positive exemplars, translations left out")
    negative: _Count = Field(description="lookalikes, translations left out")
    expected: Expected | None = Field(description="null where the classifier does not measure it")
    lacks: Tuple[Lack] = Field(description="nothing if it passes")
    texts: OnTexts


class KeptOnTrial(FileModel):
    """An entry that is not suggested for eviction after the change: it carried ``wholes``, whose parts are on trial."""

    entry: Text
    wholes: Tuple[Text]


class Effect(FileModel):
    """The effect of the change, from classifying and judging before and after."""

    capabilities: Tuple[CapabilitySides] = Field(description="those that change")
    pins: Tuple[PinSides]
    suggestions: Tuple[SuggestionSides]
    verdicts: Tuple[VerdictSides]
    remarks: Tuple[RemarkSides] = ()
    kept: Tuple[KeptOnTrial] = Field(
        default=(), description="entries that stay while the parts of what they carried are on trial"
    )


class Impact(FileModel):
    """What changed, what must be classified again, and the ``effect``.

    ``unmeasured`` says why the effect is unknown or incomplete.
    """

    changes: Tuple[Checked[TaxonomyChange]]
    version: VersionChange
    config: Tuple[ConfigChange]
    appraisals: Tuple[CapabilityImpact] = ()
    again: Tuple[EntryAgain]
    cost: Cost
    effect: Effect | None
    unmeasured: Text | None
    preview: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="whether the changed taxonomy was fitted for this alone: what counts is fitted after the merge",
    )

    @property
    def asks_again(self) -> bool:
        """Whether an entry or a query outside of R has to be classified again."""
        return bool(self.changes or self.again or self.cost.entries or self.cost.queries)

    @property
    def is_incomplete(self) -> bool:
        """Whether measuring began and did not finish; what is not measured on purpose is not incomplete."""
        return self.effect is not None and self.unmeasured is not None

    @property
    def is_nothing(self) -> bool:
        """Whether nothing that verdicts rest on has changed."""
        return not (self.changes or self.config or self.again) and self.version.is_right
