"""Reads customers' eval sets, with one module per format.

A new format is one new module in ``formats`` whose ``READER`` is a :class:`~bot.intake.eval_sets.reader.EvalSetReader`.
:mod:`~bot.intake.eval_sets.folder` handles sizes, ids, duplicates and the order of files for all formats.
"""

from bot.intake.eval_sets.folder import Named, read_eval_sets, read_files

__all__ = ["Named", "read_eval_sets", "read_files"]
