"""Keys of expectations in all formats (see :func:`~bot.intake.eval_sets.table.plain_key`)."""

from __future__ import annotations

from typing import Final

ANSWERS: Final = (
    "expectedresponse",
    "expectedanswer",
    "expectedoutput",
    "referenceanswer",
    "referenceoutput",
    "referenceoutputs",
    "groundtruth",
    "target",
    "ideal",
    "idealanswer",
    "correctanswer",
    "correctlabel",
    "expected",
    "expect",
    "goldenanswer",
    "goldanswer",
    "expectedoutcome",
    "reference",
    "answer",
    "outputs",
    "output",
)
"""Keys of expected answers, the most specific first."""

TOOLS: Final = (
    "expectedtools",
    "expectedtool",
    "expectedtoolcalls",
    "expectedtoolcall",
    "expectedtoolname",
    "expectedtoolnames",
    "expectedactions",
    "expectedtrajectory",
    "expecttools",
    "expecttool",
    "expectedfunctions",
    "expectedfunction",
    "referencetoolcalls",
    "referencetrajectory",
    "requiredtools",
    "tools",
)
"""Keys of expected tools."""

TOOLS_OF_ANSWERS: Final = ("toolcalls", "trajectory")
"""Keys of recorded calls; inside an expected answer they are expected calls."""
