"""promptfoo: configs, with the prompts, tests, variables and files that they name."""

from bot.intake.eval_sets.formats.promptfoo.reader import READER

__all__ = ["READER"]
