"""The parts of the config that say what may be learnt from queries and from people, as models."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.defaults import default
from bot.files.validation import FileModel, Tuple

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ExtensionSettings(FileModel):
    """When queries beyond the taxonomy become a candidate for a new capability (docs/extension.md)."""

    open_candidates: Count = Field(description="candidates that are offered at a time")
    queries: Count = Field(description="distinct queries that a candidate has at least")
    customers: Count = Field(description="customers that they come from at least")
    low_probability: Share = Field(
        description="confidence below which a capability is improbable; a query of which all are is off-distribution"
    )
    split: Share = Field(
        description="how near to 0.5 a confidence is where the samples are torn, which makes a query off-distribution"
    )
    far: Share = Field(description="similarity to the nearest exemplar below which a query is far from all of them")
    commonplace: Share = Field(
        description="share of the exemplars above which a capability tells no queries apart; such ones explain nothing"
    )
    misjudged: Share = Field(description="share of queries on which the classifier may err without a candidate")
    everyday: Count = Field(
        description="queries that should have a trait at least, for it to tell how customers' manner of writing differs"
    )
    tolerated: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(
        description="how much of a difference of manner a missing capability itself brings; 1 is none"
    )
    telling: Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)] = Field(
        description="surprise at which a word, structure or combination is telling: 2 is a chance of 1 in 100"
    )
    lift: Annotated[float, Field(gt=1, allow_inf_nan=False)] = Field(
        description="how many times as frequent it is as the exemplars lead to expect, at least"
    )
    surprise: Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)] = Field(
        description="surprise that a candidate has at least: 4 is a chance of 1 in 10,000 that exemplars explain it"
    )
    beyond: Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)] = Field(
        description="surprise that it has at least among queries of a capability that most of it exercises; below, "
        "that capability accounts for it"
    )
    excess: Share = Field(
        description="share of a candidate's queries that the exemplars do not lead to expect, at least"
    )
    distance: Share = Field(description="cosine distance up to which clusters are joined")
    clustered: Count = Field(
        default=default("extension.clustered"),
        description="distinct queries that are clustered at most, some of each kind",
    )
    cohesion: Share = Field(description="mean cosine similarity of a candidate's queries, at least")
    belongs: Share = Field(
        description="share of its queries at which a candidate is one of a known capability, or of a combination"
    )
    positive: Count = Field(description="exemplars that are drawn from a candidate's queries at most")
    negative: int = Field(ge=0, description="hard negatives that are drawn from the nearest exemplars at most")
    terms: Count = Field(description="telling terms that a candidate is named and described by at most")
    core: Count = Field(description="most central queries by which a refusal is remembered")
    core_overlap: Annotated[float, Field(gt=0, le=1)] = Field(
        description="share of a refused core that makes a later candidate the same one"
    )


class AppraisalSettings(FileModel):
    """What a capability that is judged from text must show before it counts (docs/taxonomy.md)."""

    positive: int = Field(ge=0, description="positive exemplars that a capability has at least, translations left out")
    negative: int = Field(ge=0, description="lookalikes (hard negative exemplars) that it has at least, likewise")
    precision: Share = Field(
        description="least expected precision: share of the exemplars that a classifier which has not seen them tags "
        "at the competence bar or above, and which do exercise it"
    )
    shown: int = Field(ge=0, description="texts of the platform that are shown of each kind at most")


class KnobFit(FileModel):
    """How one knob is fitted to people's answers; all in the knob's own unit."""

    spread: Positive = Field(description="how gradually people's answers turn around the knob; near 0: at once")
    leeway: Positive = Field(
        description="standard deviation by which capabilities are expected to lie off the global knob"
    )
    step: Positive = Field(description="proposals are multiples of it")
    least_change: Positive = Field(description="no proposal moves a knob by less")


class KnobFits(FileModel):
    """The knobs that may differ for one capability."""

    competence_bar: KnobFit
    winning_margin: KnobFit
    redundancy_floor: KnobFit


class CalibrationSettings(FileModel):
    """What ``incumbent calibrate`` makes of people's answers (docs/calibration.md)."""

    minimum: Count = Field(description="explicit answers on a knob of one capability, below which it stays as it is")
    lapses: Annotated[Tuple[Annotated[float, Field(gt=0, lt=0.5)]], Field(min_length=1)] = Field(
        description="what share of answers may say the opposite of what the person's own threshold would"
    )
    attentions: Annotated[Tuple[Annotated[float, Field(gt=0, le=1)]], Field(min_length=1)] = Field(
        description="what share of the verdicts that nobody is asked about may have been read before the merge"
    )
    alone: Positive = Field(description="prior count of a person's judgements that stand alone against all others")
    together: Positive = Field(description="prior count of a person's judgements that do not")
    least_gain: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        description="by how much (natural logarithm) a proposal must be likelier than what it replaces"
    )
    folds: Annotated[int, Field(ge=2, le=100)] = Field(
        description="parts of the answers, each of which is judged by a fit to the others"
    )
    knobs: KnobFits


class TriageSettings(FileModel):
    """How raw queries of production traffic become a shortlist (docs/triage.md)."""

    near_duplicate: Share = Field(
        default=default("triage.near_duplicate"),
        description="estimated share of shingles from which on two texts are near duplicates",
    )
    permutations: Count = Field(
        default=default("triage.permutations"), description="hashes that the estimate is made of"
    )
    shingle: Count = Field(
        default=default("triage.shingle"),
        description="characters of a shingle",
    )
    shard_rows: Count = Field(
        default=default("triage.shard_rows"),
        description="representatives that are classified at a time, and lost at a kill",
    )
    megabytes: Count = Field(
        default=default("triage.megabytes"), description="memory of the database; what is more goes to disk"
    )
    cluster_seconds: Count = Field(
        default=default("triage.cluster_seconds"),
        description="seconds without an answer or a processor after which a Ray cluster is lost",
    )
    listed: Count = Field(
        default=default("triage.listed"),
        description="unreadable rows that are listed",
    )
    shown: Count = Field(
        default=default("triage.shown"),
        description="rows of each list of the report",
    )
