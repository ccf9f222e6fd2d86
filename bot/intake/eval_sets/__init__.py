"""Reads customers' eval sets, with one module per format.

A new format is one new module in ``formats`` whose ``READER`` is a :class:`~bot.intake.eval_sets.reader.EvalSetReader`.
:mod:`~bot.intake.eval_sets.folder` handles sizes, ids, duplicates and the order of files for all formats.
"""
