"""Sample files of every eval-set format: one module for each, which all suites read.

A module binds ``TEMPLATES``, files from which attacks and fuzzing make others (:mod:`tests.hostile.templates`); their
queries are those of ``SHIPS``.  It may bind ``SAMPLES``, names and contents of further files, which its format alone
must recognise.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.hostile.templates import Template, written

_MODULES = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]

EVAL_SETS: tuple[Template, ...] = tuple(template for module in _MODULES for template in module.TEMPLATES)

SAMPLES: tuple[tuple[str, str, str], ...] = tuple(
    (module.TEMPLATES[0].reader, file, content)
    for module in _MODULES
    for file, content in (
        *((template.path, written(template).decode()) for template in module.TEMPLATES if template.items is not None),
        *getattr(module, "SAMPLES", ()),
    )
)
"""The format, the name and the content of files, each of which is of that format and of no other."""
