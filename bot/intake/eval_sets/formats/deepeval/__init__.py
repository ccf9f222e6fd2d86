"""DeepEval: goldens, and the cells of tables and JSON Lines that hold lists."""

from bot.intake.eval_sets.formats.deepeval.reader import READER

__all__ = ["READER"]
