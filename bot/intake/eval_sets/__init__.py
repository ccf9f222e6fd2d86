"""Eval sets as customers have them: one module per format, found by its ``READER``.

A new format is one new module in ``formats`` whose ``READER`` is a :class:`~bot.intake.eval_sets.reader.EvalSetReader`;
sizes, ids, duplicates and the order of files are looked after by :mod:`~bot.intake.eval_sets.folder` for all formats.
"""

from bot.intake.eval_sets.folder import Named, read_eval_sets, read_files

__all__ = ["Named", "read_eval_sets", "read_files"]
