"""Keys under which formats say what is expected (see :func:`~bot.intake.eval_sets.table.plain_key`)."""

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
"""Of expected answers, the more telling first."""

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
"""Of expected tools."""

TOOLS_OF_ANSWERS: Final = ("toolcalls", "trajectory")
"""Of what was called; inside an expected answer, that is what is expected."""
