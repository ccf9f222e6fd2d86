"""The curation config: ceiling, knobs, options, overrides, classifier and limits.

The code has no fallback values (the paper's invariant I4).  Ceiling, knobs and options must be in the file, but for
``recency``; a missing one is an error that names file and key.  All other keys have a default in ``defaults.yaml``,
which ships with the product.  Names are those of ``docs/semantics.md``, section 1; the published JSON schema, generated
from these models, describes them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PrivateAttr, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from incumbent.errors import InputError, LaterFormatError, Problem
from incumbent.files.documents import Document, as_mapping, parse_yaml
from incumbent.files.snapshot import ReadingLimits, Snapshot, normal_path
from incumbent.files.validation import ConstraintError, FileFormat, FileModel, Text, Tuple, validate
from incumbent.text.compare import rounded
from incumbent.text.did_you_mean import did_you_mean

if TYPE_CHECKING:
    from incumbent.text.personal_data.detector import Detector


_NAME: Final = "defaults.yaml"
DEFAULTS: Final[Document] = parse_yaml(
    files(__package__).joinpath(_NAME).read_bytes(),
    f"bot/incumbent/taxonomy/{_NAME}",
    ReadingLimits(file_bytes=1_000_000, nesting_depth=10, nodes=10_000),
)
"""The default of each key that the platform's file may leave out."""


def default(key: str) -> Any:
    """The shipped default of ``key``, as in ``limits.queries``."""
    section: Any = DEFAULTS.data
    return reduce(lambda section, name: section[name], key.split("."), section)


class Section(FileModel):
    """A part of the config whose keys have defaults; a default is checked like a value of the file."""

    model_config = ConfigDict(validate_default=True)


Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _fixed(key: str) -> Any:
    """A value of the shipped defaults that no platform's file can change: measurements chose it."""
    return Field(default=default(key), exclude=True)


Surprise = Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)]


class ExtensionSettings(Section):
    """When queries beyond the taxonomy become a candidate for a new capability (docs/extension.md)."""

    open_candidates: Count = Field(
        default=default("extension.open_candidates"), description="candidates that are offered at a time"
    )
    queries: Count = Field(
        default=default("extension.queries"), description="distinct queries that a candidate has at least"
    )
    customers: Count = Field(
        default=default("extension.customers"), description="customers that they come from at least"
    )
    surprise: Surprise = Field(
        default=default("extension.surprise"),
        description="surprise that a candidate has at least: 4 is a chance of 1 in 10,000 that exemplars explain it",
    )
    clustered: Count = Field(
        default=default("extension.clustered"),
        description="distinct queries that are clustered at most, some of each kind",
    )
    low_probability: SkipJsonSchema[Share] = _fixed("extension.method.low_probability")
    split: SkipJsonSchema[Share] = _fixed("extension.method.split")
    far: SkipJsonSchema[Share] = _fixed("extension.method.far")
    commonplace: SkipJsonSchema[Share] = _fixed("extension.method.commonplace")
    misjudged: SkipJsonSchema[Share] = _fixed("extension.method.misjudged")
    everyday: SkipJsonSchema[Count] = _fixed("extension.method.everyday")
    tolerated: SkipJsonSchema[Annotated[float, Field(ge=1, allow_inf_nan=False)]] = _fixed("extension.method.tolerated")
    telling: SkipJsonSchema[Surprise] = _fixed("extension.method.telling")
    lift: SkipJsonSchema[Annotated[float, Field(gt=1, allow_inf_nan=False)]] = _fixed("extension.method.lift")
    excess: SkipJsonSchema[Share] = _fixed("extension.method.excess")
    distance: SkipJsonSchema[Share] = _fixed("extension.method.distance")
    cohesion: SkipJsonSchema[Share] = _fixed("extension.method.cohesion")
    belongs: SkipJsonSchema[Share] = _fixed("extension.method.belongs")
    positive: SkipJsonSchema[Count] = _fixed("extension.method.positive")
    negative: SkipJsonSchema[Count] = _fixed("extension.method.negative")
    terms: SkipJsonSchema[Count] = _fixed("extension.method.terms")
    core_overlap: SkipJsonSchema[Share] = _fixed("extension.method.core_overlap")


class AppraisalSettings(Section):
    """What a capability that is judged from text must show before it counts (docs/taxonomy.md)."""

    positive: int = Field(
        default=default("appraisal.positive"),
        ge=0,
        description="positive exemplars that a capability has at least, translations left out",
    )
    negative: int = Field(
        default=default("appraisal.negative"),
        ge=0,
        description="lookalikes (hard negative exemplars) that it has at least, likewise",
    )
    precision: Share = Field(
        default=default("appraisal.precision"),
        description="least expected precision: share of the exemplars that a classifier which has not seen them tags "
        "at the competence bar or above, and which do exercise it",
    )
    shown: int = Field(
        default=default("appraisal.shown"),
        ge=0,
        description="texts of the platform that are shown of each kind at most",
    )


class KnobFit(FileModel):
    """How one knob is fitted to people's answers; all in the knob's own unit."""

    spread: Positive = Field(description="how gradually people's answers turn around the knob; near 0: at once")
    leeway: Positive = Field(
        description="standard deviation by which capabilities are expected to lie off the global knob"
    )
    step: Positive = Field(description="proposals are multiples of it")
    least_change: Positive = Field(description="no proposal moves a knob by less")


class VarianceSplit(FileModel):
    """Whose the variance of a knob is: shares of the square of its leeway."""

    own: Positive = Field(description="each capability's, around its group")
    group: Positive = Field(description="each group's, around all")
    all: Positive = Field(description="that of all, around the global knob")


class KnobFits(FileModel):
    """The knobs that may differ for one capability."""

    competence_bar: KnobFit
    winning_margin: KnobFit
    redundancy_floor: KnobFit


Lapse = Annotated[float, Field(gt=0, lt=0.5)]
Attention = Annotated[float, Field(gt=0, le=1)]


class CalibrationSettings(Section):
    """How ``incumbent calibrate`` learns from people's answers (docs/calibration.md)."""

    minimum: Count = Field(
        default=default("calibration.minimum"),
        description="explicit answers on a knob, of all capabilities together, below which it is not changed",
    )
    least_gain: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=default("calibration.least_gain"),
        description="by how much (natural logarithm) a proposal must be likelier than what it replaces",
    )
    lapses: SkipJsonSchema[Tuple[Lapse]] = _fixed("calibration.method.lapses")
    attentions: SkipJsonSchema[Tuple[Attention]] = _fixed("calibration.method.attentions")
    splits: SkipJsonSchema[Tuple[VarianceSplit]] = _fixed("calibration.method.splits")
    interval: SkipJsonSchema[Annotated[float, Field(gt=0, lt=1)]] = _fixed("calibration.method.interval")
    alone: SkipJsonSchema[Positive] = _fixed("calibration.method.alone")
    together: SkipJsonSchema[Positive] = _fixed("calibration.method.together")
    folds: SkipJsonSchema[Count] = _fixed("calibration.method.folds")
    knobs: SkipJsonSchema[KnobFits] = _fixed("calibration.method.knobs")


class TriageSettings(Section):
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
    strongest: Count = Field(
        default=default("triage.strongest"),
        description="of each capability and combination, so many of the strongest representatives are candidates",
    )
    round: Count = Field(
        default=default("triage.round"),
        description="representatives that are looked at before the next ones are chosen",
    )
    stop_after: Count | None = Field(
        default=default("triage.stop_after"),
        description="representatives in a row without merit after which no others are looked at; null: all are",
    )
    megabytes: Count = Field(
        default=default("triage.megabytes"), description="memory of the database; what is more goes to disk"
    )
    reading_megabytes: Count = Field(
        default=default("triage.reading_megabytes"),
        description="memory for unpacking a Parquet file, which holds whole pages of its columns",
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


CONFIG_FILE = "config/curation.yaml"

# Limits for taxonomy, config and regression set: far above any reviewed file.  The limits for customers' files are in
# the config.
RESULT_FILES = ReadingLimits(file_bytes=128_000_000, nesting_depth=100, nodes=10_000_000)
"""Limits for what runners write: the answers of a large set are in it."""
REVIEWED_FILES = ReadingLimits(file_bytes=32_000_000, nesting_depth=100, nodes=1_000_000)
LEDGER_FILES = ReadingLimits(file_bytes=100_000_000, nesting_depth=100, nodes=10_000_000)
"""Limits for the ledger's files.

GitHub takes no larger file: whatever limits of the input a config sets, what can be written can be read.
"""

# An entry, and with it a tombstone, contains a customer's expectation a few levels deeper.
DEEPEST_CUSTOMER_FILE = REVIEWED_FILES.nesting_depth - 10


class Knobs(FileModel):
    """The six knobs of the paper (semantics, section 1)."""

    competence_bar: Share = Field(description="τ: least score at which a query competently covers a capability")
    winning_margin: Share = Field(description="δ: by how much a score must exceed the champion's to win")
    clone_cutoff: Share = Field(description="σ: text similarity at or above which a query is a clone")
    redundancy_floor: int = Field(ge=0, description="N: competent coverers that must remain per capability")
    concentration_cap: int = Field(
        ge=0, description="k: most capabilities one entry may be the sole competent coverer of"
    )
    honesty_floor: Share = Field(
        description="cs_min: least score of the evidence below which a direct admission becomes a review"
    )


class Overrides(FileModel):
    """Knobs that may differ for one capability (τ_c, δ_c, N_c); an absent one has the global value."""

    competence_bar: Share | None = None
    winning_margin: Share | None = None
    redundancy_floor: int | None = Field(default=None, ge=0)


def _no_truth(value: object) -> object:
    # In Python True equals 1.
    if isinstance(value, bool):
        raise ValueError("'signature', 1, 2 or 3")
    return value


class Options(FileModel):
    """Rules for which the paper's reading can be chosen instead (semantics, section 1, marked †)."""

    novelty: Annotated[Literal["signature", 1, 2, 3], BeforeValidator(_no_truth)] = Field(
        description="what a combination is: the whole signature (paper), or an interaction strength t"
    )
    honesty_scope: Literal["all", "evidence"] = Field(
        description="what honesty looks at: the best score of all (paper), or the weakest of the evidence that the "
        "admission rests on"
    )
    clone_rescue: bool = Field(description="whether a clone that brings new coverage goes to review")
    rule_values: Literal["scored", "counted"] = Field(
        description="what a value that a rule decides is worth: `scored` (paper): its score is compared like any "
        "other; `counted`: it covers, and is never won or championed"
    )
    win_needs_bar: bool = Field(
        description="whether a query wins, and an entry is champion, only where it is competent; `false` (paper): at "
        "any score"
    )
    fill_floor: bool = Field(
        description="whether a competent test of a capability that has fewer coverers than its redundancy floor, none "
        "of them of the same customer (the taxonomy may allow it), enters; `false` (paper): only the first one does"
    )
    close_call: Share = Field(
        description="likelihood from which on what an excluded query would bring, if it were competent in what is in "
        "doubt, makes it a close call"
    )
    doubted_below: Share | None = Field(
        description="an expectation of tool calls is doubted if the classifier alone gives any call a smaller "
        "probability; null (paper): none is for that reason",
    )
    recency: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=default("options.recency"),
        description="days in which the inferred scores of an entry come to count half for champions and wins; null "
        "(paper): age does not matter",
    )
    flakiness: Share = Field(
        description="chance that one run of a test shows a fault of what it exercises; it orders suggestions alone",
    )
    fill_to: Share | None = Field(
        default=default("options.fill_to"),
        description="share of the ceiling up to which excluded queries that raise expected detection are suggested; "
        "null (paper): none is",
    )


_EMBEDDING: Final = ("classifier", "embedded", "embedding")
_SHIPPED: Final[str] = default(".".join(_EMBEDDING))
"""The digest of the weights that this version reads."""
_WITHOUT: Final = "none"
_AUTO: Final = "auto"
"""What earlier versions wrote for the weights that shipped with them."""


def _named_weights(value: object) -> object:
    if value == _AUTO:
        return _SHIPPED
    fix = f"write {_SHIPPED}, or {_WITHOUT}"
    if isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) and value != _SHIPPED:
        wanted = f"the digest of weights that this version reads, or '{_WITHOUT}'; it reads those of {_SHIPPED[:12]}…"
        raise ConstraintError(wanted, f"{fix}; or run the version of Incumbent that reads these")
    if value not in (_SHIPPED, _WITHOUT):
        raise ConstraintError(f"the sha256 of weights, in 64 digits of 0-9 and a-f, or '{_WITHOUT}'", fix)
    return value


class EmbeddedSettings(Section):
    """The embedded backend: models that are each fitted without a part of the taxonomy's exemplars."""

    embedding: Annotated[
        str, BeforeValidator(_named_weights), WithJsonSchema({"enum": [_SHIPPED, _WITHOUT], "type": "string"})
    ] = Field(
        default=_SHIPPED,
        description="the weights of the sentence embeddings, by the sha256 of their file; `none`: no embeddings",
    )
    seed: int = Field(
        default=default("classifier.embedded.seed"),
        ge=0,
        description="seed of the parts, so that the same inputs give the same bytes",
    )
    ridge: Annotated[float, Field(gt=0, le=1_000_000)] = Field(
        default=default("classifier.embedded.ridge"),
        description="strength λ of the ridge penalty: the greater, the less a single exemplar counts",
    )

    @property
    def weights(self) -> str | None:
        """The digest of the weights of the sentence embeddings; ``None`` if there are none."""
        return None if self.embedding == _WITHOUT else self.embedding


Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Prices(FileModel):
    """What the endpoint charges, per million tokens."""

    currency: Text = Field(description="for reports, as in USD")
    input: Money = Field(description="tokens of prompts that the endpoint has not cached")
    cached: Money = Field(description="tokens of prompts that it has cached")
    output: Money = Field(description="tokens of answers")


class Budget(Section):
    """What one run may spend; when it is used up, the run ends as incomplete and keeps its results."""

    requests: Count = Field(
        default=default("classifier.openai.budget.requests"), description="requests, retries and probing included"
    )
    tokens: Count = Field(
        default=default("classifier.openai.budget.tokens"), description="tokens in and out, as the endpoint counts them"
    )


class BatchSettings(Section):
    """Batches of requests (``--batch``): files that the endpoint answers within a day."""

    window: Text = Field(
        default=default("classifier.openai.batch.window"), description="time that the endpoint is given for a batch"
    )
    requests: Count = Field(
        default=default("classifier.openai.batch.requests"), description="requests of one batch at most"
    )
    bytes: Count = Field(
        default=default("classifier.openai.batch.bytes"), description="bytes of the requests of one batch at most"
    )
    in_flight: Count = Field(
        default=default("classifier.openai.batch.in_flight"), description="batches that are open at the same time"
    )
    result_bytes: Count = Field(
        default=default("classifier.openai.batch.result_bytes"),
        description="bytes of the answers of one batch at most",
    )
    transfer_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=default("classifier.openai.batch.transfer_seconds"),
        description="time that sending the requests, or fetching the answers, of one batch may take",
    )
    poll_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=default("classifier.openai.batch.poll_seconds"),
        description="time between two looks at open batches (`--wait`)",
    )
    wait_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=default("classifier.openai.batch.wait_hours"), description="how long `--wait` waits at most"
    )
    keep_days: Count = Field(
        default=default("classifier.openai.batch.keep_days"),
        description="after so many days a batch that was not asked for again is forgotten",
    )
    prices: Prices | None = Field(
        default=default("classifier.openai.batch.prices"),
        description="what a batch costs; null: the same as other requests (`prices`)",
    )


class OpenAISettings(Section):
    """Any OpenAI-compatible endpoint; the key itself is never in a file."""

    endpoint: Text | None = Field(description="base URL of the endpoint; null is the provider's default")
    api_version: Text | None = Field(
        default=default("classifier.openai.api_version"),
        description="API version of a deployment on Azure OpenAI; null everywhere else, its `/openai/v1` included",
    )
    model: Text = Field(description="model name as the endpoint knows it")
    key_variable: Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")] = Field(
        description="name of the environment variable that holds the key; never the key itself"
    )
    temperature: Annotated[float, Field(gt=0, le=2)] = Field(
        default=default("classifier.openai.temperature"),
        description="sampling temperature; above 0, since samples that cannot differ say nothing about consistency",
    )
    seed: int = Field(
        default=default("classifier.openai.seed"),
        ge=0,
        description="seed of the first request of a query, where the endpoint takes seeds",
    )
    timeout_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=default("classifier.openai.timeout_seconds"),
        description="time one request may take, from its first byte to the last of its answer",
    )
    response_bytes: Count = Field(
        default=default("classifier.openai.response_bytes"), description="bytes of the answer to one request at most"
    )
    retries: int = Field(
        default=default("classifier.openai.retries"), ge=0, description="how often a failed request is tried again"
    )
    in_flight: Annotated[int, Field(ge=1, le=100)] = Field(
        default=default("classifier.openai.in_flight"), description="queries that are asked at the same time"
    )
    prompt_bytes: Count = Field(
        default=default("classifier.openai.prompt_bytes"),
        description="bytes of one prompt at most (a token has some three or four, in any script); longer queries and "
        "descriptions of tools are cut to fit",
    )
    examples: Annotated[int, Field(ge=0, le=10)] = Field(
        default=default("classifier.openai.examples"),
        description="how often the prompt shows each capability in worked examples (exemplars of the taxonomy)",
    )
    answer_tokens: Count = Field(
        default=default("classifier.openai.answer_tokens"),
        description="tokens of one answer at most, a model's own reasoning included",
    )
    budget: Budget = Field(default_factory=Budget)
    prices: Prices | None = Field(
        default=default("classifier.openai.prices"), description="null: reports name tokens and no money"
    )
    abilities_days: Count = Field(
        default=default("classifier.openai.abilities_days"),
        description="for so many days it is remembered what the endpoint can do",
    )
    batch: BatchSettings = Field(default_factory=BatchSettings, description="how queries are asked with `--batch`")

    @property
    def conditions(self) -> str:
        """A digest of everything on which answers depend besides model, prompt and number of samples."""
        names = {"endpoint", "api_version", "temperature", "seed", "prompt_bytes", "examples", "answer_tokens"}
        dumped = json.dumps(self.model_dump(mode="json", include=names), sort_keys=True)
        return hashlib.sha256(dumped.encode()).hexdigest()[:12]


class ClassifierSettings(Section):
    """Which backend infers what the specification does not declare, and how many samples it gives."""

    backend: Literal["embedded", "openai"] = Field(default=default("classifier.backend"))
    samples: Annotated[int, Field(ge=1, le=100)] = Field(
        default=default("classifier.samples"), description="inference samples per query (the paper's other N)"
    )
    embedded: EmbeddedSettings = Field(default_factory=EmbeddedSettings)
    openai: OpenAISettings | None = Field(default=None)


class Limits(Section):
    """Limits for a customer's pull request; an error names the limit that is exceeded."""

    file_bytes: Count = Field(default=default("limits.file_bytes"), description="bytes of one file")
    nesting_depth: Annotated[int, Field(ge=1, le=DEEPEST_CUSTOMER_FILE)] = Field(
        default=default("limits.nesting_depth"), description="mappings and lists inside one another"
    )
    nodes: Count = Field(default=default("limits.nodes"), description="values in one file, aliases expanded")
    package_files: Count = Field(default=default("limits.package_files"), description="files of one eval set folder")
    package_bytes: Count = Field(
        default=default("limits.package_bytes"), description="bytes of all files of one eval set folder that are read"
    )
    tools: Count = Field(default=default("limits.tools"), description="tools of one agent specification")
    queries: Count = Field(default=default("limits.queries"), description="queries of one eval set")
    turns: Count = Field(default=default("limits.turns"), description="turns of one query")
    turn_characters: Count = Field(default=default("limits.turn_characters"), description="characters of one turn")
    customer_share: Share = Field(
        default=default("limits.customer_share"),
        description="share of the ceiling above which a customer's direct admissions go to review",
    )
    open_evictions: Count = Field(
        default=default("limits.open_evictions"),
        description="eviction and swap pull requests that are open at a time; the dashboard lists the rest",
    )
    open_repacks: int = Field(
        default=default("limits.open_repacks"),
        ge=0,
        description="repacks that are suggested at a time: an excluded query enters for entries that it makes needless",
    )
    open_top_ups: int = Field(
        default=default("limits.open_top_ups"),
        ge=0,
        description="top-ups that are suggested at a time, with `fill_to`: an excluded query enters a free slot",
    )
    open_quarantines: int = Field(
        default=default("limits.open_quarantines"),
        ge=0,
        description="pull requests that are open at a time to quarantine an entry that flaps, or to end that; 0: none",
    )
    group: Annotated[int, Field(ge=1, le=100)] = Field(
        default=default("limits.group"),
        description="evictions in one pull request, where more could be suggested than may be open; 1: one in each",
    )
    questions: Count = Field(
        default=default("limits.questions"),
        description="queries of one eval set that the comment asks people about; the rest is folded",
    )
    close_calls: Count = Field(
        default=default("limits.close_calls"),
        description="close calls of one eval set that are shown; the rest is a number",
    )
    stated_calls: Count | None = Field(
        default=default("limits.stated_calls"),
        description="different tools that an eval set may expect in one turn; more is a doubted expectation; null "
        "(paper): any number",
    )
    exemplars: Count = Field(
        default=default("limits.exemplars"), description="exemplars of the taxonomy: the time of a fit grows faster"
    )

    @property
    def reading(self) -> ReadingLimits:
        """The limits of a single file."""
        return ReadingLimits(self.file_bytes, self.nesting_depth, self.nodes)


ALL_CUSTOMERS: Final = "*"
_DOMAIN: Final = re.compile(r"@[\w-]+(?:\.[\w-]+)+")


def _folder_below(value: str) -> str:
    clean = normal_path(value)
    if clean is None:
        raise ConstraintError("a folder of this repository, as in `fixtures`", "name it from the top, without `..`")
    return clean


def _value_or_domain(value: str) -> str:
    if value.startswith("@") and not _DOMAIN.fullmatch(value):
        raise ConstraintError("a value, or a domain as in @contoso.com", "write the whole domain after the @")
    return value


class PersonalData(Section):
    """What counts as personal data in queries.  A file without it allows nothing and looks for no names."""

    names: bool = Field(default=False, description="whether names of people count too, where the words show one")
    allowed: dict[Text, Tuple[Annotated[Text, AfterValidator(_value_or_domain)]]] = Field(
        default_factory=dict,
        description="customer (`*`: all of them): values that are not personal; `@contoso.com` allows every address "
        "of that domain",
    )

    def detector(self, customer: str | None = None) -> Detector:
        """The detector of personal data in queries of ``customer`` (``None``: unknown)."""
        own = () if customer is None else self.allowed.get(customer, ())
        return self._detector([*self.allowed.get(ALL_CUSTOMERS, ()), *own])

    @property
    def shown(self) -> Detector:
        """The detector of personal data that must not be shown.

        A value allowed for one customer is shown everywhere, since this file shows it.
        """
        return self._detector(value for each in self.allowed.values() for value in each)

    def _detector(self, allowed: Iterable[str]) -> Detector:
        # A late import: it is slow, and most commands that read a config do not need it.
        from incumbent.text.personal_data.detector import Detector

        return Detector(names=self.names, allowed=frozenset(allowed))


class ResultSettings(Section):
    """What results of release runs show (docs/results.md)."""

    window: Count = Field(default=default("results.window"), description="the last releases that count")
    flips: Count = Field(
        default=default("results.flips"),
        description="changes between passing and failing in these releases from which on an entry flaps",
    )
    mixed: Count = Field(
        default=default("results.mixed"),
        description="releases whose own runs disagree from which on an entry flaps",
    )
    stable: Count = Field(
        default=default("results.stable"),
        description="last releases in a row that ended alike from which on an entry is stable",
    )
    trusted: Count = Field(
        default=default("results.trusted"),
        description="releases without a failure from which on an entry is the first that prune lets go",
    )
    prior_releases: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = Field(
        default=default("results.prior_releases"),
        description="releases that the results of its customer and its capabilities weigh for an entry",
    )
    defect_rate: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=default("results.defect_rate"),
        description="share of releases above which failures would be a real defect",
    )


class Curation(Section):
    """``config/curation.yaml``."""

    format: FileFormat[Literal[1, 2]] = 1
    mode: Literal["curate", "observe"] = Field(
        default=default("mode"), description="`observe` comments and posts a passing check, and changes nothing else"
    )
    ceiling: Count = Field(description="hard limit on the number of entries in the regression set")
    knobs: Knobs
    options: Options
    per_capability: dict[str, Overrides] = Field(default=default("per_capability"))
    classifier: ClassifierSettings = Field(default_factory=ClassifierSettings)
    limits: Limits = Field(default_factory=Limits)
    extension: ExtensionSettings = Field(default_factory=ExtensionSettings)
    appraisal: AppraisalSettings = Field(default_factory=AppraisalSettings)
    triage: TriageSettings = Field(
        default_factory=TriageSettings,
        description="how raw queries of production traffic become a shortlist",
    )
    results: ResultSettings = Field(
        default_factory=ResultSettings, description="what results of release runs show of entries"
    )
    admissions: Literal["commit", "pull-request", "by-hand"] = Field(
        default=default("admissions"),
        description="after the merge: `commit` writes admissions to the default branch, `pull-request` offers them in "
        "a pull request; `by-hand` leaves them to people",
    )
    block_on_review: bool = Field(
        default=default("block_on_review"), description="whether the check fails while a query waits for a person"
    )
    hold_first_time_contributors: bool = Field(
        default=default("hold_first_time_contributors"),
        description="whether a first contribution is judged only once a curator says `/incumbent run`",
    )
    curators: Tuple[Text] = Field(
        default=default("curators"),
        description="people whose decisions count, as GitHub logins; empty: everybody who may write to the repository",
    )
    trusted_authors: Tuple[Text] = Field(
        default=default("trusted_authors"),
        description="outside authors whose queries may enter on inferred tags alone, as GitHub logins",
    )
    fixtures_folder: Annotated[Text, AfterValidator(_folder_below)] | None = Field(
        default=default("fixtures_folder"),
        description="folder of this repository below which the fixtures that set-ups name must exist; null: not "
        "checked",
    )
    calibration: CalibrationSettings = Field(default_factory=CalibrationSettings)
    personal_data: PersonalData = Field(
        default_factory=PersonalData, description="what counts as personal data in queries; absent: nothing is allowed"
    )

    # Not keys of the file: these come from the taxonomy.
    _uncombinable: frozenset[str] = PrivateAttr(default=frozenset())
    _trial: frozenset[str] = PrivateAttr(default=frozenset())
    _fill_from_any: frozenset[str] = PrivateAttr(default=frozenset())
    # Nor are these: they say where the file is read as earlier versions wrote it.
    _notes: tuple[Problem, ...] = PrivateAttr(default=())

    @property
    def notes(self) -> tuple[Problem, ...]:
        """What has no effect, or another one than the file says."""
        return self._notes

    @property
    def uncombinable(self) -> frozenset[str]:
        """The taxonomy's capabilities that take no part in combinations of two or more."""
        return self._uncombinable

    @property
    def trial(self) -> frozenset[str]:
        """The taxonomy's capabilities on trial: judged and shown, but not used by verdicts."""
        return self._trial

    @property
    def fill_from_any(self) -> frozenset[str]:
        """The taxonomy's capabilities whose floor one customer may fill alone."""
        return self._fill_from_any

    def under(
        self,
        uncombinable: frozenset[str] = frozenset(),
        trial: frozenset[str] = frozenset(),
        fill_from_any: frozenset[str] = frozenset(),
    ) -> Curation:
        """A copy for a taxonomy with these capabilities that are ``uncombinable``, on ``trial``, and filled by any."""
        copy = self.model_copy()
        copy._uncombinable, copy._trial, copy._fill_from_any = uncombinable, trial, fill_from_any
        return copy

    def competence_bar(self, capability: str) -> float:
        """τ_c of ``capability``."""
        override = self.per_capability.get(capability)
        value = None if override is None else override.competence_bar
        return self.knobs.competence_bar if value is None else value

    def winning_margin(self, capability: str) -> float:
        """δ_c of ``capability``."""
        override = self.per_capability.get(capability)
        value = None if override is None else override.winning_margin
        return self.knobs.winning_margin if value is None else value

    @property
    def filled(self) -> float | None:
        """The number of entries up to which R is topped up; ``None``: it is not."""
        share = self.options.fill_to
        return None if share is None else rounded(share * self.ceiling)

    def redundancy_floor(self, capability: str) -> int:
        """N_c of ``capability``; 0 for a capability on trial."""
        if capability in self.trial:
            return 0
        override = self.per_capability.get(capability)
        value = None if override is None else override.redundancy_floor
        return self.knobs.redundancy_floor if value is None else value


def _fixed_in(section: type[Section]) -> set[str]:
    return {name for name, field in section.model_fields.items() if field.exclude}


_GONE: Final[Mapping[str, Collection[str]]] = {
    **default("gone"),
    "extension": {*default("gone.extension"), *_fixed_in(ExtensionSettings)},
    "calibration": {*default("gone.calibration"), *_fixed_in(CalibrationSettings)},
}
"""Keys of sections that earlier versions had; files may still have them."""


def gone_keys(data: object) -> dict[str, list[str]]:
    """The keys of the config ``data`` that have no effect any more, by section."""
    sections = {name: as_mapping(as_mapping(data).get(name)) for name in _GONE}
    return {
        name: found for name, section in sections.items() if (found := [key for key in section if key in _GONE[name]])
    }


@dataclass(frozen=True, slots=True)
class YoungerKey:
    """A key that each config has since ``format``, and its value for one of an earlier format without it."""

    format: int
    former: Any


YOUNGER: Final[Mapping[str, YoungerKey]] = {key: YoungerKey(**row) for key, row in default("younger").items()}
"""Keys, as in ``options.recency``, that are younger than the first format of the config (docs/versioning.md)."""


_CHANGED: Final[Mapping[str, Mapping[str, Any]]] = default("changed")
"""Keys whose meaning changed: the format of a config that means the present one, and the value that shipped before."""


def lacking_keys(data: object) -> dict[str, YoungerKey]:
    """The keys that the config ``data`` lacks since it has an earlier format."""
    number = as_mapping(data).get("format", 1)
    return {
        key: younger
        for key, younger in YOUNGER.items()
        if isinstance(number, int) and number < younger.format and not _has(data, key)
    }


def outdated_values(data: object) -> dict[str, Any]:
    """The values of the config ``data`` that shipped before their key got its present meaning, by key."""
    number = as_mapping(data).get("format", 1)
    found = {
        key: as_mapping(as_mapping(data).get(key.partition(".")[0])).get(key.partition(".")[2])
        for key, row in _CHANGED.items()
        if isinstance(number, int) and number < row["format"]
    }
    return {key: value for key, value in found.items() if value == _CHANGED[key]["shipped"]}


def _has(data: object, key: str) -> bool:
    section, _, name = key.partition(".")
    return name in as_mapping(as_mapping(data).get(section))


def _read_as(document: Document) -> tuple[object, list[Problem]]:
    """The data of ``document`` as a config of the newest format says it, and a note for each difference."""
    if not isinstance(document.data, dict):
        return document.data, []
    data: dict[str, Any] = {key: dict(item) if isinstance(item, dict) else item for key, item in document.data.items()}
    notes = []
    for section, keys in gone_keys(data).items():
        for key in keys:
            del data[section][key]
        message = f"{section}: these keys no longer have an effect: {', '.join(keys)}"
        notes.append(document.problem((section, keys[0]), message, "delete them, or run `incumbent migrate`"))
    for key, younger in lacking_keys(data).items():
        section, _, name = key.partition(".")
        if isinstance(data.setdefault(section, {}), dict):
            data[section][name] = younger.former
            message = (
                f"{key}: younger than format {data.get('format', 1)} of this file, and read as "
                f"{json.dumps(younger.former)}, as former versions did"
            )
            fix = "run `incumbent migrate`, which writes the value that ships now and shows what that changes"
            notes.append(document.problem((section,), message, fix))
    for key, value in outdated_values(data).items():
        message = f"{key}: {json.dumps(value)} shipped when it meant something else (docs/configuration.md)"
        fix = "run `incumbent migrate`, which writes the value that ships now and shows what that changes"
        notes.append(document.problem(tuple(key.split(".")), message, fix))
    return data, notes


def auto_note(document: Document) -> Problem | None:
    """The note that ``document`` names no weights, and which it means."""
    if not means_shipped_weights(document.data):
        return None
    return document.problem(
        _EMBEDDING,
        f"{'.'.join(_EMBEDDING)}: `{_AUTO}` means the weights {_SHIPPED[:12]}…, and another version may have others",
        "run `incumbent migrate`, which writes their digest; no verdict changes",
    )


def means_shipped_weights(data: object) -> bool:
    """Whether ``data``, of a config, says ``auto`` in place of a digest, as earlier versions wrote it."""
    return reduce(lambda section, name: as_mapping(section).get(name), _EMBEDDING, data) == _AUTO


def name_shipped_weights(data: dict[str, Any]) -> None:
    """Edit ``data``, of a config that :func:`means_shipped_weights`: it names them by their digest."""
    data[_EMBEDDING[0]][_EMBEDDING[1]][_EMBEDDING[2]] = _SHIPPED


_IN_THE_WINDOW: Final = {
    "flips": "flaps by its changes",
    "mixed": "flaps by runs that disagree",
    "stable": "is stable",
    "trusted": "is trusted to pass",
}
"""Keys of `results` that count releases of the window, and what an entry is from there on."""


def _beyond_the_window(document: Document) -> Iterator[Problem]:
    """Numbers of releases that no entry reaches, since fewer count."""
    given = as_mapping(as_mapping(document.data).get("results"))
    window = given.get("window", default("results.window"))
    for name, becomes in _IN_THE_WINDOW.items():
        value = given.get(name, default(f"results.{name}"))
        if isinstance(value, int) and isinstance(window, int) and value > window - (name == "flips"):
            yield document.problem(
                ("results", name if name in given else "window"),
                f"results.{name}: no entry ever {becomes}: {value} of the last {window} releases cannot be",
                f"lower `results.{name}`, or raise `results.window`",
            )


def load_config(
    snapshot: Snapshot,
    capabilities: frozenset[str] | None,
    path: str = CONFIG_FILE,
) -> Curation:
    """The config at ``path``; raises :class:`InputError` with every fault.

    ``capabilities`` are the taxonomy's ids, which per-capability overrides may name (``None``: not known).  A file of
    an earlier format is read as what it meant (docs/versioning.md); ``notes`` of the config say where.
    """
    document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
    problems: list[Problem] = []
    config = None
    data, notes = _read_as(document)
    try:
        config = validate(Curation, document, data)
    except LaterFormatError:
        raise
    except InputError as error:
        problems.extend(error.problems)
    raw = document.data if isinstance(document.data, dict) else {}
    overrides = raw.get("per_capability")
    for name in overrides if isinstance(overrides, dict) else {}:
        if capabilities is not None and name not in capabilities:
            problems.append(
                document.problem(
                    ("per_capability", name),
                    f"per_capability.{name}: the taxonomy has no such capability{did_you_mean(name, capabilities)}",
                    "use a capability id of taxonomy/taxonomy.yaml; after a rename `incumbent migrate` carries it over",
                )
            )
    if config is not None and config.classifier.backend == "openai" and config.classifier.openai is None:
        problems.append(
            document.problem(
                ("classifier",),
                "classifier.openai: the key is missing, and the backend is openai",
                "add `openai`; docs/language-model.md has whole sections",
            )
        )
    if problems or config is None:
        raise InputError(problems)
    auto = auto_note(document) if config.classifier.backend == "embedded" else None
    config._notes = (*notes, *_beyond_the_window(document), *(() if auto is None else (auto,)))
    return config
