"""Agent specifications: one reader per format, each returns a :class:`incumbent.intake.specification.Specification`."""
