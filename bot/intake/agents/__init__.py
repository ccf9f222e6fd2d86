"""Agent specifications: one reader per format, each returns a :class:`bot.intake.specification.Specification`."""
