"""Measures of a classifier: what ``incumbent evaluate`` prints, as JSON and as text."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field
from rich.console import Console

from incumbent.classifier.evaluation.labels import LabelledQuery
from incumbent.classifier.evaluation.measures import (
    Bin,
    CapabilityMeasures,
    Comparison,
    Difference,
    Evaluation,
    PercentileInterval,
    Sampling,
)
from incumbent.classifier.model import Identity
from incumbent.classifier.usage import Usage
from incumbent.files.validation import Checked
from incumbent.files.views import View
from incumbent.report.console import print_numbers
from incumbent.report.escaping import visible
from incumbent.report.output import Spent
from incumbent.text.compare import rounded

_BOUNDS = "low=interval.low high=interval.high"
_FIELDS = "support labelled accuracy always_false_accuracy=always_false precision recall brier ece=calibration_error"
_LOW = Field(description="lower bound of the bootstrap's 95 % percentile interval")
_HIGH = Field(description="its upper bound")

OneClassOutput: TypeAlias = Annotated[CapabilityMeasures, View(_FIELDS, rounds=True)]
"""A capability whose labels are all TRUE or all FALSE."""
CapabilityOutput: TypeAlias = Annotated[CapabilityMeasures, View(f"{_FIELDS} phi {_BOUNDS} resamples", rounds=True)]
"""A capability of which both classes are labelled."""
DifferenceOutput: TypeAlias = Annotated[Difference, View(f"difference=value {_BOUNDS}", rounds=True)]


class PooledOutput(BaseModel):
    """All labels of all capabilities together."""

    labels: int = Field(ge=1)
    brier: float = Field(ge=0, le=1)
    ece: float = Field(ge=0, le=1)
    bins: int = Field(ge=1, description="bins of equal width over [0, 1] that calibration is judged in")
    reliability: tuple[Annotated[Bin, View("low high count probability true", rounds=True)], ...] = Field(
        description="the bins that hold predictions"
    )


class MeasuresOutput(BaseModel):
    """A classifier against the labels."""

    classifier: Checked[Identity]
    macro_phi: float | None = Field(ge=-1, le=1, description="mean of phi over `capabilities`; null without any")
    low: float | None = _LOW
    high: float | None = _HIGH
    capabilities: dict[str, CapabilityOutput]
    undefined: list[str] = Field(description="capabilities with labels of one class only: no correlation is defined")
    one_class: dict[str, OneClassOutput] = Field(description="what can be said of these")
    pooled: PooledOutput
    usage: Spent

    @staticmethod
    def measures(evaluation: Evaluation, classifier: Identity, bins: int, usage: Usage | None) -> dict[str, object]:
        """The fields of ``evaluation``; ``usage`` is what the predictions have cost now."""
        return {
            "classifier": classifier,
            "macro_phi": None if evaluation.macro_phi is None else rounded(evaluation.macro_phi),
            **_bounds(evaluation.interval),
            "capabilities": {item.capability: item for item in evaluation.capabilities if item.phi is not None},
            "undefined": [item.capability for item in evaluation.undefined],
            "one_class": {item.capability: item for item in evaluation.undefined},
            "pooled": {
                "labels": evaluation.labels,
                "brier": rounded(evaluation.brier),
                "ece": rounded(evaluation.calibration_error),
                "bins": bins,
                "reliability": evaluation.bins,
            },
            "usage": usage,
        }


class AgainstOutput(BaseModel):
    """Another classifier on the same labels."""

    name: str = Field(description="config or file of predictions that was compared against")
    measures: MeasuresOutput
    macro_phi: DifferenceOutput | None
    capabilities: dict[str, DifferenceOutput]


class EvaluateOutput(MeasuresOutput):
    """`incumbent evaluate --json`."""

    taxonomy: str = Field(description="version of the taxonomy")
    queries: int = Field(ge=1, description="queries that were measured")
    unclassified: list[Annotated[LabelledQuery, View("file line")]] = Field(
        description="labelled queries without a prediction; measured nowhere"
    )
    bootstrap: Annotated[Sampling, View("level resamples seed")] = Field(description="how the intervals were found")
    against: AgainstOutput | None

    @staticmethod
    def of(
        evaluation: Evaluation,
        classifier: Identity,
        taxonomy: str,
        unclassified: list[LabelledQuery],
        sampling: Sampling,
        bins: int,
        against: AgainstOutput | None,
        usage: Usage | None = None,
    ) -> EvaluateOutput:
        """The whole for output."""
        return EvaluateOutput.model_validate(
            {
                **MeasuresOutput.measures(evaluation, classifier, bins, usage),
                "taxonomy": taxonomy,
                "queries": evaluation.queries,
                "unclassified": unclassified,
                "bootstrap": sampling,
                "against": against,
            }
        )


def against(
    name: str, comparison: Comparison, classifier: Identity, bins: int, usage: Usage | None = None
) -> AgainstOutput:
    """``comparison`` for output; ``classifier`` is the other one, and ``name`` what people called it."""
    return AgainstOutput(
        name=name,
        measures=MeasuresOutput.model_validate(MeasuresOutput.measures(comparison.other, classifier, bins, usage)),
        macro_phi=comparison.macro_phi,
        capabilities=dict(comparison.capabilities),
    )


def _bounds(interval: PercentileInterval | None) -> dict[str, float | None]:
    if interval is None:
        return {"low": None, "high": None}
    return {"low": rounded(interval.low), "high": rounded(interval.high)}


_MEASURES = ("capability", "phi", "95 %", "TRUE", "accuracy", "all FALSE", "precision", "recall", "Brier", "ECE")
_DIFFERENCES = ("capability", "phi", "other", "difference", "95 %", "distinct")


def print_evaluation(output: EvaluateOutput, console: Console | None = None) -> None:
    """Print the report; a terminal gets colour and tables, anything else one line per capability."""
    out = console or Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    out.print(_headline(output), style="bold")
    rows = [(_measures(name, item), _style(item)) for name, item in output.capabilities.items()]
    if rows:
        out.print()
        print_numbers(_MEASURES, rows, out)
    if output.undefined:
        out.print()
        out.print("No correlation, since the labels have one class only:")
        for name, item in output.one_class.items():
            out.print(f"  {name}: {item.support} of {item.labelled} TRUE, accuracy {item.accuracy:.2f}")
    pooled = output.pooled
    out.print()
    out.print(
        f"Calibration over all {pooled.labels:,} labels: "
        f"Brier {pooled.brier:.3f}, ECE {pooled.ece:.3f} ({pooled.bins} bins)"
    )
    if output.against is not None:
        _print_comparison(output, output.against, out)
    out.print()
    out.print(f"classifier {_classifier(output)}; taxonomy {output.taxonomy}")
    out.print(
        f"intervals by a bootstrap over queries: {output.bootstrap.resamples:,} resamples, seed {output.bootstrap.seed}"
    )


def _headline(output: EvaluateOutput) -> str:
    count = len(output.capabilities)
    words = (
        "no capability has a phi"
        if output.macro_phi is None
        else f"macro phi {output.macro_phi:z.2f} {_bounds_text(output.low, output.high)}"
    )
    capabilities = f"{count} {'capability' if count == 1 else 'capabilities'}"
    return f"{words}: {capabilities}, {output.queries:,} {'query' if output.queries == 1 else 'queries'}"


def _measures(name: str, item: CapabilityMeasures) -> tuple[str, ...]:
    return (
        name,
        f"{item.phi:z.2f}",
        _interval_text(item.interval),
        f"{item.support}/{item.labelled}",
        f"{item.accuracy:.2f}",
        f"{item.always_false:.2f}",
        _share(item.precision),
        _share(item.recall),
        f"{item.brier:.3f}",
        f"{item.calibration_error:.3f}",
    )


def _style(item: CapabilityMeasures) -> str | None:
    """Red for what the labels do not show to be better than chance."""
    return "red" if item.interval is None or rounded(item.interval.low) <= 0 else None


def _print_comparison(output: EvaluateOutput, other: AgainstOutput, out: Console) -> None:
    out.print()
    if other.macro_phi is None:
        out.print(f"Against {visible(other.name)}: no capability has a phi", style="bold")
        return
    total = other.macro_phi
    sign = "distinct" if total.is_distinct else "not distinct"
    words = f"macro phi {total.value:+z.3f} {_interval_text(total.interval, '+z.3f')}, {sign}"
    out.print(f"Against {visible(other.name)}: {words}", style="bold")
    out.print()
    rows = [
        (_difference(name, item, output, other.measures), _difference_style(item))
        for name, item in other.capabilities.items()
    ]
    print_numbers(_DIFFERENCES, rows, out)
    pooled = other.measures.pooled
    out.print()
    out.print(f"the other's calibration: Brier {pooled.brier:.3f}, ECE {pooled.ece:.3f}")
    out.print(f"the other: classifier {_classifier(other.measures)}")


def _difference(name: str, item: Difference, ours: MeasuresOutput, theirs: MeasuresOutput) -> tuple[str, ...]:
    return (
        name,
        f"{ours.capabilities[name].phi:z.2f}",
        f"{theirs.capabilities[name].phi:z.2f}",
        f"{item.value:+z.2f}",
        _interval_text(item.interval, "+z.2f"),
        "yes" if item.is_distinct else "no",
    )


def _difference_style(item: Difference) -> str | None:
    if not item.is_distinct:
        return None
    return "green" if item.value > 0 else "red"


def _interval_text(item: PercentileInterval | None, form: str = "z.2f") -> str:
    return _bounds_text(None, None) if item is None else _bounds_text(item.low, item.high, form)


def _bounds_text(low: float | None, high: float | None, form: str = "z.2f") -> str:
    return "[–]" if low is None or high is None else f"[{low:{form}}, {high:{form}}]"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _classifier(output: MeasuresOutput) -> str:
    item = output.classifier
    return visible(f"{item.backend} {item.model}, prompt {item.prompt}, {item.samples} samples")
