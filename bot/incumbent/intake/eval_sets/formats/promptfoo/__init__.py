"""promptfoo: configs with their prompts, tests, variables and files."""

from incumbent.intake.eval_sets.formats.promptfoo.reader import READER

__all__ = ["READER"]
