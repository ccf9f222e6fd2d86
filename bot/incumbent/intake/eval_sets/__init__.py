"""Reads customers' eval sets, with one module per format.

A new format is one new module in ``formats`` whose ``READER`` is a
:class:`~incumbent.intake.eval_sets.reader.EvalSetReader`.  :mod:`~incumbent.intake.eval_sets.folder` handles sizes,
ids, duplicates and the order of files for all formats.
"""
